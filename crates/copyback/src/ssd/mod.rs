//! One SSD. `device` is the whole of it, with its buffer and the requests that it was given; `drive` is the flash
//! behind: what lets transactions in, what puts them into commands, and the engine that acts.

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
