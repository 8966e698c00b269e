//! Mapping: where is a logical unit?
//!
//! Contract: `get`, `set` and `replace` are total over the logical units of the drive, touch no flash and take constant
//! time. They are what is true, for the simulator's own questions, and never cost simulated time. What a look-up costs
//! the firmware belongs to the path of a request: a mapping whose entries live in flash will be asked once for each
//! sub-request (`ssd::sub_requests`), answer "miss" and name the flash work that must come first, on which the
//! request's transaction depends (`waits_for` in `dispatch::txn`, which so far only partial writes use).

pub mod page;
pub mod superpage;

use crate::config::axis;

axis! {
    /// `[mapping]`
    MappingConfig, "mapping", "where is a logical unit?", default Page,
    { "page" => page: Page, "superpage" => superpage: Superpage }
}

impl MappingConfig {
    /// Whether consecutive pages, as many as a die has planes, lie in one row.
    pub fn has_superpages(&self) -> bool {
        matches!(self, Self::Superpage(_))
    }
}

pub use page::PageMap as Mapping;
