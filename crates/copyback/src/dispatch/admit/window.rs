//! A die has at most `slots` transactions in its queue or executing; the others wait for admission, in order.
//!
//! Source: atc18 Section 4.1: "at most four requests queued to each chip in the controller".
//!
//! Parameters:
//! - `slots` (default 4): transactions in a die's window; a background job takes one while it lasts. While the job
//!   waits for its die, no request gets a slot that becomes free there. With few slots the job therefore waits for few
//!   requests, whatever `order.first` says.

use super::{AdmitPolicy, AdmitView, Change, Entry, Setup, check_slots, first_come};
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
        check_slots(self.slots)
    }

    fn slots(&self) -> u32 {
        self.slots
    }
}

/// No state.
pub struct Policy {}

impl Policy {
    /// The policy for a drive.
    pub fn new(_params: &Params, _setup: &Setup) -> Self {
        Self {}
    }
}

impl AdmitPolicy for Policy {
    #[inline(always)]
    fn enters(&mut self, _: Entry, _: &AdmitView<'_>) -> bool {
        true
    }

    #[inline]
    fn next(&mut self, change: Change, view: &AdmitView<'_>) -> Option<Entry> {
        let Change::Slot { die, .. } = change else { return None };
        first_come(die, view)
    }
}
