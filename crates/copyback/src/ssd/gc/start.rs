//! The start of collections: on which plane, and when. `collection_course` continues from there.

use crate::flash::command::Source;
use crate::ftl::frontier::Stream;
use crate::sim::index::{BlockId, DieId, JobId, PlaneId, TxnId};
use crate::sim::invariant::hold;
use crate::sim::queue::EventQueue;
use crate::ssd::back_end::BackEnd;
use crate::tasks::gc::granularity::GranularityPolicy;
use crate::tasks::gc::trigger::{Scope, Start, TriggerPolicy, Wanted};
use crate::tasks::job::{Footprint, Job, JobFill, Purpose};

impl BackEnd {
    /// Collection starts if the watermark of a plane's scope requires it.
    #[inline]
    pub(in crate::ssd) fn collect_scope_if_low(&mut self, plane: PlaneId, events: &mut EventQueue) {
        match self.scheme.trigger.scope() {
            Scope::Plane => {
                let is_collecting = self.gc.jobs.is_on(plane);
                if !is_collecting && self.wants_plane(plane, false) {
                    self.start_collection(plane, Start::Watermark, events);
                }
            }
            Scope::Die => self.collect_die_if_low(self.geometry.die_of(plane), events),
            Scope::Device => self.collect_device_if_low(events),
        }
    }

    /// A device below its watermark collects on all its dies; each die continues until the watermark is reached.
    fn collect_device_if_low(&mut self, events: &mut EventQueue) {
        loop {
            let was_collecting = self.gc.scopes.is_device_low();
            let free_blocks = self.ftl.free_blocks();
            let wants = self.scheme.trigger.wants_collection(free_blocks as u32, was_collecting, self);
            self.gc.scopes.set_device_low(wants);
            if wants && self.gc.coordination.is_some() {
                return self.report_device_level(events);
            }
            if !wants || (was_collecting && !self.scheme.preemption.is_timeless()) {
                return;
            }
            for die in (0..self.geometry.dies).map(DieId) {
                self.collect_lowest_of(die, Start::Watermark, events);
            }
            if !self.scheme.preemption.is_timeless() || self.ftl.free_blocks() <= free_blocks {
                return;
            }
        }
    }

    fn collect_die_if_low(&mut self, die: DieId, events: &mut EventQueue) {
        let free = self.free_of_die(die);
        let wants = self.scheme.trigger.wants_collection(free, self.gc.scopes.is_die_low(die), self);
        self.gc.scopes.set_die_low(die, wants);
        if wants {
            self.collect_lowest_of(die, Start::Watermark, events);
        }
    }

    /// Whether a plane must collect by its own watermark.
    #[inline(always)]
    pub(in crate::ssd) fn wants_plane(&self, plane: PlaneId, is_collecting: bool) -> bool {
        self.scheme.trigger.wants_plane(self.free_of(plane), self.geometry.plane_offset(plane), is_collecting, self)
    }

    /// The free blocks or pages of a plane, as the trigger counts them.
    #[inline(always)]
    pub(in crate::ssd) fn free_of(&self, plane: PlaneId) -> u32 {
        self.scheme.trigger.free_of(&self.ftl, plane)
    }

    /// The free blocks or pages of a plane's scope, as the trigger counts them.
    pub(in crate::ssd) fn free_of_scope(&self, plane: PlaneId) -> u32 {
        match self.scheme.trigger.scope() {
            Scope::Plane => self.free_of(plane),
            Scope::Die => self.free_of_die(self.geometry.die_of(plane)),
            Scope::Device => self.ftl.free_blocks() as u32,
        }
    }

    /// The free blocks or pages of the lowest scope.
    pub(in crate::ssd) fn lowest_of_scope(&self) -> u32 {
        (0..self.geometry.planes).map(|plane| self.free_of_scope(PlaneId(plane))).min().unwrap_or(0)
    }

