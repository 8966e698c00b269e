//! Sets of writes that the buffer sends together, to be programmed with one command. If their map entries have to be
//! looked up first, the writes go to their dies when the entries of all are in DRAM.

use crate::dispatch::txn::Txn;
use crate::sim::index::TxnId;
use crate::sim::queue::EventQueue;
use crate::ssd::back_end::BackEnd;

/// One set.
#[derive(Default)]
struct EvictionSet {
    writes: Vec<TxnId>,
    /// The number of its writes that look up their entries.
    looking: usize,
}

/// All sets in progress.
#[derive(Default)]
pub(in crate::ssd) struct EvictionSets {
    sets: Vec<EvictionSet>,
    free: Vec<usize>,
    /// The set of each transaction, counted from 1; 0 if it has none.
    set_of: Vec<usize>,
    /// Memory that earlier sets used.
    rooms: Vec<Vec<TxnId>>,
}

impl EvictionSets {
    fn begin(&mut self, writes: Vec<TxnId>) {
        let at = self.free.pop().unwrap_or_else(|| {
            self.sets.push(EvictionSet::default());
            self.sets.len() - 1
        });
        for write in &writes {
            if write.at() >= self.set_of.len() {
                self.set_of.resize(write.at() + 1, 0);
            }
            self.set_of[write.at()] = at + 1;
        }
        self.sets[at] = EvictionSet { looking: writes.len(), writes };
    }

    /// The entries of a write are in DRAM: returns the writes of its set if it was the last; an empty list if it has no
    /// set; `None` while other writes of the set look up theirs.
    pub(in crate::ssd) fn ready(&mut self, id: TxnId) -> Option<Vec<TxnId>> {
        let set = self.set_of.get_mut(id.at()).map_or(0, std::mem::take);
        let Some(at) = set.checked_sub(1) else { return Some(Vec::new()) };
        let set = &mut self.sets[at];
        set.looking -= 1;
        if set.looking > 0 {
            return None;
        }
        self.free.push(at);
        Some(std::mem::take(&mut set.writes))
    }

    /// Memory for the writes of a set, from an earlier one.
    pub(in crate::ssd) fn room(&mut self) -> Vec<TxnId> {
        self.rooms.pop().unwrap_or_default()
    }

    /// A set has gone to its dies: keeps its memory.
    pub(in crate::ssd) fn give_back(&mut self, mut room: Vec<TxnId>) {
        if room.capacity() > 0 {
            room.clear();
            self.rooms.push(room);
        }
    }
}

impl BackEnd {
    /// New writes look up their entries, and go to their dies together.
    pub(crate) fn look_up_together(&mut self, writes: impl Iterator<Item = Txn>, events: &mut EventQueue) {
        let mut set = self.map.translation().sets().room();
        for write in writes {
            set.push(self.add_txn(write));
        }
        let mut own = self.map.translation().sets().room();
        own.extend(&set);
        self.map.translation().sets().begin(set);
        own.iter().for_each(|&write| self.look_up_first(write, events));
        self.map.translation().sets().give_back(own);
    }
}
