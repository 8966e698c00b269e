//! One die as the drive sees it: who has it, who waits for it, and how far its collection has come.
//!
//! Counters go up and down in pairs here, and nowhere else.

use crate::flash::command::Source;
use crate::observe::clocks::Clocks;
use crate::sim::index::{JobId, PlaneId};
use crate::sim::invariant::hold;
use crate::ssd::gc::preemption_points::{NO_PLANES, PreemptionPoint};

/// Jobs that can wait at a die: one for each plane, and as many of other tasks.
const WAITING_JOBS_MAX: usize = 8;

/// No time at which a collection began.
const NOT_COLLECTING: u64 = u64::MAX;

/// What waits at one die, and who has it.
pub(in crate::ssd) struct Die {
    reserved_by: JobId,
    /// Since when collection has it, or a block of it is collected beside other work.
    collecting_since_ns: u64,
    waiting_jobs: [JobId; WAITING_JOBS_MAX],
    waiting_jobs_count: u8,
    /// Host transactions that wait at the die, in its window or in front of it.
    waiting: u32,
    /// Reads of those.
    reads_waiting: u32,
    /// Writes of those that are of high priority.
    high_priority_waiting: u32,
    /// Transactions that wait for a page to land on.
    waiting_for_space: u32,
    /// Planes, a bit each, that are below the watermark of a trigger which waits for a request.
    pub planes_below: u8,
    pub clocks: Clocks,
    /// How far its collection has come between two steps.
    pub point: PreemptionPoint,
    /// Planes that take no read, and no write, while that preemption point is open.
    pub excluded: [PlaneId; 2],
    /// What the choice of the collection's victim adds to its first queue poll.
    pub choice_ns: u64,
    /// A write of high priority goes before the next collection.
    pub defers_to_high_priority: bool,
    /// Transactions of a smaller sequence number had come when its collection began.
    pub came_before_collection: u64,
    /// The same of the last collection that ended.
    pub waited_before: u64,
    /// Writes of a smaller sequence number waited while one for another plane was programmed alone.
    pub unaligned_before: u64,
    /// Which of its planes the next write that is bound to none goes to, if it has room.
    pub next_plane: u8,
    /// Whether it stands in the list of dies for which something changed.
    pub is_marked: bool,
}

impl Die {
    pub fn new() -> Self {
        Self {
            reserved_by: JobId::NONE,
            collecting_since_ns: NOT_COLLECTING,
            waiting_jobs: [JobId::NONE; WAITING_JOBS_MAX],
            waiting_jobs_count: 0,
            waiting: 0,
            reads_waiting: 0,
            high_priority_waiting: 0,
            waiting_for_space: 0,
            planes_below: 0,
            clocks: Clocks::new(),
            point: PreemptionPoint::Closed,
            excluded: NO_PLANES,
            choice_ns: 0,
            defers_to_high_priority: false,
            came_before_collection: 0,
            waited_before: 0,
            unaligned_before: 0,
            next_plane: 0,
            is_marked: false,
        }
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

    /// A job has it to itself from now on.
    pub fn reserve(&mut self, id: JobId, source: Source, now_ns: u64) {
        self.reserved_by = id;
        self.collecting_since_ns = if source == Source::Gc { now_ns } else { NOT_COLLECTING };
    }

    /// Nobody has it to itself any longer.
    pub fn release(&mut self) {
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
        u32::from(self.waiting_jobs_count)
    }

    /// The job that has waited longest.
    #[inline(always)]
    pub fn first_job(&self) -> Option<JobId> {
        (self.waiting_jobs_count > 0).then_some(self.waiting_jobs[0])
    }

    /// A job waits.
    pub fn push_job(&mut self, id: JobId) {
        let count = usize::from(self.waiting_jobs_count);
        hold!(count < WAITING_JOBS_MAX, OneJob, "{id:?} is one job too many for a die");
        self.waiting_jobs[count] = id;
        self.waiting_jobs_count += 1;
    }

    /// A job waits no longer: another one does its work.
    pub fn remove_job(&mut self, id: JobId) {
        let waiting = &mut self.waiting_jobs[..usize::from(self.waiting_jobs_count)];
        let at = waiting.iter().position(|&job| job == id).expect("it waits");
        waiting[at..].rotate_left(1);
        self.waiting_jobs_count -= 1;
    }

    /// The job that has waited longest waits no longer.
    pub fn pop_job(&mut self) -> JobId {
        let id = self.first_job().expect("a job waits");
        self.waiting_jobs.rotate_left(1);
        self.waiting_jobs_count -= 1;
        id
    }

    // ---- transactions that wait -------------------------------------------------------------------------------------

    /// Host transactions that wait at the die, in its window or in front of it.
    #[inline(always)]
    pub fn waiting(&self) -> u32 {
        self.waiting
    }

    /// Reads of those.
    #[inline(always)]
    pub fn reads_waiting(&self) -> u32 {
        self.reads_waiting
    }

    /// Writes of those that are of high priority.
    #[inline(always)]
    pub fn high_priority_waiting(&self) -> u32 {
        self.high_priority_waiting
    }

    /// A transaction begins to wait.
    #[inline(always)]
    pub fn begin_wait(&mut self, is_write: bool, is_high_priority: bool) {
        self.waiting += 1;
        self.reads_waiting += u32::from(!is_write);
        self.high_priority_waiting += u32::from(is_write && is_high_priority);
    }

    /// It waits no longer.
    #[inline(always)]
    pub fn end_wait(&mut self, is_write: bool, is_high_priority: bool) {
        self.waiting -= 1;
        self.reads_waiting -= u32::from(!is_write);
        self.high_priority_waiting -= u32::from(is_write && is_high_priority);
    }

    /// Transactions that wait for a page to land on.
    #[inline(always)]
    pub fn waiting_for_space(&self) -> u32 {
        self.waiting_for_space
    }

    /// One begins to.
    pub fn begin_wait_for_space(&mut self) {
        self.waiting_for_space += 1;
    }

    /// One waits no longer.
    pub fn end_wait_for_space(&mut self) {
        self.waiting_for_space -= 1;
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
            waiting: &mut self.waiting,
            reads_waiting: &mut self.reads_waiting,
            high_priority_waiting: &mut self.high_priority_waiting,
        }
    }
}
