//! Look-ups in a map in flash (`ftl::mapping::cached` records which of its entries are in DRAM).
//!
//! A transaction without its map entries waits here, before it has a die. First it waits until translation pages are
//! written back, to free slots of the cache. Then it waits for its own page, which is read once for all transactions
//! that need it. Writes and moves change entries in DRAM. If the entries are not there, their translation page is owed
//! an update. An update follows at once after a write, and at the end of the collection after a move. One update of a
//! page is in progress at a time, and includes the changes until its program is issued.
//!
//! A collection may change more translation pages than it frees pages: their updates would fill the drive faster than
//! collection frees it. Therefore one update follows for every two pages that the collections of a die have freed, in
//! the order in which updates became owed. The others stay owed, and include later changes.

use crate::dispatch::txn::{Role, Txn};
use crate::flash::command::Source;
use crate::flash::source::SOURCES_MAX;
use crate::ftl::core::{Ftl, Move};
use crate::ftl::mapping::cached::{Answer, CacheParameters, Cached};
use crate::observe::counters::MapTotals;
use crate::observe::report::Cause;
use crate::sim::fastdiv::FastDiv;
use crate::sim::index::{LogicalUnit, PageId, TranslationPage, TxnId};
use crate::sim::lists::Lists;
use crate::sim::queue::EventQueue;
use crate::ssd::back_end::BackEnd;
use crate::ssd::map::{MapLayout, Translation, Update, Updates};
use crate::ssd::requests::eviction_sets::EvictionSets;
use std::collections::VecDeque;

/// Which look-up of a transaction's entries this is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Attempt {
    /// The transaction has not waited for any of its entries.
    First,
    /// It has waited, lastly for the update of this translation page, or for something else (`NONE`).
    Again { updated: TranslationPage },
}

impl Attempt {
    /// Whether the transaction has just waited for the update of this translation page.
    fn follows_update_of(self, page: TranslationPage) -> bool {
        self == Self::Again { updated: page }
    }
}

impl Translation {
    pub(in crate::ssd) fn new(params: &dyn CacheParameters, ftl: &Ftl, check: bool) -> Self {
        let g = &ftl.geometry;
        let (first, units) = (g.first_map_unit(), g.mapped_units - g.first_map_unit());
        let pages = (units / g.units_per_write()) as usize;
        let in_flash = || (0..g.logical_units).map(|unit| ftl.lookup(LogicalUnit(unit))).collect();
        Self {
            cached: Cached::new(params, g),
            layout: MapLayout { first, units_per_page: FastDiv::new(g.units_per_write()), entries: g.logical_units },
            load_of: vec![[TxnId::NONE; 2]; units as usize],
            updates: Updates {
                of_page: vec![Update::None; pages],
                owed: Lists::new(g.dies as usize + 1, pages),
                freed: vec![0; g.dies as usize],
                of_task: [0; SOURCES_MAX],
                awaited: 0,
            },
            waiting: VecDeque::new(),
            behind: Lists::new(pages, 64),
            has_room: false,
            sets: EvictionSets::default(),
            write_back: Vec::new(),
            totals: MapTotals::default(),
            in_flash: check.then(in_flash),
        }
    }

    /// Updates of collections for which a host request waits, and whose programs are not issued.
    pub(in crate::ssd) fn updates_awaited(&self) -> u32 {
        self.updates.awaited
    }

    /// A task's updates in progress that were owed; write-backs do not count.
    pub(in crate::ssd) fn updates_of(&self, task: Source) -> u32 {
        self.updates.of_task[task.at()]
    }

    /// The traffic of the map.
    pub(in crate::ssd) fn totals(&self) -> MapTotals {
        self.totals
    }

    /// Sets of buffer writes that look up their entries together.
    pub(in crate::ssd) fn sets(&mut self) -> &mut EvictionSets {
        &mut self.sets
    }

    /// The first unit of a translation page.
    pub(in crate::ssd) fn unit_of(&self, page: TranslationPage) -> LogicalUnit {
        LogicalUnit(self.layout.first + page.0 * self.layout.units_per_page.divisor())
    }

