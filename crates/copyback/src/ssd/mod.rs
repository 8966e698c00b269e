//! One SSD. `drive` is all of it, with its buffer and its requests. `back_end` is what lies behind them: admission of
//! transactions, composition of commands, the engine, and the flash.

mod admission;
pub mod alarms;
mod assembly;
mod audit;
pub mod back_end;
mod back_end_interface;
pub mod config;
pub mod counter_readings;
mod derived_settings;
mod dies;
pub mod drive;
pub(crate) mod gc;
mod map;
mod redundancy;
pub(crate) mod requests;
mod run_records;
mod scheme;
#[cfg(test)]
mod tests;

pub use config::{BackEndConfig, SsdConfig};
pub use drive::Ssd;
