//! The package, as the program sees it: a Python object does the work that needs Python libraries.

use crate::cluster::PythonCluster;
use crate::results::tables;
use copyback_cli::api::{Cluster, Failure, Package, Reproduced};
use pyo3::prelude::*;
use std::path::Path;
use std::sync::Arc;

/// A Python object that implements the methods of the trait. The program calls the trait without the GIL.
pub struct PythonPackage(pub Py<PyAny>);

impl PythonPackage {
    fn call<T>(&self, call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> Result<T, Failure> {
        Python::attach(|py| call(self.0.bind(py)).map_err(|error| failure(py, &error)))
    }
}

impl Package for PythonPackage {
    fn check_figures(&self, paper: &str, folder: &Path) -> Result<(), Failure> {
        self.call(|object| object.call_method1("check_figures", (paper, folder)).map(drop))
    }

    fn draw_figures(&self, folder: &Path, reproduced: &Reproduced) -> Result<String, Failure> {
        self.call(|object| {
            let tables = tables(object.py(), reproduced)?;
            object.call_method1("draw_figures", (folder, &reproduced.json, tables))?.extract()
        })
    }

    fn cluster(&self, address: &str) -> Result<Arc<dyn Cluster>, Failure> {
        self.call(|object| {
            object.call_method1("cluster", (address,)).map(|cluster| PythonCluster::of(cluster.unbind()))
        })
    }
}

/// Converts an exception to a failure of the program. An `InputError` becomes the user's mistake.
pub fn failure(py: Python<'_>, error: &PyErr) -> Failure {
    let value = error.value(py);
    let field =
        |name: &str| value.getattr(name).ok().and_then(|field| field.extract::<Option<String>>().ok().flatten());
    let message = field("message").unwrap_or_else(|| error.to_string());
    let failure = match error.is_instance_of::<crate::errors::InputError>(py) {
        true => Failure::input(message),
        false => Failure::run(message),
    };
    match field("help") {
        Some(help) => failure.with_help(help),
        None => failure,
    }
}
