//! Does the index answer like a walk over the queues, in any sequence of arrivals, departures and moves?

use super::{IndexRequirements, place_of};
use crate::dispatch::queues::{Queue, Queues};
use crate::dispatch::txn::{Role, Txn, Txns};
use crate::flash::geometry::Geometry;
use crate::run::config::RunConfig;
use crate::sim::index::{BlockId, DieId, LogicalUnit, PageId, PhysicalUnit, PlaneId, TxnId};
use proptest::prelude::*;

/// Two dies of two planes; blocks of four pages, pages of two units.
const DRIVE: &str = r#"
    timing = { read = "50 us", program = "500 us", erase = "3 ms", channel = "100 MB/s" }
    capacity = { over_provisioning = 0.5 }
    [geometry]
    channels = 1
    chips_per_channel = 2
    dies_per_chip = 1
    planes_per_die = 2
    blocks_per_plane = 8
    pages_per_block = 4
    page_size = "8 KiB"
    mapping_unit = "4 KiB"
"#;
const UNITS: u32 = 16;
const PLACES: u32 = 256;

/// One event.
#[derive(Clone, Debug)]
enum Event {
    /// A transaction arrives: die, plane or none, first unit, whether it covers the whole page, write, urgent.
    Enter(u32, Option<u32>, u32, bool, bool, bool),
    /// The n-th waiting transaction leaves.
    Leave(usize),
    /// A unit has moved, or is gone.
    Move(u32, Option<u32>),
}

fn event() -> impl Strategy<Value = Event> {
    let flag = any::<bool>;
    prop_oneof![
        4 => (0..2u32, prop::option::of(0..2u32), 0..UNITS, flag(), flag(), flag())
            .prop_map(|(die, plane, unit, whole, write, urgent)| Event::Enter(die, plane, unit, whole, write, urgent)),
        2 => (0..32usize).prop_map(Event::Leave),
        3 => (0..UNITS, prop::option::of(0..PLACES)).prop_map(|(unit, to)| Event::Move(unit, to)),
    ]
}

/// Queues with an index, and the same queues as vectors.
struct Both {
    geometry: Geometry,
    queues: Queues,
    txns: Txns,
    places: Vec<PhysicalUnit>,
    naive: [[Vec<TxnId>; 2]; 2],
    scan_max: usize,
}

impl Both {
    fn new(scan_max: usize) -> Self {
        let config: RunConfig = crate::config::from_toml(DRIVE).expect("a configuration");
        let geometry = Geometry::new(&config.device());
        let queues = Queues::new(&geometry, Some(IndexRequirements { scan_max, pairs: true, by_block: true }));
        let places = vec![PhysicalUnit::NONE; UNITS as usize];
        Self { geometry, queues, txns: Txns::new(4), places, naive: Default::default(), scan_max }
    }

    fn apply(&mut self, what: &Event) {
        match *what {
            Event::Enter(die, plane, unit, is_whole, is_write, is_urgent) => {
                let (first, units) = if is_whole { (unit / 2 * 2, 2) } else { (unit, 1) };
                let plane = plane.map_or(PlaneId::NONE, |plane| PlaneId(2 * die + plane));
                let role = if is_write { Role::Write } else { Role::Read };
                let mut txn = Txn::new(role, LogicalUnit(first), units, DieId(die), plane);
                txn.high_priority = is_urgent;
                let id = self.txns.add(txn);
                let list = self.list(die, is_write);
                let places = &self.places;
                self.queues.push_back(list, id, &self.txns, |unit| places[unit.at()]);
                self.naive[die as usize][usize::from(is_write)].push(id);
            }
            Event::Leave(nth) => {
                let all: Vec<_> = (0..4).map(|at| (at / 2, at % 2)).collect();
                let waiting: Vec<_> = all
                    .iter()
                    .flat_map(|&(die, class)| self.naive[die][class].iter().map(move |&id| (die, class, id)))
                    .collect();
                let Some(&(die, class, id)) = waiting.get(nth % waiting.len().max(1)) else { return };
                self.naive[die][class].retain(|&other| other != id);
                let list = self.list(die as u32, class == 1);
                self.queues.remove(list, id.0);
                self.txns.remove(id);
            }
            Event::Move(unit, to) => {
                self.places[unit as usize] = to.map_or(PhysicalUnit::NONE, PhysicalUnit);
                let places = &self.places;
                self.queues.on_moved(std::iter::once(LogicalUnit(unit)), &self.txns, |unit| places[unit.at()]);
            }
        }
    }

