//! The host: requests come from a source, are cut into transactions, and end with their last.

pub mod config;
pub mod cutter;
pub mod requests;

pub use requests::{HostRequest, Requests};
