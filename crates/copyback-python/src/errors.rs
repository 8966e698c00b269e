//! Failures of commands as Python exceptions.

use copyback_cli::api::Failure;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::{PyTypeInfo, create_exception};

create_exception!(copyback, Error, PyException, "A command did not do what it was asked. See its fields.");
create_exception!(copyback, InputError, Error, "The arguments or an input are wrong, or do not fit together.");
create_exception!(copyback, RunError, Error, "A run failed, or a check did not hold.");

/// The exception of a failure: its message and help as text, and as fields with the place.
pub fn exception(py: Python<'_>, failure: &Failure) -> PyErr {
    make(py, failure).unwrap_or_else(|error| error)
}

fn make(py: Python<'_>, failure: &Failure) -> PyResult<PyErr> {
    let (message, help, place) = (failure.message(), failure.help(), failure.place());
    let at = place.map(|(file, line, column, _)| format!("{file}:{line}:{column}: ")).unwrap_or_default();
    let text = match help {
        Some(help) => format!("{at}{message}\nhelp: {help}"),
        None => format!("{at}{message}"),
    };
    let class = match failure {
        Failure::Input(_) => InputError::type_object(py),
        Failure::Run(_) | Failure::PipeClosed => RunError::type_object(py),
    };
    let exception = class.call1((text,))?;
    exception.setattr("message", message)?;
    exception.setattr("help", help)?;
    exception.setattr("file", place.map(|(file, ..)| file))?;
    exception.setattr("line", place.map(|(_, line, ..)| line))?;
    exception.setattr("column", place.map(|(_, _, column, _)| column))?;
    exception.setattr("value", place.map(|(.., value)| value))?;
    Ok(PyErr::from_value(exception))
}
