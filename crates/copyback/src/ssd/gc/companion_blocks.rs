//! Companions: blocks of other planes of the die that a collection takes together with its victim, and the planes to
//! which their pages go (`tasks::gc::granularity`: twins and pairs).
//!
//! A page goes to another plane only if that plane does not need the space for its own moves and reservations.
//! Otherwise the page stays on its plane.

use crate::config::device::PLANES_MAX;
use crate::dispatch::compose::merge::ServedWrites;
use crate::flash::command::{Command, CommandPlane};
use crate::ftl::blocks::BlockState;
use crate::ftl::core::Move;
use crate::ftl::frontier::Stream;
use crate::sim::index::{BlockId, JobId, PageId, PlaneId, TxnId};
use crate::ssd::back_end::BackEnd;
use crate::tasks::gc::granularity::{GranularityPolicy, OtherPlanesView, PlaneRule};
use crate::tasks::job::{Footprint, Step};

/// The planes that a program names.
#[derive(Clone, Copy)]
struct Group {
    planes: [PlaneId; PLANES_MAX as usize],
    /// The open block of each plane that takes a page.
    write_points: [usize; PLANES_MAX as usize],
    count: usize,
}

impl Group {
    fn of(plane: PlaneId, write_point: usize) -> Self {
        let mut group =
            Self { planes: [PlaneId::NONE; PLANES_MAX as usize], write_points: [0; PLANES_MAX as usize], count: 0 };
        group.push(plane, write_point);
        group
    }

    fn push(&mut self, plane: PlaneId, write_point: usize) {
        (self.planes[self.count], self.write_points[self.count]) = (plane, write_point);
        self.count += 1;
    }

    fn as_slice(&self) -> &[PlaneId] {
        &self.planes[..self.count]
    }
}

/// The planes beside a victim's plane, as a granularity sees them.
struct Others<'a>(&'a mut BackEnd);

impl OtherPlanesView for Others<'_> {
    fn twin(&self, plane: PlaneId, victim: BlockId) -> Option<BlockId> {
        let ftl = &self.0.ftl;
        let twin = ftl.blocks().id(plane, self.0.geometry.block_offset(victim));
        (ftl.blocks()[twin].state == BlockState::Closed).then_some(twin)
    }

    fn picked(&mut self, plane: PlaneId) -> Option<BlockId> {
        let stamp = self.0.ftl.counts().host_units;
        self.0.ftl.pick_victim(plane, stamp)
    }

    fn is_low(&self, plane: PlaneId) -> bool {
        self.0.wants_plane(plane, false)
    }

    fn invalid_units(&self, block: BlockId) -> u32 {
        self.0.geometry.units_per_block - u32::from(self.0.ftl.blocks()[block].valid)
    }
}

impl BackEnd {
    /// Before a collection begins, adds the blocks that its granularity names on the other planes of its die. A waiting
    /// collection of such a plane is replaced by this one.
    pub(in crate::ssd) fn take_companions(&mut self, id: JobId, plane: PlaneId, victim: BlockId) {
        let die = self.geometry.die_of(plane);
        let mut footprint = Footprint::one(plane, victim);
        for other in self.geometry.planes_of(die).filter(|&p| p != plane) {
            let waiting = self.gc.jobs.of_plane(other);
            let is_begun = |job: JobId| {
                let job = &self.gc.jobs[job];
                job.beginning().is_some() || !job.purpose().picks_victim
            };
            if !self.flash.rules().may_pair(&self.geometry, plane, other) || (waiting.is_some() && is_begun(waiting)) {
                continue;
            }
            let granularity = self.scheme.granularity;
            let Some(block) = granularity.companion(other, victim, &mut Others(self)) else { continue };
            let pages = u32::from(self.ftl.blocks()[block].valid).min(self.geometry.pages_per_block);
            if self.ftl.pages_left(other, Stream::Moved) < pages || !self.is_erased_together(victim, block) {
                continue;
            }
            if waiting.is_some() {
                self.dies[die].remove_job(waiting);
            }
            self.gc.jobs.take_over(other, id);
            footprint = footprint.and(other, block);
        }
        self.gc.jobs[id].take_along(footprint);
    }

    /// Whether the device can erase two blocks with one command.
    fn is_erased_together(&self, a: BlockId, b: BlockId) -> bool {
        let first_page = |block: BlockId| self.geometry.page_of(self.geometry.first_unit(block));
        self.flash.rules().go_together(&self.geometry, first_page(a), first_page(b))
    }

    /// Whether the granularity chooses the planes for the pages of a job: it has several blocks, or one block whose
    /// data has to leave its plane.
    pub(in crate::ssd) fn has_chosen_planes(&self, id: JobId) -> bool {
        let job = &self.gc.jobs[id];
        let needs_choice = job.footprint().has_several_blocks() || job.has_to_leave;
        self.scheme.settings.collection.plane_rule.is_some() && job.purpose().picks_victim && needs_choice
    }

    /// The next step of such a job. It reads as many pages as its next program has planes, either one by one from its
    /// first block or side by side.
    #[inline(never)]
    pub(in crate::ssd) fn step_in_turn(&mut self, id: JobId) -> Option<Step> {
        if self.gc.jobs[id].is_stepping() {
            return None;
        }
        let pages = self.group_of(id).count;
        let room = pages * self.geometry.units_per_page as usize;
        let held = self.gc.jobs[id].held().len();
        if held >= room {
            return Some(Step::Program { units: room });
        }
        let Some((start, count)) = self.next_reads(id, room - held, pages == 1) else {
            if held > 0 {
                return Some(Step::Program { units: held });
            }
            self.gc.jobs[id].drop_pending();
            if self.gc.jobs[id].go_on_with_hot() {
                return self.step_in_turn(id);
            }
            return Some(Step::Erase);
        };
        self.gc.jobs[id].put_first(start, count);
        Some(Step::Read { end: self.gc.jobs[id].first_pending() + count })
    }

