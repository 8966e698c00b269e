//! Writes that wait for a free page.
//!
//! If collections reserve no die, windows are full during an overload, and a write reserves its page only when it
//! enters its window. Therefore at most as many writes wait in front of windows as pages remain; others wait here. The
//! work for a write then does not depend on the number of waiting writes. If the allocation chooses dies, all
//! writes of a drive (or of a channel) wait on one list, and the die is chosen when a write leaves it.

use crate::dispatch::txn::Txn;
use crate::ftl::allocation::PagePlacement;
use crate::ftl::space::JobSpace;
use crate::sim::index::{DieId, LogicalUnit, PlaneId, TxnId};
use crate::sim::queue::EventQueue;
use crate::ssd::admission::PlaneJobs;
use crate::ssd::admission::die_choice::Purpose;
use crate::ssd::back_end::BackEnd;

impl BackEnd {
    /// Whether a transaction needs a page, and there is none.
    #[inline(always)]
    pub(in crate::ssd) fn lacks_space(&self, id: TxnId) -> bool {
        let txn = &self.txns[id];
        txn.role.is_write() && self.reservable(txn.die, txn.plane) == 0
    }

    /// Whether a transaction needs a page, and transactions that wait in front of windows will take all remaining
    /// pages.
    pub(in crate::ssd) fn lacks_claimable_page(&self, id: TxnId) -> bool {
        let txn = &self.txns[id];
        self.claims_page(id) && self.claimable(txn.die, txn.plane) == 0
    }

    /// Pages that are not reserved, and that no write in front of a window will take: of a plane, or of a die.
    pub(in crate::ssd) fn claimable(&self, die: DieId, plane: PlaneId) -> u32 {
        self.admission.reservations.space().claimable(&self.ftl, &PlaneJobs(self), die, plane)
    }

    /// A transaction begins to wait in front of its die's window. A write will need a page.
    pub(in crate::ssd) fn begin_wait_for_window(&mut self, id: TxnId) {
        self.txns[id].waits_for_window = true;
        if self.claims_page(id) {
            let (die, plane) = (self.txns[id].die, self.txns[id].plane);
            self.admission.reservations.begin_wait_for_window(&self.geometry, die, plane);
        }
    }

    /// A transaction no longer waits in front of its die's window.
    pub(in crate::ssd) fn end_wait_for_window(&mut self, id: TxnId) {
        self.txns[id].waits_for_window = false;
        if self.claims_page(id) {
            let (die, plane) = (self.txns[id].die, self.txns[id].plane);
            self.admission.reservations.end_wait_for_window(&self.geometry, die, plane);
            self.notify_die_search(die);
        }
    }

    /// Lets a transaction wait for a free page.
    pub(in crate::ssd) fn wait_for_space(&mut self, id: TxnId, events: &mut EventQueue) {
        let (die, plane) = (self.txns[id].die, self.txns[id].plane);
        let list = self.space_queue(die, plane);
        self.enqueue(list, id);
        self.map.newest.track();
        self.dies.begin_wait_for_space(die);
        self.admission.control.begin_wait_for_gc(1);
        let is_first = self.dies.waiting_for_space() == 1;
        if is_first && self.waits_for_any_collection() {
            self.start_all_deferred_collections(events);
        }
        self.collect_for_space(die, plane, events);
        self.update_clock(die, events.now_ns());
        if self.dies.waiting_for_space() == 1 {
            self.admit_after_limit_change(events);
        }
        if self.may_find_page_elsewhere() {
            // No collection has to end first.
            self.admit_claimable_waiters(die, plane, events);
        }
    }

    /// A transaction no longer waits for a free page.
    pub(in crate::ssd) fn end_wait_for_space(&mut self, die: DieId, now_ns: u64) {
        self.dies.end_wait_for_space(die);
        self.admission.control.end_wait_for_gc(1);
        if self.dies[die].waiting_for_space() == 0 {
            // The write may leave the die, which is then not visited.
            self.update_clock(die, now_ns);
        }
    }

    /// Admits the writes that wait, as long as a page can be reserved.
    pub(in crate::ssd) fn admit_reservable_waiters(&mut self, die: DieId, plane: PlaneId, events: &mut EventQueue) {
        let plane = self.bound_plane(plane);
        let list = self.space_queue(die, plane);
        while self.reservable(die, plane) > 0 {
            let Some(id) = self.queues.pop_front(list) else { return };
            self.end_wait_for_space(die, events.now_ns());
            self.admit(TxnId(id), events);
        }
        // Transactions that still wait keep the plane's collection going.
        if !self.queues.is_empty(list) {
            self.collect_for_space(die, plane, events);
        }
    }

    /// A page was bound on a plane, and collections reserve no die: admits waiting writes, or collects for them. Only
    /// this plane may have one more page for them.
    #[inline(never)]
    pub(in crate::ssd) fn admit_or_collect(&mut self, die: DieId, plane: PlaneId, events: &mut EventQueue) {
        let bound_to = self.bound_plane(plane);
        if self.claimable(die, bound_to) > 0 {
            self.admit_claimable_waiters(die, plane, events);
        } else if !self.queues.is_empty(self.space_queue(die, bound_to)) {
            self.collect_for_space(die, bound_to, events);
        }
    }

    /// The drive or a channel has more free pages, and collections reserve no die: admits the writes that can claim
    /// one.
    pub(in crate::ssd) fn admit_claimable_waiters(&mut self, die: DieId, plane: PlaneId, events: &mut EventQueue) {
        let plane = self.bound_plane(plane);
        let list = self.space_queue(die, plane);
        while let Some(id) = self.queues.first(list).map(TxnId) {
            let place = self.place_of_waiter(id, PagePlacement { die, plane });
            if self.claimable(place.die, plane) == 0 {
                // Transactions that still wait keep the plane's collection going.
                return self.collect_for_space(die, plane, events);
            }
            let from = self.txns[id].die;
            self.queues.remove(list, id.0);
            self.end_wait_for_space(from, events.now_ns());
            self.ftl.on_placed(place);
            if place.die == from {
                self.admit(id, events);
                continue;
            }
            self.stop_waiting(id, events.now_ns());
            self.txns[id].die = place.die;
            self.submit(id, events);
        }
    }

    /// The place of the first in line; `home` if it may go nowhere else.
    fn place_of_waiter(&mut self, id: TxnId, home: PagePlacement) -> PagePlacement {
        if !self.ftl.allocation().chooses_die() || self.is_stock_claimed(home.die) {
            return home;
        }
        self.choose_die(self.first_unit_of_write(id), Purpose::Waiter)
    }

    /// The first unit of a write; a filled page goes where its first write goes.
    pub(in crate::ssd) fn first_unit_of_write(&self, id: TxnId) -> LogicalUnit {
        let Txn { first, next_in_list, .. } = self.txns[id];
        if first.is_some() { first } else { self.txns[next_in_list].first }
    }

    /// Whether transactions in front of windows will take all pages that dies share, so that no die has more.
    fn is_stock_claimed(&self, die: DieId) -> bool {
        let stock = PlaneJobs(self).move_pool(self.geometry.first_plane(die));
        stock.is_some_and(|stock| stock.claimable() == 0)
    }

    /// Data may move to any plane: checks all waiting writes again.
    pub(in crate::ssd) fn admit_waiters_everywhere(&mut self, events: &mut EventQueue) {
        for plane in (0..self.geometry.planes).map(PlaneId) {
            let die = self.geometry.die_of(plane);
            if self.dies[die].waiting_for_space() > 0 {
                self.admit_waiters(die, plane, events);
            }
        }
    }
}
