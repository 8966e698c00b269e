//! The full block with the least u / (1 - u) · erases / age; u is its share of valid units.
//!
//! Such a block is cheap to move, little worn, and was filled long ago.
//!
//! Source: CAT, Chiang and Chang 1999. Erases and ages count from one, so that neither makes all blocks equal.
//!
//! Parameters: none.

use super::{Parameters, VictimPolicy, VictimView};
use crate::flash::geometry::Geometry;
use crate::ftl::blocks::{Block, Blocks};
use crate::sim::index::{BlockId, PlaneId};

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl Parameters for Params {}

/// No state.
#[derive(Clone)]
pub struct Policy {}

impl Policy {
    /// The policy for a drive.
    pub fn new(_params: &Params, _geometry: &Geometry, _seed: u64) -> Self {
        Self {}
    }
}

impl VictimPolicy for Policy {
    fn on_close(&mut self, _: &Blocks, _: PlaneId, _: BlockId) {}
    fn on_invalidate(&mut self, _: &Blocks, _: PlaneId, _: BlockId) {}
    fn on_take(&mut self, _: &Blocks, _: PlaneId, _: BlockId) {}

    fn pick(&mut self, view: VictimView<'_>) -> Option<BlockId> {
        let score = |block: &Block| {
            let u = f64::from(block.valid) / f64::from(view.blocks.units_per_block);
            u / (1.0 - u) * f64::from(block.erases + 1) / (view.now - block.closed_at + 1) as f64
        };
        let best = view.full_blocks().min_by(|(_, a), (_, b)| score(a).total_cmp(&score(b)));
        best.map(|(block, _)| block)
    }
}
