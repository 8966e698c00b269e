//! Files, and standard output.

mod endings;
mod print;

pub use copyback_lab::files::*;
pub use copyback_lab::outputs::*;
pub use endings::{other_ending, refuse_other_endings};
pub use print::print;
