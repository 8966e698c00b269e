//! A write buffer in DRAM: a write is done when its data is in the buffer; the least recently used dirty units are
//! written to flash when there is no room.
//!
//! Source: tpds20 Section 5.1 without its die lists; SSDsim's buffer. Data in the buffer is lost at a power cut unless
//! the device has capacitors; the simulator reports what it held at the end and does not model the loss.
//!
//! Parameters:
//! - `size` (default `"1 MiB"`): room for data, a flash page at least.
//! - `latency` (default `"1 us"`): time of a buffer access for each request.

use super::{BufferPolicy, Parameters, Take};
use crate::config::{GeometryConfig, KeyError};
use crate::flash::geometry::Geometry;
use crate::ftl::allocation::{Known, Place};
use copyback_workload::units::{Bytes, Nanos, format_bytes};
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

impl Parameters for Params {
    fn check(&self, geometry: &GeometryConfig) -> Result<(), KeyError> {
        // A write comes in page by page, each as a whole. A buffer that cannot hold one would wait for ever.
        let page_bytes = geometry.page_size.0;
        if self.size.0 < page_bytes {
            return Err(KeyError::new(
                "buffer.size",
                format!("{} bytes hold no flash page of {page_bytes} bytes", self.size.0),
            )
            .with_help(format!("use at least {}, or `buffer.policy = \"none\"`", format_bytes(page_bytes))));
        }
        Ok(())
    }

    fn size_bytes(&self) -> u64 {
        self.size.0
    }

    fn latency_ns(&self) -> u64 {
        self.latency.0
    }
}

/// What it has to know of a page's place when the page comes in.
pub const NEEDS: Known = Known::Nothing;

/// The policy of a run: one list.
pub struct Policy;

impl Policy {
    /// The policy for a drive.
    pub fn new(_params: &Params, _geometry: &Geometry) -> Self {
        Self
    }
}

impl BufferPolicy for Policy {
    fn lists(&self) -> usize {
        1
    }

    #[inline]
    fn list_of(&self, _home: Place) -> usize {
        0
    }

    fn next(&mut self, _pages_of: &[u32]) -> Option<Take> {
        Some(Take { lists: 0..1, pages_each: 1 })
    }
}
