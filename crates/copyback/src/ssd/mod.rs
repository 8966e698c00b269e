//! One drive: what lets transactions in, what puts them into commands, and the engine that acts.

mod admission;
mod audit;
#[cfg(test)]
mod by_hand;
mod collection;
pub mod config;
mod destination;
pub mod drive;
mod flow;
mod idleness;
mod issue;
mod merging;
mod pairing;
pub mod reading;
mod seen;
mod sharing;
mod steps;
#[cfg(test)]
mod tampering;
mod walks;

pub use config::DriveConfig;
