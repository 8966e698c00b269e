//! Separate blocks for hot and cold data, as an option of frontiers with one open block.
//!
//! A unit is hot if the host wrote it often enough in this window of time or in the one before. Host data goes to the
//! hot block of a plane, and so do hot units that a collection moves; cold ones go to a second open block.

use crate::config::KeyError;
use crate::config::times::check_distance;
use copyback_workload::units::{Nanos, exact_time};

/// Which data counts as hot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HotCold {
    /// Length of a window.
    pub window_ns: u64,
    /// Writes of a unit in a window that make it hot.
    pub updates: u8,
}

/// Shortest window: once in 29 windows, old counts of units are removed, which takes long.
const WINDOW_MIN_NS: u64 = 1_000_000;
/// Most writes that are counted.
pub const UPDATES_MAX: u8 = 3;

/// Its keys, as a configuration has them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Keys {
    /// `hot_window`
    pub window: Option<Nanos>,
    /// `hot_updates`
    pub updates: Option<u8>,
}

impl Keys {
    /// The definition of hot data; `None` without a window.
    pub fn hot_cold(&self) -> Option<HotCold> {
        self.window.map(|window| HotCold { window_ns: window.0, updates: self.updates.unwrap_or(1) })
    }

    /// Checks the values.
    pub fn check(&self) -> Result<(), KeyError> {
        if self.window.is_none() && self.updates.is_some() {
            let error = KeyError::new("frontier.hot_updates", "updates are counted in windows, and no window is set");
            return Err(error.with_help("set `frontier.hot_window`, for example to \"120 min\", or remove it"));
        }
        let Some(HotCold { window_ns, updates }) = self.hot_cold() else { return Ok(()) };
        if window_ns < WINDOW_MIN_NS {
            let why = format!("a window of {} is shorter than what a few programs take", exact_time(window_ns));
            return Err(
                KeyError::new("frontier.hot_window", why).with_help("use 1 ms or more, for example \"120 min\"")
            );
        }
        check_distance("frontier.hot_window", Nanos(window_ns))?;
        if !(1..=UPDATES_MAX).contains(&updates) {
            let why = format!("{updates} updates cannot be counted");
            return Err(KeyError::new("frontier.hot_updates", why).with_help(format!("use 1 to {UPDATES_MAX}")));
        }
        Ok(())
    }
}
