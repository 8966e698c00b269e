//! Copyback: a simulator of NAND flash drives and of what garbage collection costs their users.

pub mod background;
pub mod buffer;
pub mod check;
pub mod config;
pub mod controller;
pub mod ftl;
pub mod host;
pub mod metrics;
pub mod nand;
pub mod run;
pub mod scene;
pub mod sim;

pub use copyback_workload as workload;
