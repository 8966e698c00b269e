//! The holders of a stripe, and the operations that wait for it, in order of arrival. Holders are one operation that
//! changes the stripe, or any number of reads.

use super::operations::{OperationId, Operations};
use crate::sim::invariant::hold;

/// A locked stripe.
#[derive(Clone, Copy, Debug)]
struct HeldStripe {
    /// Operations that read it; 0 while an operation holds it exclusively.
    readers: u32,
    /// The operation that holds it exclusively, if any.
    writer: OperationId,
    first_waiting: OperationId,
    last_waiting: OperationId,
}

/// The locks of all stripes: four bytes each, and nothing if no stripe is protected.
pub(super) struct Locks {
    /// The entry of each stripe in `held`; [`NOT_HELD`] without a holder.
    held_of: Vec<u32>,
    held: Vec<HeldStripe>,
    unused: Vec<u32>,
}

const NOT_HELD: u32 = u32::MAX;

impl Locks {
    pub(super) fn new(stripes: u64) -> Self {
        Self { held_of: vec![NOT_HELD; stripes as usize], held: Vec::new(), unused: Vec::new() }
    }

    fn held(&mut self, stripe: u64) -> Option<&mut HeldStripe> {
        self.held.get_mut(self.held_of[stripe as usize] as usize)
    }

    /// Whether a read of a stripe must wait: an operation changes it, or waits to.
    pub(super) fn bars_reads(&mut self, stripe: u64) -> bool {
        self.held(stripe).is_some_and(|held| held.writer.is_some() || held.first_waiting.is_some())
    }

    /// Locks a stripe, or waits for it after earlier operations; returns whether the lock was granted.
    pub(super) fn take(&mut self, id: OperationId, operations: &mut Operations) -> bool {
        let (stripe, only_reads) = (operations[id].stripe, operations[id].only_reads());
        let Some(held) = self.held(stripe) else {
            self.lock_unheld(stripe, if only_reads { OperationId::NONE } else { id });
            return true;
        };
        if only_reads && held.readers > 0 && held.first_waiting.is_none() {
            held.readers += 1;
            return true;
        }
        let last = std::mem::replace(&mut held.last_waiting, id);
        if last.is_some() {
            operations[last].next_waiting = id;
        } else {
            held.first_waiting = id;
        }
        false
    }

    fn lock_unheld(&mut self, stripe: u64, writer: OperationId) {
        let none = OperationId::NONE;
        let held = HeldStripe { readers: u32::from(writer.is_none()), writer, first_waiting: none, last_waiting: none };
        let at = self.unused.pop().unwrap_or_else(|| {
            self.held.push(held);
            self.held.len() as u32 - 1
        });
        self.held[at as usize] = held;
        self.held_of[stripe as usize] = at;
    }

    /// Releases a stripe; the caller admits the next holders with [`Self::admit`], until there is none.
    pub(super) fn release(&mut self, id: OperationId, operations: &Operations) {
        let (stripe, only_reads) = (operations[id].stripe, operations[id].only_reads());
        let held = self.held(stripe).expect("a released stripe has a holder");
        let is_its = if only_reads { held.readers > 0 && held.writer.is_none() } else { held.writer == id };
        hold!(is_its, StripeLock, "{id:?} releases stripe {stripe}, but does not hold it: {held:?}");
        if only_reads {
            held.readers -= 1;
        } else {
            held.writer = OperationId::NONE;
        }
    }

    /// The next operation that has waited for a stripe and holds it from now on.
    pub(super) fn admit(&mut self, stripe: u64, operations: &Operations) -> Option<OperationId> {
        let held = self.held(stripe)?;
        let (next, readers) = (held.first_waiting, held.readers);
        if held.writer.is_some() {
            return None;
        }
        if next.is_none() {
            if readers == 0 {
                self.unused.push(std::mem::replace(&mut self.held_of[stripe as usize], NOT_HELD));
            }
            return None;
        }
        let only_reads = operations[next].only_reads();
        if readers > 0 && !only_reads {
            return None;
        }
        held.first_waiting = operations[next].next_waiting;
        if held.first_waiting.is_none() {
            held.last_waiting = OperationId::NONE;
        }
        if only_reads {
            held.readers += 1;
        } else {
            held.writer = next;
        }
        Some(next)
    }

    /// Whether no stripe is locked.
    pub(super) fn are_free(&self) -> bool {
        self.held_of.iter().all(|&held| held == NOT_HELD)
    }
}
