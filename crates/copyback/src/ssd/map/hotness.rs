//! Hotness: how often the host has recently written each unit (`ftl::frontier::hot_cold`), in a byte for each unit.
//! Successive windows (`frontier.hot_window`) are the periods here, numbered from time 0.

use crate::flash::geometry::Geometry;
use crate::ftl::core::Move;
use crate::ftl::frontier::Stream;
use crate::ftl::frontier::hot_cold::{HotCold, UPDATES_MAX};
use crate::sim::index::{JobId, LogicalUnit, PageId, PlaneId};
use crate::ssd::back_end::BackEnd;

/// Period numbers repeat from 1 to this; 0 means none.
const NUMBERS: u64 = 31;
/// Old counts are removed after this many periods, because their numbers are reused soon after.
const SWEEP_AFTER: u64 = NUMBERS - 2;
const COUNT: u8 = 0b11;
const WAS_HOT: u8 = 0b100;

/// The recent host writes of each unit: its last period, the writes in it, and whether the period before made it hot.
pub(in crate::ssd) struct Hotness {
    hot: HotCold,
    of: Vec<u8>,
    /// The period at which old counts were last removed.
    swept: u64,
    /// Units with a count, each at least once, as long as there are few.
    known: Vec<LogicalUnit>,
}

/// The capacity of the list of counted units is the number of all units divided by this. A scan of a longer list would
/// cost at least as much as a scan of all units.
const UNITS_PER_KNOWN: usize = 32;

fn number(period: u64) -> u8 {
    (period % NUMBERS) as u8 + 1
}

impl Hotness {
    pub(in crate::ssd) fn new(hot: HotCold, units: u32) -> Self {
        let known = Vec::with_capacity((units as usize).div_ceil(UNITS_PER_KNOWN));
        Self { hot, of: vec![0; units as usize], swept: 0, known }
    }

    /// Whether the period before this one made a unit hot.
    fn was_hot(&self, seen: u8, period: u64) -> bool {
        period > 0 && seen >> 3 == number(period - 1) && seen & COUNT >= self.hot.updates
    }

    /// Counts a host write of a unit.
    pub(in crate::ssd) fn on_written(&mut self, unit: LogicalUnit, now_ns: u64) {
        let period = now_ns / self.hot.window_ns;
        if period >= self.swept + SWEEP_AFTER {
            self.sweep(period);
        }
        let seen = self.of[unit.at()];
        self.of[unit.at()] = if seen >> 3 == number(period) {
            seen & !COUNT | (seen & COUNT).saturating_add(1).min(UPDATES_MAX)
        } else {
            self.note(unit);
            number(period) << 3 | if self.was_hot(seen, period) { WAS_HOT } else { 0 } | 1
        };
    }

    fn note(&mut self, unit: LogicalUnit) {
        if self.known.len() < self.known.capacity() {
            self.known.push(unit);
        }
    }

    /// Removes counts of all periods before the previous one, because their numbers are about to be reused. Visits the
    /// counted units or, if there are too many for the list, all units.
    #[cold]
    fn sweep(&mut self, period: u64) {
        let kept = [number(period), number(period.saturating_sub(1))];
        // A write in period `swept + SWEEP_AFTER` or later would have called this: no unit was written since.
        let is_long_ago = period > self.swept + SWEEP_AFTER;
        let is_old = |seen: u8| is_long_ago || !kept.contains(&(seen >> 3));
        let is_listed = self.known.len() < self.known.capacity();
        if is_listed {
            let of = &mut self.of;
            self.known.retain(|unit| {
                let seen = &mut of[unit.at()];
                let is_old = is_old(*seen);
                *seen = if is_old { 0 } else { *seen };
                !is_old
            });
        } else {
            self.known.clear();
            for unit in (0..self.of.len() as u32).map(LogicalUnit) {
                if is_old(self.of[unit.at()]) {
                    self.of[unit.at()] = 0;
                } else {
                    self.note(unit);
                }
            }
        }
        self.swept = period;
    }

    /// Whether a unit is hot.
    pub(in crate::ssd) fn is_hot(&self, unit: LogicalUnit, now_ns: u64) -> bool {
        let (seen, period) = (self.of[unit.at()], now_ns / self.hot.window_ns);
        let is_known = period < self.swept + NUMBERS - 1;
        let is_this = seen >> 3 == number(period) && (seen & WAS_HOT != 0 || seen & COUNT >= self.hot.updates);
        is_known && (is_this || self.was_hot(seen, period))
    }
}

