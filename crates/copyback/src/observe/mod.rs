//! What watches a run and changes nothing: the log of commands, the shadow of the data, the protocol
//! checker, measures and their timelines.
//!
//! [`shadow`] knows what every place in flash holds, [`protocol`] what the flash may be told; both watch under
//! `--check`, and know nothing of the code which they watch.

pub mod array_report;
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
