//! Lone steps: those of a collection that has its die to itself, with nobody who observes it, joins it or goes between.
//!
//! Most commands of a drive in use are such. Where one ends nothing can have changed for anybody else, so the next
//! follows in place: what the drive and its flash know of the die and the job is looked up once an event. What a step
//! is, which moves it takes and what is counted are the same functions as those of any other step (`steps`,
//! `tasks::job`).

use super::drive::Drive;
use super::steps::fetch_ahead;
use crate::flash::command::{CommandPlane, FlashOp, Source};
use crate::flash::geometry::Geometry;
use crate::ftl::core::{Ftl, Move};
use crate::ftl::frontier::Origin;
use crate::observe::counters::Counters;
use crate::sim::index::{DieId, JobId, PageId, TxnId};
use crate::sim::invariant::hold;
use crate::sim::queue::EventQueue;
use crate::tasks::job::{Job, Step};

/// What lone steps change beside flash.
struct Reach<'a> {
    job: &'a mut Job,
    ftl: &'a mut Ftl,
    geometry: &'a Geometry,
    counters: &'a mut Counters,
    min_free_blocks: &'a mut u32,
    /// Reads of the host that wait at the die.
    reads_waiting: u32,
}

impl Reach<'_> {
    /// Binds a step to its page: operation, page and the mapping units that cross the channel. None for an erase.
    #[inline(always)]
    fn bind(&mut self, step: Step) -> Option<(FlashOp, PageId, u32)> {
        match step {
            Step::Read { end } => Some(self.bind_read(end)),
            Step::Program { units } => Some(self.bind_program(units)),
            Step::Erase => None,
        }
    }

    #[inline(always)]
    fn bind_read(&mut self, end: usize) -> (FlashOp, PageId, u32) {
        fetch_ahead(self.ftl, self.job, end);
        let (from, units) = self.job.take_for_read(end);
        if self.job.source() == Source::Gc {
            self.counters.on_reads_waiting(self.reads_waiting);
        }
        self.counters.on_lone_command(FlashOp::Read, self.job.source());
        (FlashOp::Read, self.geometry.page_of(from), units)
    }

    #[inline(always)]
    fn bind_program(&mut self, units: usize) -> (FlashOp, PageId, u32) {
        let plane = self.job.plane();
        let write_point = self.ftl.write_point(plane, Origin::Move);
        let stamp = self.ftl.counts().host_units;
        self.counters.on_moved_units(self.job.source(), units as u64);
        self.counters.on_lone_command(FlashOp::Program, self.job.source());
        let moves = self.job.take_for_program(units, plane);
        let page = self.ftl.move_page(plane, write_point, moves, 0, stamp);
        *self.min_free_blocks = (*self.min_free_blocks).min(self.ftl.free_blocks_of(plane));
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

impl Drive {
    /// The job that has the die to itself takes its first step, or its first after somebody else's.
    #[inline(never)]
    pub(super) fn begin_lone_steps(&mut self, die: DieId, id: JobId, step: Step, events: &mut EventQueue) {
        let d = &self.dies[die.at()];
        hold!(d.reserved_by() == id, DieReservation, "{step:?} of {id:?} on {die:?}");
        let job = &mut self.jobs[id.at()];
        job.begin_step();
        let (plane, source) = (job.plane(), job.source());
        let mut reach = Reach {
            job,
            ftl: &mut self.ftl,
            geometry: &self.geometry,
            counters: &mut self.counters,
            min_free_blocks: &mut self.min_free_blocks,
            reads_waiting: d.reads_waiting(),
        };
        let Some((op, page, units)) = reach.bind(step) else { return self.issue_erase(die, id, events) };
        let part = CommandPlane { plane, page, units, txn: TxnId::NONE };
        self.flash.issue_alone(die, op, (source, id), part, events);
    }

    /// A lone step ended, and the next follows in place.
    #[inline(always)]
    pub(super) fn end_lone_step(&mut self, die: DieId, events: &mut EventQueue) {
        let now_ns = events.now_ns();
        let busy_from_ns = self.flash.end_alone(die, now_ns);
        let d = &self.dies[die.at()];
        let id = d.reserved_by();
        let mut reach = Reach {
            job: &mut self.jobs[id.at()],
            ftl: &mut self.ftl,
            geometry: &self.geometry,
            counters: &mut self.counters,
            min_free_blocks: &mut self.min_free_blocks,
            reads_waiting: d.reads_waiting(),
        };
        if reach.job.source() == Source::Gc {
            reach.counters.on_plane_busy(now_ns - busy_from_ns.max(d.reserved_since_ns()));
        }
        let step = reach.next();
        match reach.bind(step) {
            Some(bound) => self.flash.follow_alone(die, bound, events),
            None => self.issue_erase(die, id, events),
        }
    }
}
