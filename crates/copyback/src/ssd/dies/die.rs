//! A die as the engine sees it: the job that has reserved it, its waiting work, and the progress of its collection.

use crate::flash::command::Source;
use crate::observe::clocks::{Clocks, Occupant};
use crate::sim::index::{JobId, PlaneId};
use crate::sim::invariant::hold;

/// Places for the jobs that wait at a die: enough for one on each plane.
const WAITING_JOBS_MAX: usize = 8;

/// No time at which a collection began.
const NOT_COLLECTING: u64 = u64::MAX;

/// A die: the job that has reserved it, its waiting work, and the progress of its collection.
pub(in crate::ssd) struct DieState {
    /// The job that has reserved the die.
    reserved_by: JobId,
    /// When collection reserved the die, or began to collect a block of it while other work goes on; if a part of the
    /// run began later, when that began. Invariant: [`NOT_COLLECTING`] if no block of the die is collected.
    collecting_since_ns: u64,
    jobs: WaitingJobs,
    waits: WaitCounts,
    /// Planes whose collection waits for a request at the die, a bit each.
    planes_awaiting_request: u8,
    clocks: Clocks,
    point: PointState,
    arrivals: ArrivalMarks,
    /// The plane that takes the next write that is bound to no plane, if it has room. Invariant: a plane's offset.
    next_plane: u8,
    /// Invariant: if set, the die is in the list of marked dies.
    is_marked: bool,
}

/// Jobs that wait for a die, the earliest first.
struct WaitingJobs {
    jobs: [JobId; WAITING_JOBS_MAX],
    /// Invariant: at most one for each plane of the die, whatever their tasks.
    count: u8,
}

/// Counts of transactions that wait at a die. Each count is raised and lowered once for a transaction.
#[derive(Default)]
struct WaitCounts {
    /// Transactions that wait in the die's window or in front of it.
    all: u32,
    /// Invariant: the transactions in `all` that take no page of their own: reads, and requests of relocations.
    reads: u32,
    /// Invariant: the writes of high priority in `all`.
    high_priority: u32,
    /// Transactions that wait for a free page. Invariant: each of them counts in `all`.
    for_space: u32,
}

/// The preemption point of a die's collection.
struct PointState {
    point: PreemptionPoint,
    /// The plane that takes no read, and the plane that takes no write. Invariant: none unless the point is open.
    excluded: [PlaneId; 2],
    /// Time that the choice of the victim adds to the collection's first queue poll.
    choice_ns: u64,
}

/// The sequence numbers that state which transactions waited before which command.
#[derive(Default)]
struct ArrivalMarks {
    /// A write of high priority is served before the next collection.
    defers_to_high_priority: bool,
    /// Transactions with a smaller number had arrived when the die's collection began.
    before_collection: u64,
    /// Transactions with a smaller number had arrived at the start of the collection that ended last.
    before_last_collection: u64,
    /// Writes with a smaller number waited while a write for another plane was programmed alone.
    unaligned_before: u64,
}

/// The state of a die between two steps of its collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ssd) enum PreemptionPoint {
    /// The queue was not polled yet.
    Closed,
    /// The controller polls the queue until the die's event.
    Polling,
    /// Waiting requests may preempt.
    Open {
        /// Requests with this sequence number or a higher one arrived while the point was open.
        since: u64,
    },
}

/// No plane is excluded.
const NO_PLANES: [PlaneId; 2] = [PlaneId::NONE; 2];

impl DieState {
    /// A die at rest.
    pub fn new() -> Self {
        Self {
            reserved_by: JobId::NONE,
            collecting_since_ns: NOT_COLLECTING,
            jobs: WaitingJobs { jobs: [JobId::NONE; WAITING_JOBS_MAX], count: 0 },
            waits: WaitCounts::default(),
            planes_awaiting_request: 0,
            clocks: Clocks::new(),
            point: PointState { point: PreemptionPoint::Closed, excluded: NO_PLANES, choice_ns: 0 },
            arrivals: ArrivalMarks::default(),
            next_plane: 0,
            is_marked: false,
        }
    }

    // ---- marks and clocks -------------------------------------------------------------------------------------------

    /// Whether something changed for the die since it was last visited.
    #[inline(always)]
    pub fn is_marked(&self) -> bool {
        self.is_marked
    }

    /// Marks the die; returns whether it was not marked before. Only the table of dies calls this: it lists marked
    /// dies.
    #[inline(always)]
    pub(super) fn mark(&mut self) -> bool {
        !std::mem::replace(&mut self.is_marked, true)
    }

