//! Superpages: rows whose units are written, moved and invalidated together (`mapping::superpage`).
//!
//! As long as one unit of a superpage is in its row, all places of the row are valid, padding included. Blocks and
//! victim policies therefore count whole rows.

use super::{BlockState, Ftl, Move};
use crate::ftl::frontier::Stream;
use crate::ftl::victim::VictimPolicy;
use crate::sim::index::{LogicalUnit, PageId, PhysicalUnit, PlaneId};
use crate::sim::invariant::hold;

impl Ftl {
    /// The units of the superpage that a unit belongs to: units of the host, or of a translation page.
    pub fn superpage_of(&self, unit: LogicalUnit) -> impl Iterator<Item = LogicalUnit> + use<> {
        let g = &self.geometry;
        let (start, end) = match unit.0 < g.first_map_unit() {
            true => (0, g.logical_units),
            false => (g.first_map_unit(), g.mapped_units),
        };
        let first = start + (unit.0 - start) / g.units_per_logical_page * g.units_per_logical_page;
        (first..(first + g.units_per_logical_page).min(end)).map(LogicalUnit)
    }

    /// Programs a row of one of the plane's open blocks with the superpage that begins at `first`. `units` has, at its
    /// place, each unit that holds data from now on. Of the places without a unit, `stale` hold data that is stale
    /// already; the others are padding.
    ///
    /// # Panics
    /// When the plane has no row left.
    pub fn write_superpage(
        &mut self,
        (plane, write_point): (PlaneId, usize),
        first: LogicalUnit,
        units: &[LogicalUnit],
        stale: usize,
        stamp: u64,
    ) -> PageId {
        if self.logs.is_some() {
            self.before_logging(plane, write_point, &[first]);
        }
        let page = self.place_superpage((plane, write_point), units, stale, stamp);
        if self.logs.is_some() {
            self.after_logging(plane, write_point, &[first]);
        }
        page
    }

    fn place_superpage(
        &mut self,
        (plane, write_point): (PlaneId, usize),
        units: &[LogicalUnit],
        stale: usize,
        stamp: u64,
    ) -> PageId {
        let held = || units.iter().enumerate().filter(|(_, unit)| unit.is_some());
        let count = held().count() + stale;
        let bound = self.bind_page(plane, write_point, count);
        let first = bound.first;
        if let Some(old) = held().map(|(_, &unit)| self.map.get(unit)).find(|place| place.is_some()) {
            self.invalidate_row(old);
        }
        for (at, &unit) in held() {
            self.place_in_row(unit, PhysicalUnit(first.0 + at as u32));
        }
        if count > stale {
            self.set_row_valid(first);
        }
        self.counts.host_units += count as u64;
        self.close_if_last(plane, &bound, write_point, stamp);
        self.geometry.page_of(first)
    }

    /// Programs a row with the moved units of one superpage. Units that were written or trimmed meanwhile are dropped.
    ///
    /// # Panics
    /// When the plane has no row left.
    pub fn move_superpage(&mut self, plane: PlaneId, write_point: usize, moves: &[Move], stamp: u64) -> PageId {
        let bound = self.bind_page(plane, write_point, moves.len());
        let first = bound.first;
        let current = self.relocate_row(first, moves, |at| PhysicalUnit(first.0 + at as u32));
        self.counts.dropped_moves += (moves.len() - current) as u64;
        self.counts.moved_units += moves.len() as u64;
        self.close_if_last(plane, &bound, write_point, stamp);
        self.geometry.page_of(first)
    }

    /// Points the moved units of a superpage at their places in the row that begins at `first`. Returns how many were
    /// still where they were moved from.
    pub(super) fn relocate_row(
        &mut self,
        first: PhysicalUnit,
        moves: &[Move],
        place_of: impl Fn(usize) -> PhysicalUnit,
    ) -> usize {
        let is_current = |ftl: &Self, m: &Move| ftl.map.get(m.unit) == m.from;
        let current = moves.iter().filter(|m| is_current(self, m)).count();
        if current > 0 {
            self.invalidate_row(moves[0].from);
            for (at, m) in moves.iter().enumerate() {
                if is_current(self, m) {
                    self.place_in_row(m.unit, place_of(at));
                }
            }
            self.set_row_valid(first);
        }
        current
    }

