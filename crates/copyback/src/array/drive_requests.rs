//! Requests to drives: the parts of operations. Small integers (`RequestId`) name them to their drives.

use super::operations::OperationId;
use crate::observe::report::CAUSES;
use crate::sim::index::RequestId;
use copyback_workload::Request;

/// A request of one drive: a part of an operation.
#[derive(Clone, Copy, Debug)]
pub struct DriveRequest {
    /// The request to the drive, in its own addresses.
    pub asked: Request,
    /// The drive.
    pub drive: u32,
    /// The number of its request, in the order of arrival.
    pub number: u64,
    /// Whether it writes the host's data, and neither parity nor another copy.
    pub is_data: bool,
    /// When it was issued to the drive.
    pub arrival_ns: u64,
    pub(super) operation: OperationId,
    /// Its member of a stripe.
    pub(super) member: u32,
    /// Whether it is read before a write.
    pub(super) is_read_first: bool,
    /// The causes of its request's time before it began.
    pub(super) before_ns: [u64; CAUSES],
}

/// The current requests to drives.
#[derive(Default)]
pub(super) struct DriveRequests {
    entries: Vec<DriveRequest>,
    free: Vec<RequestId>,
}

impl DriveRequests {
    pub(super) fn add(&mut self, part: DriveRequest) -> RequestId {
        if let Some(id) = self.free.pop() {
            self.entries[id.at()] = part;
            return id;
        }
        self.entries.push(part);
        RequestId(self.entries.len() as u32 - 1)
    }

    pub(super) fn remove(&mut self, id: RequestId) -> DriveRequest {
        self.free.push(id);
        self.entries[id.at()]
    }

    pub(super) fn get(&self, id: RequestId) -> &DriveRequest {
        &self.entries[id.at()]
    }

    pub(super) fn live(&self) -> usize {
        self.entries.len() - self.free.len()
    }
}
