//! A drive whose collections a coordinator orders. The drive reports how few blocks are free, collects on all its dies
//! when ordered, and pauses when ordered.
//!
//! The trigger evaluates its watermarks as usual; the drive reports the result instead of collecting
//! (`starts_without_order`). Below its last resort it collects without an order, so a silent coordinator blocks no
//! drive. A forced drive collects one plane of each die at a time, the one with the fewest free blocks first: as often
//! as ordered, then until the stop level ([`ForceScope`]). When no die has a collection left, the drive reports `Done`,
//! and its level.
//!
//! A paused collection keeps its victim and stops between two steps, with no page in the controller. Its die then
//! serves host work as if it were free, until the drive is forced again, a plane reaches its last resort, a write waits
//! for space, or the host is done.

use crate::dispatch::order::Class;
use crate::flash::command::Source;
use crate::observe::array_report::CoordinationTotals;
use crate::sim::index::{DieId, JobId, PlaneId};
use crate::sim::queue::EventQueue;
use crate::ssd::back_end::{BackEnd, Queue};
use crate::ssd::dies::die::PreemptionPoint;
use crate::ssd::dies::issue::Readiness;
use crate::tasks::gc::trigger::{CoordinationWatermarks, FreeLevel, Start, TriggerPolicy, Wanted};

/// The level at which a forced drive stops collecting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// The level at which its own collection would stop.
    #[default]
    Own,
    /// The level at which it no longer reports.
    Report,
    /// As many free blocks as possible: the reserve.
    Reserve,
}

/// The free blocks that are compared with the stop level of a forced drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ForceScope {
    /// Each plane's own: every plane collects at least as often as ordered, and then as long as it is below the level.
    #[default]
    Plane,
    /// The free blocks of the whole drive: every die collects at least as often as ordered, its lowest plane first, and
    /// then as long as the drive is below the level.
    Drive,
}

/// The collections of a forced drive that do not depend on the stop level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MinimumCollections {
    /// This many collections of each plane, or of each die if the whole drive's free blocks count.
    AtLeast(u32),
    /// The collections that the drive still owed when it was ordered to pause.
    Rest,
}

/// An order to collect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Force {
    /// The level at which it stops.
    pub stop: Stop,
    /// The free blocks that are compared with that level.
    pub scope: ForceScope,
    /// The collections before that, independent of free blocks.
    pub owed: MinimumCollections,
}

/// The effect of an order to pause on a running collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PauseMode {
    /// It pauses before its next step, with no page in the controller.
    #[default]
    Pause,
    /// It completes, and no other collection follows.
    FinishCollection,
}

/// A report of a drive to its coordinator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Report {
    /// The drive has fallen to a level.
    Low(FreeLevel),
    /// Distance of the lowest plane's free blocks from the middle between the report and the start level, as a share of
    /// a plane's blocks; negative below it.
    AboveMiddle(f64),
    /// The drive has carried out an order to collect, or was ordered to pause.
    Done,
}

/// Why the collection of a plane was started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum CollectionReason {
    /// A caller requested this collection.
    #[default]
    Requested,
    /// The drive was forced to collect.
    Forced,
    /// The drive was at its last resort, or a write waited for space: no coordinator ordered it.
    LastResort,
}

/// The orders of a coordinator, and the drive's reports.
pub(in crate::ssd) struct Coordination {
    /// The lowest level reported since the last order was carried out.
    reported: FreeLevel,
    reports: Vec<Report>,
    /// Free blocks of a plane, or of a plane on average, at which forced collection stops.
    stop_blocks: u32,
    /// The scope of `stop_blocks`.
    scope: ForceScope,
    /// The collections that each plane still has to begin, independent of free blocks. If the whole drive's free blocks
    /// count, the collections that a die owes are at its first plane.
    owed: Vec<u32>,
    /// Why the collection of each plane was started.
    why: Vec<CollectionReason>,
    /// Planes without a victim since the drive was forced.
    is_given_up: Vec<bool>,
    /// Dies that have not carried out the last order to collect.
    is_forced: Vec<bool>,
    /// Invariant: the number of set entries of `is_forced`.
    dies_forced: u32,
    /// Collections are paused, until the drive is forced again, a plane reaches its last resort, a write waits for
    /// space, or the host is done.
    is_ordered_to_pause: bool,
    totals: CoordinationTotals,
}

