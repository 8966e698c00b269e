//! The content of a map cache: which entries are in DRAM, which of them were changed, and which are evicted.
//!
//! The map itself (`page`) is true at all times; this module keeps only the part that the firmware could look up
//! without flash. The same structure caches single entries (`dftl`) or whole translation pages (`map_cache`). Cached
//! entries are in slots, the least recently used first; a slot whose entries are being loaded from flash is not
//! evicted.

use crate::config::{GeometryConfig, KeyError};
use crate::flash::geometry::Geometry;
use crate::sim::fastdiv::FastDiv;
use crate::sim::index::{LogicalUnit, TranslationPage};
use crate::sim::lists::Lists;
use copyback_workload::units::format_bytes;

/// Bytes of an entry of the map.
pub const ENTRY_BYTES: u64 = 8;

/// The configuration of a map cache.
pub trait CacheParameters {
    /// DRAM for cached entries.
    fn cache_bytes(&self) -> u64;
    /// Whether it holds whole translation pages rather than single entries.
    fn holds_pages(&self) -> bool;

    /// Checks the parameters for a map of units or of superpages.
    fn check(&self, geometry: &GeometryConfig, has_superpages: bool) -> Result<(), KeyError> {
        let (entries, units_per_page) = (geometry.unit_bytes() / ENTRY_BYTES, geometry.units_per_page());
        // A transaction looks up the entries of a flash page, or the one of a superpage.
        let together = if has_superpages { 1 } else { units_per_page };
        if !entries.is_multiple_of(together) {
            let why = format!(
                "a translation page has {entries} entries of {ENTRY_BYTES} bytes, which are no multiple of the \
                 {units_per_page} mapping units of a flash page"
            );
            return Err(KeyError::new("mapping.policy", why)
                .with_help("set `geometry.mapping_unit` to a power of two that divides the page, or use \"page\""));
        }
        let least = if self.holds_pages() { geometry.unit_bytes() } else { together * ENTRY_BYTES };
        if self.cache_bytes() < least {
            let why =
                format!("{} bytes hold less than what one transaction looks up, {least} bytes", self.cache_bytes());
            return Err(KeyError::new("mapping.cache", why).with_help(format!("use at least {}", format_bytes(least))));
        }
        Ok(())
    }

    /// Translation pages of a drive of this shape.
    fn translation_pages(&self, geometry: &Geometry) -> u32 {
        geometry.logical_units.div_ceil(units_of_translation_page(geometry))
    }
}

/// Units of the host whose entries are in one unit of the map.
fn units_of_map_unit(geometry: &Geometry) -> u32 {
    geometry.unit_bytes / ENTRY_BYTES as u32 * geometry.units_per_write()
}

/// Units of the host whose entries a translation page holds. A translation page is one unit, or all units of a
/// superpage.
pub fn units_of_translation_page(geometry: &Geometry) -> u32 {
    units_of_map_unit(geometry) * geometry.units_per_write()
}

/// The state in the cache of the entries that a transaction needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// All are there.
    Hit,
    /// Some entries are not in DRAM, and all have slots now. This transaction must load them, unless another one loads
    /// them. The other one may still wait until entries that it evicted are written back.
    Load {
        /// Whether another transaction loads some of them.
        is_shared: bool,
    },
    /// No slots are free for them until others are loaded.
    Full,
}

#[derive(Clone, Copy)]
struct Slot {
    key: u32,
    is_changed: bool,
    is_loading: bool,
}

/// The cache: see the head of the file. A key is what one slot holds.
pub struct Cached {
    /// Units of the host.
    units: u32,
    units_per_key: FastDiv,
    units_per_page: FastDiv,
    units_per_map_unit: FastDiv,
    /// The slot of each key, counted from 1; 0 if it has none.
    slot_of: Vec<u32>,
    slots: Vec<Slot>,
    /// List 0: loaded slots, used least recently first. List 1: free slots.
    order: Lists,
    /// Free and loaded slots: the slots that may take another key.
    available: u32,
    /// Changed slots by translation page.
    changed: Lists,
    holds_pages: bool,
}

const LOADED: usize = 0;
const FREE: usize = 1;

