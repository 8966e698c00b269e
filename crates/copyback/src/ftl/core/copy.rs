//! A copy of a preconditioned drive: the initial state of each scheme of a comparison.

use super::Ftl;
use crate::sim::table;

impl Clone for Ftl {
    fn clone(&self) -> Self {
        Self {
            geometry: self.geometry.clone(),
            allocation: self.allocation.clone(),
            frontier: self.frontier,
            map: self.map.clone(),
            reverse: table::cloned(&self.reverse),
            valid: table::cloned(&self.valid),
            blocks: self.blocks.clone(),
            planes: self.planes.clone(),
            free: self.free.clone(),
            free_order: self.free_order,
            twins: self.twins.clone(),
            logs: self.logs.clone(),
            victim: self.victim.clone(),
            seed: self.seed,
            counts: self.counts,
            free_blocks: self.free_blocks,
            moves: Vec::with_capacity(self.geometry.units_per_block as usize),
        }
    }
}
