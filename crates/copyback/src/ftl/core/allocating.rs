//! The destination of new pages, as the allocation policy says: the policy reads the state, and is notified of
//! placements.

use super::Ftl;
use crate::ftl::allocation::{Allocation, PagePlacement};
use crate::ftl::{FtlConfig, GC_RESERVE_BLOCKS};
use crate::sim::index::{LogicalUnit, PlaneId};

impl Ftl {
    /// The policy that chooses the destination of new pages.
    #[inline(always)]
    pub fn allocation(&self) -> &Allocation {
        &self.allocation
    }

    /// A page was placed where that policy decided.
    #[inline]
    pub fn on_placed(&mut self, place: PagePlacement) {
        self.allocation.on_placed(place);
    }

    /// The plane that a write of `unit` goes to while no time passes.
    #[inline]
    pub fn timeless_plane(&mut self, unit: LogicalUnit) -> PlaneId {
        let (planes, reserve) = (&self.planes, GC_RESERVE_BLOCKS);
        self.allocation.timeless_plane(unit, |plane| planes[plane.at()].free_blocks > reserve)
    }

    /// A plane that gets none of the drive's data if each unit is written once, in order: a drive may have fewer pages
    /// than planes.
    pub fn plane_without_data(config: &FtlConfig<'_>) -> Option<PlaneId> {
        let geometry = Self::geometry_of(config);
        // Writes rotate over the planes page by page; on some drives over dies, and over the planes of each die.
        let units = geometry.units_per_page.max(geometry.units_per_logical_page);
        let round = [geometry.planes, geometry.row_planes, units, geometry.planes_per_die].map(u64::from);
        if u64::from(geometry.logical_units) >= round.iter().product() {
            return None;
        }
        let mut allocation = Self::allocation_of(config, &geometry);
        let mut has_data = vec![false; geometry.planes as usize];
        for unit in (0..geometry.logical_units).step_by(geometry.units_per_write() as usize) {
            has_data[allocation.timeless_plane(LogicalUnit(unit), |_| true).at()] = true;
        }
        (0..geometry.planes).map(PlaneId).find(|plane| !has_data[plane.at()])
    }
}
