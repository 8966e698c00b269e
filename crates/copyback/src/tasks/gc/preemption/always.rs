//! Collections reserve no die: each of their commands is a request of a task, and `admit` decides when it enters a
//! window.
//!
//! Source: atc18 Sections 3.1 and 4.2: garbage collection "runs concurrently and independently from the host request
//! handler and generates its own flash memory requests".
//!
//! Victims are selected over all planes that the trigger counts together (with `trigger.scope = "device"` over the
//! whole drive). A victim's pages are read, several at once, as long as the buffer has space. The data is programmed a
//! page's worth at a time. It goes to the die that `allocation` chooses, if that policy chooses dies and moved data
//! shares open blocks with the host's; otherwise it stays on the victim's plane. The block is erased when all its data
//! is in flash. If data goes to other dies, several dies work for one collection, and one die for several.
//!
//! ```text
//! die 0   R0 R1 h  R2 h  R3 ...              E     the victim's pages, between requests of the host
//! die 1   h  P0    h  P2                           go wherever the queue is shortest
//! die 2   P1    h     P3
//! ```
//!
//! Parameters:
//! - `victims` (default 1): victims that are collected in parallel.
//! - `buffer` (default 64, at least 2): pages that each victim may hold in the controller, from the request to read a
//!   page until its data is in flash. No source states it; 64 is four slots for each of 16 chips.

use super::{Candidate, PreemptionPolicy, PreemptionView};
use crate::config::{Device, KeyError};
use crate::flash::geometry::Geometry;
use crate::flash::timing::Timing;
use serde::{Deserialize, Serialize};

/// The most concurrent victims.
pub const VICTIMS_MAX: u32 = 64;

/// See the page above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Concurrent victims.
    pub victims: u32,
    /// Pages that each may hold in the controller.
    pub buffer: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self { victims: 1, buffer: 64 }
    }
}

impl super::Parameters for Params {
    fn check(&self, _: &Device<'_>) -> Result<(), KeyError> {
        // At least 2 pages of buffer: one that is being read, and less than a page of units that were read.
        for (key, value, least, most) in [("victims", self.victims, 1, VICTIMS_MAX), ("buffer", self.buffer, 2, 4096)] {
            if !(least..=most).contains(&value) {
                let message = format!("{value} is not possible");
                return Err(KeyError::new(format!("preemption.{key}"), message)
                    .with_help(format!("use a number from {least} to {most}")));
            }
        }
        Ok(())
    }
    fn lets_host_first(&self) -> bool {
        false
    }
    fn as_task(&self) -> Option<super::AsTask> {
        Some(super::AsTask { victims: self.victims, buffer_pages: self.buffer })
    }
}

/// No state.
pub struct Policy {}

impl Policy {
    /// The policy for a drive.
    pub fn new(_params: &Params, _geometry: &Geometry, _timing: &Timing) -> Self {
        Self {}
    }
}

impl PreemptionPolicy for Policy {
    fn admits(&self, _: &PreemptionView<'_>, _: Candidate) -> bool {
        false
    }
}
