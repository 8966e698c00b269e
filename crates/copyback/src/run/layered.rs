//! The facts about a run's configuration that layers need: its tables, the meaning of an open loop, the share of the
//! drive that its preconditioning maps.

use super::config::{AXES, RunConfig};
use super::precondition::PreconditionConfig;
use crate::buffer;
use crate::config::layers::{Configuration, Kept};
use crate::config::{Axis, KeyError};
use crate::dispatch::admit;
use crate::flash::geometry::Geometry;
use crate::ftl::{frontier, mapping};
use crate::host::config::{HostMode, Target};
use crate::tasks::gc::{preemption, trigger};

impl Configuration for RunConfig {
    const AXES: &'static [Axis] = AXES;
    const KEPT: &'static [Kept] =
        &[mapping::KEPT, mapping::KEPT_LOG, buffer::KEPT, frontier::KEPT, admit::KEPT, trigger::KEPT, preemption::KEPT];
    const OTHER_TABLES: &'static [&'static str] =
        &["geometry", "timing", "capacity", "commands", "tasks", "array", "host", "precondition", "measure"];

    fn check(&self) -> Result<(), KeyError> {
        RunConfig::check(self)
    }

    fn has_closed_loop(&self) -> bool {
        self.host.mode == HostMode::Closed
    }

    fn close_loop(&mut self) {
        self.host.mode = HostMode::Closed;
    }

    fn names_drives(&self) -> bool {
        self.host.target == Target::Drive
    }

    fn name_drives(&mut self) {
        if self.array.is_some() {
            self.host.target = Target::Drive;
        }
    }

    /// It does not depend on the scheme, so that all schemes of a comparison get the same addresses. If a
    /// preconditioning is drawn at random, it is the smallest possible result, minus up to two blocks of each plane.
    fn mapped_share(&self) -> f64 {
        match self.precondition {
            PreconditionConfig::Empty {} => 0.0,
            PreconditionConfig::Sequential { fill } | PreconditionConfig::Random { fill, .. } => fill,
            PreconditionConfig::Snia { .. } | PreconditionConfig::SteadyState {} => 1.0,
            PreconditionConfig::Aged { used_min, valid, .. } => self.share_of_live(used_min, valid),
        }
    }
}

impl RunConfig {
    /// The share of the logical capacity, from its start, that holds data: `valid` of the used pages. One block less is
    /// used, because a second active block counts as used before it is. One block less is live, because a plane's
    /// content is rounded down.
    fn share_of_live(&self, used_min: f64, valid: f64) -> f64 {
        let geometry = Geometry::new(&self.device());
        let physical_bytes = f64::from(geometry.physical_units) * f64::from(geometry.unit_bytes);
        let blocks = f64::from(self.geometry.blocks_per_plane);
        let live_blocks = (blocks * used_min - 1.0) * valid - 1.0;
        let live_bytes = physical_bytes * (live_blocks / blocks);
        (live_bytes / geometry.logical_bytes() as f64).clamp(0.0, 1.0)
    }
}
