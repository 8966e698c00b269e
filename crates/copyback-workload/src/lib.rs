//! What is asked of a drive: block traces (readers and writers), generators, transformations and statistics.
//!
//! This crate knows nothing of flash. It hands out [`Request`]s, one after the other, through a [`RequestSource`];
//! the simulator asks for the next one when it has room for it, so that memory does not grow with a trace.

mod error;
pub mod request;
pub mod rng;
pub mod units;
pub(crate) mod words;
pub use error::Error;

pub use request::{Op, Priority, Request, RequestSource};
