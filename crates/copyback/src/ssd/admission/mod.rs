//! Admission: from a transaction's arrival at its die into the die's queue.
//!
//! Two things may keep it out: no slot of the window, and for a write no page to land on (`awaiting_space`). Both are
//! waited for in order.

pub(super) mod shared_space;
pub(super) mod space_waiters;
pub(super) mod task_shares;

use crate::dispatch::admit::{AdmitPolicy, Change, Entry, View};
use crate::dispatch::txn::Role;
use crate::flash::command::{FlashOp, Source};
use crate::flash::geometry::Geometry;
use crate::ftl::allocation::{Load, Place};
use crate::ftl::space::{Anywhere, Moves, OwnMoves};
use crate::observe::clocks::charge;
use crate::sim::index::{DieId, JobId, LogicalUnit, PlaneId, TxnId};
use crate::sim::invariant::{Invariant, broken, hold};
use crate::sim::queue::EventQueue;
use crate::ssd::drive::{Drive, Queue};
use crate::tasks::gc::granularity::GranularityPolicy;
use crate::tasks::view::DriveView;

/// The dies' loads as an allocation policy sees them.
struct Loads<'a>(&'a Drive);

impl Load for Loads<'_> {
    fn is_collecting(&self, die: DieId) -> bool {
        let d = &self.0.dies[die.at()];
        d.is_reserved() || d.jobs_waiting() > 0
    }
    fn queued(&self, die: DieId) -> u32 {
        self.0.queued(die)
    }
    fn free_pages(&self, die: DieId) -> u32 {
        self.0.reservable(die, PlaneId::NONE)
    }
}

impl DriveView for Drive {
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

/// The jobs of planes as space sees them.
pub(in crate::ssd) struct PlaneJobs<'a>(pub &'a Drive);

impl Moves for PlaneJobs<'_> {
    #[inline]
    fn own(&self, plane: PlaneId) -> OwnMoves {
        let drive = self.0;
        let id = drive.job_of_plane[plane.at()];
        if drive.relocations.are_tasks() {
            return match drive.relocations.room.is_some() {
                true => OwnMoves::default(),
                false => drive.relocations.own(plane),
            };
        }
        // A merge programs blocks that are kept for it.
        if id.is_none() || drive.is_merge(id) {
            return OwnMoves::default();
        }
        let job = &drive.jobs[id.at()];
        let pages = match drive.keeps_moves_left(id) {
            false => job.pages_left(drive.geometry.units_per_page),
            true => job.pages_left_on(plane),
        };
        OwnMoves { pages, has_begun: job.beginning().is_some() }
    }

    #[inline(always)]
    fn anywhere(&self, plane: PlaneId) -> Option<Anywhere> {
        self.0.anywhere(plane)
    }
}

impl Drive {
    /// Whether a collection keeps how many pages it has left on each plane: moves of several blocks tell that by their
    /// planes, and a row of a superpage is programmed as one, however few of its units are left.
    #[inline(always)]
    pub(in crate::ssd) fn keeps_moves_left(&self, id: JobId) -> bool {
        self.jobs[id.at()].footprint().is_row() || self.geometry.has_superpages()
    }

    /// Where the page of a unit will go.
    pub(crate) fn place(&mut self, unit: LogicalUnit) -> Place {
        let home = self.home(unit);
        if home.die.is_some() {
            return home;
        }
        let place = self.ftl.allocation().place(unit, &Loads(self));
        self.ftl.on_placed(place);
        place
    }

    /// Where the page of a unit goes as far as that is a function of its address.
    #[inline]
    pub(crate) fn home(&self, unit: LogicalUnit) -> Place {
        if let Some(plane) = self.ftl.allocation().static_plane(unit) {
            return Place { die: self.geometry.die_of(plane), plane };
        }
        let die = self.ftl.allocation().static_die(unit).unwrap_or(DieId::NONE);
        Place { die, plane: PlaneId::NONE }
    }

    /// Transactions that wait at a die or that it works on.
    #[inline]
    pub(in crate::ssd) fn queued(&self, die: DieId) -> u32 {
        self.dies[die.at()].waiting() + u32::from(!self.flash.is_ready(die))
    }

    /// Forgets the data of units. A write that was handed over before is older, and comes too late.
    pub(crate) fn trim(&mut self, first: LogicalUnit, units: u32) {
        self.newest.track();
        let sequence = self.txns.take_sequence();
        for unit in (first.0..first.0 + units).map(LogicalUnit) {
            self.newest.is_newest(unit, sequence);
            self.ftl.trim(unit);
            self.on_moved(unit);
            if let Some(filling) = &mut self.filling {
                filling.trim(unit);
            }
            if let Some(shadow) = &mut self.shadow {
                shadow.trim(unit, sequence);
            }
        }
    }

