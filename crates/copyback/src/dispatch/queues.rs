//! The queues of each die, the requests that wait for admission to its window, and writes that wait for a free page.
//!
//! If a scheme's collections examine waiting requests, an [`Index`] complements the queues of reads and writes. It
//! follows all requests that enter and leave; a component that moves data notifies it (`Queues::on_moved`).

use super::index::{Index, IndexRequirements};
use super::txn::Txns;
use crate::flash::command::Source;
use crate::flash::geometry::Geometry;
use crate::flash::source::SOURCES_MAX;
use crate::sim::index::{DieId, LogicalUnit, PhysicalUnit, PlaneId, TxnId};
use crate::sim::lists::Lists;
use std::cell::Cell;

/// Queues of a die, by class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Queue {
    /// Moves of jobs of other dies, and requests of relocations.
    Move,
    /// Reads.
    Read,
    /// Writes.
    Write,
}
const QUEUES: usize = 3;
/// Lists of a die: its queues, and the requests that wait for admission to its window, task by task.
const DIE_LISTS: usize = QUEUES + SOURCES_MAX;

/// See the head of the file.
pub(crate) struct Queues {
    lists: Lists,
    /// Lists of dies, before those of planes and dies that wait for space.
    die_lists: usize,
    planes: usize,
    index: Option<Box<Index>>,
    /// See [`Queues::longest_search`].
    longest_search: Cell<u32>,
}

impl Queues {
    /// Empty queues of a drive; with an index if the scheme needs one.
    pub fn new(geometry: &Geometry, required: Option<IndexRequirements>) -> Self {
        let (dies, planes) = (geometry.dies as usize, geometry.planes as usize);
        Self {
            lists: Lists::new(dies * (DIE_LISTS + 1) + planes, 64),
            die_lists: dies * DIE_LISTS,
            planes,
            index: required.map(|required| Box::new(Index::new(required, geometry))),
            longest_search: Cell::new(0),
        }
    }

    /// The list that holds a die's queue.
    #[inline(always)]
    pub fn of_die(&self, die: DieId, queue: Queue) -> usize {
        die.at() * DIE_LISTS + queue as usize
    }

    /// The list of a task's transactions that wait for admission to a die's window.
    #[inline(always)]
    pub fn for_window(&self, die: DieId, task: Source) -> usize {
        die.at() * DIE_LISTS + QUEUES + task.at()
    }

    /// The list of transactions that wait for space on a plane, or on the die if they are bound to no plane.
    #[inline(always)]
    pub fn for_space(&self, die: DieId, plane: PlaneId) -> usize {
        if plane.is_some() { self.die_lists + plane.at() } else { self.die_lists + self.planes + die.at() }
    }

    /// The die of a list that the index knows, and whether it is a list of writes.
    #[inline(always)]
    fn indexed(&self, list: usize) -> Option<(DieId, bool)> {
        let (die, queue) = (DieId((list / DIE_LISTS) as u32), list % DIE_LISTS);
        let is_write = queue == Queue::Write as usize;
        (list < self.die_lists && (is_write || queue == Queue::Read as usize)).then_some((die, is_write))
    }

    /// Appends a transaction to a list; `lookup` returns the location of a unit's data.
    #[inline(always)]
    pub fn push_back(&mut self, list: usize, id: TxnId, txns: &Txns, lookup: impl Fn(LogicalUnit) -> PhysicalUnit) {
        self.lists.grow(txns.entries());
        self.lists.push_back(list, id.0);
        if self.index.is_some() {
            self.enter_index(list, id, txns, lookup);
        }
    }

    #[inline(never)]
    fn enter_index(&mut self, list: usize, id: TxnId, txns: &Txns, lookup: impl Fn(LogicalUnit) -> PhysicalUnit) {
        let place = self.indexed(list);
        if let (Some((die, is_write)), Some(index)) = (place, &mut self.index) {
            debug_assert_eq!(die, txns[id].die, "a transaction waits at another die than its own");
            index.enter(id, is_write, txns, lookup);
        }
    }

    /// Removes a transaction from its list.
    #[inline(always)]
    pub fn remove(&mut self, list: usize, id: u32) {
        if self.index.is_some() {
            self.leave_index(list, id);
        }
        self.lists.remove(id);
    }

    #[inline(never)]
    fn leave_index(&mut self, list: usize, id: u32) {
        let place = self.indexed(list);
        if let (Some((die, is_write)), Some(index)) = (place, &mut self.index) {
            index.leave(TxnId(id), die, is_write, &self.lists);
        }
    }

    /// Removes the first transaction of a list.
    #[inline]
    pub fn pop_front(&mut self, list: usize) -> Option<u32> {
        let id = self.lists.first(list)?;
        self.remove(list, id);
        Some(id)
    }

    /// The first transaction of a list.
    #[inline(always)]
    pub fn first(&self, list: usize) -> Option<u32> {
        self.lists.first(list)
    }

    /// The transaction after another one of its list.
    #[inline(always)]
    pub fn next(&self, id: u32) -> Option<u32> {
        self.lists.next(id)
    }

    /// Whether a list is empty.
    #[inline(always)]
    pub fn is_empty(&self, list: usize) -> bool {
        self.lists.is_empty(list)
    }

    /// The transactions of a list in order.
    #[inline(always)]
    pub fn iter(&self, list: usize) -> impl Iterator<Item = u32> + '_ {
        self.lists.iter(list)
    }

    /// The first queued write for a plane, among the first `scan_max`.
    #[inline]
    pub fn first_write_for(&self, die: DieId, plane: PlaneId, scan_max: usize, txns: &Txns) -> Option<TxnId> {
        let mut looked = 0;
        let mut found = None;
        for id in self.iter(self.of_die(die, Queue::Write)).map(TxnId) {
            looked += 1;
            if looked > scan_max {
                break;
            }
            if txns[id].plane.is_none() || txns[id].plane == plane {
                found = Some(id);
                break;
            }
        }
        self.note_search(looked);
        found
    }

    /// Records how many transactions a search with the limit `compose.scan_max` examined. If the limit ended the
    /// search, that is one more than the limit.
    #[inline(always)]
    pub fn note_search(&self, looked: usize) {
        self.longest_search.set(self.longest_search.get().max(looked as u32));
    }

    /// The most transactions that a search with the limit `compose.scan_max` examined. Any limit of at least this many
    /// gives the same results.
    pub fn longest_search(&self) -> u32 {
        self.longest_search.get()
    }

    /// The index.
    ///
    /// # Panics
    /// For schemes that need none.
    #[inline(always)]
    pub fn index(&self) -> &Index {
        self.index.as_ref().expect("collections of this scheme examine waiting requests")
    }

    /// Whether there is an index.
    pub fn has_index(&self) -> bool {
        self.index.is_some()
    }

    /// The data of units moved, or is gone.
    #[inline(always)]
    pub fn on_moved(
        &mut self,
        units: impl Iterator<Item = LogicalUnit>,
        txns: &Txns,
        lookup: impl Fn(LogicalUnit) -> PhysicalUnit,
    ) {
        if let Some(index) = &mut self.index {
            for unit in units {
                index.on_moved(unit, txns, &lookup);
            }
        }
    }
}
