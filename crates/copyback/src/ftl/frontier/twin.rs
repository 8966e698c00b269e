//! One open block for each plane, at the same offset on all planes of a die. A plane whose block is full opens its
//! block of the row that another plane of its die has begun. Without such a row, it begins the next row that is erased
//! on all planes.
//!
//! Source: `twinblk` of tpds20 (Section 5.3), twin blocks. Each plane has its own write point in its block of the row.
//! If no row is erased on all planes, a plane takes any of its own free blocks.
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

    fn opens_twins(&self) -> bool {
        true
    }
}
