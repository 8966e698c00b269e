//! Mapping: where is a logical unit?
//!
//! Contract: `get` and `set` are total over the logical units of the drive, touch no flash and take constant time. A
//! mapping whose entries live in flash will answer "miss" and name the flash work that must come first; the engine then
//! runs that work as transactions on which the request depends (see `controller::txn`).

pub mod page;

use crate::config::axis;

axis! {
    /// `[mapping]`
    MappingConfig, "mapping", "where is a logical unit?", default Page,
    { "page" => page: Page }
}

pub use page::PageMap as Mapping;
