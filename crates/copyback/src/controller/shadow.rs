//! Version stamps: what every unit of flash really holds, kept apart from the translation layer that it checks.

use crate::ftl::core::{Ftl, Move};
use crate::sim::index::{BlockId, LogicalUnit, PhysicalUnit};

/// Versions of all data; only under `--check`.
pub struct Shadow {
    /// Newest version of each logical unit; 0 was never written.
    newest: Vec<u32>,
    /// Version and owner that each place in flash holds.
    stored: Vec<(LogicalUnit, u32)>,
}

impl Shadow {
    /// What the drive holds now is version 1.
    pub fn new(ftl: &Ftl) -> Self {
        let g = &ftl.geometry;
        let mut shadow = Self {
            newest: vec![0; g.logical_units as usize],
            stored: vec![(LogicalUnit::NONE, 0); g.physical_units as usize],
        };
        for unit in (0..g.logical_units).map(LogicalUnit) {
            let place = ftl.lookup(unit);
            if place.is_some() {
                shadow.newest[unit.at()] = 1;
                shadow.stored[place.at()] = (unit, 1);
            }
        }
        shadow
    }

    /// A unit's new version was programmed at a place.
    ///
    /// # Panics
    /// When the place was not erased.
    pub fn write(&mut self, unit: LogicalUnit, place: PhysicalUnit) {
        self.newest[unit.at()] += 1;
        self.program(place, (unit, self.newest[unit.at()]));
    }

    /// A unit was copied.
    ///
    /// # Panics
    /// When what is copied is not the unit's newest version.
    pub fn relocate(&mut self, m: Move, to: PhysicalUnit) {
        let held = self.stored[m.from.at()];
        assert!(held == (m.unit, self.newest[m.unit.at()]), "a move of {:?} found {held:?} at {:?}", m.unit, m.from);
        self.program(to, held);
    }

    fn program(&mut self, place: PhysicalUnit, what: (LogicalUnit, u32)) {
        assert!(self.stored[place.at()].1 == 0, "{place:?} was programmed twice between erases");
        self.stored[place.at()] = what;
    }

    /// A unit was read.
    ///
    /// # Panics
    /// When the place holds anything but the newest version.
    pub fn read(&self, unit: LogicalUnit, place: PhysicalUnit) {
        let (held, newest) = (self.stored[place.at()], self.newest[unit.at()]);
        assert!(held == (unit, newest), "a read of {unit:?} found {held:?} at {place:?}, not version {newest}");
    }

    /// A block was erased.
    pub fn erase(&mut self, block: BlockId, units_per_block: u32) {
        let first = block.at() * units_per_block as usize;
        self.stored[first..first + units_per_block as usize].fill((LogicalUnit::NONE, 0));
    }
}
