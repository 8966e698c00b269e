//! Greedy; of blocks with equally few valid units, the one with most pages that can share a command with a queued read.
//!
//! Source: `gc-vic` of hpdc18 (Section 4.3, Algorithm 3). A read of another plane joins a read of collection if page
//! offsets agree. For each candidate, the reads that wait for the die's other planes are matched with its valid pages,
//! each read once. The candidate with most matches is taken; of equal candidates, the least worn. Without matches, the
//! choice is that of `greedy`. Matches never select a block with more valid units: "we are not allowed to increase the
//! GC cost".
//!
//! Parameters:
//! - `candidates` (default 10): blocks with equally few valid units that are examined. hpdc18 Section 4.3: "at most
//!   10".
//! - `scan` (default `"300 ns"`): time to scan one candidate; the collection begins later by this time for each. hpdc18
//!   Section 4.3: "examining a candidate block takes around hundreds of nanoseconds".
//! - `tie_blocks` (default 8): as under `greedy`.

use super::{VictimPolicy, VictimView, greedy};
use crate::config::times::check_step;
use crate::config::{Device, KeyError};
use crate::flash::geometry::Geometry;
use crate::ftl::blocks::Blocks;
use crate::sim::index::{BlockId, PlaneId};
use copyback_workload::units::Nanos;
use serde::{Deserialize, Serialize};

/// See the page above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Blocks that are examined.
    pub candidates: u32,
    /// Time to scan one.
    pub scan: Nanos,
    /// Equal blocks that are compared by wear.
    pub tie_blocks: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self { candidates: 10, scan: Nanos(300), tie_blocks: greedy::Params::default().tie_blocks }
    }
}

impl super::Parameters for Params {
    fn check(&self, device: &Device<'_>) -> Result<(), KeyError> {
        greedy::Params { tie_blocks: self.tie_blocks }.check(device)?;
        check_step("victim.scan", self.scan)?;
        if (1..=1024).contains(&self.candidates) {
            return Ok(());
        }
        Err(KeyError::new("victim.candidates", format!("{} is not possible", self.candidates))
            .with_help("use a number from 1 to 1024"))
    }
}

/// Greedy's lists, and the duration of the last choice.
#[derive(Clone)]
pub struct Policy {
    greedy: greedy::Policy,
    candidates_max: usize,
    scan_ns: u64,
    choice_ns: u64,
    candidates: Vec<BlockId>,
}

impl Policy {
    /// Empty lists for a drive.
    pub fn new(params: &Params, geometry: &Geometry, seed: u64) -> Self {
        let candidates_max = params.candidates as usize;
        Self {
            greedy: greedy::Policy::new(&greedy::Params { tie_blocks: params.tie_blocks }, geometry, seed),
            candidates_max,
            scan_ns: params.scan.0,
            choice_ns: 0,
            candidates: Vec::with_capacity(candidates_max),
        }
    }
}

/// Reads that go with a valid page of the block; their offsets differ, so that each page goes with one.
fn matches(view: VictimView<'_>, block: BlockId) -> u32 {
    view.read_offsets.iter().filter(|&&offset| view.is_page_valid(block, offset)).count() as u32
}

impl VictimPolicy for Policy {
    #[inline]
    fn on_close(&mut self, blocks: &Blocks, plane: PlaneId, block: BlockId) {
        self.greedy.on_close(blocks, plane, block);
    }

    #[inline]
    fn on_invalidate(&mut self, blocks: &Blocks, plane: PlaneId, block: BlockId) {
        self.greedy.on_invalidate(blocks, plane, block);
    }

    fn on_take(&mut self, blocks: &Blocks, plane: PlaneId, block: BlockId) {
        self.greedy.on_take(blocks, plane, block);
    }

    fn pick(&mut self, view: VictimView<'_>) -> Option<BlockId> {
        self.choice_ns = 0;
        if view.read_offsets.is_empty() {
            return self.greedy.pick(view);
        }
        self.candidates.clear();
        for plane in view.planes.iter() {
            let best = self.greedy.candidates(plane).into_iter().flatten();
            self.candidates.extend(best.take(self.candidates_max));
        }
        self.choice_ns = self.scan_ns * self.candidates.len() as u64;
        let suits = |&block: &BlockId| (matches(view, block), std::cmp::Reverse(view.blocks[block].erases));
        let best = self.candidates.iter().copied().max_by_key(suits)?;
        if matches(view, best) == 0 { self.greedy.pick(view) } else { Some(best) }
    }

    fn matches_reads(&self) -> bool {
        true
    }

    fn choice_ns(&self) -> u64 {
        self.choice_ns
    }
}
