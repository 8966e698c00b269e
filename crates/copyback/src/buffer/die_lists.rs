//! A write buffer in DRAM with a list for each die: dies take turns, and each evicts its least recently used page.
//!
//! Source: EPO (Element-Level Parallelism Optimization, Xie and Koshia 2011), as `baseline-d`, `twinblk` and `paragc`
//! of tpds20 use it (Sections 4.2.1, 5.1). A page's die is a function of its address, so that pages evicted in
//! succession go to different dies. A die without a page is skipped.
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
use crate::sim::index::DieId;

/// Whether pages evicted together fill flash pages.
pub const FILLS: super::Fills = super::Fills::Never;

/// What must be known of a page's destination when the page enters the buffer.
pub const NEEDS: Known = Known::Die;

/// The policy of a run.
pub struct Policy {
    dies: u32,
    rotation: DieRotation,
}

impl Policy {
    /// The policy for a drive.
    pub fn new(_params: &Params, geometry: &Geometry) -> Self {
        Self { dies: geometry.dies, rotation: DieRotation::new(geometry.dies) }
    }
}

impl BufferPolicy for Policy {
    fn lists(&self) -> usize {
        self.dies as usize
    }

    #[inline]
    fn list_of(&self, home: PagePlacement) -> usize {
        home.die.at()
    }

    fn next(&mut self, Staying { of_lists: pages_of, .. }: Staying<'_>) -> Option<Take> {
        let die = self.rotation.take(|die| pages_of[die as usize] > 0).expect("a list has a page") as usize;
        Some(Take::Pages { lists: die..die + 1, pages_each: 1 })
    }

    fn list_of_die(&self, die: DieId) -> Option<usize> {
        Some(die.at())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// tpds20 Fig. 5, by `baseline-d`: dies 0 to 3 hold 3, 1, 2 and 2 pages, and five leave.
    #[test]
    fn dies_take_turns_with_one_page_each() {
        let mut pages_of = [3, 1, 2, 2];
        let mut policy = Policy { dies: 4, rotation: DieRotation::new(4) };
        let left: Vec<usize> = (0..5)
            .map(|_| {
                let (lists, _) = policy.next(Staying::of(&pages_of)).expect("there is always one").pages();
                pages_of[lists.start] -= 1;
                lists.start
            })
            .collect();
        assert_eq!(left, [0, 1, 2, 3, 0]);
        assert_eq!(
            policy.next(Staying::of(&pages_of)).map(|take| take.pages().0.start),
            Some(2),
            "die 1 has none left"
        );
    }
}
