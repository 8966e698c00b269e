//! Open blocks: a plane opens a free block for new data, and closes it when it is full.

use super::{BoundPage, Ftl};
use crate::ftl::blocks::BlockState;
use crate::ftl::victim::VictimPolicy;
use crate::sim::index::{BlockId, PlaneId};
use crate::sim::invariant::{Invariant, broken, hold};

impl Ftl {
    /// One of the plane's open blocks, with room for at least one unit.
    #[inline(always)]
    pub(in crate::ftl) fn open_block(&mut self, plane: PlaneId, write_point: usize) -> BlockId {
        let open = self.planes[plane.at()].open[write_point];
        if open.is_some() { open } else { self.open_new_block(plane, write_point) }
    }

    /// Out of line, because it runs once for a block of pages.
    #[inline(never)]
    fn open_new_block(&mut self, plane: PlaneId, write_point: usize) -> BlockId {
        let free = match self.twins.is_some() {
            true => self.pop_twin(plane, write_point),
            false => self.pop_free(plane),
        };
        let block = BlockId(free.unwrap_or_else(|| broken(Invariant::FreeBlock, format_args!("{plane:?} has none"))));
        let state = &mut self.blocks[block];
        let is_erased = state.state == BlockState::Free && state.written == 0 && state.valid == 0;
        hold!(is_erased, FreeBlock, "{block:?} is not erased: {state:?}");
        state.state = BlockState::Open;
        let p = &mut self.planes[plane.at()];
        p.open[write_point] = block;
        p.free_blocks -= 1;
        self.free_blocks -= 1;
        if self.logs.is_some() {
            self.on_log_opened(plane, write_point, block);
        }
        block
    }

    /// After a page was bound: closes its block if that was the last one.
    #[inline(always)]
    pub(super) fn close_if_last(&mut self, plane: PlaneId, page: &BoundPage, write_point: usize, stamp: u64) {
        if page.is_last {
            self.close(plane, page.block, write_point, stamp);
        }
    }

    /// After units were bound: closes the block if it is full.
    #[inline(always)]
    pub(super) fn close_if_full(&mut self, plane: PlaneId, block: BlockId, write_point: usize, stamp: u64) {
        if u32::from(self.blocks[block].written) >= self.geometry.units_per_block {
            self.close(plane, block, write_point, stamp);
        }
    }

    /// Out of line, as [`Self::open_new_block`].
    #[inline(never)]
    fn close(&mut self, plane: PlaneId, block: BlockId, write_point: usize, stamp: u64) {
        let state = &mut self.blocks[block];
        state.state = BlockState::Closed;
        state.closed_at = stamp;
        let p = &mut self.planes[plane.at()];
        p.open[write_point] = BlockId::NONE;
        // The next block that is opened in its place has no partner.
        p.paired = p.paired.filter(|&paired| usize::from(paired) != write_point);
        self.victim.on_close(&self.blocks, plane, block);
        if self.logs.is_some() {
            self.on_log_closed(plane, write_point, block);
        }
    }
}
