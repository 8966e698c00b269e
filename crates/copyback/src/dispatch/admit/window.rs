//! At most so many transactions of a die are in its queue or under way; the others wait in front of it, in order.
//!
//! Source: atc18 Section 4.1: "at most four requests queued to each chip in the controller".
//!
//! Parameters:
//! - `slots` (default 4): transactions in a die's window; a background job takes one while it lasts.

use super::{AdmitPolicy, Entry, Freed, View, first_come};
use crate::config::KeyError;
use serde::{Deserialize, Serialize};

/// See the page above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Transactions in a die's window.
    pub slots: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self { slots: 4 }
    }
}

impl super::Parameters for Params {
    fn check(&self) -> Result<(), KeyError> {
        if (1..=65_536).contains(&self.slots) {
            return Ok(());
        }
        Err(KeyError::new("admit.slots", format!("{} slots are not possible", self.slots)).with_help("use 1 to 65536"))
    }

    fn slots(&self) -> u32 {
        self.slots
    }
}

/// No state.
pub struct Policy {}

impl Policy {
    /// The policy for a drive.
    pub fn new(_params: &Params) -> Self {
        Self {}
    }
}

impl AdmitPolicy for Policy {
    #[inline(always)]
    fn enters(&mut self, _: Entry, _: &View<'_>) -> bool {
        true
    }

    #[inline]
    fn next(&mut self, freed: Freed, view: &View<'_>) -> Option<Entry> {
        first_come(freed.die, view)
    }
}
