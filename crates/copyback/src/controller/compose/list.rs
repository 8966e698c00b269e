//! A list of builders: each adds to the command what is legal, and without any the lead goes alone.
//!
//! Builders:
//! - `multi-plane`: transactions of the same operation on other planes of the die join the lead, where page offsets (and
//!   block offsets, on devices that ask for it) agree. hpdc18 Section 2.2.2, tpds20 Section 2.
//! - `cache`: reads and programs follow each other through the cache register, so that a transfer overlaps the array time
//!   of the same die. ONFI read cache and program cache.
//!
//! Parameters:
//! - `builders` (default `["multi-plane"]`): which are tried. The two that there are do not exclude each other, so their order
//!   makes no difference.
//! - `scan_max` (default 16): transactions of a queue that are looked at for a partner.

use crate::config::{KeyError, RunConfig};
use serde::{Deserialize, Serialize};

/// See the page above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Which builders are tried, in this order.
    pub builders: Vec<BuilderName>,
    /// Transactions of a queue that are looked at for a partner.
    pub scan_max: u32,
}

/// A builder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BuilderName {
    /// Same operation on several planes.
    MultiPlane,
    /// Overlap of transfer and array time.
    Cache,
}

impl Default for Params {
    fn default() -> Self {
        Self { builders: vec![BuilderName::MultiPlane], scan_max: 16 }
    }
}

impl Params {
    pub(super) fn check(&self, run: &RunConfig) -> Result<(), KeyError> {
        let commands = &run.commands;
        for builder in &self.builders {
            let missing = match builder {
                BuilderName::MultiPlane if !commands.multi_plane => "multi_plane",
                BuilderName::Cache if !commands.cache_read && !commands.cache_program => "cache_read",
                _ => continue,
            };
            return Err(KeyError::new(
                "compose.builders",
                format!("a builder needs a command that this device has not (`commands.{missing} = false`)"),
            )
            .with_help("leave the builder out, or choose a device with the command"));
        }
        if !(1..=4096).contains(&self.scan_max) {
            return Err(KeyError::new("compose.scan_max", format!("{} is not possible", self.scan_max))
                .with_help("use a number from 1 to 4096"));
        }
        Ok(())
    }
}
