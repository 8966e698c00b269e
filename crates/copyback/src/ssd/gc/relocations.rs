//! Collections and other relocations as tasks: no die is reserved (`tasks::relocation`).
//!
//! A relocation appends requests to its task's queue. `admit` lets them into windows, and a die takes them in the order
//! that the policy of `order` selects. The valid data of a block goes to the block's own plane, which keeps its last
//! free block for moves. If the allocation chooses dies for single pages, and moved data shares open blocks with the
//! host's, the data goes to any plane, and the drive as a whole keeps space for it (`admission::shared_space`). A write
//! that waits for space is therefore always served eventually.

use crate::dispatch::txn::{Role, Txn};
use crate::flash::command::Source;
use crate::ftl::frontier::Stream;
use crate::ftl::space::JobSpace;
use crate::ftl::victim::PlaneRange;
use crate::observe::report::GcEvent;
use crate::sim::index::{BlockId, DieId, JobId, LogicalUnit, PlaneId, TxnId};
use crate::sim::invariant::hold;
use crate::sim::queue::EventQueue;
use crate::ssd::admission::PlaneJobs;
use crate::ssd::back_end::BackEnd;
use crate::tasks::gc::trigger::{Scope, TriggerPolicy};
use crate::tasks::gc::walk::{Moment, pick};
use crate::tasks::relocation::{Relocation, RelocationRequest};

impl BackEnd {
    /// A page was bound on a plane: starts collections as the trigger decides.
    pub(in crate::ssd) fn collect_as_task(&mut self, plane: PlaneId, events: &mut EventQueue) {
        self.resume_blocked(events);
        while self.may_collect_more()
            && let Some(planes) = self.planes_below(plane, false)
        {
            if !self.begin_task_collection(planes, events) {
                return;
            }
        }
    }

    fn may_collect_more(&self) -> bool {
        self.gc.relocations.count_of(Source::GC) < self.gc.relocations.victims()
    }

    /// Whether a collection may start in the plane's scope now. A plane or a die collects one block at a time: a second
    /// one would wait for the same array, and another plane could not start its collection.
    fn may_collect_beside(&self, plane: PlaneId) -> bool {
        match self.scheme.trigger.scope() {
            Scope::Plane => !self.gc.relocations.is_relocating_on(plane),
            Scope::Die => !self.gc.relocations.is_collecting_on(self.geometry.die_of(plane)),
            Scope::Device => true,
        }
    }

    /// The planes of the plane's scope, if the scope is below its watermark. None after the host's last request: no
    /// request would gain by their collection.
    fn planes_below(&mut self, plane: PlaneId, is_collecting: bool) -> Option<PlaneRange> {
        if self.gc.idleness.is_host_done() || !self.may_collect_beside(plane) {
            return None;
        }
        let scope = self.scheme.trigger.scope();
        let wants = match scope {
            Scope::Plane => self.wants_plane(plane, is_collecting),
            Scope::Die | Scope::Device => self.is_still_low(plane),
        };
        let geometry = &self.geometry;
        let planes = match scope {
            Scope::Plane => PlaneRange::one(plane),
            Scope::Die => PlaneRange::of_die(geometry, geometry.die_of(plane)),
            Scope::Device => PlaneRange::all(geometry),
        };
        if wants { self.collectable_now(planes) } else { None }
    }

    /// The planes that may be collected now, of those to collect: only one if planes take turns.
    fn collectable_now(&self, planes: PlaneRange) -> Option<PlaneRange> {
        if !self.collections_take_turns() {
            return Some(planes);
        }
        let may_begin = |&plane: &PlaneId| self.is_its_turn(plane) && self.is_reclaimable(plane);
        planes.iter().filter(may_begin).min_by_key(|&plane| self.free_of(plane)).map(PlaneRange::one)
    }

