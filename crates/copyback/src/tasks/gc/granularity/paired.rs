//! A victim, and a block of each other plane of the die that meets a condition: once write points are equal, they are
//! collected in parallel.
//!
//! Source: `paragc` of tpds20 (Section 5.3), ParaGC. A plane that does not meet the condition (`pairs`) does not take
//! part; a collection without a partner is that of a single block. Pages are programmed one by one on the plane whose
//! write point is behind, until all write points are equal. Then one command programs one page on each plane, whatever
//! plane the pages come from.
//!
//! ```text
//! valid   plane 0   0 1 2       write point 2      R W  R W (plane 0 catches up)   R R W   R R W   E of both
//!         plane 1   0 1   3     write point 4
//! ```
//!
//! Parameters:
//! - `partner` (default `"same-offset"`): which block of the other plane. `"same-offset"`: that of the victim's offset,
//!   "the paired block resided in the paired plane"; `"own-greedy"`: the one that the victim policy picks there.
//! - `pairs` (default `"low-planes"`): the condition for a partner. The paper contradicts itself.
//!   - `"low-planes"`: the plane is below its watermark, "only when the number of free pages in the other plane is
//!     smaller than 7 percent" (Section 6.2).
//!   - `"invalid-pages"`: the block has at least half as many units without valid data as the victim, "if the number of
//!     invalid pages in the paired block [...] is large too" (Section 3; no source states half). Pages of both blocks
//!     then go to the victim's plane, because its write point is behind. That plane gains no block, and starts the
//!     next collection, too.

use super::{GranularityPolicy, OtherPlanesView, Parameters, PlaneRule};
use crate::sim::index::{BlockId, PlaneId};
use serde::{Deserialize, Serialize};

/// See the page above.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Which block of the other plane.
    pub partner: Partner,
    /// The condition for a partner.
    pub pairs: Pairs,
}

/// Which block of another plane is collected with a victim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Partner {
    /// The block of the same offset.
    #[default]
    SameOffset,
    /// The block that the victim policy picks.
    OwnGreedy,
}

/// The condition for a partner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pairs {
    /// Its plane is below the watermark.
    #[default]
    LowPlanes,
    /// It has many invalid pages.
    InvalidPages,
}

impl Parameters for Params {}

/// The policy of a run.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    partner: Partner,
    pairs: Pairs,
}

impl Policy {
    pub(super) fn new(params: &Params) -> Self {
        Self { partner: params.partner, pairs: params.pairs }
    }
}

impl GranularityPolicy for Policy {
    fn plane_rule(&self) -> Option<PlaneRule> {
        Some(PlaneRule::Behind)
    }

    fn companion(&self, plane: PlaneId, victim: BlockId, beside: &mut impl OtherPlanesView) -> Option<BlockId> {
        if self.pairs == Pairs::LowPlanes && !beside.is_low(plane) {
            return None;
        }
        let block = match self.partner {
            Partner::SameOffset => beside.twin(plane, victim),
            Partner::OwnGreedy => beside.picked(plane),
        };
        let is_worth_it = |&block: &BlockId| 2 * beside.invalid_units(block) >= beside.invalid_units(victim);
        block.filter(|block| self.pairs == Pairs::LowPlanes || is_worth_it(block))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plane 1 is low, plane 2 is not. Both have a full block of the victim's offset, and one that a policy would pick.
    struct Planes;

    impl OtherPlanesView for Planes {
        fn twin(&self, plane: PlaneId, victim: BlockId) -> Option<BlockId> {
            Some(BlockId(plane.0 * 100 + victim.0))
        }

        fn picked(&mut self, plane: PlaneId) -> Option<BlockId> {
            Some(BlockId(plane.0 * 100 + 77))
        }

        fn is_low(&self, plane: PlaneId) -> bool {
            plane == PlaneId(1)
        }

        /// The victim has 10, plane 1 has 4 and 5, plane 2 has 5 and 4.
        fn invalid_units(&self, block: BlockId) -> u32 {
            match block.0 {
                105 | 277 => 4,
                177 | 205 => 5,
                _ => 10,
            }
        }
    }

    /// tpds20 Section 6.2: ParaGC "activates GCs in paired planes only when the number of free pages in the other plane
    /// is smaller than 7 percent".
    #[test]
    fn only_a_low_plane_gives_a_partner() {
        for (partner, block) in [(Partner::SameOffset, 105), (Partner::OwnGreedy, 177)] {
            let policy = Policy::new(&Params { partner, pairs: Pairs::LowPlanes });
            assert_eq!(policy.companion(PlaneId(1), BlockId(5), &mut Planes), Some(BlockId(block)), "{partner:?}");
            assert_eq!(policy.companion(PlaneId(2), BlockId(5), &mut Planes), None, "{partner:?}");
        }
    }

    /// tpds20 Section 3: "if the number of invalid pages in the paired block resided in the paired plane is large too".
    #[test]
    fn a_block_with_half_of_the_invalid_pages_is_a_partner_on_any_plane() {
        for (partner, blocks) in [(Partner::SameOffset, [None, Some(205)]), (Partner::OwnGreedy, [Some(177), None])] {
            let policy = Policy::new(&Params { partner, pairs: Pairs::InvalidPages });
            let found = [1, 2].map(|plane| policy.companion(PlaneId(plane), BlockId(5), &mut Planes));
            assert_eq!(found, blocks.map(|block| block.map(BlockId)), "{partner:?}");
        }
    }
}
