pub mod trigger;
pub mod r#yield;
