//! Updates of translation pages, after look-ups, writes and moves, and the checks of flash and DRAM.

use crate::dispatch::admit::Entry;
use crate::dispatch::txn::{Role, Txn};
use crate::flash::command::{Command, Source};
use crate::sim::index::{DieId, LogicalUnit, PlaneId, TranslationPage, TxnId};
use crate::sim::invariant::{Invariant, broken, hold};
use crate::sim::queue::EventQueue;
use crate::ssd::back_end::BackEnd;
use crate::ssd::map::{PAGES_FREED_PER_UPDATE, Update};

impl BackEnd {
    /// Makes a transaction of the map that a task has caused.
    pub(in crate::ssd) fn map_txn(&mut self, role: Role, unit: LogicalUnit, cause: Source, now_ns: u64) -> Txn {
        let task = self.task_of_map(cause);
        let totals = &mut self.map.translation().totals;
        totals.page_reads += u64::from(role == Role::MapRead);
        Txn {
            task,
            role_data: u32::from(cause != Source::HOST),
            arrival_ns: now_ns,
            ..Txn::new(role, unit, 1, DieId::NONE, PlaneId::NONE)
        }
    }

    /// The task that the map's requests are charged to, given the task that caused them.
    fn task_of_map(&self, cause: Source) -> Source {
        if self.scheme.settings.has_map_task { Source::MAP } else { cause }
    }

    /// A translation page was written back. The transaction that waited for that, if any, continues unless it waits for
    /// more.
    pub(in crate::ssd) fn end_write_back(&mut self, unit: LogicalUnit, waiter: Option<TxnId>, events: &mut EventQueue) {
        let page = self.map.translation().page_at(unit).expect("it is one of the map");
        if let Some(id) = waiter {
            self.look_up_again(id, page, events);
        }
        self.release(page, true, events);
    }

    /// Writes a translation page that has to leave DRAM; `successor` waits for that.
    pub(in crate::ssd) fn write_back(&mut self, page: TranslationPage, successor: TxnId, events: &mut EventQueue) {
        let map = self.map.translation();
        if let Update::Owed = map.updates.of_page[page.at()] {
            map.updates.owed.remove(page.0);
        }
        map.totals.write_backs += 1;
        // The cache may have the evicted unit of a superpage only.
        let is_whole = map.cached.holds_pages() && map.layout.units_per_page.divisor() == 1;
        let cause = self.txns[successor].task;
        self.start_update(page, !is_whole, (successor, cause), events);
    }

    /// Writes a translation page for a task, after a read of the entries that are not in DRAM.
    pub(in crate::ssd) fn start_update(
        &mut self,
        page: TranslationPage,
        reads: bool,
        (successor, cause): (TxnId, Source),
        events: &mut EventQueue,
    ) {
        let unit = self.map.translation().unit_of(page);
        let task = self.task_of_map(cause);
        self.map.translation().updates.of_page[page.at()] =
            Update::UnderWay { task, is_awaited: false, txn: TxnId::NONE };
        self.map.newest.track();
        let mut high_priority = false;
        if successor.is_some() {
            self.txns[successor].waits_for += 1;
            high_priority = self.txns[successor].high_priority;
        }
        let units = self.map.translation().layout.units_per_page.divisor();
        let write = self.map_txn(Role::MapWrite, unit, cause, events.now_ns());
        let write = self.txns.add(Txn { successor, high_priority, units, ..write });
        if !reads || self.ftl.lookup(unit).is_none() {
            self.set_next_of_update(page, write);
            self.submit_map_txn(write, events);
            return;
        }
        let together = units.min(self.geometry.units_per_flash_page);
        self.txns[write].waits_for = units / together;
        for first in (unit.0..unit.0 + units).step_by(together as usize).map(LogicalUnit) {
            let read = self.map_txn(Role::MapRead, first, cause, events.now_ns());
            let read = self.txns.add(Txn { successor: write, high_priority, units: together, ..read });
            self.set_next_of_update(page, if together == units { read } else { TxnId::NONE });
            self.submit_map_txn(read, events);
        }
    }

    /// Sets the next transaction of an update.
    fn set_next_of_update(&mut self, page: TranslationPage, next: TxnId) {
        if let Update::UnderWay { txn, .. } = &mut self.map.translation().updates.of_page[page.at()] {
            *txn = next;
        }
    }

    /// A page was read for its update: its program is next.
    pub(in crate::ssd) fn write_what_was_read(&mut self, write: TxnId, events: &mut EventQueue) {
        let unit = self.txns[write].first;
        let page = self.map.translation().page_at(unit).expect("it is one of the map");
        self.set_next_of_update(page, write);
        self.submit_map_txn(write, events);
    }

    /// Several updates share one flash page that was sent: sets its transaction as the next one of each update.
    pub(in crate::ssd) fn go_on_with_page(&mut self, full: TxnId) {
        let mut next = self.txns[full].next_in_list;
        while next.is_some() {
            let (unit, behind) = (self.txns[next].first, self.txns[next].next_in_list);
            let page = self.map.translation().page_at(unit).expect("it is one of the map");
            self.set_next_of_update(page, full);
            next = behind;
        }
    }