    /// The free blocks or pages of a die's planes, as the trigger counts them.
    pub(in crate::ssd) fn free_of_die(&self, die: DieId) -> u32 {
        self.geometry.planes_of(die).map(|p| self.free_of(p)).sum()
    }

    /// Starts collection on the lowest reclaimable plane of a die, unless one of its planes collects already. Returns
    /// whether the die collects.
    pub(in crate::ssd) fn collect_lowest_of(&mut self, die: DieId, start: Start, events: &mut EventQueue) -> bool {
        let lowest = self.lowest_reclaimable(die);
        if let Some(lowest) = lowest {
            self.start_collection(lowest, start, events);
        }
        lowest.is_some() || self.has_job(die)
    }

    /// The reclaimable plane of a die with the fewest free blocks, unless one of its planes collects already.
    fn lowest_reclaimable(&self, die: DieId) -> Option<PlaneId> {
        if self.has_job(die) { None } else { self.lowest_that(die, |_| true) }
    }

    /// The reclaimable plane of a die with the fewest free blocks for which `wants` holds.
    pub(in crate::ssd) fn lowest_that(&self, die: DieId, wants: impl Fn(PlaneId) -> bool) -> Option<PlaneId> {
        let planes = self.geometry.planes_of(die).filter(|&p| wants(p) && self.is_reclaimable(p));
        planes.min_by_key(|&p| self.free_of(p))
    }

    pub(in crate::ssd) fn has_job(&self, die: DieId) -> bool {
        self.geometry.planes_of(die).any(|p| self.gc.jobs.is_on(p))
    }

    /// Whether data may leave a full plane, so that host writes that are bound to it get pages. A plane below its
    /// watermark is no reason for this, and neither are writes that could go to the destination themselves: planes full
    /// of valid data would then move it from one to another for ever.
    pub(in crate::ssd) fn can_leave(&self, plane: PlaneId) -> bool {
        let within_die = self.scheme.settings.collection.plane_rule.is_some();
        let goes_to = |p: PlaneId| match within_die {
            true => self.geometry.die_of(p) == self.geometry.die_of(plane) && self.has_room_for_others(p),
            false => self.would_accept_move(p, plane),
        };
        (self.scheme.settings.collection.leaves_plane || within_die)
            && self.ftl.allocation().is_static()
            && !self.queues.is_empty(self.space_queue(self.geometry.die_of(plane), plane))
            && self.ftl.is_reclaimable(plane, 0)
            && (0..self.geometry.planes).map(PlaneId).any(|p| p != plane && goes_to(p))
    }

    /// Host writes wait for space. If their plane or die still has pages, all of them reserved, nothing is done:
    /// binding these starts a collection at the watermark. Otherwise collects the plane, or the die's lowest plane,
    /// independent of watermarks. If nothing is reclaimable, writes that are bound to no plane move to another die if
    /// the allocation chooses dies, and others wait until data may leave.
    pub(in crate::ssd) fn collect_scope_for_space(&mut self, die: DieId, plane: PlaneId, events: &mut EventQueue) {
        if self.is_ordered_to_pause() {
            self.resume();
        }
        if self.has_pages_left(die, plane) {
            return;
        }
        if plane.is_none() {
            if !self.collect_lowest_of(die, Start::Space, events) && self.ftl.allocation().chooses_die() {
                self.send_waiters_elsewhere(die, events);
            }
        } else if self.gc.jobs.is_free(plane) {
            if self.is_reclaimable(plane) || self.can_leave(plane) {
                self.start_collection(plane, Start::Space, events);
            } else if self.scheme.settings.collection.plane_rule.is_some() {
                // Its data may leave when another plane of the die has made room.
                self.collect_lowest_of(die, Start::Space, events);
            } else if self.scheme.settings.collection.leaves_plane && !self.gc.jobs.has_any() {
                // If no plane is reclaimable, there are reserved pages that are not bound yet. When a write binds them,
                // this function is called again.
                if let Some(reclaimable) = (0..self.geometry.planes).map(PlaneId).find(|&p| self.is_reclaimable(p)) {
                    self.start_collection(reclaimable, Start::Space, events);
                }
            }
        }
    }

