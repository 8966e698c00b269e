//! The host: requests come from a source, are cut into sub-requests, and end with their last.

pub mod config;
pub mod requests;
pub mod splitter;

/// Transactions under way on a drive above which no request is split further: more would not be looked at. Each is a
/// page of a request, so that this many requests are the most that a drive ever has under way, and fewer where they are
/// large.
pub const TRANSACTIONS_MAX: usize = 1 << 16;

pub use requests::{HostRequest, Requests};
