//! Buffer: what does DRAM hold, and what does it evict?
//!
//! Contract: a buffer is asked for every mapping unit that the host writes or reads. It answers with what it took, and
//! names the dirty units that have to be written to make room; the engine writes them. Data that is being written stays
//! readable until it is in flash.

pub mod lru;
pub mod none;

use crate::config::{GeometryConfig, KeyError, axis};
use crate::flash::geometry::Geometry;

axis! {
    /// `[buffer]`
    BufferConfig, "buffer", "what does DRAM hold, and what does it evict?", default None,
    { "none" => none: None, "lru" => lru: Lru }
}

impl BufferConfig {
    /// Checks the parameters.
    pub fn check(&self, geometry: &GeometryConfig) -> Result<(), KeyError> {
        match self {
            Self::None(_) => Ok(()),
            Self::Lru(p) => p.check(geometry),
        }
    }

    /// The buffer of a run, if it has one.
    pub fn build(&self, geometry: &Geometry) -> Option<lru::Buffer> {
        match self {
            Self::None(_) => None,
            Self::Lru(p) => Some(lru::Buffer::new(p, geometry)),
        }
    }
}
