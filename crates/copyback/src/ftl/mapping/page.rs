//! One entry for each mapping unit, all in DRAM: every look-up is a hit.
//!
//! Source: the default of all five papers (ispass11 Section III-A, hpdc18 Section 2.1, tpds20 Section 5.1).
//!
//! Parameters: none. Costs 4 bytes of the simulator's memory for each logical unit.

use crate::sim::index::{LogicalUnit, PhysicalUnit};
use crate::sim::table;
use serde::{Deserialize, Serialize};

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {}

/// The map.
pub struct PageMap {
    entries: Vec<PhysicalUnit>,
}

impl PageMap {
    /// A map of `units` entries that point nowhere.
    pub fn new(units: u32) -> Self {
        Self { entries: table::filled(units as usize, PhysicalUnit::NONE) }
    }

    /// The location of the unit, [`PhysicalUnit::NONE`] if it was never written or was trimmed.
    #[inline(always)]
    pub fn get(&self, unit: LogicalUnit) -> PhysicalUnit {
        self.entries[unit.at()]
    }

    /// Points the unit at a new place and returns the old one.
    #[inline(always)]
    pub fn set(&mut self, unit: LogicalUnit, place: PhysicalUnit) -> PhysicalUnit {
        std::mem::replace(&mut self.entries[unit.at()], place)
    }

    /// Points the unit at a new place if it is at `from`. Returns whether it was.
    #[inline(always)]
    pub fn replace(&mut self, unit: LogicalUnit, from: PhysicalUnit, place: PhysicalUnit) -> bool {
        let entry = &mut self.entries[unit.at()];
        let is_there = *entry == from;
        if is_there {
            *entry = place;
        }
        is_there
    }

    /// Prefetches the entry into the processor's cache.
    #[inline(always)]
    pub fn prefetch(&self, unit: LogicalUnit) {
        table::prefetch(&self.entries, unit.at());
    }

    /// Entries of the map.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the map has no entry.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl Clone for PageMap {
    fn clone(&self) -> Self {
        Self { entries: table::cloned(&self.entries) }
    }
}
