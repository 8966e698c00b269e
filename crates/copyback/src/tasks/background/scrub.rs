//! Read scrubbing: blocks that were read often are relocated before reads disturb their data.
//!
//! Source: atc18 Section 4.2: "the block with the most number of reads is chosen. Other than that, the process of
//! copying valid data is identical to that of the garbage collection task."
//!
//! Each block has a counter of its page reads, by the host and by all background work; an erase resets it to
//! 0. When the highest exceeds `start`, the full block with the highest count is relocated, and the next, until the
//! highest is below `stop`. The block is found in constant time. Blocks that hold data begin with counts of past reads,
//! drawn evenly from 0 to below `first_max` (stream `scrub.first`).
//!
//! Parameters:
//! - `start` (default 100,000 reads): scrubbing begins above this count.
//! - `stop` (default four fifths of `start`): it ends below this count.
//! - `first_max` (default `start`): first counts are below this; 0 lets all begin at 0. With the default, one block of
//!   five begins above `stop`, and the first scrubbing continues until none remains.

use super::{BackgroundTask, Parameters, TaskLevel};
use crate::config::KeyError;
use crate::flash::source::Source;
use crate::ftl::blocks::{BlockState, Blocks};
use crate::sim::index::BlockId;
use crate::sim::ladder::Ladder;
use copyback_workload::rng;
use rand::RngExt;
use serde::{Deserialize, Serialize};

/// The page above.
pub const PAGE: &str = include_str!("scrub.rs");

/// The source of its commands.
pub const SOURCE: Source = Source::SCRUB;

/// See the page above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Given")]
pub struct Params {
    /// Reads of a block above which scrubbing begins.
    pub start: u32,
    /// Reads of a block below which it ends.
    pub stop: u32,
    /// First counts are below this.
    pub first_max: u32,
}

/// What a configuration gives; the other thresholds follow `start`.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Given {
    start: Option<u32>,
    stop: Option<u32>,
    first_max: Option<u32>,
}

impl From<Given> for Params {
    fn from(given: Given) -> Self {
        let start = given.start.unwrap_or(100_000);
        let four_fifths = (u64::from(start) * 4).div_ceil(5) as u32;
        Self { start, stop: given.stop.unwrap_or(four_fifths), first_max: given.first_max.unwrap_or(start) }
    }
}

impl Default for Params {
    fn default() -> Self {
        Given::default().into()
    }
}

impl Parameters for Params {
    fn check(&self) -> Result<(), KeyError> {
        if self.start == 0 || self.start > 1_000_000_000 {
            return Err(KeyError::new("tasks.scrub.start", format!("{} reads are no threshold", self.start))
                .with_help("use 1 to 1000000000, for example 100000"));
        }
        if self.stop == 0 || self.stop > self.start {
            let why = format!("scrubbing that begins above {} reads does not end below {}", self.start, self.stop);
            return Err(KeyError::new("tasks.scrub.stop", why).with_help(format!("use 1 to {}", self.start)));
        }
        if self.first_max > 1_000_000_000 {
            return Err(KeyError::new("tasks.scrub.first_max", format!("{} reads are no first count", self.first_max))
                .with_help("use 1000000000 or less, for example 100000"));
        }
        Ok(())
    }
}

/// The counters.
pub struct Policy {
    start: u32,
    stop: u32,
    reads: Ladder,
    is_at_work: bool,
}

impl Policy {
    /// The task of a drive in this state.
    pub fn new(params: &Params, blocks: &Blocks, seed: u64) -> Self {
        let mut stream = rng::stream(seed, "scrub.first");
        let first = |state| if state == BlockState::Free { 0 } else { params.first_max };
        let mut draw = |max: u32| if max == 0 { 0 } else { stream.random_range(0..max) };
        let counts: Vec<u32> = blocks.iter().map(|block| draw(first(block.state))).collect();
        Self { start: params.start, stop: params.stop, reads: Ladder::new(&counts), is_at_work: false }
    }
}

impl BackgroundTask for Policy {
    #[inline]
    fn on_read(&mut self, block: BlockId, _now_ns: u64) {
        self.reads.add(block.0);
        self.is_at_work |= self.reads.highest() > self.start;
    }

    fn on_erase(&mut self, block: BlockId, _now_ns: u64) {
        self.reads.reset(block.0);
        self.is_at_work &= self.reads.highest() >= self.stop;
    }

    #[inline]
    fn is_due(&self, _now_ns: u64) -> bool {
        self.is_at_work
    }

