//! Suspension: a read interrupts a program or an erase of the collection that has reserved its die.
//!
//! If the policy and the device suspend commands, a read that waits while a step is in the array may suspend it: the
//! die's preemption point opens during the step. Reads go one by one; then the step resumes, and the point closes.

use super::FirstQuery;
use crate::dispatch::index::place_of;
use crate::flash::command::{Command, FlashOp};
use crate::sim::index::{DieId, JobId, TxnId};
use crate::sim::queue::EventQueue;
use crate::ssd::back_end::{BackEnd, Queue};
use crate::ssd::dies::die::PreemptionPoint;
use crate::ssd::gc::step_partners::StepPartners;
use crate::tasks::gc::preemption::NextStep;

impl BackEnd {
    /// The die of a collection is busy: a read suspends its step, or goes beside the suspended step, which otherwise
    /// resumes. Returns whether another decision may follow.
    pub(super) fn suspend_or_resume(&mut self, die: DieId, id: JobId, events: &mut EventQueue) -> bool {
        let now_ns = events.now_ns();
        if let Some(suspended) = self.flash.suspended(die, events) {
            if let Some(read) = self.first_read_beside(die, id, (suspended, false), now_ns) {
                self.take_read_beside(die, read, events);
                return true;
            }
            self.dies[die].close_point();
            self.flash.resume(die, events);
            return false;
        }
        if self.dies[die].reads_waiting() == 0 || self.dies.has_rest(die) {
            return false;
        }
        if let Some((command, left_ns, is_again)) = self.flash.suspendable(die, id, now_ns)
            && self.scheme.preemption.suspends(command.op, left_ns)
            && self.first_read_beside(die, id, (command, is_again), now_ns).is_some()
        {
            self.dies[die].open_point(self.txns.next_sequence());
            self.flash.suspend(die, events);
            self.records.counters.on_suspension();
        }
        false
    }

    /// The first waiting read that may go beside a suspended command of the collection. A fence holds back reads that
    /// arrived after the suspension; with a fence, no command is suspended again.
    fn first_read_beside(
        &self,
        die: DieId,
        id: JobId,
        (suspended, is_again): (&Command, bool),
        now_ns: u64,
    ) -> Option<TxnId> {
        let seen = self.visible_die(die, now_ns);
        let view = self.view(&seen, id, NextStep::Elsewhere);
        let before = match self.dies[die].point() {
            _ if !self.fence(die, &view).holds_back(false) => u64::MAX,
            PreemptionPoint::Open { since } => since,
            _ if is_again => return None,
            _ => u64::MAX,
        };
        let pairing = StepPartners::of(self, die, None);
        let asked = FirstQuery { view: &view, before, pairing: &pairing, suspended: Some(suspended) };
        self.first_admitted(die, Queue::Read, &asked)
    }

    /// Issues a read beside a suspended command.
    #[cold]
    fn take_read_beside(&mut self, die: DieId, read: TxnId, events: &mut EventQueue) {
        let Some(part) = self.bind_queued_read(die, read, events) else { return };
        let (now_ns, Self { flash, dies, records, .. }) = (events.now_ns(), &mut *self);
        // The read may use a plane of the suspended command.
        flash.settle_die(die, now_ns, |from_ns| {
            if let Some(since_ns) = dies[die].collecting_since_ns() {
                records.counters.on_plane_busy(now_ns - from_ns.max(since_ns));
            }
        });
        self.check_hard_watermark(die, false);
        self.records.counters.on_preemption();
        self.issue_page(die, FlashOp::Read, part, events);
    }

    /// Whether a read uses a block that a command changes.
    pub(super) fn is_read_of_block(&self, id: TxnId, command: &Command) -> bool {
        let Some(place) = place_of(&self.txns[id], |unit| self.ftl.lookup(unit)) else { return false };
        let block_of = |page| self.flash.geometry().block_and_offset(page).0;
        let block = block_of(self.geometry.flash_page(place));
        command.parts().iter().any(|part| block_of(part.page) == block)
    }
}
