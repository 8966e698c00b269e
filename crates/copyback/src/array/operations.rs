//! The part of a volume's request in one stripe, or on all drives if stripes are not protected.

use crate::observe::report::CAUSES;
use crate::redundancy::planner::Members;
use crate::sim::index::RequestId;
use copyback_workload::Op;
use std::ops::{Index, IndexMut};

/// A current operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OperationId(pub u32);

impl OperationId {
    pub const NONE: Self = Self(u32::MAX);

    pub fn is_some(self) -> bool {
        self != Self::NONE
    }

    pub fn is_none(self) -> bool {
        self == Self::NONE
    }
}

/// The kind of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A request of the host.
    Host(Op),
    /// The rebuild of a failed drive's data on the empty drive.
    Rebuild,
}

/// One operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    /// Its request; none for a rebuild.
    pub request: RequestId,
    pub kind: Kind,
    pub stripe: u64,
    /// Bytes of the volume, all in the stripe's units of data.
    pub bytes: [u64; 2],
    /// Bytes of each unit of the stripe that the parity update covers.
    pub hull: [u64; 2],
    /// Members of data that the operation accesses.
    pub wanted: Members,
    /// Members of `wanted` that it covers only in part.
    pub in_part: Members,
    /// Members that it reads.
    pub reads: Members,
    /// Members that it writes.
    pub writes: Members,
    /// Current parts that must be read before the writes, and all current parts.
    pub reads_open: u32,
    pub open: u32,
    /// Whether it holds its stripe: exclusively, or with other reads.
    pub has_lock: bool,
    /// Since when it has waited for its stripe.
    pub waits_since_ns: u64,
    pub next_waiting: OperationId,
    pub gc_affected: bool,
    /// The time of its request by cause, up to the last completion.
    pub breakdown_ns: [u64; CAUSES],
}

impl Operation {
    /// Whether it is a read of the host: other reads may share its stripe.
    pub fn only_reads(&self) -> bool {
        self.kind == Kind::Host(Op::Read)
    }
}

/// Current operations.
#[derive(Default)]
pub(super) struct Operations {
    entries: Vec<Operation>,
    free: Vec<OperationId>,
}

impl Operations {
    pub fn add(&mut self, operation: Operation) -> OperationId {
        if let Some(id) = self.free.pop() {
            self[id] = operation;
            return id;
        }
        self.entries.push(operation);
        OperationId(self.entries.len() as u32 - 1)
    }

    pub fn remove(&mut self, id: OperationId) {
        self.free.push(id);
    }

    pub fn live(&self) -> usize {
        self.entries.len() - self.free.len()
    }
}

impl Index<OperationId> for Operations {
    type Output = Operation;
    fn index(&self, id: OperationId) -> &Operation {
        &self.entries[id.0 as usize]
    }
}

impl IndexMut<OperationId> for Operations {
    fn index_mut(&mut self, id: OperationId) -> &mut Operation {
        &mut self.entries[id.0 as usize]
    }
}
