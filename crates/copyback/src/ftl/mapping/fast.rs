//! Hybrid: writes go to log blocks, which are merged with data blocks. In a data block, each page has a fixed offset.
//!
//! Source: FAST (Lee, Choi, Park, EUC 2006), as tpds20 Section 6.5 compares it. A logical block has as many pages of a
//! plane as a block holds, in the order of their addresses. If the drive is written in rows (`frontier.policy =
//! "row"`), a plane is a die, and its blocks, logical blocks and log blocks are rows of blocks. Each plane has one
//! sequential log block and several random ones.
//!
//! - A write of a logical block's first page opens the sequential log block, and the pages that follow in order go
//!   there. Other pages go to the random log blocks, which take pages of any logical block. A page, or a row, goes to
//!   the sequential log block only if it has all its units and is next in order.
//! - *Switch merge*: the sequential log block is full, and becomes the data block; the old one is erased.
//! - *Partial merge*: the first page of another logical block is written, or a page of the same logical block out of
//!   order. The remaining pages of the logical block are copied behind the written ones; the log block becomes the data
//!   block, and the old data block is erased. The write does not wait for that, but only until the die is free.
//! - *Full merge*: a write comes while the random log blocks have no page left. Even a write that could go to the
//!   sequential log block needs such a page. The oldest random log block is emptied: for each logical block with a
//!   valid page in it, all valid pages are copied to a new data block, and the old data block is erased. Then the log
//!   block is erased. The write waits for that.
//!
//! ```text
//! random log block a2 b1 b3 a1    full merge    R W R W R W R W  E     R W R W R W R W  E    E
//!                                               a0 .. a3         old a b0 .. b3         old b log block
//! sequential one   c0 c1 c2 c3    switch merge  E old c
//! ```
//!
//! In reports, and for `preemption` and `order`, the merge of each logical block is a collection. Gathering the logical
//! blocks that have no data block, and erasing the log block, are one collection together. Merges have their own
//! trigger, victims and reserve of free blocks; `trigger` and `victim` have no effect. Data blocks keep their pages in
//! place. Therefore no write shares a row that a merge programs (`granularity.combine`), a merge includes no block of
//! another plane (`twin`), and the address determines a page's plane (`allocation.policy = "static-die"` becomes
//! `"static"`). A page without data is skipped at the end of a block, and is padding if other pages follow. If merges
//! lag behind so far that no erased block remains for the sequential log block, pages that would open it go to the
//! random log blocks.
//!
//! Rows are written in order only if their pages arrive together: `spd` evicts pages by age, and a stream that begins
//! inside a row never fills one in order. `spd` therefore does not have the savings of a sequential log block.
//!
//! With superpages (`superpage`), a page of log and data blocks is a superpage: a write of a part reads the rest first,
//! and merges copy whole superpages.
//!
//! It can be combined with `baseline`, `npgc`, `pgc`, `hios`, `baseline-d`, `baseline-p`, `twinblk`, `superpage`, `spd`
//! and `spd-plus`. Schemes that differ only in their victims can be used, too, and then give equal results. Others are
//! refused with the reason.
//!
//! A drive begins empty, or filled in order (`precondition.mode = "sequential"`): log blocks are empty then.
//!
//! Parameters:
//! - `log_share` (default 0.03): random log blocks, a share or a count of a plane's blocks; one at least.
//! - `sequential_log` (default true): whether there is a sequential log block. Without it every write goes to random
//!   log blocks, which shows the cost and the benefit of partial and switch merges.
//! - `superpages` (default false): whether pages are superpages. Needs `frontier.policy = "row"`.

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
    /// Whether pages are superpages.
    pub superpages: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self { log_share: ShareOrCount::Share(0.03), sequential_log: true, superpages: false }
    }
}