impl BackEnd {
    /// Separates the hot moves of a collection that begins, if hot data has its own blocks. If pages hold several units
    /// and are no superpages, separate parts may need more pages: both parts together must still leave a page free, and
    /// have room on the plane. If there are several victims, each plane, whose reserve is one block, must take its own
    /// pages of both parts, because pages stay on their plane if no other has space for them.
    pub(in crate::ssd) fn take_hot(&mut self, id: JobId, plane: PlaneId, moves: &mut Vec<Move>, now_ns: u64) {
        let Self { map, gc, ftl, geometry, .. } = self;
        let Some(hotness) = &map.hotness else { return };
        let job = &mut gc.jobs[id];
        let is_superpage = geometry.has_superpages();
        let is_hot = |m: &Move| match is_superpage {
            true => ftl.superpage_of(m.unit).any(|unit| hotness.is_hot(unit, now_ns)),
            false => hotness.is_hot(m.unit, now_ns),
        };
        let hot = moves.iter().filter(|m| is_hot(m)).count() as u32;
        let (per_page, cold) = (geometry.units_per_page, moves.len() as u32 - hot);
        let pages = hot.div_ceil(per_page) + cold.div_ceil(per_page);
        let blocks = job.footprint().blocks().count() as u32;
        let left = |p: PlaneId| ftl.pages_left(p, Stream::Moved);
        let takes_its_own =
            |p: PlaneId| pages_apart(p, moves, &is_hot, geometry) <= left(p).min(geometry.pages_per_block);
        let has_room = pages < blocks * geometry.pages_per_block
            && if blocks == 1 { pages <= left(plane) } else { job.footprint().planes().all(takes_its_own) };
        if is_superpage || per_page == 1 || has_room {
            job.hot_mut().extend(moves.iter().filter(|m| is_hot(m)));
            moves.retain(|m| !is_hot(m));
        }
    }
}

/// Pages that the moves of a plane need at most if its hot moves are separated: a page that holds both kinds needs two.
/// The moves of a page follow each other.
fn pages_apart(plane: PlaneId, moves: &[Move], is_hot: &impl Fn(&Move) -> bool, geometry: &Geometry) -> u32 {
    let (mut pages, mut last) = (0, [PageId::NONE; 2]);
    for m in moves {
        let page = geometry.page_of(m.from);
        let last = &mut last[usize::from(is_hot(m))];
        pages += u32::from(page != *last && geometry.plane_of_page(page) == plane);
        *last = page;
    }
    pages
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::index::PhysicalUnit;

    const A: LogicalUnit = LogicalUnit(0);

    fn hotness(updates: u8) -> Hotness {
        Hotness::new(HotCold { window_ns: 10, updates }, 2)
    }

    #[test]
    fn a_page_with_hot_and_cold_moves_needs_two_pages() {
        // Pages of two units; the second plane begins with unit 64.
        let geometry = crate::tasks::job::tests::geometry();
        let moves = [0, 1, 64, 65, 2, 66, 67, 5].map(|at| Move { from: PhysicalUnit(at), unit: LogicalUnit(at) });
        let apart =
            |hot: &[u32], plane| pages_apart(PlaneId(plane), &moves, &|m: &Move| hot.contains(&m.unit.0), &geometry);
        assert_eq!([apart(&[], 0), apart(&[], 1)], [3, 2], "nothing is hot");
        assert_eq!([apart(&[0, 1], 0), apart(&[0, 1], 1)], [3, 2], "a whole page is hot");
        assert_eq!([apart(&[1, 67], 0), apart(&[1, 67], 1)], [4, 3], "half a page is hot on each plane");
    }

    /// Few units have no list, many have one.
    fn with_and_without_list() -> [Hotness; 2] {
        [2, 1_000].map(|units| Hotness::new(HotCold { window_ns: 10, updates: 1 }, units))
    }

    #[test]
    fn a_unit_is_hot_in_the_period_of_its_update_and_the_next() {
        let mut hot = hotness(1);
        assert!(!hot.is_hot(A, 0));
        hot.on_written(A, 15);
        assert_eq!([15, 19, 20, 29, 30].map(|now_ns| hot.is_hot(A, now_ns)), [true, true, true, true, false]);
        assert!(!hot.is_hot(LogicalUnit(1), 15));
    }

    #[test]
    fn updates_of_two_periods_are_not_added_up() {
        let mut hot = hotness(2);
        hot.on_written(A, 5);
        hot.on_written(A, 12);
        assert!(!hot.is_hot(A, 12), "one in each");
        hot.on_written(A, 18);
        assert!(hot.is_hot(A, 18) && hot.is_hot(A, 28));
        hot.on_written(A, 25);
        assert!(hot.is_hot(A, 25), "the period before had two");
        assert!(!hot.is_hot(A, 35), "this one had one");
    }

    /// Old counts never look new, even if nothing is written meanwhile.
    #[test]
    fn what_is_old_never_looks_new_after_a_pause() {
        for (first, gap) in (0..35).flat_map(|first| (2..200).map(move |gap| (first, gap))) {
            for mut hot in with_and_without_list() {
                hot.on_written(A, 10 * first);
                let now_ns = 10 * (first + gap);
                assert!(!hot.is_hot(A, now_ns), "period {first}, {gap} later");
                hot.on_written(LogicalUnit(1), now_ns);
                assert!(!hot.is_hot(A, now_ns), "period {first}, {gap} later, when something is written");
            }
        }
    }

    /// Period numbers are reused.
    #[test]
    fn what_is_old_never_looks_new() {
        for gap in 2..200 {
            for mut hot in with_and_without_list() {
                hot.on_written(A, 0);
                assert!(!hot.is_hot(A, 10 * gap), "after {gap} periods, nothing written");
                for period in 1..=gap {
                    hot.on_written(LogicalUnit(1), 10 * period);
                }
                assert!(!hot.is_hot(A, 10 * gap), "after {gap} periods");
            }
        }
    }
}
