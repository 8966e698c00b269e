//! Collections, and what else relocates blocks, as tasks among others: no die is reserved (`tasks::relocation`).
//!
//! A relocation hands requests to its task's queue, from where `admit` lets them into windows; a die takes them as the
//! order says. What is valid in a block has room on the block's own plane, which its last free block is kept for, and
//! goes there; where the allocation chooses dies for single pages it goes to any plane, and the drive as a whole keeps
//! room for it (`room`). So whoever waits for space is helped in the end.

use super::admission::PlaneJobs;
use super::drive::Drive;
use super::room::Room;
use super::translation::after_move;
use crate::dispatch::txn::{Role, Txn};
use crate::flash::command::{Command, CommandPlane, FlashOp, Source};
use crate::flash::geometry::Geometry;
use crate::ftl::allocation::Load;
use crate::ftl::core::Ftl;
use crate::ftl::frontier::Stream;
use crate::ftl::space::{Moves, OwnMoves};
use crate::ftl::victim::Planes;
use crate::observe::report::GcEvent;
use crate::sim::index::{BlockId, DieId, JobId, LogicalUnit, PlaneId, TxnId};
use crate::sim::invariant::hold;
use crate::sim::queue::EventQueue;
use crate::tasks::gc::preemption::AsTask;
use crate::tasks::gc::trigger::{Scope, TriggerPolicy};
use crate::tasks::gc::walk::{Moment, pick};
use crate::tasks::relocation::{Relocation, Request};

/// The relocations of a drive.
pub(super) struct Relocations {
    /// How collections work, where they are such.
    as_task: Option<AsTask>,
    all: Vec<Relocation>,
    free: Vec<JobId>,
    /// Those under way, the oldest first: few.
    under_way: Vec<JobId>,
    /// Some of them have a page to program which no plane takes.
    are_held_up: bool,
    /// What the whole drive has room for, where moves go to any plane.
    pub(super) room: Option<Room>,
}

impl Relocations {
    pub fn new(as_task: Option<AsTask>, ftl: &Ftl) -> Self {
        let goes_anywhere = as_task.filter(|_| ftl.allocation().chooses_die() && ftl.shares_block());
        let room = goes_anywhere.map(|task| Room::new(ftl, task.victims));
        Self { as_task, all: Vec::new(), free: Vec::new(), under_way: Vec::new(), are_held_up: false, room }
    }

    /// What those under way have still to send to planes that share a stock with this one.
    pub fn pages_unsent(&self, plane: PlaneId, units_per_page: u32) -> u32 {
        let shares = |other: PlaneId| self.room.as_ref().is_some_and(|room| room.share_stock(plane, other));
        let under_way = self.under_way.iter().map(|id| &self.all[id.at()]);
        under_way.filter(|relocation| shares(relocation.plane())).map(|r| r.pages_unsent(units_per_page)).sum()
    }

    /// Whether collections reserve no die.
    #[inline(always)]
    pub fn are_tasks(&self) -> bool {
        self.as_task.is_some()
    }

    /// How many are under way.
    pub fn count(&self) -> usize {
        self.under_way.len()
    }

    pub fn count_of(&self, source: Source) -> usize {
        self.under_way.iter().filter(|id| self.all[id.at()].source() == source).count()
    }

    /// Those of blocks of a plane.
    pub fn on(&self, plane: PlaneId) -> impl Iterator<Item = &Relocation> {
        self.under_way.iter().map(|id| &self.all[id.at()]).filter(move |relocation| relocation.plane() == plane)
    }

    /// What those of a plane's blocks have still to program.
    #[inline]
    pub fn own(&self, plane: PlaneId, units_per_page: u32) -> OwnMoves {
        let pages = self.on(plane).map(|relocation| relocation.pages_left(units_per_page)).sum();
        OwnMoves { pages, has_begun: self.on(plane).next().is_some() }
    }

    fn begin(&mut self, relocation: Relocation) -> JobId {
        let id = match self.free.pop() {
            Some(id) => {
                self.all[id.at()] = relocation;
                id
            }
            None => {
                self.all.push(relocation);
                JobId(self.all.len() as u32 - 1)
            }
        };
        self.under_way.push(id);
        id
    }

    fn end(&mut self, id: JobId) {
        self.under_way.retain(|&other| other != id);
        self.free.push(id);
    }
}