    /// The index, among the units of the map, of the unit that holds a unit's entry.
    fn map_unit_of(&self, unit: LogicalUnit) -> u32 {
        self.cached.page_of(unit).0 * self.layout.units_per_page.divisor() + self.cached.map_unit_of(unit)
    }

    /// The translation page of a unit of the map; none for other units.
    pub(in crate::ssd) fn page_at(&self, unit: LogicalUnit) -> Option<TranslationPage> {
        unit.0.checked_sub(self.layout.first).map(|unit| TranslationPage(self.layout.units_per_page.quotient(unit)))
    }

    /// A unit was written; returns whether it is one of the map. The units of a translation page are written together.
    pub(in crate::ssd) fn on_written(&mut self, unit: LogicalUnit, ftl: &Ftl) -> bool {
        let Some(page) = self.page_at(unit) else {
            self.on_placed(unit, self.updates.freed.len());
            return false;
        };
        self.totals.page_programs += 1;
        if unit != self.unit_of(page) {
            return true;
        }
        self.cached.written(page);
        let update = std::mem::replace(&mut self.updates.of_page[page.at()], Update::None);
        self.updates.awaited -=
            u32::from(matches!(update, Update::UnderWay { task, is_awaited: true, .. } if task == Source::GC));
        if let Some(in_flash) = &mut self.in_flash {
            for unit in self.cached.units_of(page) {
                in_flash[unit.at()] = ftl.lookup(unit);
            }
        }
        true
    }

    /// Units were moved to a page. Units that were written meanwhile are skipped.
    pub(in crate::ssd) fn on_moved(&mut self, moves: &[Move], page: PageId, ftl: &Ftl) {
        let is_there = |unit| {
            let place = ftl.lookup(unit);
            place.is_some() && ftl.geometry.page_of(place) == page
        };
        // The update is owed by the die that collects; its data may have gone to another die.
        let Some(from) = moves.first().map(|m| m.from) else { return };
        let die = ftl.geometry.die_of(ftl.geometry.plane_of(ftl.geometry.block_of(from)));
        for unit in moves.iter().map(|m| m.unit).filter(|&unit| is_there(unit)) {
            // The places of translation pages are always known.
            if self.page_at(unit).is_none() {
                self.on_placed(unit, die.at());
            }
        }
    }

    /// A unit of the host was written or moved: changes its entry in DRAM, or appends its translation page to a list of
    /// `Updates::owed` (a list for each die that moved data, then one for writes).
    fn on_placed(&mut self, unit: LogicalUnit, list: usize) {
        if unit.0 >= self.layout.entries || self.cached.change(unit) {
            return;
        }
        let page = self.cached.page_of(unit);
        if self.updates.of_page[page.at()] == Update::None {
            self.updates.of_page[page.at()] = Update::Owed;
            self.updates.owed.push_back(list, page.0);
        }
    }
}

impl BackEnd {
    /// Whether map entries have to be looked up before a transaction gets a die.
    #[inline(always)]
    pub(crate) fn looks_up(&self) -> bool {
        self.map.looks_up()
    }

    /// Units were written: informs the parts that depend on their places.
    #[inline(always)]
    pub(in crate::ssd) fn after_write(&mut self, units: impl Iterator<Item = LogicalUnit> + Clone, now_ns: u64) {
        let written = self.map.on_written(&mut self.queues, &self.txns, &self.ftl, units, now_ns);
        if written.map_units > 0 {
            self.admission.control.end_wait_for_gc(written.awaited_updates);
            self.records.counters.on_own_units(u64::from(written.map_units));
        }
    }

    /// A transaction looks up its entries for the first time.
    pub(in crate::ssd) fn look_up_first(&mut self, id: TxnId, events: &mut EventQueue) {
        self.count_look_up(self.txns[id].first, self.txns[id].units);
        self.look_up_in_turn(id, events);
    }

    /// Counts the look-up of units' entries.
    pub(in crate::ssd) fn count_look_up(&mut self, first: LogicalUnit, units: u32) {
        let map = self.map.translation();
        map.totals.lookups += u64::from(units);
        map.totals.hits += u64::from(map.cached.loaded_units(first, units));
    }

