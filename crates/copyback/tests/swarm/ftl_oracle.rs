//! The translation layer agrees with a slow, simple one under random operations.
//!
//! The oracle is a few maps: the version that each logical unit holds, the version in each place in flash, and how far
//! each block is programmed. It gets every operation, and learns only the chosen places from the drive. It checks the
//! conditions that must hold afterwards. Pages are programmed in order and once between erases. Every unit is at a
//! place that holds its newest version. Valid counts equal a recount. Programmed pages add up to host, moved and
//! padding units. Operations without room are skipped, as a caller must do.

use crate::draws::{Demands, choice};
use crate::knobs::Mark;
use crate::tally::Verdict;
use copyback::ftl::blocks::BlockState;
use copyback::ftl::core::{Ftl, Move};
use copyback::ftl::frontier::Stream;
use copyback::ftl::mapping::MappingConfig;
use copyback::ftl::victim::PlaneRange;
use copyback::run::config::RunConfig;
use copyback::sim::index::{BlockId, LogicalUnit, PageId, PhysicalUnit, PlaneId};
use copyback::tasks::gc::walk::{Moment, Victim, pick};
use proptest::prelude::*;
use std::collections::{HashMap, VecDeque};

/// An operation; numbers are taken modulo what the drive has.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Writes units one by one, as preconditioning does.
    Append { first: u32, units: u8 },
    /// Writes a page of units; with `stale`, the last of them is superseded by a newer write and points nowhere.
    WritePage { plane: u32, first: u32, units: u8, stale: bool },
    /// Forgets units.
    Trim { first: u32, units: u8 },
    /// Collects a block at once.
    Collect { plane: u32 },
    /// Takes a victim whose units later steps move.
    TakeVictim { plane: u32 },
    /// Moves a page's worth of the victim's units, to its own plane or to another; host units fill the rest of the
    /// page.
    MovePage { plane: Option<u32>, first: u32, units: u8 },
    /// Continues with a copy of the drive.
    Clone,
}

fn step() -> impl Strategy<Value = Step> {
    let any = any::<u32>;
    prop_oneof![
        6 => (any(), 1..9u8).prop_map(|(first, units)| Step::Append { first, units }),
        6 => (any(), any(), 1..9u8, prop::bool::weighted(0.1))
            .prop_map(|(plane, first, units, stale)| Step::WritePage { plane, first, units, stale }),
        2 => (any(), 1..9u8).prop_map(|(first, units)| Step::Trim { first, units }),
        3 => any().prop_map(|plane| Step::Collect { plane }),
        2 => any().prop_map(|plane| Step::TakeVictim { plane }),
        6 => (prop::option::weighted(0.3, any()), any(), 0..3u8)
            .prop_map(|(plane, first, units)| Step::MovePage { plane, first, units }),
        1 => Just(Step::Clone),
    ]
}

/// The obvious translation layer.
#[derive(Default)]
struct Oracle {
    newest_version: u64,
    /// What each logical unit holds.
    holds: HashMap<u32, u64>,
    /// What each programmed place holds: owner and version; `None` is padding or stale on arrival.
    flash: HashMap<u32, Option<(u32, u64)>>,
    /// First place of each block that may still be programmed.
    write_point: HashMap<u32, u32>,
    erased: HashMap<u32, u32>,
    host: u64,
    moved: u64,
    dropped: u64,
    places: u64,
}

impl Oracle {
    fn program(&mut self, ftl: &Ftl, place: u32, what: Option<(u32, u64)>) {
        let block = place / ftl.geometry.units_per_block;
        let point = self.write_point.entry(block).or_insert(0);
        let offset = place % ftl.geometry.units_per_block;
        assert!(offset >= *point, "place {offset} of block {block} was programmed after place {point}");
        // Skipped places stay empty.
        self.places += u64::from(offset + 1 - *point);
        *point = offset + 1;
        assert!(self.flash.insert(place, what).is_none(), "place {place} was programmed twice");
    }

    fn write(&mut self, unit: u32) -> (u32, u64) {
        self.newest_version += 1;
        self.holds.insert(unit, self.newest_version);
        (unit, self.newest_version)
    }

