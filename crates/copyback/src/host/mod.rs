//! The host: requests come from a source, are split into sub-requests, and end with their last sub-request.

pub mod config;
pub mod requests;
pub mod splitter;

/// Most transactions on a drive: at this number, no request is split further. Each is a page of a request, so that this
/// is also the largest number of outstanding requests of a drive; with large requests, fewer are outstanding.
pub const TRANSACTIONS_MAX: usize = 1 << 16;

pub use requests::{HostRequest, Requests};
