//! A die as the engine sees it: the job that has it, what waits for it, and how far its collection is.

use crate::flash::command::Source;
use crate::observe::clocks::{Clocks, Occupant};
use crate::sim::index::{JobId, PlaneId};
use crate::sim::invariant::hold;

/// Jobs that can wait at a die: one for each plane, and as many of other tasks.
const WAITING_JOBS_MAX: usize = 8;

/// No time at which a collection began.
const NOT_COLLECTING: u64 = u64::MAX;

/// A die: the job that has it, what waits at it, and how far its collection is.
pub(in crate::ssd) struct Die {
    /// The job that has the die to itself.
    reserved_by: JobId,
    /// When collection reserved the die, or began to collect a block of it beside other work.
    /// Invariant: [`NOT_COLLECTING`] if no block of the die is collected.
    collecting_since_ns: u64,
    jobs: WaitingJobs,
    waits: WaitCounts,
    /// Planes whose collection was put off until a request waits here, a bit each.
    planes_put_off: u8,
    clocks: Clocks,
    point: PointState,
    turns: Turns,
    /// The plane that the next write which is bound to no plane takes, if it has room. Invariant: a plane's offset.
    next_plane: u8,
    /// Invariant: the die is in the list of marked dies if this is set.
    is_marked: bool,
}

/// Jobs that wait for a die, the longest first.
struct WaitingJobs {
    jobs: [JobId; WAITING_JOBS_MAX],
    /// Invariant: at most one for each plane, and one for each other task.
    count: u8,
}

/// How many transactions wait at a die. Each count goes up and down in pairs.
#[derive(Default)]
struct WaitCounts {
    /// Transactions that wait in the die's window or in front of it.
    all: u32,
    /// Invariant: those among `all` that take no page of their own: reads, and requests of relocations.
    reads: u32,
    /// Invariant: the writes among `all` that are of high priority.
    high_priority: u32,
    /// Transactions that wait for a page to land on. Invariant: each of them counts among `all`.
    for_space: u32,
}

/// The preemption point of a die's collection.
struct PointState {
    point: PreemptionPoint,
    /// The plane that takes no read, and the one that takes no write. Invariant: none unless the point is open.
    excluded: [PlaneId; 2],
    /// Time that the choice of the victim adds to the collection's first queue poll.
    choice_ns: u64,
}

/// Which transactions waited before which command: sequence numbers.
#[derive(Default)]
struct Turns {
    /// A write of high priority goes before the next collection.
    defers_to_high_priority: bool,
    /// Transactions of a smaller number had come when the die's collection began.
    before_collection: u64,
    /// The same of the last collection that ended.
    before_last_collection: u64,
    /// Writes of a smaller number waited while one for another plane was programmed alone.
    unaligned_before: u64,
}

/// How far a die has come between two steps of its collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ssd) enum PreemptionPoint {
    /// The queue was not polled yet.
    Closed,
    /// The controller polls the queue, until the die's event.
    Polling,
    /// What waits may go first.
    Open {
        /// The place in the order of arrival from which on requests came while it was open.
        since: u64,
    },
}

/// No plane is excluded.
const NO_PLANES: [PlaneId; 2] = [PlaneId::NONE; 2];

impl Die {
    /// A die at rest.
    pub fn new() -> Self {
        Self {
            reserved_by: JobId::NONE,
            collecting_since_ns: NOT_COLLECTING,
            jobs: WaitingJobs { jobs: [JobId::NONE; WAITING_JOBS_MAX], count: 0 },
            waits: WaitCounts::default(),
            planes_put_off: 0,
            clocks: Clocks::new(),
            point: PointState { point: PreemptionPoint::Closed, excluded: NO_PLANES, choice_ns: 0 },
            turns: Turns::default(),
            next_plane: 0,
            is_marked: false,
        }
    }

    // ---- marks and clocks -------------------------------------------------------------------------------------------

    /// Whether something changed for the die, and nothing has looked at it since.
    #[inline(always)]
    pub fn is_marked(&self) -> bool {
        self.is_marked
    }

    /// Marks the die; whether it was not marked before. Called by the table of dies alone, which lists marked dies.
    #[inline(always)]
    pub(super) fn mark(&mut self) -> bool {
        !std::mem::replace(&mut self.is_marked, true)
    }

    #[inline(always)]
    pub(super) fn unmark(&mut self) {
        self.is_marked = false;
    }

    /// The clocks of the die: where time went at it.
    #[inline(always)]
    pub fn clocks(&self) -> &Clocks {
        &self.clocks
    }

    /// The die's time goes to `occupant` from now on.
    #[inline(always)]
    pub fn switch_clock(&mut self, now_ns: u64, occupant: Occupant, is_held_by_gc: bool) {
        self.clocks.switch(now_ns, occupant, is_held_by_gc);
    }

    // ---- planes in turn ---------------------------------------------------------------------------------------------