impl BackEnd {
    /// Makes the drive obey a coordinator. Call it before the run starts. `may_pause`: orders to pause may come.
    pub(crate) fn obey(&mut self, may_pause: bool) {
        self.scheme.trigger.obey();
        // A collection that may pause must check for orders between its steps.
        self.scheme.settings.collection.is_undisturbed &= !may_pause;
        let (planes, dies) = (self.geometry.planes as usize, self.geometry.dies as usize);
        self.gc.coordination = Some(Box::new(Coordination {
            reported: FreeLevel::High,
            reports: Vec::with_capacity(4),
            stop_blocks: 0,
            scope: ForceScope::default(),
            owed: vec![0; planes],
            why: vec![CollectionReason::default(); planes],
            is_given_up: vec![false; planes],
            is_forced: vec![false; dies],
            dies_forced: 0,
            is_ordered_to_pause: false,
            totals: CoordinationTotals::default(),
        }));
        self.report_lowest();
    }

    /// The report that answers a coordinator's request for the level.
    pub(crate) fn above_middle(&self) -> Report {
        let CoordinationWatermarks { report, start, .. } = self.scheme.trigger.coordination_watermarks(&self.geometry);
        let blocks = f64::from(self.lowest_free_blocks()) - f64::from(report + start) / 2.0;
        Report::AboveMiddle(blocks / f64::from(self.geometry.blocks_per_plane))
    }

    /// The next report, in order.
    pub(crate) fn take_report(&mut self) -> Option<Report> {
        let coordination = self.gc.coordination.as_mut()?;
        (!coordination.reports.is_empty()).then(|| coordination.reports.remove(0))
    }

    /// The orders that the drive received, and the collections that it began.
    pub fn coordination_totals(&self) -> Option<CoordinationTotals> {
        self.gc.coordination.as_ref().map(|coordination| coordination.totals)
    }

    /// Whether a coordinator's order to pause collections is in effect.
    #[inline]
    pub fn is_ordered_to_pause(&self) -> bool {
        self.gc.coordination.as_ref().is_some_and(|coordination| coordination.is_ordered_to_pause)
    }

    /// A plane's trigger wants a collection. Returns whether it starts without an order of the coordinator; if not, the
    /// drive reports its level.
    #[inline(never)]
    pub(in crate::ssd) fn starts_without_order(&mut self, plane: PlaneId, wanted: Wanted) -> bool {
        let level = self.scheme.trigger.level_of(self.free_of_scope(plane));
        if level == FreeLevel::LastResort || wanted.start == Start::Space {
            self.coordination_mut().why[plane.at()] = CollectionReason::LastResort;
            // A write that waits for space may wait for a paused collection.
            self.resume();
            return true;
        }
        if !self.report_reached_level(level, wanted.request_waits) {
            let die = self.geometry.die_of(plane);
            self.dies[die].await_request(self.geometry.plane_offset(plane));
        }
        false
    }

    /// Reports the level up to `Report` at once, and `Start` only if the trigger starts now. Returns whether the whole
    /// level was reported; if not, the next request at the die reports it.
    fn report_reached_level(&mut self, level: FreeLevel, request_waits: bool) -> bool {
        self.report(level.min(FreeLevel::Report));
        let says_all = level < FreeLevel::Start
            || self.scheme.trigger.starts_now(Wanted { start: Start::Watermark, request_waits });
        if says_all {
            self.report(level.min(FreeLevel::Start));
        }
        says_all
    }

    /// The drive is below a watermark of scope `device`: reports the level once for all planes.
    #[inline(never)]
    pub(in crate::ssd) fn report_device_level(&mut self, events: &mut EventQueue) {
        let level = self.scheme.trigger.level_of(self.ftl.free_blocks() as u32);
        if level == FreeLevel::LastResort {
            for die in (0..self.geometry.dies).map(DieId) {
                self.collect_lowest_of(die, Start::Watermark, events);
            }
        } else if level > self.coordination_mut().reported {
            let request_waits = self.dies.iter().any(|die| die.waiting() > 0);
            if !self.report_reached_level(level, request_waits) {
                let planes = self.geometry.planes_per_die;
                self.dies.iter_mut().for_each(|die| die.await_request_on_all(planes));
            }
        }
    }

