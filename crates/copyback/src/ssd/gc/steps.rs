//! Steps: the commands of the job that has reserved a die, bound to addresses when they are issued, and moves that
//! other dies' jobs send here.
//!
//! A move has space on the victim's own plane, whose last free block is kept for that. It goes to another plane only if
//! that plane does not need the space for its own host writes and moves.

use crate::config::device::PLANES_MAX;
use crate::dispatch::compose::merge::ServedWrites;
use crate::dispatch::txn::{Role, Txn};
use crate::flash::command::{Command, CommandPlane, FlashOp, Source};
use crate::flash::geometry::Geometry;
use crate::ftl::core::{Ftl, Move};
use crate::ftl::frontier::Stream;
use crate::sim::index::{DieId, JobId, LogicalUnit, PageId, PlaneId, TxnId};
use crate::sim::queue::EventQueue;
use crate::ssd::back_end::{BackEnd, Queue};
use crate::tasks::gc::granularity::GranularityPolicy;
use crate::tasks::job::{Job, Step};

/// Moves whose map entries are prefetched together.
pub(in crate::ssd) const MOVES_AHEAD: usize = 8;

/// Prefetches the map entries of the moves after a read up to `end`. Together they cost little more than one.
#[inline(always)]
pub(in crate::ssd) fn prefetch_entries(ftl: &Ftl, job: &Job, end: usize) {
    job.ahead(end, MOVES_AHEAD).iter().for_each(|m| ftl.prefetch_entry(m.unit));
}

/// The flash pages that hold consecutive moves: plane, page and units of each.
pub(in crate::ssd) fn pages_of<'a>(
    geometry: &'a Geometry,
    flash: &'a Geometry,
    moves: &'a [Move],
) -> impl Iterator<Item = (PlaneId, PageId, u32)> + 'a {
    let page_of = |m: &Move| geometry.flash_page(m.from);
    let named = move |moves: &[Move]| {
        let page = page_of(&moves[0]);
        (flash.plane_of_page(page), page, moves.len() as u32)
    };
    moves.chunk_by(move |a, b| page_of(a) == page_of(b)).map(named)
}

impl BackEnd {
    pub(in crate::ssd) fn take_background(&mut self, die: DieId, events: &mut EventQueue) {
        if self.head(die, Queue::Move).is_some() {
            self.take_move(die, events);
        } else {
            self.begin_job(die, events);
        }
    }

    /// Takes the first entry of a die's queue of moves: programs a page of another die's job, or takes a request of a
    /// relocation.
    pub(in crate::ssd) fn take_move(&mut self, die: DieId, events: &mut EventQueue) {
        let list = self.queue(die, Queue::Move);
        let id = TxnId(self.queues.pop_front(list).expect("a move is queued"));
        if self.txns[id].role != Role::Move {
            return self.take_request(die, id, events);
        }
        let (job, plane, units) = (self.txns[id].job, self.txns[id].plane, self.txns[id].units as usize);
        self.admission.reservations.take_move(plane);
        let (write_point, is_paired) = match self.scheme.settings.compose.is_collection_alone {
            true => (self.ftl.write_point(plane, Stream::Moved), false),
            false => self.write_point_of_shared_program(die, plane),
        };
        let page = self.bind_moves(job, (plane, write_point), units, ServedWrites::NONE);
        // Fewer pages are kept for its job.
        self.notify_die_search(self.gc.jobs[job].die());
        let mut command = Command::new(FlashOp::Program, self.gc.jobs[job].source(), JobId::NONE, events.now_ns());
        self.push_page(&mut command, plane, page, id);
        self.join_and_issue_program(die, command, is_paired, events);
        self.collect_if_low(plane, events);
    }

