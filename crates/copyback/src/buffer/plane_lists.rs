//! A write buffer in DRAM with a list for each plane: dies take turns, and each plane of the die evicts its least
//! recently used page.
//!
//! Source: `baseline-p` of tpds20 (Section 5.3): "dirty pages accessing different planes within the same die are
//! evicted at a time". A page's plane is a function of its address. A die without a page is skipped; a plane without
//! one evicts none.
//!
//! Parameters: those of `lru`.
//! - `size` (default `"1 MiB"`): capacity for data, a flash page at least. tpds20: 1 % of the footprint.
//! - `latency` (default `"1 us"`): time of an access to the buffer. Writes pay it, and so do reads of units with data:
//!   data from flash passes through the buffer's memory on its way to the host. It is not kept there.
//! - `low_water` (default 1) and `idle_after` (default: none): evict pages before the buffer is full, as with `lru`.

pub use super::lru::Params;

use super::die_rotation::DieRotation;
use super::{BufferPolicy, Staying, Take};
use crate::flash::geometry::Geometry;
use crate::ftl::allocation::{Known, PagePlacement};

/// Whether pages evicted together fill flash pages.
pub const FILLS: super::Fills = super::Fills::Never;

/// What must be known of a page's destination when the page enters the buffer.
pub const NEEDS: Known = Known::Plane;

/// The policy of a run.
pub struct Policy {
    planes: u32,
    planes_per_die: u32,
    rotation: DieRotation,
}

impl Policy {
    /// The policy for a drive.
    pub fn new(_params: &Params, geometry: &Geometry) -> Self {
        Self {
            planes: geometry.planes,
            planes_per_die: geometry.planes_per_die,
            rotation: DieRotation::new(geometry.dies),
        }
    }
}

impl BufferPolicy for Policy {
    fn lists(&self) -> usize {
        self.planes as usize
    }

    #[inline]
    fn list_of(&self, home: PagePlacement) -> usize {
        home.plane.at()
    }

    fn next(&mut self, Staying { of_lists: pages_of, .. }: Staying<'_>) -> Option<Take> {
        let planes = self.planes_per_die;
        let lists_of = |die: u32| (die * planes) as usize..((die + 1) * planes) as usize;
        let die = self.rotation.take(|die| pages_of[lists_of(die)].iter().any(|&pages| pages > 0));
        Some(Take::Pages { lists: lists_of(die.expect("a list has a page")), pages_each: 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two dies of two planes: the first die's turn, then the second's, then the first's again.
    #[test]
    fn a_page_of_each_plane_of_a_die_leaves() {
        let mut policy = Policy { planes: 4, planes_per_die: 2, rotation: DieRotation::new(2) };
        let mut lists = |pages_of: [u32; 4]| policy.next(Staying::of(&pages_of)).map(Take::pages);
        assert_eq!(lists([2, 0, 1, 1]), Some((0..2, 1)));
        assert_eq!(lists([1, 0, 1, 1]), Some((2..4, 1)));
        assert_eq!(lists([0, 0, 0, 1]), Some((2..4, 1)), "the first die has none");
    }
}
