//! An index of the requests that wait at the dies. With it a collection finds the requests that can join its steps,
//! without a walk over all waiting requests.
//!
//! It returns what a walk over the first `compose.gc_scan_max` requests of a queue would return, in the same order. For
//! that, it keeps each request's turn in its queue, and for each queue the last request that such a walk would reach.
//! Writes are in a list for each plane. Reads, and writes if moved pages serve them, are listed under the page that
//! holds their data. A component that moves a unit's data reports it, and requests for the unit move to their new
//! lists.

use super::txn::{Txn, Txns};
use crate::flash::geometry::Geometry;
use crate::sim::index::{BlockId, DieId, LogicalUnit, PageId, PhysicalUnit, PlaneId, TxnId};
use crate::sim::lists::Lists;

#[cfg(test)]
mod tests;

/// Number of lists among which a hash distributes transactions: by logical page, and by the block of their data.
const HASHED: u32 = 1 << 14;
const NONE: u32 = u32::MAX;

/// The index entries that a drive's scheme needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndexRequirements {
    /// Transactions of a queue that a collection considers.
    pub scan_max: usize,
    /// Reads by plane and page offset.
    pub pairs: bool,
    /// Reads and writes by block.
    pub by_block: bool,
}

/// The reach of a walk over a queue.
#[derive(Clone, Copy)]
struct Reach {
    /// The last transaction of the walk.
    last: u32,
    /// The number of transactions of the walk.
    count: usize,
    /// The number of transactions that have entered the queue so far.
    entered: u64,
}

/// The position of a transaction.
#[derive(Clone, Copy)]
struct Entry {
    /// Its turn among all that ever entered its queue.
    turn: u64,
    /// The page under which it is entered.
    page: PageId,
    /// Its list in `writes`.
    by_plane: u32,
    /// Its list in `urgent`.
    by_urgency: u32,
    /// Its list in `by_unit`.
    by_unit: u32,
}

const NO_ENTRY: Entry = Entry { turn: 0, page: PageId::NONE, by_plane: NONE, by_urgency: NONE, by_unit: NONE };

/// See the head of the file.
pub(crate) struct Index {
    required: IndexRequirements,
    geometry: Geometry,
    entries: Vec<Entry>,
    /// How far a walk reaches: for each die, in its queue of reads and in its queue of writes.
    reaches: Vec<Reach>,
    /// By plane; after those, by die, transactions bound to no plane.
    writes: Lists,
    /// Writes of high priority, by die.
    urgent: Lists,
    /// By a hash of the logical page.
    by_unit: Lists,
    /// Reads by plane and page offset; after those, by die, reads whose data is on another die.
    pairs: Lists,
    /// By a hash of the block, reads and writes apart.
    by_block: Lists,
}

impl Index {
    /// An empty index.
    pub fn new(required: IndexRequirements, geometry: &Geometry) -> Self {
        let hashed = |is_asked: bool, lists: u32| Lists::new(if is_asked { lists as usize } else { 0 }, 0);
        let (dies, planes) = (geometry.dies, geometry.planes);
        Self {
            required,
            geometry: geometry.clone(),
            entries: Vec::new(),
            reaches: vec![Reach { last: NONE, count: 0, entered: 0 }; 2 * dies as usize],
            writes: Lists::new((planes + dies) as usize, 0),
            urgent: Lists::new(dies as usize, 0),
            by_unit: hashed(required.pairs || required.by_block, HASHED),
            pairs: hashed(required.pairs, planes * geometry.pages_per_block + dies),
            by_block: hashed(required.by_block, 2 * HASHED),
        }
    }

    /// Whether the locations of transactions' data are needed.
    #[inline(always)]
    fn needs_locations(&self, is_write: bool) -> bool {
        self.required.by_block || (self.required.pairs && !is_write)
    }

