//! Blocking: a collection reserves its die from its first command to its last, and requests for any plane of the die
//! wait.
//!
//! Source: the baseline of hpdc18 (Section 3.2, Fig. 5a) and `npgc` of ispass11.
//!
//! Parameters: none.

use super::{Candidate, Parameters, PreemptionPolicy, PreemptionView};
use crate::flash::geometry::Geometry;
use crate::flash::timing::Timing;
use serde::{Deserialize, Serialize};

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl Parameters for Params {
    fn lets_host_first(&self) -> bool {
        false
    }
}

/// No state.
pub struct Policy {}

impl Policy {
    /// The policy for a drive.
    pub fn new(_params: &Params, _geometry: &Geometry, _timing: &Timing) -> Self {
        Self {}
    }
}

impl PreemptionPolicy for Policy {
    fn admits(&self, _: &PreemptionView<'_>, _: Candidate) -> bool {
        false
    }
}
