//! Granularity: what does one collection collect, and where does what is valid go?
//!
//! Contract: a unit names the blocks of one job and the place for what is moved. The engine asks it when a trigger has
//! named the plane; it looks, and the engine takes the blocks.

pub mod block;

use crate::config::{Device, KeyError, axis};

pub use block::Destination;

axis! {
    /// `[granularity]`
    GranularityConfig, "granularity", "what does one collection collect, and where does it go?", default Block,
    { "block" => block: Block }
}

impl GranularityConfig {
    /// Where moves go.
    pub fn destination(&self) -> Destination {
        let Self::Block(p) = self;
        p.destination
    }

    /// Whether moves stay off the channel.
    pub fn copyback(&self) -> bool {
        let Self::Block(p) = self;
        p.copyback
    }

    /// Checks the parameters.
    pub fn check(&self, device: &Device<'_>) -> Result<(), KeyError> {
        let Self::Block(p) = self;
        p.check(device)
    }
}
