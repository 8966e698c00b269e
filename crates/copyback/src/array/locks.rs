//! The holders of a stripe, and the operations that wait for it, in order of arrival. Holders are one operation that
//! changes the stripe, or any number of reads.

use super::operations::{OperationId, Operations};
use crate::sim::invariant::hold;

/// A locked stripe.
#[derive(Clone, Copy, Debug)]
struct Gate {
    /// Operations that read it; 0 while an operation holds it exclusively.
    readers: u32,
    alone: OperationId,
    first_waiting: OperationId,
    last_waiting: OperationId,
}

/// The locks of all stripes: four bytes each, and nothing if no stripe is protected.
pub(super) struct Locks {
    /// The gate of each stripe; [`NO_GATE`] without a holder.
    gate_of: Vec<u32>,
    gates: Vec<Gate>,
    unused: Vec<u32>,
}

const NO_GATE: u32 = u32::MAX;

impl Locks {
    pub(super) fn new(stripes: u64) -> Self {
        Self { gate_of: vec![NO_GATE; stripes as usize], gates: Vec::new(), unused: Vec::new() }
    }

    fn gate(&mut self, stripe: u64) -> Option<&mut Gate> {
        self.gates.get_mut(self.gate_of[stripe as usize] as usize)
    }

    /// Whether a read of a stripe must wait: an operation changes it, or waits to.
    pub(super) fn bars_reads(&mut self, stripe: u64) -> bool {
        self.gate(stripe).is_some_and(|gate| gate.alone.is_some() || gate.first_waiting.is_some())
    }

    /// Locks a stripe, or waits for it after earlier operations; returns whether the lock was granted.
    pub(super) fn take(&mut self, id: OperationId, operations: &mut Operations) -> bool {
        let (stripe, only_reads) = (operations[id].stripe, operations[id].only_reads());
        let Some(gate) = self.gate(stripe) else {
            self.open(stripe, if only_reads { OperationId::NONE } else { id });
            return true;
        };
        if only_reads && gate.readers > 0 && gate.first_waiting.is_none() {
            gate.readers += 1;
            return true;
        }
        let last = std::mem::replace(&mut gate.last_waiting, id);
        if last.is_some() {
            operations[last].next_waiting = id;
        } else {
            gate.first_waiting = id;
        }
        false
    }

    fn open(&mut self, stripe: u64, alone: OperationId) {
        let none = OperationId::NONE;
        let gate = Gate { readers: u32::from(alone.is_none()), alone, first_waiting: none, last_waiting: none };
        let at = self.unused.pop().unwrap_or_else(|| {
            self.gates.push(gate);
            self.gates.len() as u32 - 1
        });
        self.gates[at as usize] = gate;
        self.gate_of[stripe as usize] = at;
    }

    /// Releases a stripe; the caller admits the next holders with [`Self::admit`], until there is none.
    pub(super) fn give_back(&mut self, id: OperationId, operations: &Operations) {
        let (stripe, only_reads) = (operations[id].stripe, operations[id].only_reads());
        let gate = self.gate(stripe).expect("a stripe that is given back was had");
        let is_its = if only_reads { gate.readers > 0 && gate.alone.is_none() } else { gate.alone == id };
        hold!(is_its, StripeLock, "stripe {stripe} is given back by {id:?}, and it is had so: {gate:?}");
        if only_reads {
            gate.readers -= 1;
        } else {
            gate.alone = OperationId::NONE;
        }
    }

    /// The next operation that has waited for a stripe and holds it from now on.
    pub(super) fn admit(&mut self, stripe: u64, operations: &Operations) -> Option<OperationId> {
        let gate = self.gate(stripe)?;
        let (next, readers) = (gate.first_waiting, gate.readers);
        if gate.alone.is_some() {
            return None;
        }
        if next.is_none() {
            if readers == 0 {
                self.unused.push(std::mem::replace(&mut self.gate_of[stripe as usize], NO_GATE));
            }
            return None;
        }
        let only_reads = operations[next].only_reads();
        if readers > 0 && !only_reads {
            return None;
        }
        gate.first_waiting = operations[next].next_waiting;
        if gate.first_waiting.is_none() {
            gate.last_waiting = OperationId::NONE;
        }
        if only_reads {
            gate.readers += 1;
        } else {
            gate.alone = next;
        }
        Some(next)
    }

    /// Whether no stripe is locked.
    pub(super) fn are_free(&self) -> bool {
        self.gate_of.iter().all(|&gate| gate == NO_GATE)
    }
}
