//! The content of a buffer: dirty units by logical page. Each page is in a list of the policy until it is evicted.

use super::{Staying, Take};
use crate::config::device::{PLANES_MAX, UNITS_PER_PAGE_MAX};
use crate::flash::geometry::Geometry;
use crate::sim::index::LogicalUnit;
use crate::sim::lists::Lists;
use crate::sim::table;

/// Units of one logical page.
#[derive(Clone, Copy, Debug)]
struct Entry {
    page: u32,
    /// Its list while none of it is on its way to flash.
    list: u32,
    /// One bit for each unit that is newer here than in flash.
    dirty: u32,
    /// One bit for each unit that is on its way to flash.
    leaving: u32,
}

/// No entry.
const NONE: u32 = u32::MAX;

/// Dirty units of one logical page that leave together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Leaving {
    /// The first unit of the page.
    first: u32,
    /// One bit for each unit that leaves.
    mask: u32,
}

impl Leaving {
    /// The first unit of its logical page, and a bit for each unit from there on that leaves.
    pub fn units(self) -> (LogicalUnit, u32) {
        (LogicalUnit(self.first), self.mask)
    }

    /// Its units, as runs of first unit and count.
    pub fn runs(self) -> impl Iterator<Item = (LogicalUnit, u32)> {
        let mut left = self.mask;
        std::iter::from_fn(move || {
            let start = left.trailing_zeros();
            if left == 0 {
                return None;
            }
            let units = (left >> start).trailing_ones();
            left &= !mask_of(start, units);
            Some((LogicalUnit(self.first + start), units))
        })
    }
}

/// Most pages that leave together: one for each plane of a die, or one for each unit of a page.
const SET_MAX: usize = UNITS_PER_PAGE_MAX as usize;
const _: () = assert!(PLANES_MAX as usize <= SET_MAX);

/// Pages that leave together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Set {
    pages: [Leaving; SET_MAX],
    count: usize,
}

impl Set {
    fn push(&mut self, page: Leaving) {
        self.pages[self.count] = page;
        self.count += 1;
    }

    /// Whether nothing leaves.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn is_full(&self) -> bool {
        self.count == self.pages.len()
    }

    /// Its pages, in the order in which they were taken.
    pub fn pages(&self) -> &[Leaving] {
        &self.pages[..self.count]
    }
}

/// The pages of a buffer.
pub(super) struct Pages {
    capacity_units: u64,
    used_units: u64,
    leaving_units: u64,
    /// The entry of each logical page.
    entry_of: Vec<u32>,
    entries: Vec<Entry>,
    free: Vec<u32>,
    /// In the order of their last use.
    lists: Lists,
    /// The entries of all lists in that order.
    all: Lists,
    /// How many entries each list has, and all together.
    of_lists: Vec<u32>,
    staying: u32,
    /// Units of a logical page.
    units_per_page: u32,
    /// Units of a page of the flash, or of a row if the drive is written in rows.
    fill_units: u32,
}

fn mask_of(start: u32, units: u32) -> u32 {
    (((1u64 << units) - 1) << start) as u32
}

impl Pages {
    /// Capacity for this many units, in this many lists.
    pub fn new(capacity_units: u64, lists: usize, geometry: &Geometry) -> Self {
        let pages = geometry.logical_units.div_ceil(geometry.units_per_logical_page);
        let (units_per_page, fill_units) = (geometry.units_per_logical_page, geometry.units_per_page);
        Self::of_shape(capacity_units, lists, pages, (units_per_page, fill_units))
    }

    fn of_shape(capacity_units: u64, lists: usize, pages: u32, (units_per_page, fill_units): (u32, u32)) -> Self {
        Self {
            capacity_units,
            used_units: 0,
            leaving_units: 0,
            entry_of: table::filled(pages as usize, NONE),
            entries: Vec::new(),
            free: Vec::new(),
            lists: Lists::new(lists, 0),
            all: Lists::new(1, 0),
            of_lists: vec![0; lists],
            staying: 0,
            units_per_page,
            fill_units,
        }
    }

    fn mask(&self, first: LogicalUnit, units: u32) -> u32 {
        mask_of(first.0 % self.units_per_page, units)
    }

    fn entry(&self, unit: LogicalUnit) -> Option<u32> {
        let entry = self.entry_of[(unit.0 / self.units_per_page) as usize];
        (entry != NONE).then_some(entry)
    }

