//! How headlines are shown: on a terminal, and in the pages.

#[cfg(test)]
mod markdown;
mod show;

pub use copyback_lab::reproduce::headlines::{Headline, Headlines, Holds};
#[cfg(test)]
pub use markdown::{others, table as markdown};
pub use show::text;

/// How the document's name ends beside the tables.
pub const HEADLINES: &str = "-headlines.json";