impl Cached {
    /// An empty cache for a drive of this shape.
    pub fn new(params: &dyn CacheParameters, geometry: &Geometry) -> Self {
        let holds_pages = params.holds_pages();
        let units_per_key = if holds_pages { units_of_map_unit(geometry) } else { geometry.units_per_write() };
        let slot_bytes = u64::from(units_per_key / geometry.units_per_write()) * ENTRY_BYTES;
        let keys = geometry.logical_units.div_ceil(units_per_key);
        let slots = (params.cache_bytes() / slot_bytes).min(u64::from(keys)) as u32;
        let mut order = Lists::new(2, slots as usize);
        (0..slots).for_each(|slot| order.push_back(FREE, slot));
        Self {
            units: geometry.logical_units,
            units_per_key: FastDiv::new(units_per_key),
            units_per_page: FastDiv::new(units_of_translation_page(geometry)),
            units_per_map_unit: FastDiv::new(units_of_map_unit(geometry)),
            slot_of: vec![0; keys as usize],
            slots: vec![Slot { key: 0, is_changed: false, is_loading: false }; slots as usize],
            order,
            available: slots,
            changed: Lists::new(params.translation_pages(geometry) as usize, slots as usize),
            holds_pages,
        }
    }

    /// The translation page of a unit's entry.
    #[inline]
    pub fn page_of(&self, unit: LogicalUnit) -> TranslationPage {
        TranslationPage(self.units_per_page.quotient(unit.0))
    }

    /// Which unit of its translation page holds a unit's entry.
    pub fn map_unit_of(&self, unit: LogicalUnit) -> u32 {
        self.units_per_map_unit.quotient(self.units_per_page.div_rem(unit.0).1)
    }

    /// The units whose entries a translation page holds.
    pub fn units_of(&self, page: TranslationPage) -> impl Iterator<Item = LogicalUnit> + use<> {
        let entries = self.units_per_page.divisor();
        let first = page.0 * entries;
        (first..(first + entries).min(self.units)).map(LogicalUnit)
    }

    /// Whether a slot holds a unit of the map rather than a single entry. Without superpages, this unit is a whole
    /// translation page.
    pub fn holds_pages(&self) -> bool {
        self.holds_pages
    }

    fn page_of_key(&self, key: u32) -> TranslationPage {
        self.page_of(LogicalUnit(key * self.units_per_key.divisor()))
    }

    fn keys(&self, first: LogicalUnit, units: u32) -> std::ops::RangeInclusive<u32> {
        self.units_per_key.quotient(first.0)..=self.units_per_key.quotient(first.0 + units - 1)
    }

    fn slot(&self, key: u32) -> Option<u32> {
        self.slot_of[key as usize].checked_sub(1)
    }

    fn is_loaded(&self, key: u32) -> bool {
        self.slot(key).is_some_and(|slot| !self.slots[slot as usize].is_loading)
    }

    // ---- looking up -------------------------------------------------------------------------------------------------

    /// Whether some of these units have no slot for their entries.
    pub fn lacks(&self, first: LogicalUnit, units: u32) -> bool {
        self.keys(first, units).any(|key| self.slot(key).is_none())
    }

    /// How many of these units have their entries in DRAM.
    pub fn loaded_units(&self, first: LogicalUnit, units: u32) -> u32 {
        let is_loaded = |unit: &u32| self.is_loaded(self.units_per_key.quotient(*unit));
        (first.0..first.0 + units).filter(is_loaded).count() as u32
    }

    /// Looks up the entries of units, and evicts others for missing ones. If changed entries were evicted, their
    /// translation pages are returned, and must be written back first.
    pub fn look_up(&mut self, first: LogicalUnit, units: u32, write_back: &mut Vec<TranslationPage>) -> Answer {
        let (mut missing, mut loading, mut own) = (0, 0, 0);
        for key in self.keys(first, units) {
            match self.slot(key) {
                None => missing += 1,
                Some(slot) if self.slots[slot as usize].is_loading => loading += 1,
                Some(slot) => {
                    self.order.remove(slot);
                    self.order.push_back(LOADED, slot);
                    own += 1;
                }
            }
        }
        if missing == 0 {
            return if loading == 0 { Answer::Hit } else { Answer::Load { is_shared: true } };
        }
        if self.available - own < missing {
            return Answer::Full;
        }
        for key in self.keys(first, units) {
            if self.slot(key).is_none() {
                self.make_room_for(key, write_back);
            }
        }
        Answer::Load { is_shared: loading > 0 }
    }

