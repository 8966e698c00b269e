//! Retention refresh: blocks that have held their data for longer than a limit are rewritten.
//!
//! Source: own, after in-place data refresh and remapping, Cai et al. 2012.
//!
//! A block's age counts from the program of its first page. Full blocks that have reached the limit are relocated, the
//! oldest first. Blocks that hold data when the run begins have ages drawn evenly below the limit (stream
//! `refresh.first`).

use copyback::ftl::blocks::{BlockState, Blocks};
use copyback::run::policies::PolicyMaker;
use copyback::sim::index::BlockId;
use copyback::tasks::background::BackgroundTask;
use copyback::workload::rng;
use rand::RngExt;
use std::collections::VecDeque;
use std::sync::Arc;

/// The task of each drive of a run: blocks of age `limit_ns` (above 0) are rewritten.
pub fn maker(limit_ns: u64) -> PolicyMaker {
    PolicyMaker::Task(Arc::new(move |blocks, seed| Box::new(Refresh::new(limit_ns, blocks, seed))))
}

/// Ages of blocks.
struct Refresh {
    limit_ns: u64,
    /// When each block reaches the limit; none if it holds nothing.
    due_ns: Vec<Option<u64>>,
    /// Blocks by that time, the earliest first. Entries of blocks that were erased since are out of date.
    by_due_time: VecDeque<(u64, BlockId)>,
}

impl Refresh {
    /// The task of a drive in this state.
    fn new(limit_ns: u64, blocks: &Blocks, seed: u64) -> Self {
        let mut stream = rng::stream(seed, "refresh.first");
        let mut draw = |state| (state != BlockState::Free).then(|| stream.random_range(1..=limit_ns));
        let due_ns: Vec<Option<u64>> = blocks.iter().map(|block| draw(block.state)).collect();
        let with_data = (0..).map(BlockId).zip(&due_ns).filter_map(|(block, due_ns)| Some(((*due_ns)?, block)));
        let mut by_due_time: Vec<(u64, BlockId)> = with_data.collect();
        by_due_time.sort_unstable_by_key(|&(due_ns, block)| (due_ns, block.0));
        Self { limit_ns, due_ns, by_due_time: by_due_time.into() }
    }

    /// Forgets entries that are out of date.
    fn tidy(&mut self) {
        while self.by_due_time.front().is_some_and(|&(due_ns, block)| self.due_ns[block.at()] != Some(due_ns)) {
            self.by_due_time.pop_front();
        }
    }
}

impl BackgroundTask for Refresh {
    fn on_program(&mut self, block: BlockId, page_offset: u32, now_ns: u64) {
        if page_offset == 0 {
            self.due_ns[block.at()] = Some(now_ns + self.limit_ns);
            self.by_due_time.push_back((now_ns + self.limit_ns, block));
            self.tidy();
        }
    }

    fn on_erase(&mut self, block: BlockId, _now_ns: u64) {
        self.due_ns[block.at()] = None;
        self.tidy();
    }

    /// The first time after `now_ns` at which a block is due. Blocks that are due already may be open.
    fn alarm_ns(&self, now_ns: u64) -> Option<u64> {
        let next = self.by_due_time.partition_point(|&(due_ns, _)| due_ns <= now_ns);
        self.by_due_time.get(next).map(|&(due_ns, _)| due_ns)
    }

    fn is_due(&self, now_ns: u64) -> bool {
        self.by_due_time.front().is_some_and(|&(due_ns, _)| due_ns <= now_ns)
    }

    /// Blocks that are open or being relocated are passed over.
    fn pick(&self, blocks: &Blocks, now_ns: u64) -> Option<BlockId> {
        let due = self.by_due_time.iter().take_while(|&&(due_ns, _)| due_ns <= now_ns);
        let current = due.filter(|&&(due_ns, block)| self.due_ns[block.at()] == Some(due_ns));
        current.map(|&(_, block)| block).find(|&block| blocks[block].state == BlockState::Closed)
    }
}
