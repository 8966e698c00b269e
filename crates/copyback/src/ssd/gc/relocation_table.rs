//! The relocations in progress, with counts of their remaining work.

use crate::flash::command::Source;
use crate::flash::geometry::Geometry;
use crate::flash::source::SOURCES_MAX;
use crate::ftl::core::{Ftl, Move};
use crate::ftl::space::OwnMoves;
use crate::redundancy::Group;
use crate::sim::index::{DieId, JobId, PlaneId};
use crate::ssd::admission::page_reservations::PageReservations;
use crate::tasks::gc::preemption::AsTask;
use crate::tasks::relocation::Relocation;

/// The relocations of a drive.
pub(in crate::ssd) struct Relocations {
    /// How collections work, if they are relocations.
    as_task: Option<AsTask>,
    all: Vec<Relocation>,
    free: Vec<JobId>,
    /// The relocations in progress, the oldest first: few. Invariant: none of them is in `free`.
    under_way: Vec<JobId>,
    counts: RelocationCounts,
    /// The groups of planes, if planes take turns.
    groups: Option<PlaneGroups>,
    /// At least one relocation has a page to program that no plane takes.
    has_blocked: bool,
    units_per_page: u32,
    planes_per_die: u32,
    time: CollectingTime,
    /// Number of dies that share one list of writes that wait for a page.
    dies_in_line: u32,
}

/// Counts of relocations in progress. Invariant: each of `under_way` counts once in each table that it belongs to.
struct RelocationCounts {
    of_source: [u32; SOURCES_MAX],
    on_plane: Vec<u32>,
    /// Collections only.
    collecting_on_die: Vec<u32>,
    /// Dies with a block under collection. Invariant: the dies whose count is not 0.
    dies_collecting: u32,
}

/// The time with at least one collection in progress.
struct CollectingTime {
    /// When the current period began. Undefined while no collection is in progress.
    since_ns: u64,
    /// The length of all earlier periods.
    before_ns: u64,
}

/// Groups of planes: one plane of a group is collected at a time.
struct PlaneGroups {
    group_of: Vec<u32>,
    at_work: Vec<u32>,
}

impl Relocations {
    /// No relocation is in progress.
    pub fn new(as_task: Option<AsTask>, groups: Option<Group>, ftl: &Ftl) -> Self {
        let geometry = &ftl.geometry;
        Self {
            as_task,
            all: Vec::new(),
            free: Vec::new(),
            under_way: Vec::new(),
            counts: RelocationCounts {
                of_source: [0; SOURCES_MAX],
                on_plane: vec![0; geometry.planes as usize],
                collecting_on_die: vec![0; geometry.dies as usize],
                dies_collecting: 0,
            },
            groups: groups.map(|group| PlaneGroups::new(group, geometry)),
            has_blocked: false,
            units_per_page: geometry.units_per_page,
            planes_per_die: geometry.planes_per_die,
            time: CollectingTime { since_ns: 0, before_ns: 0 },
            dies_in_line: match as_task.is_some() && ftl.allocation().chooses_die() {
                true if geometry.stripes.is_some() => geometry.dies / geometry.channels,
                true => geometry.dies,
                false => 1,
            },
        }
    }

    // ---- questions --------------------------------------------------------------------------------------------------

    /// How many collections may be in progress at once.
    pub fn victims(&self) -> usize {
        self.as_task.map_or(0, |task| task.victims as usize)
    }

    /// Pages that the controller holds of one relocation.
    pub fn buffer_pages(&self) -> u32 {
        self.as_task.map_or(1, |task| task.buffer_pages)
    }

    /// The first of the dies that share this die's list of writes that wait for a page.
    #[inline]
    pub fn first_in_line(&self, die: DieId) -> DieId {
        DieId(die.0 - die.0 % self.dies_in_line)
    }

    /// The number of relocations in progress.
    pub fn count(&self) -> usize {
        self.under_way.len()
    }

    /// A relocation in progress by its position, the oldest first.
    pub fn at(&self, at: usize) -> JobId {
        self.under_way[at]
    }

    /// A relocation.
    #[inline]
    pub fn get(&self, id: JobId) -> &Relocation {
        &self.all[id.at()]
    }

    /// The number of a task's relocations in progress.
    pub fn count_of(&self, source: Source) -> usize {
        self.counts.of_source[source.at()] as usize
    }

    /// Whether a block of a die is being collected.
    pub fn is_collecting_on(&self, die: DieId) -> bool {
        self.counts.collecting_on_die[die.at()] > 0
    }

    /// Dies with a block under collection.
    pub fn dies_collecting(&self) -> u32 {
        self.counts.dies_collecting
    }

    /// Whether a block of a plane is being relocated.
    #[inline]
    pub fn is_relocating_on(&self, plane: PlaneId) -> bool {
        self.counts.on_plane[plane.at()] > 0
    }

    /// Whether planes take turns.
    pub fn planes_take_turns(&self) -> bool {
        self.groups.is_some()
    }

    /// Whether no block of a plane's group is being relocated, or planes do not take turns.
    pub fn is_turn_of(&self, plane: PlaneId) -> bool {
        self.groups.as_ref().is_none_or(|groups| groups.at_work[groups.group_of[plane.at()] as usize] == 0)
    }