    #[inline(always)]
    pub(super) fn unmark(&mut self) {
        self.is_marked = false;
    }

    /// The clocks of the die: how its time was used.
    #[inline(always)]
    pub fn clocks(&self) -> &Clocks {
        &self.clocks
    }

    /// Charges the die's time to `occupant` from now on.
    #[inline(always)]
    pub fn switch_clock(&mut self, now_ns: u64, occupant: Occupant, is_held_by_gc: bool) {
        self.clocks.switch(now_ns, occupant, is_held_by_gc);
    }

    /// The occupant whose clock runs, and whether the clock of the time held by collection runs.
    pub fn running_clock(&self) -> (Occupant, bool) {
        self.clocks.running()
    }

    // ---- planes in turn ---------------------------------------------------------------------------------------------

    /// The plane that takes the next write that is bound to no plane, if it has room: its offset in the die.
    #[inline(always)]
    pub fn next_plane(&self) -> u32 {
        u32::from(self.next_plane)
    }

    /// The next such write takes the plane after this one, out of `planes`.
    #[inline(always)]
    pub fn pass_turn(&mut self, plane_offset: u32, planes: u32) {
        self.next_plane = ((plane_offset + 1) % planes) as u8;
    }

    /// The collection of a plane waits until a request waits at the die.
    pub fn await_request(&mut self, plane_offset: u32) {
        self.planes_awaiting_request |= 1 << plane_offset;
    }

    /// The collections of all its planes wait for a request, and no others.
    pub fn await_request_on_all(&mut self, planes: u32) {
        self.planes_awaiting_request = u8::MAX >> (u8::BITS - planes);
    }

    /// Whether a plane's collection waits for a request.
    #[inline(always)]
    pub fn has_planes_awaiting_request(&self) -> bool {
        self.planes_awaiting_request != 0
    }

    /// The planes whose collections wait for a request, a bit each. They wait no longer.
    pub fn take_planes_awaiting_request(&mut self) -> u8 {
        std::mem::take(&mut self.planes_awaiting_request)
    }

    // ---- the preemption point ---------------------------------------------------------------------------------------

    /// The state of the die between two steps of its collection.
    #[inline(always)]
    pub fn point(&self) -> PreemptionPoint {
        self.point.point
    }

    /// The controller begins to poll the queue.
    #[inline(always)]
    pub fn begin_poll(&mut self) {
        self.point.point = PreemptionPoint::Polling;
    }

    /// Opens the point: waiting requests may go before the next step. Later requests have this sequence number or more.
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

    /// Excludes a plane from reads and a plane from writes, until the point closes.
    #[inline(always)]
    pub fn exclude(&mut self, planes: [PlaneId; 2]) {
        self.point.excluded = planes;
    }

    /// Lengthens the next queue poll by this time.
    pub fn delay_poll(&mut self, choice_ns: u64) {
        self.point.choice_ns = choice_ns;
    }

    /// The additional time of the queue poll that begins now.
    #[inline(always)]
    pub fn take_poll_delay_ns(&mut self) -> u64 {
        std::mem::take(&mut self.point.choice_ns)
    }

    // ---- arrivals before collections --------------------------------------------------------------------------------

    /// A collection begins or continues; transactions with a smaller sequence number have arrived.
    pub(super) fn begin_turn_of_collection(&mut self, came_before: u64) {
        self.arrivals.before_collection = came_before;
    }

    /// A collection ended. `defers`: a waiting write of high priority is served before the next collection.
    pub fn end_turn_of_collection(&mut self, defers: bool) {
        self.arrivals.before_last_collection = self.arrivals.before_collection;
        self.arrivals.defers_to_high_priority = defers && self.waits.high_priority > 0;
    }

    /// Transactions with a smaller sequence number waited at the start of the collection that ended last.
    #[inline(always)]
    pub fn waited_before(&self) -> u64 {
        self.arrivals.before_last_collection
    }

    /// Whether a write of high priority is served before the next collection.
    #[inline(always)]
    pub fn defers_to_high_priority(&self) -> bool {
        self.arrivals.defers_to_high_priority
    }

    /// Sets whether a write of high priority is still to be served before the next collection.
    pub fn defer_to_high_priority(&mut self, defers: bool) {
        self.arrivals.defers_to_high_priority = defers;
    }

    /// Whether a write waited while a write for another plane was programmed alone.
    pub fn is_unaligned(&self, sequence: u64) -> bool {
        sequence < self.arrivals.unaligned_before
    }

    /// A write was programmed alone while others, with smaller sequence numbers, waited for other planes.
    pub fn note_unaligned(&mut self, before: u64) {
        self.arrivals.unaligned_before = before;
    }