    /// Blocks that are open or being relocated are skipped: they are few.
    fn pick(&self, blocks: &Blocks, _now_ns: u64) -> Option<BlockId> {
        let full = self.reads.from_highest().map(BlockId).find(|&block| blocks[block].state == BlockState::Closed);
        full.filter(|block| self.reads.count(block.0) >= self.stop)
    }

    fn level(&self) -> TaskLevel {
        TaskLevel { highest: self.reads.highest(), target: self.start }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three full blocks and an open one, with thresholds 3 and 5.
    fn scrub() -> (Policy, Blocks) {
        let blocks = Blocks::in_states(&[BlockState::Closed, BlockState::Closed, BlockState::Open, BlockState::Closed]);
        let params = Params { start: 5, stop: 3, first_max: 0 };
        (Policy::new(&params, &blocks, 1), blocks)
    }

    fn read(scrub: &mut Policy, block: u32, times: u32) {
        (0..times).for_each(|_| scrub.on_read(BlockId(block), 0));
    }

    /// A lower threshold does not leave blocks above it by default.
    #[test]
    fn thresholds_follow_the_first() {
        let params = |text: &str| crate::config::from_toml::<Params>(text).expect("thresholds");
        assert_eq!(params(""), Params { start: 100_000, stop: 80_000, first_max: 100_000 });
        assert_eq!(params("start = 2001"), Params { start: 2001, stop: 1601, first_max: 2001 });
        assert_eq!(params("start = 1\nfirst_max = 0"), Params { start: 1, stop: 1, first_max: 0 });
    }

    /// It begins above `start`, not at it, takes the full block with the highest count, and continues until no block
    /// has `stop`.
    #[test]
    fn it_goes_from_one_threshold_to_the_other() {
        let (mut scrub, blocks) = scrub();
        read(&mut scrub, 0, 5);
        read(&mut scrub, 1, 4);
        read(&mut scrub, 3, 2);
        assert!(!scrub.is_due(0));
        read(&mut scrub, 0, 1);
        assert_eq!((scrub.is_due(0), scrub.pick(&blocks, 0), scrub.level().highest), (true, Some(BlockId(0)), 6));
        scrub.on_erase(BlockId(0), 0);
        assert_eq!((scrub.is_due(0), scrub.pick(&blocks, 0)), (true, Some(BlockId(1))));
        scrub.on_erase(BlockId(1), 0);
        assert_eq!((scrub.is_due(0), scrub.pick(&blocks, 0), scrub.level().highest), (false, None, 2));
    }

    /// A block with `stop` reads is relocated, too: scrubbing ends below `stop`, not at it.
    #[test]
    fn it_ends_below_the_lower_threshold() {
        let (mut scrub, blocks) = scrub();
        read(&mut scrub, 1, 3);
        read(&mut scrub, 0, 6);
        scrub.on_erase(BlockId(0), 0);
        assert_eq!((scrub.is_due(0), scrub.pick(&blocks, 0)), (true, Some(BlockId(1))));
        scrub.on_erase(BlockId(1), 0);
        assert_eq!((scrub.is_due(0), scrub.pick(&blocks, 0)), (false, None));
    }

    /// An open block cannot be relocated before it is full, however often it is read.
    #[test]
    fn it_takes_full_blocks() {
        let (mut scrub, blocks) = scrub();
        read(&mut scrub, 2, 9);
        assert_eq!((scrub.is_due(0), scrub.pick(&blocks, 0)), (true, None));
        read(&mut scrub, 1, 3);
        assert_eq!(scrub.pick(&blocks, 0), Some(BlockId(1)));
    }

    /// U[0, 1000) over many blocks: mean 499.5, standard error 288.7 / √4000 = 4.6; erased blocks begin at 0.
    #[test]
    fn first_counts_are_even() {
        let states: Vec<BlockState> =
            (0..4_100).map(|b| if b < 4_000 { BlockState::Closed } else { BlockState::Free }).collect();
        let scrub = Policy::new(&Params { first_max: 1_000, ..Params::default() }, &Blocks::in_states(&states), 7);
        let mean = (0..4_000).map(|b| f64::from(scrub.reads.count(b))).sum::<f64>() / 4_000.0;
        assert!((mean - 499.5).abs() < 3.0 * 4.6, "{mean}");
        assert!((4_000..4_100).all(|b| scrub.reads.count(b) == 0) && scrub.reads.highest() < 1_000);
    }
}
