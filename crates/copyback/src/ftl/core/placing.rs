//! The destination of new pages, as the allocation policy says: the policy reads the state, and is notified of
//! placements.

use super::Ftl;
use crate::ftl::GC_RESERVE_BLOCKS;
use crate::ftl::allocation::{Allocation, Place};
use crate::sim::index::{LogicalUnit, PlaneId};

impl Ftl {
    /// The policy that chooses the destination of new pages.
    #[inline(always)]
    pub fn allocation(&self) -> &Allocation {
        &self.allocation
    }

    /// A page was placed where that policy decided.
    #[inline]
    pub fn on_placed(&mut self, place: Place) {
        self.allocation.on_placed(place);
    }

    /// The plane that a write of `unit` goes to while no time passes.
    #[inline]
    pub fn timeless_plane(&mut self, unit: LogicalUnit) -> PlaneId {
        let (planes, reserve) = (&self.planes, GC_RESERVE_BLOCKS);
        self.allocation.timeless_plane(unit, |plane| planes[plane.at()].free_blocks > reserve)
    }
}
