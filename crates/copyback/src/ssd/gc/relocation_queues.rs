//! Which relocations are under way, and what they have in front of them, counted where it is asked for.

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
    /// How collections work, where they are such.
    as_task: Option<AsTask>,
    all: Vec<Relocation>,
    free: Vec<JobId>,
    /// Those under way, the oldest first: few. Invariant: none of them is in `free`.
    under_way: Vec<JobId>,
    counts: RelocationCounts,
    /// Groups of planes that take turns, if they do.
    turns: Option<Turns>,
    /// Some of them have a page to program which no plane takes.
    are_held_up: bool,
    units_per_page: u32,
    planes_per_die: u32,
    time: CollectingTime,
    /// Dies of which writes wait for a page in one line.
    dies_in_line: u32,
}

/// How many relocations are under way. Invariant: each of `under_way` counts once in each table that it belongs to.
struct RelocationCounts {
    of_source: [u32; SOURCES_MAX],
    on_plane: Vec<u32>,
    /// Collections alone.
    collecting_on_die: Vec<u32>,
    /// Dies of which a block is collected. Invariant: the dies whose count is not 0.
    dies_collecting: u32,
}

/// The time with at least one collection under way.
struct CollectingTime {
    /// When the one that is under way began. It means nothing while none is.
    since_ns: u64,
    /// How long it was before.
    before_ns: u64,
}

/// Groups of planes of which one is collected at a time.
struct Turns {
    group_of: Vec<u32>,
    at_work: Vec<u32>,
}

impl Relocations {
    /// None is under way.
    pub fn new(as_task: Option<AsTask>, turns: Option<Group>, ftl: &Ftl) -> Self {
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
            turns: turns.map(|group| Turns::new(group, geometry)),
            are_held_up: false,
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

    /// How many collections may be under way at once.
    pub fn victims(&self) -> usize {
        self.as_task.map_or(0, |task| task.victims as usize)
    }

    /// Pages that the controller holds of one.
    pub fn buffer_pages(&self) -> u32 {
        self.as_task.map_or(1, |task| task.buffer_pages)
    }

    /// The first die of those whose writes wait for a page in one line with a die's.
    #[inline]
    pub fn first_in_line(&self, die: DieId) -> DieId {
        DieId(die.0 - die.0 % self.dies_in_line)
    }

    /// How many are under way.
    pub fn count(&self) -> usize {
        self.under_way.len()
    }

    /// One of those under way, the oldest first.
    pub fn at(&self, at: usize) -> JobId {
        self.under_way[at]
    }

    /// A relocation.
    #[inline]
    pub fn get(&self, id: JobId) -> &Relocation {
        &self.all[id.at()]
    }

    /// How many of a task are under way.
    pub fn count_of(&self, source: Source) -> usize {
        self.counts.of_source[source.at()] as usize
    }

    /// Whether a block of a die is collected.
    pub fn collect_on(&self, die: DieId) -> bool {
        self.counts.collecting_on_die[die.at()] > 0
    }

    /// Dies of which a block is collected.
    pub fn dies_collecting(&self) -> u32 {
        self.counts.dies_collecting
    }

    /// Whether a block of a plane is relocated.
    #[inline]
    pub fn are_on(&self, plane: PlaneId) -> bool {
        self.counts.on_plane[plane.at()] > 0
    }

    /// Whether planes take turns.
    pub fn take_turns(&self) -> bool {
        self.turns.is_some()
    }

    /// Whether a plane's group has no block relocated, where planes take turns.
    pub fn is_turn_of(&self, plane: PlaneId) -> bool {
        self.turns.as_ref().is_none_or(|turns| turns.at_work[turns.group_of[plane.at()] as usize] == 0)
    }

    /// What those of a plane's blocks have still to program.
    #[inline]
    pub fn own(&self, plane: PlaneId) -> OwnMoves {
        if !self.are_on(plane) {
            return OwnMoves::default();
        }
        let under_way = self.under_way.iter().map(|id| &self.all[id.at()]);
        let on_plane = under_way.filter(|relocation| relocation.plane() == plane);
        OwnMoves { pages: on_plane.map(|r| r.pages_left(self.units_per_page)).sum(), has_begun: true }
    }

    /// For how long at least one collection was under way until now.
    pub fn collecting_for_ns(&self, now_ns: u64) -> u64 {
        let of_this = if self.count_of(Source::GC) > 0 { now_ns - self.time.since_ns } else { 0 };
        self.time.before_ns + of_this
    }

    /// Pages that relocations of blocks of these planes have still to send. Looks at all relocations.
    pub fn pages_unsent(&self, shares: impl Fn(PlaneId) -> bool) -> u32 {
        let under_way = self.under_way.iter().map(|id| &self.all[id.at()]);
        under_way.filter(|r| shares(r.plane())).map(|r| r.pages_unsent(self.units_per_page)).sum()
    }

    // ---- changes ----------------------------------------------------------------------------------------------------

    /// Room for the moves of the next, which one that has ended leaves.
    pub fn take_room(&mut self) -> Option<Vec<Move>> {
        self.free.last().map(|id| self.all[id.at()].take_room())
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

    /// It ends.
    pub fn end(&mut self, id: JobId, now_ns: u64) {
        self.time.before_ns = self.collecting_for_ns(now_ns);
        self.time.since_ns = now_ns;
        let (source, plane) = (self.all[id.at()].source(), self.all[id.at()].plane());
        self.count_one(source, plane, false);
        self.under_way.retain(|&other| other != id);
        self.free.push(id);
    }

    /// Something happens to one; what it has still to send may change.
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

    /// One has a page to program which no plane takes.
    pub fn hold_up(&mut self) {
        self.are_held_up = true;
    }

    /// Whether one had; it is tried again now.
    pub fn take_held_up(&mut self) -> bool {
        std::mem::take(&mut self.are_held_up)
    }

    fn count_one(&mut self, source: Source, plane: PlaneId, begins: bool) {
        let change = |count: &mut u32| *count = if begins { *count + 1 } else { *count - 1 };
        change(&mut self.counts.of_source[source.at()]);
        change(&mut self.counts.on_plane[plane.at()]);
        if source == Source::GC {
            let on_die = &mut self.counts.collecting_on_die[(plane.0 / self.planes_per_die) as usize];
            change(on_die);
            // The first of a die has begun, or its last has ended.
            if *on_die == u32::from(begins) {
                change(&mut self.counts.dies_collecting);
            }
        }
        if let Some(turns) = &mut self.turns {
            change(&mut turns.at_work[turns.group_of[plane.at()] as usize]);
        }
    }
}

impl Turns {
    fn new(group: Group, geometry: &Geometry) -> Self {
        let group_of: Vec<u32> = (0..geometry.planes).map(|plane| group.of(geometry, PlaneId(plane))).collect();
        let groups = group_of.iter().max().map_or(0, |&last| last as usize + 1);
        Self { group_of, at_work: vec![0; groups] }
    }
}
