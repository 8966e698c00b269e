//! The interface of the back end for the rest of the simulation, and shorthands for its lists.

use super::back_end::BackEnd;
use super::dies::die::DieState;
use crate::dispatch::queues::Queue;
use crate::dispatch::txn::Txn;
use crate::flash::command::Source;
use crate::flash::geometry::Geometry;
use crate::ftl::core::{Counts, Ftl};
use crate::observe::clocks::Occupant;
use crate::observe::commands::{CommandFilter, CommandRecord};
use crate::observe::counters::Counters;
use crate::observe::observers::Observers;
use crate::sim::index::{DieId, LogicalUnit, PlaneId, RequestId, TxnId};

impl BackEnd {
    /// Prefetches the map entry of the request's first unit into the processor's cache.
    #[inline(always)]
    pub(crate) fn prefetch_entry(&self, offset_bytes: u64) {
        if let Ok(unit) = u32::try_from(offset_bytes / u64::from(self.geometry.unit_bytes)) {
            self.ftl.prefetch_entry(LogicalUnit(unit));
        }
    }

    /// Prefetches what an overwrite of the request's first unit touches.
    #[inline(always)]
    pub(crate) fn prefetch_place(&self, offset_bytes: u64) {
        let unit = u32::try_from(offset_bytes / u64::from(self.geometry.unit_bytes)).ok();
        if let Some(unit) = unit.filter(|&unit| unit < self.geometry.logical_units) {
            self.ftl.prefetch_place(LogicalUnit(unit));
        }
    }

    /// The list that holds a die's queue.
    #[inline(always)]
    pub(super) fn queue(&self, die: DieId, queue: Queue) -> usize {
        self.queues.of_die(die, queue)
    }

    /// The list of transactions that wait for space on `plane`, or on the die if they are bound to no plane.
    #[inline(always)]
    pub(super) fn space_queue(&self, die: DieId, plane: PlaneId) -> usize {
        let first = if plane.is_none() { self.gc.relocations.first_in_line(die) } else { die };
        self.queues.for_space(first, plane)
    }

    /// Appends a transaction to a list.
    #[inline(always)]
    pub(super) fn enqueue(&mut self, list: usize, txn: TxnId) {
        let ftl = &self.ftl;
        self.queues.push_back(list, txn, &self.txns, |unit| ftl.lookup(unit));
    }

    /// Adds a transaction that is on no list yet.
    #[inline(always)]
    pub(crate) fn add_txn(&mut self, txn: Txn) -> TxnId {
        if txn.waits_for > 0 {
            self.map.newest.track();
        }
        self.txns.add(txn)
    }

    /// A transaction.
    pub(crate) fn txn(&self, id: TxnId) -> &Txn {
        &self.txns[id]
    }

    /// Removes an ended transaction that [`Self::take_done`] returned.
    pub(crate) fn remove_txn(&mut self, id: TxnId) {
        self.txns.remove(id);
    }

    /// The next transaction that ended, in the order of their ends.
    pub(crate) fn take_done(&mut self) -> Option<TxnId> {
        self.host_side.endings.take_ended()
    }

    /// The request of a transaction that was split in two; it is returned once for each split.
    pub(crate) fn take_split(&mut self) -> Option<RequestId> {
        self.host_side.endings.take_split()
    }

    /// Whether requests still have to process that their transactions ended or were split.
    #[inline(always)]
    pub(crate) fn has_endings(&self) -> bool {
        self.host_side.endings.has_any()
    }

    /// Transactions in progress.
    pub fn txns_live(&self) -> usize {
        self.txns.live()
    }

    /// The drive's translation layer.
    #[inline(always)]
    pub fn ftl(&self) -> &Ftl {
        &self.ftl
    }

    /// The drive's shape as its translation layer sees it: see [`Ftl::geometry`].
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// The shape of the drive's flash.
    pub fn flash_geometry(&self) -> &Geometry {
        self.flash.geometry()
    }

