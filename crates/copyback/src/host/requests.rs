//! Outstanding requests.

use crate::observe::collector::CompletedRequest;
use crate::observe::report::CAUSES;
use crate::sim::index::RequestId;
use crate::sim::invariant::hold;
use copyback_workload::Request;

/// The number in an entry whose request completed.
const NO_REQUEST: u64 = u64::MAX;

/// An outstanding request.
#[derive(Clone, Debug)]
pub struct HostRequest {
    /// The request as it came from the workload.
    pub asked: Request,
    /// Its number in the order of arrival, from 0.
    pub index: u64,
    /// When it arrived; in a closed loop, the loop determines it, not the workload.
    pub arrival_ns: u64,
    /// Whether it has waited because a drive had its maximum of transactions.
    pub was_held: bool,
    /// Its workload, if several workloads share the drives; else 0.
    pub tenant: u16,
}

impl HostRequest {
    /// The measures of a completed request: the request itself, and what its drive reports of it.
    #[inline(always)]
    pub fn ended<'a>(&'a self, gc_affected: bool, breakdown_ns: &'a [u64; CAUSES]) -> CompletedRequest<'a> {
        let Self { asked, index, arrival_ns, tenant, .. } = self;
        CompletedRequest { asked, index: *index, arrival_ns: *arrival_ns, workload: *tenant, gc_affected, breakdown_ns }
    }
}

/// Outstanding requests, by small integers.
#[derive(Default)]
pub struct Requests {
    entries: Vec<HostRequest>,
    free: Vec<RequestId>,
}

impl Requests {
    /// A request begins.
    pub fn add(&mut self, request: HostRequest) -> RequestId {
        if let Some(id) = self.free.pop() {
            self.entries[id.at()] = request;
            return id;
        }
        self.entries.push(request);
        RequestId(self.entries.len() as u32 - 1)
    }

    /// A request ends.
    ///
    /// # Panics
    /// If it has already ended.
    pub fn remove(&mut self, id: RequestId) {
        let ended = &mut self.entries[id.at()];
        hold!(ended.index != NO_REQUEST, RequestOnce, "the request in entry {} ended twice", id.0);
        ended.index = NO_REQUEST;
        self.free.push(id);
    }

    /// Outstanding requests.
    pub fn live(&self) -> u32 {
        (self.entries.len() - self.free.len()) as u32
    }
}

impl std::ops::Index<RequestId> for Requests {
    type Output = HostRequest;
    #[inline(always)]
    fn index(&self, id: RequestId) -> &HostRequest {
        &self.entries[id.at()]
    }
}

impl std::ops::IndexMut<RequestId> for Requests {
    #[inline(always)]
    fn index_mut(&mut self, id: RequestId) -> &mut HostRequest {
        &mut self.entries[id.at()]
    }
}
