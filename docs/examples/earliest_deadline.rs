//! The request with the earliest deadline; collection while no deadline is near, or if free blocks run out.
//!
//! Source: own, after EDF, Liu and Layland 1973.
//!
//! Parameters:
//! - `read` (default `"2 ms"`), `write` (default `"10 ms"`): time from a request's arrival to its deadline; half of
//!   it for urgent requests.
//! - `slack` (default `"3 ms"`): a deadline is near if at most this time remains.
//! - `low` (default 2): erased blocks of a plane at which the die collects, whatever the deadlines.

use super::{Class, OrderPolicy, OrderView, Parameters};
use crate::flash::geometry::Geometry;
use crate::flash::timing::Timing;
use copyback_workload::units::Nanos;

/// See the page above.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// From a read's arrival to its deadline.
    pub read: Nanos,
    /// From a write's arrival to its deadline.
    pub write: Nanos,
    /// Time before a deadline in which it is near.
    pub slack: Nanos,
    /// Erased blocks at which a die collects at once.
    pub low: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self { read: Nanos(2_000_000), write: Nanos(10_000_000), slack: Nanos(3_000_000), low: 2 }
    }
}

impl Parameters for Params {}

/// No state.
pub struct Policy {
    params: Params,
}

impl Policy {
    /// The policy for a drive.
    pub fn new(params: &Params, _geometry: &Geometry, _timing: &Timing) -> Self {
        Self { params: params.clone() }
    }

    fn deadline_ns(&self, view: &OrderView<'_>, class: Class) -> Option<u64> {
        let head = view.head(class)?;
        let time = if class == Class::Read { self.params.read } else { self.params.write };
        Some(head.arrival_ns + if head.is_urgent { time.0 / 2 } else { time.0 })
    }
}

impl OrderPolicy for Policy {
    fn pick(&mut self, view: &OrderView<'_>) -> Option<Class> {
        let deadlines = [Class::Read, Class::Write].map(|class| (self.deadline_ns(view, class), class));
        let earliest = deadlines.into_iter().filter_map(|(ns, class)| Some((ns?, class))).min_by_key(|&(ns, _)| ns);
        let gc = view.may_run(Class::Gc).then_some(Class::Gc);
        let Some((deadline_ns, class)) = earliest else { return gc };
        let mut planes = view.die.geometry().planes_of(view.die.die());
        let is_low = planes.any(|plane| view.die.free_blocks(plane) <= self.params.low);
        let is_near = deadline_ns <= view.die.now_ns() + self.params.slack.0;
        gc.filter(|_| is_low || !is_near).or(Some(class))
    }
}
