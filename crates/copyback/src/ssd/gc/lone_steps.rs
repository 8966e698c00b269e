//! Lone steps: steps of a collection that reserves its die, which no component observes, joins or delays.
//!
//! Most commands of a drive in use are lone steps. When one ends, nothing can have changed for other parts, so the next
//! step follows in place; the state of the die and the job is looked up once per event. The functions that choose a
//! step and take its moves are those of any other step (`tasks::job`); the functions that count it are its own.
//!
//! If requests may join steps or preempt between them, a step is a lone step if no such request waits at the die when
//! it begins. This is checked again when the step ends, and when the following poll ends.

use crate::dispatch::queues::Queues;
use crate::dispatch::txn::Txns;
use crate::flash::command::{CommandPlane, FlashOp, Source};
use crate::flash::geometry::Geometry;
use crate::ftl::core::{Ftl, Move};
use crate::ftl::frontier::Stream;
use crate::observe::counters::Counters;
use crate::sim::index::{DieId, JobId, PageId, TxnId};
use crate::sim::invariant::hold;
use crate::sim::queue::EventQueue;
use crate::ssd::back_end::BackEnd;
use crate::ssd::gc::steps::prefetch_entries;
use crate::ssd::run_records::FewestFree;
use crate::tasks::job::{Job, Step};

/// The parts that a lone step changes, beside flash.
struct LoneStepParts<'a> {
    job: &'a mut Job,
    ftl: &'a mut Ftl,
    geometry: &'a Geometry,
    counters: &'a mut Counters,
    fewest_free: &'a mut FewestFree,
    /// The waiting requests; some of them depend on where data is.
    queues: &'a mut Queues,
    txns: &'a Txns,
    /// Reads of the host that wait at the die.
    reads_waiting: u32,
}

impl LoneStepParts<'_> {
    /// Binds a step to its page. Returns the operation, the page and the mapping units that cross the channel; none for
    /// an erase. `INDEXED`: waiting requests are indexed by the place of their data, so that each move updates the
    /// index.
    #[inline(always)]
    fn bind<const INDEXED: bool>(&mut self, step: Step) -> Option<(FlashOp, PageId, u32)> {
        match step {
            Step::Read { end } => Some(self.bind_read(end)),
            Step::Program { units } => Some(self.bind_program::<INDEXED>(units)),
            Step::Erase => None,
        }
    }

    #[inline(always)]
    fn bind_read(&mut self, end: usize) -> (FlashOp, PageId, u32) {
        prefetch_entries(self.ftl, self.job, end);
        let (from, units) = self.job.take_for_read(end);
        if self.job.source() == Source::GC {
            self.counters.on_reads_waiting(self.reads_waiting);
        }
        self.counters.on_lone_read(self.job.source());
        (FlashOp::Read, self.geometry.page_of(from), units)
    }

    #[inline(always)]
    fn bind_program<const INDEXED: bool>(&mut self, units: usize) -> (FlashOp, PageId, u32) {
        let plane = self.job.plane();
        let write_point = self.ftl.write_point(plane, Stream::Moved);
        let stamp = self.ftl.counts().host_units;
        self.counters.on_lone_program(self.job.source(), units as u64);
        let moves = self.job.take_for_program(units, plane);
        let page = self.ftl.move_page(plane, write_point, moves, 0, stamp);
        if INDEXED {
            let ftl = &*self.ftl;
            self.queues.on_moved(moves.iter().map(|m| m.unit), self.txns, |unit| ftl.lookup(unit));
        }
        self.fewest_free.note(self.ftl, plane);
        (FlashOp::Program, page, self.geometry.units_per_page)
    }

    /// The step that follows.
    #[inline(always)]
    fn next(&mut self) -> Step {
        let (ftl, geometry) = (&*self.ftl, self.geometry);
        let is_current = |m: Move| ftl.lookup(m.unit) == m.from;
        self.job.next_of_one(geometry.units_per_page, |unit| geometry.page_of(unit), is_current)
    }
}

impl BackEnd {
    /// Whether the next step of the job that has reserved the die is a lone one.
    #[inline(always)]
    pub(in crate::ssd) fn may_step_alone(&self, die: DieId, id: JobId, step: Step) -> bool {
        let job = &self.gc.jobs[id];
        self.scheme.settings.collection.steps_alone
            && (self.scheme.settings.collection.is_undisturbed || self.is_left_alone(die, step))
            && job.purpose().reserves_die
            && !job.footprint().has_several_blocks()
            && !self.has_chosen_planes(id)
    }

    /// Whether no waiting request of a die could go before this step of a collection, or join it.
    #[inline]
    fn is_left_alone(&self, die: DieId, step: Step) -> bool {
        let d = &self.dies[die];
        if self.scheme.preemption.is_preemptive() {
            let only_writes_wait = d.reads_waiting() == 0 && d.waiting() > 0;
            let writes_count =
                self.scheme.preemption.serves_writes() || !self.scheme.settings.compose.is_collection_alone;
            return d.waiting() == 0 || (only_writes_wait && !writes_count);
        }
        match step {
            Step::Read { .. } => d.reads_waiting() == 0,
            Step::Program { .. } => d.waiting() == d.reads_waiting(),
            Step::Erase => true,
        }
    }