    /// Looks up a transaction's entries. If one is missing, transactions that already wait for room come first. It
    /// counts no look-up: `look_up_first` does, or the reads of a partly written unit have done so.
    pub(in crate::ssd) fn look_up_in_turn(&mut self, id: TxnId, events: &mut EventQueue) {
        let (first, units) = (self.txns[id].first, self.txns[id].units);
        let map = self.map.translation();
        if !map.waiting.is_empty() && map.cached.lacks(first, units) {
            map.waiting.push_back(id);
            return;
        }
        if !self.look_up(id, Attempt::First, events) {
            self.map.translation().waiting.push_back(id);
        }
        self.let_waiters_in(events);
    }

    /// Looks up the entries of a transaction, which continues at once or when they arrive. Returns whether there was
    /// room for them.
    fn look_up(&mut self, id: TxnId, attempt: Attempt, events: &mut EventQueue) -> bool {
        let (first, units) = (self.txns[id].first, self.txns[id].units);
        let map = self.map.translation();
        let mut pages = std::mem::take(&mut map.write_back);
        let answer = map.cached.look_up(first, units, &mut pages);
        let mut waits_behind = false;
        for &page in &pages {
            let is_under_way = matches!(self.map.translation().updates.of_page[page.at()], Update::UnderWay { .. });
            if is_under_way && !waits_behind {
                // The transaction waits for the update: its program writes these entries to flash, too.
                waits_behind = true;
                self.wait_behind(page, id, events);
            } else if !is_under_way {
                self.write_back(page, id, events);
            }
        }
        pages.clear();
        self.map.translation().write_back = pages;
        match answer {
            Answer::Hit => self.go_to_die(id, events),
            Answer::Full => return false,
            Answer::Load { is_shared } => {
                // Other writes may overtake writes that wait here.
                self.map.newest.track();
                if self.txns[id].waits_for == 0 {
                    self.load(id, is_shared, attempt, events);
                }
            }
        }
        true
    }

    /// Room for the entries of a transaction was made. Entries that it shares with others may have arrived meanwhile,
    /// and may have been evicted again. `updated`: the translation page whose update has just ended, if one has.
    pub(in crate::ssd) fn look_up_again(&mut self, id: TxnId, updated: TranslationPage, events: &mut EventQueue) {
        if !self.look_up(id, Attempt::Again { updated }, events) {
            self.wait_for_room_again(id, events);
        }
        self.let_waiters_in(events);
    }

    /// A transaction had room for some of its entries, and its other entries were evicted. It releases that room, so
    /// that no two transactions wait for each other's room. A transaction that waits for room therefore holds none.
    #[cold]
    fn wait_for_room_again(&mut self, id: TxnId, events: &mut EventQueue) {
        let (first, units) = (self.txns[id].first, self.txns[id].units);
        let map = self.map.translation();
        let page = map.cached.page_of(first);
        if map.load_of[map.map_unit_of(first) as usize][0].is_some() {
            // Another transaction loads this page into the room; when the load ends, this one looks up again.
            return self.wait_behind(page, id, events);
        }
        map.cached.give_up(first, units);
        map.has_room = true;
        if !self.look_up(id, Attempt::Again { updated: TranslationPage::NONE }, events) {
            self.map.translation().waiting.push_front(id);
        }
        // Transactions that would have shared the loaded page look up again.
        self.release(page, false, events);
    }

