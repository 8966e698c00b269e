//! By deadline: collection continues as long as the requests that wait for its die can still meet their deadlines.
//!
//! Source: `hios` of hpdc18 Fig. 4c (HIOS, Jung et al. 2014): "the entire GC operations are divided into multiple
//! chunks and each of them is processed using the slack of each I/O request". A request has a deadline a fixed time
//! after its arrival. Between two chunks, a request preempts if it would be late after the next chunk: if the time to
//! its deadline is shorter than the next chunk and the request's own command take together. All others wait, so that
//! response times grow and deadlines hold.
//!
//! Below `trigger.hard` no request preempts. The erase is a chunk of its own; no command is interrupted.
//!
//! ```text
//! GC    R1 W1 R2 W2   R3 W3 ... E
//! host  x arrives   X               x would be late after R3 W3
//! ```
//!
//! Parameters:
//! - `read_deadline` (default `"5 ms"`), `write_deadline` (default `"20 ms"`): time that a request may take. No source
//!   states them.
//! - `chunk` (default 1): pages that are moved in a chunk.
//! - `poll` (default `"600 ns"`): time of a queue poll; one before each step, as under `points`.
//! - `fence` (default `"none"`): which requests that arrive while others preempt wait for the next step, as under
//!   `points`.

use super::{Candidate, Fence, NextStep, Parameters, PreemptionPolicy, PreemptionView};
use crate::config::times::{check_distance, check_step};
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
    /// Time that a read may take.
    pub read_deadline: Nanos,
    /// Time that a write may take.
    pub write_deadline: Nanos,
    /// Pages of a chunk.
    pub chunk: u32,
    /// Time of a queue poll.
    pub poll: Nanos,
    /// Requests that arrive while others preempt.
    pub fence: Fence,
}

impl Default for Params {
    fn default() -> Self {
        let (read_deadline, write_deadline) = (Nanos(5_000_000), Nanos(20_000_000));
        Self { read_deadline, write_deadline, chunk: 1, poll: Nanos(600), fence: Fence::default() }
    }
}

impl Parameters for Params {
    fn check(&self, _: &Device<'_>) -> Result<(), KeyError> {
        if self.chunk == 0 {
            return Err(
                KeyError::new("preemption.chunk", "a chunk of no page moves nothing").with_help("use 1 or more pages")
            );
        }
        check_distance("preemption.read_deadline", self.read_deadline)?;
        check_distance("preemption.write_deadline", self.write_deadline)?;
        check_step("preemption.poll", self.poll)
    }
}

/// The policy of a run.
pub struct Policy {
    poll_ns: u64,
    fence: Fence,
    read_deadline_ns: u64,
    write_deadline_ns: u64,
    chunk: u32,
    chunk_ns: u64,
    erase_ns: u64,
    read_ns: u64,
    write_ns: u64,
}

impl Policy {
    /// The policy for a drive of these times; if pages differ, the times of the first page apply.
    pub fn new(params: &Params, geometry: &Geometry, timing: &Timing) -> Self {
        let page_ns = timing.command_ns + timing.transfer_ns(geometry.units_per_flash_page);
        let transfer_ns = u64::from(geometry.row_planes) * page_ns;
        let read_ns = timing.page_ns(FlashOp::Read, 0) + transfer_ns;
        let write_ns = timing.page_ns(FlashOp::Program, 0) + transfer_ns;
        Self {
            poll_ns: params.poll.0,
            fence: params.fence,
            read_deadline_ns: params.read_deadline.0,
            write_deadline_ns: params.write_deadline.0,
            chunk: params.chunk,
            chunk_ns: u64::from(params.chunk) * (read_ns + write_ns + 2 * params.poll.0),
            erase_ns: timing.command_ns + timing.erase_ns,
            read_ns,
            write_ns,
        }
    }
}

impl PreemptionPolicy for Policy {
    fn queue_poll_ns(&self) -> u64 {
        self.poll_ns
    }

    fn fence(&self) -> Fence {
        self.fence
    }

    #[inline]
    fn admits(&self, view: &PreemptionView<'_>, candidate: Candidate) -> bool {
        let next_ns = match view.step {
            NextStep::Read if view.pages_moved.is_multiple_of(self.chunk) => self.chunk_ns,
            NextStep::Erase => self.erase_ns,
            NextStep::Elsewhere => return true,
            NextStep::Read | NextStep::Program => return false,
        };
        let (deadline_ns, service_ns) = if candidate.is_write {
            (self.write_deadline_ns, self.write_ns)
        } else {
            (self.read_deadline_ns, self.read_ns)
        };
        view.now_ns + next_ns + service_ns > candidate.arrival_ns.saturating_add(deadline_ns)
    }
}
