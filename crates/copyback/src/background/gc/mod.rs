//! Garbage collection: when it runs and how it shares a die.

pub mod trigger;
pub mod r#yield;
