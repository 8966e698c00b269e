//! The end of a transaction, and of the slot that a transaction or a job had.
//!
//! The order matters, because each step changes what the next step sees:
//!
//! 1. What waits for the transaction continues: another transaction (`resolve`), or its request. The request takes the
//!    ended transaction from the list of endings when the whole event has been handled.
//! 2. Its slot is free (`leave_window`).
//!    1. A job that waits for the die keeps the slot. The policy is notified.
//!    2. Otherwise the policy names transactions to enter, one by one, with the state that the previous one has left.
//! 3. Each entering transaction reserves its page, takes a slot, and marks its die. A write without a page waits for
//!    one, and may start a collection.
//! 4. Marked dies are visited when all events of the moment have been handled (`BackEnd::dispatch_ready`).

use crate::dispatch::admit::Change;
use crate::dispatch::txn::Role;
use crate::flash::command::Source;
use crate::sim::index::{DieId, TxnId};
use crate::sim::queue::EventQueue;
use crate::ssd::back_end::BackEnd;

impl BackEnd {
    /// Ends a transaction that has a slot: see the head of the file.
    #[inline(always)]
    pub(in crate::ssd) fn finish_txn(&mut self, id: TxnId, events: &mut EventQueue) {
        let (die, task) = (self.txns[id].die, self.txns[id].task);
        // Step 1.
        self.end_without_slot(id, events);
        // Step 2.
        self.leave_window(die, task, events);
    }

    /// Ends a transaction that has no slot, or has released it: step 1 only.
    #[inline(always)]
    pub(in crate::ssd) fn end_without_slot(&mut self, id: TxnId, events: &mut EventQueue) {
        let successor = self.txns[id].successor;
        if successor.is_some() {
            self.resolve(id, successor, events);
            self.txns.remove(id);
        } else {
            self.host_side.endings.end(id);
        }
    }

    /// One of the transactions that `successor` waits for ended. The last read that a write waits for passes its
    /// latency breakdown on: until then nothing else delayed the successor.
    fn resolve(&mut self, id: TxnId, successor: TxnId, events: &mut EventQueue) {
        let (role, breakdown_ns, gc_affected) =
            (self.txns[id].role, self.txns[id].breakdown_ns, self.txns[id].gc_affected);
        let unit = self.txns[id].first;
        let waiter = &mut self.txns[successor];
        waiter.waits_for -= 1;
        waiter.gc_affected |= gc_affected;
        let goes_on = waiter.waits_for == 0;
        if role == Role::MapWrite {
            return self.end_write_back(unit, goes_on.then_some(successor), events);
        }
        if !goes_on {
            return;
        }
        match role {
            Role::MapRead => return self.write_what_was_read(successor, events),
            Role::ParityRead => return self.send_write(successor, events),
            _ => waiter.breakdown_ns = breakdown_ns,
        }
        if role == Role::Rebuild {
            // All reads of a rebuilt read have arrived: the read ends. It never had a slot.
            return self.end_without_slot(successor, events);
        }
        if self.looks_up() {
            return self.look_up_in_turn(successor, events);
        }
        self.send_write(successor, events);
    }

    /// A job gives back its slot of a die's window.
    pub(in crate::ssd) fn release_slot(&mut self, die: DieId, events: &mut EventQueue) {
        self.admission.control.free_slot(die);
        self.after_slot(die, None, events);
    }

    /// A transaction of a task leaves its die's window.
    #[inline(always)]
    pub(in crate::ssd) fn leave_window(&mut self, die: DieId, task: Source, events: &mut EventQueue) {
        self.admission.control.leave(die, task);
        self.after_slot(die, Some(task), events);
    }

    /// Steps 2.1 and 2.2: a slot became free. Jobs have precedence over the transactions that the policy names.
    #[inline(always)]
    fn after_slot(&mut self, die: DieId, task: Option<Source>, events: &mut EventQueue) {
        // The window may still be full, because transactions were split. Requests of `task` may enter at other dies.
        if !self.admission.control.has_room(die) && !self.admission.control.distinguishes_tasks() {
            return;
        }
        let d = &self.dies[die];
        if d.jobs_waiting() > 0 && !d.is_reserved() && !d.defers_to_high_priority() {
            // The job takes its slot when the die is reserved for it.
            return self.keep_slot(die);
        }
        self.admit_waiting(Change::Slot { die, task }, events);
    }

    /// Tells the policy of a free slot that is kept for a job.
    #[cold]
    fn keep_slot(&mut self, die: DieId) {
        self.admission.control.on_kept_slot(die, &self.queues, &self.txns);
    }
}
