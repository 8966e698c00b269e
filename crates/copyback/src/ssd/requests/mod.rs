//! Requests of the host: from sub-requests to completions, with the write buffer in between.

pub(crate) mod ended_transactions;
pub(crate) mod eviction_sets;
pub(crate) mod eviction_waits;
pub(crate) mod filling_pages;
pub(crate) mod firmware_delays;
pub(crate) mod flash_request_times;
pub(crate) mod host_side;
pub(crate) mod request_states;
pub(crate) mod served_units;
pub(crate) mod sub_requests;
pub(crate) mod write_buffer;
