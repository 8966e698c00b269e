//! Version stamps: the true content of every place in flash, kept separately from the translation layer that it checks.
//!
//! Each write of a logical unit makes a new version. A read must return the newest version, and a move must copy the
//! newest. The erase of a block may begin only when the newest version of each of its units is programmed in another
//! block.

use crate::flash::geometry::Geometry;
use crate::ftl::core::{Ftl, Move};
use crate::sim::index::{BlockId, LogicalUnit, PageId, PhysicalUnit};
use crate::sim::invariant::hold;

/// Versions of all data; only under `--check`.
pub struct Shadow {
    /// Newest version of each logical unit; 0 was never written.
    newest: Vec<u32>,
    /// Version and owner that each place in flash holds.
    stored: Vec<(LogicalUnit, u32)>,
    /// Sequence of the newest write or trim of each unit that took effect.
    arrived: Vec<u64>,
    /// Places that hold the newest version of each logical unit, and whose program has ended.
    copies: Vec<u32>,
    /// Pages of the flash whose program was issued and has not ended, in the order of their units.
    is_programming: Vec<bool>,
    /// Units of a flash page: the programs of a row's pages may end one by one.
    units_per_page: u32,
    pages_in_row: u32,
    units_per_block: u32,
}

impl Shadow {
    /// Bytes of the tables for a drive of this shape.
    pub fn table_bytes(geometry: &Geometry) -> u64 {
        let (mapped, physical) = (u64::from(geometry.mapped_units), u64::from(geometry.physical_units));
        let of_unit = 2 * size_of::<u32>() + size_of::<u64>();
        of_unit as u64 * mapped
            + size_of::<(LogicalUnit, u32)>() as u64 * physical
            + physical / u64::from(geometry.units_per_flash_page)
    }

    /// The shadow of a drive: its present contents are version 1.
    pub fn new(ftl: &Ftl) -> Self {
        let g = &ftl.geometry;
        let mut shadow = Self {
            newest: vec![0; g.mapped_units as usize],
            stored: vec![(LogicalUnit::NONE, 0); g.physical_units as usize],
            arrived: vec![0; g.mapped_units as usize],
            copies: vec![0; g.mapped_units as usize],
            is_programming: vec![false; (g.physical_units / g.units_per_flash_page) as usize],
            units_per_page: g.units_per_flash_page,
            pages_in_row: g.row_planes,
            units_per_block: g.units_per_block,
        };
        for unit in (0..g.mapped_units).map(LogicalUnit) {
            let place = ftl.lookup(unit);
            if place.is_some() {
                (shadow.newest[unit.at()], shadow.copies[unit.at()]) = (1, 1);
                shadow.stored[place.at()] = (unit, 1);
            }
        }
        shadow
    }

    /// A write of a unit is bound, as the newest or as one that a newer one overtook.
    ///
    /// # Panics
    /// When that is wrong.
    pub fn bind(&mut self, unit: LogicalUnit, sequence: u64, is_newest: bool) {
        let newest = self.arrived[unit.at()];
        hold!(
            is_newest == (sequence >= newest),
            NewestWritten,
            "write {sequence} of {unit:?}, bound after write or trim {newest}, counts as the newest: {is_newest}"
        );
        self.arrived[unit.at()] = newest.max(sequence);
    }

    /// A unit was trimmed.
    pub fn trim(&mut self, unit: LogicalUnit, sequence: u64) {
        self.arrived[unit.at()] = sequence;
    }

    /// A page of the host's units was bound, and its program begins; [`LogicalUnit::NONE`] is padding or stale data.
    ///
    /// # Panics
    /// When a place was programmed already.
    pub fn write_page(&mut self, page: PageId, units: &[LogicalUnit]) {
        let first = self.begin_page(page);
        for (offset, &unit) in units.iter().enumerate().filter(|(_, unit)| unit.is_some()) {
            self.newest[unit.at()] += 1;
            self.copies[unit.at()] = 0;
            self.program(PhysicalUnit(first + offset as u32), (unit, self.newest[unit.at()]));
        }
    }

    /// A page of moves was bound, and its program begins. `was_current`: for each move, whether its unit was still at
    /// the expected location. Bit n of `merged`: the n-th unit holds new data of the host.
    ///
    /// # Panics
    /// If a copied version is not the newest version, or a newer version was replaced.
    pub fn move_page(&mut self, ftl: &Ftl, page: PageId, moves: &[Move], was_current: &[bool], merged: u32) {
        let first = self.begin_page(page);
        for (offset, (&m, &was_current)) in moves.iter().zip(was_current).enumerate() {
            let to = PhysicalUnit(first + offset as u32);
            if merged >> offset & 1 == 1 {
                self.newest[m.unit.at()] += 1;
                self.copies[m.unit.at()] = 0;
                self.program(to, (m.unit, self.newest[m.unit.at()]));
            } else {
                self.copy_if_current(ftl, m, to, was_current);
            }
        }
    }