    fn make_room_for(&mut self, key: u32, write_back: &mut Vec<TranslationPage>) {
        let slot = self.order.pop_front(FREE).or_else(|| self.order.pop_front(LOADED)).expect("slots are available");
        self.available -= 1;
        let Slot { key: old, is_changed, .. } = self.slots[slot as usize];
        if self.slot_of[old as usize] == slot + 1 {
            self.slot_of[old as usize] = 0;
        }
        if is_changed {
            let page = self.page_of_key(old);
            self.changed.remove(slot);
            write_back.push(page);
        }
        self.slots[slot as usize] = Slot { key, is_changed: false, is_loading: true };
        self.slot_of[key as usize] = slot + 1;
    }

    /// The entries of units came from flash, or flash is known to hold none of them.
    pub fn loaded(&mut self, first: LogicalUnit, units: u32) {
        for key in self.keys(first, units) {
            let Some(slot) = self.slot(key) else { continue };
            if std::mem::replace(&mut self.slots[slot as usize].is_loading, false) {
                self.order.push_back(LOADED, slot);
                self.available += 1;
            }
        }
    }

    /// Entries are no longer being loaded: slots of changed entries can be evicted again, the other slots are free.
    pub fn give_up(&mut self, first: LogicalUnit, units: u32) {
        for key in self.keys(first, units) {
            let Some(slot) = self.slot(key).filter(|&slot| self.slots[slot as usize].is_loading) else { continue };
            let Slot { is_changed, .. } = self.slots[slot as usize];
            if is_changed {
                // It was changed while it was being loaded, so it is in DRAM.
                self.slots[slot as usize].is_loading = false;
                self.order.push_back(LOADED, slot);
            } else {
                self.slots[slot as usize].is_loading = false;
                self.slot_of[key as usize] = 0;
                self.order.push_back(FREE, slot);
            }
            self.available += 1;
        }
    }

    // ---- changes ----------------------------------------------------------------------------------------------------

    /// A unit moved; returns whether its entry is in DRAM, and could be changed there.
    pub fn change(&mut self, unit: LogicalUnit) -> bool {
        let Some(slot) = self.slot(self.units_per_key.quotient(unit.0)) else { return false };
        if !std::mem::replace(&mut self.slots[slot as usize].is_changed, true) {
            self.changed.push_back(self.page_of(unit).at(), slot);
        }
        true
    }

    /// A translation page is written: its changes are in flash.
    pub fn written(&mut self, page: TranslationPage) {
        while let Some(slot) = self.changed.pop_front(page.at()) {
            self.slots[slot as usize].is_changed = false;
        }
    }

    // ---- checks -----------------------------------------------------------------------------------------------------

    /// Whether DRAM holds a changed entry of a unit.
    pub fn is_changed(&self, unit: LogicalUnit) -> bool {
        let slot = self.slot(self.units_per_key.quotient(unit.0));
        slot.is_some_and(|slot| self.slots[slot as usize].is_changed)
    }

    /// Compares slots, keys and lists.
    ///
    /// # Errors
    /// Names what does not agree.
    pub fn check(&self) -> Result<(), String> {
        let keys = self.slot_of.iter().filter(|&&slot| slot > 0).count();
        let (loaded, free) = (self.order.iter(LOADED).count(), self.order.iter(FREE).count());
        let loading = self.slots.iter().filter(|slot| slot.is_loading).count();
        if keys != loaded + loading || loaded + free != self.available as usize || keys + free != self.slots.len() {
            return Err(format!(
                "{} slots: {keys} keys, {loaded} loaded, {loading} loading, {free} free, {} available",
                self.slots.len(),
                self.available
            ));
        }
        for (at, &slot) in self.slot_of.iter().enumerate().filter(|(_, slot)| **slot > 0) {
            let held = self.slots[slot as usize - 1].key;
            if held as usize != at {
                return Err(format!("slot {} of entry {at} holds entry {held}", slot - 1));
            }
        }
        Ok(())
    }
}
