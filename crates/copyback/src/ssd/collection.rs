//! Collection: when jobs start, begin and end.

use super::drive::{Drive, WAITING_JOBS_MAX};
use super::steps::MOVES_AHEAD;
use crate::flash::command::{Command, FlashOp, Source};
use crate::ftl::blocks::BlockState;
use crate::ftl::frontier::Origin;
use crate::observe::report::GcEvent;
use crate::sim::index::{BlockId, DieId, JobId, PlaneId, TxnId};
use crate::sim::invariant::hold;
use crate::sim::queue::EventQueue;
use crate::tasks::gc::granularity::GranularityPolicy;
use crate::tasks::gc::preemption::State;
use crate::tasks::gc::trigger::{Scope, Start, TriggerPolicy, Wanted};
use crate::tasks::job::Job;

impl Drive {
    /// A page was bound on a plane: whoever waits for one there is looked at again, and collection starts where the
    /// watermark of the plane's scope asks for it.
    #[inline]
    pub(crate) fn collect_if_low(&mut self, plane: PlaneId, events: &mut EventQueue) {
        let die = self.geometry.die_of(plane);
        if self.granularity.leaves_plane() && self.waiting_for_space > 0 {
            self.admit_waiters_everywhere(events);
        } else if self.dies[die.at()].waiting_for_space > 0 {
            // Writes that share a page give back what was reserved for the others.
            self.admit_waiters(die, plane, events);
        }
        match self.trigger.scope() {
            Scope::Plane => {
                let is_collecting = self.job_of_plane[plane.at()].is_some();
                if !is_collecting && self.wants_plane(plane, false) {
                    self.start_collection(plane, Start::Watermark, events);
                }
            }
            Scope::Die => self.collect_die_if_low(die, events),
            Scope::Device => self.collect_device_if_low(events),
        }
    }

    /// A device that falls below its watermark collects on all its dies; each goes on by itself until the watermark is
    /// reached.
    fn collect_device_if_low(&mut self, events: &mut EventQueue) {
        loop {
            let was_collecting = self.is_collecting_device;
            let free_blocks = self.ftl.free_blocks();
            self.is_collecting_device = self.trigger.wants_collection(free_blocks as u32, was_collecting);
            if !self.is_collecting_device || (was_collecting && !self.preemption.is_timeless()) {
                return;
            }
            for die in (0..self.geometry.dies).map(DieId) {
                self.collect_lowest_of(die, events);
            }
            if !self.preemption.is_timeless() || self.ftl.free_blocks() <= free_blocks {
                return;
            }
        }
    }

    fn collect_die_if_low(&mut self, die: DieId, events: &mut EventQueue) {
        let free = self.free_of_die(die);
        let wants = self.trigger.wants_collection(free, self.is_collecting_die[die.at()]);
        self.is_collecting_die[die.at()] = wants;
        if wants {
            self.collect_lowest_of(die, events);
        }
    }

    /// Whether a plane must collect by its own watermark.
    #[inline(always)]
    fn wants_plane(&self, plane: PlaneId, is_collecting: bool) -> bool {
        self.trigger.wants_plane(self.free_of(plane), self.geometry.plane_offset(plane), is_collecting)
    }

    /// What a plane has free, as the trigger counts it.
    #[inline(always)]
    pub(crate) fn free_of(&self, plane: PlaneId) -> u32 {
        self.trigger.free_of(&self.ftl, plane)
    }

    /// What the planes of a die have free, as the trigger counts it.
    pub(crate) fn free_of_die(&self, die: DieId) -> u32 {
        self.geometry.planes_of(die).map(|p| self.free_of(p)).sum()
    }

    /// Starts collection on the plane of a die with the fewest free of those that are reclaimable, unless a plane
    /// of it collects already; whether the die collects.
    fn collect_lowest_of(&mut self, die: DieId, events: &mut EventQueue) -> bool {
        if self.has_job(die) {
            return true;
        }
        let reclaimable = self.geometry.planes_of(die).filter(|&p| self.is_reclaimable(p));
        let Some(lowest) = reclaimable.min_by_key(|&p| self.free_of(p)) else { return false };
        self.start_collection(lowest, Start::Watermark, events);
        true
    }

    pub(crate) fn has_job(&self, die: DieId) -> bool {
        self.geometry.planes_of(die).any(|p| self.job_of_plane[p.at()].is_some())
    }

