//! The course of a collection that has started. `tasks::gc::walk` walks over victims; this module calls it in a run. If
//! collections take time, each is a job: it begins when it gets its die, reserves the die until its block is erased,
//! and its end starts the next. If collection is ideal, the whole walk is done at once.

use crate::dispatch::txn::Role;
use crate::flash::command::{Command, FlashOp, Source};
use crate::ftl::core::Ftl;
use crate::ftl::frontier::Stream;
use crate::observe::report::GcEvent;
use crate::sim::index::{BlockId, DieId, JobId, PlaneId, TxnId};
use crate::sim::invariant::hold;
use crate::sim::queue::EventQueue;
use crate::ssd::back_end::BackEnd;
use crate::ssd::gc::steps::MOVES_AHEAD;
use crate::tasks::gc::granularity::GranularityPolicy;
use crate::tasks::gc::preemption::State;
use crate::tasks::gc::trigger::{Scope, TriggerPolicy};
use crate::tasks::gc::walk::{End, Fate, Moment, Victim, WalkDriver, walk};
use crate::tasks::job::{Beginning, order_by_rows};

/// The driver of a walk whose collections are jobs.
struct AsJob<'a> {
    drive: &'a mut BackEnd,
    id: JobId,
    events: &'a mut EventQueue,
}

impl WalkDriver for AsJob<'_> {
    fn ftl_and_moment(&mut self, plane: PlaneId) -> (&mut Ftl, Moment<'_>) {
        self.drive.list_read_offsets(plane);
        let BackEnd { ftl, gc, geometry, .. } = &mut *self.drive;
        let stamp = ftl.counts().host_units;
        (ftl, Moment { least_units: geometry.units_per_page, read_offsets: gc.scopes.read_offsets(), stamp })
    }

    /// Accepts a victim that frees nothing only if its data may leave the plane. Pages for its moves are never reserved
    /// for other writes.
    fn takes(&mut self, plane: PlaneId, victim: Victim) -> bool {
        self.drive.gc.jobs[self.id].has_to_leave = !victim.frees;
        if !victim.frees && !self.drive.can_leave(plane) {
            return false;
        }
        let left = self.drive.ftl.pages_left(plane, Stream::Moved);
        let valid = self.drive.ftl.blocks()[victim.block].valid;
        hold!(
            victim.has_room,
            VictimRoom,
            "{plane:?} has {left} pages for the {valid} units that are valid in {:?}",
            victim.block
        );
        true
    }

    fn collect(&mut self, plane: PlaneId, block: BlockId) -> Fate {
        if self.drive.scheme.settings.collection.plane_rule.is_some() && !self.drive.gc.jobs[self.id].has_to_leave {
            self.drive.take_companions(self.id, plane, block);
        }
        self.drive.count_collection(plane);
        self.drive.begin_collection(self.id, block, self.events);
        Fate::UnderWay
    }

    fn next(&mut self, plane: PlaneId) -> Option<PlaneId> {
        self.drive.collection_after(plane).map(|(next, _)| next)
    }
}

/// The driver of a walk that takes no time.
struct AtOnce<'a> {
    drive: &'a mut BackEnd,
    stamp: u64,
    events: &'a mut EventQueue,
}

impl WalkDriver for AtOnce<'_> {
    fn ftl_and_moment(&mut self, _: PlaneId) -> (&mut Ftl, Moment<'_>) {
        let least_units = self.drive.geometry.units_per_page;
        (&mut self.drive.ftl, Moment { least_units, read_offsets: &[], stamp: self.stamp })
    }

    fn collect(&mut self, plane: PlaneId, block: BlockId) -> Fate {
        self.drive.collect_at_once(plane, block, self.stamp, self.events.now_ns());
        self.drive.schedule_background(self.events);
        Fate::Collected
    }

    fn next(&mut self, plane: PlaneId) -> Option<PlaneId> {
        let drive = &mut *self.drive;
        let die = drive.geometry.die_of(plane);
        let goes_on = match drive.scheme.trigger.scope() {
            Scope::Plane => drive.is_still_low(plane),
            Scope::Die => {
                drive.gc.scopes.set_die_low(die, true);
                drive.is_still_low(plane)
            }
            // One block of each die in turn: the caller iterates over dies.
            Scope::Device => false,
        };
        drive.admit_waiters(die, plane, self.events);
        (goes_on && drive.scheme.trigger.goes_on()).then_some(plane)
    }
}

