//! Measures of a run.

pub mod report;