    /// Reads the translation page that a transaction waits for, unless it is being read, or was never written. If an
    /// update of the page is pending, the page in flash is outdated: the update comes first. One update is enough. Data
    /// that moved while the update's program was in progress makes the page owed again; those few entries come from
    /// DRAM. A wait for every update might never end: collections may outdate the page each time.
    fn load(&mut self, id: TxnId, is_shared: bool, attempt: Attempt, events: &mut EventQueue) {
        let (first, units) = (self.txns[id].first, self.txns[id].units);
        let map = self.map.translation();
        let page = map.cached.page_of(first);
        let of_map = map.map_unit_of(first) as usize;
        let (unit, [under_way, last]) = (LogicalUnit(map.layout.first + of_map as u32), map.load_of[of_map]);
        if under_way.is_some() {
            map.load_of[of_map] = [under_way, id];
            self.txns[last].next_in_list = id;
            return;
        }
        match map.updates.of_page[page.at()] {
            Update::UnderWay { .. } => return self.wait_behind(page, id, events),
            Update::Owed if !attempt.follows_update_of(page) => {
                map.updates.owed.remove(page.0);
                self.update_owed(page.0, self.txns[id].task, events);
                return self.wait_behind(page, id, events);
            }
            Update::None if is_shared && attempt == Attempt::First => return self.wait_behind(page, id, events),
            Update::Owed | Update::None => {}
        }
        if self.ftl.lookup(unit).is_none() {
            let map = self.map.translation();
            map.cached.loaded(first, units);
            map.has_room = true;
            self.go_to_die(id, events);
            self.release(page, false, events);
        } else {
            let (high_priority, cause) = (self.txns[id].high_priority, self.txns[id].task);
            let read =
                Txn { next_in_list: id, high_priority, ..self.map_txn(Role::MapRead, unit, cause, events.now_ns()) };
            let read = self.txns.add(read);
            self.map.translation().load_of[of_map] = [read, id];
            self.submit_map_txn(read, events);
        }
    }

    /// A transaction waits for an event of a translation page after which `release` is called.
    fn wait_behind(&mut self, page: TranslationPage, id: TxnId, events: &mut EventQueue) {
        let entries = self.txns.entries();
        let map = self.map.translation();
        map.behind.grow(entries);
        map.behind.push_back(page.at(), id.0);
        if let Update::UnderWay { task, is_awaited, txn } = &mut map.updates.of_page[page.at()]
            && *task == Source::GC
        {
            let (is_first, update) = (!std::mem::replace(is_awaited, true), *txn);
            map.updates.awaited += u32::from(is_first);
            self.admission.control.begin_wait_for_gc(u32::from(is_first));
            if is_first {
                self.take_over_update(page, update, events);
                self.admit_after_limit_change(events);
            }
        }
        self.txns[id].waits_for += 1;
        if let Update::UnderWay { txn, .. } = self.map.translation().updates.of_page[page.at()]
            && txn.is_some()
            && self.txns[txn].role == Role::MapWrite
        {
            self.send_awaited(txn, events);
        }
    }

    /// Whether a transaction waits for the update of a translation page.
    pub(in crate::ssd) fn is_update_awaited(&mut self, unit: LogicalUnit) -> bool {
        let map = self.map.translation();
        map.page_at(unit).is_some_and(|page| !map.behind.is_empty(page.at()))
    }

    /// A translation page was written (`is_updated`) or loaded, or slots for its entries were given up: transactions
    /// that waited for this look up their entries again.
    pub(in crate::ssd) fn release(&mut self, page: TranslationPage, is_updated: bool, events: &mut EventQueue) {
        let updated = if is_updated { page } else { TranslationPage::NONE };
        let mut released = self.map.translation().sets.room();
        while let Some(id) = self.map.translation().behind.pop_front(page.at()) {
            released.push(TxnId(id));
        }
        for &id in &released {
            self.txns[id].waits_for -= 1;
            if self.txns[id].waits_for == 0 {
                self.look_up_again(id, updated, events);
            }
        }
        self.map.translation().sets.give_back(released);
    }

