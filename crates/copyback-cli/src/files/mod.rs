//! Files, and standard output.

mod print;

pub use copyback_lab::files::*;
pub use copyback_lab::outputs::*;
pub use print::print;