    /// Whether a plane is reclaimable: its collection must free a page, for moves are programmed in whole pages.
    pub(crate) fn is_reclaimable(&self, plane: PlaneId) -> bool {
        self.ftl.is_reclaimable(plane, self.geometry.units_per_page)
    }

    /// Whether the data of a plane may leave it, to make room for host writes that wait there and can go nowhere else.
    /// Watermarks alone are no reason, nor are writes that may go where the data would: planes that are full of valid
    /// data would send it round.
    fn can_leave(&self, plane: PlaneId) -> bool {
        self.granularity.leaves_plane()
            && self.ftl.allocation.is_static()
            && !self.queues.is_empty(self.space_queue(self.geometry.die_of(plane), plane))
            && self.ftl.is_reclaimable(plane, 0)
            && (0..self.geometry.planes).map(PlaneId).any(|p| p != plane && self.would_accept_move(p, plane))
    }

    /// Host writes wait for space. Where that is because all pages are reserved for others, nothing is to be done: as
    /// those are bound, the watermarks are reached. Where no page is left, their plane, or the lowest plane of their
    /// die, is collected whatever the watermarks say. If it is full of valid data, writes that are bound to no plane
    /// leave it, and others wait until data may leave.
    pub(crate) fn collect_for_space(&mut self, die: DieId, plane: PlaneId, events: &mut EventQueue) {
        if self.has_pages_left(die, plane) {
            return;
        }
        if plane.is_none() {
            if !self.collect_lowest_of(die, events) && self.ftl.allocation.chooses_die() {
                self.send_waiters_elsewhere(die, events);
            }
        } else if self.job_of_plane[plane.at()].is_none() {
            if self.is_reclaimable(plane) || self.can_leave(plane) {
                self.start_collection(plane, Start::Watermark, events);
            } else if self.granularity.leaves_plane() && self.job_of_plane.iter().all(|j| j.is_none()) {
                // None is reclaimable where pages are reserved that were not bound yet; who binds them comes back here.
                if let Some(reclaimable) = (0..self.geometry.planes).map(PlaneId).find(|&p| self.is_reclaimable(p)) {
                    self.start_collection(reclaimable, Start::Watermark, events);
                }
            }
        }
    }

    /// Whether host writes may still be bound on a plane, or on any plane of the die.
    fn has_pages_left(&self, die: DieId, plane: PlaneId) -> bool {
        let left = |p: PlaneId| self.ftl.pages_left(p, Origin::Host) > 0;
        if plane.is_some() { left(plane) } else { self.geometry.planes_of(die).any(left) }
    }

    pub(crate) fn send_waiters_elsewhere(&mut self, die: DieId, events: &mut EventQueue) {
        let list = self.space_queue(die, PlaneId::NONE);
        while let Some(id) = self.queues.first(list).map(TxnId) {
            let others = || (0..self.geometry.dies).map(DieId).filter(|&d| d != die);
            let may_reclaim = |d: DieId| self.geometry.planes_of(d).any(|p| self.is_reclaimable(p));
            let with_pages = others().find(|&d| self.reservable(d, PlaneId::NONE) > 0);
            let Some(to) = with_pages.or_else(|| others().find(|&d| self.has_job(d) || may_reclaim(d))) else { return };
            self.queues.remove(list, id.0);
            self.dies[die.at()].waiting_for_space -= 1;
            self.waiting_for_space -= 1;
            self.stop_waiting(id, events.now_ns());
            self.txns[id].die = to;
            self.submit(id, events);
        }
    }

    /// Collection of a plane starts: at once where it takes no time, otherwise as a job that waits for its die. Where the
    /// trigger waits for requests and none waits at the die, the next one to come there starts it.
    pub(crate) fn start_collection(&mut self, plane: PlaneId, start: Start, events: &mut EventQueue) {
        let die = self.geometry.die_of(plane);
        // A write that waits for space waits at its die; where data goes to other dies, it may wait for any of them.
        let waits_anywhere = self.granularity.leaves_plane() && self.waiting_for_space > 0;
        let request_waits = self.dies[die.at()].waiting > 0 || waits_anywhere;
        if !self.trigger.starts_now(Wanted { start, request_waits }) {
            self.dies[die.at()].planes_below |= 1 << self.geometry.plane_offset(plane);
            return;
        }
        if self.preemption.is_timeless() {
            self.collect_timelessly(plane, events);
            return;
        }
        let id = self.new_job(Source::Gc, plane);
        self.job_of_plane[plane.at()] = id;
        self.attach(id);
    }

