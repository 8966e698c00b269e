//! The functional half: a state machine without a clock.

pub mod aging;
pub mod allocation;
pub mod blocks;
#[cfg(test)]
mod by_hand;
pub mod core;
pub mod frontier;
pub mod mapping;
pub mod overtaking;
mod second_active_blocks;
pub mod victim;

/// Free blocks of a plane that only moves may use, so that a victim can always be collected.
pub const GC_RESERVE_BLOCKS: u32 = 1;