    /// Takes the next step of the job that has reserved the die. While its step is in progress on another die, takes
    /// moves of other dies' jobs.
    pub(in crate::ssd) fn take_step(&mut self, die: DieId, id: JobId, events: &mut EventQueue) -> bool {
        let Some(step) = self.next_step(id) else {
            if self.head(die, Queue::Move).is_some() {
                self.take_move(die, events);
                return true;
            }
            return false;
        };
        if self.may_step_alone(die, id, step) {
            self.begin_lone_steps(die, id, step, events);
        } else {
            self.issue_step(die, id, step, events);
        }
        true
    }

    /// The next step of a job; none while one is in progress.
    #[inline(always)]
    pub(in crate::ssd) fn next_step(&mut self, id: JobId) -> Option<Step> {
        // Moves that came too late are dropped, so that fewer pages are kept for them.
        self.notify_die_search(self.gc.jobs[id].die());
        if self.scheme.settings.compose.combines
            && let Some(step) = self.combined_step(id)
        {
            return Some(step);
        }
        if self.scheme.settings.collection.plane_rule.is_some() && self.has_chosen_planes(id) {
            return self.step_in_turn(id);
        }
        if self.is_merge(id) {
            return self.step_of_merge(id);
        }
        let (ftl, geometry) = (&self.ftl, &self.geometry);
        let is_current = |m: Move| ftl.lookup(m.unit) == m.from;
        self.gc.jobs[id].next_step(
            geometry.units_per_page,
            |unit| geometry.page_of(unit),
            |unit| geometry.block_and_offset(geometry.page_of(unit)).1,
            is_current,
        )
    }

    /// Issues a step that is no lone step: as a command, or as a page that is sent to another die.
    #[inline(never)]
    pub(in crate::ssd) fn issue_step(&mut self, die: DieId, id: JobId, step: Step, events: &mut EventQueue) {
        self.gc.jobs[id].begin_step();
        if self.gc.jobs[id].footprint().has_several_blocks() || self.has_chosen_planes(id) {
            self.issue_row_step(die, id, step, events);
            return;
        }
        match step {
            Step::Read { end } => self.issue_job_read(die, id, end, events),
            Step::Program { units } => self.issue_job_program(die, id, units, events),
            Step::Erase => self.issue_erase(die, id, events),
        }
    }

    fn issue_job_program(&mut self, die: DieId, id: JobId, units: usize, events: &mut EventQueue) {
        if self.is_merge(id) {
            return self.program_gathered(die, id, units, events);
        }
        if self.geometry.is_in_rows() {
            return self.program_row(die, id, units, events);
        }
        let to = self.destination_of(id);
        if self.geometry.die_of(to) != die {
            self.send_move(id, to, units);
        } else if to != self.gc.jobs[id].plane() || !self.scheme.settings.compose.is_collection_alone {
            self.issue_shared_program(die, id, to, units, events);
        } else {
            self.program_at_home(die, id, units, events);
        }
    }

    /// Programs moved data on its own plane, without joining host writes.
    fn program_at_home(&mut self, die: DieId, id: JobId, units: usize, events: &mut EventQueue) {
        let plane = self.gc.jobs[id].plane();
        let write_point = self.write_point_of(id, plane);
        let page = self.bind_moves(id, (plane, write_point), units, ServedWrites::NONE);
        let part = CommandPlane { plane, page, units: self.geometry.units_per_page, txn: TxnId::NONE };
        self.issue_part(die, FlashOp::Program, id, part, events);
    }

    #[inline(never)]
    pub(in crate::ssd) fn issue_erase(&mut self, die: DieId, id: JobId, events: &mut EventQueue) {
        let (plane, block) = (self.gc.jobs[id].plane(), self.gc.jobs[id].block());
        if let Some(shadow) = &mut self.records.shadow {
            shadow.begin_erase(block, &self.ftl);
        }
        let page = self.geometry.page_of(self.geometry.first_unit(block));
        let mut command = Command::new(FlashOp::Erase, self.gc.jobs[id].source(), id, events.now_ns());
        self.push_page_with(&mut command, plane, page, 0, TxnId::NONE);
        self.issue(die, &command, events);
    }

