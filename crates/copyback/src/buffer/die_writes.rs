//! A write buffer in DRAM with a list for each die: dies take turns, and of each as many pages as it has planes leave
//! together.
//!
//! Source: die-level write construction, `spd` of tpds20 (Section 4.2.1). The pages used least recently leave. A die
//! with fewer pages than planes is passed over; where all dies have fewer, those of the die that has most leave, of two
//! the one whose turn it is first.
//!
//! ```text
//! pages of dies 0 to 3, of two planes each      3  1  2  2     the turn stands at die 0
//! what leaves for five new pages                2  -  2  2     and stands there again
//! ```
//!
//! Parameters: those of `lru`.
//! - `size` (default `"1 MiB"`): room for data, a flash page at least. tpds20: 1 % of the footprint.
//! - `latency` (default `"1 us"`): time of a buffer access for each request.

pub use super::lru::Params;

use super::turn::Turn;
use super::{BufferPolicy, Take};
use crate::flash::geometry::Geometry;
use crate::ftl::allocation::{Known, Place};

/// What it has to know of a page's place when the page comes in.
pub const NEEDS: Known = Known::Die;

/// The policy of a run.
pub struct Policy {
    dies: u32,
    planes_per_die: u32,
    turn: Turn,
}

impl Policy {
    /// The policy for a drive.
    pub fn new(_params: &Params, geometry: &Geometry) -> Self {
        Self { dies: geometry.dies, planes_per_die: geometry.planes_per_die, turn: Turn::new(geometry.dies) }
    }
}

impl BufferPolicy for Policy {
    fn lists(&self) -> usize {
        self.dies as usize
    }

    #[inline]
    fn list_of(&self, home: Place) -> usize {
        home.die.at()
    }

    fn next(&mut self, pages_of: &[u32]) -> Take {
        let whole = self.turn.take(|die| pages_of[die as usize] >= self.planes_per_die);
        let die = whole.unwrap_or_else(|| {
            let most = *pages_of.iter().max().expect("a drive has a die");
            self.turn.take(|die| pages_of[die as usize] == most).expect("a die has most")
        }) as usize;
        Take { lists: die..die + 1, pages_each: self.planes_per_die }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who gives pages in turn, and how many.
    fn taken<const DIES: usize>(mut pages_of: [u32; DIES], sets: usize) -> Vec<(usize, u32)> {
        let mut policy = Policy { dies: DIES as u32, planes_per_die: 2, turn: Turn::new(DIES as u32) };
        (0..sets)
            .map(|_| {
                let Take { lists, pages_each } = policy.next(&pages_of);
                let pages = pages_each.min(pages_of[lists.start]);
                pages_of[lists.start] -= pages;
                (lists.start, pages)
            })
            .collect()
    }

    /// tpds20 Fig. 5.
    #[test]
    fn dies_with_fewer_pages_than_planes_are_passed_over() {
        assert_eq!(taken([3, 1, 2, 2], 3), [(0, 2), (2, 2), (3, 2)]);
    }

    #[test]
    fn where_all_dies_have_fewer_the_fullest_gives_what_it_has() {
        assert_eq!(taken([0, 1, 0, 1], 2), [(1, 1), (3, 1)]);
        assert_eq!(taken([1, 3, 1], 3), [(1, 2), (2, 1), (0, 1)], "then die 2 has the turn");
    }
}
