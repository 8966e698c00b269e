//! Wear levelling: blocks are erased about equally often, even if their data never changes.
//!
//! Source: atc18 Sections 3.1 and 4.2 name it as one more task, which "swaps contents of data to even out the damage
//! done on flash memory cells", and do not measure it; static levelling with a threshold is Chang's (SAC 2007).
//!
//! Dynamic: a plane opens the free block with the fewest erases next. Static: full blocks whose erases are more than
//! `threshold` below those of the most erased block are relocated, one at a time, the one with the fewest erases
//! first. The data goes to the same blocks as other moves, and the relocated block is used again. Erases of the
//! preconditioning count, and dynamic levelling also chooses free blocks there: a run with this task and one without it
//! begin with different drives.
//!
//! The least worn blocks are examined in order, 64 of them at most; blocks that are free, open or being relocated are
//! skipped.
//!
//! Parameters:
//! - `threshold` (default 20 erases, at least 2): a difference above this one starts a relocation, which itself erases
//!   its block once.
//! - `free_order` (default `"youngest"`): which free block is opened next: `"youngest"`, the one with the fewest
//!   erases; or `"in-turn"`, the one that was erased first, without dynamic levelling. Twin blocks (`frontier.policy =
//!   "twin"`) are chosen by their row instead.

use super::{BackgroundTask, Parameters, TaskLevel};
use crate::config::KeyError;
use crate::flash::source::Source;
use crate::ftl::blocks::{BlockState, Blocks, FreeOrder};
use crate::sim::index::BlockId;
use crate::sim::ladder::Ladder;
use serde::{Deserialize, Serialize};

/// The most blocks that are examined to find one to relocate.
const CANDIDATES: usize = 64;

/// The page above.
pub const PAGE: &str = include_str!("wear.rs");

/// The source of its commands.
pub const SOURCE: Source = Source::WEAR;

/// See the page above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// A difference of erases above this one starts a relocation.
    pub threshold: u32,
    /// Which free block is opened next.
    pub free_order: FreeOrder,
}

impl Default for Params {
    fn default() -> Self {
        Self { threshold: 20, free_order: FreeOrder::Youngest }
    }
}

impl Parameters for Params {
    fn free_order(&self) -> FreeOrder {
        self.free_order
    }

    fn check(&self) -> Result<(), KeyError> {
        if self.threshold < 2 || self.threshold > 1_000_000 {
            let why = format!("{} erases are no threshold", self.threshold);
            return Err(KeyError::new("tasks.wear.threshold", why).with_help("use 2 to 1000000, for example 20"));
        }
        Ok(())
    }
}

/// Erases of every block.
pub struct Policy {
    threshold: u32,
    erases: Ladder,
}

impl Policy {
    /// The task of a drive in this state.
    pub fn new(params: &Params, blocks: &Blocks, _seed: u64) -> Self {
        let erases: Vec<u32> = blocks.iter().map(|block| block.erases).collect();
        Self { threshold: params.threshold, erases: Ladder::new(&erases) }
    }

    fn is_behind(&self, block: u32) -> bool {
        self.erases.highest() - self.erases.count(block) > self.threshold
    }
}

impl BackgroundTask for Policy {
    fn on_erase(&mut self, block: BlockId, _now_ns: u64) {
        self.erases.add(block.0);
    }

    #[inline]
    fn is_due(&self, _now_ns: u64) -> bool {
        self.erases.highest() - self.erases.lowest() > self.threshold
    }

    fn pick(&self, blocks: &Blocks, _now_ns: u64) -> Option<BlockId> {
        let least_worn = self.erases.from_lowest().take(CANDIDATES).take_while(|&block| self.is_behind(block));
        least_worn.map(BlockId).find(|&block| blocks[block].state == BlockState::Closed)
    }

    fn level(&self) -> TaskLevel {
        TaskLevel { highest: self.erases.highest() - self.erases.lowest(), target: self.threshold }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn erase(wear: &mut Policy, block: u32, times: u32) {
        (0..times).for_each(|_| wear.on_erase(BlockId(block), 0));
    }

    /// It begins above the threshold, not at it, takes the full block with the fewest erases, and continues until no
    /// block is that far below.
    #[test]
    fn the_least_worn_full_block_is_relocated() {
        let blocks = Blocks::in_states(&[BlockState::Closed, BlockState::Closed, BlockState::Open, BlockState::Free]);
        let mut wear = Policy::new(&Params { threshold: 5, ..Params::default() }, &blocks, 1);
        erase(&mut wear, 3, 5);
        assert!(!wear.is_due(0));
        erase(&mut wear, 1, 1);
        erase(&mut wear, 3, 1);
        assert_eq!((wear.is_due(0), wear.pick(&blocks, 0), wear.level().highest), (true, Some(BlockId(0)), 6));
        erase(&mut wear, 0, 1);
        assert_eq!((wear.is_due(0), wear.pick(&blocks, 0)), (true, None), "the open block is behind, and no full one");
        erase(&mut wear, 3, 1);
        assert_eq!(wear.pick(&blocks, 0), Some(BlockId(1)), "of equal ones the first that had the count");
    }
}