    /// A load or an update of a translation page ended: the transactions that wait for it continue.
    pub(crate) fn end_map_txn(&mut self, id: TxnId, events: &mut EventQueue) {
        let (unit, gc_affected, task) = (self.txns[id].first, self.txns[id].gc_affected, self.txns[id].task);
        let mut next = std::mem::replace(&mut self.txns[id].next_in_list, TxnId::NONE);
        let is_load = next.is_some();
        self.txns.remove(id);
        let map = self.map.translation();
        let page = map.page_at(unit).expect("it is one of the map");
        if !is_load {
            map.updates.of_task[task.at()] -= 1;
            self.deactivate_at_rest(task, events);
            return self.release(page, true, events);
        }
        (map.load_of[(unit.0 - map.layout.first) as usize], map.has_room) = ([TxnId::NONE; 2], true);
        let mut waiter = next;
        while waiter.is_some() {
            let txn = &self.txns[waiter];
            let (first, units, behind) = (txn.first, txn.units, txn.next_in_list);
            self.map.translation().cached.loaded(first, units);
            waiter = behind;
        }
        while next.is_some() {
            let waiter = next;
            next = std::mem::replace(&mut self.txns[waiter].next_in_list, TxnId::NONE);
            self.txns[waiter].gc_affected |= gc_affected;
            self.go_to_die(waiter, events);
        }
        self.release(page, false, events);
        self.let_waiters_in(events);
    }

    /// Entries arrived in DRAM, which may make room: transactions that wait for room look up their entries, in order.
    fn let_waiters_in(&mut self, events: &mut EventQueue) {
        while std::mem::take(&mut self.map.translation().has_room) {
            while let Some(waiter) = self.map.translation().waiting.pop_front() {
                if !self.look_up(waiter, Attempt::First, events) {
                    self.map.translation().waiting.push_front(waiter);
                    break;
                }
            }
        }
    }

    /// The entries of a transaction are in DRAM: it goes to its die. A transaction of a set goes together with the
    /// others of the set.
    fn go_to_die(&mut self, id: TxnId, events: &mut EventQueue) {
        let Some(set) = self.map.translation().sets.ready(id) else { return };
        for &write in &set {
            self.send_to_die(write, events);
        }
        if set.is_empty() {
            self.send_to_die(id, events);
        }
        self.map.translation().sets.give_back(set);
    }

    /// Sends a transaction to the die of its data. The part of its time without another cause was a wait for the map.
    fn send_to_die(&mut self, id: TxnId, events: &mut EventQueue) {
        let txn = &mut self.txns[id];
        let explained_ns: u64 = txn.breakdown_ns.iter().sum();
        txn.breakdown_ns[Cause::Map as usize] += events.now_ns() - txn.arrival_ns - explained_ns;
        match txn.role {
            role if role.is_read() => self.go_to_dies(id, events),
            _ => self.send_write(id, events),
        }
    }

    /// A read goes to the die of its data, page by page; units that were trimmed meanwhile need no read.
    pub(in crate::ssd) fn go_to_dies(&mut self, id: TxnId, events: &mut EventQueue) {
        let (mut current, end) = (id, self.txns[id].first.0 + self.txns[id].units);
        let page_of = |drive: &Self, unit: u32| {
            let place = drive.ftl.lookup(LogicalUnit(unit));
            place.is_some().then(|| drive.geometry.flash_page(place))
        };
        loop {
            let first = self.txns[current].first.0;
            let Some(first) = (first..end).find(|&unit| page_of(self, unit).is_some()) else {
                // All its units were trimmed while it looked its entries up.
                self.end_without_slot(current, events);
                return;
            };
            let page = page_of(self, first);
            let behind = (first..end).find(|&unit| page_of(self, unit) != page).unwrap_or(end);
            let rest = (behind..end).find(|&unit| page_of(self, unit).is_some());
            let rest = rest.map(|first| {
                let mut rest = self.txns[current].clone();
                (rest.first, rest.units) = (LogicalUnit(first), end - first);
                if rest.successor.is_some() {
                    self.txns[rest.successor].waits_for += 1;
                } else {
                    self.host_side.endings.split(rest.request);
                }
                self.txns.add(rest)
            });
            (self.txns[current].first, self.txns[current].units) = (LogicalUnit(first), behind - first);
            let place = self.ftl.lookup(LogicalUnit(first));
            self.txns[current].die = self.geometry.die_of(self.geometry.plane_of(self.geometry.block_of(place)));
            self.submit(current, events);
            let Some(rest) = rest else { return };
            current = rest;
        }
    }
}