    fn program_page(&mut self, ftl: &Ftl, page: PageId, mut data: Vec<Option<(u32, u64)>>) {
        data.resize(ftl.geometry.units_per_page as usize, None);
        let first = page.0 * ftl.geometry.units_per_page;
        for (offset, what) in data.into_iter().enumerate() {
            self.program(ftl, first + offset as u32, what);
        }
    }

    /// Follows `seal_page`: the page that was begun unit by unit on a plane, if any, was padded.
    fn seal(&mut self, ftl: &Ftl, plane: PlaneId) {
        let g = &ftl.geometry;
        for (block, point) in self.write_point.iter_mut().filter(|(b, _)| *b / g.blocks_per_plane == plane.0) {
            let written = u32::from(ftl.blocks()[BlockId(*block)].written);
            if written > *point {
                assert_eq!(written, point.next_multiple_of(g.units_per_page), "block {block} was sealed");
                self.places += u64::from(written - *point);
                *point = written;
            }
        }
    }

    fn erase(&mut self, ftl: &Ftl, block: BlockId) {
        let first = block.0 * ftl.geometry.units_per_block;
        let places = first..first + ftl.geometry.units_per_block;
        for place in places {
            self.flash.remove(&place);
        }
        self.write_point.insert(block.0, 0);
        *self.erased.entry(block.0).or_default() += 1;
    }

    /// Compares all visible state of the drive with the expected one.
    fn compare(&self, ftl: &Ftl) {
        ftl.check_all().unwrap();
        let g = &ftl.geometry;
        let mut valid = vec![0u32; g.blocks as usize];
        for unit in 0..g.logical_units {
            let place = ftl.lookup(LogicalUnit(unit));
            let Some(&version) = self.holds.get(&unit) else {
                assert!(place.is_none(), "unit {unit} holds nothing and is at {place:?}");
                continue;
            };
            assert!(place.is_some(), "unit {unit} is lost");
            assert_eq!(self.flash.get(&place.0), Some(&Some((unit, version))), "unit {unit} at {place:?}");
            valid[(place.0 / g.units_per_block) as usize] += 1;
        }
        let mut free = vec![0; g.planes as usize];
        for (at, block) in ftl.blocks().iter().enumerate() {
            assert_eq!(u32::from(block.valid), valid[at], "valid units of block {at}");
            assert_eq!(block.erases, self.erased.get(&(at as u32)).copied().unwrap_or(0), "erases of block {at}");
            let point = self.write_point.get(&(at as u32)).copied().unwrap_or(0);
            assert!(u32::from(block.written) >= point, "block {at} forgot a program");
            free[at / g.blocks_per_plane as usize] += u32::from(block.state == BlockState::Free);
            if block.state == BlockState::Free {
                assert_eq!(point, 0, "block {at} is free and was not erased");
            }
        }
        for (plane, &free) in free.iter().enumerate() {
            assert_eq!(ftl.free_blocks_of(PlaneId(plane as u32)), free, "free blocks of plane {plane}");
        }
        assert_eq!(ftl.free_blocks(), free.iter().map(|&f| u64::from(f)).sum::<u64>());
        let counts = ftl.counts();
        assert_eq!((counts.host_units, counts.moved_units), (self.host, self.moved));
        assert_eq!(counts.dropped_moves, self.dropped);
        let erased: u64 = self.erased.values().map(|&e| u64::from(e)).sum();
        assert_eq!(counts.erases, erased * u64::from(g.row_planes));
        assert_eq!(counts.host_units + counts.moved_units + counts.padding_units, self.places, "{counts:?}");
    }
}

/// A victim that is being moved page by page.
struct Collection {
    block: BlockId,
    moves: VecDeque<Move>,
}

struct Bench {
    ftl: Ftl,
    oracle: Oracle,
    collection: Option<Collection>,
    stamp: u64,
}

impl Bench {
    fn plane(&self, number: u32) -> PlaneId {
        PlaneId(number % self.ftl.geometry.planes)
    }

    /// Units from `first` on that the drive has.
    fn units(&self, first: u32, units: u8) -> Vec<u32> {
        let all = self.ftl.geometry.logical_units;
        (first % all..all).take(usize::from(units)).collect()
    }

