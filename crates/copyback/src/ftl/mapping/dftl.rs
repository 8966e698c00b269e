//! A map in flash, with a cache in DRAM of single entries, which are written back page by page.
//!
//! Source: DFTL (Gupta, Kim, Urgaonkar, ASPLOS 2009), as tpds20 Section 6.5 compares it. A translation page is a
//! mapping unit of entries of 8 bytes each (512 in 4 KiB). Translation pages are hidden logical units after the host's:
//! they are placed, written, moved and collected like data, and share its open blocks. Their locations are known
//! without a look-up.
//!
//! A read or a write of units whose entries are not cached waits for their translation page. The least recently used
//! entry is evicted; if it was changed, its translation page is read and written first, with all changed entries of
//! that page (batched). Collection changes cached entries in place. If moved entries are not cached, their translation
//! pages are read and written once when the collection ends (lazy), one page for every two pages that collections of
//! the die have freed. More updates would use up the freed pages, so they wait for later collections. Postponed entries
//! take DRAM in addition to the cache, and the report counts them. A page that is being updated includes later changes;
//! a request that needs a page with a postponed or outstanding update waits for its end. A unit that was never written
//! is known to hold nothing, and a trim changes no translation page. A page of the buffer that fills up a row of a
//! collection is written without a look-up: its entry changes in DRAM, or its translation page is updated at once. A
//! row with a translation page takes no page from the buffer, and is padded.
//!
//! The cache begins empty, and entries that only collections change are never loaded. Therefore even a cache for the
//! whole map, 8 bytes a unit, does not avoid updates for data that moves and is never requested.
//!
//! ```text
//! read of unit 7, cache full        R 7's translation page                    R 7
//! the same, and the oldest changed  R its page   W its page   R 7's page      R 7
//! ```
//!
//! With superpages (`superpage`), there is one entry for each superpage, and translation pages form superpages, too: as
//! many as a row holds are written together. A look-up reads the page that has the entry. An update first reads all
//! pages of its row.
//!
//! Parameters:
//! - `cache` (default `"64 KiB"`): DRAM for entries; those of a flash page at least, or one entry of a superpage.
//! - `superpages` (default false): whether entries are those of superpages. Needs `frontier.policy = "row"`.

use super::cached::CacheParameters;
use copyback_workload::units::Bytes;
use serde::{Deserialize, Serialize};

/// See the page above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// DRAM for entries.
    pub cache: Bytes,
    /// Whether the entries are those of superpages.
    pub superpages: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self { cache: Bytes(64 << 10), superpages: false }
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
