//! The walk of collection over the victims of a plane: the choice of a victim, the check whether its collection frees a
//! page, its collection, and the end of the walk. One implementation serves three callers:
//!
//! - the preconditioning of a drive, in zero time and without requests (`run::preconditioning`);
//! - a run whose collection is ideal and takes no time (`ssd::gc::collection_course`);
//! - a run whose collections are jobs: one begins when it gets its die, and the walk continues when its block is erased
//!   (`ssd::gc::collection_course`, and the steps in `tasks::job`).
//!
//! A collection moves the valid units of its victim in the order of their locations ([`Ftl::take_victim`] lists them),
//! and then erases the block. The units go to the open block for moves of their plane, or to the destination of the
//! granularity.

use crate::ftl::core::Ftl;
use crate::ftl::frontier::Stream;
use crate::ftl::victim::PlaneRange;
use crate::sim::index::{BlockId, PlaneId};

/// A block that the victim policy picked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Victim {
    /// The block.
    pub block: BlockId,
    /// Whether a collection of it, or of another block of the planes, frees as much as a collection must.
    pub frees: bool,
    /// Whether its plane has space for its valid units.
    pub has_room: bool,
}

/// The values that the choice of a victim depends on, at the time of the choice.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// Units that a collection must free.
    pub least_units: u32,
    /// Page offsets of the reads that wait on other planes, if the victim policy uses them.
    pub read_offsets: &'a [u32],
    /// Units written so far.
    pub stamp: u64,
}

/// The fate of a victim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was collected, and is free.
    Collected,
    /// It is being collected. The code that ends it calls [`WalkDriver::next`], and continues the walk from there.
    UnderWay,
}

/// The end of a walk, or the reason why it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// No plane needs collection.
    Reached,
    /// No block's collection frees a page.
    NoVictim,
    /// A collection takes time.
    UnderWay,
}

/// The driver of a walk.
pub trait WalkDriver {
    /// The translation layer, and the values for the choice of a victim of a plane.
    fn ftl_and_moment(&mut self, plane: PlaneId) -> (&mut Ftl, Moment<'_>);
    /// Whether a victim is collected.
    fn takes(&mut self, _plane: PlaneId, victim: Victim) -> bool {
        victim.frees && victim.has_room
    }
    /// Collects a victim.
    fn collect(&mut self, plane: PlaneId, block: BlockId) -> Fate;
    /// After a collection: the plane that is collected next, if there is one.
    fn next(&mut self, plane: PlaneId) -> Option<PlaneId>;
}

/// The victim policy's choice on planes.
pub fn pick(ftl: &mut Ftl, planes: PlaneRange, moment: Moment<'_>) -> Option<Victim> {
    let block = ftl.pick_victim_for(planes, moment.read_offsets, moment.stamp)?;
    let (valid, plane) = (u32::from(ftl.blocks()[block].valid), ftl.geometry.plane_of(block));
    let frees_enough = valid + moment.least_units <= ftl.geometry.units_per_block;
    let frees = frees_enough || planes.iter().any(|plane| ftl.is_reclaimable(plane, moment.least_units));
    let has_room = valid <= ftl.pages_left(plane, Stream::Moved) * ftl.geometry.units_per_page;
    Some(Victim { block, frees, has_room })
}

/// Collects from a plane on, collection after collection, as long as collections take no time.
pub fn walk(driver: &mut impl WalkDriver, mut plane: PlaneId) -> End {
    loop {
        let (ftl, moment) = driver.ftl_and_moment(plane);
        let victim = pick(ftl, PlaneRange::one(plane), moment).filter(|&victim| driver.takes(plane, victim));
        let Some(victim) = victim else { return End::NoVictim };
        if driver.collect(plane, victim.block) == Fate::UnderWay {
            return End::UnderWay;
        }
        let Some(next) = driver.next(plane) else { return End::Reached };
        plane = next;
    }
}
