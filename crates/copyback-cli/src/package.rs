//! What the program can do only where the package for Python is around it, for it takes libraries of Python.

use crate::failure::Failure;
use crate::reproduce::Reproduced;
use copyback_lab::sweep::crew::Crew;
use std::path::Path;
use std::sync::Arc;

/// The package for Python, as the program sees it.
pub trait Package {
    /// Refuses a folder that the figures of a paper cannot be drawn into. Before anything runs.
    ///
    /// # Errors
    /// Where they cannot be drawn, or would destroy something.
    fn check_figures(&self, paper: &str, folder: &Path) -> Result<(), Failure>;

    /// Draws the figures of a reproduction into a folder; returns a text that says which.
    ///
    /// # Errors
    /// Where they cannot be drawn or written.
    fn draw_figures(&self, folder: &Path, reproduced: &Reproduced) -> Result<String, Failure>;

    /// Finds who runs the cells of `sweep --dask ADDRESS`.
    ///
    /// # Errors
    /// Where Dask is not installed, or no scheduler answers.
    fn crew(&self, address: &str) -> Result<Arc<dyn Crew>, Failure>;
}

/// The package; refused where an option needs it and it is not there.
pub fn needed<'a>(package: Option<&'a dyn Package>, option: &str) -> Result<&'a dyn Package, Failure> {
    package.ok_or_else(|| {
        Failure::input(format!("{option}: this program has no matplotlib to draw with"))
            .with_help("use the program of the Python package: pip install '.[plot]' in the repository")
    })
}
