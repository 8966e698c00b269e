//! One SSD. `device` is all of it, with its buffer and its requests. `drive` is the flash behind that: admission of
//! transactions, composition of commands, and the engine.

mod accessors;
mod admission;
mod assembly;
mod audit;
pub mod config;
pub mod device;
mod dies;
pub mod drive;
pub(crate) mod gc;
mod map;
pub mod readings;
mod records;
mod redundancy;
pub(crate) mod requests;
mod scheme;
mod settings;
#[cfg(test)]
mod tests;
pub mod timers;

pub use config::{DriveConfig, SsdConfig};
pub use device::Ssd;
