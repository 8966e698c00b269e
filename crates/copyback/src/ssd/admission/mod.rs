//! Admission: from a transaction's arrival at its die into the die's queue.
//!
//! Two conditions delay it: no slot of the window is free, or a write has no page to reserve (`space_waiters`).
//! Transactions wait for both in order.

pub(super) mod control;
pub(super) mod die_choice;
pub(super) mod page_reservations;
pub(super) mod shared_space;
pub(super) mod space_waiters;
pub(super) mod task_shares;
pub(super) mod transaction_end;

use self::control::AdmissionControl;
use self::die_choice::{DieSearches, Purpose};
use self::page_reservations::PageReservations;
use self::task_shares::TaskShares;
use crate::dispatch::admit::{Change, Entry};
use crate::dispatch::txn::Role;
use crate::flash::command::{FlashOp, Source};
use crate::flash::geometry::Geometry;
use crate::ftl::allocation::PagePlacement;
use crate::ftl::space::{JobSpace, MovePool, OwnMoves};
use crate::sim::index::{DieId, JobId, LogicalUnit, PlaneId, TxnId};
use crate::sim::invariant::{Invariant, broken, hold};
use crate::sim::queue::EventQueue;
use crate::ssd::back_end::{BackEnd, Queue};
use crate::tasks::gc::granularity::GranularityPolicy;
use crate::tasks::view::DriveView;

/// The parts of admission. Only a part's own module writes its fields.
pub(super) struct Admission {
    /// Windows of dies, and the policy that admits transactions to them.
    pub(super) control: AdmissionControl,
    /// Updates of the tasks' shares of windows.
    pub(super) shares: TaskShares,
    /// Pages promised to writes and moves.
    pub(super) reservations: PageReservations,
    /// The searches for the best die for a page, if the allocation compares dies. Invariant: a search finds the die
    /// that a comparison of all dies finds.
    pub(super) searches: Option<Box<DieSearches>>,
}

impl DriveView for BackEnd {
    fn geometry(&self) -> &Geometry {
        &self.geometry
    }
    fn free_blocks(&self, plane: PlaneId) -> u32 {
        self.ftl.free_blocks_of(plane)
    }
    fn queued(&self, die: DieId) -> u32 {
        Self::queued(self, die)
    }
}

/// The remaining moves of planes' jobs, as the reservations see them.
pub(in crate::ssd) struct PlaneJobs<'a>(pub &'a BackEnd);

impl JobSpace for PlaneJobs<'_> {
    #[inline]
    fn own_moves(&self, plane: PlaneId) -> OwnMoves {
        self.0.own_moves(plane)
    }

    #[inline(always)]
    fn move_pool(&self, plane: PlaneId) -> Option<MovePool> {
        self.0.admission.reservations.move_pool(plane)
    }
}

impl BackEnd {
    /// What a plane's job has still to program there. A merge programs blocks that are kept for it.
    #[inline]
    pub(in crate::ssd) fn moves_of_job(&self, plane: PlaneId) -> OwnMoves {
        let id = self.gc.jobs.of_plane(plane);
        if id.is_none() || self.is_merge(id) {
            return OwnMoves::default();
        }
        let job = &self.gc.jobs[id];
        let pages = match self.keeps_moves_left(id) {
            false => job.pages_left(self.geometry.units_per_page),
            true => job.pages_left_on(plane),
        };
        OwnMoves { pages, has_begun: job.beginning().is_some() }
    }

    /// Whether the remaining pages of a collection are counted plane by plane. The number of moves does not give them
    /// if its blocks are on several planes, or if it moves superpages: rows are programmed whole, even for few units.
    #[inline(always)]
    pub(in crate::ssd) fn keeps_moves_left(&self, id: JobId) -> bool {
        self.gc.jobs[id].footprint().has_several_blocks() || self.geometry.has_superpages()
    }

    /// The plane that a write to this plane is bound to; none if a write may take any plane of its die.
    #[inline(always)]
    pub(in crate::ssd) fn bound_plane(&self, plane: PlaneId) -> PlaneId {
        if self.ftl.allocation().is_static() { plane } else { PlaneId::NONE }
    }

    /// A plane's die, and the plane itself if addresses determine planes.
    pub(in crate::ssd) fn bound_of(&self, plane: PlaneId) -> (DieId, PlaneId) {
        (self.geometry.die_of(plane), self.bound_plane(plane))
    }