    /// Records commands from now on; the records name the drive by this number.
    pub(crate) fn keep_commands(&mut self, number: u32, filter: CommandFilter) {
        if !self.flash.is_observed() {
            self.flash.observe(Box::default());
        }
        let geometry = self.flash.geometry().clone();
        if let Some(observers) = self.flash.observer() {
            observers.keep_commands(number, filter, &geometry);
        }
        self.scheme.settings.collection.steps_alone = false;
        self.scheme.settings.issues_pages_in_place = false;
    }

    /// The recorded commands, in the order of their issue.
    pub(crate) fn take_commands(&mut self) -> Vec<CommandRecord> {
        self.flash.observer().map_or_else(Vec::new, Observers::take_commands)
    }

    /// Tells the observers that a request of this number begins.
    #[inline(always)]
    pub(crate) fn announce(&mut self, id: RequestId, number: u64) {
        if let Some(observers) = self.flash.observer() {
            observers.on_request(id, number);
        }
    }

    /// The drive's counters up to now.
    #[inline(always)]
    pub fn counters(&self) -> &Counters {
        &self.records.counters
    }

    /// The drive's work since the run began.
    pub fn counts(&self) -> Counts {
        self.records.before.since(&self.ftl)
    }

    /// Switches a die's clock to its current occupant.
    #[inline]
    pub(super) fn update_clock(&mut self, die: DieId, now_ns: u64) {
        let (occupant, held_by_gc) = self.occupant_of(die);
        self.dies[die].switch_clock(now_ns, occupant, held_by_gc);
    }

    /// The occupant of a die, and whether collection holds it.
    pub(super) fn occupant_of(&self, die: DieId) -> (Occupant, bool) {
        let d = &self.dies[die];
        let is_held = d.is_reserved() && !self.is_job_paused(d.reserved_by());
        let reserved_for = is_held.then(|| self.gc.jobs[d.reserved_by()].source());
        let source = self.flash.works_for(die).or(reserved_for);
        let occupant = match source {
            Some(source) => Occupant::from(source),
            // The die is at rest: writes that wait for space here wait for collection.
            None if d.waiting_for_space() > 0 => Occupant::Gc,
            None => Occupant::NoWork,
        };
        (occupant, reserved_for == Some(Source::GC) || occupant == Occupant::Gc)
    }

    /// Whether a collection, or another job, is in progress or waits for its die.
    pub fn has_jobs(&self) -> bool {
        self.gc.jobs.has_any() || self.gc.relocations.count() > 0
    }

    /// Number of dies that are reserved for jobs.
    pub fn dies_reserved(&self) -> u32 {
        self.dies.reserved()
    }

    /// Dies at background work: dies that running jobs have reserved, those of other tasks included, and dies with a
    /// block under collection while other work goes on. Paused collections do not count.
    pub fn dies_collecting(&self) -> u32 {
        let keeps_die = |die: &&DieState| die.is_reserved() && !self.is_job_paused(die.reserved_by());
        let reserved = match self.is_ordered_to_pause() {
            true => self.dies.iter().filter(keeps_die).count() as u32,
            false => self.dies.reserved(),
        };
        reserved + self.gc.relocations.dies_collecting()
    }

    /// Free blocks of the plane with the fewest.
    pub(super) fn lowest_free_blocks(&self) -> u32 {
        (0..self.geometry.planes).map(|p| self.ftl.free_blocks_of(PlaneId(p))).min().unwrap_or(0)
    }

    /// The smallest number of free blocks that a plane has had.
    pub fn min_free_blocks(&self) -> u32 {
        self.records.fewest_free.blocks()
    }

    /// Sum over dies of the time that collection has held them.
    pub fn held_by_gc_ns(&self, now_ns: u64) -> u128 {
        self.dies.iter().map(|d| u128::from(d.clocks().held_by_gc_ns(now_ns))).sum()
    }
}
