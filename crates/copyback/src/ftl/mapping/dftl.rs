//! Entries in flash, those that are used in DRAM: a cache of single entries, written back page by page.
//!
//! Source: DFTL (Gupta, Kim, Urgaonkar, ASPLOS 2009), as tpds20 Section 6.5 compares it. Translation pages, one mapping
//! unit of entries of 8 bytes each (512 in 4 KiB), are hidden logical units after the host's: they are placed, written,
//! moved and collected like data, and share its open blocks. Their locations are known without a look-up.
//!
//! A read or a write of units whose entries are not cached waits for their translation page. The least recently used
//! entry is evicted; if it was changed, its translation page is read and written first, with all changed entries of
//! that page (batched). Collection changes cached entries in place. The pages of others are read and written once when
//! its round ends (lazy), one for every two pages that rounds of the die have freed. If a round needs more updates,
//! they would use up the freed pages, and wait for later rounds; postponed entries take DRAM in addition to the cache,
//! and the report counts them. A page that is being updated includes later changes; a request that needs a page with a
//! postponed or outstanding update waits for its end. A unit that was never written is known to hold nothing, and a
//! trim changes no translation page. A page of the buffer that fills up a row of a collection is written without a
//! look-up: its entry changes in DRAM or is postponed as that of moved data. A row of a translation page takes no
//! buffer page along, and is padded.
//!
//! It begins empty, and entries that only collections touch are never loaded: even a cache for the whole map, 8 bytes a
//! unit, leaves the updates of data that moves and is never requested.
//!
//! ```text
//! read of unit 7, cache full        R 7's translation page                    R 7
//! the same, and the oldest changed  R its page   W its page   R 7's page      R 7
//! ```
//!
//! Parameters:
//! - `cache` (default `"64 KiB"`): DRAM for entries; those of a flash page at least.

use super::cached::CacheParameters;
use copyback_workload::units::Bytes;
use serde::{Deserialize, Serialize};

/// See the page above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// DRAM for entries.
    pub cache: Bytes,
}

impl Default for Params {
    fn default() -> Self {
        Self { cache: Bytes(64 << 10) }
    }
}

impl CacheParameters for Params {
    fn cache_bytes(&self) -> u64 {
        self.cache.0
    }

    fn holds_pages(&self) -> bool {
        false
    }
}