    /// The die and plane to which the page of a unit goes.
    pub(crate) fn place(&mut self, unit: LogicalUnit) -> PagePlacement {
        let home = self.home(unit);
        if home.die.is_some() {
            return home;
        }
        let place = self.choose_die(unit, Purpose::Arrival);
        self.ftl.on_placed(place);
        place
    }

    /// The die and plane to which the page of a unit goes, as far as its address determines them.
    #[inline]
    pub(crate) fn home(&self, unit: LogicalUnit) -> PagePlacement {
        if let Some(plane) = self.ftl.allocation().static_plane(unit) {
            return PagePlacement { die: self.geometry.die_of(plane), plane };
        }
        let die = self.ftl.allocation().static_die(unit).unwrap_or(DieId::NONE);
        PagePlacement { die, plane: PlaneId::NONE }
    }

    /// Transactions that wait at a die, and the command that it executes.
    #[inline]
    pub(in crate::ssd) fn queued(&self, die: DieId) -> u32 {
        self.dies[die].waiting() + u32::from(!self.flash.is_ready(die))
    }

    /// Discards the data of units. A write that arrived earlier is older, and does not bring them back.
    pub(crate) fn trim(&mut self, first: LogicalUnit, units: u32) {
        self.map.newest.track();
        let sequence = self.txns.take_sequence();
        for unit in (first.0..first.0 + units).map(LogicalUnit) {
            self.map.newest.is_newest(unit, sequence);
            self.ftl.trim(unit);
            self.on_moved(unit);
            if let Some(filling) = &mut self.host_side.filling {
                filling.trim(unit);
            }
            if let Some(shadow) = &mut self.records.shadow {
                shadow.trim(unit, sequence);
            }
        }
    }

    /// A transaction arrives at its die.
    pub(crate) fn submit(&mut self, id: TxnId, events: &mut EventQueue) {
        self.wake_shares(events);
        let die = self.txns[id].die;
        self.dies[die].clocks().read_into(events.now_ns(), &mut self.txns[id].clocks);
        self.dies[die].begin_wait(self.txns[id].role.is_write(), self.txns[id].high_priority);
        if self.dies[die].has_planes_awaiting_request() {
            self.start_deferred_collections(die, events);
        }
        // A read that would have to wait may be rebuilt instead, even if no other waits in front of the window.
        if self.admission.control.distinguishes_tasks() && self.try_rebuild_on_arrival(id, events) {
            return;
        }
        self.enter_or_wait(id, events);
    }

    /// Counts the arrival of a transaction on a drive that distinguishes tasks, and tries to rebuild it from other dies
    /// if it would have to wait. Returns whether the rebuild replaces it.
    #[inline(never)]
    fn try_rebuild_on_arrival(&mut self, id: TxnId, events: &mut EventQueue) -> bool {
        if self.txns[id].task == Source::HOST {
            self.admission.shares.on_arrival(self.txns[id].role.is_write());
        }
        !self.may_enter(id) && self.try_rebuild(id, false, events)
    }

    /// Whether an arriving transaction can enter its die's window: a slot is free, and no other of its task waits in
    /// front.
    fn may_enter(&self, id: TxnId) -> bool {
        let (die, task) = (self.txns[id].die, self.txns[id].task);
        self.admission.control.has_room(die) && self.queues.is_empty(self.queues.for_window(die, task))
    }

    /// A transaction enters its die's window, or waits in front of it.
    #[inline(always)]
    pub(in crate::ssd) fn enter_or_wait(&mut self, id: TxnId, events: &mut EventQueue) {
        if self.queues.is_empty(self.queues.for_window(self.txns[id].die, self.txns[id].task)) {
            self.admit(id, events);
        } else {
            // A free slot is kept for a job, or other transactions arrived earlier.
            self.wait_for_window(id, events);
        }
    }

    #[inline(always)]
    pub(in crate::ssd) fn is_high_priority_write(&self, id: TxnId) -> bool {
        self.txns[id].high_priority && self.txns[id].role.is_write()
    }

    /// Moves a transaction into its die's queue, or lets it wait in front.
    pub(in crate::ssd) fn admit(&mut self, id: TxnId, events: &mut EventQueue) {
        if self.lacks_space(id) {
            return self.wait_for_space(id, events);
        }
        let entry = Entry { task: self.txns[id].task, die: self.txns[id].die };
        if self.admission.control.admits(entry, &self.queues, &self.txns) {
            self.enter(id, events);
        } else {
            self.wait_for_window(id, events);
        }
    }

    /// Whether a request of the host waits that only a collection can serve.
    #[inline(always)]
    pub(in crate::ssd) fn waits_for_gc(&self) -> bool {
        self.admission.control.waits_for_gc()
    }

