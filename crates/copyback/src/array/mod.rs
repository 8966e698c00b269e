//! An array: drives behind one volume, and their coordination.
//!
//! `layout` is the arithmetic of RAID levels: the location of each member of a stripe. `volume` turns a volume's
//! request into drive requests, in phases (all reads of a stripe, then its writes), and completes it with the last of
//! them. [`crate::redundancy::planner`] plans partial writes and reads of lost data. `coordination` decides when drives
//! collect together. Nothing here depends on a drive's internals: a drive takes requests, reports their completion and
//! its free level, and accepts orders to collect.

pub mod config;
mod contents;
pub mod coordination;
mod drive_requests;
pub mod layout;
mod locks;
mod operations;
mod rebuild;
mod stripes;
pub mod volume;

pub use config::{ArrayConfig, Override, RaidLevel};
pub use layout::{Layout, grain_bytes};
pub use volume::{DriveRequest, Volume};
