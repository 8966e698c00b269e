//! Any full block, all equally likely.
//!
//! Source: the random policy of the write-amplification literature (Van Houdt 2013, d = 1). Write amplification under
//! uniform random writes: (1 + OP) / OP.
//!
//! Parameters: none.

use super::{Draw, VictimPolicy, VictimView};
use crate::flash::geometry::Geometry;
use crate::ftl::blocks::Blocks;
use crate::sim::index::{BlockId, PlaneId};
use serde::{Deserialize, Serialize};

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl super::Parameters for Params {}

/// The source of the draws.
#[derive(Clone)]
pub struct Policy {
    draw: Draw,
}

impl Policy {
    /// The policy for a drive.
    pub fn new(_params: &Params, _geometry: &Geometry, seed: u64) -> Self {
        Self { draw: Draw::new(seed) }
    }
}

impl VictimPolicy for Policy {
    fn on_close(&mut self, _: &Blocks, _: PlaneId, _: BlockId) {}
    fn on_invalidate(&mut self, _: &Blocks, _: PlaneId, _: BlockId) {}
    fn on_take(&mut self, _: &Blocks, _: PlaneId, _: BlockId) {}

    fn pick(&mut self, view: VictimView<'_>) -> Option<BlockId> {
        self.draw.full_block(view)
    }
}