    /// The first write waits for space on a drive whose collections may send data to any die: nothing is put off any
    /// longer.
    #[cold]
    #[inline(never)]
    pub(crate) fn start_all_awaited_collection(&mut self, events: &mut EventQueue) {
        for die in (0..self.geometry.dies).map(DieId) {
            self.start_awaited_collection(die, events);
        }
    }

    /// A request has come to wait at a die on which collection was put off until one would.
    #[cold]
    #[inline(never)]
    pub(crate) fn start_awaited_collection(&mut self, die: DieId, events: &mut EventQueue) {
        let below = std::mem::take(&mut self.dies[die.at()].planes_below);
        for plane in self.geometry.planes_of(die) {
            let was_put_off = below & (1 << self.geometry.plane_offset(plane)) != 0;
            if was_put_off && self.job_of_plane[plane.at()].is_none() {
                self.collect_further(plane, events);
            }
        }
    }

    /// Whether a block may be relocated now: it is full, and its plane has no job.
    pub fn may_relocate(&self, block: BlockId) -> bool {
        let is_full = self.ftl.blocks()[block].state == BlockState::Closed;
        is_full && self.job_of_plane[self.geometry.plane_of(block).at()].is_none()
    }

    /// Relocates and erases a full block for a task other than garbage collection.
    ///
    /// # Panics
    /// When the block is not full, or a job is under way on its plane.
    pub fn start_relocation(&mut self, block: BlockId, source: Source) {
        let plane = self.geometry.plane_of(block);
        hold!(self.job_of_plane[plane.at()].is_none(), OneJob, "{plane:?} has a job already");
        let id = self.new_job(source, plane);
        self.jobs[id.at()].picks_victim = false;
        self.jobs[id.at()].block = block;
        self.job_of_plane[plane.at()] = id;
        self.attach(id);
    }

    /// Collects a plane once more than its watermark asks for; whether it can: nothing is reclaimable on a plane that
    /// is full of valid data, and one that has a job collects already. The victim policy picks the block when the job
    /// begins.
    pub fn collect_once(&mut self, plane: PlaneId, events: &mut EventQueue) -> bool {
        let can = self.job_of_plane[plane.at()].is_none() && self.is_reclaimable(plane);
        if can {
            self.start_collection(plane, Start::Told, events);
        }
        can
    }

    fn new_job(&mut self, source: Source, plane: PlaneId) -> JobId {
        let id = self.free_jobs.pop().unwrap_or_else(|| {
            self.jobs.push(Job::new(self.geometry.units_per_block as usize));
            JobId(self.jobs.len() as u32 - 1)
        });
        let sequence = self.txns.take_sequence();
        let job = &mut self.jobs[id.at()];
        (job.source, job.plane, job.die, job.sequence) = (source, plane, self.geometry.die_of(plane), sequence);
        (job.next, job.programmed, job.dropped, job.is_stepping) = (0, 0, 0, false);
        job.pages_stayed = 0;
        (job.picks_victim, job.block, job.has_to_leave) = (true, BlockId::NONE, false);
        job.moves.clear();
        id
    }

    fn attach(&mut self, id: JobId) {
        let die = self.jobs[id.at()].die;
        let d = &mut self.dies[die.at()];
        hold!((d.waiting_jobs_count as usize) < WAITING_JOBS_MAX, OneJob, "too many jobs wait for {die:?}");
        d.waiting_jobs[d.waiting_jobs_count as usize] = id;
        d.waiting_jobs_count += 1;
        self.mark_ready(die);
    }

    /// The job that has waited longest gets its die, and its victim is chosen now.
    pub(crate) fn begin_job(&mut self, die: DieId, events: &mut EventQueue) {
        let now_ns = events.now_ns();
        let d = &mut self.dies[die.at()];
        let id = d.waiting_jobs[0];
        d.waiting_jobs.rotate_left(1);
        d.waiting_jobs_count -= 1;
        d.slots_used += 1;
        let plane = self.jobs[id.at()].plane;
        let Some(block) = self.block_for(id, plane) else {
            self.retire(id, events);
            return;
        };
        let choice_ns = if self.jobs[id.at()].picks_victim { self.ftl.choice_ns() } else { 0 };
        let mut moves = std::mem::take(&mut self.jobs[id.at()].moves);
        self.ftl.take_victim(block, &mut moves);
        for m in moves.iter().take(2 + MOVES_AHEAD) {
            self.ftl.prefetch_entry(m.unit);
        }
        let job = &mut self.jobs[id.at()];
        (job.block, job.start_ns, job.units_valid) = (block, now_ns, moves.len() as u32);
        (job.moves, job.free_blocks) = (moves, self.ftl.free_blocks_of(plane));
        let came_before_collection = self.txns.next_sequence();
        let d = &mut self.dies[die.at()];
        (d.reserved_by, d.reserved_since_ns, d.choice_ns, d.came_before_collection) =
            (id, now_ns, choice_ns, came_before_collection);
        self.dies_reserved += 1;
        if !self.settings.is_collection_alone {
            self.pair_open_blocks(plane);
        }
        // The reservation lets nobody else onto the die, but its window may have room for those who wait.
        self.fill_window(die, events);
    }