    /// A unit was trimmed: its row becomes invalid if this was the row's last unit.
    pub(super) fn trim_in_superpage(&mut self, unit: LogicalUnit, old: PhysicalUnit) {
        if self.superpage_of(unit).all(|other| self.map.get(other).is_none()) {
            self.invalidate_row(old);
        }
    }

    /// Writes the whole superpage of a unit in no time.
    #[inline(never)]
    pub(super) fn append_superpage(&mut self, plane: PlaneId, unit: LogicalUnit, stamp: u64) {
        let units: Vec<LogicalUnit> = self.superpage_of(unit).collect();
        let write_point = match self.logs.is_some() {
            true => self.begin_in_order(plane, units[0]),
            false => self.write_point(plane, Stream::Host),
        };
        self.place_superpage((plane, write_point), &units, 0, stamp);
    }

    fn place_in_row(&mut self, unit: LogicalUnit, place: PhysicalUnit) {
        self.map.set(unit, place);
        self.reverse[place.at()] = unit;
    }

    fn row_of(&self, place: PhysicalUnit) -> impl Iterator<Item = usize> + use<> {
        let first = self.geometry.unit_of_page(self.geometry.page_of(place)).at();
        first..first + self.geometry.units_per_page as usize
    }

    fn set_row_valid(&mut self, first: PhysicalUnit) {
        for place in self.row_of(first) {
            debug_assert!(self.valid[place / 64] >> (place % 64) & 1 == 0, "{first:?} is valid already");
            self.valid[place / 64] |= 1 << (place % 64);
        }
        let block = self.geometry.block_of(first);
        self.blocks[block].valid += self.geometry.units_per_page as u16;
    }

    fn invalidate_row(&mut self, place: PhysicalUnit) {
        let block = self.geometry.block_of(place);
        for place in self.row_of(place) {
            let bit = 1 << (place % 64);
            hold!(self.valid[place / 64] & bit != 0, MapBothWays, "place {place} of a superpage is invalid already");
            self.valid[place / 64] &= !bit;
            self.blocks[block].valid -= 1;
            if self.blocks[block].state == BlockState::Closed {
                let plane = self.geometry.plane_of(block);
                self.victim.on_invalidate(&self.blocks, plane, block);
            }
        }
    }

    /// Compares the map with the valid bits, superpage by superpage.
    pub(super) fn check_superpages(&self) -> Result<(), String> {
        let g = &self.geometry;
        let mut rows = 0u64;
        let (hosts, own) = (0..g.logical_units, g.first_map_unit()..g.mapped_units);
        let starts = |units: std::ops::Range<u32>| units.step_by(g.units_per_logical_page as usize);
        for first in starts(hosts).chain(starts(own)).map(LogicalUnit) {
            let places: Vec<_> = self.superpage_of(first).map(|unit| self.map.get(unit)).collect();
            let mut pages = places.iter().filter(|place| place.is_some()).map(|&place| g.page_of(place));
            let Some(page) = pages.next() else { continue };
            rows += 1;
            if pages.any(|other| other != page) {
                return Err(format!("the superpage of {first:?} is scattered: {places:?}"));
            }
            if self.row_of(g.unit_of_page(page)).any(|place| self.valid[place / 64] >> (place % 64) & 1 == 0) {
                return Err(format!("the superpage of {first:?} is in {page:?}, which is not valid as a whole"));
            }
        }
        let bits: u64 = self.valid.iter().map(|w| u64::from(w.count_ones())).sum();
        let counted: u64 = self.blocks.iter().map(|b| u64::from(b.valid)).sum();
        let units = rows * u64::from(g.units_per_page);
        if bits != units || counted != units {
            return Err(format!("{units} units of rows hold data, {bits} bits are set, blocks count {counted}"));
        }
        Ok(())
    }
}