    /// Whether a plane, or any plane of the die, still has pages for host writes.
    pub(in crate::ssd) fn has_pages_left(&self, die: DieId, plane: PlaneId) -> bool {
        let left = |p: PlaneId| self.ftl.pages_left(p, Stream::Host) > 0;
        if plane.is_some() { left(plane) } else { self.geometry.planes_of(die).any(left) }
    }

    /// Sends the writes that wait for space at a die to other dies that have space, or will have it. If the unit of a
    /// write belongs to a channel, the other die is on this channel.
    pub(in crate::ssd) fn send_waiters_elsewhere(&mut self, die: DieId, events: &mut EventQueue) {
        let list = self.space_queue(die, PlaneId::NONE);
        while let Some(id) = self.queues.first(list).map(TxnId) {
            let stripes = self.geometry.stripes;
            let channel = stripes.and_then(|stripes| stripes.channel(self.first_unit_of_write(id)));
            let is_allowed = |d: DieId| channel.is_none_or(|channel| self.geometry.channel_of(d) == channel);
            let others = || (0..self.geometry.dies).map(DieId).filter(|&d| d != die && is_allowed(d));
            let may_reclaim = |d: DieId| self.geometry.planes_of(d).any(|p| self.is_reclaimable(p));
            let with_pages = others().find(|&d| self.reservable(d, PlaneId::NONE) > 0);
            let Some(to) = with_pages.or_else(|| others().find(|&d| self.has_job(d) || may_reclaim(d))) else { return };
            self.queues.remove(list, id.0);
            self.end_wait_for_space(die, events.now_ns());
            self.stop_waiting(id, events.now_ns());
            self.txns[id].die = to;
            self.submit(id, events);
        }
    }

    /// Starts the collection of a plane: at once if it takes no time, otherwise as a job that waits for its die. If the
    /// trigger waits for requests and none waits at the die, the next request at the die starts the collection.
    pub(in crate::ssd) fn start_collection(&mut self, plane: PlaneId, start: Start, events: &mut EventQueue) {
        let die = self.geometry.die_of(plane);
        // A write that waits for space waits at its die. If data goes to other dies, it may wait for a collection of
        // any die.
        let request_waits = self.dies[die].waiting() > 0 || self.waits_for_any_collection();
        if self.gc.coordination.is_some() && matches!(start, Start::Watermark | Start::Space) {
            if !self.starts_without_order(plane, Wanted { start, request_waits }) {
                return;
            }
        } else if !self.scheme.trigger.starts_now(Wanted { start, request_waits }) {
            self.dies[die].await_request(self.geometry.plane_offset(plane));
            return;
        }
        if self.scheme.preemption.is_timeless() {
            self.collect_timelessly(plane, events);
            return;
        }
        let block_of_plane = Footprint::one(plane, BlockId::NONE);
        let id = self.new_job(Purpose { source: Source::GC, picks_victim: true, reserves_die: true }, block_of_plane);
        self.attach(id);
    }

    /// The first write waits for space, on a drive whose collections may send data to any die: starts all collections
    /// that wait for a request.
    #[cold]
    #[inline(never)]
    pub(in crate::ssd) fn start_all_deferred_collections(&mut self, events: &mut EventQueue) {
        for die in (0..self.geometry.dies).map(DieId) {
            self.start_deferred_collections(die, events);
        }
    }