    /// The plane that the next write which is bound to no plane takes, if it has room: its offset in the die.
    #[inline(always)]
    pub fn next_plane(&self) -> u32 {
        u32::from(self.next_plane)
    }

    /// The next such write takes the plane behind this one, of so many.
    #[inline(always)]
    pub fn pass_turn(&mut self, plane_offset: u32, planes: u32) {
        self.next_plane = ((plane_offset + 1) % planes) as u8;
    }

    /// The collection of a plane is put off until a request waits at the die.
    pub fn put_off_collection(&mut self, plane_offset: u32) {
        self.planes_put_off |= 1 << plane_offset;
    }

    /// The same of all its planes, and of no others.
    pub fn put_off_all_collections(&mut self, planes: u32) {
        self.planes_put_off = u8::MAX >> (u8::BITS - planes);
    }

    /// Whether a plane's collection was put off.
    #[inline(always)]
    pub fn has_put_off_collection(&self) -> bool {
        self.planes_put_off != 0
    }

    /// The planes whose collections were put off, a bit each; they are no longer.
    pub fn take_put_off_collections(&mut self) -> u8 {
        std::mem::take(&mut self.planes_put_off)
    }

    // ---- the preemption point ---------------------------------------------------------------------------------------

    /// How far its collection is between two steps.
    #[inline(always)]
    pub fn point(&self) -> PreemptionPoint {
        self.point.point
    }

    /// The controller begins to poll the queue.
    #[inline(always)]
    pub fn begin_poll(&mut self) {
        self.point.point = PreemptionPoint::Polling;
    }

    /// What waits may go before the next step. Requests of this sequence number and later ones come while it may.
    #[inline(always)]
    pub fn open_point(&mut self, since: u64) {
        self.point.point = PreemptionPoint::Open { since };
    }

    /// The collection takes its next step.
    #[inline(always)]
    pub fn close_point(&mut self) {
        (self.point.point, self.point.excluded) = (PreemptionPoint::Closed, NO_PLANES);
    }

    /// The planes that take no read, and no write, while the preemption point is open.
    #[inline(always)]
    pub fn excluded(&self) -> [PlaneId; 2] {
        self.point.excluded
    }

    /// A plane takes no read, and one no write, until the point closes.
    #[inline(always)]
    pub fn exclude(&mut self, planes: [PlaneId; 2]) {
        self.point.excluded = planes;
    }

    /// The next queue poll takes so much longer.
    pub fn delay_poll(&mut self, choice_ns: u64) {
        self.point.choice_ns = choice_ns;
    }

    /// How much longer the queue poll that begins now takes.
    #[inline(always)]
    pub fn take_poll_delay_ns(&mut self) -> u64 {
        std::mem::take(&mut self.point.choice_ns)
    }

    // ---- turns of the collection and of requests --------------------------------------------------------------------

    /// A collection begins, or goes on; transactions of a smaller sequence number have come.
    pub(super) fn begin_turn_of_collection(&mut self, came_before: u64) {
        self.turns.before_collection = came_before;
    }

    /// A collection ended. `defers`: a write of high priority that waits goes before the next one.
    pub fn end_turn_of_collection(&mut self, defers: bool) {
        self.turns.before_last_collection = self.turns.before_collection;
        self.turns.defers_to_high_priority = defers && self.waits.high_priority > 0;
    }

    /// Transactions of a smaller sequence number waited when the last collection that ended began.
    #[inline(always)]
    pub fn waited_before(&self) -> u64 {
        self.turns.before_last_collection
    }

    /// Whether a write of high priority goes before the next collection.
    #[inline(always)]
    pub fn defers_to_high_priority(&self) -> bool {
        self.turns.defers_to_high_priority
    }

    /// A write of high priority has gone, or still has to go, before the next collection.
    pub fn defer_to_high_priority(&mut self, defers: bool) {
        self.turns.defers_to_high_priority = defers;
    }

    /// Whether a write waited while one for another plane was programmed alone.
    pub fn is_unaligned(&self, sequence: u64) -> bool {
        sequence < self.turns.unaligned_before
    }

    /// A write was programmed alone while others, of smaller sequence numbers, waited for other planes.
    pub fn note_unaligned(&mut self, before: u64) {
        self.turns.unaligned_before = before;
    }

    // ---- reservation ------------------------------------------------------------------------------------------------

    /// The job that has it to itself, if one has.
    #[inline(always)]
    pub fn reserved_by(&self) -> JobId {
        self.reserved_by
    }

    /// Whether a job has it to itself.
    #[inline(always)]
    pub fn is_reserved(&self) -> bool {
        self.reserved_by.is_some()
    }

    /// Since when collection has it, or a block of it is collected beside other work.
    #[inline(always)]
    pub fn collecting_since_ns(&self) -> Option<u64> {
        (self.collecting_since_ns != NOT_COLLECTING).then_some(self.collecting_since_ns)
    }

