//! A write buffer in DRAM: a write is done when its data is in the buffer; the least recently used dirty units are
//! written to flash when there is no room.
//!
//! Source: tpds20 Section 5.1 without its die lists; SSDsim's buffer. Data in the buffer is lost at a power cut unless
//! the device has capacitors; the simulator reports what it held at the end and does not model the loss.
//!
//! Parameters:
//! - `size` (default `"1 MiB"`): room for data, a flash page at least.
//! - `latency` (default `"1 us"`): time of a buffer access for each request.

use crate::config::{GeometryConfig, KeyError};
use crate::flash::geometry::Geometry;
use crate::sim::index::LogicalUnit;
use crate::sim::lists::Lists;
use crate::sim::table;
use copyback_workload::units::{Bytes, Nanos, format_bytes};
use serde::{Deserialize, Serialize};

/// See the page above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Room for data.
    pub size: Bytes,
    /// Time of an access.
    pub latency: Nanos,
}

impl Default for Params {
    fn default() -> Self {
        Self { size: Bytes(1 << 20), latency: Nanos(1_000) }
    }
}

impl Params {
    pub(super) fn check(&self, geometry: &GeometryConfig) -> Result<(), KeyError> {
        // A write comes in page by page, each as a whole. A buffer that cannot hold one would wait for ever.
        let page_bytes = geometry.page_size.0;
        if self.size.0 < page_bytes {
            return Err(KeyError::new(
                "buffer.size",
                format!("{} bytes hold no flash page of {page_bytes} bytes", self.size.0),
            )
            .with_help(format!("use at least {}, or `buffer.policy = \"none\"`", format_bytes(page_bytes))));
        }
        Ok(())
    }
}

/// Units of one logical page.
#[derive(Clone, Copy, Debug)]
struct Entry {
    page: u32,
    /// One bit for each unit that is newer here than in flash.
    dirty: u32,
    /// One bit for each unit that is on its way to flash.
    leaving: u32,
}

/// No entry.
const NONE: u32 = u32::MAX;

/// The buffer: entries of logical pages in the order of their last use.
pub struct Buffer {
    /// Time of an access.
    pub latency_ns: u64,
    capacity_units: u64,
    used_units: u64,
    leaving_units: u64,
    /// The entry of each logical page.
    entry_of: Vec<u32>,
    entries: Vec<Entry>,
    free: Vec<u32>,
    by_use: Lists,
    units_per_page: u32,
}

impl Buffer {
    /// An empty buffer.
    pub fn new(params: &Params, geometry: &Geometry) -> Self {
        let capacity_units = params.size.0 / u64::from(geometry.unit_bytes);
        Self {
            latency_ns: params.latency.0,
            capacity_units,
            used_units: 0,
            leaving_units: 0,
            entry_of: table::filled(geometry.logical_units.div_ceil(geometry.units_per_page) as usize, NONE),
            entries: Vec::new(),
            free: Vec::new(),
            by_use: Lists::new(1, 0),
            units_per_page: geometry.units_per_page,
        }
    }

    fn mask(&self, first: LogicalUnit, units: u32) -> u32 {
        ((1u32 << units) - 1) << (first.0 % self.units_per_page)
    }

    fn entry(&self, unit: LogicalUnit) -> Option<u32> {
        let entry = self.entry_of[(unit.0 / self.units_per_page) as usize];
        (entry != NONE).then_some(entry)
    }

    /// Whether a unit's newest data is here.
    pub fn holds(&self, unit: LogicalUnit) -> bool {
        let bit = self.mask(unit, 1);
        self.entry(unit).is_some_and(|e| (self.entries[e as usize].dirty | self.entries[e as usize].leaving) & bit != 0)
    }

    /// A read used a unit.
    pub fn touch(&mut self, unit: LogicalUnit) {
        if let Some(entry) = self.entry(unit)
            && self.entries[entry as usize].leaving == 0
        {
            self.by_use.remove(0, entry);
            self.by_use.push_back(0, entry);
        }
    }

    /// Takes units of one logical page, if there is room; how many of them were here already.
    pub fn write(&mut self, first: LogicalUnit, units: u32) -> Option<u32> {
        let mask = self.mask(first, units);
        let held = self.entry(first).map_or(0, |e| self.entries[e as usize].dirty | self.entries[e as usize].leaving);
        let new_units = u64::from((mask & !held).count_ones());
        if self.used_units + new_units > self.capacity_units {
            return None;
        }
        let entry = self.entry(first).unwrap_or_else(|| self.add(first.0 / self.units_per_page));
        self.entries[entry as usize].dirty |= mask;
        self.used_units += new_units;
        self.touch(first);
        Some(units - new_units as u32)
    }