    /// A request has arrived at a die on which collection waited for one.
    #[cold]
    #[inline(never)]
    pub(in crate::ssd) fn start_deferred_collections(&mut self, die: DieId, events: &mut EventQueue) {
        let below = self.dies[die].take_planes_awaiting_request();
        for plane in self.geometry.planes_of(die) {
            let awaited_request = below & (1 << self.geometry.plane_offset(plane)) != 0;
            if !awaited_request {
                continue;
            }
            if self.gc.jobs.is_on(plane) {
                self.report_deferred_level(plane);
                continue;
            }
            if let Some(next) = self.plane_after(plane) {
                self.start_collection(next, Start::Watermark, events);
            }
        }
    }

    /// Relocates and erases one full block on each of several planes of a die, with commands that name all of them, for
    /// a task other than GC. `reserves_die`: the job has the die from its first step to its last. Otherwise it waits
    /// for the die before each step, and the order policy may serve requests between steps.
    ///
    /// # Panics
    /// When a block is not full, a job is in progress on its plane, or the blocks do not go into one command.
    pub(crate) fn start_relocation_of(&mut self, footprint: Footprint, source: Source, reserves_die: bool) {
        let lead = footprint.blocks().next().expect("a footprint has a block");
        let first_page = |block: BlockId| self.geometry.page_of(self.geometry.first_unit(block));
        for (plane, block) in footprint.blocks() {
            hold!(self.gc.jobs.is_free(plane), OneJob, "{plane:?} has a job already");
            let is_lead = plane == lead.0;
            let (a, b) = (first_page(lead.1), first_page(block));
            assert!(
                is_lead || self.flash.rules().go_together(&self.geometry, a, b),
                "{block:?} cannot share a command with {lead:?}"
            );
        }
        let id = self.new_job(Purpose { source, picks_victim: false, reserves_die }, footprint);
        self.attach(id);
    }

    fn new_job(&mut self, purpose: Purpose, footprint: Footprint) -> JobId {
        self.check_has_jobs(purpose);
        let lead = footprint.planes().next().expect("a footprint has a plane");
        let turn = self.take_turn();
        let job = Job::new(purpose, self.geometry.die_of(lead), footprint, turn);
        let fill = if self.geometry.has_superpages() { JobFill::AsRead } else { self.scheme.granularity.fill() };
        let job = job.filling(fill, self.geometry.units_per_page);
        self.gc.jobs.add(job, self.geometry.units_per_block as usize)
    }

    pub(in crate::ssd) fn attach(&mut self, id: JobId) {
        let die = self.gc.jobs[id].die();
        self.dies[die].push_job(id);
        self.mark_ready(die);
    }

    /// The plane to collect after a collection of `plane`. If watermarks apply to planes, it is the same plane;
    /// otherwise it is the lowest plane of its die. `None` if the scope has reached the watermark at which collection
    /// stops.
    pub(in crate::ssd) fn plane_after(&mut self, plane: PlaneId) -> Option<PlaneId> {
        if !self.is_still_low(plane) {
            return None;
        }
        match self.scheme.trigger.scope() {
            Scope::Plane => Some(plane),
            Scope::Die | Scope::Device => self.lowest_reclaimable(self.geometry.die_of(plane)),
        }
    }

    /// Whether the scope of a plane is below the watermark at which its collection stops.
    pub(in crate::ssd) fn is_still_low(&mut self, plane: PlaneId) -> bool {
        match self.scheme.trigger.scope() {
            Scope::Plane => self.wants_plane(plane, true),
            Scope::Die => {
                let die = self.geometry.die_of(plane);
                let is_collecting = self.gc.scopes.is_die_low(die);
                let wants = self.scheme.trigger.wants_collection(self.free_of_die(die), is_collecting, self);
                self.gc.scopes.set_die_low(die, wants);
                wants
            }
            Scope::Device => {
                let free_blocks = self.ftl.free_blocks() as u32;
                let wants = self.scheme.trigger.wants_collection(free_blocks, self.gc.scopes.is_device_low(), self);
                self.gc.scopes.set_device_low(wants);
                wants
            }
        }
    }
}
