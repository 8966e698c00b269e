//! An array: drives behind one volume, and what they agree on.
//!
//! `layout` is the arithmetic of RAID levels: the location of each member of a stripe. `volume` makes drive requests of
//! a volume's request, in phases (all reads of a stripe, then its writes), and completes it with the last of them;
//! [`crate::redundancy::planner`] plans partial writes and reads of lost data. `coordination` decides when drives
//! collect together. Nothing here knows how a drive works: a drive takes requests, reports their completion and its
//! free level, and accepts orders to collect.

pub mod config;
mod contents;
pub mod coordination;
pub mod layout;
mod locks;
mod operations;
mod parts;
mod rebuild;
mod stripes;
pub mod volume;

pub use config::{ArrayConfig, Level, Override};
pub use layout::{Layout, grain_bytes};
pub use volume::{Part, Volume};
