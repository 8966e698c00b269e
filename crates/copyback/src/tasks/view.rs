//! The view of a die for the policies of order and of preemption.
//!
//! A [`DieView`] answers queries and is no copy: only the requested answers cost time. Each method states its cost.

use crate::flash::geometry::Geometry;
use crate::sim::index::{DieId, PlaneId, TxnId};

/// The classes of work that wait at a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Class {
    /// Background work.
    Gc,
    /// A read of the host, or a read that a write of the host needs first.
    Read,
    /// A write of the host.
    Write,
}

impl Class {
    /// All classes.
    pub const ALL: [Self; 3] = [Self::Gc, Self::Read, Self::Write];
}

/// A request of the host that waits at a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Its position in the order of arrival.
    pub came: u64,
    /// When its request arrived.
    pub arrival_ns: u64,
    /// Its size in mapping units.
    pub units: u32,
    /// Whether its request is marked urgent.
    pub is_urgent: bool,
    /// The plane that it would access now. None for a write that is bound to no plane, and for a read whose data is
    /// gone.
    pub plane: PlaneId,
}

/// The remaining work of the collection that has reserved the die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkLeft {
    /// The plane that it collects.
    pub plane: PlaneId,
    /// Pages to read, at most: pages that the host overwrites meanwhile are not read.
    pub pages_to_read: u32,
    /// Pages to program, at most.
    pub pages_to_program: u32,
    /// Steps: these reads and programs, and the erase.
    pub steps: u32,
}

/// A die, the time, and the waiting requests.
pub trait DieView {
    /// The clock.
    fn now_ns(&self) -> u64;
    /// The number of the die.
    fn die(&self) -> DieId;
    /// The drive's shape, and with it the die's planes.
    fn geometry(&self) -> &Geometry;
    /// The number of requests of a class that wait at the die, in its queue or for admission. For [`Class::Gc`], these
    /// are jobs, and moves from other dies and requests of relocations that are in its queue. For [`Class::Read`],
    /// waiting requests of relocations count, too. Takes constant time; only the queued requests of [`Class::Gc`] are
    /// counted one by one.
    fn waiting(&self, class: Class) -> u32;
    /// The number of requests of a class in the die's queue that access a plane. Visits the whole queue.
    fn waiting_for(&self, class: Class, plane: PlaneId) -> u32;
    /// The first request of a class in the die's queue; none for [`Class::Gc`]. Constant time.
    fn first(&self, class: Class) -> Option<Waiting>;
    /// The first request of a class that accesses a plane. Visits those before it.
    fn first_for(&self, class: Class, plane: PlaneId) -> Option<Waiting>;
    /// A request that waits. Constant time.
    fn request(&self, id: TxnId) -> Waiting;
    /// Erased blocks of a plane. Constant time.
    fn free_blocks(&self, plane: PlaneId) -> u32;
    /// Pages of a plane that can be programmed before a block is erased. Constant time.
    fn free_pages(&self, plane: PlaneId) -> u32;
    /// The remaining work of the collection that has reserved the die; none without a collection. Walks the
    /// collection's moves.
    fn work_left(&self) -> Option<WorkLeft>;
}

/// A drive, as triggers see it.
pub trait DriveView {
    /// The drive's shape.
    fn geometry(&self) -> &Geometry;
    /// Erased blocks of a plane. Constant time.
    fn free_blocks(&self, plane: PlaneId) -> u32;
    /// Transactions that wait at a die, also for its space, and the command that it executes. Constant time.
    fn queued(&self, die: DieId) -> u32;
}

/// A die with given values, for tests of policies.
#[cfg(test)]
pub(crate) struct FixedDie {
    pub now_ns: u64,
    pub geometry: Geometry,
    /// Requests in the order of their arrival, by the number of their transaction.
    pub requests: Vec<(Class, Waiting)>,
    /// By plane.
    pub free_blocks: Vec<u32>,
    pub work_left: Option<WorkLeft>,
}

#[cfg(test)]
impl FixedDie {
    pub fn of(&self, class: Class) -> impl Iterator<Item = Waiting> + '_ {
        self.requests.iter().filter(move |(of, _)| *of == class).map(|(_, request)| *request)
    }
}

#[cfg(test)]
impl DieView for FixedDie {
    fn now_ns(&self) -> u64 {
        self.now_ns
    }
    fn die(&self) -> DieId {
        DieId(0)
    }
    fn geometry(&self) -> &Geometry {
        &self.geometry
    }
    fn waiting(&self, class: Class) -> u32 {
        self.of(class).count() as u32
    }
    fn waiting_for(&self, class: Class, plane: PlaneId) -> u32 {
        self.of(class).filter(|request| request.plane == plane).count() as u32
    }
    fn first(&self, class: Class) -> Option<Waiting> {
        self.of(class).next()
    }
    fn first_for(&self, class: Class, plane: PlaneId) -> Option<Waiting> {
        self.of(class).find(|request| request.plane == plane)
    }
    fn request(&self, id: TxnId) -> Waiting {
        self.requests[id.at()].1
    }
    fn free_blocks(&self, plane: PlaneId) -> u32 {
        self.free_blocks[plane.at()]
    }
    fn free_pages(&self, plane: PlaneId) -> u32 {
        self.free_blocks[plane.at()] * self.geometry.pages_per_block
    }
    fn work_left(&self) -> Option<WorkLeft> {
        self.work_left
    }
}
