//! A write buffer in DRAM: a write is done when its data is in the buffer; the least recently used dirty units are
//! written to flash when there is no room.
//!
//! Source: tpds20 Section 5.1 without its die lists; SSDsim's buffer. Data in the buffer is lost at a power cut unless the
//! device has capacitors; the simulator reports what it held at the end and does not model the loss.
//!
//! Parameters:
//! - `size` (default `"1 MiB"`): room for data.
//! - `latency` (default `"1 us"`): time of a buffer access for each request.

use crate::config::{KeyError, RunConfig};
use copyback_workload::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

/// See the page above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Room for data.
    pub size: Bytes,
    /// Time of an access.
    pub latency: Nanos,
}

impl Default for Params {
    fn default() -> Self {
        Self { size: Bytes(1 << 20), latency: Nanos(1_000) }
    }
}

impl Params {
    pub(super) fn check(&self, run: &RunConfig) -> Result<(), KeyError> {
        let unit_bytes = run.geometry.unit_bytes();
        if self.size.0 < unit_bytes {
            return Err(KeyError::new(
                "buffer.size",
                format!("{} bytes hold no mapping unit of {unit_bytes} bytes", self.size.0),
            )
            .with_help("use a larger buffer, or `buffer.policy = \"none\"`"));
        }
        Ok(())
    }
}
