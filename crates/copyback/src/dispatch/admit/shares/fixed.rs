//! Shares that are set once.
//!
//! Source: atc18 Sections 5.1 (Fig. 4c) and 5.2 (Fig. 9).
//!
//! Parameters:
//! - `gc`, `map`, `scrub`, `wear` (default 20 each): shares of the tasks in percent. A task with a share of 0 has no
//!   slot, except for the guard.

use super::TASKS;
use crate::config::{KeyError, number};
use crate::flash::command::Source;
use crate::flash::source::Account;
use serde::{Deserialize, Serialize};

/// See the page above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Of garbage collection.
    pub gc: f64,
    /// Of the map's traffic, if that has a separate share.
    pub map: f64,
    /// Of scrubbing.
    pub scrub: f64,
    /// Of wear levelling.
    pub wear: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self { gc: 20.0, map: 20.0, scrub: 20.0, wear: 20.0 }
    }
}

impl Params {
    fn all(&self) -> [f64; 4] {
        [self.gc, self.map, self.scrub, self.wear]
    }

    pub(super) fn check(&self) -> Result<(), KeyError> {
        match TASKS.iter().zip(self.all()).find(|(_, share)| !(0.0..=100.0).contains(share)) {
            None => Ok(()),
            Some(((name, _), share)) => {
                Err(KeyError::new(format!("admit.shares.{name}"), format!("{} % is no share", number(share)))
                    .with_help("use a number of percent from 0 to 100"))
            }
        }
    }
}

/// The shares.
#[derive(Clone, Debug)]
pub struct Fixed {
    of: [f64; Account::ALL.len()],
}

impl Fixed {
    /// The configured shares.
    pub fn new(params: &Params) -> Self {
        let share = |account: Account| match account {
            Account::Gc => params.gc,
            Account::Map => params.map,
            Account::Scrub => params.scrub,
            // Relocations for parity are background work, like wear levelling.
            Account::Wear | Account::Parity => params.wear,
            // The share that the tasks leave: it is not used.
            Account::Host => 0.0,
        };
        Self { of: Account::ALL.map(share) }
    }

    /// The share of a task.
    pub fn of(&self, task: Source) -> Option<f64> {
        Some(self.of[task.account().at()]).filter(|&share| share > 0.0)
    }
}
