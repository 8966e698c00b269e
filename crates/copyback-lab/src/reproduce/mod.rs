//! Reproduction: do the claims of a paper hold in the simulator?
//!
//! A [`claim::Claim`] is a table of a sweep file (`[[claim]]`): a published effect, the runs that it compares, and the
//! rule of its verdict. The papers of [`experiments::PAPERS`] are compiled in. [`judge::judge`] measures a claim in the
//! results of a sweep; [`count::Counts`] counts the verdicts. [`runner::Reproduction`] plans and runs a paper's claims.
//! [`headlines::Headlines`] are the claims of its abstract, introduction and conclusion. A [`worlds::WorldStudy`]
//! judges them under draws of the decisions that the paper leaves open.

mod cells;
pub mod claim;
pub mod count;
pub mod details;
pub mod experiments;
pub mod headlines;
pub mod judge;
pub mod metric;
mod parse;
pub mod runner;
#[cfg(test)]
mod tests;
pub mod verdict;
pub mod worlds;

/// The end of the name of a reproduction's JSON document. The file is written beside the tables.
pub const CLAIMS: &str = "-claims.json";

/// How the name of the document of headlines ends.
pub const HEADLINES: &str = "-headlines.json";