    /// The job's block: named already, or the victim policy's choice, if there is room for what is valid in it and it
    /// gains anything.
    fn block_for(&mut self, id: JobId, plane: PlaneId) -> Option<BlockId> {
        if !self.jobs[id.at()].picks_victim {
            return Some(self.jobs[id.at()].block);
        }
        self.list_read_offsets(plane);
        let block = self.ftl.pick_victim_for(plane, &self.read_offsets, self.ftl.counts().host_units)?;
        let valid = u32::from(self.ftl.blocks()[block].valid);
        let pages = valid.div_ceil(self.geometry.units_per_page);
        let frees = pages < self.geometry.pages_per_block || self.is_reclaimable(plane);
        self.jobs[id.at()].has_to_leave = !frees;
        if !frees && !self.can_leave(plane) {
            return None;
        }
        let left = self.ftl.pages_left(plane, Origin::Move);
        hold!(pages <= left, VictimRoom, "{plane:?} has {left} pages for the {pages} that are valid in {block:?}");
        Some(block)
    }

    /// Lists the page offsets of reads that wait for planes which may go with this one, where the victim policy looks at
    /// them.
    fn list_read_offsets(&mut self, plane: PlaneId) {
        if !self.ftl.victim_matches_reads() {
            return;
        }
        let mut offsets = std::mem::take(&mut self.read_offsets);
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
        self.read_offsets = offsets;
    }

    /// A collection whose block's worth of pages stayed on the plane freed nothing; a policy may pick such blocks for a
    /// while. Relocations of blocks that another task named need not free anything, and do not count.
    fn count_fruitless_collections(&mut self, plane: PlaneId, pages_stayed: u32) {
        let collections = &mut self.fruitless_collections[plane.at()];
        *collections = if pages_stayed < self.geometry.pages_per_block { 0 } else { *collections + 1 };
        hold!(
            *collections <= self.settings.fruitless_collections_max,
            CollectionsReclaim,
            "the last {collections} collections of {plane:?} freed no page: the victim policy passes over blocks that \
             would"
        );
    }

    /// A step of the job that has the die ended.
    pub(crate) fn on_step_end(&mut self, die: DieId, command: &Command, events: &mut EventQueue) {
        let id = command.job;
        self.jobs[id.at()].is_stepping = false;
        if command.op == FlashOp::Erase {
            self.end_job(die, id, events);
        } else if self.dies[die.at()].reserved_by == id && self.flash.is_ready(die) {
            // Nobody else may have the die, so the next step waits for nothing; most of a job's steps come this way.
            if self.settings.steps_at_once {
                self.take_step(die, id, events);
            }
        }
    }

    /// A page of moved data has arrived on another die: the job there goes on.
    pub(crate) fn on_move_end(&mut self, txn: TxnId) {
        let job = self.txns[txn].job;
        self.txns.remove(txn);
        self.jobs[job.at()].is_stepping = false;
        let home = self.jobs[job.at()].die;
        self.mark_ready(home);
    }

    /// The block is erased: the die is free again, and whoever waits for space is let in.
    fn end_job(&mut self, die: DieId, id: JobId, events: &mut EventQueue) {
        let now_ns = events.now_ns();
        let job = &self.jobs[id.at()];
        let (block, plane, source) = (job.block, job.plane, job.source);
        let (start_ns, units_valid, free_blocks) = (job.start_ns, job.units_valid, job.free_blocks);
        let (picks_victim, pages_stayed) = (job.picks_victim, job.pages_stayed);
        self.work.dropped_moves += u64::from(job.dropped);
        if picks_victim {
            self.count_fruitless_collections(plane, pages_stayed);
        }
        let defers = self.preemption.is_preemptive() && self.collection_state(die) == State::AllProhibited;
        self.ftl.erase(block);
        if source == Source::Gc {
            self.gc.collections += 1;
            self.gc.units += u64::from(units_valid);
            self.gc.time_ns += now_ns - start_ns;
            self.gc.max_ns = self.gc.max_ns.max(now_ns - start_ns);
            self.gc.reserved_ns += now_ns - self.dies[die.at()].reserved_since_ns;
            if self.settings.keep_gc_events {
                let (die, plane, block) = (die.0, plane.0, block.0);
                self.gc_events.push(GcEvent { start_ns, end_ns: now_ns, die, plane, block, units_valid, free_blocks });
            }
        }
        // The clock stops for the job before anybody else can be charged.
        let d = &mut self.dies[die.at()];
        d.reserved_by = JobId::NONE;
        d.waited_before = d.came_before_collection;
        d.defers_to_high_priority = defers && d.high_priority_waiting > 0;
        self.dies_reserved -= 1;
        self.retire(id, events);
    }

