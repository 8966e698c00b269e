//! Suspending: a read suspends a program or an erase of a collection. Between its steps, requests preempt as under
//! `points`.
//!
//! Source: Wu and He, FAST 2012 (program and erase suspension): a read that arrives while the array of its die programs
//! or erases suspends this operation. The read is served, and the operation resumes where it stopped. Here a read
//! suspends only operations of jobs that reserve their die (collections and background tasks). A program of
//! the host is not suspended, unless it joined a collection's program (`gc+host` in `compose.gc`): the die suspends the
//! whole command.
//!
//! The device needs `commands.suspend`: which operations can be suspended, how often, and the times to suspend and to
//! resume. An operation that ends before the die could take a read continues. Reads are served one after another,
//! including reads that arrive meanwhile. If `fence` holds them back, free blocks are below `trigger.hard`, or a write
//! waits for a free page, only reads that waited are served, and an operation is suspended once. No read uses a block
//! that the suspended operation changes.
//!
//! Limits:
//! - While reads keep coming and no fence holds them back, a suspension has no bound: `commands.suspend.limit` counts
//!   suspensions, not reads. Set `fence = "all"` for a bound.
//! - If the device executes a command in two parts (`commands.plane_pairs`), only the second part can be suspended.
//! - A command that still waits for its channel is suspended as soon as the array begins it. The controller does not
//!   withdraw the suspension, even if the read has gone or moved by then.
//!
//! ```text
//! points   GC    R1 W1 R2 W2 E................
//!          host              x arrives         X
//! suspend  GC    R1 W1 R2 W2 E.. ..............
//!          host                 X
//! ```
//!
//! Parameters:
//! - `suspends` (default `"all"`): which operations a read suspends, if the device can suspend them: `"erases"`,
//!   `"programs"` or `"all"`.
//! - `min_left` (default `"0 ns"`): an operation whose remaining time is at most this continues. No source states it:
//!   the paper always suspends.
//! - all of `points` (`poll`, `at_register`, `serves`, `fence`, `at_hard`), which are kept if this policy replaces it.

use super::{AtHard, Candidate, Fence, NextStep, Parameters, PreemptionPolicy, PreemptionView, points};
use crate::config::times::check_distance;
use crate::config::{Device, KeyError};
use crate::flash::command::FlashOp;
use crate::flash::geometry::Geometry;
use crate::flash::timing::Timing;
use copyback_workload::units::Nanos;
use serde::{Deserialize, Serialize};

/// See the page above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Operations that a read suspends.
    pub suspends: Suspends,
    /// Operations with at most this remaining time continue.
    pub min_left: Nanos,
    /// Time of a queue poll.
    pub poll: Nanos,
    /// Requests that wait at point (1).
    pub at_register: points::AtRegister,
    /// The requests that may preempt between operations.
    pub serves: points::Serves,
    /// Requests that arrive while others preempt.
    pub fence: Fence,
    /// The requests that the hard watermark prohibits.
    pub at_hard: AtHard,
}

impl Default for Params {
    fn default() -> Self {
        let points::Params { poll, at_register, serves, fence, at_hard } = points::Params::default();
        let (suspends, min_left) = (Suspends::default(), Nanos(0));
        Self { suspends, min_left, poll, at_register, serves, fence, at_hard }
    }
}

impl Params {
    fn points(&self) -> points::Params {
        let Self { poll, at_register, serves, fence, at_hard, .. } = *self;
        points::Params { poll, at_register, serves, fence, at_hard }
    }
}

/// Operations that a read suspends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Suspends {
    /// All that the device can.
    #[default]
    All,
    /// Erases.
    Erases,
    /// Programs.
    Programs,
}

impl Parameters for Params {
    fn check(&self, device: &Device<'_>) -> Result<(), KeyError> {
        let Some(suspend) = device.commands.suspend else {
            let why = "this device cannot suspend an operation";
            return Err(KeyError::new("preemption.policy", why).with_help(
                "set `commands.suspend.latency`, or use another policy (`points` lets requests go between operations)",
            ));
        };
        let (erase, program) = ("`commands.suspend.erase`", "`commands.suspend.program`");
        let (needs, has, keys) = match self.suspends {
            Suspends::All => ("an operation", suspend.erase || suspend.program, &[erase, program][..]),
            Suspends::Erases => ("an erase", suspend.erase, &[erase][..]),
            Suspends::Programs => ("a program", suspend.program, &[program][..]),
        };
        if !has {
            return Err(KeyError::new("preemption.suspends", format!("this device cannot suspend {needs}"))
                .with_help(format!("set {} to true", keys.join(" or "))));
        }
        check_distance("preemption.min_left", self.min_left)?;
        self.points().check(device)
    }

    fn excludes_plane(&self) -> bool {
        self.points().excludes_plane()
    }

    fn own_device_keys() -> &'static [&'static str] {
        &["commands.suspend"]
    }
}

/// The policy of a run.
pub struct Policy {
    suspends: Suspends,
    min_left_ns: u64,
    points: points::Policy,
}

impl Policy {
    /// The policy for a drive.
    pub fn new(params: &Params, geometry: &Geometry, timing: &Timing) -> Self {
        let points = points::Policy::new(&params.points(), geometry, timing);
        Self { suspends: params.suspends, min_left_ns: params.min_left.0, points }
    }
}

impl PreemptionPolicy for Policy {
    fn queue_poll_ns(&self) -> u64 {
        self.points.queue_poll_ns()
    }

    fn fence(&self) -> Fence {
        self.points.fence()
    }

    fn at_hard(&self) -> AtHard {
        self.points.at_hard()
    }

    fn serves_writes(&self) -> bool {
        self.points.serves_writes()
    }

    fn admits(&self, view: &PreemptionView<'_>, candidate: Candidate) -> bool {
        self.points.admits(view, candidate)
    }

    fn excludes_plane(&self, step: NextStep, is_write: bool) -> bool {
        self.points.excludes_plane(step, is_write)
    }

    fn excludes_reads(&self, step: NextStep) -> bool {
        self.points.excludes_reads(step)
    }

    fn suspends(&self, op: FlashOp, left_ns: u64) -> bool {
        let is_named = match self.suspends {
            Suspends::All => true,
            Suspends::Erases => op == FlashOp::Erase,
            Suspends::Programs => op == FlashOp::Program,
        };
        is_named && left_ns > self.min_left_ns
    }
}