    // ---- reservation ------------------------------------------------------------------------------------------------

    /// The job that has reserved the die, if one has.
    #[inline(always)]
    pub fn reserved_by(&self) -> JobId {
        self.reserved_by
    }

    /// Whether a job has reserved the die.
    #[inline(always)]
    pub fn is_reserved(&self) -> bool {
        self.reserved_by.is_some()
    }

    /// Since when a collection has reserved the die, or has collected a block of it while other work goes on.
    #[inline(always)]
    pub fn collecting_since_ns(&self) -> Option<u64> {
        (self.collecting_since_ns != NOT_COLLECTING).then_some(self.collecting_since_ns)
    }

    /// The time since a collection began to use the die.
    #[inline(always)]
    pub fn collecting_for_ns(&self, now_ns: u64) -> u64 {
        debug_assert_ne!(self.collecting_since_ns, NOT_COLLECTING, "no block of the die is collected");
        now_ns - self.collecting_since_ns
    }

    /// The time of collection was counted until now: later counts start here.
    pub fn count_collecting_from(&mut self, now_ns: u64) {
        if self.collecting_since_ns != NOT_COLLECTING {
            self.collecting_since_ns = now_ns;
        }
    }

    /// A job reserves the die. The table of dies counts reservations.
    pub(super) fn reserve(&mut self, id: JobId, source: Source, now_ns: u64) {
        self.reserved_by = id;
        self.collecting_since_ns = if source == Source::GC { now_ns } else { NOT_COLLECTING };
    }

    /// No job has reserved the die any longer. The table of dies counts reservations.
    pub(super) fn release(&mut self) {
        self.reserved_by = JobId::NONE;
        self.end_collecting();
    }

    /// A block of the die is collected from now on, while other work goes on.
    pub fn begin_collecting(&mut self, now_ns: u64) {
        self.collecting_since_ns = now_ns;
    }

    /// No block of the die is collected any longer.
    pub fn end_collecting(&mut self) {
        self.collecting_since_ns = NOT_COLLECTING;
    }

    // ---- jobs that wait ---------------------------------------------------------------------------------------------

    /// The number of jobs that wait for the die.
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

    /// A job no longer waits: another one does its work.
    pub fn remove_job(&mut self, id: JobId) {
        let waiting = &mut self.jobs.jobs[..usize::from(self.jobs.count)];
        let at = waiting.iter().position(|&job| job == id).expect("it waits");
        waiting[at..].rotate_left(1);
        self.jobs.count -= 1;
    }

    /// Removes the job that has waited longest from the waiting jobs.
    pub fn pop_job(&mut self) -> JobId {
        let id = self.first_job().expect("a job waits");
        self.jobs.jobs.rotate_left(1);
        self.jobs.count -= 1;
        id
    }

    // ---- transactions that wait -------------------------------------------------------------------------------------

    /// Transactions that wait at the die, in its window or in front of it.
    #[inline(always)]
    pub fn waiting(&self) -> u32 {
        self.waits.all
    }

    /// The waiting transactions that take no page of their own: reads, and requests of relocations.
    #[inline(always)]
    pub fn reads_waiting(&self) -> u32 {
        self.waits.reads
    }

    /// The waiting writes of high priority.
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

    /// A transaction no longer waits.
    #[inline(always)]
    pub fn end_wait(&mut self, is_write: bool, is_high_priority: bool) {
        self.waits.all -= 1;
        self.waits.reads -= u32::from(!is_write);
        self.waits.high_priority -= u32::from(is_write && is_high_priority);
    }

    /// Transactions that wait for a free page.
    #[inline(always)]
    pub fn waiting_for_space(&self) -> u32 {
        self.waits.for_space
    }

    /// A transaction begins to wait for a free page.
    pub(super) fn begin_wait_for_space(&mut self) {
        self.waits.for_space += 1;
    }

    /// A transaction no longer waits for a free page.
    pub(super) fn end_wait_for_space(&mut self) {
        self.waits.for_space -= 1;
    }
}

/// The counts that tests change, to see that the checks notice.
#[cfg(test)]
pub(in crate::ssd) struct Inside<'a> {
    pub waiting: &'a mut u32,
    pub reads_waiting: &'a mut u32,
    pub high_priority_waiting: &'a mut u32,
}

#[cfg(test)]
impl DieState {
    pub fn inside(&mut self) -> Inside<'_> {
        Inside {
            waiting: &mut self.waits.all,
            reads_waiting: &mut self.waits.reads,
            high_priority_waiting: &mut self.waits.high_priority,
        }
    }
}
