//! A preemption policy of a program that calls Copyback: a class of Python, for example.
//!
//! Between the steps of a collection, the engine asks it about each request that waits at the die and that `points`
//! would let preempt. A request that `points` excludes, for example at point (1), stays excluded. Each drive has a
//! policy of its own.
//!
//! Source: none of its own; docs/python.md shows how a policy is written and supplied.
//!
//! Parameters:
//! - `name`: the policy's name, as the caller supplied it.
//! - all of `points` (`poll`, `at_register`, `serves`, `fence`, `at_hard`), which are kept if this policy replaces it.

use super::{AtHard, Candidate, DieView, Fence, NextStep, Parameters, PreemptionPolicy, PreemptionView, points};
use crate::config::plugins::{Supplied, named};
use crate::config::{Device, KeyError};
use crate::flash::geometry::Geometry;
use crate::flash::timing::Timing;
use serde::{Deserialize, Deserializer, Serialize};

/// A policy of the calling program.
pub trait Plugin: Send {
    /// A preemption point opens, before a step.
    fn on_point(&mut self, _die: &dyn DieView) {}
    /// Whether a request goes before the collection's next step.
    fn admits(&self, view: &PreemptionView<'_>, candidate: Candidate) -> bool;
}

/// Makes a policy for a drive of this shape.
pub type Make = dyn Fn(&Geometry) -> Box<dyn Plugin> + Send + Sync;

/// See the page above.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Params {
    /// The policy, by its name.
    pub name: Supplied<Make>,
    /// The requests that may preempt at all.
    #[serde(flatten)]
    pub points: points::Params,
}

impl<'de> Deserialize<'de> for Params {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (name, points) = named(deserializer)?;
        Ok(Self { name, points })
    }
}

impl Parameters for Params {
    fn check(&self, device: &Device<'_>) -> Result<(), KeyError> {
        self.name.check("preemption")?;
        self.points.check(device)
    }

    fn excludes_plane(&self) -> bool {
        self.points.excludes_plane()
    }
}

/// The policy of a run.
pub struct Policy {
    points: points::Policy,
    plugin: Box<dyn Plugin>,
}

impl Policy {
    /// The policy for a drive.
    pub fn new(params: &Params, geometry: &Geometry, timing: &Timing) -> Self {
        let points = points::Policy::new(&params.points, geometry, timing);
        Self { points, plugin: params.name.maker()(geometry) }
    }
}

impl PreemptionPolicy for Policy {
    fn queue_poll_ns(&self) -> u64 {
        self.points.queue_poll_ns()
    }

    fn fence(&self) -> Fence {
        self.points.fence()
    }

    fn at_hard(&self) -> AtHard {
        self.points.at_hard()
    }

    fn serves_writes(&self) -> bool {
        self.points.serves_writes()
    }

    fn on_point(&mut self, die: &dyn DieView) {
        self.plugin.on_point(die);
    }

    fn admits(&self, view: &PreemptionView<'_>, candidate: Candidate) -> bool {
        self.points.admits(view, candidate) && self.plugin.admits(view, candidate)
    }

    fn excludes_plane(&self, step: NextStep, is_write: bool) -> bool {
        self.points.excludes_plane(step, is_write)
    }

    fn excludes_reads(&self, step: NextStep) -> bool {
        self.points.excludes_reads(step)
    }
}
