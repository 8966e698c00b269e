//! One SSD. `device` is all of it, with its buffer and its requests. `drive` is the flash behind that: admission of
//! transactions, composition of commands, and the engine.

mod admission;
mod assembly;
mod audit;
pub mod config;
pub mod counter_readings;
mod derived_settings;
pub mod device;
mod dies;
pub mod drive;
mod drive_interface;
mod drive_policies;
pub(crate) mod gc;
mod map;
mod redundancy;
pub(crate) mod requests;
mod run_records;
#[cfg(test)]
mod tests;
pub mod timers;

pub use config::{DriveConfig, SsdConfig};
pub use device::Ssd;