    /// Writes wait for space on a plane without free pages, or on a die if they are bound to no plane: collects the
    /// planes that can free pages, at any watermark.
    pub(in crate::ssd) fn collect_as_task_for_space(&mut self, die: DieId, plane: PlaneId, events: &mut EventQueue) {
        // If planes share their space, the remaining pages of a die may be kept for relocations.
        let has_pages = || !self.admission.reservations.are_shared() && self.has_pages_left(die, plane);
        if !self.may_collect_more() || has_pages() || (plane.is_some() && !self.may_collect_beside(plane)) {
            return;
        }
        let planes = match plane.is_some() {
            true => PlaneRange::one(plane),
            false if self.geometry.stripes.is_some() => PlaneRange::of_channel(&self.geometry, die),
            false if self.ftl.allocation().chooses_die() => PlaneRange::all(&self.geometry),
            false => PlaneRange::of_die(&self.geometry, die),
        };
        if let Some(planes) = self.collectable_now(planes) {
            self.begin_task_collection(planes, events);
        }
    }

    /// A collection ended on a plane: starts the next. Writes that wait come first. Then the plane or die with the
    /// fewest free blocks, which may have fallen below its watermark meanwhile. Then the planes of this collection, as
    /// far as the trigger continues.
    fn collect_next(&mut self, plane: PlaneId, events: &mut EventQueue) {
        if self.dies.waiting_for_space() > 0 {
            self.collect_for_all_that_wait(events);
        }
        self.collect_others(events);
        if let Some(planes) = self.planes_below(plane, true).filter(|_| self.may_collect_more()) {
            self.begin_task_collection(planes, events);
        }
    }

    #[inline(never)]
    fn collect_for_all_that_wait(&mut self, events: &mut EventQueue) {
        for waiting in (0..self.geometry.planes).map(PlaneId) {
            if !self.may_collect_more() {
                return;
            }
            let die = self.geometry.die_of(waiting);
            let bound_to = self.bound_plane(waiting);
            if !self.queues.is_empty(self.space_queue(die, bound_to)) {
                self.collect_as_task_for_space(die, bound_to, events);
            }
        }
    }

    /// Starts collections on planes or dies that are below their own watermarks, the lowest first.
    fn collect_others(&mut self, events: &mut EventQueue) {
        while self.scheme.trigger.scope() != Scope::Device
            && self.may_collect_more()
            && let Some(lowest) = self.lowest_at_rest()
        {
            let planes = self.planes_below(lowest, false);
            if !planes.is_some_and(|planes| self.begin_task_collection(planes, events)) {
                return;
            }
        }
    }

    /// The plane with the fewest free blocks among those that may be collected now.
    fn lowest_at_rest(&self) -> Option<PlaneId> {
        let is_at_rest =
            |&plane: &PlaneId| self.may_collect_beside(plane) && self.is_its_turn(plane) && self.is_reclaimable(plane);
        let at_rest = (0..self.geometry.planes).map(PlaneId).filter(is_at_rest);
        at_rest.min_by_key(|&plane| self.free_of(plane))
    }

    /// Begins the collection of a block of these planes, if one is worth it and there is room for its valid data;
    /// returns whether it began.
    pub(in crate::ssd) fn begin_task_collection(&mut self, planes: PlaneRange, events: &mut EventQueue) -> bool {
        let stamp = self.ftl.counts().host_units;
        let moment = Moment { least_units: self.geometry.units_per_page, read_offsets: &[], stamp };
        let victim = pick(&mut self.ftl, planes, moment).filter(|victim| victim.frees);
        let Some(victim) = victim.filter(|victim| self.has_room_for_moves_of(victim.block)) else { return false };
        self.begin_relocation(victim.block, Source::GC, events);
        true
    }

    /// Whether a block's plane, or its shared stock, has room for the valid data of the block.
    pub(in crate::ssd) fn has_room_for_moves_of(&self, block: BlockId) -> bool {
        let plane = self.geometry.plane_of(block);
        let pages = u32::from(self.ftl.blocks()[block].valid).div_ceil(self.geometry.units_per_page);
        if let Some(pool) = self.admission.reservations.move_pool(plane) {
            return pool.has_room_for(pages);
        }
        let bound_to = self.bound_plane(plane);
        self.admission.reservations.space().takes_own(
            &self.ftl,
            PlaneJobs(self).own_moves(plane),
            plane,
            bound_to,
            pages,
        )
    }