    /// Takes work for a die whose collection is paused: host work, and moves of other dies' collections, as if the die
    /// were free. Other jobs of the die wait for the paused job.
    #[inline(never)]
    pub(in crate::ssd) fn take_beside_paused(
        &mut self,
        die: DieId,
        readiness: Readiness,
        events: &mut EventQueue,
    ) -> bool {
        if self.dies[die].point() == PreemptionPoint::Polling {
            // The controller must poll the queue first.
            return false;
        }
        let mut heads = self.heads(die);
        let first_move = self.head(die, Queue::Move).map(|id| self.turn_of(self.txn(id)));
        heads.came[Class::Gc as usize] = first_move.unwrap_or(u64::MAX);
        match (self.pick_class(die, &heads, events.now_ns()), readiness) {
            (Some(Class::Gc), Readiness::Ready) => self.take_move(die, events),
            (Some(Class::Read), Readiness::Ready | Readiness::CachedRead) => {
                let lead = self.head(die, Queue::Read).expect("a read is queued");
                self.take_read(die, lead, events);
            }
            (Some(Class::Write), Readiness::Ready | Readiness::CachedProgram) => {
                let lead = self.head(die, Queue::Write).expect("a write is queued");
                self.take_write(die, lead, events);
            }
            _ => return false,
        }
        self.report_paused_planes(die);
        true
    }

    /// Reports the level of planes whose collection is paused, because a plane with a collection does not evaluate its
    /// trigger. At the last resort, these collections resume.
    fn report_paused_planes(&mut self, die: DieId) {
        let request_waits = self.dies[die].waiting() > 0;
        for plane in self.geometry.planes_of(die) {
            if self.gc.jobs.is_free(plane) {
                continue;
            }
            let level = self.scheme.trigger.level_of(self.free_of_scope(plane));
            if level == FreeLevel::LastResort {
                return self.resume();
            }
            if !self.report_reached_level(level, request_waits) {
                self.dies[die].await_request(self.geometry.plane_offset(plane));
            }
        }
    }

    /// A request waits at a die on which a plane's collection is paused: reports the plane's level, which was deferred.
    pub(in crate::ssd) fn report_deferred_level(&mut self, plane: PlaneId) {
        if self.is_job_paused(self.gc.jobs.of_plane(plane)) {
            self.report_reached_level(self.scheme.trigger.level_of(self.free_of_scope(plane)), true);
        }
    }

    fn coordination_mut(&mut self) -> &mut Coordination {
        self.gc.coordination.as_mut().expect("a coordinator orders this drive's collections")
    }

    /// Reports a level, unless it was reported already.
    fn report(&mut self, level: FreeLevel) {
        let coordination = self.coordination_mut();
        if level > coordination.reported {
            coordination.reported = level;
            coordination.reports.push(Report::Low(level));
        }
    }

    /// Reports the level of the drive's lowest plane, at most `Report`. If it is at the level `Start`, the next write
    /// to it reports that.
    fn report_lowest(&mut self) {
        let level = self.scheme.trigger.level_of(self.lowest_of_scope());
        self.report(level.min(FreeLevel::Report));
    }

    /// Starts collections on all dies: first the collections that each plane or die owes, then others until the level
    /// is reached.
    pub(crate) fn force(&mut self, Force { stop, scope, owed }: Force, events: &mut EventQueue) {
        let watermarks = self.scheme.trigger.coordination_watermarks(&self.geometry);
        let g = &self.geometry;
        let reserve =
            g.blocks_per_plane - g.logical_units.div_ceil(g.units_per_block * g.planes).min(g.blocks_per_plane);
        let stop_blocks = match stop {
            Stop::Own => watermarks.stop,
            Stop::Report => watermarks.report,
            Stop::Reserve => reserve,
        };
        if let MinimumCollections::AtLeast(collections) = owed {
            for plane in (0..self.geometry.planes).map(PlaneId) {
                // A running collection counts as one of those ordered.
                let owed = match scope {
                    ForceScope::Plane => collections.saturating_sub(u32::from(self.gc.jobs.is_on(plane))),
                    ForceScope::Drive if self.geometry.plane_offset(plane) == 0 => {
                        collections.saturating_sub(u32::from(self.has_job(self.geometry.die_of(plane))))
                    }
                    ForceScope::Drive => 0,
                };
                self.coordination_mut().owed[plane.at()] = owed;
            }
        }
        let dies = self.geometry.dies;
        let coordination = self.coordination_mut();
        (coordination.stop_blocks, coordination.scope) = (stop_blocks, scope);
        coordination.is_given_up.fill(false);
        coordination.is_forced.fill(true);
        coordination.dies_forced = dies;
        coordination.totals.forced += 1;
        self.resume();
        (0..dies).for_each(|die| self.go_on_forced(DieId(die), events));
    }

