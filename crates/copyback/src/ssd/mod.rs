//! One SSD. `front` is the whole of it, with its buffer and the requests that it was given; `drive` is the flash
//! behind: what lets transactions in, what puts them into commands, and the engine that acts.

mod admission;
pub mod alarms;
mod audit;
mod awaiting_space;
mod background;
mod binding;
#[cfg(test)]
mod by_hand;
mod collection;
mod companions;
pub mod config;
mod delaying;
mod destination;
mod die;
#[cfg(test)]
mod dispatching;
mod dram;
pub mod drive;
mod filling;
mod flash_requests;
mod flow;
pub mod front;
mod hotness;
mod idleness;
mod issue;
mod lone_steps;
mod map_updates;
mod merges;
mod merging;
mod pairing;
mod parity;
mod parts;
pub mod reading;
#[cfg(test)]
mod rebuilding;
mod relocation_books;
mod relocation_steps;
mod relocations;
mod room;
mod rows;
mod seen;
mod sets;
mod settings;
mod shares;
mod sharing;
mod spent;
mod steps;
mod sub_requests;
#[cfg(test)]
mod tampering;
pub mod told;
mod translation;
mod walks;

pub use config::{DriveConfig, SsdConfig};
pub use front::Ssd;