/// The dies' loads as whoever places a page of moved data sees them.
struct Loads<'a>(&'a Drive);

impl Load for Loads<'_> {
    fn is_collecting(&self, _: DieId) -> bool {
        false
    }
    fn queued(&self, die: DieId) -> u32 {
        self.0.queued(die)
    }
    fn free_pages(&self, die: DieId) -> u32 {
        self.0.planes_for_move(die).count() as u32
    }
}

impl Drive {
    /// A page was bound on a plane, or writes wait for space there (a die, where the plane is open): collections start
    /// as the trigger says.
    pub(super) fn collect_as_task(&mut self, plane: PlaneId, events: &mut EventQueue) {
        self.resume_held_up(events);
        while self.may_collect_more()
            && let Some(planes) = self.planes_below(plane, !self.trigger_is_at_rest(plane))
        {
            if !self.begin_task_collection(planes, events) {
                return;
            }
        }
    }

    fn may_collect_more(&self) -> bool {
        let victims = self.relocations.as_task.map_or(0, |task| task.victims);
        self.relocations.count_of(Source::Gc) < victims as usize
    }

    /// Whether no collection of a plane is under way.
    fn trigger_is_at_rest(&self, plane: PlaneId) -> bool {
        self.relocations.on(plane).next().is_none()
    }

    /// The planes that a plane's trigger counts together, if those are below their watermark. Without a host nobody
    /// would have anything of their collection.
    fn planes_below(&mut self, plane: PlaneId, is_collecting: bool) -> Option<Planes> {
        if self.is_host_done {
            return None;
        }
        let scope = self.trigger.scope();
        let wants = match scope {
            Scope::Plane => self.wants_plane(plane, is_collecting),
            Scope::Die | Scope::Device => self.is_still_low(plane),
        };
        let geometry = &self.geometry;
        wants.then(|| match scope {
            Scope::Plane => Planes::one(plane),
            Scope::Die => Planes::of_die(geometry, geometry.die_of(plane)),
            Scope::Device => Planes::all(geometry),
        })
    }

    /// Writes wait for space on a plane, or on a die where the plane is open, and no page is left there: what can make
    /// some is collected whatever the watermarks say.
    pub(super) fn collect_as_task_for_space(&mut self, die: DieId, plane: PlaneId, events: &mut EventQueue) {
        // Where room is common to all planes, a die may have pages left that are kept.
        let has_pages = || self.relocations.room.is_none() && self.has_pages_left(die, plane);
        if !self.may_collect_more() || has_pages() {
            return;
        }
        let planes = match plane.is_some() {
            true => Planes::one(plane),
            false if self.geometry.stripes.is_some() => Planes::of_channel(&self.geometry, die),
            false if self.ftl.allocation().chooses_die() => Planes::all(&self.geometry),
            false => Planes::of_die(&self.geometry, die),
        };
        self.begin_task_collection(planes, events);
    }

    /// A collection ended on a plane: the next is that for which writes wait, else that of its own planes, else that of
    /// others, which may have fallen below their watermark while this one was under way.
    fn collect_next(&mut self, plane: PlaneId, events: &mut EventQueue) {
        for waiting in (0..self.geometry.planes).map(PlaneId) {
            let die = self.geometry.die_of(waiting);
            let bound_to = if self.ftl.allocation().is_static() { waiting } else { PlaneId::NONE };
            if self.waiting_for_space > 0 && !self.queues.is_empty(self.space_queue(die, bound_to)) {
                self.collect_as_task_for_space(die, bound_to, events);
            }
        }
        if let Some(planes) = self.planes_below(plane, true).filter(|_| self.may_collect_more()) {
            self.begin_task_collection(planes, events);
        }
        while self.trigger.scope() != Scope::Device
            && self.may_collect_more()
            && let Some(lowest) = self.lowest_at_rest()
        {
            let planes = self.planes_below(lowest, false).filter(|_| self.is_reclaimable(lowest));
            if !planes.is_some_and(|planes| self.begin_task_collection(planes, events)) {
                return;
            }
        }
    }

    /// The plane with the fewest free of those of which no block is relocated.
    fn lowest_at_rest(&self) -> Option<PlaneId> {
        let at_rest = (0..self.geometry.planes).map(PlaneId).filter(|&plane| self.trigger_is_at_rest(plane));
        at_rest.min_by_key(|&plane| self.free_of(plane))
    }

