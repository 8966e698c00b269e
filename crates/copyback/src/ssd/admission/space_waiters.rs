//! Writes that wait for a page to land on.
//!
//! If collections reserve no die, windows are full for most of an overload, and a write that is let go on waits in
//! front of one before it has its page. So it is let go on only where a page is left beside those that wait there
//! already: each goes on once for a page that it gets, however many wait. If the allocation chooses dies, all writes
//! of a drive, or of a channel, wait in one line, and the die is chosen when a write leaves it.

use crate::dispatch::txn::Txn;
use crate::ftl::allocation::Place;
use crate::ftl::space::Moves;
use crate::sim::index::{DieId, PlaneId, TxnId};
use crate::sim::queue::EventQueue;
use crate::ssd::admission::PlaneJobs;
use crate::ssd::admission::die_choice::Purpose;
use crate::ssd::drive::Drive;
use crate::tasks::gc::granularity::GranularityPolicy;

impl Drive {
    /// Whether a transaction needs a page to land on, and there is none.
    #[inline(always)]
    pub(in crate::ssd) fn lacks_space(&self, id: TxnId) -> bool {
        let txn = &self.txns[id];
        txn.role.is_write() && self.reservable(txn.die, txn.plane) == 0
    }

    /// Whether a transaction needs a page to land on, and those that wait in front of windows will take all there are.
    pub(in crate::ssd) fn is_spoken_for(&self, id: TxnId) -> bool {
        let txn = &self.txns[id];
        self.claims_page(id) && self.claimable(txn.die, txn.plane) == 0
    }

    /// Pages that are not reserved, and that no write in front of a window will take: of a plane, or of a die.
    pub(in crate::ssd) fn claimable(&self, die: DieId, plane: PlaneId) -> u32 {
        self.admission.reservations.space().claimable(&self.ftl, &PlaneJobs(self), die, plane)
    }

    /// A transaction begins to wait in front of its die's window: if it is a write, it will want a page.
    pub(in crate::ssd) fn park(&mut self, id: TxnId) {
        self.txns[id].is_in_front = true;
        if self.claims_page(id) {
            let (die, plane) = (self.txns[id].die, self.txns[id].plane);
            self.admission.reservations.park(&self.geometry, die, plane);
        }
    }

    /// It waits there no longer.
    pub(in crate::ssd) fn unpark(&mut self, id: TxnId) {
        self.txns[id].is_in_front = false;
        if self.claims_page(id) {
            let (die, plane) = (self.txns[id].die, self.txns[id].plane);
            self.admission.reservations.unpark(&self.geometry, die, plane);
            self.note_gain(die);
        }
    }

    /// Lets a transaction wait for a page to land on.
    pub(in crate::ssd) fn wait_for_space(&mut self, id: TxnId, events: &mut EventQueue) {
        let (die, plane) = (self.txns[id].die, self.txns[id].plane);
        let list = self.space_queue(die, plane);
        self.enqueue(list, id);
        self.map.newest.track();
        self.dies.begin_wait_for_space(die);
        self.admission.gate.begin_wait_for_gc(1);
        if self.scheme.granularity.leaves_plane() && self.dies.waiting_for_space() == 1 {
            self.start_all_awaited_collection(events);
        }
        self.collect_for_space(die, plane, events);
        self.update_clock(die, events.now_ns());
        if self.dies.waiting_for_space() == 1 {
            self.heed_guard(events);
        }
        if self.may_find_page_elsewhere() {
            // No collection has to end first.
            self.let_waiters_go_on(die, plane, events);
        }
    }

    /// A transaction waits no longer for a page to land on.
    pub(in crate::ssd) fn end_wait_for_space(&mut self, die: DieId) {
        self.dies.end_wait_for_space(die);
        self.admission.gate.end_wait_for_gc(1);
    }

    /// Those who wait for pages are admitted as far as these reach.
    pub(in crate::ssd) fn admit_as_far_as_room(&mut self, die: DieId, plane: PlaneId, events: &mut EventQueue) {
        let plane = self.bound_plane(plane);
        let list = self.space_queue(die, plane);
        while self.reservable(die, plane) > 0 {
            let Some(id) = self.queues.pop_front(list) else { return };
            self.end_wait_for_space(die);
            self.admit(TxnId(id), events);
        }
        // Who still waits lets the plane be collected further.
        if !self.queues.is_empty(list) {
            self.collect_for_space(die, plane, events);
        }
    }

    /// A page was bound on a plane, where collections reserve no die: only there may one more be free for waiters.
    #[inline(never)]
    pub(in crate::ssd) fn look_after_waiters(&mut self, die: DieId, plane: PlaneId, events: &mut EventQueue) {
        let bound_to = self.bound_plane(plane);
        if self.claimable(die, bound_to) > 0 {
            self.let_waiters_go_on(die, plane, events);
        } else if !self.queues.is_empty(self.space_queue(die, bound_to)) {
            self.collect_for_space(die, bound_to, events);
        }
    }

    /// The drive, or a channel, has more room where collections reserve no die: waiters go on as far as it reaches.
    pub(in crate::ssd) fn let_waiters_go_on(&mut self, die: DieId, plane: PlaneId, events: &mut EventQueue) {
        let plane = self.bound_plane(plane);
        let list = self.space_queue(die, plane);
        while let Some(id) = self.queues.first(list).map(TxnId) {
            let place = self.place_of_waiter(id, Place { die, plane });
            if self.claimable(place.die, plane) == 0 {
                // Who still waits lets the plane be collected further.
                return self.collect_for_space(die, plane, events);
            }
            let from = self.txns[id].die;
            self.queues.remove(list, id.0);
            self.end_wait_for_space(from);
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
    fn place_of_waiter(&mut self, id: TxnId, home: Place) -> Place {
        if !self.ftl.allocation().chooses_die() || self.is_stock_claimed(home.die) {
            return home;
        }
        // A page that filled goes where its first write does.
        let Txn { first, chain, .. } = self.txns[id];
        let unit = if first.is_some() { first } else { self.txns[chain].first };
        self.choose_die(unit, Purpose::Waiter)
    }

    /// Whether those who wait in front of windows will take all that dies have in common, so that none has more.
    fn is_stock_claimed(&self, die: DieId) -> bool {
        let stock = PlaneJobs(self).anywhere(self.geometry.first_plane(die));
        stock.is_some_and(|stock| stock.claimable() == 0)
    }

    /// Data may leave or come to any plane: writes that wait anywhere are looked at again.
    pub(in crate::ssd) fn admit_waiters_everywhere(&mut self, events: &mut EventQueue) {
        for plane in (0..self.geometry.planes).map(PlaneId) {
            let die = self.geometry.die_of(plane);
            if self.dies[die].waiting_for_space() > 0 {
                self.admit_waiters(die, plane, events);
            }
        }
    }
}