    /// The planes of a plane's group, in rotation after it; none if planes do not take turns.
    pub fn others_in_turn(&self, plane: PlaneId) -> impl Iterator<Item = PlaneId> + use<> {
        let planes = self.groups.as_ref().map_or(0, |groups| groups.group_of.len() as u32);
        let group_of = |plane: u32| self.groups.as_ref().map(|groups| groups.group_of[plane as usize]);
        let in_turn = (1..planes).map(move |behind| (plane.0 + behind) % planes);
        let of_group: Vec<u32> = in_turn.filter(|&other| group_of(other) == group_of(plane.0)).collect();
        of_group.into_iter().map(PlaneId)
    }

    /// The pages that relocations of a plane's blocks still have to program.
    #[inline]
    pub fn own_moves(&self, plane: PlaneId) -> OwnMoves {
        if !self.is_relocating_on(plane) {
            return OwnMoves::default();
        }
        let under_way = self.under_way.iter().map(|id| &self.all[id.at()]);
        let on_plane = under_way.filter(|relocation| relocation.plane() == plane);
        OwnMoves { pages: on_plane.map(|r| r.pages_left(self.units_per_page)).sum(), has_begun: true }
    }

    /// The total time with at least one collection in progress, until now.
    pub fn collecting_for_ns(&self, now_ns: u64) -> u64 {
        let of_this = if self.count_of(Source::GC) > 0 { now_ns - self.time.since_ns } else { 0 };
        self.time.before_ns + of_this
    }

    /// Pages that relocations of these planes' blocks still have to send. Visits all relocations.
    pub fn pages_unsent(&self, shares: impl Fn(PlaneId) -> bool) -> u32 {
        let under_way = self.under_way.iter().map(|id| &self.all[id.at()]);
        under_way.filter(|r| shares(r.plane())).map(|r| r.pages_unsent(self.units_per_page)).sum()
    }

    // ---- changes ----------------------------------------------------------------------------------------------------

    /// The memory for moves of an ended relocation, for the next one.
    pub fn take_memory(&mut self) -> Option<Vec<Move>> {
        self.free.last().map(|id| self.all[id.at()].take_memory())
    }

    /// A relocation begins.
    pub fn begin(&mut self, relocation: Relocation, reservations: &mut PageReservations) -> JobId {
        if self.count_of(Source::GC) == 0 {
            self.time.since_ns = relocation.start_ns();
        }
        self.count_one(relocation.source(), relocation.plane(), true);
        reservations.change_unsent(relocation.plane(), 0, relocation.pages_unsent(self.units_per_page));
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

    /// A relocation ends.
    pub fn end(&mut self, id: JobId, now_ns: u64) {
        self.time.before_ns = self.collecting_for_ns(now_ns);
        self.time.since_ns = now_ns;
        let (source, plane) = (self.all[id.at()].source(), self.all[id.at()].plane());
        self.count_one(source, plane, false);
        self.under_way.retain(|&other| other != id);
        self.free.push(id);
    }

    /// Changes a relocation; updates the count of pages that it still has to send.
    #[inline]
    pub fn change<T>(
        &mut self,
        id: JobId,
        reservations: &mut PageReservations,
        what: impl FnOnce(&mut Relocation) -> T,
    ) -> T {
        let relocation = &mut self.all[id.at()];
        if !reservations.are_shared() {
            return what(relocation);
        }
        let before = relocation.pages_unsent(self.units_per_page);
        let result = what(relocation);
        reservations.change_unsent(relocation.plane(), before, relocation.pages_unsent(self.units_per_page));
        result
    }

    /// A job that reserves its die begins to relocate a block of a plane, or ends: the group of the plane is at work,
    /// or at rest again.
    pub fn take_turn(&mut self, plane: PlaneId, begins: bool) {
        if let Some(groups) = &mut self.groups {
            let at_work = &mut groups.at_work[groups.group_of[plane.at()] as usize];
            *at_work = if begins { *at_work + 1 } else { *at_work - 1 };
        }
    }

    /// A relocation is blocked: no plane takes the page that it has to program.
    pub fn mark_blocked(&mut self) {
        self.has_blocked = true;
    }

    /// Whether a relocation was blocked; clears the mark, because it is tried again now.
    pub fn take_blocked(&mut self) -> bool {
        std::mem::take(&mut self.has_blocked)
    }

    fn count_one(&mut self, source: Source, plane: PlaneId, begins: bool) {
        let change = |count: &mut u32| *count = if begins { *count + 1 } else { *count - 1 };
        change(&mut self.counts.of_source[source.at()]);
        change(&mut self.counts.on_plane[plane.at()]);
        if source == Source::GC {
            let on_die = &mut self.counts.collecting_on_die[(plane.0 / self.planes_per_die) as usize];
            change(on_die);
            // The first collection of a die has begun, or its last has ended.
            if *on_die == u32::from(begins) {
                change(&mut self.counts.dies_collecting);
            }
        }
        if let Some(groups) = &mut self.groups {
            change(&mut groups.at_work[groups.group_of[plane.at()] as usize]);
        }
    }
}

impl PlaneGroups {
    fn new(group: Group, geometry: &Geometry) -> Self {
        let group_of: Vec<u32> = (0..geometry.planes).map(|plane| group.of(geometry, PlaneId(plane))).collect();
        let groups = group_of.iter().max().map_or(0, |&last| last as usize + 1);
        Self { group_of, at_work: vec![0; groups] }
    }
}