    /// Begins the collection of a block of these planes; whether there was one that is worth it.
    pub(super) fn begin_task_collection(&mut self, planes: Planes, events: &mut EventQueue) -> bool {
        let stamp = self.ftl.counts().host_units;
        let moment = Moment { least_units: self.geometry.units_per_page, read_offsets: &[], stamp };
        let victim = pick(&mut self.ftl, planes, moment).filter(|victim| victim.frees);
        let Some(victim) = victim.filter(|victim| self.has_room_for_moves_of(victim.block)) else { return false };
        self.begin_relocation(victim.block, Source::Gc, events);
        true
    }

    /// Whether a block's plane has room for what is valid in it. The reserve is kept for the first block of a plane
    /// that is relocated; another one has what is left beside that, and beside writes that were admitted.
    pub(super) fn has_room_for_moves_of(&self, block: BlockId) -> bool {
        let plane = self.geometry.plane_of(block);
        let pages = u32::from(self.ftl.blocks()[block].valid).div_ceil(self.geometry.units_per_page);
        if let Some(anywhere) = self.anywhere(plane) {
            return anywhere.has_room_for(pages);
        }
        let own = PlaneJobs(self).own(plane);
        let bound_to = if self.ftl.allocation().is_static() { plane } else { PlaneId::NONE };
        let admitted = self.space.reserved_at(&self.geometry, self.geometry.die_of(plane), bound_to);
        let others = self.space.incoming(plane) + if own.has_begun { own.pages + admitted } else { 0 };
        pages + others <= self.ftl.pages_left(plane, Stream::Moved)
    }

    /// Begins the relocation of a full block.
    pub(super) fn begin_relocation(&mut self, block: BlockId, source: Source, events: &mut EventQueue) {
        self.wake_shares(events);
        let (plane, now_ns) = (self.geometry.plane_of(block), events.now_ns());
        let room = self.relocations.free.last().map(|id| self.relocations.all[id.at()].take_room());
        let mut moves = room.unwrap_or_else(|| Vec::with_capacity(self.geometry.units_per_block as usize));
        self.ftl.take_victim(block, &mut moves);
        self.activate(source, events);
        let (free_blocks, geometry) = (self.ftl.free_blocks_of(plane), &self.geometry);
        let page_of = |unit| geometry.page_of(unit);
        let id = self.relocations.begin(Relocation::new((source, plane, block), moves, (now_ns, free_blocks), page_of));
        self.hand_over(id, events);
    }

    /// Hands over what a relocation asks for now.
    fn hand_over(&mut self, id: JobId, events: &mut EventQueue) {
        let units_per_page = self.geometry.units_per_page;
        let buffer_units = units_per_page * self.relocations.as_task.map_or(1, |task| task.buffer_pages);
        loop {
            let relocation = &self.relocations.all[id.at()];
            let (home, task) = (relocation.plane(), relocation.source());
            let mut plane = home;
            if relocation.is_about_to_program(units_per_page) && self.relocations.room.is_some() {
                let Some(place) = self.place_move(home) else {
                    self.relocations.are_held_up = true;
                    return;
                };
                plane = place;
            }
            let request = self.relocations.all[id.at()].next_request(units_per_page, buffer_units);
            let Some(request) = request else { return };
            let (role, units) = match request {
                Request::Read => (Role::JobRead, 0),
                Request::Program { units } => (Role::JobProgram, units),
                Request::Erase => (Role::JobErase, 0),
            };
            if role == Role::JobProgram
                && let Some(room) = &mut self.relocations.room
            {
                self.space.expect_move(plane);
                room.promise(plane);
            }
            let mut txn = Txn::new(role, LogicalUnit::NONE, units, self.geometry.die_of(plane), plane);
            (txn.job, txn.task) = (id, task);
            let txn = self.txns.add(txn);
            match self.delays() {
                true => self.delay(txn, events),
                false => self.submit(txn, events),
            }
        }
    }

