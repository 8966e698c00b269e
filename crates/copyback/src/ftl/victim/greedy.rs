//! The full block with the fewest valid units; of equal blocks the least worn. A block without an invalid unit is never
//! collected.
//!
//! Source: all five papers ("greedy"; hpdc18 Section 5: wear-aware). Write amplification: Desnoyers 2014.
//!
//! Parameters:
//! - `tie_blocks` (default 8): how many of the blocks with equally few valid units are compared by erase count; with 1,
//!   the first block that had so few valid units is taken.

use super::{VictimPolicy, VictimView};
use crate::config::{Device, KeyError};
use crate::flash::geometry::Geometry;
use crate::ftl::blocks::Blocks;
use crate::sim::index::{BlockId, PlaneId};
use crate::sim::lists::Lists;
use serde::{Deserialize, Serialize};

/// See the page above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Equal blocks that are compared by wear.
    pub tie_blocks: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self { tie_blocks: 8 }
    }
}

impl super::Parameters for Params {
    fn check(&self, _: &Device<'_>) -> Result<(), KeyError> {
        if (1..=1024).contains(&self.tie_blocks) {
            return Ok(());
        }
        Err(KeyError::new("victim.tie_blocks", format!("{} is not possible", self.tie_blocks))
            .with_help("use a number from 1 to 1024"))
    }
}

/// One list of blocks for each plane and count of valid units, so that a choice costs constant time.
#[derive(Clone)]
pub struct Policy {
    by_valid: Lists,
    /// No list of the plane below this count holds a block.
    fewest: Vec<u32>,
    counts: usize,
    tie_blocks: usize,
}

impl Policy {
    /// Empty lists for a drive.
    pub fn new(params: &Params, geometry: &Geometry, _seed: u64) -> Self {
        let counts = geometry.units_per_block as usize + 1;
        Self {
            by_valid: Lists::new(geometry.planes as usize * counts, geometry.blocks as usize),
            fewest: vec![counts as u32; geometry.planes as usize],
            counts,
            tie_blocks: params.tie_blocks as usize,
        }
    }

    #[inline(always)]
    fn list(&self, plane: PlaneId, valid: u32) -> usize {
        plane.at() * self.counts + valid as usize
    }

    #[inline(always)]
    fn enter(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        self.by_valid.push_back(self.list(plane, valid), block.0);
        let fewest = &mut self.fewest[plane.at()];
        *fewest = valid.min(*fewest);
    }
}

impl VictimPolicy for Policy {
    #[inline]
    fn on_close(&mut self, blocks: &Blocks, plane: PlaneId, block: BlockId) {
        self.enter(plane, block, u32::from(blocks[block].valid));
    }

    #[inline]
    fn on_invalidate(&mut self, blocks: &Blocks, plane: PlaneId, block: BlockId) {
        let valid = u32::from(blocks[block].valid);
        self.by_valid.remove(block.0);
        self.enter(plane, block, valid);
    }

    #[inline(always)]
    fn prefetch(&self, block: BlockId) {
        self.by_valid.prefetch(block.0);
    }

    fn on_take(&mut self, _: &Blocks, _: PlaneId, block: BlockId) {
        self.by_valid.remove(block.0);
    }

    fn pick(&mut self, view: VictimView<'_>) -> Option<BlockId> {
        let mut planes = view.planes.iter();
        let first = planes.next().and_then(|plane| self.of_plane(plane, view.blocks));
        planes.fold(first, |best, plane| {
            let rank = |block: &BlockId| (view.blocks[*block].valid, view.blocks[*block].erases);
            best.into_iter().chain(self.of_plane(plane, view.blocks)).min_by_key(rank)
        })
    }
}

impl Policy {
    /// The block to collect of a plane.
    #[inline(always)]
    fn of_plane(&mut self, plane: PlaneId, blocks: &Blocks) -> Option<BlockId> {
        let tie_blocks = self.tie_blocks;
        let equal = self.candidates(plane)?.take(tie_blocks);
        equal.min_by_key(|&block| blocks[block].erases)
    }

    /// The full blocks of a plane with the fewest valid units, the first one to reach this count first.
    pub(super) fn candidates(&mut self, plane: PlaneId) -> Option<impl Iterator<Item = BlockId> + '_> {
        let most = self.counts as u32;
        let from = self.fewest[plane.at()];
        let valid = (from..most).find(|&valid| !self.by_valid.is_empty(self.list(plane, valid)));
        self.fewest[plane.at()] = valid.unwrap_or(most);
        Some(self.by_valid.iter(self.list(plane, valid?)).map(BlockId))
    }
}
