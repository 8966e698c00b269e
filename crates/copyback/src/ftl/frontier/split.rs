//! Two open blocks a plane: one for host data, one for data that garbage collection moves.
//!
//! Source: two frontiers in the hot/cold literature (Van Houdt 2013); moved data is colder than the host's,
//! so keeping them apart lowers write amplification under skew.
//!
//! Parameters: none.

use super::{Parameters, STREAMS};
use serde::{Deserialize, Serialize};

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl Parameters for Params {
    fn open_block_of(&self) -> [u8; STREAMS] {
        [0, 1]
    }
}
