//! How headlines are shown on a terminal.

mod show;

pub use copyback_lab::reproduce::headlines::{Headline, Headlines, Holds};
pub use show::text;

/// How the document's name ends beside the tables.
pub const HEADLINES: &str = "-headlines.json";
