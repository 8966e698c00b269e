//! What of a run is measured beyond what is always measured.

use copyback_workload::units::Bytes;
use serde::{Deserialize, Serialize};

/// Classes of requests. `[measure]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MeasureConfig {
    /// Reads of at most so many bytes are small (default 64 KiB), and are a class of their own.
    pub small_read_max: Bytes,
}

impl Default for MeasureConfig {
    fn default() -> Self {
        Self { small_read_max: Bytes(64 << 10) }
    }
}
