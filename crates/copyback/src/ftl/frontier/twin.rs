//! One open block a plane, and of all planes of a die the same one: a plane whose block is full enters the row of
//! blocks that another plane of its die has entered before it, or takes the next row that is erased on all planes.
//!
//! Source: `twinblk` of tpds20 (Section 5.3), twin blocks. Planes are programmed one by one, so that their write points
//! differ; only the blocks are the same. Where no row is erased on all planes, a plane takes any block of its own.
//!
//! Parameters: none.

use super::Parameters;
use serde::{Deserialize, Serialize};

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl Parameters for Params {
    fn opens_twins(&self) -> bool {
        true
    }
}
