//! The host: requests come from a source, are split into sub-requests, and end with their last sub-request.

pub mod config;
pub mod requests;
pub mod splitter;

/// Transactions on a drive above which no request is split further: more would not be examined. Each is a page of a
/// request, so that this is the largest number of outstanding requests of a drive; large requests lower it.
pub const TRANSACTIONS_MAX: usize = 1 << 16;

pub use requests::{HostRequest, Requests};