impl BackEnd {
    /// The job that has waited longest gets its die, and begins or continues. The victim of a collection that begins is
    /// chosen now.
    pub(in crate::ssd) fn begin_job(&mut self, die: DieId, events: &mut EventQueue) {
        let id = self.dies[die].pop_job();
        self.notify_die_search(die);
        self.admission.control.take_slot(die);
        let (plane, picks_victim) = (self.gc.jobs[id].plane(), self.gc.jobs[id].purpose().picks_victim);
        if self.gc.jobs[id].beginning().is_some() {
            self.reserve_die(die, id, events.now_ns());
            self.fill_window(die, events);
        } else if !picks_victim {
            let block = self.gc.jobs[id].block();
            self.begin_collection(id, block, events);
        } else if self.is_merge(id) {
            if !self.begin_merge(id, events) {
                self.release_job(id, events);
            }
        } else if walk(&mut AsJob { drive: self, id, events }, plane) == End::NoVictim {
            self.give_up(plane);
            self.release_job(id, events);
        }
    }

    /// A job takes its block and reserves its die.
    fn begin_collection(&mut self, id: JobId, block: BlockId, events: &mut EventQueue) {
        let now_ns = events.now_ns();
        let (die, plane) = (self.gc.jobs[id].die(), self.gc.jobs[id].plane());
        let choice_ns = if self.gc.jobs[id].purpose().picks_victim { self.ftl.choice_ns() } else { 0 };
        let mut moves = self.gc.jobs[id].take_moves();
        self.ftl.take_victim(block, &mut moves);
        if self.gc.jobs[id].footprint().has_several_blocks() {
            let others = self.gc.jobs[id].footprint().blocks().skip(1);
            others.for_each(|(_, other)| self.ftl.add_victim(other, &mut moves));
            let geometry = &self.geometry;
            order_by_rows(&mut moves, |unit| geometry.block_and_offset(geometry.page_of(unit)).1);
        }
        self.scheme.granularity.order_moves(&mut moves, &self.geometry);
        for m in moves.iter().take(2 + MOVES_AHEAD) {
            self.ftl.prefetch_entry(m.unit);
        }
        self.take_hot(id, plane, &mut moves, now_ns);
        self.gc.jobs[id].begin(block, moves, now_ns, self.ftl.free_blocks_of(plane));
        if self.keeps_moves_left(id) {
            self.gc.jobs[id].keep_pages_left(&self.geometry);
            self.check_room_of_victims(id);
        }
        self.dies[die].delay_poll(choice_ns);
        self.reserve_die(die, id, now_ns);
        self.gc.relocations.take_turn(plane, true);
        if !self.scheme.settings.compose.is_collection_alone {
            self.pair_open_blocks(plane);
        }
        // The reservation keeps other work off the die, but its window may have room for requests that wait.
        self.fill_window(die, events);
    }

    /// Checks that each plane of a collection of several victims has room for its own pages: they stay there if no
    /// other plane has room for them.
    #[cold]
    #[inline(never)]
    fn check_room_of_victims(&self, id: JobId) {
        let job = &self.gc.jobs[id];
        for plane in
            job.footprint().planes().filter(|_| job.footprint().has_several_blocks() && job.purpose().picks_victim)
        {
            let (pages, left) = (job.pages_left_on(plane), self.ftl.pages_left(plane, Stream::Moved));
            hold!(pages <= left, VictimRoom, "{plane:?} has {left} pages for the {pages} pages of {id:?}");
        }
    }

    /// Reserves a die for a job.
    pub(in crate::ssd) fn reserve_die(&mut self, die: DieId, id: JobId, now_ns: u64) {
        let (source, came_before) = (self.gc.jobs[id].source(), self.txns.next_sequence());
        self.dies.reserve(die, id, source, now_ns, came_before);
        // The number of pages that are kept for its job is known now.
        self.notify_die_search(die);
    }

    /// A step of a job that reserves no die ended: the job waits for the die again, after the requests that arrived
    /// meanwhile.
    #[cold]
    #[inline(never)]
    fn give_die_back(&mut self, die: DieId, id: JobId, events: &mut EventQueue) {
        if self.gc.jobs[id].source() == Source::GC {
            self.records.counters.on_die_reserved(self.dies[die].collecting_for_ns(events.now_ns()));
        }
        self.dies.release(die);
        self.notify_die_search(die);
        let turn = self.take_turn();
        self.gc.jobs[id].wait_again(turn);
        self.attach(id);
        self.release_slot(die, events);
    }