    /// A job is over. Its plane goes on collecting where its watermark asks for it, before others are let in.
    fn retire(&mut self, id: JobId, events: &mut EventQueue) {
        let (die, plane) = (self.jobs[id.at()].die, self.jobs[id.at()].plane);
        let has_reclaimed = self.jobs[id.at()].block.is_some();
        self.free_jobs.push(id);
        self.job_of_plane[plane.at()] = JobId::NONE;
        if has_reclaimed {
            self.collect_further(plane, events);
        }
        self.release_slot(die, events);
        self.collect_while_idle(die, events);
        // Those who still wait may have to be helped elsewhere where this plane gave nothing.
        self.admit_waiters(die, plane, events);
        if self.granularity.leaves_plane() {
            self.admit_waiters_everywhere(events);
        }
    }

    fn collect_further(&mut self, plane: PlaneId, events: &mut EventQueue) {
        let die = self.geometry.die_of(plane);
        match self.trigger.scope() {
            Scope::Plane => {
                if self.wants_plane(plane, true) {
                    self.start_collection(plane, Start::Watermark, events);
                }
            }
            Scope::Die => self.collect_die_if_low(die, events),
            Scope::Device => {
                self.is_collecting_device =
                    self.trigger.wants_collection(self.ftl.free_blocks() as u32, self.is_collecting_device);
                if self.is_collecting_device {
                    self.collect_lowest_of(die, events);
                }
            }
        }
    }

    /// Collects a plane in no time until its watermark is reached.
    fn collect_timelessly(&mut self, plane: PlaneId, events: &mut EventQueue) {
        let stamp = self.ftl.counts().host_units;
        loop {
            if !self.collect_block_timelessly(plane, stamp) {
                return;
            }
            let die = self.geometry.die_of(plane);
            let goes_on = match self.trigger.scope() {
                Scope::Plane => self.wants_plane(plane, true),
                Scope::Die => {
                    let free = self.free_of_die(die);
                    self.is_collecting_die[die.at()] = self.trigger.wants_collection(free, true);
                    self.is_collecting_die[die.at()]
                }
                // One block of each die in turn: the caller goes round.
                Scope::Device => false,
            };
            self.admit_waiters(die, plane, events);
            if !goes_on {
                return;
            }
        }
    }

    fn collect_block_timelessly(&mut self, plane: PlaneId, stamp: u64) -> bool {
        let Some(block) = self.ftl.pick_collectable(plane, self.geometry.units_per_page, stamp) else { return false };
        let moves = self.shadow.is_some().then(|| self.ftl.valid_units(block));
        let pages_read = self.ftl.valid_pages(block);
        let units = self.ftl.collect(block, stamp);
        self.ftl.seal_page(plane, Origin::Move, stamp);
        if let Some(shadow) = &mut self.shadow {
            for m in moves.unwrap_or_default() {
                shadow.copy_at_once(m, self.ftl.lookup(m.unit));
            }
            shadow.begin_erase(block, &self.ftl);
        }
        if let Some(observers) = self.flash.observer() {
            let first = self.ftl.blocks().id(plane, 0).0;
            for (offset, b) in self.ftl.blocks().of_plane(plane).iter().enumerate() {
                let pages = u32::from(b.written) / self.geometry.units_per_page;
                observers.on_timeless(BlockId(first + offset as u32), pages);
            }
        }
        self.work.gc_page_reads += u64::from(pages_read);
        self.work.gc_page_programs += u64::from(units.div_ceil(self.geometry.units_per_page));
        self.work.gc_units += u64::from(units);
        self.work.block_erases += 1;
        self.gc.collections += 1;
        self.gc.units += u64::from(units);
        true
    }
}
