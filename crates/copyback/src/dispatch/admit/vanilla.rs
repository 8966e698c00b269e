//! One queue of all tasks: its first request enters when its die's window has a free slot, and all others wait behind.
//!
//! Source: atc18 Section 5.2: "a design without virtualization and coordination, and all tasks dispatch requests to the
//! controller through a single pair of request/response queue".
//!
//! ```text
//! window of 1   chip 0   p . . . . .  r1         r1 waits for a program of chip 0
//!               chip 1                r2         r2 waits for r1, though chip 1 is idle
//! ```
//!
//! Parameters:
//! - `slots` (default 4): requests in a die's window.

use super::{AdmitPolicy, AdmitView, Change, Entry, Setup, check_slots};
use crate::config::KeyError;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// See the page above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Requests in a die's window.
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

    fn distinguishes_tasks(&self) -> bool {
        true
    }

    fn has_map_task(&self) -> bool {
        true
    }
}

/// The queue: the dies of waiting requests, in order of arrival.
pub struct Policy {
    queue: VecDeque<Entry>,
}

impl Policy {
    /// An empty queue.
    pub fn new(_params: &Params, _setup: &Setup) -> Self {
        Self { queue: VecDeque::with_capacity(1024) }
    }
}

impl AdmitPolicy for Policy {
    fn enters(&mut self, _: Entry, _: &AdmitView<'_>) -> bool {
        self.queue.is_empty()
    }

    fn next(&mut self, _: Change, view: &AdmitView<'_>) -> Option<Entry> {
        let first = self.queue.front().copied().filter(|first| view.has_room(first.die));
        if first.is_some() {
            self.queue.pop_front();
        }
        first
    }

    fn on_wait(&mut self, entry: Entry, _: bool) {
        self.queue.push_back(entry);
    }
}
