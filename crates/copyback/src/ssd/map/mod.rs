//! A map in flash: lookups and updates of translation pages; hot and cold data.

pub(super) mod hotness;
pub(super) mod lookups;
pub(super) mod updates;