    /// Issues a step of a job that has blocks on several planes, or one whose data has to leave its plane.
    #[cold]
    #[inline(never)]
    fn issue_row_step(&mut self, die: DieId, id: JobId, step: Step, events: &mut EventQueue) {
        let source = self.gc.jobs[id].source();
        let op = match step {
            Step::Read { .. } => FlashOp::Read,
            Step::Program { .. } => FlashOp::Program,
            Step::Erase => FlashOp::Erase,
        };
        let mut command = Command::new(op, source, id, events.now_ns());
        match step {
            Step::Read { end } => {
                if source == Source::GC {
                    self.records.counters.on_reads_waiting(self.dies[die].reads_waiting());
                }
                let moves = self.gc.jobs[id].take_row_for_read(end);
                for (plane, page, units) in pages_of(&self.geometry, self.flash.geometry(), moves) {
                    command.push(CommandPlane { plane, page, units, txn: TxnId::NONE });
                }
            }
            Step::Program { units } if self.has_chosen_planes(id) => self.bind_in_turn(id, units, &mut command),
            // Pages stay on their planes. Pages whose write points do not match the first one's follow in later steps.
            Step::Program { units } => {
                let held = &self.gc.jobs[id].held()[..units];
                let row: Vec<_> = pages_of(&self.geometry, self.flash.geometry(), held).collect();
                let mut lead = None;
                for (plane, _, units) in row {
                    let write_point = self.write_point_of(id, plane);
                    let page = self.next_page(plane, write_point);
                    let goes_along = |lead| self.flash.rules().go_together(&self.geometry, lead, page);
                    if !lead.is_none_or(goes_along) {
                        break;
                    }
                    lead = lead.or(Some(page));
                    let page = self.bind_moves(id, (plane, write_point), units as usize, ServedWrites::NONE);
                    let units = self.geometry.units_per_page;
                    command.push(CommandPlane { plane, page, units, txn: TxnId::NONE });
                }
            }
            Step::Erase => {
                for (plane, block) in self.gc.jobs[id].footprint().blocks() {
                    if let Some(shadow) = &mut self.records.shadow {
                        shadow.begin_erase(block, &self.ftl);
                    }
                    let page = self.geometry.page_of(self.geometry.first_unit(block));
                    command.push(CommandPlane { plane, page, units: 0, txn: TxnId::NONE });
                }
            }
        }
        self.issue(die, &command, events);
    }

    /// The next page of a plane's open block.
    pub(in crate::ssd) fn next_page(&self, plane: PlaneId, write_point: usize) -> PageId {
        let block = self.ftl.next_block_in(plane, write_point).map_or(0, |block| block.0);
        PageId(block * self.geometry.pages_per_block + self.ftl.next_offset_in(plane, write_point))
    }

    /// Issues a job's command of one plane.
    fn issue_part(&mut self, die: DieId, op: FlashOp, id: JobId, part: CommandPlane, events: &mut EventQueue) {
        let mut command = Command::new(op, self.gc.jobs[id].source(), id, events.now_ns());
        command.push(part);
        self.issue(die, &command, events);
    }

    /// The open block of a plane for a page of a collection that host writes may join, and whether it is the block for
    /// paired programs.
    fn write_point_of_shared_program(&mut self, die: DieId, to: PlaneId) -> (usize, bool) {
        if self.ftl.needs_pairing(to) {
            self.pair_open_blocks(to);
        }
        let (waiting, count) = self.partners_in_wait(die, to);
        self.ftl.write_point_for_collection(to, &waiting[..count])
    }