    /// Grows the table to transactions below `entries`.
    fn grow(&mut self, entries: usize) {
        if entries > self.entries.len() {
            self.entries.resize(entries, NO_ENTRY);
            for lists in [&mut self.writes, &mut self.urgent, &mut self.by_unit, &mut self.pairs, &mut self.by_block] {
                lists.grow(entries);
            }
        }
    }

    #[inline(always)]
    fn queue(die: DieId, is_write: bool) -> usize {
        2 * die.at() + usize::from(is_write)
    }

    /// A transaction has entered the end of its queue.
    pub fn enter(&mut self, id: TxnId, is_write: bool, txns: &Txns, lookup: impl Fn(LogicalUnit) -> PhysicalUnit) {
        self.grow(txns.entries());
        let (txn, at) = (&txns[id], id.0);
        let reach = &mut self.reaches[Self::queue(txn.die, is_write)];
        let mut entry = Entry { turn: reach.entered, ..NO_ENTRY };
        reach.entered += 1;
        if reach.count < self.required.scan_max {
            (reach.last, reach.count) = (at, reach.count + 1);
        }
        if is_write {
            entry.by_plane = self.writes_list(txn.die, txn.plane) as u32;
            self.writes.push_back(entry.by_plane as usize, at);
            if txn.high_priority {
                entry.by_urgency = txn.die.0;
                self.urgent.push_back(txn.die.at(), at);
            }
        }
        let needs_locations = self.needs_locations(is_write);
        if needs_locations {
            entry.by_unit = self.unit_list(txn.first) as u32;
            self.by_unit.push_back(entry.by_unit as usize, at);
        }
        self.entries[id.at()] = entry;
        if needs_locations {
            self.enter_location(id, is_write, txn, place_of(txn, lookup));
        }
    }

    /// A transaction leaves its queue; `lists` still has it.
    pub fn leave(&mut self, id: TxnId, die: DieId, is_write: bool, lists: &Lists) {
        let entry = self.entries[id.at()];
        let reach = &mut self.reaches[Self::queue(die, is_write)];
        if reach.count > 0 && entry.turn <= self.entries[reach.last as usize].turn {
            match lists.next(reach.last) {
                Some(next) => reach.last = next,
                None => {
                    reach.count -= 1;
                    if reach.last == id.0 {
                        reach.last = lists.prev(id.0).unwrap_or(NONE);
                    }
                }
            }
        }
        for (lists, list) in [
            (&mut self.writes, entry.by_plane),
            (&mut self.urgent, entry.by_urgency),
            (&mut self.by_unit, entry.by_unit),
        ] {
            if list != NONE {
                lists.remove(id.0);
            }
        }
        self.leave_location(id, die, is_write);
    }

    /// The data of a unit moved, or is gone: the requests that wait for it move to another list.
    #[inline]
    pub fn on_moved(&mut self, unit: LogicalUnit, txns: &Txns, lookup: impl Fn(LogicalUnit) -> PhysicalUnit) {
        if !(self.required.pairs || self.required.by_block) {
            return;
        }
        let mut next = self.by_unit.first(self.unit_list(unit));
        while let Some(at) = next {
            next = self.by_unit.next(at);
            let txn = &txns[TxnId(at)];
            if (txn.first.0..txn.first.0 + txn.units).contains(&unit.0) {
                let is_write = self.entries[at as usize].by_plane != NONE;
                self.leave_location(TxnId(at), txn.die, is_write);
                self.enter_location(TxnId(at), is_write, txn, place_of(txn, &lookup));
            }
        }
    }

    fn enter_location(&mut self, id: TxnId, is_write: bool, txn: &Txn, place: Option<PhysicalUnit>) {
        let page = place.map_or(PageId::NONE, |place| self.geometry.page_of(place));
        self.entries[id.at()].page = page;
        if let Some(list) = self.pairs_list(txn.die, page, is_write) {
            insert(&mut self.pairs, list, id.0, &self.entries);
        }
        if let Some(list) = self.by_block_list(txn.die, page, is_write) {
            insert(&mut self.by_block, list, id.0, &self.entries);
        }
    }

