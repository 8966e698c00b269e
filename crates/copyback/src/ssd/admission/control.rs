//! The windows of dies, and the policy that admits transactions to them.

use crate::dispatch::admit::shares::Shares;
use crate::dispatch::admit::{Admit, AdmitPolicy, AdmitView, Change, Entry};
use crate::dispatch::queues::Queues;
use crate::dispatch::txn::Txns;
use crate::dispatch::windows::DieWindows;
use crate::flash::command::Source;
use crate::sim::index::DieId;

/// The windows of dies, and the policy that admits transactions to them.
pub(in crate::ssd) struct AdmissionControl {
    windows: DieWindows,
    policy: Admit,
    /// Transactions that entered windows. Invariant: no transaction has a higher number in the order of entry.
    entered: u64,
    /// Whether requests of different tasks may enter windows in another order than they arrived. If not, the policy is
    /// notified neither of the heads of waiting lists nor of entries. Invariant: a constant of the scheme.
    distinguishes_tasks: bool,
    /// Requests of the host that only a collection can serve. Invariant: the number of writes that wait for space, and
    /// of map updates by collections for which a request waits.
    waiting_for_gc: u32,
}

impl AdmissionControl {
    pub fn new(windows: DieWindows, policy: Admit, distinguishes_tasks: bool) -> Self {
        Self { windows, policy, distinguishes_tasks, entered: 0, waiting_for_gc: 0 }
    }

    /// Whether requests of different tasks may enter windows in another order than they arrived.
    #[inline(always)]
    pub fn distinguishes_tasks(&self) -> bool {
        self.distinguishes_tasks
    }

    // ---- windows ----------------------------------------------------------------------------------------------------

    /// The windows, read-only.
    #[inline(always)]
    pub fn windows(&self) -> &DieWindows {
        &self.windows
    }

    /// Whether a die's window has a free slot.
    #[inline(always)]
    pub fn has_room(&self, die: DieId) -> bool {
        self.windows.has_room(die)
    }

    /// A transaction of a task takes a slot.
    #[inline(always)]
    pub fn enter(&mut self, die: DieId, task: Source) {
        self.windows.enter(die, task);
    }

    /// A transaction of a task gives its slot back.
    #[inline(always)]
    pub fn leave(&mut self, die: DieId, task: Source) {
        self.windows.leave(die, task);
    }

    /// A job takes a slot.
    pub fn take_slot(&mut self, die: DieId) {
        self.windows.take_slot(die);
    }

    /// A job gives its slot back.
    pub fn free_slot(&mut self, die: DieId) {
        self.windows.free_slot(die);
    }

    /// Records whether a transaction of a task waits in front of a die's window.
    #[inline(always)]
    pub fn set_waiting(&mut self, die: DieId, task: Source, is_waiting: bool) {
        self.windows.set_waiting(die, task, is_waiting);
    }

    /// Records that a task has work, or has none.
    pub fn set_active(&mut self, task: Source, is_active: bool) {
        self.windows.set_active(task, is_active);
    }

    /// Records that the host will send no more requests.
    pub fn end_host(&mut self) {
        self.windows.end_host();
    }

    // ---- waits for collections --------------------------------------------------------------------------------------

    /// Whether a request of the host waits that only a collection can serve.
    #[inline(always)]
    pub fn waits_for_gc(&self) -> bool {
        self.waiting_for_gc > 0
    }

    /// Adds requests that wait for a collection.
    pub fn begin_wait_for_gc(&mut self, requests: u32) {
        self.waiting_for_gc += requests;
    }

    /// Removes requests that waited for a collection.
    pub fn end_wait_for_gc(&mut self, requests: u32) {
        self.waiting_for_gc -= requests;
    }

    // ---- the policy -------------------------------------------------------------------------------------------------

    /// Whether a transaction enters its die's window now.
    #[inline(always)]
    pub fn admits(&mut self, entry: Entry, queues: &Queues, txns: &Txns) -> bool {
        let Self { windows, policy, waiting_for_gc, .. } = self;
        let view = AdmitView { windows, queues, txns, waits_for_gc: *waiting_for_gc > 0 };
        windows.has_room(entry.die) && policy.enters(entry, &view)
    }

    /// The waiting list whose first transaction enters next after this change.
    #[inline(always)]
    pub fn next(&mut self, change: Change, queues: &Queues, txns: &Txns) -> Option<Entry> {
        let Self { windows, policy, waiting_for_gc, .. } = self;
        policy.next(change, &AdmitView { windows, queues, txns, waits_for_gc: *waiting_for_gc > 0 })
    }

    /// Tells the policy that another transaction, or none, is first in a waiting list. A policy that does not
    /// distinguish tasks is not notified.
    #[inline(always)]
    pub fn on_head(&mut self, list: Entry, queues: &Queues, txns: &Txns) {
        if !self.distinguishes_tasks {
            return;
        }
        let Self { windows, policy, waiting_for_gc, .. } = self;
        policy.on_head(list, &AdmitView { windows, queues, txns, waits_for_gc: *waiting_for_gc > 0 });
    }

    /// Tells the policy that a free slot is kept for a job.
    pub fn on_kept_slot(&mut self, die: DieId, queues: &Queues, txns: &Txns) {
        let Self { windows, policy, waiting_for_gc, .. } = self;
        policy.on_kept_slot(die, &AdmitView { windows, queues, txns, waits_for_gc: *waiting_for_gc > 0 });
    }

    /// Tells the policy that a transaction begins to wait in front of its die's window.
    #[inline]
    pub fn on_wait(&mut self, entry: Entry, is_first: bool) {
        self.policy.on_wait(entry, is_first);
    }

    /// The number of the next transaction in the order of entry.
    pub fn take_turn(&mut self) -> u64 {
        self.entered += 1;
        self.entered
    }

    /// Tells the policy that a transaction enters, which uses this time of its die and the channel.
    pub fn on_enter(&mut self, entry: Entry, cost_ns: u64) {
        let is_backlogged = self.windows.waiting(entry.die).has(entry.task);
        self.policy.on_enter(entry, cost_ns, is_backlogged);
    }

    /// The shares of the tasks, fixed ones too, if the policy has shares.
    pub fn shares(&mut self) -> Option<&mut Shares> {
        self.policy.shares()
    }

    /// A task's share of the slots in percent: 0 while it has no work.
    pub fn share_percent(&self, task: Source) -> Option<f64> {
        let share = self.policy.share_percent(task)?;
        Some(if self.windows.active().has(task) { share } else { 0.0 })
    }

    #[cfg(test)]
    pub fn used_mut(&mut self, die: DieId) -> &mut u32 {
        self.windows.used_mut(die)
    }
}
