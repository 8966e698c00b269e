//! How much of a drive does its past map? For workloads that address what holds data.

use crate::flash::geometry::Geometry;
use crate::run::config::RunConfig;
use crate::run::precondition::PreconditionConfig;

impl RunConfig {
    /// The share of the logical capacity, from its start, whose every unit holds data after preconditioning. It does not
    /// depend on the scheme, so that all schemes of a comparison are asked for the same addresses; where a past is drawn at
    /// random it is the least that may come out, less a block of each plane. 0 where nothing is known to be mapped.
    /// The configuration must have been checked.
    #[must_use]
    pub fn mapped_share(&self) -> f64 {
        match self.precondition {
            PreconditionConfig::Empty {} => 0.0,
            PreconditionConfig::Sequential { fill } | PreconditionConfig::Random { fill, .. } => fill,
            PreconditionConfig::Snia { .. } => 1.0,
            PreconditionConfig::Aged { used_min, valid, .. } => self.share_of_live(used_min, valid),
        }
    }

    /// A plane's first units hold data in so many of its blocks: `valid` of those that are used. A block less, since a second
    /// active block counts as used before it is, and since what a plane holds is rounded down.
    fn share_of_live(&self, used_min: f64, valid: f64) -> f64 {
        let geometry = Geometry::new(self);
        let physical_bytes = f64::from(geometry.physical_units) * f64::from(geometry.unit_bytes);
        let blocks = f64::from(self.geometry.blocks_per_plane);
        let live_blocks = (blocks * used_min - 1.0) * valid - 1.0;
        let live_bytes = physical_bytes * (live_blocks / blocks);
        (live_bytes / geometry.logical_bytes() as f64).clamp(0.0, 1.0)
    }
}
