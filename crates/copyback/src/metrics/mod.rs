//! Measures of a run.

pub mod collector;
pub mod latencies;
pub mod report;
pub mod steady;
