//! What a drive knows of where data is, beside the translation layer's own map.

use crate::dispatch::queues::Queues;
use crate::dispatch::txn::Txns;
use crate::ftl::core::{Ftl, Move};
use crate::ftl::write_ordering::Newest;
use crate::sim::index::{LogicalUnit, PageId};
use crate::ssd::map::Translation;
use crate::ssd::map::hotness::Hotness;

/// The parts that know where data is or how it is used, and whether they have to hear that data moved.
pub(in crate::ssd) struct DataMap {
    /// Which write of each unit is the newest that was bound.
    pub(in crate::ssd) newest: Newest,
    /// Which entries of the map are in DRAM, if the map lives in flash.
    pub(in crate::ssd) translation: Option<Box<Translation>>,
    /// How often the host wrote each unit, if hot and cold data have blocks of their own.
    pub(in crate::ssd) hotness: Option<Box<Hotness>>,
    /// Invariant: set if the queues have an index, or one of the parts above is there but for `newest`.
    hears_moves: bool,
}

/// What follows from units that were written.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::ssd) struct Written {
    /// Translation pages among them.
    pub map_units: u32,
    /// Updates of collections that requests of the host waited for and whose programs are issued now.
    pub awaited_updates: u32,
}

impl DataMap {
    pub fn new(
        newest: Newest,
        translation: Option<Box<Translation>>,
        hotness: Option<Box<Hotness>>,
        queues: &Queues,
    ) -> Self {
        let hears_moves = queues.has_index() || translation.is_some() || hotness.is_some();
        Self { newest, translation, hotness, hears_moves }
    }

    /// Whether entries of the map have to be looked up before a transaction has a die.
    #[inline(always)]
    pub fn looks_up(&self) -> bool {
        self.translation.is_some()
    }

    /// The map in flash, of a drive that has one.
    pub fn translation(&mut self) -> &mut Translation {
        self.translation.as_mut().expect("only a map in flash is looked up")
    }

    /// Units were moved to a page: the index of the queues and the map in flash hear of it.
    #[inline(always)]
    pub fn on_moved(&mut self, queues: &mut Queues, txns: &Txns, ftl: &Ftl, moves: &[Move], page: PageId) {
        if self.hears_moves {
            queues.on_moved(moves.iter().map(|m| m.unit), txns, |unit| ftl.lookup(unit));
            if let Some(translation) = &mut self.translation {
                translation.on_moved(moves, page, ftl);
            }
        }
    }

    /// Units were written: the index of the queues, the counts of writes and the map in flash hear of it.
    #[inline(always)]
    pub fn on_written(
        &mut self,
        queues: &mut Queues,
        txns: &Txns,
        ftl: &Ftl,
        units: impl Iterator<Item = LogicalUnit> + Clone,
        now_ns: u64,
    ) -> Written {
        let mut written = Written::default();
        if self.hears_moves {
            queues.on_moved(units.clone(), txns, |unit| ftl.lookup(unit));
            if let Some(hotness) = &mut self.hotness {
                let hosts = units.clone().filter(|unit| unit.0 < ftl.geometry.logical_units);
                hosts.for_each(|unit| hotness.on_written(unit, now_ns));
            }
            if let Some(translation) = &mut self.translation {
                let awaited = translation.updates_awaited();
                written.map_units = units.filter(|&unit| translation.on_written(unit, ftl)).count() as u32;
                written.awaited_updates = awaited - translation.updates_awaited();
            }
        }
        written
    }

    /// Nothing hears of moves any longer.
    #[cfg(test)]
    pub fn stop_hearing(&mut self) {
        self.hears_moves = false;
    }
}
