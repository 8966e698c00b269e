//! One open row for each die: the blocks of one offset on all its planes. A program takes the next page of all of them
//! at once, for host data and moved data alike, so that the planes of a die always have the same write point.
//!
//! Source: die-level write construction of tpds20 (Section 4.2), whose `spd` and `superpage` write in this way. The
//! industry calls such a row of blocks a superblock. A row of blocks is filled, collected and erased as one, and is
//! free when all its blocks are; preconditioning writes rows, too.
//!
//! ```text
//! plane 0  | a | c | e |            a page of each plane at a time: a, b, then c, d, then e and nothing:
//! plane 1  | b | d |   |            a page without data is padding
//! ```
//!
//! A transaction has the data of one flash page; writes that wait for the die together share a row. Other policies
//! treat a die as one plane, whose pages are rows: a plane's watermark counts rows, and a victim is a row of blocks.
//!
//! Parameters:
//! - `hot_window` (default: none): hot and cold data go to separate blocks. Data of the host shares a block with moved
//!   units that the host wrote in this time window or the previous one; other moves have another block. Source: tpds20
//!   Section 6.5, 120 minutes; scale it like the workload's times. Much of a gain may come from a separate block for
//!   any moves: compare with windows so short that nothing is hot, or with `split`.
//! - `hot_updates` (default 1, at most 3): writes in a window that make a unit hot.

use super::Parameters;
use super::hot_cold::HotCold;
use super::shared_keys::frontier_params;
use crate::config::KeyError;

frontier_params! { {} hot }

impl Parameters for Params {
    fn hot_cold(&self) -> Option<HotCold> {
        self.hot_keys().hot_cold()
    }

    fn check(&self) -> Result<(), KeyError> {
        self.hot_keys().check()
    }

    fn is_in_rows(&self) -> bool {
        true
    }
}
