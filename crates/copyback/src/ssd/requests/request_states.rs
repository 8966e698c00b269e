//! The state of each request: its arrival and priority, its number of open operations, and the results of ended ones.
//!
//! An operation is a transaction, a sub-request that waits for space in DRAM, or an access to DRAM. A request is
//! complete when all of it was submitted and no operation is open. An entry is overwritten when its request's number is
//! reused, so that no entry is allocated for a request.

use crate::observe::report::{CAUSES, Cause};
use crate::sim::index::RequestId;
use crate::sim::invariant::hold;

/// A completed request, as its drive knows it.
#[derive(Clone, Copy, Debug)]
pub struct Completion {
    /// The request.
    pub request: RequestId,
    /// Whether one of its transactions waited for collection.
    pub gc_affected: bool,
    /// The causes of the time of the operation that ended last.
    pub breakdown_ns: [u64; CAUSES],
}

/// A drive's state of a request.
#[derive(Clone, Copy, Debug)]
pub(in crate::ssd) struct RequestState {
    /// Its number in the order of arrival, for messages.
    pub number: u64,
    pub arrival_ns: u64,
    pub high_priority: bool,
    /// Open operations.
    open: u32,
    /// Whether all of it was submitted.
    is_whole: bool,
    gc_affected: bool,
    breakdown_ns: [u64; CAUSES],
}

impl RequestState {
    pub(in crate::ssd) fn new(number: u64, arrival_ns: u64, high_priority: bool) -> Self {
        Self {
            number,
            arrival_ns,
            high_priority,
            open: 0,
            is_whole: false,
            gc_affected: false,
            breakdown_ns: [0; CAUSES],
        }
    }
}

/// The requests of a drive, by the host's [`RequestId`].
#[derive(Default)]
pub(in crate::ssd) struct RequestStates {
    of: Vec<RequestState>,
}

impl RequestStates {
    /// A request begins.
    #[inline]
    pub(in crate::ssd) fn begin(&mut self, id: RequestId, state: RequestState) {
        if id.at() >= self.of.len() {
            self.of.resize(id.at() + 1, state);
        }
        self.of[id.at()] = state;
    }

    /// The state of a request.
    #[inline(always)]
    pub(in crate::ssd) fn state_of(&self, id: RequestId) -> &RequestState {
        &self.of[id.at()]
    }

    /// An operation of a request begins.
    #[inline(always)]
    pub(in crate::ssd) fn open(&mut self, id: RequestId) {
        self.of[id.at()].open += 1;
    }

    /// Closes an operation that does not affect its request: it continues as another operation.
    #[inline(always)]
    pub(in crate::ssd) fn close(&mut self, id: RequestId) {
        let state = &mut self.of[id.at()];
        hold!(state.open > 0, RequestOnce, "more parts of request {} ended than were begun", state.number);
        state.open -= 1;
    }

    /// An operation ends; returns its request if that is complete.
    #[inline]
    pub(in crate::ssd) fn end(
        &mut self,
        id: RequestId,
        gc_affected: bool,
        breakdown_ns: &[u64; CAUSES],
    ) -> Option<Completion> {
        self.close(id);
        let state = &mut self.of[id.at()];
        state.gc_affected |= gc_affected;
        state.breakdown_ns = *breakdown_ns;
        self.if_done(id)
    }

    /// All of a request was submitted; returns the request if no operation is open.
    pub(in crate::ssd) fn end_of_split(&mut self, id: RequestId, now_ns: u64) -> Option<Completion> {
        let state = &mut self.of[id.at()];
        state.is_whole = true;
        if state.open == 0 {
            // A request whose last sub-request needed no work has only waited to enter.
            let explained_ns: u64 = state.breakdown_ns.iter().sum();
            state.breakdown_ns[Cause::Scheduler as usize] += now_ns - state.arrival_ns - explained_ns;
        }
        self.if_done(id)
    }

    #[inline(always)]
    fn if_done(&self, id: RequestId) -> Option<Completion> {
        let state = &self.of[id.at()];
        if state.open > 0 || !state.is_whole {
            return None;
        }
        Some(Completion { request: id, gc_affected: state.gc_affected, breakdown_ns: state.breakdown_ns })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_done_when_all_of_it_was_submitted_and_has_ended() {
        let (mut requests, id) = (RequestStates::default(), RequestId(3));
        requests.begin(id, RequestState::new(0, 100, false));
        requests.open(id);
        assert!(requests.end(id, true, &[1; CAUSES]).is_none(), "more may be submitted");
        requests.open(id);
        assert!(requests.end_of_split(id, 200).is_none(), "an operation is open");
        let done = requests.end(id, false, &[2; CAUSES]).expect("it was the last");
        assert_eq!((done.request, done.gc_affected, done.breakdown_ns), (id, true, [2; CAUSES]));
    }

    #[test]
    fn a_request_of_no_operations_waited_for_its_way_in() {
        let (mut requests, id) = (RequestStates::default(), RequestId(0));
        requests.begin(id, RequestState::new(0, 100, false));
        let done = requests.end_of_split(id, 250).expect("nothing is open");
        assert_eq!(done.breakdown_ns[Cause::Scheduler as usize], 150);
    }
}
