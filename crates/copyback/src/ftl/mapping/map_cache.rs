//! A map in flash, with a cache in DRAM of whole translation pages.
//!
//! Source: atc18 Section 4.1 (128 MB hold 32 % of the map, LRU, dirty pages written back). The mechanism is that of
//! `dftl`, but for whole pages: a miss loads a page, and a changed page is written back without a read before it.
//!
//! With superpages, translation pages are written as with `dftl`: the others of the row are read first.
//!
//! Parameters:
//! - `cache` (default `"128 MiB"`): DRAM for translation pages; one at least. `dftl` has another default: set both to
//!   compare the two.
//! - `superpages` (default false): whether entries are those of superpages (see `dftl`).

use super::cached::CacheParameters;
use copyback_workload::units::Bytes;
use serde::{Deserialize, Serialize};

/// See the page above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// DRAM for translation pages.
    pub cache: Bytes,
    /// Whether the entries are those of superpages.
    pub superpages: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self { cache: Bytes(128 << 20), superpages: false }
    }
}

impl CacheParameters for Params {
    fn cache_bytes(&self) -> u64 {
        self.cache.0
    }

    fn holds_pages(&self) -> bool {
        true
    }
}
