//! An aligned row: the blocks of one offset on all planes of a die, which were filled together. Their valid data is
//! written in rows again, and one command erases them.
//!
//! Source: Die-GC of tpds20 (Section 4.3.1, Fig. 6). Needs a drive that is written in rows (`frontier.policy = "row"`).
//! One command reads the pages of one offset, and one command programs a row: as many pages as a die has planes.
//! An odd last page is programmed with a dirty page of its die from the buffer; if there is none, the row is padded.
//!
//! ```text
//! valid    plane 0   p0    p2            in-order      R p0  R p1  W(p0 p1)  R(p2 p2)  W(p2 p2)  E
//!          plane 1      p1 p2
//! valid    plane 0   p0    p2            in-order      R p0  R p2  W(p0 p2)  R p2  W(p2 + dirty)  E
//!          plane 1         p2            pairs-first   R(p2 p2)  W(p2 p2)  R p0  W(p0 + dirty)  E
//! ```
//!
//! Parameters:
//! - `gather` (default `"in-order"`): which valid pages share a row. `"in-order"`: by offset, then plane, as Fig. 6
//!   reads them, at most as many as a row holds at a time. `"pairs-first"`: pages of rows that are valid as a whole
//!   first, the others after them.
//! - `combine` (default false): while writes wait at the die, a row takes these writes, and fills the remaining pages
//!   with valid pages, at least one (Algorithm 1 of Section 4.4, `spd-plus`). The valid pages of one plane's block
//!   precede those of the next plane's block. The writes then do not wait for the collection's end; this includes
//!   writes that arrive during it. While no write waits, the collection continues as above.

use super::{GranularityPolicy, Parameters};
use crate::flash::geometry::Geometry;
use crate::ftl::core::Move;
use crate::tasks::job::JobFill;
use serde::{Deserialize, Serialize};

/// See the page above.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Which valid pages share a row.
    pub gather: Gather,
    /// Whether waiting writes share rows with valid pages.
    pub combine: bool,
}

/// Which valid pages share a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gather {
    /// By offset, then plane.
    #[default]
    InOrder,
    /// Whole rows first.
    PairsFirst,
}

impl Parameters for Params {
    fn needs_rows(&self) -> bool {
        true
    }
}

/// The policy of a run.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    gather: Gather,
    combine: bool,
}

impl Policy {
    pub(super) fn new(params: &Params) -> Self {
        Self { gather: params.gather, combine: params.combine }
    }
}

impl GranularityPolicy for Policy {
    fn fill(&self) -> JobFill {
        JobFill::ToFit
    }

    fn combines(&self) -> bool {
        self.combine
    }

    fn order_moves(&self, moves: &mut [Move], geometry: &Geometry) {
        if self.gather != Gather::PairsFirst {
            return;
        }
        let row_of = |m: &Move| geometry.page_of(m.from);
        let mut start = 0;
        let mut whole = 0;
        while start < moves.len() {
            let units = moves[start..].iter().take_while(|m| row_of(m) == row_of(&moves[start])).count();
            if units == geometry.units_per_page as usize {
                moves[whole..start + units].rotate_right(units);
                whole += units;
            }
            start += units;
        }
    }
}
