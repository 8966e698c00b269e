//! Twin blocks: the victim and the blocks of its offset on all other planes of the die, which are erased with one
//! command. Valid data goes to the planes in rotation.
//!
//! Source: `twinblk` of tpds20 (Section 5.3). The victim policy examines only the requesting plane, not the twins. A
//! page goes to the plane whose turn it is, as a host write of the die does. If all write points agree, one command
//! programs as many pages as there are planes, otherwise one page. Twins that are not full do not take part. Needs
//! `frontier.policy = "twin"`.
//!
//! ```text
//! write points 2 and 4    R W(plane 0)  R W(plane 1)  R W(plane 0)  ...  E of both    they never agree
//! ```
//!
//! Parameters: none.

use super::{GranularityPolicy, OtherPlanesView, Parameters, PlaneRule};
use crate::sim::index::{BlockId, PlaneId};
use serde::{Deserialize, Serialize};

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl Parameters for Params {}

/// The policy of a run.
#[derive(Clone, Copy, Debug)]
pub struct Policy {}

impl Policy {
    pub(super) fn new(_: &Params) -> Self {
        Self {}
    }
}

impl GranularityPolicy for Policy {
    fn plane_rule(&self) -> Option<PlaneRule> {
        Some(PlaneRule::InTurn)
    }

    fn companion(&self, plane: PlaneId, victim: BlockId, beside: &mut impl OtherPlanesView) -> Option<BlockId> {
        beside.twin(plane, victim)
    }
}