    /// The pending moves, at most `room`, that a job reads with its next command: the position of the first, and their
    /// number. While a plane catches up, the first block is emptied. Otherwise pages of one offset are read together.
    fn next_reads(&self, id: JobId, room: usize, catches_up: bool) -> Option<(usize, usize)> {
        let job = &self.gc.jobs[id];
        let page = |m: &Move| self.geometry.page_of(m.from);
        let current = |m: &Move| self.ftl.lookup(m.unit) == m.from;
        let pending = job.pending();
        let of_lead = |m: &Move| self.geometry.block_of(m.from) == job.block();
        let first = pending.iter().position(current)?;
        // If the first block is empty, thousands of moves need not be searched for it.
        let lead_has_moves = !self.keeps_moves_left(id) || job.pages_left_on(job.plane()) > 0;
        let start = match catches_up && lead_has_moves {
            true => pending.iter().position(|m| of_lead(m) && current(m)).unwrap_or(first),
            false => first,
        };
        let in_page = |from: usize, room: usize| {
            let lead = pending.get(from).map(page);
            let of_page = |m: &&Move| current(m) && Some(page(m)) == lead;
            pending[from.min(pending.len())..].iter().take(room).take_while(of_page).count()
        };
        let mut count = in_page(start, room);
        // One more page, of another plane. A third page might not go into the same command.
        if let Some(next) = pending.get(start + count)
            && !catches_up
            && self.flash.rules().go_together(&self.geometry, page(&pending[start]), page(next))
        {
            count += in_page(start + count, room - count);
        }
        Some((start, count))
    }

    /// The planes of a job's next program: one plane, or the planes whose write points agree.
    fn group_of(&self, id: JobId) -> Group {
        let (job, rule) = (&self.gc.jobs[id], self.scheme.settings.collection.plane_rule.expect("only such jobs ask"));
        let die = job.die();
        if job.has_to_leave {
            let mut others = self.geometry.planes_of(die).filter(|&p| p != job.plane());
            let plane = others.find(|&p| self.has_room_for_others(p)).unwrap_or(job.plane());
            return Group::of(plane, self.write_point_of(id, plane));
        }
        let write_point = |p: PlaneId| self.write_point_of(id, p);
        let offset = |p: PlaneId| self.ftl.next_offset_in(p, write_point(p));
        let mut in_order = [PlaneId::NONE; PLANES_MAX as usize];
        let planes = self.geometry.planes_per_die as usize;
        let next = self.dies[die].next_plane() as usize;
        for (at, plane) in in_order[..planes].iter_mut().enumerate() {
            let at = if rule == PlaneRule::InTurn { (next + at) % planes } else { at };
            *plane = PlaneId(die.0 * planes as u32 + at as u32);
        }
        let of_job = |p: &PlaneId| rule == PlaneRule::InTurn || job.footprint().planes().any(|other| other == *p);
        let in_order = || in_order[..planes].iter().copied().filter(of_job);
        let first = match rule {
            PlaneRule::InTurn => in_order().next(),
            PlaneRule::Behind => in_order().min_by_key(|&p| offset(p)),
        };
        let first = first.expect("a job has a plane");
        let page = |p: PlaneId| self.next_page(p, write_point(p));
        let mut group = Group::of(first, write_point(first));
        for plane in in_order().filter(|&p| p != first) {
            let joins = |&other: &PlaneId| self.flash.rules().go_together(&self.geometry, page(other), page(plane));
            if group.as_slice().iter().all(joins) {
                group.push(plane, write_point(plane));
            }
        }
        let is_whole = group.count == in_order().count();
        if rule == PlaneRule::InTurn && !is_whole {
            group.count = 1;
        }
        if group.as_slice().iter().all(|&p| self.has_room_for_others(p)) {
            return group;
        }
        let next = job.held().first().or(job.pending().first());
        let home = next.map_or(job.plane(), |m| self.geometry.plane_of(self.geometry.block_of(m.from)));
        Group::of(home, write_point(home))
    }

    /// Whether a plane has a page for data of another plane of its die.
    pub(in crate::ssd) fn has_room_for_others(&self, plane: PlaneId) -> bool {
        let (die, bound) = self.bound_of(plane);
        // If moved data has a block of its own, the page may need a newly opened block.
        let opened = if self.ftl.shares_block() { 0 } else { self.geometry.pages_per_block };
        self.reservable(die, bound) > opened && self.host_pages_left(plane) > opened
    }

    /// Binds pages for a job's oldest moves that were read, on the planes of its next program.
    pub(in crate::ssd) fn bind_in_turn(&mut self, id: JobId, units: usize, command: &mut Command) {
        let group = self.group_of(id);
        let die = self.gc.jobs[id].die();
        let per_page = self.geometry.units_per_page as usize;
        for (at, &plane) in group.as_slice()[..units.div_ceil(per_page)].iter().enumerate() {
            let write_point = group.write_points[at];
            let units = per_page.min(units - at * per_page);
            let page: PageId = self.bind_moves(id, (plane, write_point), units, ServedWrites::NONE);
            command.push(CommandPlane { plane, page, units: self.geometry.units_per_page, txn: TxnId::NONE });
            self.pass_turn(die, plane);
        }
    }
}
