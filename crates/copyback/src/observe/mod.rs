//! Observers of a run. They change nothing: the log of commands, the shadow of the data, the protocol checker, measures
//! and timelines.
//!
//! [`shadow`] knows the content of every unit in flash, [`protocol`] the legal commands. Both check under `--check`,
//! and are independent of the code that they check.

pub mod array_report;
pub mod backlog;
pub mod bandwidth;
pub mod clocks;
pub mod collector;
pub mod commands;
pub mod config;
pub mod counters;
pub mod flash_requests;
pub mod flash_work;
pub mod latencies;
pub mod matched;
pub mod microscope;
pub mod observers;
pub mod protocol;
#[cfg(test)]
mod protocol_gates;
pub mod rate_samples;
pub mod report;
pub mod shadow;
pub mod steady;
pub mod tables;
pub mod tenants;
pub mod timeline;
mod window;
pub mod window_report;