    fn step(&mut self, step: Step) {
        self.stamp += 1;
        match step {
            Step::Append { first, units } => {
                for unit in self.units(first, units) {
                    self.append(unit);
                }
            }
            Step::WritePage { plane, first, units, stale } => self.write_page(self.plane(plane), first, units, stale),
            Step::Trim { first, units } => {
                for unit in self.units(first, units) {
                    assert_eq!(self.ftl.trim(LogicalUnit(unit)), self.oracle.holds.remove(&unit).is_some());
                }
            }
            Step::Collect { plane } => self.collect(self.plane(plane)),
            Step::TakeVictim { plane } => self.take_victim(self.plane(plane)),
            Step::MovePage { plane, first, units } => self.move_page(plane, first, units),
            Step::Clone => self.ftl = self.ftl.clone(),
        }
    }

    fn append(&mut self, unit: u32) {
        let plane = self.ftl.timeless_plane(LogicalUnit(unit));
        if self.ftl.pages_left(plane, Stream::Host) == 0 {
            return;
        }
        self.ftl.append(plane, LogicalUnit(unit), self.stamp);
        let what = self.oracle.write(unit);
        self.oracle.host += 1;
        self.oracle.program(&self.ftl, self.ftl.lookup(LogicalUnit(unit)).0, Some(what));
    }

    fn write_page(&mut self, plane: PlaneId, first: u32, units: u8, stale: bool) {
        self.seal(plane, Stream::Host);
        if self.ftl.pages_left(plane, Stream::Host) == 0 {
            return;
        }
        let units = self.units(first, units.min(self.ftl.geometry.units_per_page as u8));
        let mut page: Vec<LogicalUnit> = units.iter().map(|&u| LogicalUnit(u)).collect();
        let mut data: Vec<_> = units.iter().map(|&u| (u, u64::MAX)).map(Some).collect();
        if stale {
            *page.last_mut().unwrap() = LogicalUnit::NONE;
            *data.last_mut().unwrap() = None;
        }
        for what in data.iter_mut().flatten() {
            *what = self.oracle.write(what.0);
        }
        let predicted = self.ftl.next_block_in(plane, self.ftl.write_point(plane, Stream::Host));
        let at = self.ftl.write_page(plane, &page, self.stamp);
        let (block, _) = self.ftl.geometry.block_and_offset(at);
        assert_eq!(self.ftl.geometry.plane_of(block), plane);
        assert_eq!(predicted, Some(block), "another block was predicted");
        self.oracle.host += page.len() as u64;
        self.oracle.program_page(&self.ftl, at, data);
    }

    fn seal(&mut self, plane: PlaneId, stream: Stream) {
        self.ftl.seal_page(plane, stream, self.stamp);
        self.oracle.seal(&self.ftl, plane);
    }

    /// Whether a victim of the plane may be taken: one at a time, as a plane has one job.
    fn may_collect(&self, plane: PlaneId) -> bool {
        self.collection.as_ref().is_none_or(|c| self.ftl.geometry.plane_of(c.block) != plane)
    }

    fn collect(&mut self, plane: PlaneId) {
        if !self.may_collect(plane) {
            return;
        }
        let moment = Moment { least_units: 1, read_offsets: &[], stamp: self.stamp };
        let victim =
            pick(&mut self.ftl, PlaneRange::one(plane), moment).filter(|victim| victim.frees && victim.has_room);
        let Some(Victim { block, .. }) = victim else { return };
        let owners = self.owners(block);
        assert_eq!(self.ftl.collect(block, self.stamp), owners.len() as u32);
        self.oracle.moved += owners.len() as u64;
        for unit in owners {
            let what = (unit, self.oracle.holds[&unit]);
            self.oracle.program(&self.ftl, self.ftl.lookup(LogicalUnit(unit)).0, Some(what));
        }
        self.oracle.erase(&self.ftl, block);
    }

    /// The units whose newest data a block holds by the oracle's account, in the order of the places.
    fn owners(&self, block: BlockId) -> Vec<u32> {
        let first = block.0 * self.ftl.geometry.units_per_block;
        let stored =
            (first..first + self.ftl.geometry.units_per_block).map(|place| (place, self.oracle.flash.get(&place)));
        let newest = stored.filter_map(|(place, what)| {
            let (unit, version) = (*what?)?;
            let is_newest = self.oracle.holds.get(&unit) == Some(&version);
            // A copy that a move left behind has the same version; the map tells which of the two is current.
            (is_newest && self.ftl.lookup(LogicalUnit(unit)) == PhysicalUnit(place)).then_some(unit)
        });
        newest.collect()
    }

