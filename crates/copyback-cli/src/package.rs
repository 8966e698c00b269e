//! Work that needs Python libraries: only the Python package can do it.

use crate::failure::Failure;
use crate::reproduced::Reproduced;
use copyback_lab::sweep::remote_cells::Cluster;
use std::path::Path;
use std::sync::Arc;

/// The package for Python, as the program sees it.
pub trait Package {
    /// Refuses a folder that the figures of a paper cannot be drawn into. Before anything runs.
    ///
    /// # Errors
    /// If they cannot be drawn, or would destroy something.
    fn check_figures(&self, paper: &str, folder: &Path) -> Result<(), Failure>;

    /// Draws the figures of a reproduction into a folder; returns a text that lists them.
    ///
    /// # Errors
    /// If they cannot be drawn or written.
    fn draw_figures(&self, folder: &Path, reproduced: &Reproduced) -> Result<String, Failure>;

    /// Connects to the processes that run the cells of `sweep --dask ADDRESS`.
    ///
    /// # Errors
    /// If Dask is not installed, or no scheduler answers.
    fn cluster(&self, address: &str) -> Result<Arc<dyn Cluster>, Failure>;
}

/// The package that an option needs; an error without it.
pub fn needed<'a>(package: Option<&'a dyn Package>, option: &str) -> Result<&'a dyn Package, Failure> {
    package.ok_or_else(|| {
        Failure::input(format!("{option}: this program has no matplotlib to draw with"))
            .with_help("use the program of the Python package: pip install '.[plot]' in the repository")
    })
}
