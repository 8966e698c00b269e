//! Trigger: when does garbage collection start and stop?
//!
//! Contract: the engine asks a trigger whenever the free blocks of a plane changed and whenever a collection ended. A
//! trigger sees counts of free blocks only; it answers, and the engine starts jobs.

pub mod idle;
pub mod watermark;

use crate::config::{GeometryConfig, KeyError, axis};
use crate::flash::geometry::Geometry;

axis! {
    /// `[trigger]`
    TriggerConfig, "trigger", "when does garbage collection start and stop?", default Watermark,
    { "watermark" => watermark: Watermark }
}

impl TriggerConfig {
    /// The trigger of a drive.
    pub fn build(&self, geometry: &Geometry) -> Trigger {
        let Self::Watermark(p) = self;
        Trigger::new(p, geometry)
    }

    /// Checks the parameters.
    pub fn check(&self, geometry: &GeometryConfig) -> Result<(), KeyError> {
        let Self::Watermark(p) = self;
        p.check(geometry)
    }

    /// Free blocks of each plane below which collection starts, and at which it stops.
    pub fn blocks_per_plane(&self, geometry: &GeometryConfig) -> (u32, u32) {
        let Self::Watermark(p) = self;
        p.blocks_per_plane(geometry)
    }

    /// Blocks by which the watermarks of a die's second plane lie above those of its first, and so on.
    pub fn stagger_blocks(&self) -> u32 {
        let Self::Watermark(p) = self;
        p.stagger
    }

    /// Free blocks that a plane has when collection stops.
    pub fn stop_blocks_per_plane(&self, geometry: &GeometryConfig) -> u32 {
        let Self::Watermark(p) = self;
        p.stop_blocks_per_plane(geometry)
    }
}

pub use watermark::Watermark as Trigger;
