//! Trigger: when does garbage collection start and stop?
//!
//! Contract: the engine asks a trigger whenever the free level of a plane changed and whenever a round ended. A trigger
//! sees levels only; it answers, and the engine starts jobs.

pub mod idle;
pub mod watermark;

use crate::config::{KeyError, axis};
use crate::run::config::RunConfig;

axis! {
    /// `[trigger]`
    TriggerConfig, "trigger", "when does garbage collection start and stop?", default Watermark,
    { "watermark" => watermark: Watermark }
}

impl TriggerConfig {
    /// Checks the parameters.
    pub fn check(&self, run: &RunConfig) -> Result<(), KeyError> {
        let Self::Watermark(p) = self;
        p.check(run)
    }

    /// Free blocks that a plane has when collection stops.
    pub fn stop_blocks_per_plane(&self, run: &RunConfig) -> u32 {
        let Self::Watermark(p) = self;
        p.stop_blocks_per_plane(run)
    }
}

pub use watermark::Watermark as Trigger;
