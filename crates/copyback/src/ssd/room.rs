//! Room of a drive on which whatever is relocated may go to any plane: what all planes together have left. So it is
//! where the allocation chooses dies, and moved data shares open blocks with the host's: a block that only one of the
//! two may write would be lost to the other when it is opened for a single page.
//!
//! Where each plane takes the moves of its own collections, a block of it is kept for them. Here the blocks that are
//! kept are a common stock: a relocation begins when the drive has room for what it moves, whatever its own plane has,
//! and the host leaves a block's worth for each relocation that may be under way at once. As an end gives back a whole
//! block for the part of one that was moved, there is always room for the next.

use super::drive::Drive;
use crate::ftl::core::Ftl;
use crate::ftl::frontier::Stream;
use crate::ftl::space::Anywhere;
use crate::sim::index::PlaneId;

/// Pages that moved data may take, of each plane and of all.
pub(super) struct Room {
    left_of: Vec<u32>,
    left: u32,
    /// Pages that the host leaves.
    kept: u32,
}

impl Room {
    /// What a drive has, of which so many blocks at most are relocated at once.
    pub fn new(ftl: &Ftl, relocations_max: u32) -> Self {
        let geometry = &ftl.geometry;
        let left_of: Vec<u32> = (0..geometry.planes).map(|p| ftl.pages_left(PlaneId(p), Stream::Moved)).collect();
        let left = left_of.iter().sum();
        Self { left_of, left, kept: relocations_max.min(geometry.planes) * geometry.pages_per_block }
    }

    /// A plane has lost pages or won a block.
    pub fn follow(&mut self, ftl: &Ftl, plane: PlaneId) {
        let left = ftl.pages_left(plane, Stream::Moved);
        let before = std::mem::replace(&mut self.left_of[plane.at()], left);
        self.left = self.left - before + left;
    }
}

impl Drive {
    /// The room of the drive as space sees it, where that is common to all planes.
    #[inline(always)]
    pub(super) fn anywhere(&self) -> Option<Anywhere> {
        let room = self.relocations.room.as_ref()?;
        Some(Anywhere {
            left: room.left,
            kept: room.kept,
            unsent: self.relocations.pages_unsent(self.geometry.units_per_page),
        })
    }
}