    /// A transaction arrives at its die.
    pub(crate) fn submit(&mut self, id: TxnId, events: &mut EventQueue) {
        self.wake_shares(events);
        let die = self.txns[id].die;
        self.txns[id].clocks = self.dies[die.at()].clocks.read(events.now_ns());
        self.dies[die.at()].begin_wait(self.txns[id].role.is_write(), self.txns[id].high_priority);
        if self.dies[die.at()].planes_below != 0 {
            self.start_awaited_collection(die, events);
        }
        // Whoever would have to wait is asked before, and those who came first make no difference.
        if self.settings.tells_tasks_apart && self.txns[id].task == Source::Host {
            self.arrived[usize::from(self.txns[id].role.is_write())] += 1;
        }
        if self.settings.tells_tasks_apart && !self.may_enter(id) && self.goes_elsewhere(id, false, events) {
            return;
        }
        self.enter_or_wait(id, events);
    }

    /// Whether a transaction that comes now need not wait in front of its die's window for lack of a slot, or behind
    /// others of its task.
    fn may_enter(&self, id: TxnId) -> bool {
        let (die, task) = (self.txns[id].die, self.txns[id].task);
        self.windows.has_room(die) && self.queues.is_empty(self.queues.in_front(die, task))
    }

    /// A transaction enters its die's window, or waits in front of it.
    #[inline(always)]
    pub(in crate::ssd) fn enter_or_wait(&mut self, id: TxnId, events: &mut EventQueue) {
        if self.queues.is_empty(self.queues.in_front(self.txns[id].die, self.txns[id].task)) {
            self.admit(id, events);
        } else {
            // A slot that is free is kept for a job; others came before.
            self.wait_in_front(id, events);
        }
    }

    #[inline(always)]
    pub(in crate::ssd) fn is_high_priority_write(&self, id: TxnId) -> bool {
        self.txns[id].high_priority && self.txns[id].role.is_write()
    }

    /// Lets a transaction into its die's queue, or lets it wait in front.
    pub(in crate::ssd) fn admit(&mut self, id: TxnId, events: &mut EventQueue) {
        if self.lacks_space(id) {
            return self.wait_for_space(id, events);
        }
        let entry = Entry { task: self.txns[id].task, die: self.txns[id].die };
        let waits_for_gc = self.waits_for_gc();
        let Self { windows, queues, txns, admit, .. } = self;
        let view = View { windows, queues, txns, waits_for_gc };
        if windows.has_room(entry.die) && admit.enters(entry, &view) {
            self.enter(id, events);
        } else {
            self.wait_in_front(id, events);
        }
    }

    /// Whether a request of the host waits for what only a collection can do.
    #[inline(always)]
    pub(in crate::ssd) fn waits_for_gc(&self) -> bool {
        self.waiting_for_gc > 0
    }

    /// Somebody has begun to wait for a collection, which may have more slots now.
    #[cold]
    pub(in crate::ssd) fn heed_guard(&mut self, events: &mut EventQueue) {
        if self.settings.tells_tasks_apart {
            self.let_all_in(Change::Limits, events);
        }
    }

    /// Lets a transaction wait in front of its die's window.
    fn wait_in_front(&mut self, id: TxnId, events: &mut EventQueue) {
        if self.is_spoken_for(id) {
            return self.wait_for_space(id, events);
        }
        self.park(id);
        if self.flash_requests.is_some() {
            self.split_wait(id, events.now_ns(), false);
        }
        let (die, task) = (self.txns[id].die, self.txns[id].task);
        let list = self.queues.in_front(die, task);
        let is_first = self.queues.is_empty(list);
        self.admit.on_wait(Entry { task, die }, is_first);
        self.enqueue(list, id);
        self.windows.set_waiting(die, task, true);
        if is_first {
            self.tell_of_head(Entry { task, die });
        }
    }

    /// The policy hears that another request, or none, is first in a waiting list.
    #[inline(always)]
    pub(in crate::ssd) fn tell_of_head(&mut self, list: Entry) {
        if !self.settings.tells_tasks_apart {
            return;
        }
        let waits_for_gc = self.waits_for_gc();
        let Self { windows, queues, txns, admit, .. } = self;
        admit.on_head(list, &View { windows, queues, txns, waits_for_gc });
    }