    /// Starts no more ordered collections; running ones pause or complete.
    pub(crate) fn pause(&mut self, on_request: PauseMode, now_ns: u64) {
        let has_jobs = self.gc.jobs.has_of(Source::GC);
        // Requests that wait for the pages of a collection would wait forever.
        let is_needed =
            self.waits_for_gc() || self.scheme.trigger.level_of(self.lowest_of_scope()) == FreeLevel::LastResort;
        let coordination = self.coordination_mut();
        if coordination.dies_forced == 0 {
            return;
        }
        coordination.is_forced.fill(false);
        coordination.dies_forced = 0;
        coordination.totals.pauses += u64::from(has_jobs);
        coordination.is_ordered_to_pause = has_jobs && !is_needed && on_request == PauseMode::Pause;
        self.end_force();
        // Dies whose collection is paused are not visited.
        for die in (0..self.geometry.dies).map(DieId) {
            if self.dies[die].is_reserved() {
                self.update_clock(die, now_ns);
            }
        }
    }

    /// Resumes paused collections.
    pub(in crate::ssd) fn resume(&mut self) {
        if std::mem::take(&mut self.coordination_mut().is_ordered_to_pause) {
            for die in (0..self.geometry.dies).map(DieId) {
                if self.dies[die].is_reserved() {
                    self.mark_ready(die);
                }
            }
        }
    }

    /// Starts the next collection that a forced die owes, if the die has no job.
    pub(in crate::ssd) fn go_on_forced(&mut self, die: DieId, events: &mut EventQueue) {
        while self.gc.coordination.as_ref().is_some_and(|coordination| coordination.is_forced[die.at()])
            && !self.has_job(die)
        {
            let Some(plane) = self.next_forced(die) else {
                let coordination = self.coordination_mut();
                coordination.is_forced[die.at()] = false;
                coordination.dies_forced -= 1;
                if coordination.dies_forced == 0 {
                    self.end_force();
                }
                return;
            };
            let first = self.geometry.planes_of(die).next().expect("a die has a plane");
            let coordination = self.coordination_mut();
            let owing = if coordination.scope == ForceScope::Drive { first } else { plane };
            coordination.owed[owing.at()] = coordination.owed[owing.at()].saturating_sub(1);
            coordination.why[plane.at()] = CollectionReason::Forced;
            self.start_collection(plane, Start::Requested, events);
        }
    }

    /// The plane of a die that is collected next: the lowest plane that owes collections, otherwise the lowest below
    /// the stop level. If the whole drive's free blocks count: the lowest plane, as long as the die owes a collection
    /// or the drive is below that level.
    fn next_forced(&self, die: DieId) -> Option<PlaneId> {
        let coordination = self.gc.coordination.as_ref()?;
        let is_worth_it = |p: PlaneId| !coordination.is_given_up[p.at()];
        if coordination.scope == ForceScope::Drive {
            let owes = self.geometry.planes_of(die).any(|p| coordination.owed[p.at()] > 0);
            let stop_blocks = u64::from(coordination.stop_blocks) * u64::from(self.geometry.planes);
            let goes_on = owes || self.ftl.free_blocks() < stop_blocks;
            return goes_on.then(|| self.lowest_that(die, is_worth_it)).flatten();
        }
        let owes = |p: PlaneId| coordination.owed[p.at()] > 0 && is_worth_it(p);
        let is_low = |p: PlaneId| self.ftl.free_blocks_of(p) < coordination.stop_blocks && is_worth_it(p);
        self.lowest_that(die, owes).or_else(|| self.lowest_that(die, is_low))
    }

    /// The order to collect is carried out.
    fn end_force(&mut self) {
        let coordination = self.coordination_mut();
        coordination.reported = FreeLevel::High;
        coordination.reports.push(Report::Done);
        self.report_lowest();
    }

    /// A collection of a plane begins: it has a victim.
    pub(in crate::ssd) fn count_collection(&mut self, plane: PlaneId) {
        let Some(coordination) = &mut self.gc.coordination else { return };
        match std::mem::take(&mut coordination.why[plane.at()]) {
            CollectionReason::Requested => {}
            CollectionReason::Forced => coordination.totals.forced_collections += 1,
            CollectionReason::LastResort => coordination.totals.last_resort_collections += 1,
        }
    }

    /// A collection found no victim on a plane: forced dies skip the plane.
    pub(in crate::ssd) fn give_up(&mut self, plane: PlaneId) {
        if let Some(coordination) = &mut self.gc.coordination {
            coordination.is_given_up[plane.at()] = true;
            coordination.why[plane.at()] = CollectionReason::default();
        }
    }

    /// Whether the collection that has reserved a die is paused, so that the host may use the die.
    #[inline]
    pub(in crate::ssd) fn is_job_paused(&self, id: JobId) -> bool {
        if !self.is_ordered_to_pause() {
            return false;
        }
        let job = &self.gc.jobs[id];
        job.source() == Source::GC && !job.is_stepping() && job.held().is_empty()
    }
}
