//! The die is a function of the logical page's number, as under `static`; the plane is chosen in rotation when the page
//! is programmed.
//!
//! Source: the page allocation of DiskSim's SSD extension (Agrawal et al. 2008), on which ispass11, tc12 and hpdc18
//! were simulated: an address determines the element, and its planes take pages in rotation. hpdc18 states CWDP with
//! the plane as last digit; but its Algorithm 2 pairs "the first write request in Q", which may be any write of the
//! die: addresses then do not fix the plane.
//!
//! Parameters:
//! - `order` (default `"CWDP"`): as under `static`; the position of P decides only which pages share a die.

use super::PagePlacement;
pub use super::static_order::Params;
use super::static_order::StaticOrder;
use crate::flash::geometry::Geometry;
use crate::sim::index::{DieId, LogicalUnit, PlaneId};

/// The policy.
#[derive(Clone, Debug)]
pub struct StaticDie {
    order: StaticOrder,
    /// Which plane of each die is next while no time passes.
    next: Vec<u8>,
    planes_per_die: u32,
}

impl StaticDie {
    /// The policy for a drive.
    ///
    /// # Panics
    /// When the order was not checked.
    pub fn new(params: &Params, geometry: &Geometry) -> Self {
        let next = vec![0; geometry.dies as usize];
        Self { order: StaticOrder::new(params, geometry), next, planes_per_die: geometry.planes_per_die }
    }

    /// The die of a unit.
    #[inline]
    pub fn die(&self, unit: LogicalUnit) -> DieId {
        self.order.place(unit).die
    }

    /// The destination of the page of `unit`.
    pub fn place(&self, unit: LogicalUnit) -> PagePlacement {
        PagePlacement { die: self.die(unit), plane: PlaneId::NONE }
    }

    /// The next plane in rotation of the die of `unit` that has a free page, or the next in rotation if none has.
    pub fn next_plane(&mut self, unit: LogicalUnit, has_room: impl Fn(PlaneId) -> bool) -> PlaneId {
        let die = self.die(unit);
        let planes = self.planes_per_die;
        let first = u32::from(self.next[die.at()]);
        let in_turn = || (0..planes).map(|i| (first + i) % planes);
        let plane_of = |offset: u32| PlaneId(die.0 * planes + offset);
        let offset = in_turn().find(|&offset| has_room(plane_of(offset))).unwrap_or(first % planes);
        self.next[die.at()] = ((offset + 1) % planes) as u8;
        plane_of(offset)
    }
}