    /// A transaction enters its die's window.
    #[inline(always)]
    fn enter(&mut self, id: TxnId, events: &mut EventQueue) {
        let (die, plane, role) = (self.txns[id].die, self.txns[id].plane, self.txns[id].role);
        if self.settings.tells_tasks_apart && self.goes_elsewhere(id, true, events) {
            return;
        }
        self.windows.enter(die, self.txns[id].task);
        if self.settings.tells_tasks_apart {
            self.tell_of_entry(id);
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

    /// The policy hears of a transaction that enters.
    #[inline(never)]
    fn tell_of_entry(&mut self, id: TxnId) {
        self.entered += 1;
        let (timing, units_per_page) = (self.flash.timing(), self.geometry.units_per_page);
        let txn = &mut self.txns[id];
        txn.entered = self.entered;
        let (op, units) = match txn.role {
            Role::JobErase => (FlashOp::Erase, 0),
            // Of pages of several units nobody knows before whether they are valid as a whole.
            Role::JobRead if units_per_page == 1 && self.granularity.copies_back() => (FlashOp::Copyback, 0),
            Role::JobRead => (FlashOp::Read, self.relocations.get(txn.job).units_per_read()),
            role if role.is_read() => (FlashOp::Read, txn.units),
            _ => (FlashOp::Program, units_per_page),
        };
        // The pages of a row go over the channel one after the other.
        let page_units = self.geometry.units_per_flash_page;
        let pages_ns = u64::from(units / page_units) * timing.transfer_ns(page_units);
        let transfer_ns = match units % page_units {
            0 => pages_ns,
            rest => pages_ns + timing.transfer_ns(rest),
        };
        let entry = Entry { task: txn.task, die: txn.die };
        let is_backlogged = self.windows.waiting(entry.die).has(entry.task);
        self.admit.on_enter(entry, timing.page_ns(op, 0) + transfer_ns, is_backlogged);
    }

    /// Pages that can still be reserved for host writes on a plane, or on a die where the plane is open.
    #[inline]
    pub(in crate::ssd) fn reservable(&self, die: DieId, plane: PlaneId) -> u32 {
        self.space.reservable(&self.ftl, &PlaneJobs(self), die, plane)
    }

    /// Pages of a plane onto which host writes that were admitted can go now.
    #[inline]
    pub(in crate::ssd) fn host_pages_left(&self, plane: PlaneId) -> u32 {
        self.space.host_pages_left(&self.ftl, &PlaneJobs(self), plane)
    }

    /// Whether a plane takes another page of another plane's job and still has what is reserved on it.
    pub(in crate::ssd) fn accepts_move(&self, plane: PlaneId) -> bool {
        self.would_accept_move(plane, PlaneId::NONE)
    }

    /// The same when the job of another plane, if it is one, has begun to move a whole block.
    pub(in crate::ssd) fn would_accept_move(&self, plane: PlaneId, beginning: PlaneId) -> bool {
        let bound = if self.ftl.allocation().is_static() { plane } else { PlaneId::NONE };
        // Room that it makes is for its own writes: planes that give theirs away send data round in a ring.
        self.queues.is_empty(self.space_queue(self.geometry.die_of(plane), bound))
            && self.space.accepts_move(&self.ftl, &PlaneJobs(self), plane, bound, beginning)
    }

    /// A job gives back its slot of a die's window.
    pub(in crate::ssd) fn release_slot(&mut self, die: DieId, events: &mut EventQueue) {
        self.windows.free_slot(die);
        self.after_slot(die, None, events);
    }

    /// A transaction of a task leaves its die's window.
    #[inline(always)]
    pub(in crate::ssd) fn leave_window(&mut self, die: DieId, task: Source, events: &mut EventQueue) {
        self.windows.leave(die, task);
        self.after_slot(die, Some(task), events);
    }

    /// A slot of a die's window became free: jobs first, then whoever waits.
    #[inline(always)]
    fn after_slot(&mut self, die: DieId, task: Option<Source>, events: &mut EventQueue) {
        // A window whose transactions were split may be full still; their task may have room elsewhere.
        if !self.windows.has_room(die) && !self.settings.tells_tasks_apart {
            return;
        }
        let d = &self.dies[die.at()];
        if d.jobs_waiting() > 0 && !d.is_reserved() && !d.defers_to_high_priority {
            // The job takes its slot when the die is reserved for it.
            return self.keep_slot(die);
        }
        self.let_all_in(Change::Slot { die, task }, events);
    }

    /// The policy hears of a slot that is free and kept for a job.
    #[cold]
    fn keep_slot(&mut self, die: DieId) {
        let waits_for_gc = self.waits_for_gc();
        let Self { windows, queues, txns, admit, .. } = self;
        admit.on_kept_slot(die, &View { windows, queues, txns, waits_for_gc });
    }

    /// A slot of a die's window is free that no task had: those who wait are let in.
    pub(in crate::ssd) fn fill_window(&mut self, die: DieId, events: &mut EventQueue) {
        self.let_all_in(Change::Slot { die, task: None }, events);
    }

    /// Lets those who wait in front of windows in, as the policy says now that something has changed for them.
    #[inline(always)]
    pub(in crate::ssd) fn let_all_in(&mut self, change: Change, events: &mut EventQueue) -> bool {
        let waits_for_gc = self.waits_for_gc();
        let Self { windows, queues, txns, admit, .. } = self;
        let view = View { windows, queues, txns, waits_for_gc };
        let first = admit.next(change, &view);
        if let Some(entry) = first {
            self.let_in(entry, change, events);
        }
        first.is_some()
    }

    /// Lets the first of a waiting list in, and whoever follows.
    #[inline(never)]
    fn let_in(&mut self, first: Entry, change: Change, events: &mut EventQueue) {
        let mut next = Some(first);
        while let Some(entry) = next {
            let list = self.queues.in_front(entry.die, entry.task);
            let first = self.queues.pop_front(list).map(TxnId);
            let id = first.unwrap_or_else(|| broken(Invariant::Window, format_args!("nobody waits for {entry:?}")));
            self.windows.set_waiting(entry.die, entry.task, !self.queues.is_empty(list));
            self.tell_of_head(entry);
            self.unpark(id);
            if self.flash_requests.is_some() {
                self.split_wait(id, events.now_ns(), true);
            }
            if self.lacks_space(id) {
                self.wait_for_space(id, events);
            } else {
                hold!(self.windows.has_room(entry.die), Window, "{entry:?} finds no slot");
                self.enter(id, events);
            }
            let waits_for_gc = self.waits_for_gc();
            let Self { windows, queues, txns, admit, .. } = self;
            let view = View { windows, queues, txns, waits_for_gc };
            next = admit.next(change, &view);
        }
    }

    /// A read's data moved to another die while it waited: it goes on waiting there.
    pub(in crate::ssd) fn redirect(&mut self, id: TxnId, to: DieId, events: &mut EventQueue) {
        let (from, task) = (self.txns[id].die, self.txns[id].task);
        self.stop_waiting(id, events.now_ns());
        self.txns[id].die = to;
        self.leave_window(from, task, events);
        self.submit(id, events);
    }

    /// A transaction's command is issued, or it goes elsewhere: what it waited for is charged.
    #[inline]
    pub(in crate::ssd) fn stop_waiting(&mut self, id: TxnId, now_ns: u64) {
        if self.flash_requests.is_some() {
            return self.stop_waiting_counted(id, now_ns);
        }
        self.charge_wait(id, now_ns);
    }

    #[inline(always)]
    pub(in crate::ssd) fn charge_wait(&mut self, id: TxnId, now_ns: u64) {
        let txn = &mut self.txns[id];
        let die = &mut self.dies[txn.die.at()];
        die.end_wait(txn.role.is_write(), txn.high_priority);
        let held = charge(&mut txn.breakdown_ns, &txn.clocks, &die.clocks.read(now_ns));
        txn.gc_affected |= held;
    }

    /// Ends a transaction: whoever waits for it hears of it, and its slot is free.
    #[inline(always)]
    pub(in crate::ssd) fn finish_txn(&mut self, id: TxnId, events: &mut EventQueue) {
        let (die, successor, task) = (self.txns[id].die, self.txns[id].successor, self.txns[id].task);
        if successor.is_some() {
            self.resolve(id, successor, events);
            self.txns.remove(id);
        } else {
            self.done.push_back(id);
        }
        self.leave_window(die, task, events);
    }

    /// One of the transactions that `successor` waits for ended. The last read for a write hands its latency breakdown
    /// on: until then nothing else kept the successor.
    pub(in crate::ssd) fn resolve(&mut self, id: TxnId, successor: TxnId, events: &mut EventQueue) {
        let (role, breakdown_ns, gc_affected) =
            (self.txns[id].role, self.txns[id].breakdown_ns, self.txns[id].gc_affected);
        let unit = self.txns[id].first;
        let waiter = &mut self.txns[successor];
        waiter.waits_for -= 1;
        waiter.gc_affected |= gc_affected;
        let goes_on = waiter.waits_for == 0;
        if role == Role::MapWrite {
            return self.end_write_back(unit, goes_on.then_some(successor), events);
        }
        if !goes_on {
            return;
        }
        match role {
            Role::MapRead => return self.write_what_was_read(successor, events),
            Role::ParityRead => return self.send_write(successor, events),
            _ => waiter.breakdown_ns = breakdown_ns,
        }
        if role == Role::Rebuild {
            return self.end_rebuilt(successor, events);
        }
        if self.looks_up() {
            return self.look_up_in_turn(successor, events);
        }
        self.send_write(successor, events);
    }

    /// A write goes where its data is to be, which is decided now, or to the page that is open there.
    #[inline]
    pub(in crate::ssd) fn send_write(&mut self, id: TxnId, events: &mut EventQueue) {
        if self.filling.is_some() {
            return self.fill(id, events);
        }
        let place = self.place(self.txns[id].first);
        (self.txns[id].die, self.txns[id].plane) = (place.die, place.plane);
        self.submit(id, events);
    }
}
