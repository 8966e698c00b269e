//! Pages that are skipped: they are used without a program, and hold no data until their block is erased.

use super::Ftl;
use crate::sim::index::{BlockId, PlaneId};
use crate::sim::invariant::hold;

impl Ftl {
    /// Skips the next pages of one of a plane's open blocks, or of the block that it opens next, up to a page offset.
    /// The page at this offset must be programmed next: no block closes with a skipped page at its end.
    ///
    /// # Panics
    /// If the block has no page at this offset, or the next program takes it already.
    pub fn skip_pages(&mut self, plane: PlaneId, write_point: usize, page_offset: u32) -> BlockId {
        let block = self.open_block(plane, write_point);
        let (units_per_page, state) = (self.geometry.units_per_page, &mut self.blocks[block]);
        let (at, to) = (u32::from(state.written), page_offset * units_per_page);
        let is_ahead = at.is_multiple_of(units_per_page) && at < to && to < self.geometry.units_per_block;
        hold!(is_ahead, PageRoom, "{block:?} skips its pages up to {page_offset}: {state:?}");
        state.written = to as u16;
        self.counts.skipped_units += u64::from(to - at);
        block
    }
}
