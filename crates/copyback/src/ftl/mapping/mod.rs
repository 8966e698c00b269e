//! Mapping: the location of a logical unit.
//!
//! Contract: `get`, `set` and `replace` are total over the logical units of the drive, touch no flash and take constant
//! time. They give the simulator the true map, and never cost simulated time. The firmware's look-ups belong to the
//! path of a request: a mapping with its entries in flash records which of them are in DRAM (`cached`), and the drive
//! reads the others from flash before it assigns a die to the request's transaction (`ssd::map::lookups`). Translation
//! pages are hidden logical units after the host's. Superpages (`superpage`) can have a map in DRAM or in flash.

pub mod cached;
pub mod dftl;
pub mod fast;
pub mod map_cache;
pub mod page;
pub mod superpage;

use crate::config::axis;
use crate::config::layers::Kept;
use crate::flash::geometry::Geometry;
use cached::CacheParameters;

axis! {
    /// `[mapping]`
    MappingConfig, "mapping", "where is a logical unit?", default Page,
    { "page" => page: Page, "superpage" => superpage: Superpage, "dftl" => dftl: Dftl, "map-cache" => map_cache: MapCache,
      "fast" => fast: Fast }
}

/// Parameters that are kept if a scheme chooses how the map is cached: its DRAM.
pub const KEPT: Kept = Kept { table: "mapping", policies: &["dftl", "map-cache"], keys: &["cache"] };

/// The keys of log blocks that describe the drive.
pub const KEPT_LOG: Kept = Kept { table: "mapping", policies: &["fast"], keys: &["log_share", "sequential_log"] };

impl MappingConfig {
    /// The cache of the map, if its entries are in flash.
    pub fn cache(&self) -> Option<&dyn CacheParameters> {
        match self {
            Self::Dftl(p) => Some(p),
            Self::MapCache(p) => Some(p),
            Self::Page(_) | Self::Superpage(_) | Self::Fast(_) => None,
        }
    }

    /// The parameters of log blocks, if writes are merged.
    pub fn log_blocks(&self) -> Option<&fast::Params> {
        match self {
            Self::Fast(p) => Some(p),
            Self::Page(_) | Self::Superpage(_) | Self::Dftl(_) | Self::MapCache(_) => None,
        }
    }

    /// Hidden logical units that hold the map.
    pub fn map_units(&self, geometry: &Geometry) -> u32 {
        self.cache().map_or(0, |cache| cache.translation_pages(geometry) * geometry.units_per_write())
    }

    /// The setting that chooses superpages, and the one to choose instead.
    pub fn superpage_setting(&self) -> (&'static str, &'static str) {
        match self {
            Self::Superpage(_) => ("mapping.policy", "`mapping.policy = \"page\"`"),
            _ => ("mapping.superpages", "`mapping.superpages = false`"),
        }
    }

    /// Whether consecutive pages, as many as a die has planes, share one row.
    pub fn has_superpages(&self) -> bool {
        match self {
            Self::Page(_) => false,
            Self::Superpage(_) => true,
            Self::Dftl(p) => p.superpages,
            Self::MapCache(p) => p.superpages,
            Self::Fast(p) => p.superpages,
        }
    }
}

pub use page::PageMap as Mapping;