    fn leave_location(&mut self, id: TxnId, die: DieId, is_write: bool) {
        let page = self.entries[id.at()].page;
        if self.is_in_pairs(page, is_write) {
            self.pairs.remove(id.0);
        }
        if self.is_by_block(die, page) {
            self.by_block.remove(id.0);
        }
    }

    #[inline(always)]
    fn writes_list(&self, die: DieId, plane: PlaneId) -> usize {
        if plane.is_some() { plane.at() } else { (self.geometry.planes + die.0) as usize }
    }

    #[inline(always)]
    fn unit_list(&self, unit: LogicalUnit) -> usize {
        let page = self.geometry.page_of(PhysicalUnit(unit.0));
        (page.0 % HASHED) as usize
    }

    fn pairs_list(&self, die: DieId, page: PageId, is_write: bool) -> Option<usize> {
        if !self.is_in_pairs(page, is_write) {
            return None;
        }
        let g = &self.geometry;
        let (block, offset) = g.block_and_offset(page);
        let plane = g.plane_of(block);
        let is_here = g.die_of(plane) == die;
        let list = if is_here { plane.0 * g.pages_per_block + offset } else { g.planes * g.pages_per_block + die.0 };
        Some(list as usize)
    }

    /// `None` if the data is on another die: no collection of this die moves it.
    fn by_block_list(&self, die: DieId, page: PageId, is_write: bool) -> Option<usize> {
        self.is_by_block(die, page).then(|| Self::block_list(self.geometry.block_and_offset(page).0, is_write))
    }

    /// Whether a read is on a list of `pairs`.
    #[inline(always)]
    fn is_in_pairs(&self, page: PageId, is_write: bool) -> bool {
        self.required.pairs && !is_write && page.is_some()
    }

    /// Whether a transaction is on a list of `by_block`: its data is on its own die.
    #[inline(always)]
    fn is_by_block(&self, die: DieId, page: PageId) -> bool {
        let is_here = || self.geometry.die_of(self.geometry.plane_of(self.geometry.block_and_offset(page).0)) == die;
        self.required.by_block && page.is_some() && is_here()
    }

    #[inline(always)]
    fn block_list(block: BlockId, is_write: bool) -> usize {
        2 * (block.0 % HASHED) as usize + usize::from(is_write)
    }

    // ---- queries --------------------------------------------------------------------------------------------------

    /// The turn of a waiting transaction in its queue.
    #[inline]
    pub fn turn(&self, id: TxnId) -> u64 {
        self.entries[id.at()].turn
    }

    /// The page that holds the data of a waiting transaction.
    #[inline]
    pub fn page_of(&self, id: TxnId) -> Option<PageId> {
        Some(self.entries[id.at()].page).filter(|page| page.is_some())
    }

    /// The end of a walk over a queue: it reaches only requests with a smaller turn.
    #[inline]
    pub fn end_of_walk(&self, die: DieId, is_write: bool) -> u64 {
        let reach = &self.reaches[Self::queue(die, is_write)];
        if reach.count == 0 { 0 } else { self.entries[reach.last as usize].turn + 1 }
    }

    /// The end of a walk that begins now and continues over later arrivals: it reaches only smaller turns.
    pub fn end_of_long_walk(&self, die: DieId, is_write: bool) -> u64 {
        let reach = &self.reaches[Self::queue(die, is_write)];
        let left = self.required.scan_max - reach.count;
        if left == 0 { self.end_of_walk(die, is_write) } else { reach.entered + left as u64 }
    }

