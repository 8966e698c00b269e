//! The mechanism by which a drive collects: jobs, relocations, or merges of log blocks. This file decides all
//! differences between the three, so that a fourth mechanism is a file of its own and an arm in each match here.

use crate::flash::command::Source;
use crate::ftl::blocks::BlockState;
use crate::ftl::space::OwnMoves;
use crate::ftl::victim::PlaneRange;
use crate::sim::index::{BlockId, DieId, JobId, PlaneId, TxnId};
use crate::sim::invariant::hold;
use crate::sim::queue::EventQueue;
use crate::ssd::back_end::BackEnd;
use crate::tasks::gc::trigger::{FreeLevel, Scope, Start, TriggerPolicy};
use crate::tasks::job::{Footprint, Purpose};

/// How a drive's collections work: a constant of its scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ssd) enum Mechanism {
    /// Jobs: each has its die to itself (`start`, `collection_course`).
    Jobs,
    /// Relocations, whose requests share dies with those of the host (`relocations`).
    Relocations,
    /// Merges, which are jobs that bring log blocks and data blocks together (`log_block_merges`).
    Merges,
}

impl Mechanism {
    /// The mechanism of a drive, given whether its collections are tasks and whether it has log blocks.
    pub fn of(are_tasks: bool, has_log_blocks: bool) -> Self {
        match (are_tasks, has_log_blocks) {
            (true, _) => Self::Relocations,
            (false, true) => Self::Merges,
            (false, false) => Self::Jobs,
        }
    }
}

impl BackEnd {
    #[inline(always)]
    fn mechanism(&self) -> Mechanism {
        self.scheme.settings.collection.mechanism
    }

    // ---- starts -----------------------------------------------------------------------------------------------------

    /// A page was bound on a plane: writes that wait for a page there are tried again, and collection starts if the
    /// watermark of the plane's scope requires it.
    #[inline]
    pub(in crate::ssd) fn collect_if_low(&mut self, plane: PlaneId, events: &mut EventQueue) {
        let die = self.geometry.die_of(plane);
        if self.waits_for_any_collection() {
            self.admit_waiters_everywhere(events);
        } else if self.dies[die].waiting_for_space() > 0 {
            // Writes that share a page give back what was reserved for the others.
            self.admit_waiters(die, plane, events);
        }
        match self.mechanism() {
            Mechanism::Jobs => self.collect_scope_if_low(plane, events),
            Mechanism::Relocations => self.collect_as_task(plane, events),
            Mechanism::Merges => self.merge_if_due(plane, events),
        }
    }

    /// Host writes wait for space on a plane, or on a die if they are bound to no plane.
    pub(in crate::ssd) fn collect_for_space(&mut self, die: DieId, plane: PlaneId, events: &mut EventQueue) {
        match self.mechanism() {
            Mechanism::Jobs => self.collect_scope_for_space(die, plane, events),
            Mechanism::Relocations => self.collect_as_task_for_space(die, plane, events),
            Mechanism::Merges => self.merge_for_space(plane, events),
        }
    }

    /// Collects a plane once, at any watermark. Returns false if nothing is reclaimable on the plane, or a job collects
    /// it already. The victim policy picks the block when the job begins.
    pub fn collect_once(&mut self, plane: PlaneId, events: &mut EventQueue) -> bool {
        if self.mechanism() == Mechanism::Relocations {
            return self.begin_task_collection(PlaneRange::one(plane), events);
        }
        let can = self.gc.jobs.is_free(plane) && self.is_reclaimable(plane);
        if can {
            self.start_collection(plane, Start::Requested, events);
        }
        can
    }

    /// The plane whose collection follows one that ended, and the reason.
    pub(in crate::ssd) fn collection_after(&mut self, plane: PlaneId) -> Option<(PlaneId, Start)> {
        if self.mechanism() == Mechanism::Merges {
            return self.ftl.is_merge_due(plane).then_some((plane, Start::Requested));
        }
        if self.gc.coordination.is_some() {
            let is_urgent = self.scheme.trigger.level_of(self.free_of_scope(plane)) == FreeLevel::LastResort;
            return is_urgent.then_some((plane, Start::Watermark));
        }
        if !self.scheme.trigger.goes_on() {
            return None;
        }
        self.plane_after(plane).map(|next| (next, Start::Watermark))
    }

    /// Whether a plane is reclaimable: its collection must free a page, because moves are programmed in whole pages.
    pub(in crate::ssd) fn is_reclaimable(&self, plane: PlaneId) -> bool {
        match self.mechanism() {
            Mechanism::Merges => self.ftl.can_merge(plane),
            Mechanism::Jobs | Mechanism::Relocations => self.ftl.is_reclaimable(plane, self.geometry.units_per_page),
        }
    }

