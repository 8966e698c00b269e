//! The full block with the greatest (1 - u) / 2u · age; u is its share of valid units.
//!
//! Source: Rosenblum and Ousterhout 1992, with the cost of reading and writing the valid data (2u) as in Kawaguchi et
//! al. 1995; atc18 Section 4.2 names it. The age is counted in units written since the block was filled, plus one, so
//! that blocks filled at the same moment are compared by their gain. A block without valid units precedes all others.
//! The policy examines every block of the planes among which the victim is selected.
//!
//! Parameters: none.

use super::{VictimPolicy, VictimView};
use crate::flash::geometry::Geometry;
use crate::ftl::blocks::{Block, Blocks};
use crate::sim::index::{BlockId, PlaneId};
use serde::{Deserialize, Serialize};

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl super::Parameters for Params {}

/// No state: the blocks hold their ages.
#[derive(Clone)]
pub struct Policy {}

impl Policy {
    /// The policy for a drive.
    pub fn new(_params: &Params, _geometry: &Geometry, _seed: u64) -> Self {
        Self {}
    }
}

/// Benefit over cost. The same on every machine: a subtraction, two multiplications and a division of whole numbers.
fn score(block: &Block, units_per_block: u32, now: u64) -> f64 {
    if block.valid == 0 {
        return f64::INFINITY;
    }
    let valid = f64::from(block.valid);
    (f64::from(units_per_block) - valid) * (now - block.closed_at + 1) as f64 / (2.0 * valid)
}

impl VictimPolicy for Policy {
    fn on_close(&mut self, _: &Blocks, _: PlaneId, _: BlockId) {}
    fn on_invalidate(&mut self, _: &Blocks, _: PlaneId, _: BlockId) {}
    fn on_take(&mut self, _: &Blocks, _: PlaneId, _: BlockId) {}

    fn pick(&mut self, view: VictimView<'_>) -> Option<BlockId> {
        let mut best: Option<(f64, BlockId)> = None;
        for (id, block) in view.full_blocks() {
            let score = score(block, view.blocks.units_per_block, view.now);
            if best.is_none_or(|(most, _)| score > most) {
                best = Some((score, id));
            }
        }
        best.map(|(_, id)| id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ftl::blocks::BlockState;

    /// 2 of 8 units are valid, u = 1/4, and 3 units were written since: (3/4) / (2/4) · 4.
    #[test]
    fn the_score_is_benefit_over_cost_times_age() {
        let block = Block { valid: 2, written: 8, state: BlockState::Closed, erases: 0, closed_at: 5 };
        assert_eq!(score(&block, 8, 8), 6.0);
    }
}