    /// Issues a program of a collection that host writes may join.
    #[inline(never)]
    fn issue_shared_program(&mut self, die: DieId, id: JobId, to: PlaneId, units: usize, events: &mut EventQueue) {
        let (write_point, is_paired) = self.write_point_of_shared_program(die, to);
        let served = match self.scheme.settings.compose.serves_from_moves {
            true => self.take_served_writes(die, id, units, events.now_ns()),
            false => ServedWrites::NONE,
        };
        let page = self.bind_moves(id, (to, write_point), units, served);
        let source = self.gc.jobs[id].source();
        let mut command = Command::new(FlashOp::Program, source, id, events.now_ns());
        command.push(CommandPlane { plane: to, page, units: self.geometry.units_per_page, txn: served.first });
        self.join_and_issue_program(die, command, is_paired, events);
        if served.units > 0 {
            // The served writes release the pages that were reserved for them.
            self.collect_if_low(to, events);
        }
    }

    /// Issues a program of moved data, with the writes that join it.
    fn join_and_issue_program(&mut self, die: DieId, mut command: Command, is_paired: bool, events: &mut EventQueue) {
        self.join_collection_program(die, &mut command, is_paired, events.now_ns());
        self.issue(die, &command, events);
        let lead = self.geometry.plane_of_flash(command.parts[0].plane);
        self.collect_planes_of(&command.parts()[1..], lead, events);
    }

    /// Issues a read of a collection, with the reads that join it.
    #[inline(never)]
    fn join_and_issue_read(&mut self, die: DieId, mut command: Command, events: &mut EventQueue) {
        if self.head(die, Queue::Read).is_some() {
            self.join_collection_read(die, &mut command, events);
        }
        self.issue(die, &command, events);
    }

    /// The page of a collection's read has left its die, and pages of reads that joined it wait in their registers. The
    /// collection's program precedes these pages, if it follows at once and joins no write of their planes. Returns
    /// whether it does.
    #[cold]
    #[inline(never)]
    pub(in crate::ssd) fn program_before_partners(
        &mut self,
        die: DieId,
        read: &Command,
        events: &mut EventQueue,
    ) -> bool {
        let id = read.job;
        let goes_on = self.dies[die].reserved_by() == id && self.gc.jobs[id].purpose().reserves_die;
        if !goes_on || self.is_job_paused(id) {
            return false;
        }
        let index = self.queues.index();
        if read.parts()[1..].iter().any(|part| index.first_write_for(die, part.plane).is_some()) {
            return false;
        }
        self.gc.jobs[id].end_step();
        match self.next_step(id) {
            Some(step @ Step::Program { .. }) => self.issue_step(die, id, step, events),
            _ => {
                self.gc.jobs[id].begin_step();
                return false;
            }
        }
        true
    }

    /// The end of the page that a collection reads next, after the order of its moves has changed.
    fn end_of_next_page(&mut self, id: JobId) -> usize {
        let (ftl, geometry) = (&self.ftl, &self.geometry);
        let is_current = |m: Move| ftl.lookup(m.unit) == m.from;
        let page_of = |unit| geometry.page_of(unit);
        match self.gc.jobs[id].next_of_one(geometry.units_per_page, page_of, is_current) {
            Step::Read { end } => end,
            other => unreachable!("a page was to be read, and then {other:?}"),
        }
    }

    /// Sets an active block apart for paired programs, on a plane and its partners, if planes have two active blocks.
    pub(in crate::ssd) fn pair_open_blocks(&mut self, plane: PlaneId) {
        if self.ftl.has_second_active() {
            let (partners, count) = self.partners_of(plane);
            self.ftl.pair_open_blocks(plane, &partners[..count]);
        }
    }

    /// The partners of a plane with a waiting write that could join its collection, and their number.
    fn partners_in_wait(&self, die: DieId, plane: PlaneId) -> ([PlaneId; PLANES_MAX as usize], usize) {
        let (mut partners, count) = self.partners_of(plane);
        let mut waiting = 0;
        if self.scheme.settings.compose.gc_host {
            for at in 0..count {
                let partner = partners[at];
                if self.host_pages_left(partner) > 0 && self.queues.index().first_write_for(die, partner).is_some() {
                    partners[waiting] = partner;
                    waiting += 1;
                }
            }
        }
        (partners, waiting)
    }

