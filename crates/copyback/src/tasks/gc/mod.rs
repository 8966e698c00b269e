//! Garbage collection: when it runs, what it collects, and how it shares a die.

pub mod destination;
pub mod granularity;
pub mod preemption;
pub mod trigger;
pub mod walk;