    /// Lists the page offsets of reads that wait for planes which can share a command with this one, if the victim
    /// policy uses them.
    fn list_read_offsets(&mut self, plane: PlaneId) {
        if !self.ftl.victim_matches_reads() {
            return;
        }
        let mut offsets = self.gc.scopes.take_read_offsets();
        offsets.clear();
        let die = self.geometry.die_of(plane);
        let index = self.queues.index();
        let reads_its_first = |id: TxnId| self.ftl.lookup(self.txns[id].first).is_some();
        for partner in self.geometry.planes_of(die).filter(|&p| self.flash.rules().may_pair(&self.geometry, plane, p)) {
            let is_asked_for = |&offset: &u32| index.reads_at(die, partner, offset).any(|(id, _)| reads_its_first(id));
            offsets.extend((0..self.geometry.pages_per_block).filter(is_asked_for));
        }
        for (_, page) in index.reads_elsewhere(die).filter(|&(id, _)| reads_its_first(id)) {
            if self.flash.rules().may_pair(&self.geometry, plane, self.geometry.plane_of_page(page)) {
                offsets.push(self.geometry.block_and_offset(page).1);
            }
        }
        // Several reads of one offset share one page.
        offsets.sort_unstable();
        offsets.dedup();
        self.gc.scopes.give_back_read_offsets(offsets);
    }

    /// A step of the job that has reserved the die ended.
    pub(in crate::ssd) fn on_step_end(&mut self, die: DieId, command: &Command, events: &mut EventQueue) {
        let id = command.job;
        self.gc.jobs[id].end_step();
        if command.op == FlashOp::Erase {
            self.end_job(die, id, events);
        } else if !self.gc.jobs[id].purpose().reserves_die {
            self.give_die_back(die, id, events);
        } else if self.dies[die].reserved_by() == id && self.flash.is_ready(die) {
            // If no other work may go between steps, the next step starts at once.
            if self.scheme.settings.collection.steps_at_once && !self.is_job_paused(id) {
                self.take_step(die, id, events);
            }
        }
    }

    /// A page of moved data has arrived on another die: its job continues.
    pub(in crate::ssd) fn on_move_end(&mut self, txn: TxnId, events: &mut EventQueue) {
        if self.txns[txn].role != Role::Move {
            return self.end_request(txn, events);
        }
        let job = self.txns[txn].job;
        self.txns.remove(txn);
        self.gc.jobs[job].end_step();
        let home = self.gc.jobs[job].die();
        self.mark_ready(home);
    }

    /// The block is erased: frees the die, and admits writes that wait for space.
    fn end_job(&mut self, die: DieId, id: JobId, events: &mut EventQueue) {
        let now_ns = events.now_ns();
        let job = &self.gc.jobs[id];
        let (block, plane, source) = (job.block(), job.plane(), job.source());
        let Beginning { start_ns, units_valid, free_blocks } = job.beginning().expect("a job that ends has begun");
        let (picks_victim, pages_stayed) = (job.purpose().picks_victim, job.pages_stayed());
        self.records.counters.on_dropped_moves(job.dropped());
        let is_merge = self.is_merge(id);
        if picks_victim && !is_merge {
            let blocks = self.gc.jobs[id].footprint().blocks().count() as u32;
            self.gc.scopes.count_collection(plane, pages_stayed, blocks * self.geometry.pages_per_block);
        }
        let defers = self.scheme.preemption.is_preemptive() && self.collection_state(die) == State::AllProhibited;
        for (_, block) in self.gc.jobs[id].footprint().blocks() {
            self.ftl.erase(block);
            self.gc.background.on_erase(block, now_ns);
        }
        if is_merge {
            self.ftl.end_merge(plane, block);
        }
        if source == Source::GC {
            self.records.counters.on_die_reserved(self.dies[die].collecting_for_ns(now_ns));
            let g = &self.geometry;
            let (die, plane, block) = (die.0, g.flash_plane_of(plane, 0).0, g.flash_block_of(block, 0).0);
            let event = GcEvent { drive: 0, start_ns, end_ns: now_ns, die, plane, block, units_valid, free_blocks };
            self.records.counters.on_collection(event);
        } else {
            let blocks = self.gc.jobs[id].footprint().blocks().count() as u64;
            self.records.counters.on_relocated(source, blocks);
        }
        // Before other work can be charged: from now on, the time of the die does not count for the job.
        self.dies.release(die);
        self.notify_die_search(die);
        self.dies[die].end_turn_of_collection(defers);
        if self.collections_take_turns() {
            self.gc.relocations.take_turn(plane, false);
            let others = self.gc.relocations.others_in_turn(plane);
            others.for_each(|other| self.mark_ready(self.geometry.die_of(other)));
        }
        if self.looks_up() {
            let job = &self.gc.jobs[id];
            let pages = job.footprint().blocks().count() as u32 * self.geometry.pages_per_block;
            let programmed = (job.programmed() as u32).div_ceil(self.geometry.units_per_page).max(pages_stayed);
            // For admission, a collection that reserves its die is no task of its own, so its map updates count as the
            // host's.
            self.update_moved(die, Source::HOST, pages.saturating_sub(programmed), events);
        }
        self.release_job(id, events);
    }