    /// A host request begins to wait for a collection, so collection may use more slots: admits the transactions that
    /// now fit.
    #[cold]
    pub(in crate::ssd) fn admit_after_limit_change(&mut self, events: &mut EventQueue) {
        if self.admission.control.distinguishes_tasks() {
            self.admit_waiting(Change::Limits, events);
        }
    }

    /// Lets a transaction wait in front of its die's window.
    fn wait_for_window(&mut self, id: TxnId, events: &mut EventQueue) {
        if self.lacks_claimable_page(id) {
            return self.wait_for_space(id, events);
        }
        self.begin_wait_for_window(id);
        if self.records.flash_requests.is_some() {
            self.split_wait(id, events.now_ns(), false);
        }
        let (die, task) = (self.txns[id].die, self.txns[id].task);
        let list = self.queues.for_window(die, task);
        let is_first = self.queues.is_empty(list);
        self.admission.control.on_wait(Entry { task, die }, is_first);
        self.enqueue(list, id);
        self.admission.control.set_waiting(die, task, true);
        if is_first {
            self.admission.control.on_head(Entry { task, die }, &self.queues, &self.txns);
        }
    }

    /// A transaction enters its die's window.
    #[inline(always)]
    fn enter(&mut self, id: TxnId, events: &mut EventQueue) {
        let (die, plane, role) = (self.txns[id].die, self.txns[id].plane, self.txns[id].role);
        if self.admission.control.distinguishes_tasks() {
            if self.try_rebuild(id, true, events) {
                return;
            }
            self.admission.control.enter(die, self.txns[id].task);
            self.notify_entry(id);
        } else {
            if self.try_rebuild(id, true, events) {
                return;
            }
            self.admission.control.enter(die, self.txns[id].task);
        }
        let queue = if role.is_write() {
            self.reserve_page(die, plane);
            Queue::Write
        } else if role.is_read() {
            Queue::Read
        } else {
            Queue::Move
        };
        let list = self.queue(die, queue);
        self.enqueue(list, id);
        self.mark_ready(die);
    }

    /// Notifies the policy of a transaction that enters.
    #[inline(never)]
    fn notify_entry(&mut self, id: TxnId) {
        let turn = self.admission.control.take_turn();
        let (timing, units_per_page) = (self.flash.timing(), self.geometry.units_per_page);
        let txn = &mut self.txns[id];
        txn.entered = turn;
        let (op, units) = match txn.role {
            Role::RelocationErase => (FlashOp::Erase, 0),
            // Whether all units of a page are valid is unknown before the read.
            Role::RelocationRead if units_per_page == 1 && self.scheme.granularity.copies_back() => {
                (FlashOp::Copyback, 0)
            }
            Role::RelocationRead => (FlashOp::Read, self.gc.relocations.get(txn.job).units_per_read()),
            role if role.is_read() => (FlashOp::Read, txn.units),
            _ => (FlashOp::Program, units_per_page),
        };
        // The pages of a row cross the channel one after the other.
        let page_units = self.geometry.units_per_flash_page;
        let pages_ns = u64::from(units / page_units) * timing.transfer_ns(page_units);
        let transfer_ns = match units % page_units {
            0 => pages_ns,
            rest => pages_ns + timing.transfer_ns(rest),
        };
        let entry = Entry { task: txn.task, die: txn.die };
        self.admission.control.on_enter(entry, timing.page_ns(op, 0) + transfer_ns);
    }

    /// Pages that can still be reserved for host writes on a plane, or on a die for writes bound to no plane.
    #[inline]
    pub(in crate::ssd) fn reservable(&self, die: DieId, plane: PlaneId) -> u32 {
        self.admission.reservations.space().reservable(&self.ftl, &PlaneJobs(self), die, plane)
    }

    /// Pages of a plane that admitted host writes can use now.
    #[inline]
    pub(in crate::ssd) fn host_pages_left(&self, plane: PlaneId) -> u32 {
        self.admission.reservations.space().host_pages_left(&self.ftl, &PlaneJobs(self), plane)
    }

    /// Whether a plane can take another page of another plane's job, and still has the pages that are reserved on it.
    pub(in crate::ssd) fn accepts_move(&self, plane: PlaneId) -> bool {
        self.would_accept_move(plane, PlaneId::NONE)
    }

