//! Reserved pages: for admitted writes, and for moves on their way to a plane.

use crate::flash::geometry::Geometry;
use crate::ftl::core::Ftl;
use crate::ftl::space::{MovePool, Space};
use crate::sim::index::{DieId, PlaneId};
use crate::ssd::admission::shared_space::SharedSpace;

/// The reservations of a drive's pages: by plane and, if planes share the blocks that are kept for moves, by stock, the
/// space that some planes share ([`SharedSpace`]).
pub(in crate::ssd) struct PageReservations {
    space: Space,
    /// The space that planes share. Invariant: it promises as many pages as `space` reserves and expects.
    shared: Option<SharedSpace>,
}

impl PageReservations {
    pub fn new(space: Space, shared: Option<SharedSpace>) -> Self {
        Self { space, shared }
    }

    // ---- questions --------------------------------------------------------------------------------------------------

    /// The reservations by plane, read-only.
    #[inline(always)]
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// Whether planes share the blocks that are kept for moves.
    #[inline(always)]
    pub fn are_shared(&self) -> bool {
        self.shared.is_some()
    }

    /// The state of a plane's stock, if planes share blocks.
    #[inline(always)]
    pub fn move_pool(&self, plane: PlaneId) -> Option<MovePool> {
        self.shared.as_ref().map(|shared| shared.move_pool(plane))
    }

    /// Whether two planes share blocks.
    pub fn share_stock(&self, plane: PlaneId, other: PlaneId) -> bool {
        self.shared.as_ref().is_some_and(|shared| shared.share_stock(plane, other))
    }

    /// Pages that all stocks together have promised, if planes share blocks.
    pub fn promised(&self) -> Option<u32> {
        self.shared.as_ref().map(SharedSpace::promised)
    }

    // ---- changes ----------------------------------------------------------------------------------------------------

    /// Reserves a page for a write that is admitted to a die, or to its plane if the plane is decided.
    #[inline(always)]
    pub fn reserve(&mut self, geometry: &Geometry, die: DieId, plane: PlaneId) {
        self.space.reserve(geometry, die, plane);
        if let Some(shared) = &mut self.shared {
            shared.promise(geometry.first_plane(die));
        }
    }

    /// Releases such a page: it is bound now, or the write no longer needs it.
    #[inline(always)]
    pub fn release(&mut self, geometry: &Geometry, die: DieId, plane: PlaneId) {
        self.space.release(geometry, die, plane);
        if let Some(shared) = &mut self.shared {
            shared.release(geometry.first_plane(die));
        }
    }

    /// A write begins to wait in front of a die's window: it will need a page.
    pub fn begin_wait_for_window(&mut self, geometry: &Geometry, die: DieId, plane: PlaneId) {
        self.space.begin_wait_for_window(geometry, die, plane);
        if let Some(shared) = &mut self.shared {
            shared.begin_wait_for_window(geometry.first_plane(die));
        }
    }

    /// A write no longer waits in front of a die's window.
    pub fn end_wait_for_window(&mut self, geometry: &Geometry, die: DieId, plane: PlaneId) {
        self.space.end_wait_for_window(geometry, die, plane);
        if let Some(shared) = &mut self.shared {
            shared.end_wait_for_window(geometry.first_plane(die));
        }
    }

    /// A page of moved data is on its way to a plane.
    pub fn expect_move(&mut self, plane: PlaneId) {
        self.space.expect_move(plane);
        if let Some(shared) = &mut self.shared {
            shared.promise(plane);
        }
    }

    /// A page of moved data that was on its way to a plane is bound.
    pub fn take_move(&mut self, plane: PlaneId) {
        self.space.take_move(plane);
        if let Some(shared) = &mut self.shared {
            shared.release(plane);
        }
    }

    /// A plane has lost a page or gained a block.
    #[inline]
    pub fn follow(&mut self, ftl: &Ftl, plane: PlaneId) {
        if let Some(shared) = &mut self.shared {
            shared.follow(ftl, plane);
        }
    }

    /// Changes the number of pages that a relocation of a plane's block still has to send to other planes.
    pub fn change_unsent(&mut self, plane: PlaneId, before: u32, now: u32) {
        if let Some(shared) = &mut self.shared {
            shared.change_unsent(plane, before, now);
        }
    }

    #[cfg(test)]
    pub fn break_reservation(&mut self, plane: PlaneId, pages: u32) {
        self.space.break_reservation(plane, pages);
    }
}
