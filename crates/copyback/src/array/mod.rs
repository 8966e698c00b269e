//! An array: drives behind one volume, and what they agree on.
//!
//! `layout` is the arithmetic of RAID levels: where each member of a stripe is. `volume` makes drive requests of a
//! volume's request, in phases (all reads of a stripe, then its writes), and ends it with the last of them; what a
//! partial write or a read of what is lost needs is planned by [`crate::redundancy::planner`]. `coordination` says when
//! drives collect together. Nothing here knows how a drive works: it is handed requests, says when they end, reports
//! its free level, and can be told to collect.

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
