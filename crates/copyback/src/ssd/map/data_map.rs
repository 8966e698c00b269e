//! What the drive knows of data besides the translation layer's map: newest writes, map entries in DRAM, hotness.

use crate::dispatch::queues::Queues;
use crate::dispatch::txn::Txns;
use crate::ftl::core::{Ftl, Move};
use crate::ftl::write_ordering::Newest;
use crate::sim::index::{LogicalUnit, PageId};
use crate::ssd::map::Translation;
use crate::ssd::map::hotness::Hotness;

/// The parts that know where data is or how it is used, and whether moves must be reported to them.
pub(in crate::ssd) struct DataMap {
    /// The newest bound write of each unit.
    pub(in crate::ssd) newest: Newest,
    /// The map entries that are in DRAM, if the map is in flash.
    pub(in crate::ssd) translation: Option<Box<Translation>>,
    /// The number of host writes of each unit, if hot and cold data have blocks of their own.
    pub(in crate::ssd) hotness: Option<Box<Hotness>>,
    /// Invariant: set if the queues have an index, or one of the parts above other than `newest` exists.
    tracks_moves: bool,
}

/// The consequences of written units.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::ssd) struct Written {
    /// Translation pages among the written units.
    pub map_units: u32,
    /// Map updates by collections for which host requests waited, and whose programs are issued now.
    pub awaited_updates: u32,
}

impl DataMap {
    pub fn new(
        newest: Newest,
        translation: Option<Box<Translation>>,
        hotness: Option<Box<Hotness>>,
        queues: &Queues,
    ) -> Self {
        let tracks_moves = queues.has_index() || translation.is_some() || hotness.is_some();
        Self { newest, translation, hotness, tracks_moves }
    }

    /// Whether map entries have to be looked up before a transaction gets a die.
    #[inline(always)]
    pub fn looks_up(&self) -> bool {
        self.translation.is_some()
    }

    /// The map in flash; panics if the drive has none.
    pub fn translation(&mut self) -> &mut Translation {
        self.translation.as_mut().expect("only a map in flash is looked up")
    }

    /// Units were moved to a page: updates the index of the queues and the map in flash.
    #[inline(always)]
    pub fn on_moved(&mut self, queues: &mut Queues, txns: &Txns, ftl: &Ftl, moves: &[Move], page: PageId) {
        if self.tracks_moves {
            queues.on_moved(moves.iter().map(|m| m.unit), txns, |unit| ftl.lookup(unit));
            if let Some(translation) = &mut self.translation {
                translation.on_moved(moves, page, ftl);
            }
        }
    }

    /// Units were written: updates the index of the queues, the counts of writes and the map in flash.
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
        if self.tracks_moves {
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

    /// Stops updates of moves.
    #[cfg(test)]
    pub fn stop_tracking_moves(&mut self) {
        self.tracks_moves = false;
    }
}
