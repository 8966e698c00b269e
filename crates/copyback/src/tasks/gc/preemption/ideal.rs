//! Collection takes no time, and no request waits for it.
//!
//! Source: `Ideal-No-GC` of hpdc18 (Section 3.1) and of tc12: the bound that no schedule can beat.
//!
//! It is a bound for schedules of the same collections only:
//! - It collects single blocks, also if `granularity` collects several (`twin`, `paired`).
//! - With `trigger.scope = "device"` it collects on each die. A scheme with `preemption.policy = "always"` collects at
//!   most `preemption.victims` blocks at a time.
//! - Relocations of `[tasks.scrub]` and `[tasks.wear]` take time as under any other scheme, and reserve their die.
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
    fn is_timeless(&self) -> bool {
        true
    }
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