    /// Begins the relocation of a full block.
    pub(in crate::ssd) fn begin_relocation(&mut self, block: BlockId, source: Source, events: &mut EventQueue) {
        self.wake_shares(events);
        let (plane, now_ns) = (self.geometry.plane_of(block), events.now_ns());
        let memory = self.gc.relocations.take_memory();
        let mut moves = memory.unwrap_or_else(|| Vec::with_capacity(self.geometry.units_per_block as usize));
        self.ftl.take_victim(block, &mut moves);
        self.activate(source, events);
        let (free_blocks, geometry) = (self.ftl.free_blocks_of(plane), &self.geometry);
        let page_of = |unit| geometry.page_of(unit);
        if source == Source::GC && !self.gc.relocations.is_collecting_on(self.geometry.die_of(plane)) {
            self.dies[self.geometry.die_of(plane)].begin_collecting(now_ns);
        }
        let relocation = Relocation::new((source, plane, block), moves, (now_ns, free_blocks), page_of);
        let id = self.gc.relocations.begin(relocation, &mut self.admission.reservations);
        self.notify_die_search(self.geometry.die_of(plane));
        self.submit_requests(id, events);
    }

    /// Submits the requests that a relocation needs now.
    fn submit_requests(&mut self, id: JobId, events: &mut EventQueue) {
        let units_per_page = self.geometry.units_per_page;
        let buffer_units = units_per_page * self.gc.relocations.buffer_pages();
        loop {
            let relocation = self.gc.relocations.get(id);
            let (home, task) = (relocation.plane(), relocation.source());
            let mut plane = home;
            if relocation.is_about_to_program(units_per_page) && self.admission.reservations.are_shared() {
                let Some(place) = self.place_move(home) else {
                    self.gc.relocations.mark_blocked();
                    return;
                };
                plane = place;
            }
            let request = self
                .gc
                .relocations
                .change(id, &mut self.admission.reservations, |r| r.next_request(units_per_page, buffer_units));
            let Some(request) = request else { return };
            let (role, units) = match request {
                RelocationRequest::Read => (Role::RelocationRead, 0),
                RelocationRequest::Program { units } => (Role::RelocationProgram, units),
                RelocationRequest::Erase => (Role::RelocationErase, 0),
            };
            if role == Role::RelocationProgram && self.admission.reservations.are_shared() {
                self.admission.reservations.expect_move(plane);
            }
            let mut txn = Txn::new(role, LogicalUnit::NONE, units, self.geometry.die_of(plane), plane);
            (txn.job, txn.task) = (id, task);
            let txn = self.txns.add(txn);
            match self.has_firmware_delays() {
                true => self.delay(txn, events),
                false => self.submit(txn, events),
            }
        }
    }

    /// The plane for a page of moved data: on the die that the allocation chooses, the plane with the most pages left.
    /// `None` if all remaining pages are reserved for host writes, which will be bound soon.
    fn place_move(&mut self, home: PlaneId) -> Option<PlaneId> {
        let place = self.choose_die_for_move(home);
        let pages_left = |&plane: &PlaneId| {
            self.ftl.pages_left(plane, Stream::Moved) - self.admission.reservations.space().incoming(plane)
        };
        let plane = self.planes_for_move(place.die).max_by_key(pages_left)?;
        self.ftl.on_placed(place);
        Some(plane)
    }