    /// A host request waits for an update that a collection has begun; `id` is the update's next transaction.
    /// Transactions of the update that have not entered a window become the host's, so that the request does not wait
    /// for all of the collection's queue.
    pub(in crate::ssd) fn take_over_update(&mut self, page: TranslationPage, id: TxnId, events: &mut EventQueue) {
        if id.is_none() || !self.admission.control.distinguishes_tasks() {
            return;
        }
        let write = self.write_of_update(page, id);
        let has_entered = |drive: &Self, id: TxnId| drive.txns[id].entered > 0;
        let is_page = self.txns[id].role == Role::FullMapPage;
        if write.is_none() || has_entered(self, write) || (is_page && has_entered(self, id)) {
            return;
        }
        // A page of several writes waits in the host's list if one of these writes is the host's, otherwise in the list
        // of its first write's task. That task may differ from the update's task.
        let (die, task) = (self.txns[id].die, self.txns[id].task);
        self.map.translation().updates.of_task[Source::GC.at()] -= 1;
        self.map.translation().updates.of_task[Source::HOST.at()] += 1;
        self.txns[write].task = Source::HOST;
        if is_page && self.txns[id].task == Source::HOST {
            return self.deactivate_at_rest(Source::GC, events);
        }
        let waits_for_window = self.txns[id].waits_for_window;
        if waits_for_window {
            let list = self.queues.for_window(die, task);
            self.queues.remove(list, id.0);
            self.admission.control.set_waiting(die, task, !self.queues.is_empty(list));
            self.admission.control.on_head(Entry { task, die }, &self.queues, &self.txns);
            self.end_wait_for_window(id);
        }
        if waits_for_window || !has_entered(self, id) {
            self.txns[id].task = Source::HOST;
        }
        if waits_for_window {
            self.enter_or_wait(id, events);
        }
        self.deactivate_at_rest(Source::GC, events);
    }

    /// The write of a translation page's update, whose next transaction is `id`.
    fn write_of_update(&mut self, page: TranslationPage, id: TxnId) -> TxnId {
        let unit = self.map.translation().unit_of(page);
        match self.txns[id].role {
            Role::MapRead => self.txns[id].successor,
            Role::FullMapPage => {
                let mut member = self.txns[id].next_in_list;
                while member.is_some() && self.txns[member].first != unit {
                    member = self.txns[member].next_in_list;
                }
                member
            }
            _ => id,
        }
    }

    /// The number of a command's pages that serve the map, without the first page.
    pub(in crate::ssd) fn partners_of_map(&self, command: &Command) -> u64 {
        let partners = command.parts().iter().skip(1).filter(|part| part.txn.is_some());
        partners.filter(|part| self.txns[part.txn].role.source() == Source::MAP).count() as u64
    }

    /// Translation pages that are owed updates now.
    pub fn translation_pages_owed(&self) -> u64 {
        let updates = self.map.translation.iter().flat_map(|map| &map.updates.of_page);
        updates.filter(|update| matches!(update, Update::Owed)).count() as u64
    }

    /// Updates translation pages whose entries were no longer in DRAM when their data was written.
    pub(in crate::ssd) fn update_written(&mut self, events: &mut EventQueue) {
        let map = self.map.translation();
        let list = map.updates.freed.len();
        while let Some(page) = self.map.translation().updates.owed.pop_front(list) {
            self.update_owed(page, Source::HOST, events);
        }
    }

    /// A task has ended the relocation of a block of a die, which freed `freed` pages: updates translation pages of the
    /// moved data.
    pub(in crate::ssd) fn update_moved(&mut self, die: DieId, cause: Source, freed: u32, events: &mut EventQueue) {
        let most = self.geometry.pages_per_block;
        let map = self.map.translation();
        map.updates.freed[die.at()] = most.min(map.updates.freed[die.at()] + freed);
        while self.map.translation().updates.freed[die.at()] >= PAGES_FREED_PER_UPDATE
            && let Some(page) = self.map.translation().updates.owed.pop_front(die.at())
        {
            self.map.translation().updates.freed[die.at()] -= PAGES_FREED_PER_UPDATE;
            self.update_owed(page, cause, events);
        }
    }

    pub(in crate::ssd) fn update_owed(&mut self, page: u32, cause: Source, events: &mut EventQueue) {
        self.map.translation().totals.updates += 1;
        let task = self.task_of_map(cause);
        self.map.translation().updates.of_task[task.at()] += 1;
        self.start_update(TranslationPage(page), true, (TxnId::NONE, cause), events);
    }

    /// A transaction of the map begins; firmware may need time for it.
    pub(in crate::ssd) fn submit_map_txn(&mut self, id: TxnId, events: &mut EventQueue) {
        if self.has_firmware_delays() {
            return self.delay(id, events);
        }
        self.hand_map_txn(id, events);
    }

    /// A transaction of the map goes to the die of its page.
    pub(in crate::ssd) fn hand_map_txn(&mut self, id: TxnId, events: &mut EventQueue) {
        let first = self.txns[id].first;
        if self.txns[id].role == Role::MapRead {
            let place = self.ftl.lookup(first);
            self.txns[id].die = self.geometry.die_of(self.geometry.plane_of(self.geometry.block_of(place)));
            self.submit(id, events);
        } else {
            self.send_write(id, events);
        }
    }

    /// Checks that the place of each unit is in flash or in DRAM, or that an update of its translation page is owed or
    /// in progress. Slow.
    pub(in crate::ssd) fn check_translation(&self) {
        let Some(map) = &self.map.translation else { return };
        if let Err(found) = map.cached.check() {
            broken(Invariant::TranslationCurrent, format_args!("{found}"));
        }
        let Some(in_flash) = &map.in_flash else { return };
        for unit in (0..map.layout.entries).map(LogicalUnit) {
            let (place, known) = (self.ftl.lookup(unit), in_flash[unit.at()]);
            let page = map.cached.page_of(unit);
            let is_on_its_way = map.cached.is_changed(unit) || map.updates.of_page[page.at()] != Update::None;
            // A trim does not change the map.
            hold!(
                place.is_none() || place == known || is_on_its_way,
                TranslationCurrent,
                "{unit:?} is at {place:?}, and flash says {known:?}"
            );
        }
    }
}
