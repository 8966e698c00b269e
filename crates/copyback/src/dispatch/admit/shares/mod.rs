//! Shares: how many of the drive's slots a task may have, in percent.
//!
//! Contract: the engine reads the share of a task at every decision, in constant time. Shares that change with time
//! have a period; while a task is active, they are updated at the end of each period, with the state of the drive
//! ([`State`]). They are also notified when a task becomes active. If an update changes nothing, further updates are
//! skipped until the active tasks or the state change.

pub mod feedback;
pub mod fixed;
pub mod plugin;

use crate::config::KeyError;
use crate::flash::command::Source;
use serde::{Deserialize, Serialize};

/// Tasks other than the host.
pub const TASKS: [(&str, Source); 4] =
    [("gc", Source::GC), ("map", Source::MAP), ("scrub", Source::SCRUB), ("wear", Source::WEAR)];

/// `[admit.shares]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "policy")]
#[allow(missing_docs)]
pub enum SharesConfig {
    #[serde(rename = "fixed")]
    Fixed(fixed::Params),
    #[serde(rename = "feedback")]
    Feedback(feedback::Params),
    #[serde(rename = "plugin")]
    Plugin(plugin::Params),
}

impl Default for SharesConfig {
    fn default() -> Self {
        Self::Fixed(fixed::Params::default())
    }
}

impl SharesConfig {
    /// Checks the parameters.
    pub fn check(&self) -> Result<(), KeyError> {
        match self {
            Self::Fixed(p) => p.check(),
            Self::Feedback(p) => p.check(),
            Self::Plugin(p) => p.check(),
        }
    }
}

impl SharesConfig {
    /// Whether a task has no slot during all of a run.
    pub fn excludes(&self, task: Source) -> bool {
        matches!(self, Self::Fixed(p) if fixed::Fixed::new(p).of(task).is_none())
    }

    /// The share of the map, if that is a separate task.
    pub fn of_map(&self) -> f64 {
        match self {
            Self::Fixed(p) => p.map,
            Self::Feedback(p) => p.map,
            Self::Plugin(p) => p.map,
        }
    }
}

/// The state of a drive that shares may depend on.
#[derive(Clone, Copy, Debug, Default)]
pub struct State {
    /// Free blocks.
    pub free_blocks: u64,
    /// Free blocks below which collection starts.
    pub free_blocks_target: u64,
    /// The highest read count of a block.
    pub reads_max: u64,
    /// The read count above which scrubbing starts.
    pub reads_target: u64,
    /// The demand of the host, if the shares depend on it ([`Shares::looks_at_host`]).
    pub host: Host,
}

/// The state of the host that shares may depend on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Host {
    /// The clock.
    pub now_ns: u64,
    /// Transactions of the host that wait or execute.
    pub outstanding: u64,
    /// Reads of the host, in logical pages, that have reached the drive so far.
    pub reads: u64,
    /// Writes of the host, in logical pages, that have reached the drive so far.
    pub writes: u64,
}

/// The shares of a run.
pub enum Shares {
    /// Set once.
    Fixed(fixed::Fixed),
    /// Fed back.
    Feedback(feedback::Feedback),
    /// Set by a program that calls this one.
    Plugin(plugin::Plugged),
}

impl Shares {
    /// The shares of a configuration.
    pub fn new(config: &SharesConfig) -> Self {
        match config {
            SharesConfig::Fixed(p) => Self::Fixed(fixed::Fixed::new(p)),
            SharesConfig::Feedback(p) => Self::Feedback(feedback::Feedback::new(p)),
            SharesConfig::Plugin(p) => Self::Plugin(plugin::Plugged::new(p)),
        }
    }

    /// The share of a task in percent; none if it is set to 0: the task then has no slot.
    #[inline]
    pub fn of(&self, task: Source) -> Option<f64> {
        match self {
            Self::Fixed(shares) => shares.of(task),
            Self::Feedback(shares) => Some(shares.of(task)),
            // Without a share a task rests until the next update.
            Self::Plugin(shares) => Some(shares.of(task)).filter(|&share| share > 0.0),
        }
    }

    /// The time between two updates, if there are any.
    pub fn period_ns(&self) -> Option<u64> {
        match self {
            Self::Fixed(_) => None,
            Self::Feedback(shares) => Some(shares.period_ns()),
            Self::Plugin(shares) => Some(shares.period_ns()),
        }
    }

    /// A task becomes active.
    pub fn on_activate(&mut self, task: Source) {
        if let Self::Feedback(shares) = self {
            shares.on_activate(task);
        }
    }

    /// Whether an update may change a share while these tasks are active.
    pub fn may_change(&self, active: impl Fn(Source) -> bool) -> bool {
        !matches!(self, Self::Fixed(_)) && (active(Source::GC) || active(Source::SCRUB))
    }

    /// Whether the shares depend on the host.
    pub fn looks_at_host(&self) -> bool {
        matches!(self, Self::Plugin(_))
    }

    /// A period has passed, in which these tasks were active. Returns whether a share changed. If not, none changes
    /// before the tasks or the state do.
    pub fn update(&mut self, active: impl Fn(Source) -> bool, state: &State) -> bool {
        match self {
            Self::Fixed(_) => false,
            Self::Feedback(shares) => shares.update(active, state),
            Self::Plugin(shares) => {
                shares.update(state);
                // The next answer of a program cannot be predicted.
                true
            }
        }
    }
}