    /// The parts that a lone step changes.
    #[inline(always)]
    fn lone_step_parts(&mut self, die: DieId, id: JobId) -> LoneStepParts<'_> {
        LoneStepParts {
            job: &mut self.gc.jobs[id],
            ftl: &mut self.ftl,
            geometry: &self.geometry,
            counters: &mut self.records.counters,
            fewest_free: &mut self.records.fewest_free,
            queues: &mut self.queues,
            txns: &self.txns,
            reads_waiting: self.dies[die].reads_waiting(),
        }
    }

    /// The job that has reserved the die begins a lone step; [`Self::end_lone_step`] continues from there.
    #[inline(never)]
    pub(in crate::ssd) fn begin_lone_steps(&mut self, die: DieId, id: JobId, step: Step, events: &mut EventQueue) {
        let d = &self.dies[die];
        hold!(d.reserved_by() == id, DieReservation, "{step:?} of {id:?} on {die:?}");
        let job = &mut self.gc.jobs[id];
        job.begin_step();
        let (plane, source) = (job.plane(), job.source());
        let bound = if self.scheme.settings.collection.is_undisturbed {
            self.lone_step_parts(die, id).bind::<false>(step)
        } else {
            if matches!(step, Step::Program { .. }) && self.ftl.needs_pairing(plane) {
                self.pair_open_blocks(plane);
            }
            self.lone_step_parts(die, id).bind::<true>(step)
        };
        let Some((op, page, units)) = bound else { return self.issue_erase(die, id, events) };
        let part = CommandPlane { plane, page, units, txn: TxnId::NONE };
        self.flash.issue_alone(die, op, (source, id), part, events);
        self.notify_die_search(die);
    }

    /// A lone step ended. Returns whether the next step, or the poll before it, follows in place. Otherwise the die may
    /// take other work.
    #[inline(always)]
    pub(in crate::ssd) fn end_lone_step(&mut self, die: DieId, events: &mut EventQueue) -> bool {
        let d = &self.dies[die];
        let (id, since_ns) = (d.reserved_by(), d.collecting_since_ns());
        if !self.scheme.settings.collection.is_undisturbed {
            return self.go_on_alone(die, id, events);
        }
        let mut parts = self.lone_step_parts(die, id);
        let step = parts.next();
        let busy_from_ns = match parts.bind::<false>(step) {
            Some(bound) => self.flash.follow_alone(die, bound, events),
            None => {
                let busy_from_ns = self.flash.end_alone(die, events.now_ns());
                self.issue_erase(die, id, events);
                busy_from_ns
            }
        };
        self.count_plane_of_collection(busy_from_ns, since_ns, events.now_ns());
        true
    }

    /// Counts a plane's time in use, if collection has held its die since `since_ns`.
    #[inline(always)]
    fn count_plane_of_collection(&mut self, busy_from_ns: u64, since_ns: Option<u64>, now_ns: u64) {
        if let Some(since_ns) = since_ns {
            self.records.counters.on_plane_busy(now_ns - busy_from_ns.max(since_ns));
        }
    }

    /// As [`Self::end_lone_step`], if requests may join steps or go between them.
    #[inline(never)]
    fn go_on_alone(&mut self, die: DieId, id: JobId, events: &mut EventQueue) -> bool {
        let now_ns = events.now_ns();
        let busy_from_ns = self.flash.end_alone(die, now_ns);
        self.count_plane_of_collection(busy_from_ns, self.dies[die].collecting_since_ns(), now_ns);
        self.gc.jobs[id].end_step();
        if self.is_job_paused(id) {
            self.mark_ready(die);
            return false;
        }
        if self.scheme.settings.collection.steps_at_once {
            self.take_step(die, id, events);
            return !self.is_marked();
        }
        if self.flash.is_channel_waited_for(die) {
            // If the step that ended was a read, its transfer also ended, and transfers that wait for the channel go
            // first.
            self.mark_ready(die);
            return false;
        }
        let step = self.next_step(id).expect("no step is under way");
        if self.begin_poll(die, step, events) {
            return true;
        }
        self.open_point(die, events.now_ns());
        self.step_alone_at_point(die, id, step, events)
    }

    /// A preemption point has opened. If the step is a lone step and the collection is not paused, it takes the step;
    /// returns whether it does.
    #[inline(always)]
    pub(in crate::ssd) fn step_alone_at_point(
        &mut self,
        die: DieId,
        id: JobId,
        step: Step,
        events: &mut EventQueue,
    ) -> bool {
        if !self.may_step_alone(die, id, step) || self.is_job_paused(id) {
            self.mark_ready(die);
            return false;
        }
        self.dies[die].close_point();
        self.begin_lone_steps(die, id, step, events);
        true
    }
}
