//! Of d full blocks drawn at random, the one with the fewest valid units.
//!
//! Source: Van Houdt 2013 ("d-choices"): d = 1 is random, d → ∞ greedy. Draws are with replacement.
//!
//! Parameters:
//! - `d` (default 10): blocks that are drawn.

use super::{Draw, VictimPolicy, VictimView};
use crate::config::{Device, KeyError};
use crate::flash::geometry::Geometry;
use crate::ftl::blocks::Blocks;
use crate::sim::index::{BlockId, PlaneId};
use serde::{Deserialize, Serialize};

/// See the page above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Blocks that are drawn.
    pub d: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self { d: 10 }
    }
}

impl super::Parameters for Params {
    fn check(&self, _: &Device<'_>) -> Result<(), KeyError> {
        if (1..=1024).contains(&self.d) {
            return Ok(());
        }
        Err(KeyError::new("victim.d", format!("{} draws are not possible", self.d))
            .with_help("use a number from 1 to 1024"))
    }
}

/// The number of draws and their source.
#[derive(Clone)]
pub struct Policy {
    d: u32,
    draw: Draw,
}

impl Policy {
    /// The policy for a drive.
    pub fn new(params: &Params, _geometry: &Geometry, seed: u64) -> Self {
        Self { d: params.d, draw: Draw::new(seed) }
    }
}

impl VictimPolicy for Policy {
    fn on_close(&mut self, _: &Blocks, _: PlaneId, _: BlockId) {}
    fn on_invalidate(&mut self, _: &Blocks, _: PlaneId, _: BlockId) {}
    fn on_take(&mut self, _: &Blocks, _: PlaneId, _: BlockId) {}

    fn pick(&mut self, view: VictimView<'_>) -> Option<BlockId> {
        let mut best = self.draw.full_block(view)?;
        for _ in 1..self.d {
            let next = self.draw.full_block(view)?;
            if view.blocks[next].valid < view.blocks[best].valid {
                best = next;
            }
        }
        Some(best)
    }
}