    /// Releases a job that ends. The order matters: collections that follow start before the slot and the erased blocks
    /// admit other work.
    fn release_job(&mut self, id: JobId, events: &mut EventQueue) {
        let (die, footprint) = (self.gc.jobs[id].die(), self.gc.jobs[id].footprint());
        let has_reclaimed = self.gc.jobs[id].block().is_some();
        // 1. Frees its planes.
        self.gc.jobs.remove(id);
        self.notify_die_search(die);
        // 2. They continue to collect if their watermark requires it.
        for plane in footprint.planes().filter(|_| has_reclaimed) {
            if let Some((next, start)) = self.collection_after(plane) {
                self.start_collection(next, start, events);
            }
        }
        // 3. If a coordinator ordered the die to collect, starts the die's next collection.
        if self.gc.coordination.is_some() {
            self.go_on_forced(die, events);
        }
        // 4. Starts the next relocation of background tasks that are due, or lets the host go first.
        self.continue_background(events);
        // 5. Releases the slot: a job that waits for the die keeps it, or requests enter.
        self.release_slot(die, events);
        // 6. Collects ahead of need, if the drive is idle.
        self.collect_while_idle(die, events);
        // 7. Admits writes that wait for a page, or starts the next collection for them. If pages go to other planes of
        // the die, writes that wait there may need help, too, because this plane may have freed nothing.
        if self.scheme.settings.collection.plane_rule.is_some() {
            self.geometry.planes_of(die).for_each(|plane| self.admit_waiters(die, plane, events));
        } else {
            footprint.planes().for_each(|plane| self.admit_waiters(die, plane, events));
        }
        // 8. Admits writes of all dies, if data may leave any plane.
        if self.waits_for_any_collection() {
            self.admit_waiters_everywhere(events);
        }
    }

    /// Collects a plane in zero time until its watermark is reached.
    pub(in crate::ssd) fn collect_timelessly(&mut self, plane: PlaneId, events: &mut EventQueue) {
        let stamp = self.ftl.counts().host_units;
        walk(&mut AtOnce { drive: self, stamp, events }, plane);
    }

    /// Collects a block in zero time, and informs all observers and background tasks.
    fn collect_at_once(&mut self, plane: PlaneId, block: BlockId, stamp: u64, now_ns: u64) {
        let written = |ftl: &Ftl| ftl.blocks().of_plane(plane).iter().map(|b| u32::from(b.written)).collect();
        let written_before: Option<Vec<u32>> = (!self.gc.background.is_empty()).then(|| written(&self.ftl));
        let moves = self.records.shadow.is_some().then(|| self.ftl.valid_units(block));
        let (pages_read, rows) = (self.ftl.valid_pages(block), self.ftl.valid_rows(block));
        let units = self.ftl.collect(block, stamp);
        self.notify_die_search(self.geometry.die_of(plane));
        self.ftl.seal_page(plane, Stream::Moved, stamp);
        if let Some(before) = written_before {
            self.notify_tasks_at_once(plane, block, &before, now_ns);
        }
        if let Some(shadow) = &mut self.records.shadow {
            for m in moves.unwrap_or_default() {
                shadow.copy_at_once(m, self.ftl.lookup(m.unit));
            }
            shadow.begin_erase(block, &self.ftl);
        }
        if let Some(observers) = self.flash.observer() {
            let (g, first) = (&self.geometry, self.ftl.blocks().id(plane, 0).0);
            for (offset, b) in self.ftl.blocks().of_plane(plane).iter().enumerate() {
                let (row, pages) = (BlockId(first + offset as u32), u32::from(b.written) / g.units_per_page);
                (0..g.row_planes).for_each(|at| observers.on_timeless(g.flash_block_of(row, at), pages));
            }
        }
        let row_planes = self.geometry.row_planes;
        // A superpage is programmed whole, even if few of its units are left.
        let is_whole = self.geometry.has_superpages();
        let pages = if is_whole { rows } else { units.div_ceil(self.geometry.units_per_page) };
        let pages_programmed = pages * row_planes;
        self.records.counters.on_timeless_collection(pages_read, pages_programmed, units, row_planes);
    }
}