    /// For how long, of a die of which something is collected.
    #[inline(always)]
    pub fn collecting_for_ns(&self, now_ns: u64) -> u64 {
        debug_assert_ne!(self.collecting_since_ns, NOT_COLLECTING, "no block of the die is collected");
        now_ns - self.collecting_since_ns
    }

    /// What collection has had of it was counted until now: the count goes on from here.
    pub fn count_collecting_from(&mut self, now_ns: u64) {
        if self.collecting_since_ns != NOT_COLLECTING {
            self.collecting_since_ns = now_ns;
        }
    }

    /// A job has it to itself from now on. The table of dies counts reservations.
    pub(super) fn reserve(&mut self, id: JobId, source: Source, now_ns: u64) {
        self.reserved_by = id;
        self.collecting_since_ns = if source == Source::GC { now_ns } else { NOT_COLLECTING };
    }

    /// No job has it to itself any longer. The table of dies counts reservations.
    pub(super) fn release(&mut self) {
        self.reserved_by = JobId::NONE;
        self.end_collecting();
    }

    /// A block of it is collected from now on, beside other work.
    pub fn begin_collecting(&mut self, now_ns: u64) {
        self.collecting_since_ns = now_ns;
    }

    /// No block of it is collected any longer.
    pub fn end_collecting(&mut self) {
        self.collecting_since_ns = NOT_COLLECTING;
    }

    // ---- jobs that wait ---------------------------------------------------------------------------------------------

    /// How many jobs wait for it.
    #[inline(always)]
    pub fn jobs_waiting(&self) -> u32 {
        u32::from(self.jobs.count)
    }

    /// The job that has waited longest.
    #[inline(always)]
    pub fn first_job(&self) -> Option<JobId> {
        (self.jobs.count > 0).then_some(self.jobs.jobs[0])
    }

    /// A job waits.
    pub fn push_job(&mut self, id: JobId) {
        let count = usize::from(self.jobs.count);
        hold!(count < WAITING_JOBS_MAX, OneJob, "{id:?} is one job too many for a die");
        self.jobs.jobs[count] = id;
        self.jobs.count += 1;
    }

    /// A job waits no longer: another one does its work.
    pub fn remove_job(&mut self, id: JobId) {
        let waiting = &mut self.jobs.jobs[..usize::from(self.jobs.count)];
        let at = waiting.iter().position(|&job| job == id).expect("it waits");
        waiting[at..].rotate_left(1);
        self.jobs.count -= 1;
    }

    /// The job that has waited longest waits no longer.
    pub fn pop_job(&mut self) -> JobId {
        let id = self.first_job().expect("a job waits");
        self.jobs.jobs.rotate_left(1);
        self.jobs.count -= 1;
        id
    }

    // ---- transactions that wait -------------------------------------------------------------------------------------

    /// Host transactions that wait at the die, in its window or in front of it.
    #[inline(always)]
    pub fn waiting(&self) -> u32 {
        self.waits.all
    }

    /// Reads of those.
    #[inline(always)]
    pub fn reads_waiting(&self) -> u32 {
        self.waits.reads
    }

    /// Writes of those that are of high priority.
    #[inline(always)]
    pub fn high_priority_waiting(&self) -> u32 {
        self.waits.high_priority
    }

    /// A transaction begins to wait.
    #[inline(always)]
    pub fn begin_wait(&mut self, is_write: bool, is_high_priority: bool) {
        self.waits.all += 1;
        self.waits.reads += u32::from(!is_write);
        self.waits.high_priority += u32::from(is_write && is_high_priority);
    }

    /// It waits no longer.
    #[inline(always)]
    pub fn end_wait(&mut self, is_write: bool, is_high_priority: bool) {
        self.waits.all -= 1;
        self.waits.reads -= u32::from(!is_write);
        self.waits.high_priority -= u32::from(is_write && is_high_priority);
    }

    /// Transactions that wait for a page to land on.
    #[inline(always)]
    pub fn waiting_for_space(&self) -> u32 {
        self.waits.for_space
    }

    /// One begins to.
    pub(super) fn begin_wait_for_space(&mut self) {
        self.waits.for_space += 1;
    }

    /// One waits no longer.
    pub(super) fn end_wait_for_space(&mut self) {
        self.waits.for_space -= 1;
    }
}

/// What tests change from outside, to see that it is noticed.
#[cfg(test)]
pub(in crate::ssd) struct Inside<'a> {
    pub waiting: &'a mut u32,
    pub reads_waiting: &'a mut u32,
    pub high_priority_waiting: &'a mut u32,
}

#[cfg(test)]
impl Die {
    pub fn inside(&mut self) -> Inside<'_> {
        Inside {
            waiting: &mut self.waits.all,
            reads_waiting: &mut self.waits.reads,
            high_priority_waiting: &mut self.waits.high_priority,
        }
    }
}
