//! One open row a die: the blocks of one offset on all its planes. A program takes the next page of all of them at
//! once, host data and moved data alike, so that the planes of a die keep one write point, always.
//!
//! Source: die-level write construction of tpds20 (Section 4.2), whose `spd` and `superpage` write so; a superblock of
//! a die, in the words of the trade. A row is free when all its blocks are, it is filled, collected and erased as one,
//! and a drive is preconditioned in rows as well.
//!
//! ```text
//! plane 0  | a | c | e |            a page of each plane at a time: a, b, then c, d, then e and nothing:
//! plane 1  | b | d |   |            what a row has no data for is padding
//! ```
//!
//! A transaction brings one flash page; writes that wait for the die together share a row. For other policies a die has
//! one plane, whose pages are rows: a plane's watermark counts rows, and a victim is a row of blocks.
//!
//! Parameters: none.

use super::Parameters;
use serde::{Deserialize, Serialize};

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl Parameters for Params {
    fn is_in_rows(&self) -> bool {
        true
    }
}
