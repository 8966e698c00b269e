//! Hybrid: writes go to log blocks, which are merged with data blocks, in which each page has a fixed offset.
//!
//! Source: FAST (Lee, Choi, Park, EUC 2006), as tpds20 Section 6.5 compares it. A logical block has as many pages of a
//! plane as a block holds, in the order of their addresses. If the drive is written in rows (`frontier.policy =
//! "row"`), a plane is a die, and its blocks, logical blocks and log blocks are rows of blocks. Each plane has one
//! sequential log block and several random ones.
//!
//! - A write of a logical block's first page opens the sequential log block; the pages that follow in order go there,
//!   others to the random log blocks, which take pages of any logical block. A page, or a row, goes to the sequential
//!   one if all its units are there and in order.
//! - *Switch merge*: the sequential log block is full, and becomes the data block; the old one is erased.
//! - *Partial merge*: the first page of another logical block comes, or another page of the same one. Its other pages
//!   are copied behind it, it becomes the data block, and the old one is erased. The write does not wait for that, but
//!   for whatever has the die.
//! - *Full merge*: a write to either log finds no page left in the random log blocks. The oldest is emptied: for each
//!   logical block with a valid page in it, all pages are copied, from wherever they are, to a new data block, and the
//!   old data block is erased; then the log block is erased. The write waits for that.
//!
//! ```text
//! random log block a2 b1 b3 a1    full merge    R W R W R W R W  E     R W R W R W R W  E    E
//!                                               a0 .. a3         old a b0 .. b3         old b log block
//! sequential one   c0 c1 c2 c3    switch merge  E old c
//! ```
//!
//! Each merged logical block is a collection of its own: in the reports, and for `preemption` and `order`; those that
//! have no data block yet are gathered with the erase of the log block, as one. Trigger, victims and free blocks in
//! reserve are those of merges; what `trigger` and `victim` say has no effect. Data blocks keep their pages in place,
//! so that no write goes into a row that a merge programs (`granularity.combine`), a merge takes no block of another
//! plane along (`twin`), and a page's plane is its address's (`allocation.policy = "static-die"` becomes `"static"`).
//! A page that holds nothing is skipped at the end of a block, and is padding before others. While merges lag behind
//! so far that no erased block is left for it, what would open the sequential log block goes to the random ones.
//!
//! Rows are written in order only if their pages arrive together: `spd`'s Die-Writes are ordered by age, and a stream
//! that begins half a row later never fills one. `spd` therefore does without the savings of a sequential log block.
//!
//! It goes with `baseline`, `npgc`, `pgc`, `hios`, `baseline-d`, `baseline-p`, `twinblk`, `spd` and `spd-plus`, and
//! with schemes that differ in their victims alone, which are then alike. Others are refused with the reason.
//!
//! A drive begins empty, or filled in order (`precondition.mode = "sequential"`): log blocks are empty then.
//!
//! Parameters:
//! - `log_share` (default 0.03): random log blocks, a share or a count of a plane's blocks; one at least.
//! - `sequential_log` (default true): whether there is a sequential log block. Without it every write goes to random
//!   log blocks: to see what partial and switch merges cost and save.

use crate::config::ShareOrCount;
use serde::{Deserialize, Serialize};

/// See the page above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Random log blocks of a plane.
    pub log_share: ShareOrCount,
    /// Whether there is a sequential log block.
    pub sequential_log: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self { log_share: ShareOrCount::Share(0.03), sequential_log: true }
    }
}
