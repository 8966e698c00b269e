//! Measures of a run.

pub mod collector;
pub mod commands;
pub mod latencies;
pub mod matched;
pub mod report;
pub mod steady;
pub mod timeline;
