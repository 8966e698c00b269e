//! The translation layer: a state machine without a clock.

pub mod allocation;
pub mod blocks;
#[cfg(test)]
mod by_hand;
pub mod core;
pub mod frontier;
pub mod log_blocks;
pub mod mapping;
pub mod space;
mod twin_blocks;
pub mod victim;
pub mod write_ordering;

use crate::config::Device;
use crate::redundancy::RedundancyConfig;

/// The configuration of a translation layer.
#[derive(Clone, Copy, Debug)]
pub struct FtlConfig<'a> {
    /// The flash.
    pub device: Device<'a>,
    /// The location of a logical unit.
    pub mapping: &'a mapping::MappingConfig,
    /// Which die and plane get a new page?
    pub allocation: &'a allocation::AllocationConfig,
    /// Which open block of a plane takes a page?
    pub frontier: &'a frontier::FrontierConfig,
    /// Which block is collected?
    pub victim: &'a victim::VictimConfig,
    /// Is there parity?
    pub redundancy: &'a RedundancyConfig,
    /// Which free block is opened next?
    pub free_order: blocks::FreeOrder,
}

/// Free blocks of a plane that only moves may use, so that a victim can always be collected.
pub const GC_RESERVE_BLOCKS: u32 = 1;
