//! Every transaction that has what it needs enters its die's queue at once.
//!
//! Source: the queue model of DiskSim+SSD and SSDsim, on which four of the papers are based.
//!
//! Parameters: none.

use super::{AdmitPolicy, AdmitView, Change, Entry, Setup};
use serde::{Deserialize, Serialize};

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl super::Parameters for Params {
    fn slots(&self) -> u32 {
        u32::MAX
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

    #[inline(always)]
    fn next(&mut self, _: Change, _: &AdmitView<'_>) -> Option<Entry> {
        None
    }
}