    /// A page was programmed in which each unit has its own place: moves, their places, and whether each was current.
    ///
    /// # Panics
    /// As above.
    pub fn gather_page(&mut self, ftl: &Ftl, page: PageId, moves: impl Iterator<Item = ((Move, PhysicalUnit), bool)>) {
        self.begin_page(page);
        moves.for_each(|((m, to), was_current)| self.copy_if_current(ftl, m, to, was_current));
    }

    fn copy_if_current(&mut self, ftl: &Ftl, m: Move, to: PhysicalUnit, was_current: bool) {
        if was_current {
            self.copy(m, to);
        } else {
            hold!(
                ftl.lookup(m.unit) != to,
                NewestMoved,
                "{:?} was written while it was moved, and is old again",
                m.unit
            );
        }
    }

    /// The program of a page, or a row of pages, begins. Returns its first place.
    fn begin_page(&mut self, page: PageId) -> u32 {
        let first = page.0 * self.pages_in_row;
        (first..first + self.pages_in_row).for_each(|page| self.is_programming[page as usize] = true);
        first * self.units_per_page
    }

    /// A unit was copied in no time.
    ///
    /// # Panics
    /// When what is copied is not the unit's newest version.
    pub fn copy_at_once(&mut self, m: Move, to: PhysicalUnit) {
        self.copy(m, to);
        self.copies[m.unit.at()] += 1;
    }

    fn copy(&mut self, m: Move, to: PhysicalUnit) {
        let held = self.stored[m.from.at()];
        let newest = (m.unit, self.newest[m.unit.at()]);
        hold!(held == newest, NewestMoved, "a move found {held:?} at {:?}, not {newest:?}", m.from);
        self.program(to, held);
    }

    fn program(&mut self, place: PhysicalUnit, what: (LogicalUnit, u32)) {
        let held = self.stored[place.at()];
        hold!(held.1 == 0, ProgrammedOnce, "{place:?} holds {held:?} and is programmed with {what:?}");
        self.stored[place.at()] = what;
    }

    /// The program of a page of the flash ended, which holds units from `first` on. Collection that takes no time may
    /// have erased its block before.
    pub fn end_page(&mut self, first: PhysicalUnit) {
        let page = first.at() / self.units_per_page as usize;
        if !std::mem::replace(&mut self.is_programming[page], false) {
            return;
        }
        let first = first.at();
        for place in first..first + self.units_per_page as usize {
            let (unit, version) = self.stored[place];
            if version > 0 && version == self.newest[unit.at()] {
                self.copies[unit.at()] += 1;
            }
        }
    }

    /// A unit is read.
    ///
    /// # Panics
    /// When the place does not hold the newest version.
    pub fn read(&self, unit: LogicalUnit, place: PhysicalUnit) {
        let (held, newest) = (self.stored[place.at()], (unit, self.newest[unit.at()]));
        hold!(held == newest, NewestRead, "a read found {held:?} at {place:?}, not {newest:?}");
    }

    /// The erase of a block begins: its content is gone.
    ///
    /// # Panics
    /// When the newest version of a unit is nowhere else, or its program there has not ended.
    pub fn begin_erase(&mut self, block: BlockId, ftl: &Ftl) {
        for place in self.places(block) {
            let (unit, version) = std::mem::replace(&mut self.stored[place], (LogicalUnit::NONE, 0));
            if version == 0 || version != self.newest[unit.at()] {
                continue;
            }
            let is_programmed = !self.is_programming[place / self.units_per_page as usize];
            self.copies[unit.at()] -= u32::from(is_programmed);
            // Trimmed data need not be anywhere.
            let is_safe = self.copies[unit.at()] > 0 || ftl.lookup(unit).is_none();
            hold!(is_safe, NothingLost, "{block:?} is erased and holds the only programmed copy of {unit:?}");
        }
        let pages = self.places(block).step_by(self.units_per_page as usize);
        pages.for_each(|place| self.is_programming[place / self.units_per_page as usize] = false);
    }

    fn places(&self, block: BlockId) -> std::ops::Range<usize> {
        let first = block.at() * self.units_per_block as usize;
        first..first + self.units_per_block as usize
    }
}