    /// The plane for a page of moved data: where the allocation would send one of the host's, if that takes it. None
    /// where all that is left is reserved for writes of the host, which will be bound before long.
    fn place_move(&mut self, home: PlaneId) -> Option<PlaneId> {
        let place = self.ftl.allocation().place_move(home, &self.geometry, &Loads(self));
        let pages_left = |&plane: &PlaneId| self.ftl.pages_left(plane, Stream::Moved) - self.space.incoming(plane);
        let plane = self.planes_for_move(place.die).max_by_key(pages_left)?;
        self.ftl.on_placed(place);
        Some(plane)
    }

    /// Planes of a die that take a page of moved data.
    fn planes_for_move(&self, die: DieId) -> impl Iterator<Item = PlaneId> + '_ {
        self.geometry.planes_of(die).filter(|&plane| self.space.takes_move(&self.ftl, plane))
    }

    /// Planes may take now what none of them took.
    fn resume_held_up(&mut self, events: &mut EventQueue) {
        if !std::mem::take(&mut self.relocations.are_held_up) {
            return;
        }
        for at in 0..self.relocations.under_way.len() {
            self.hand_over(self.relocations.under_way[at], events);
        }
    }

    /// Whether the books of the drive's room are right. Looks at every plane.
    pub(super) fn check_room(&self) {
        let Some(room) = &self.relocations.room else { return };
        for plane in (0..self.geometry.planes).map(PlaneId) {
            let anywhere = self.anywhere(plane).expect("there is a stock");
            let planes = (0..self.geometry.planes).map(PlaneId).filter(|&other| room.share_stock(plane, other));
            let left: u32 = planes.map(|other| self.ftl.pages_left(other, Stream::Moved)).sum();
            hold!(
                left == anywhere.left && anywhere.has_room_for(0),
                ReservationsCovered,
                "{left} pages are left beside {plane:?}: {anywhere:?}"
            );
        }
    }

    // ---- commands ---------------------------------------------------------------------------------------------------

    /// A die takes a request of a relocation.
    pub(super) fn take_request(&mut self, die: DieId, id: TxnId, events: &mut EventQueue) {
        match self.txns[id].role {
            Role::JobRead => self.take_job_read(die, id, events),
            Role::JobProgram => self.take_job_program(die, id, events),
            _ => self.take_job_erase(die, id, events),
        }
    }

    fn take_job_read(&mut self, die: DieId, id: TxnId, events: &mut EventQueue) {
        self.stop_waiting(id, events.now_ns());
        let (job, plane) = (self.txns[id].job, self.txns[id].plane);
        let (ftl, geometry) = (&self.ftl, &self.geometry);
        let relocation = &mut self.relocations.all[job.at()];
        let bound = relocation.bind_read(|unit| geometry.page_of(unit), |m| ftl.lookup(m.unit) == m.from);
        let source = relocation.source();
        let Some((page, units)) = bound else { return self.end_request(id, events) };
        self.txns[id].units = units;
        if source == Source::Gc {
            self.counters.on_reads_waiting(self.dies[die.at()].reads_waiting());
        }
        let mut command = Command::new(FlashOp::Read, source, JobId::NONE, events.now_ns());
        command.push(CommandPlane { plane, page, units, txn: id });
        self.issue(die, &command, events);
    }

    fn take_job_program(&mut self, die: DieId, id: TxnId, events: &mut EventQueue) {
        self.stop_waiting(id, events.now_ns());
        let (job, plane, units) = (self.txns[id].job, self.txns[id].plane, self.txns[id].units);
        if let Some(room) = &mut self.relocations.room {
            self.space.take_move(plane);
            room.release(plane);
        }
        let relocation = &mut self.relocations.all[job.at()];
        let source = relocation.source();
        let moves = relocation.bind_program(units);
        self.counters.on_moved_units(source, u64::from(units));
        let stamp = self.ftl.counts().host_units;
        let current: Vec<bool> = match self.shadow {
            Some(_) => moves.iter().map(|m| self.ftl.lookup(m.unit) == m.from).collect(),
            None => Vec::new(),
        };
        let page = self.ftl.move_page(plane, self.ftl.write_point(plane, Stream::Moved), moves, 0, stamp);
        if let Some(shadow) = &mut self.shadow {
            shadow.move_page(&self.ftl, page, moves, &current, 0);
        }
        if self.hears_moves {
            after_move((&mut self.queues, &mut self.translation), &self.txns, &self.ftl, moves, page);
        }
        self.after_bind(plane);
        let mut command = Command::new(FlashOp::Program, source, JobId::NONE, events.now_ns());
        self.push_page(&mut command, plane, page, id);
        self.issue(die, &command, events);
        self.collect_if_low(plane, events);
    }

    fn take_job_erase(&mut self, die: DieId, id: TxnId, events: &mut EventQueue) {
        self.stop_waiting(id, events.now_ns());
        let relocation = &self.relocations.all[self.txns[id].job.at()];
        let (plane, block, source) = (relocation.plane(), relocation.block(), relocation.source());
        if let Some(shadow) = &mut self.shadow {
            shadow.begin_erase(block, &self.ftl);
        }
        let page = self.geometry.page_of(self.geometry.first_unit(block));
        let mut command = Command::new(FlashOp::Erase, source, JobId::NONE, events.now_ns());
        command.push(CommandPlane { plane, page, units: 0, txn: id });
        self.issue(die, &command, events);
    }

    // ---- ends -------------------------------------------------------------------------------------------------------

    /// A request of a relocation ended: its slot is free, and what follows is handed over.
    pub(super) fn end_request(&mut self, id: TxnId, events: &mut EventQueue) {
        let (role, job, units) = (self.txns[id].role, self.txns[id].job, self.txns[id].units);
        let (die, task) = (self.txns[id].die, self.txns[id].task);
        self.txns.remove(id);
        let relocation = &mut self.relocations.all[job.at()];
        match role {
            Role::JobRead => relocation.end_read(units),
            Role::JobProgram => relocation.end_program(units),
            _ => {
                self.end_relocation(job, events);
                return self.leave_window(die, task, events);
            }
        }
        self.leave_window(die, task, events);
        self.hand_over(job, events);
    }

    /// A block that was relocated is erased: whoever waits for space is let in, after what has to be collected next.
    fn end_relocation(&mut self, id: JobId, events: &mut EventQueue) {
        let relocation = &self.relocations.all[id.at()];
        let (plane, block, source) = (relocation.plane(), relocation.block(), relocation.source());
        let (start_ns, pages_bound) = (relocation.start_ns(), relocation.pages_bound());
        let (units_valid, free_blocks) = (relocation.units_valid(), relocation.free_blocks());
        let die = self.geometry.die_of(plane);
        self.counters.on_dropped_moves(relocation.dropped());
        self.ftl.erase(block);
        self.count_erase(block);
        self.relocations.end(id);
        if let Some(room) = &mut self.relocations.room {
            room.follow(&self.ftl, plane);
        }
        self.resume_held_up(events);
        if source == Source::Gc {
            self.count_fruitless_collections(plane, pages_bound, 1);
            let (die, plane, block) = (die.0, plane.0, block.0);
            let event = GcEvent { start_ns, end_ns: events.now_ns(), die, plane, block, units_valid, free_blocks };
            self.counters.on_collection(event);
        } else {
            self.counters.on_relocated(1);
        }
        if self.looks_up() {
            self.update_moved(die, source, self.geometry.pages_per_block.saturating_sub(pages_bound), events);
        }
        self.collect_next(plane, events);
        self.begin_background(events);
        self.deactivate_at_rest(source, events);
        if self.relocations.room.is_some() {
            // The drive has more room, of which the others may use what their own planes have.
            self.admit_waiters_everywhere(events);
        } else {
            self.admit_waiters(die, plane, events);
        }
        if self.ftl.allocation().chooses_die() && self.waiting_for_space > 0 {
            self.call_waiters(die, events);
        }
    }

    /// Writes that wait for space on other dies come to one that has some.
    fn call_waiters(&mut self, to: DieId, events: &mut EventQueue) {
        let stays = |geometry: &Geometry, die| {
            geometry.stripes.is_some() && geometry.channel_of(die) != geometry.channel_of(to)
        };
        for die in (0..self.geometry.dies).map(DieId) {
            if stays(&self.geometry, die) {
                continue;
            }
            let list = self.space_queue(die, PlaneId::NONE);
            while self.reservable(to, PlaneId::NONE) > 0
                && let Some(id) = self.queues.first(list).map(TxnId)
            {
                self.queues.remove(list, id.0);
                self.end_wait_for_space(die);
                self.stop_waiting(id, events.now_ns());
                self.txns[id].die = to;
                self.submit(id, events);
            }
        }
    }
}