    /// The items of a list within the reach of a walk, in their order.
    fn reached<'a>(
        &'a self,
        lists: &'a Lists,
        list: usize,
        die: DieId,
        is_write: bool,
    ) -> impl Iterator<Item = TxnId> + 'a {
        let end = self.end_of_walk(die, is_write);
        lists.iter(list).map(TxnId).take_while(move |&id| self.turn(id) < end)
    }

    /// Queued writes that are bound to `plane`; with [`PlaneId::NONE`], those that are bound to no plane.
    pub fn writes_to(&self, die: DieId, plane: PlaneId) -> impl Iterator<Item = TxnId> + '_ {
        self.reached(&self.writes, self.writes_list(die, plane), die, true)
    }

    /// The first queued write that goes to a plane.
    pub fn first_write_for(&self, die: DieId, plane: PlaneId) -> Option<TxnId> {
        let heads = [self.writes_to(die, plane).next(), self.writes_to(die, PlaneId::NONE).next()];
        heads.into_iter().flatten().min_by_key(|&id| self.turn(id))
    }

    /// Whether a write of high priority waits in the queue.
    pub fn has_urgent_write(&self, die: DieId) -> bool {
        self.reached(&self.urgent, die.at(), die, true).next().is_some()
    }

    /// The first write of high priority in the queue, at any position.
    pub fn first_urgent_write(&self, die: DieId) -> Option<TxnId> {
        self.urgent.first(die.at()).map(TxnId)
    }

    /// Queued reads of data that is at an offset in a plane of the die, with their pages.
    pub fn reads_at(&self, die: DieId, plane: PlaneId, offset: u32) -> impl Iterator<Item = (TxnId, PageId)> + '_ {
        let list = plane.0 * self.geometry.pages_per_block + offset;
        self.reached(&self.pairs, list as usize, die, false).map(|id| (id, self.entries[id.at()].page))
    }

    /// Queued reads of data that has left the die, with their pages.
    pub fn reads_elsewhere(&self, die: DieId) -> impl Iterator<Item = (TxnId, PageId)> + '_ {
        let list = self.geometry.planes * self.geometry.pages_per_block + die.0;
        self.reached(&self.pairs, list as usize, die, false).map(|id| (id, self.entries[id.at()].page))
    }

    /// Queued reads, or writes, of data in a block of the die, with their pages.
    pub fn of_block(&self, die: DieId, block: BlockId, is_write: bool) -> impl Iterator<Item = (TxnId, PageId)> + '_ {
        self.of_block_from(self.by_block.first(Self::block_list(block, is_write)), die, block, is_write)
    }

    /// The requests of [`Self::of_block`] that arrived after the request `id`.
    pub fn of_block_behind(
        &self,
        id: TxnId,
        die: DieId,
        block: BlockId,
        is_write: bool,
    ) -> impl Iterator<Item = (TxnId, PageId)> + '_ {
        self.of_block_from(self.by_block.next(id.0), die, block, is_write)
    }

    fn of_block_from(
        &self,
        first: Option<u32>,
        die: DieId,
        block: BlockId,
        is_write: bool,
    ) -> impl Iterator<Item = (TxnId, PageId)> + '_ {
        let end = self.end_of_walk(die, is_write);
        std::iter::successors(first, |&at| self.by_block.next(at))
            .map(|at| (TxnId(at), self.entries[at as usize].page))
            .take_while(move |&(id, _)| self.turn(id) < end)
            .filter(move |&(_, page)| self.geometry.block_and_offset(page).0 == block)
    }
}

/// The location of the first unit of a transaction that holds data.
pub(crate) fn place_of(txn: &Txn, lookup: impl Fn(LogicalUnit) -> PhysicalUnit) -> Option<PhysicalUnit> {
    let mut places = (txn.first.0..txn.first.0 + txn.units).map(|u| lookup(LogicalUnit(u)));
    places.find(|place| place.is_some())
}

/// Inserts a transaction into a list that is ordered by turns.
fn insert(lists: &mut Lists, list: usize, id: u32, entries: &[Entry]) {
    let turn = entries[id as usize].turn;
    let mut before = lists.last(list);
    while let Some(other) = before.filter(|&other| entries[other as usize].turn > turn) {
        before = lists.prev(other);
    }
    lists.insert_behind(list, before, id);
}
