//! Retention refresh: blocks that have held their data for longer than a limit are rewritten.
//!
//! Source: own, after in-place data refresh and remapping, Cai et al. 2012.
//!
//! A block's age counts from the program of its first page. When the oldest full block reaches `limit`, it is
//! relocated, and the next, until none is that old. Blocks that hold data when the run begins have ages drawn evenly
//! below `limit` (stream `refresh.first`).
//!
//! Parameters:
//! - `limit` (default `"30 days"` of simulated time, that is `"2592000 s"`): the age at which a block is rewritten.

use super::{BackgroundTask, Parameters};
use crate::config::KeyError;
use crate::flash::source::{Account, Source, SourceData};
use crate::ftl::blocks::{BlockState, Blocks};
use crate::sim::index::BlockId;
use copyback_workload::rng;
use copyback_workload::units::Nanos;
use rand::RngExt;
use std::collections::VecDeque;

/// The page above.
pub const PAGE: &str = include_str!("refresh.rs");

/// The source of its commands: its own name, the account of scrubbing, and the lowest priority.
pub const SOURCE: Source = Source::new(&ROW);
static ROW: SourceData = SourceData { number: 6, name: "refresh", account: Account::Scrub, priority: 6 };

/// See the page above.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// The age at which a block is rewritten.
    pub limit: Nanos,
}

impl Default for Params {
    fn default() -> Self {
        Self { limit: Nanos(30 * 86_400 * 1_000_000_000) }
    }
}

impl Parameters for Params {
    fn check(&self) -> Result<(), KeyError> {
        if self.limit.0 == 0 {
            return Err(KeyError::new("tasks.refresh.limit", "blocks of age 0 would be rewritten for ever")
                .with_help("use a time above 0, for example \"1000 s\""));
        }
        Ok(())
    }
}

/// Ages of blocks.
pub struct Policy {
    limit_ns: u64,
    now_ns: u64,
    /// When each block reaches the limit; none if it holds nothing.
    due_ns: Vec<Option<u64>>,
    /// Blocks by that time, the earliest first. Entries of blocks that were erased since are out of date.
    line: VecDeque<(u64, BlockId)>,
}

impl Policy {
    /// The task of a drive in this state.
    pub fn new(params: &Params, blocks: &Blocks, seed: u64) -> Self {
        let mut stream = rng::stream(seed, "refresh.first");
        let mut draw = |state| (state != BlockState::Free).then(|| stream.random_range(1..=params.limit.0));
        let due_ns: Vec<Option<u64>> = blocks.iter().map(|block| draw(block.state)).collect();
        let with_data = (0..).map(BlockId).zip(&due_ns).filter_map(|(block, due_ns)| Some(((*due_ns)?, block)));
        let mut line: Vec<(u64, BlockId)> = with_data.collect();
        line.sort_unstable_by_key(|&(due_ns, block)| (due_ns, block.0));
        Self { limit_ns: params.limit.0, now_ns: 0, due_ns, line: line.into() }
    }

    /// Forgets entries that are out of date.
    fn tidy(&mut self) {
        while self.line.front().is_some_and(|&(due_ns, block)| self.due_ns[block.at()] != Some(due_ns)) {
            self.line.pop_front();
        }
    }
}

impl BackgroundTask for Policy {
    fn on_program(&mut self, block: BlockId, page_offset: u32, now_ns: u64) {
        self.now_ns = now_ns;
        if page_offset == 0 {
            self.due_ns[block.at()] = Some(now_ns + self.limit_ns);
            self.line.push_back((now_ns + self.limit_ns, block));
            self.tidy();
        }
    }

    fn on_erase(&mut self, block: BlockId, now_ns: u64) {
        self.now_ns = now_ns;
        self.due_ns[block.at()] = None;
        self.tidy();
    }

    fn on_alarm(&mut self, now_ns: u64) {
        self.now_ns = now_ns;
    }

    fn alarm_ns(&self) -> Option<u64> {
        self.line.front().map(|&(due_ns, _)| due_ns)
    }

    fn is_due(&self) -> bool {
        self.line.front().is_some_and(|&(due_ns, _)| due_ns <= self.now_ns)
    }

    /// Blocks that are open or being relocated are passed over.
    fn pick(&self, blocks: &Blocks) -> Option<BlockId> {
        let due = self.line.iter().take_while(|&&(due_ns, _)| due_ns <= self.now_ns);
        let current = due.filter(|&&(due_ns, block)| self.due_ns[block.at()] == Some(due_ns));
        current.map(|&(_, block)| block).find(|&block| blocks[block].state == BlockState::Closed)
    }
}
