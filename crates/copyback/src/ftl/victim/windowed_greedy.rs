//! Of the blocks that were filled first, the one with the fewest valid units.
//!
//! Source: windowed greedy (Hu et al. 2009). A window of one block is FIFO, of all blocks greedy. Of equal blocks the
//! oldest is taken.
//!
//! Parameters:
//! - `window` (default 0.1): how many of the plane's blocks are examined, as a share or a count.

use super::{VictimPolicy, VictimView, fifo};
use crate::config::{Device, KeyError, ShareOrCount};
use crate::flash::geometry::Geometry;
use crate::ftl::blocks::Blocks;
use crate::sim::index::{BlockId, PlaneId};
use serde::{Deserialize, Serialize};

/// See the page above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Oldest blocks that are examined.
    pub window: ShareOrCount,
}

impl Default for Params {
    fn default() -> Self {
        Self { window: ShareOrCount::Share(0.1) }
    }
}

impl super::Parameters for Params {
    fn check(&self, device: &Device<'_>) -> Result<(), KeyError> {
        if self.window.is_possible() && self.window.of(device.geometry.blocks_per_plane) > 0 {
            return Ok(());
        }
        Err(KeyError::new("victim.window", "the window holds no block")
            .with_help("use a share between 0 and 1, or a number of blocks"))
    }
}

/// FIFO's lists and the window's size.
#[derive(Clone)]
pub struct Policy {
    window_blocks: usize,
    fifo: fifo::Policy,
}

impl Policy {
    /// Empty lists for a drive.
    pub fn new(params: &Params, geometry: &Geometry, seed: u64) -> Self {
        Self {
            window_blocks: params.window.of(geometry.blocks_per_plane) as usize,
            fifo: fifo::Policy::new(&fifo::Params::default(), geometry, seed),
        }
    }
}

impl VictimPolicy for Policy {
    fn on_close(&mut self, blocks: &Blocks, plane: PlaneId, block: BlockId) {
        self.fifo.on_close(blocks, plane, block);
    }
    fn on_invalidate(&mut self, _: &Blocks, _: PlaneId, _: BlockId) {}
    fn on_take(&mut self, blocks: &Blocks, plane: PlaneId, block: BlockId) {
        self.fifo.on_take(blocks, plane, block);
    }

    fn pick(&mut self, view: VictimView<'_>) -> Option<BlockId> {
        let windows = view.planes.iter().flat_map(|plane| self.fifo.oldest_first(plane).take(self.window_blocks));
        // Of equals the oldest, so that all planes have their turn.
        windows.min_by_key(|&block| (view.blocks[block].valid, self.fifo.filled(block)))
    }
}
