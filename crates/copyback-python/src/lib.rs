//! The Python module `copyback._copyback`: calls of the program's commands, and their results as Arrow tables.
//!
//! It has no logic of its own: the package `python/copyback` passes typed arguments, or the words of a command line,
//! and the crates `copyback-lab` and `copyback-cli` execute them.

mod calls;
mod cluster;
mod columns;
mod errors;
mod exit;
mod options;
mod package;
mod packed;
mod policies;
mod requests;
mod results;
mod table;

use pyo3::prelude::*;

/// The native part of the package `copyback`.
#[pymodule]
mod _copyback {
    #[pymodule_export]
    use crate::calls::{call, compare, config, main, run, sweep};
    #[pymodule_export]
    use crate::cluster::cell;
    #[pymodule_export]
    use crate::errors::{Error, InputError, RunError};
    #[pymodule_export]
    use crate::exit::end_calls;
    #[pymodule_export]
    use crate::policies::{
        AllocationView, DieView, OrderView, PreemptionView, SharesView, SuppliedPolicy, TaskView, TriggerView,
        VictimView, supply,
    };
    #[pymodule_export]
    use crate::requests::{PassedRequests, pass_requests};
    #[pymodule_export]
    use crate::results::{Document, Runs, Sweep, listed, styles};
    #[pymodule_export]
    use crate::table::Table;

    #[pymodule_init]
    fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        use pyo3::types::{PyAnyMethods, PyModuleMethods};
        module.py().import("atexit")?.call_method1("register", (module.getattr("end_calls")?,))?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