    /// The pages that may leave.
    ///
    /// # Panics
    /// When nothing may.
    pub fn staying(&self) -> Staying<'_> {
        let oldest = self.all.first(0).expect("a page may leave");
        Staying { of_lists: &self.of_lists, oldest: self.entries[oldest as usize].list as usize }
    }

    /// Units that are not on their way to flash.
    pub fn staying_units(&self) -> u64 {
        self.used_units - self.leaving_units
    }

    /// Units that are on their way to flash.
    pub fn leaving_units(&self) -> u64 {
        self.leaving_units
    }

    /// Whether no page is in a list.
    pub fn is_all_leaving(&self) -> bool {
        self.staying == 0
    }

    /// See [`super::Buffer::holds`].
    pub fn holds(&self, unit: LogicalUnit) -> bool {
        let bit = self.mask(unit, 1);
        self.entry(unit).is_some_and(|e| (self.entries[e as usize].dirty | self.entries[e as usize].leaving) & bit != 0)
    }

    /// Makes a unit's page the most recently used of its list.
    pub fn touch(&mut self, unit: LogicalUnit) {
        if let Some(entry) = self.entry(unit)
            && self.entries[entry as usize].leaving == 0
        {
            let list = self.entries[entry as usize].list as usize;
            self.lists.remove(entry);
            self.lists.push_back(list, entry);
            self.all.remove(entry);
            self.all.push_back(0, entry);
        }
    }

    /// See [`super::Buffer::insert`].
    pub fn insert(&mut self, first: LogicalUnit, units: u32, list: usize) -> Option<u32> {
        let mask = self.mask(first, units);
        let held = self.entry(first).map_or(0, |e| self.entries[e as usize].dirty | self.entries[e as usize].leaving);
        let new_units = u64::from((mask & !held).count_ones());
        if self.used_units + new_units > self.capacity_units {
            return None;
        }
        let entry = self.entry(first).unwrap_or_else(|| self.add(first.0 / self.units_per_page, list));
        debug_assert_eq!(self.entries[entry as usize].list as usize, list, "a page has another home now");
        self.entries[entry as usize].dirty |= mask;
        self.used_units += new_units;
        self.touch(first);
        Some(units - new_units as u32)
    }

    fn add(&mut self, page: u32, list: usize) -> u32 {
        let fresh = Entry { page, list: list as u32, dirty: 0, leaving: 0 };
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
        self.lists.grow(self.entries.len());
        self.all.grow(self.entries.len());
        self.stay(entry);
        self.entry_of[page as usize] = entry;
        entry
    }

    /// Puts an entry that is not being evicted into its list, as the most recently used.
    fn stay(&mut self, entry: u32) {
        let list = self.entries[entry as usize].list as usize;
        self.lists.push_back(list, entry);
        self.all.push_back(0, entry);
        self.of_lists[list] += 1;
        self.staying += 1;
    }

    fn leave_list(&mut self, entry: u32) {
        let list = self.entries[entry as usize].list as usize;
        self.lists.remove(entry);
        self.all.remove(entry);
        self.of_lists[list] -= 1;
        self.staying -= 1;
    }

    fn forget(&mut self, entry: u32) {
        self.entry_of[self.entries[entry as usize].page as usize] = NONE;
        self.free.push(entry);
    }

    /// See [`super::Buffer::must_evict`].
    pub fn lacks_room_for(&self, waiting_units: u64) -> bool {
        self.staying_units() + waiting_units.min(self.capacity_units) > self.capacity_units
    }

    /// Evicts the least recently used pages.
    pub fn take(&mut self, take: Take) -> Set {
        let (lists, pages_each) = match take {
            Take::Pages { lists, pages_each } => (lists, pages_each),
            // A logical page is no larger than a page of the flash: its units fit.
            Take::Filling { list } => return self.take_within(list, self.fill_units),
        };
        let mut set = Set::default();
        for list in lists {
            for _ in 0..pages_each {
                let Some(entry) = self.lists.first(list) else { break };
                set.push(self.send(entry));
            }
        }
        set
    }

    /// The same for one list, as far as its first pages fit into this many units.
    pub fn take_within(&mut self, list: usize, mut units_max: u32) -> Set {
        let mut set = Set::default();
        while let Some(entry) = self.lists.first(list) {
            let units = self.entries[entry as usize].dirty.count_ones();
            if units > units_max || set.is_full() {
                break;
            }
            units_max -= units;
            set.push(self.send(entry));
        }
        set
    }

    /// Sends the dirty units of an entry on their way.
    fn send(&mut self, entry: u32) -> Leaving {
        self.leave_list(entry);
        let e = &mut self.entries[entry as usize];
        e.leaving = std::mem::take(&mut e.dirty);
        self.leaving_units += u64::from(e.leaving.count_ones());
        Leaving { first: e.page * self.units_per_page, mask: e.leaving }
    }

    /// See [`super::Buffer::ended`].
    pub fn ended(&mut self, first: LogicalUnit, units: u32, others: u32) {
        let mask = self.mask(first, units) & !(others << (first.0 % self.units_per_page));
        let entry = self.entry(first).expect("what leaves is here until it is in flash");
        let e = &mut self.entries[entry as usize];
        debug_assert_eq!(e.leaving & mask, mask);
        e.leaving &= !mask;
        self.leaving_units -= u64::from(mask.count_ones());
        self.used_units -= u64::from((mask & !e.dirty).count_ones());
        match (e.leaving, e.dirty) {
            (0, 0) => self.forget(entry),
            (0, _) => self.stay(entry),
            _ => {}
        }
    }

    /// See [`super::Buffer::trim`].
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
                self.leave_list(entry);
                self.forget(entry);
            }
        }
    }

    /// All units of the buffer, those on their way to flash included.
    pub fn used_units(&self) -> u64 {
        self.used_units
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two lists; four units a page.
    fn pages(units: u64) -> Pages {
        Pages::of_shape(units, 2, 16, (4, 4))
    }

    /// Runs of the pages that leave the first `lists` of the two lists.
    fn taken(pages: &mut Pages, lists: usize, pages_each: u32) -> Vec<Vec<(LogicalUnit, u32)>> {
        let set = pages.take(Take::Pages { lists: 0..lists, pages_each });
        set.pages().iter().map(|page| page.runs().collect()).collect()
    }

    #[test]
    fn the_page_used_least_recently_leaves_in_runs() {
        let mut p = pages(6);
        assert_eq!(p.insert(LogicalUnit(0), 1, 0), Some(0));
        assert_eq!(p.insert(LogicalUnit(2), 2, 0), Some(0));
        assert_eq!(p.insert(LogicalUnit(4), 3, 0), Some(0));
        assert_eq!(p.insert(LogicalUnit(8), 1, 0), None, "six units are here");
        p.touch(LogicalUnit(4));
        assert_eq!(taken(&mut p, 1, 1), [[(LogicalUnit(0), 1), (LogicalUnit(2), 2)]]);
        assert!(p.holds(LogicalUnit(2)), "it can be read until it is in flash");
    }

    #[test]
    fn each_list_has_its_own_order() {
        let mut p = pages(16);
        for (page, list) in [(3, 0), (0, 1), (2, 0), (1, 0)] {
            p.insert(LogicalUnit(4 * page), 1, list);
        }
        p.touch(LogicalUnit(12));
        assert_eq!((&p.of_lists[..], p.staying().oldest), (&[3, 1][..], 1), "page 3 was used again");
        let one = |page: u32| vec![(LogicalUnit(4 * page), 1)];
        assert_eq!(taken(&mut p, 2, 2), [one(2), one(1), one(0)], "two of the first list, the one of the second");
        assert_eq!(p.of_lists, [1, 0]);
        assert!(!p.is_all_leaving());
        assert_eq!(taken(&mut p, 2, 1), [one(3)]);
        assert!(p.is_all_leaving());
    }

    /// Page 0 has one unit, pages 2 and 1 have two each. A page of the flash has four units: pages 0 and 2 leave with
    /// three, and page 1 does not fit. The other list keeps its page.
    #[test]
    fn as_many_pages_of_a_list_leave_as_fill_one_of_the_flash() {
        let mut p = pages(16);
        for (page, units, list) in [(3, 1, 1), (0, 1, 0), (2, 2, 0), (1, 2, 0)] {
            p.insert(LogicalUnit(4 * page), units, list);
        }
        let set = p.take(Take::Filling { list: 0 });
        let runs: Vec<_> = set.pages().iter().flat_map(|page| page.runs()).collect();
        assert_eq!(runs, [(LogicalUnit(0), 1), (LogicalUnit(8), 2)]);
        assert_eq!((p.staying_units(), p.leaving_units(), &p.of_lists[..]), (3, 3, &[1, 1][..]));
    }

    #[test]
    fn what_is_written_again_while_it_leaves_stays() {
        let mut p = pages(4);
        p.insert(LogicalUnit(0), 2, 1);
        p.take(Take::Pages { lists: 0..2, pages_each: 1 });
        assert_eq!(p.insert(LogicalUnit(0), 1, 1), Some(1));
        assert!(p.is_all_leaving(), "the page stands in no list while a part of it leaves");
        p.ended(LogicalUnit(0), 2, 0);
        assert!(p.holds(LogicalUnit(0)) && !p.holds(LogicalUnit(1)));
        assert_eq!((p.used_units(), &p.of_lists[..]), (1, &[0, 1][..]));
        assert_eq!(taken(&mut p, 2, 1), [[(LogicalUnit(0), 1)]]);
    }

    #[test]
    fn trimmed_units_need_no_room() {
        let mut p = pages(2);
        p.insert(LogicalUnit(0), 2, 0);
        p.trim(LogicalUnit(0), 4);
        assert_eq!((p.used_units(), p.is_all_leaving()), (0, true));
    }
}
