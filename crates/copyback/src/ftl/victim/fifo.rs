//! The block that was filled first.
//!
//! Source: FIFO (also "LRU" or circular) cleaning: Bux and Iliadis 2010, Desnoyers 2014. Write amplification under
//! uniform random writes: α / (α + W₀(−α·e^(−α))), for any block size. α is physical over logical capacity, W₀ is
//! Lambert's function.
//!
//! Parameters: none.

use super::{VictimPolicy, VictimView};
use crate::flash::geometry::Geometry;
use crate::ftl::blocks::Blocks;
use crate::sim::index::{BlockId, PlaneId};
use crate::sim::lists::Lists;
use serde::{Deserialize, Serialize};

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl super::Parameters for Params {}

/// Full blocks of each plane in the order in which they were filled.
#[derive(Clone)]
pub struct Policy {
    by_age: Lists,
    /// The order in which blocks were filled, counted over all: moves can fill many blocks at one stamp, which counts
    /// only writes of the host.
    filled: Vec<u64>,
    count: u64,
}

impl Policy {
    /// Empty lists for a drive.
    pub fn new(_params: &Params, geometry: &Geometry, _seed: u64) -> Self {
        let by_age = Lists::new(geometry.planes as usize, geometry.blocks as usize);
        Self { by_age, filled: vec![0; geometry.blocks as usize], count: 0 }
    }

    /// A block's number in the order in which all blocks were filled.
    pub(super) fn filled(&self, block: BlockId) -> u64 {
        self.filled[block.at()]
    }

    /// Full blocks of a plane, oldest first.
    pub(super) fn oldest_first(&self, plane: PlaneId) -> impl Iterator<Item = BlockId> + '_ {
        self.by_age.iter(plane.at()).map(BlockId)
    }
}

impl VictimPolicy for Policy {
    fn on_close(&mut self, _: &Blocks, plane: PlaneId, block: BlockId) {
        self.by_age.push_back(plane.at(), block.0);
        self.count += 1;
        self.filled[block.at()] = self.count;
    }
    fn on_invalidate(&mut self, _: &Blocks, _: PlaneId, _: BlockId) {}
    fn on_take(&mut self, _: &Blocks, _: PlaneId, block: BlockId) {
        self.by_age.remove(block.0);
    }

    fn pick(&mut self, view: VictimView<'_>) -> Option<BlockId> {
        let oldest = view.planes.iter().filter_map(|plane| self.oldest_first(plane).next());
        oldest.min_by_key(|&block| self.filled(block))
    }
}
