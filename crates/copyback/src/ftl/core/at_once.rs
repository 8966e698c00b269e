//! Operations in zero time: writes and collections of a preconditioning, and collections of an ideal drive. Units are
//! appended one by one, so that moves of several victims share their pages.

use super::{Ftl, Move};
use crate::ftl::frontier::Stream;
use crate::sim::index::{BlockId, LogicalUnit, PhysicalUnit, PlaneId};

impl Ftl {
    /// Writes one unit to the plane's open block, behind the last.
    #[inline(always)]
    pub fn append(&mut self, plane: PlaneId, unit: LogicalUnit, stamp: u64) {
        self.append_to(plane, false, unit, stamp);
    }

    /// The same, to the plane's second active block if requested.
    #[inline(always)]
    pub fn append_to(&mut self, plane: PlaneId, is_second: bool, unit: LogicalUnit, stamp: u64) {
        if self.geometry.has_superpages() {
            return self.append_superpage(plane, unit, stamp);
        }
        if self.logs.is_some() {
            return self.append_in_order(plane, unit, stamp);
        }
        let write_point = if is_second { 1 } else { self.write_point(plane, Stream::Host) };
        let (block, place) = self.append_place(plane, write_point);
        self.point(unit, place, block);
        self.counts.host_units += 1;
        self.close_if_full(plane, block, write_point, stamp);
    }

    /// Completes the page that was begun on a plane by appending: the rest of it is padding. A whole page can then be
    /// bound behind it.
    pub fn seal_page(&mut self, plane: PlaneId, stream: Stream, stamp: u64) {
        if !self.frontier.has_second_active() {
            self.seal_write_point(plane, self.frontier.open_block_of(stream), stamp);
            return;
        }
        // Which of two blocks the next page goes to may have changed since this one was begun.
        self.seal_write_point(plane, 0, stamp);
        self.seal_write_point(plane, 1, stamp);
    }

    pub(super) fn seal_write_point(&mut self, plane: PlaneId, write_point: usize, stamp: u64) {
        let block = self.planes[plane.at()].open[write_point];
        if block.is_none() {
            return;
        }
        let state = &mut self.blocks[block];
        let whole = u32::from(state.written).next_multiple_of(self.geometry.units_per_page);
        self.counts.padding_units += u64::from(whole) - u64::from(state.written);
        state.written = whole as u16;
        self.close_if_full(plane, block, write_point, stamp);
    }

    #[inline(always)]
    pub(super) fn append_place(&mut self, plane: PlaneId, write_point: usize) -> (BlockId, PhysicalUnit) {
        let block = self.open_block(plane, write_point);
        let at = self.blocks[block].written;
        self.blocks[block].written = at + 1;
        (block, PhysicalUnit(block.0 * self.geometry.units_per_block + u32::from(at)))
    }

    /// Collects one block at once: its valid units are appended to its plane's block for moves. Returns how many.
    pub fn collect(&mut self, block: BlockId, stamp: u64) -> u32 {
        let plane = self.geometry.plane_of(block);
        let mut moves = std::mem::take(&mut self.moves);
        self.take_victim(block, &mut moves);
        if self.geometry.has_superpages() {
            let rows = moves.chunk_by(|a, b| self.geometry.page_of(a.from) == self.geometry.page_of(b.from));
            let ends: Vec<usize> = rows.map(<[Move]>::len).collect();
            let mut rest = &moves[..];
            for units in ends {
                let (row, others) = rest.split_at(units);
                let write_point = self.write_point(plane, Stream::Moved);
                self.move_superpage(plane, write_point, row, stamp);
                rest = others;
            }
            let moved = moves.len() as u32;
            self.moves = moves;
            self.erase(block);
            return moved;
        }
        const AHEAD: usize = 12;
        for m in &moves[..moves.len().min(AHEAD)] {
            self.map.prefetch(m.unit);
        }
        let mut write_point = self.write_point(plane, Stream::Moved);
        for (i, m) in moves.iter().enumerate() {
            if let Some(next) = moves.get(i + AHEAD) {
                self.map.prefetch(next.unit);
            }
            if self.frontier.has_second_active() && !self.is_within_page(plane, write_point) {
                write_point = self.write_point(plane, Stream::Moved);
            }
            let (to_block, place) = self.append_place(plane, write_point);
            let old = self.map.set(m.unit, place);
            debug_assert_eq!(old, m.from);
            self.reverse[place.at()] = m.unit;
            self.valid[place.at() / 64] |= 1 << (place.0 % 64);
            self.blocks[to_block].valid += 1;
            self.close_if_full(plane, to_block, write_point, stamp);
        }
        let moved = moves.len() as u32;
        self.counts.moved_units += u64::from(moved);
        self.moves = moves;
        self.clear_valid(block);
        self.erase(block);
        moved
    }

    /// Whether an open block's last page was begun and is not full: the next units go there, too.
    #[inline(always)]
    fn is_within_page(&self, plane: PlaneId, write_point: usize) -> bool {
        let open = self.planes[plane.at()].open[write_point];
        open.is_some() && !u32::from(self.blocks[open].written).is_multiple_of(self.geometry.units_per_page)
    }

    /// Makes all units of a victim invalid at once.
    fn clear_valid(&mut self, block: BlockId) {
        let first = self.geometry.first_unit(block).0;
        let end = first + self.geometry.units_per_block;
        let mut at = first;
        while at < end {
            let in_word = (64 - at % 64).min(end - at);
            let mask = if in_word == 64 { u64::MAX } else { ((1 << in_word) - 1) << (at % 64) };
            self.valid[(at / 64) as usize] &= !mask;
            at += in_word;
        }
        self.blocks[block].valid = 0;
    }
}
