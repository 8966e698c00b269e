//! The results of commands.

use crate::errors::exception;
use crate::table::Table;
use copyback_cli::api::{self, Column, Done, Failure, Listed, Reproduced};
use copyback_report::styles::Style;
use pyo3::prelude::*;
use pyo3::{IntoPyObjectExt, exceptions::PyKeyError};

/// Results of `run` (one scheme) or `compare` (several).
#[pyclass(frozen, module = "copyback")]
pub struct Runs {
    runs: api::Runs,
}

#[pymethods]
impl Runs {
    /// `"run"` or `"compare"`.
    #[getter]
    fn command(&self) -> &'static str {
        self.runs.command()
    }

    /// The schemes, in the order of the results.
    #[getter]
    fn schemes(&self) -> Vec<&str> {
        self.runs.schemes().collect()
    }

    /// The JSON document, as the program's `--json` writes it.
    fn json(&self, py: Python<'_>) -> PyResult<String> {
        self.runs.json().map_err(|failure| exception(py, &failure))
    }

    /// The text that the program prints, wrapped to `columns` characters where possible.
    #[pyo3(signature = (columns = 80))]
    fn text(&self, py: Python<'_>, columns: usize) -> PyResult<String> {
        self.runs.text(columns).map(|text| api::plain(&text)).map_err(|failure| exception(py, &failure))
    }

    /// The table of `compare`, cell by cell. The first row has groups of columns, the second their titles. Then each
    /// scheme has a row of values; each scheme but the first also has a row of differences from the first.
    fn table_rows(&self) -> Vec<Vec<String>> {
        self.runs.table_rows()
    }

    /// Remarks on the runs for the user, a line each.
    fn remarks(&self) -> String {
        api::plain(&self.runs.remarks())
    }

    /// The table that the program prints, for LaTeX with booktabs.
    fn latex(&self, py: Python<'_>) -> PyResult<String> {
        self.runs.latex().map_err(|failure| exception(py, &failure))
    }

    /// The names of the tables.
    fn table_names(&self) -> Vec<&'static str> {
        self.runs.tables().collect()
    }

    /// The table of this name.
    fn table(&self, py: Python<'_>, name: &str) -> PyResult<Table> {
        match self.runs.table(name).map_err(|failure| exception(py, &failure))? {
            Some(columns) => Table::new(name, columns),
            None => Err(PyKeyError::new_err(format!(
                "there is no table `{name}`; there are {}",
                self.table_names().join(", ")
            ))),
        }
    }
}

/// The result of a sweep.
#[pyclass(frozen, get_all, module = "copyback")]
pub struct Sweep {
    /// What the program prints.
    text: String,
    /// The table that it prints, for LaTeX with booktabs.
    latex: String,
    /// The table, a row for each run.
    table: Py<Table>,
    /// The table of response times.
    latencies: Py<Table>,
}

/// The document of a reproduction, a validation or a workload.
#[pyclass(frozen, get_all, module = "copyback")]
pub struct Document {
    /// The JSON document, as the program writes it.
    json: String,
    /// What the program prints.
    text: String,
    /// The reason for an exit code other than 0; `None` if it is 0.
    verdict: Option<Py<PyAny>>,
    /// For a reproduction: each experiment with its table and the table of response times.
    tables: Vec<ExperimentTables>,
}

/// An experiment with its table and the table of response times.
type ExperimentTables = (String, Py<Table>, Py<Table>);

/// The tables of a reproduction.
pub fn tables(py: Python<'_>, reproduced: &Reproduced) -> PyResult<Vec<ExperimentTables>> {
    let table = |name, columns: &[Column]| Py::new(py, Table::new(name, columns.to_vec())?);
    let of = |own: &api::Tables| {
        Ok((own.experiment.clone(), table("sweep", &own.table)?, table("latencies", &own.latencies)?))
    };
    reproduced.tables.iter().map(of).collect()
}

/// Converts a command's result to a Python object.
pub fn object(py: Python<'_>, done: Result<Done, Failure>) -> PyResult<Py<PyAny>> {
    match done.map_err(|failure| exception(py, &failure))? {
        Done::Runs(runs) => Runs { runs: *runs }.into_py_any(py),
        Done::Sweep { text, latex, table, latencies } => {
            let table = Py::new(py, Table::new("sweep", table)?)?;
            let latencies = Py::new(py, Table::new("latencies", latencies)?)?;
            Sweep { text, latex, table, latencies }.into_py_any(py)
        }
        Done::Document { json, text, verdict } => {
            let verdict = verdict.map(|failure| exception(py, &failure).into_py_any(py)).transpose()?;
            Document { json, text, verdict, tables: Vec::new() }.into_py_any(py)
        }
        Done::Reproduced(reproduced) => {
            let tables = tables(py, &reproduced)?;
            Document { json: reproduced.json, text: reproduced.text, verdict: None, tables }.into_py_any(py)
        }
        Done::Text(text) => text.into_py_any(py),
    }
}

/// The names of schemes, devices or workloads, each with a description.
#[pyfunction]
pub fn listed(what: &str) -> PyResult<Vec<(&'static str, String)>> {
    match what {
        "schemes" => Ok(api::listed(Listed::Schemes)),
        "devices" => Ok(api::listed(Listed::Devices)),
        "workloads" => Ok(api::listed(Listed::Workloads)),
        _ => Err(PyKeyError::new_err(format!("`{what}` is none of schemes, devices and workloads"))),
    }
}

/// The line style of each scheme: its place in the table of styles, which also selects markers and hatches; a colour
/// (`#RRGGBB`); and the lengths of dashes and gaps.
#[pyfunction]
pub fn styles(names: Vec<String>) -> Vec<(usize, String, Vec<u32>)> {
    let styles = copyback_report::styles::of(names.iter().map(String::as_str));
    let dashes = |own: &Style| own.dashes.iter().map(|&length| length.into()).collect();
    styles.iter().map(|own| (own.place, format!("{:X}", own.colour), dashes(own))).collect()
}
