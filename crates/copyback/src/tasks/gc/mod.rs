//! Garbage collection: when it runs, what it collects, and how it shares a die.

pub mod trigger;
pub mod unit;
pub mod r#yield;