    fn list(&self, die: u32, is_write: bool) -> usize {
        self.queues.of_die(DieId(die), if is_write { Queue::Write } else { Queue::Read })
    }

    /// The transactions of a walk over a queue.
    fn walk(&self, die: u32, is_write: bool) -> Vec<TxnId> {
        let queue = &self.naive[die as usize][usize::from(is_write)];
        queue.iter().copied().take(self.scan_max).collect()
    }

    fn page(&self, id: TxnId) -> Option<PageId> {
        place_of(&self.txns[id], |unit| self.places[unit.at()]).map(|place| self.geometry.page_of(place))
    }

    fn plane(&self, page: PageId) -> PlaneId {
        self.geometry.plane_of_page(page)
    }

    fn compare(&self) {
        for die in 0..2 {
            self.compare_writes(die);
            self.compare_reads(die);
            for is_write in [false, true] {
                let walk = self.walk(die, is_write);
                let index = self.queues.index();
                let reached = self.naive[die as usize][usize::from(is_write)]
                    .iter()
                    .filter(|&&id| index.turn(id) < index.end_of_walk(DieId(die), is_write));
                assert_eq!(reached.copied().collect::<Vec<_>>(), walk, "how far a walk reaches");
                for block in (0..self.geometry.blocks).map(BlockId) {
                    let is_home = self.geometry.die_of(self.geometry.plane_of(block)) == DieId(die);
                    let is_in =
                        |id: &TxnId| self.page(*id).is_some_and(|page| self.geometry.block_and_offset(page).0 == block);
                    let expected: Vec<_> = walk.iter().copied().filter(is_in).collect();
                    let of_block: Vec<_> = index.of_block(DieId(die), block, is_write).map(|(id, _)| id).collect();
                    if is_home {
                        assert_eq!(of_block, expected, "those that wait for {block:?}");
                        let behind = expected.first().map(|&id| index.of_block_behind(id, DieId(die), block, is_write));
                        assert_eq!(behind.into_iter().flatten().count(), expected.len().saturating_sub(1));
                    }
                }
                for id in walk {
                    assert_eq!(index.page_of(id), self.page(id));
                }
            }
        }
    }

    fn compare_writes(&self, die: u32) {
        let (index, walk) = (self.queues.index(), self.walk(die, true));
        let is_urgent = |id: &TxnId| self.txns[*id].high_priority;
        assert_eq!(index.has_urgent_write(DieId(die)), walk.iter().any(is_urgent));
        let all = &self.naive[die as usize][1];
        assert_eq!(index.first_urgent_write(DieId(die)), all.iter().copied().find(is_urgent));
        for plane in [2 * die, 2 * die + 1].map(PlaneId) {
            let goes_there = |id: &TxnId| self.txns[*id].plane == plane || self.txns[*id].plane.is_none();
            assert_eq!(index.first_write_for(DieId(die), plane), walk.iter().copied().find(goes_there));
        }
        for plane in [2 * die, 2 * die + 1, u32::MAX].map(PlaneId) {
            let bound = walk.iter().copied().filter(|&id| self.txns[id].plane == plane);
            assert_eq!(index.writes_to(DieId(die), plane).collect::<Vec<_>>(), bound.collect::<Vec<_>>());
        }
    }

    fn compare_reads(&self, die: u32) {
        let (index, walk) = (self.queues.index(), self.walk(die, false));
        for plane in [2 * die, 2 * die + 1].map(PlaneId) {
            for offset in 0..4 {
                let is_there =
                    |&page: &PageId| self.plane(page) == plane && self.geometry.block_and_offset(page).1 == offset;
                let expected = walk.iter().filter_map(|&id| Some((id, self.page(id).filter(is_there)?)));
                let found = index.reads_at(DieId(die), plane, offset);
                assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>(), "{plane:?} {offset}");
            }
        }
        let is_away = |&page: &PageId| self.geometry.die_of(self.plane(page)) != DieId(die);
        let expected = walk.iter().filter_map(|&id| Some((id, self.page(id).filter(is_away)?)));
        assert_eq!(index.reads_elsewhere(DieId(die)).collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    }
}

proptest! {
    #[test]
    fn the_index_answers_as_a_walk_would(
        scan_max in 1usize..8,
        story in proptest::collection::vec(event(), 0..80),
    ) {
        let mut both = Both::new(scan_max);
        for what in &story {
            both.apply(what);
            both.compare();
        }
    }
}