    /// Planes of a die that take a page of moved data.
    pub(in crate::ssd) fn planes_for_move(&self, die: DieId) -> impl Iterator<Item = PlaneId> + '_ {
        self.geometry.planes_of(die).filter(|&plane| self.admission.reservations.space().takes_move(&self.ftl, plane))
    }

    /// Tries blocked relocations again: no plane took their next page.
    fn resume_blocked(&mut self, events: &mut EventQueue) {
        if !self.gc.relocations.take_blocked() {
            return;
        }
        for at in 0..self.gc.relocations.count() {
            self.submit_requests(self.gc.relocations.at(at), events);
        }
    }

    /// Compares the shared stocks of planes with the translation layer and with the relocations. Visits every plane.
    pub(in crate::ssd) fn check_room(&self) {
        let reservations = &self.admission.reservations;
        if !reservations.are_shared() {
            return;
        }
        for plane in (0..self.geometry.planes).map(PlaneId) {
            let pool = reservations.move_pool(plane).expect("there is a stock");
            let planes = (0..self.geometry.planes).map(PlaneId).filter(|&other| reservations.share_stock(plane, other));
            let left: u32 = planes.map(|other| self.ftl.pages_left(other, Stream::Moved)).sum();
            hold!(
                left == pool.left && pool.has_room_for(0),
                ReservationsCovered,
                "{left} pages are left in the stock of {plane:?}: {pool:?}"
            );
            let unsent = self.gc.relocations.pages_unsent(|other| reservations.share_stock(plane, other));
            hold!(unsent == pool.unsent, ReservationsCovered, "{unsent} pages are to be sent: {pool:?}");
        }
    }

    // ---- ends -------------------------------------------------------------------------------------------------------

    /// A request of a relocation ended: releases its slot, and submits the next requests.
    pub(in crate::ssd) fn end_request(&mut self, id: TxnId, events: &mut EventQueue) {
        let (role, job, units) = (self.txns[id].role, self.txns[id].job, self.txns[id].units);
        let (die, task) = (self.txns[id].die, self.txns[id].task);
        self.txns.remove(id);
        self.notify_die_search(die);
        match role {
            Role::RelocationRead => {
                self.gc.relocations.change(job, &mut self.admission.reservations, |r| r.end_read(units))
            }
            Role::RelocationProgram => {
                self.gc.relocations.change(job, &mut self.admission.reservations, |r| r.end_program(units))
            }
            Role::RelocationCopyback => {
                self.gc.relocations.change(job, &mut self.admission.reservations, |r| r.end_copyback(units))
            }
            _ => {
                self.end_relocation(job, events);
                return self.leave_window(die, task, events);
            }
        }
        self.leave_window(die, task, events);
        self.submit_requests(job, events);
    }

    /// A relocated block is erased: starts the next collections, and then admits writes that wait for space.
    fn end_relocation(&mut self, id: JobId, events: &mut EventQueue) {
        let relocation = self.gc.relocations.get(id);
        let (plane, block, source) = (relocation.plane(), relocation.block(), relocation.source());
        let (start_ns, pages_bound) = (relocation.start_ns(), relocation.pages_bound());
        let (units_valid, free_blocks) = (relocation.units_valid(), relocation.free_blocks());
        let die = self.geometry.die_of(plane);
        self.records.counters.on_dropped_moves(relocation.dropped());
        self.ftl.erase(block);
        self.gc.background.on_erase(block, events.now_ns());
        self.gc.relocations.end(id, events.now_ns());
        self.notify_die_search(die);
        self.admission.reservations.follow(&self.ftl, plane);
        self.resume_blocked(events);
        if source == Source::GC {
            if !self.gc.relocations.is_collecting_on(die) {
                self.records.counters.on_die_reserved(self.dies[die].collecting_for_ns(events.now_ns()));
                self.dies[die].end_collecting();
            }
            self.gc.scopes.count_collection(plane, pages_bound, self.geometry.pages_per_block);
            let (die, plane, block) = (die.0, plane.0, block.0);
            let event =
                GcEvent { drive: 0, start_ns, end_ns: events.now_ns(), die, plane, block, units_valid, free_blocks };
            self.records.counters.on_collection(event);
        } else {
            self.records.counters.on_relocated(source, 1);
        }
        if self.looks_up() {
            self.update_moved(die, source, self.geometry.pages_per_block.saturating_sub(pages_bound), events);
        }
        self.collect_next(plane, events);
        self.begin_background(events);
        self.deactivate_at_rest(source, events);
        self.admit_claimable_waiters(die, plane, events);
    }
}