    /// The planes of the die that can share a command with a plane, and their number.
    pub(in crate::ssd) fn partners_of(&self, plane: PlaneId) -> ([PlaneId; PLANES_MAX as usize], usize) {
        let mut partners = [PlaneId::NONE; PLANES_MAX as usize];
        let mut count = 0;
        let die = self.geometry.die_of(plane);
        for partner in self.geometry.planes_of(die).filter(|&p| self.flash.rules().may_pair(&self.geometry, plane, p)) {
            partners[count] = partner;
            count += 1;
        }
        (partners, count)
    }

    fn issue_job_read(&mut self, die: DieId, id: JobId, mut end: usize, events: &mut EventQueue) {
        if self.scheme.settings.compose.serves_from_moves {
            self.put_wanted_first(die, id);
            end = self.end_of_next_page(id);
        }
        let job = &mut self.gc.jobs[id];
        let (plane, source) = (job.plane(), job.source());
        prefetch_entries(&self.ftl, job, end);
        let (from, units) = job.take_for_read(end);
        let page = self.geometry.page_of(from);
        if source == Source::GC {
            self.records.counters.on_reads_waiting(self.dies[die].reads_waiting());
        }
        if self.geometry.is_in_rows() {
            return self.read_in_row(die, id, units as usize, events);
        }
        let mut part = CommandPlane { plane, page, units, txn: TxnId::NONE };
        if self.scheme.granularity.copies_back() {
            let write_point = self.write_point_of(id, plane);
            part.page = self.bind_moves(id, (plane, write_point), units as usize, ServedWrites::NONE);
            self.issue_part(die, FlashOp::Copyback, id, part, events);
        } else if !self.scheme.settings.compose.is_collection_alone {
            let mut command = Command::new(FlashOp::Read, source, id, events.now_ns());
            command.push(part);
            self.join_and_issue_read(die, command, events);
        } else {
            self.issue_part(die, FlashOp::Read, id, part, events);
        }
    }

    /// Binds a page for the job's oldest units that were read.
    pub(in crate::ssd) fn bind_moves(
        &mut self,
        id: JobId,
        (plane, write_point): (PlaneId, usize),
        units: usize,
        served: ServedWrites,
    ) -> PageId {
        // Counting bits is slow on processors without an instruction for it, and mostly no units are served.
        let served_units = if served.first.is_none() { 0 } else { served.units.count_ones() };
        let job = &mut self.gc.jobs[id];
        let of_several = job.footprint().has_several_blocks();
        self.records.counters.on_moved_units(job.source(), units as u64 - u64::from(served_units));
        let moves = job.take_for_program(units, plane);
        let stamp = self.ftl.counts().host_units;
        let current: Option<Vec<bool>> =
            self.records.shadow.as_ref().map(|_| moves.iter().map(|m| self.ftl.lookup(m.unit) == m.from).collect());
        let page = match of_several {
            true => self.ftl.move_page_of_several(plane, write_point, moves, stamp),
            false => self.ftl.move_page(plane, write_point, moves, served_units, stamp),
        };
        if let (Some(shadow), Some(current)) = (&mut self.records.shadow, current) {
            shadow.move_page(&self.ftl, page, moves, &current, served.units);
        }
        self.map.on_moved(&mut self.queues, &self.txns, &self.ftl, moves, page);
        self.after_bind(plane);
        page
    }

    /// Sends a page of moved data to another die.
    fn send_move(&mut self, id: JobId, to: PlaneId, units: usize) {
        let die = self.geometry.die_of(to);
        self.admission.reservations.expect_move(to);
        let mut txn = Txn::new(Role::Move, LogicalUnit::NONE, units as u32, die, to);
        txn.job = id;
        let id = self.txns.add(txn);
        let list = self.queue(die, Queue::Move);
        self.enqueue(list, id);
        self.mark_ready(die);
    }
}
