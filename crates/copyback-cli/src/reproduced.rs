//! The result of `copyback reproduce`.

use crate::columns::Column;

/// A reproduction that is done and written.
pub struct Reproduced {
    /// The paper, or the name of the sweep file without its ending.
    pub name: String,
    /// The tables of each experiment.
    pub tables: Vec<Tables>,
    /// The JSON document.
    pub json: String,
    /// The printed text.
    pub text: String,
    /// Whether standard output is taken by the document.
    pub(crate) is_stdout_taken: bool,
}

/// The tables of an experiment, as those of a sweep.
pub struct Tables {
    /// The experiment.
    pub experiment: String,
    /// A row for each run.
    pub table: Vec<Column>,
    /// The response times of each run, in bins.
    pub latencies: Vec<Column>,
}
