//! Semi-preemptive: between the steps of a collection, requests that wait at its die are served.
//!
//! Source: `pgc` of ispass11 (Section III). A page move has two preemption points: (1) between its read and its
//! program, (2) before its read. The last point (2) is before the erase. At each point the controller polls the queue,
//! serves all waiting requests, and resumes the collection when none waits. No executing command is interrupted.
//!
//! At point (1) the collection's plane serves no read, because in the paper a page then waits in its register. If free
//! blocks of the trigger's scope are below `trigger.hard`, writes may not preempt (state 2 of Fig. 7). If a write of
//! high priority also waits at the die, no request may preempt until the collection is complete and that write is
//! served (state 3).
//!
//! Below that watermark, or if a write waits for a free page, a point serves only requests that waited when it opened,
//! so that the collection continues.
//!
//! A copyback is one command and has no point (1).
//!
//! ```text
//! npgc   GC    R1 W1 R2 W2 ... E
//!        host        x arrives     X
//! pgc    GC    R1 W1   R2 W2 ... E
//!        host        X
//! ```
//!
//! Parameters:
//! - `poll` (default `"600 ns"`): time of a queue poll; one before each step. ispass11 Section III-A: 20
//!   instructions and 5 memory accesses, two polls a move are 0.53 % of 225 us.
//! - `at_register` (default `"reads"`): which requests wait at point (1): `"reads"` of the collection's plane (Section
//!   III-A: "an incoming request of reading a page cannot be serviced"); `"all-reads"`, reads of every plane of the
//!   die, a literal reading of "the registers are already occupied"; `"plane"`, all requests for the collection's
//!   plane; `"none"`.
//! - `serves` (default `"all"`): which requests may preempt: `"all"`, or only `"reads"`, so that writes wait for the
//!   collection's end (tpds20 Section 6.1: "read requests of all evaluated schemes are processed with highest
//!   priority").
//! - `fence` (default `"none"`): which requests that arrive while others preempt wait for the next point. `"none"`:
//!   they preempt, too ("all incoming requests are allowed" in state 1; "continuous GC preemption" can use up the free
//!   blocks, and `trigger.hard` exists for that case: Sections III-D, IV-B4). `"writes"`: writes wait. `"all"`: all
//!   wait, so that a point serves only the requests that waited when it opened.
//! - `at_hard` (default `"writes"`): which requests the hard watermark excludes: `"writes"`, as in Fig. 7, or `"all"`,
//!   as in Section IV-B4.

use super::{AtHard, Candidate, Fence, NextStep, Parameters, PreemptionPolicy, PreemptionView};
use crate::config::times::check_step;
use crate::config::{Device, KeyError};
use crate::flash::geometry::Geometry;
use crate::flash::timing::Timing;
use copyback_workload::units::Nanos;
use serde::{Deserialize, Serialize};

/// See the page above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Time of a queue poll.
    pub poll: Nanos,
    /// Requests that wait at point (1).
    pub at_register: AtRegister,
    /// The requests that may preempt.
    #[serde(skip_serializing_if = "Serves::is_default")]
    pub serves: Serves,
    /// Requests that arrive while others preempt.
    pub fence: Fence,
    /// The requests that the hard watermark prohibits.
    pub at_hard: AtHard,
}

/// Requests that wait while a page is between its read and its program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AtRegister {
    /// Reads of the collection's plane.
    #[default]
    Reads,
    /// Reads of every plane.
    AllReads,
    /// All requests for the collection's plane.
    Plane,
    /// None.
    None,
}

/// The requests that may preempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Serves {
    /// All.
    #[default]
    All,
    /// Reads.
    Reads,
}

impl Serves {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Default for Params {
    fn default() -> Self {
        let (at_register, fence, at_hard) = (AtRegister::default(), Fence::default(), AtHard::default());
        Self { poll: Nanos(600), at_register, serves: Serves::default(), fence, at_hard }
    }
}

impl Parameters for Params {
    fn check(&self, _: &Device<'_>) -> Result<(), KeyError> {
        check_step("preemption.poll", self.poll)
    }

    fn excludes_plane(&self) -> bool {
        self.at_register != AtRegister::None
    }
}

/// The policy of a run.
pub struct Policy {
    poll_ns: u64,
    fence: Fence,
    at_hard: AtHard,
    at_register: AtRegister,
    serves: Serves,
}

impl Policy {
    /// The policy for a drive.
    pub fn new(params: &Params, _geometry: &Geometry, _timing: &Timing) -> Self {
        let Params { poll, at_register, serves, fence, at_hard } = *params;
        Self { poll_ns: poll.0, fence, at_hard, at_register, serves }
    }
}

impl PreemptionPolicy for Policy {
    fn queue_poll_ns(&self) -> u64 {
        self.poll_ns
    }

    fn fence(&self) -> Fence {
        self.fence
    }

    fn at_hard(&self) -> AtHard {
        self.at_hard
    }

    fn serves_writes(&self) -> bool {
        self.serves == Serves::All
    }

    #[inline]
    fn admits(&self, view: &PreemptionView<'_>, candidate: Candidate) -> bool {
        let is_excluded = match candidate.is_on_its_plane {
            true => self.excludes_plane(view.step, candidate.is_write),
            false => !candidate.is_write && self.excludes_reads(view.step),
        };
        !is_excluded
    }

    #[inline]
    fn excludes_plane(&self, step: NextStep, is_write: bool) -> bool {
        step == NextStep::Program
            && match self.at_register {
                AtRegister::Reads | AtRegister::AllReads => !is_write,
                AtRegister::Plane => true,
                AtRegister::None => false,
            }
    }

    #[inline]
    fn excludes_reads(&self, step: NextStep) -> bool {
        step == NextStep::Program && self.at_register == AtRegister::AllReads
    }
}
