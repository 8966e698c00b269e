//! Which operation has a stripe, and who waits for it, in order of arrival.

use super::operations::{OperationId, Operations};
use crate::sim::invariant::hold;

/// The locks of all stripes: four bytes each, and nothing where no stripe is protected.
pub(super) struct Locks {
    /// Who has each stripe.
    holder: Vec<OperationId>,
}

impl Locks {
    pub(super) fn new(stripes: u64) -> Self {
        Self { holder: vec![OperationId::NONE; stripes as usize] }
    }

    /// Whether somebody has a stripe.
    pub(super) fn is_held(&self, stripe: u64) -> bool {
        self.holder[stripe as usize].is_some()
    }

    /// Takes a stripe, or waits for it behind the others; whether it is had.
    pub(super) fn take(&mut self, id: OperationId, operations: &mut Operations) -> bool {
        let holder = &mut self.holder[operations[id].stripe as usize];
        if holder.is_none() {
            *holder = id;
            return true;
        }
        let holder = *holder;
        let last = std::mem::replace(&mut operations[holder].last_waiting, id);
        let before = if last.is_some() { last } else { holder };
        operations[before].next_waiting = id;
        false
    }

    /// Gives a stripe back; who has it now, if anybody waited.
    pub(super) fn give_back(&mut self, id: OperationId, operations: &mut Operations) -> OperationId {
        let (stripe, next) = (operations[id].stripe, operations[id].next_waiting);
        let holder = self.holder[stripe as usize];
        hold!(holder == id, StripeLock, "stripe {stripe} is given back by {id:?}, and {holder:?} has it");
        self.holder[stripe as usize] = next;
        if next.is_some() {
            let last = operations[id].last_waiting;
            operations[next].last_waiting = if last == next { OperationId::NONE } else { last };
        }
        next
    }

    /// Whether nobody has any.
    pub(super) fn are_free(&self) -> bool {
        self.holder.iter().all(|holder| holder.is_none())
    }
}