    fn take_victim(&mut self, plane: PlaneId) {
        if self.collection.is_some() {
            return;
        }
        let Some(block) = self.ftl.pick_victim(plane, self.stamp) else { return };
        let owners = self.owners(block);
        let mut moves = Vec::new();
        self.ftl.take_victim(block, &mut moves);
        let named: Vec<u32> = moves.iter().map(|m| m.unit.0).collect();
        assert_eq!(named, owners, "the victim's valid units");
        self.collection = Some(Collection { block, moves: moves.into() });
    }

    fn move_page(&mut self, to: Option<u32>, first: u32, host_units: u8) {
        let Some(mut collection) = self.collection.take() else { return };
        let home = self.ftl.geometry.plane_of(collection.block);
        let plane = to.map_or(home, |number| self.plane(number));
        if !collection.moves.is_empty() {
            self.seal(plane, Stream::Moved);
            if self.ftl.pages_left(plane, Stream::Moved) > 0 {
                let units = collection.moves.len().min(self.ftl.geometry.units_per_page as usize);
                let page: Vec<Move> = collection.moves.drain(..units).collect();
                let room = self.ftl.geometry.units_per_page as usize - page.len();
                let written = self.units(first, room.min(usize::from(host_units)) as u8);
                let new: Vec<_> = written.iter().map(|&unit| Some(self.oracle.write(unit))).collect();
                let written: Vec<LogicalUnit> = written.into_iter().map(LogicalUnit).collect();
                self.oracle.host += new.len() as u64;
                let data = page.iter().map(|m| {
                    let (unit, version) = self.oracle.flash[&m.from.0].expect("a move has data");
                    let is_newest = self.oracle.holds.get(&unit) == Some(&version);
                    self.oracle.dropped += u64::from(!is_newest);
                    is_newest.then_some((unit, version))
                });
                let data = data.chain(new).collect();
                let write_point = self.ftl.write_point(plane, Stream::Moved);
                let at = self.ftl.move_page_with(plane, write_point, &page, 0, &written, self.stamp);
                self.oracle.moved += page.len() as u64;
                self.oracle.program_page(&self.ftl, at, data);
            }
            self.collection = Some(collection);
            return;
        }
        self.ftl.erase(collection.block);
        self.oracle.erase(&self.ftl, collection.block);
    }
}

/// A drive and what is done to it.
#[derive(Clone)]
pub struct Case {
    pub config: RunConfig,
    text: String,
    pub marks: Vec<Mark>,
    steps: Vec<Step>,
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "the configuration\n{}and the steps", self.text)?;
        self.steps.iter().try_for_each(|s| writeln!(f, "{s:?}"))
    }
}

/// Operations on drives of all kinds; what is not of the translation layer plays no part.
pub fn case() -> impl Strategy<Value = Case> {
    // Superpages are written by operations of their own (`ftl::core::superpages`), log blocks by merges.
    let obstacle = |config: &RunConfig| (config.mapping != MappingConfig::default()).then_some("mapping.policy");
    let demands = Demands { obstacle, ..Demands::NONE };
    (choice(demands), prop::collection::vec(step(), 1..600)).prop_map(|(choice, steps)| {
        let (config, text, marks) = choice.configuration();
        Case { config, text, marks, steps }
    })
}

/// Does the drive hold what the oracle holds, after every few steps?
pub fn holds(case: &Case) -> Verdict {
    if case.config.check().is_err() {
        return Verdict::default();
    }
    let ftl = Ftl::new(&case.config.ftl(), 7);
    let mut bench = Bench { ftl, oracle: Oracle::default(), collection: None, stamp: 0 };
    for (at, &step) in case.steps.iter().enumerate() {
        bench.step(step);
        if at % 16 == 0 {
            bench.oracle.compare(&bench.ftl);
        }
    }
    bench.oracle.compare(&bench.ftl);
    let counts = bench.ftl.counts();
    Verdict { erases: counts.erases, dropped_moves: counts.dropped_moves, ..Verdict::of(true, &case.marks) }
}
