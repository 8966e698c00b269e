//! How headlines are shown on a terminal.

mod show;

pub use copyback_lab::reproduce::headlines::{Headline, Headlines, Holds};
pub use show::text;