    fn add(&mut self, page: u32) -> u32 {
        let fresh = Entry { page, dirty: 0, leaving: 0 };
        let entry = match self.free.pop() {
            Some(entry) => {
                self.entries[entry as usize] = fresh;
                entry
            }
            None => {
                self.entries.push(fresh);
                self.entries.len() as u32 - 1
            }
        };
        self.by_use.grow(self.entries.len());
        self.by_use.push_back(0, entry);
        self.entry_of[page as usize] = entry;
        entry
    }

    /// Whether a page has to leave, beyond those on their way, before so many units that wait could all come in; or as
    /// many of them as the buffer holds at all.
    pub fn must_evict(&self, waiting_units: u64) -> bool {
        self.used_units - self.leaving_units + waiting_units.min(self.capacity_units) > self.capacity_units
    }

    /// Sends the page that was used least recently on its way: its dirty units, as runs of first unit and count.
    pub fn evict(&mut self) -> Vec<(LogicalUnit, u32)> {
        let Some(entry) = self.by_use.pop_front(0) else { return Vec::new() };
        let e = &mut self.entries[entry as usize];
        e.leaving = std::mem::take(&mut e.dirty);
        self.leaving_units += u64::from(e.leaving.count_ones());
        let (first, mut mask) = (e.page * self.units_per_page, e.leaving);
        let mut runs = Vec::new();
        while mask != 0 {
            let start = mask.trailing_zeros();
            let units = (mask >> start).trailing_ones();
            runs.push((LogicalUnit(first + start), units));
            mask &= !(((1u32 << units) - 1) << start);
        }
        runs
    }

    /// Units of one page are in flash. Those that were written again meanwhile stay.
    pub fn evicted(&mut self, first: LogicalUnit, units: u32) {
        let mask = self.mask(first, units);
        let entry = self.entry(first).expect("what leaves is here until it is in flash");
        let e = &mut self.entries[entry as usize];
        debug_assert_eq!(e.leaving & mask, mask);
        e.leaving &= !mask;
        self.leaving_units -= u64::from(units);
        self.used_units -= u64::from((mask & !e.dirty).count_ones());
        if e.leaving == 0 {
            let (page, dirty) = (e.page, e.dirty);
            if dirty == 0 {
                self.entry_of[page as usize] = NONE;
                self.free.push(entry);
            } else {
                self.by_use.push_back(0, entry);
            }
        }
    }

    /// Forgets units that were trimmed. Data on its way to flash already goes there.
    pub fn trim(&mut self, first: LogicalUnit, units: u32) {
        for unit in (first.0..first.0 + units).map(LogicalUnit) {
            let bit = self.mask(unit, 1);
            let Some(entry) = self.entry(unit) else { continue };
            let e = &mut self.entries[entry as usize];
            if e.dirty & bit == 0 {
                continue;
            }
            e.dirty &= !bit;
            self.used_units -= u64::from(e.leaving & bit == 0);
            if e.dirty | e.leaving == 0 {
                self.by_use.remove(0, entry);
                self.entry_of[(unit.0 / self.units_per_page) as usize] = NONE;
                self.free.push(entry);
            }
        }
    }

    /// Units whose newest data is only here.
    pub fn dirty_units(&self) -> u64 {
        self.used_units
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(units: u64) -> Buffer {
        Buffer {
            latency_ns: 0,
            capacity_units: units,
            used_units: 0,
            leaving_units: 0,
            entry_of: vec![NONE; 16],
            entries: Vec::new(),
            free: Vec::new(),
            by_use: Lists::new(1, 0),
            units_per_page: 4,
        }
    }

    #[test]
    fn the_page_used_least_recently_leaves_in_runs() {
        let mut b = buffer(6);
        assert_eq!(b.write(LogicalUnit(0), 1), Some(0));
        assert_eq!(b.write(LogicalUnit(2), 2), Some(0));
        assert_eq!(b.write(LogicalUnit(4), 3), Some(0));
        assert_eq!(b.write(LogicalUnit(8), 1), None, "six units are here");
        b.touch(LogicalUnit(4));
        assert_eq!(b.evict(), [(LogicalUnit(0), 1), (LogicalUnit(2), 2)]);
        assert!(b.holds(LogicalUnit(2)), "it can be read until it is in flash");
    }

    #[test]
    fn what_is_written_again_while_it_leaves_stays() {
        let mut b = buffer(4);
        b.write(LogicalUnit(0), 2);
        b.evict();
        assert_eq!(b.write(LogicalUnit(0), 1), Some(1));
        b.evicted(LogicalUnit(0), 2);
        assert!(b.holds(LogicalUnit(0)) && !b.holds(LogicalUnit(1)));
        assert_eq!(b.dirty_units(), 1);
        assert_eq!(b.evict(), [(LogicalUnit(0), 1)]);
    }

    #[test]
    fn trimmed_units_need_no_room() {
        let mut b = buffer(2);
        b.write(LogicalUnit(0), 2);
        b.trim(LogicalUnit(0), 4);
        assert_eq!((b.dirty_units(), b.evict()), (0, vec![]));
    }
}
