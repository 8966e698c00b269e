//! Merges: jobs that merge log blocks and data blocks (`ftl::mapping::fast`), and the log block of a write.
//!
//! A merge is a job like a collection. It waits for its die and reserves it from its first step to its last; requests
//! are served between two steps if the scheme permits them to preempt. Three things differ: a merge reads all units of
//! a logical block from any blocks; it programs each unit at its fixed place; and it starts at other times.

use crate::flash::command::{Command, FlashOp};
use crate::ftl::frontier::Stream;
use crate::sim::index::{DieId, JobId, PlaneId, TxnId};
use crate::sim::queue::EventQueue;
use crate::ssd::back_end::BackEnd;
use crate::tasks::gc::trigger::Start;
use crate::tasks::job::Step;

impl BackEnd {
    /// Starts the merges that do not wait for a write.
    pub(in crate::ssd) fn merge_if_due(&mut self, plane: PlaneId, events: &mut EventQueue) {
        if self.gc.jobs.is_free(plane) && self.ftl.is_merge_due(plane) {
            self.start_collection(plane, Start::Requested, events);
        }
    }

    /// A write finds no page in the random log blocks of a plane: starts a merge.
    pub(in crate::ssd) fn merge_for_space(&mut self, plane: PlaneId, events: &mut EventQueue) {
        let asks = self.gc.jobs.is_free(plane) && self.ftl.pages_left(plane, Stream::Host) == 0;
        if asks && self.ftl.can_merge(plane) {
            self.start_collection(plane, Start::Requested, events);
        }
    }

    /// A merge gets its die: decides what it merges. Returns whether there are blocks to merge.
    pub(in crate::ssd) fn begin_merge(&mut self, id: JobId, events: &mut EventQueue) -> bool {
        let plane = self.gc.jobs[id].plane();
        let mut moves = self.gc.jobs[id].take_moves();
        let Some(block) = self.ftl.begin_merge(plane, &mut moves) else { return false };
        self.gc.jobs[id].begin(block, moves, events.now_ns(), self.ftl.free_blocks_of(plane));
        let die = self.gc.jobs[id].die();
        self.reserve_die(die, id, events.now_ns());
        self.fill_window(die, events);
        true
    }

    /// The next step of a merge.
    #[inline(never)]
    pub(in crate::ssd) fn step_of_merge(&mut self, id: JobId) -> Option<Step> {
        let (ftl, geometry) = (&self.ftl, &self.geometry);
        self.gc.jobs[id].next_of_gathering(
            |m| ftl.page_in_place(m.unit),
            |from| geometry.page_of(from),
            |m| ftl.lookup(m.unit) == m.from,
        )
    }

    /// Programs a page with the units that a merge has gathered for it. If an earlier page of the block was never
    /// written, programs that page first, without units.
    #[inline(never)]
    pub(in crate::ssd) fn program_gathered(&mut self, die: DieId, id: JobId, units: usize, events: &mut EventQueue) {
        let plane = self.gc.jobs[id].plane();
        let unit = self.gc.jobs[id].first_held().expect("a program follows a read").unit;
        let units = if self.ftl.has_gap_before(plane, unit) { 0 } else { units };
        let job = &mut self.gc.jobs[id];
        self.records.counters.on_moved_units(job.source(), units as u64);
        let moves = job.take_for_program(units, plane);
        let stamp = self.ftl.counts().host_units;
        let current: Option<Vec<bool>> =
            self.records.shadow.as_ref().map(|_| moves.iter().map(|m| self.ftl.lookup(m.unit) == m.from).collect());
        let page = self.ftl.merge_page(plane, unit, moves, stamp);
        if let (Some(shadow), Some(current)) = (&mut self.records.shadow, current) {
            let first = self.geometry.unit_of_page(page);
            let places = moves.iter().map(|m| self.ftl.place_in_page(first, m.unit));
            shadow.gather_page(&self.ftl, page, moves.iter().copied().zip(places).zip(current));
        }
        self.map.on_moved(&mut self.queues, &self.txns, &self.ftl, moves, page);
        self.after_bind(plane);
        let mut command = Command::new(FlashOp::Program, self.gc.jobs[id].source(), id, events.now_ns());
        self.push_page(&mut command, plane, page, TxnId::NONE);
        self.issue(die, &command, events);
    }
}
