//! Clusters of Python: Python code that runs the cells of a sweep.

use crate::package::failure;
use copyback_cli::api::{self, Cluster, Failure, OnAnswer};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// A callable that takes descriptions of cells, and returns an iterator of `(number, answer or None, error or None)`.
pub struct PythonCluster(Py<PyAny>);

impl PythonCluster {
    /// The cluster of a callable.
    pub fn of(call: Py<PyAny>) -> Arc<dyn Cluster> {
        Arc::new(Self(call))
    }
}

impl Cluster for PythonCluster {
    fn run(&self, descriptions: &[String], on_answer: OnAnswer<'_>) -> Result<(), Failure> {
        Python::attach(|py| {
            let of_python = |error: PyErr| failure(py, &error);
            let answers = self.0.bind(py).call1((descriptions,)).and_then(|all| all.try_iter()).map_err(of_python)?;
            for answer in answers {
                let answer = answer.and_then(|answer| answer.extract::<(usize, Option<String>, Option<String>)>());
                let (at, text, error) = answer.map_err(of_python)?;
                on_answer(at, text.as_deref().ok_or_else(|| error.unwrap_or_default()))?;
            }
            Ok(())
        })
    }
}

/// Runs the cell of a description, and returns the answer for the sweep that described it. `sent` has the content of
/// the files that an earlier answer reported as missing, by hash; the cell keeps it in `folder`.
#[pyfunction]
pub fn cell(py: Python<'_>, description: &str, sent: BTreeMap<String, PyBackedBytes>, folder: PathBuf) -> String {
    let sent: Vec<(String, PyBackedBytes)> = sent.into_iter().collect();
    py.detach(|| {
        let sent: Vec<(String, &[u8])> = sent.iter().map(|(hash, bytes)| (hash.clone(), &bytes[..])).collect();
        api::cell(description, &sent, &folder)
    })
}