    /// The free space in the scope of a die that collects.
    pub(in crate::ssd) fn free_of_collection(&self, die: DieId) -> u32 {
        if self.mechanism() == Mechanism::Merges {
            // Blocks for merges are always reserved, independent of watermarks.
            return u32::MAX;
        }
        match self.scheme.trigger.scope() {
            Scope::Plane => self.geometry.planes_of(die).map(|p| self.free_of(p)).min().unwrap_or(0),
            Scope::Die => self.free_of_die(die),
            Scope::Device => self.ftl.free_blocks() as u32,
        }
    }

    /// Whether a job merges.
    #[inline(always)]
    pub(in crate::ssd) fn is_merge(&self, id: JobId) -> bool {
        self.mechanism() == Mechanism::Merges && self.gc.jobs[id].purpose().picks_victim
    }

    // ---- blocks of other tasks --------------------------------------------------------------------------------------

    /// Whether a block may be relocated now. It must be full. With jobs, its plane must have no job; with relocations,
    /// its plane must have space for its valid data, and the turn in its parity group. Blocks of a log-block map are
    /// moved by merges only.
    pub fn may_relocate(&self, block: BlockId) -> bool {
        let is_full = self.ftl.blocks()[block].state == BlockState::Closed;
        let plane = self.geometry.plane_of(block);
        is_full
            && match self.mechanism() {
                Mechanism::Jobs => self.gc.jobs.is_free(plane),
                Mechanism::Relocations => self.has_room_for_moves_of(block) && self.is_its_turn(plane),
                Mechanism::Merges => false,
            }
    }

    /// Relocates and erases a full block for a task other than GC.
    ///
    /// # Panics
    /// When the block is not full, or a job is in progress on its plane.
    pub fn start_relocation(&mut self, block: BlockId, source: Source, events: &mut EventQueue) {
        if self.mechanism() == Mechanism::Relocations {
            return self.begin_relocation(block, source, events);
        }
        self.start_relocation_of(Footprint::one(self.geometry.plane_of(block), block), source, true);
    }

    /// Jobs reserve dies, so a drive whose collections reserve none has no jobs.
    pub(in crate::ssd) fn check_has_jobs(&self, purpose: Purpose) {
        hold!(
            self.mechanism() != Mechanism::Relocations,
            DieReservation,
            "a job ({purpose:?}) on a drive whose collections reserve no die"
        );
    }

    // ---- space ------------------------------------------------------------------------------------------------------

    /// The pages that collections of a plane's blocks still have to program there.
    #[inline]
    pub(in crate::ssd) fn own_moves(&self, plane: PlaneId) -> OwnMoves {
        match self.mechanism() {
            Mechanism::Relocations if self.admission.reservations.are_shared() => OwnMoves::default(),
            Mechanism::Relocations => self.gc.relocations.own_moves(plane),
            Mechanism::Jobs | Mechanism::Merges => self.moves_of_job(plane),
        }
    }

    /// Pages became free: admits the writes that wait for them.
    pub(in crate::ssd) fn admit_waiters(&mut self, die: DieId, plane: PlaneId, events: &mut EventQueue) {
        match self.mechanism() {
            Mechanism::Relocations => self.admit_or_collect(die, plane, events),
            Mechanism::Jobs | Mechanism::Merges => self.admit_reservable_waiters(die, plane, events),
        }
    }

    /// Whether a transaction in front of a window counts as a claim on a page: a write, if collections reserve no die
    /// (`space_waiters`). A write reserves its page when it enters the window, with any mechanism.
    pub(in crate::ssd) fn claims_page(&self, id: TxnId) -> bool {
        self.mechanism() == Mechanism::Relocations && self.txns[id].role.is_write()
    }

    /// Whether writes of the host go to log blocks.
    #[inline(always)]
    pub(in crate::ssd) fn writes_to_logs(&self) -> bool {
        match self.mechanism() {
            Mechanism::Merges => true,
            Mechanism::Jobs | Mechanism::Relocations => false,
        }
    }

    /// Whether a write that begins to wait for a page may find one on another die at once: while it waited for the
    /// window, its die may have given its last pages to other writes.
    pub(in crate::ssd) fn may_find_page_elsewhere(&self) -> bool {
        self.mechanism() == Mechanism::Relocations && self.ftl.allocation().chooses_die()
    }
}
