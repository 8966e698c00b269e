//! A job's blocks.

use crate::config::device::PLANES_MAX;
use crate::sim::index::{BlockId, PlaneId};

/// The blocks of a job: one, or one on each of several planes of a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    blocks: [(PlaneId, BlockId); PLANES_MAX as usize],
    count: u8,
}

impl Footprint {
    /// One block of a plane; [`BlockId::NONE`] if it is not known yet.
    pub fn one(plane: PlaneId, block: BlockId) -> Self {
        let mut blocks = [(PlaneId::NONE, BlockId::NONE); PLANES_MAX as usize];
        blocks[0] = (plane, block);
        Self { blocks, count: 1 }
    }

    /// Another block, on another plane of the die.
    ///
    /// # Panics
    /// If the plane has a block already, or no plane is left.
    #[must_use]
    pub fn and(mut self, plane: PlaneId, block: BlockId) -> Self {
        assert!(!self.planes().any(|p| p == plane), "{plane:?} has a block of this job already");
        self.blocks[usize::from(self.count)] = (plane, block);
        self.count += 1;
        self
    }

    /// Whether it has several planes: a row, or blocks of other offsets.
    #[inline(always)]
    pub fn has_several_blocks(&self) -> bool {
        self.count > 1
    }

    /// Planes and their blocks.
    pub fn blocks(&self) -> impl Iterator<Item = (PlaneId, BlockId)> + use<> {
        let Self { blocks, count } = *self;
        blocks.into_iter().take(usize::from(count))
    }

    /// Planes.
    pub fn planes(&self) -> impl Iterator<Item = PlaneId> + use<> {
        self.blocks().map(|(plane, _)| plane)
    }

    /// Its first plane and block.
    #[inline(always)]
    pub fn lead(&self) -> (PlaneId, BlockId) {
        self.blocks[0]
    }

    /// Sets the first block.
    pub(super) fn set_lead(&mut self, block: BlockId) {
        self.blocks[0].1 = block;
    }
}
