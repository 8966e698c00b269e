//! Background work: jobs, and what starts them.

pub mod gc;
pub mod job;
