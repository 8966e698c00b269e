//! The workload of a drive: block traces (readers and writers), generators, transformations and statistics.
//!
//! This crate knows nothing of flash. A [`RequestSource`] returns [`Request`]s one at a time. The simulator takes the
//! next request when it can begin, so that memory does not grow with a trace.
//!
//! [`spec::WorkloadSpec`] is the table `[workload]` of a configuration, [`open()`] makes a source of it,
//! [`stats::TraceStats`] describes a source, and [`write::write_trace`] keeps it in a file.

mod compact;
mod devices;
mod error;
mod input;
mod open_workload;
mod packed;
mod page_sets;
pub mod passed_traces;
pub mod per_cpu;
pub mod presets;
pub mod printable;
mod readers;
pub mod request;
pub mod rng;
pub mod serde_once;
pub mod spec;
pub mod standard_input;
pub mod stats;
mod synthetic;
pub mod temporary;
pub mod tenants;
mod trace;
mod transform;
pub mod units;
pub mod words;
pub mod write;

pub use error::Error;
pub use input::nearest_file;
pub use open_workload::open;
pub use readers::foreign::not_read;
pub use readers::parquet_guard::panic_is_caught;
pub use readers::parquet_lengths;
pub use request::{ARRIVAL_MAX_NS, Op, Priority, Request, RequestSource};
