//! Copyback: a simulator of NAND flash drives and of what garbage collection costs their users.
//!
//! The folders are modules, each with one subject; a module uses only modules that precede it in the order of
//! `tests/it/layering.rs`.

pub mod array;
pub mod buffer;
pub mod config;
pub mod dispatch;
pub mod flash;
pub mod ftl;
pub mod host;
pub mod observe;
pub mod redundancy;
pub mod run;
pub mod scene;
pub mod sim;
pub mod ssd;
pub mod tasks;

pub use copyback_workload as workload;
