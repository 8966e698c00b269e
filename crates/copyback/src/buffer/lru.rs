//! A write buffer in DRAM: a write completes when its data is in the buffer. When space is needed, the least recently
//! used dirty units are written to flash.
//!
//! Source: tpds20 Section 5.1 without its die lists; SSDsim's buffer. The least recently used logical page is evicted.
//! If mapping units are smaller than flash pages, the next least recently used pages of the same plane are evicted with
//! it, as many as fill a flash page (no source); on a drive that is written in rows, as many as fill a row. A drive
//! that maps 4 KiB and programs 16 KiB would otherwise program each small write alone. If the allocation does not fix
//! the plane, pages of the same die are taken, or any pages. At a power failure, the buffer's data is lost unless the
//! device has capacitors; the simulator does not model this, and reports the content at the end.
//!
//! Parameters:
//! - `size` (default `"1 MiB"`): capacity for data, a flash page at least.
//! - `latency` (default `"1 us"`): time of an access to the buffer. Writes pay it, and so do reads of units with data:
//!   data from flash passes through the buffer's memory on its way to the host. It is not kept there.
//! - `low_water` (default 1): once pages must be evicted, eviction continues until the units that are not on their way
//!   to flash, waiting units included, are at most this share of `size`. At most one page for each plane is on its way
//!   at once.
//! - `idle_after` (default: none): after this time without a request, all pages are evicted, at most one for each plane
//!   at once, until the next request arrives.

use super::{BufferPolicy, Early, Parameters, Staying, Take, whole};
use crate::config::times::check_step;
use crate::config::{GeometryConfig, KeyError};
use crate::flash::geometry::Geometry;
use crate::ftl::allocation::{Known, PagePlacement};
use copyback_workload::units::{Bytes, Nanos, format_bytes};
use serde::{Deserialize, Serialize};

/// See the page above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Room for data.
    pub size: Bytes,
    /// Time of an access to the buffer, of writes and reads: flash data passes through its memory, too.
    pub latency: Nanos,
    /// Share of the size that remains once pages are evicted.
    #[serde(skip_serializing_if = "is_whole")]
    pub low_water: f64,
    /// After this time without a request, all pages are evicted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_after: Option<Nanos>,
}

pub(super) fn is_whole(share: &f64) -> bool {
    *share == whole()
}

impl Default for Params {
    fn default() -> Self {
        Self { size: Bytes(1 << 20), latency: Nanos(1_000), low_water: whole(), idle_after: None }
    }
}

impl Parameters for Params {
    fn check(&self, geometry: &GeometryConfig) -> Result<(), KeyError> {
        self.early().check()?;
        check_step("buffer.latency", self.latency)?;
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

    fn early(&self) -> Early {
        Early { low_water: self.low_water, idle_after: self.idle_after }
    }
}

/// Whether pages evicted together fill flash pages.
pub const FILLS: super::Fills = super::Fills::Always;

/// What must be known of a page's destination when the page enters the buffer.
pub const NEEDS: Known = Known::Nothing;

/// The policy of a run: a list for each plane, if the allocation determines planes.
pub struct Policy {
    planes: u32,
}

impl Policy {
    /// The policy for a drive.
    pub fn new(_params: &Params, geometry: &Geometry) -> Self {
        Self { planes: geometry.planes }
    }
}

impl BufferPolicy for Policy {
    fn lists(&self) -> usize {
        self.planes as usize
    }

    fn lists_in_turn(&self) -> usize {
        1
    }

    #[inline]
    fn list_of(&self, home: PagePlacement) -> usize {
        match (home.plane.is_some(), home.die.is_some()) {
            (true, _) => home.plane.at(),
            // There are at least as many lists as dies.
            (false, true) => home.die.at(),
            (false, false) => 0,
        }
    }

    fn next(&mut self, staying: Staying<'_>) -> Option<Take> {
        Some(Take::Filling { list: staying.oldest })
    }
}
