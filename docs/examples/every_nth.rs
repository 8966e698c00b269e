//! At every n-th preemption point of a die, requests preempt; at others, only if the first read or write is urgent.
//!
//! Source: own.
//!
//! Parameters:
//! - `n` (default 4): requests preempt at one point of this many.
//! - `poll` (default `"600 ns"`): time of a queue poll; one before each step.

use super::{Candidate, DieView, Parameters, PreemptionPolicy, PreemptionView};
use crate::flash::geometry::Geometry;
use crate::flash::timing::Timing;
use crate::tasks::view::Class;
use copyback_workload::units::Nanos;

/// See the page above.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Requests preempt at one point of this many.
    pub n: u32,
    /// Time of a queue poll.
    pub poll: Nanos,
}

impl Default for Params {
    fn default() -> Self {
        Self { n: 4, poll: Nanos(600) }
    }
}

impl Parameters for Params {}

/// The number of points of each die, and whether requests preempt at the last one.
pub struct Policy {
    params: Params,
    points: Vec<(u32, bool)>,
}

impl Policy {
    /// The policy for a drive.
    pub fn new(params: &Params, geometry: &Geometry, _timing: &Timing) -> Self {
        Self { params: params.clone(), points: vec![(0, false); geometry.dies as usize] }
    }
}

impl PreemptionPolicy for Policy {
    fn queue_poll_ns(&self) -> u64 {
        self.params.poll.0
    }

    fn on_point(&mut self, die: &dyn DieView) {
        let is_urgent = |class: Class| die.first(class).is_some_and(|request| request.is_urgent);
        let (count, is_open) = &mut self.points[die.die().at()];
        *count += 1;
        *is_open = count.is_multiple_of(self.params.n.max(1)) || is_urgent(Class::Read) || is_urgent(Class::Write);
    }

    fn admits(&self, view: &PreemptionView<'_>, _: Candidate) -> bool {
        self.points[view.die.die().at()].1
    }
}