    /// As [`Self::accepts_move`], after the job of the plane `beginning` (if any) has begun to move a whole block.
    pub(in crate::ssd) fn would_accept_move(&self, plane: PlaneId, beginning: PlaneId) -> bool {
        let bound = self.bound_plane(plane);
        // A plane needs the space that it frees, for its own writes. If planes gave it away, data would circulate.
        self.queues.is_empty(self.space_queue(self.geometry.die_of(plane), bound))
            && self.admission.reservations.space().accepts_move(&self.ftl, &PlaneJobs(self), plane, bound, beginning)
    }

    /// Reserves a page for a write that is admitted to a die, or to its plane if the plane is decided.
    #[inline(always)]
    pub(in crate::ssd) fn reserve_page(&mut self, die: DieId, plane: PlaneId) {
        self.admission.reservations.reserve(&self.geometry, die, plane);
    }

    /// Releases such a page: it is bound now, or the write no longer needs it.
    #[inline(always)]
    pub(in crate::ssd) fn release_page(&mut self, die: DieId, plane: PlaneId) {
        self.admission.reservations.release(&self.geometry, die, plane);
        self.notify_die_search(die);
    }

    /// A die's window may have a free slot that no transaction has released: transactions that wait for it enter.
    pub(in crate::ssd) fn fill_window(&mut self, die: DieId, events: &mut EventQueue) {
        self.admit_waiting(Change::Slot { die, task: None }, events);
    }

    /// Admits transactions that wait in front of windows, in the policy's order, after a change that concerns them.
    #[inline(always)]
    pub(in crate::ssd) fn admit_waiting(&mut self, change: Change, events: &mut EventQueue) -> bool {
        let first = self.admission.control.next(change, &self.queues, &self.txns);
        if let Some(entry) = first {
            self.admit_in_policy_order(entry, change, events);
        }
        first.is_some()
    }

    /// Admits the first transaction of a waiting list, and then the transactions that the policy names.
    #[inline(never)]
    fn admit_in_policy_order(&mut self, first: Entry, change: Change, events: &mut EventQueue) {
        let mut next = Some(first);
        while let Some(entry) = next {
            let list = self.queues.for_window(entry.die, entry.task);
            let first = self.queues.pop_front(list).map(TxnId);
            let id =
                first.unwrap_or_else(|| broken(Invariant::Window, format_args!("no transaction waits for {entry:?}")));
            self.admission.control.set_waiting(entry.die, entry.task, !self.queues.is_empty(list));
            self.admission.control.on_head(entry, &self.queues, &self.txns);
            self.end_wait_for_window(id);
            if self.records.flash_requests.is_some() {
                self.split_wait(id, events.now_ns(), true);
            }
            if self.lacks_space(id) {
                self.wait_for_space(id, events);
            } else {
                hold!(self.admission.control.has_room(entry.die), Window, "{entry:?} finds no slot");
                self.enter(id, events);
            }
            next = self.admission.control.next(change, &self.queues, &self.txns);
        }
    }

    /// A read's data moved to another die while the read waited: it waits there instead.
    pub(in crate::ssd) fn redirect(&mut self, id: TxnId, to: DieId, events: &mut EventQueue) {
        let (from, task) = (self.txns[id].die, self.txns[id].task);
        self.stop_waiting(id, events.now_ns());
        self.txns[id].die = to;
        self.leave_window(from, task, events);
        self.submit(id, events);
    }

    /// A transaction's command is issued, or it goes to another die: charges the time that it waited.
    #[inline]
    pub(in crate::ssd) fn stop_waiting(&mut self, id: TxnId, now_ns: u64) {
        if self.records.flash_requests.is_some() {
            return self.stop_waiting_counted(id, now_ns);
        }
        self.charge_wait(id, now_ns);
    }

    #[inline(always)]
    pub(in crate::ssd) fn charge_wait(&mut self, id: TxnId, now_ns: u64) {
        let txn = &mut self.txns[id];
        let die = &mut self.dies[txn.die];
        die.end_wait(txn.role.is_write(), txn.high_priority);
        let held = die.clocks().charge_since(&txn.clocks, now_ns, &mut txn.breakdown_ns);
        txn.gc_affected |= held;
        let die = txn.die;
        self.notify_die_search(die);
    }

    /// Sends a write to its die, which is chosen now; or to the open page of its destination, if pages fill.
    #[inline]
    pub(in crate::ssd) fn send_write(&mut self, id: TxnId, events: &mut EventQueue) {
        if self.host_side.filling.is_some() {
            return self.fill(id, events);
        }
        let place = self.place(self.txns[id].first);
        (self.txns[id].die, self.txns[id].plane) = (place.die, place.plane);
        self.submit(id, events);
    }
}
