//! The windows of the dies: the slots in use, and the tasks that wait for admission.

use crate::flash::command::Source;
use crate::flash::source::SOURCES_MAX;
use crate::sim::index::DieId;
use crate::sim::invariant::hold;
use crate::tasks::background::SOURCES;

/// A set of tasks, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tasks(u8);

impl Tasks {
    /// Whether it has no task.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether it has a task.
    #[inline(always)]
    pub fn has(self, task: Source) -> bool {
        self.0 >> task.at() & 1 == 1
    }

    fn set(&mut self, task: Source, is_in: bool) {
        self.0 = self.0 & !(1 << task.at()) | u8::from(is_in) << task.at();
    }

    /// All its tasks, in the order of their numbers.
    pub fn iter(self) -> impl Iterator<Item = Source> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let first = (left != 0).then(|| SOURCES[left.trailing_zeros() as usize]);
            left &= left.wrapping_sub(1);
            first
        })
    }
}

/// See the head of the file.
pub(crate) struct DieWindows {
    slots: u32,
    /// Slots of each die in use, by transactions and by jobs.
    used: Vec<u32>,
    /// Tasks with transactions that wait for admission to each die's window.
    waiting: Vec<Tasks>,
    /// The host sends no more requests.
    is_host_done: bool,
    /// Active tasks: those other than the host that have work.
    active: Tasks,
    /// Transactions of each task in all windows: its debit.
    debits: [u32; SOURCES_MAX],
}

impl DieWindows {
    /// Windows of this many slots, all free.
    pub fn new(slots: u32, dies: u32) -> Self {
        Self {
            slots,
            used: vec![0; dies as usize],
            waiting: vec![Tasks::default(); dies as usize],
            is_host_done: false,
            active: Tasks::default(),
            debits: [0; SOURCES_MAX],
        }
    }

    /// Slots of a die.
    pub fn slots(&self) -> u32 {
        self.slots
    }

    /// The slots of a die that are in use.
    #[inline(always)]
    pub fn used(&self, die: DieId) -> u32 {
        self.used[die.at()]
    }

    /// Whether a slot of a die is free.
    #[inline(always)]
    pub fn has_room(&self, die: DieId) -> bool {
        self.used[die.at()] < self.slots
    }

    /// Tasks with transactions that wait for admission.
    #[inline(always)]
    pub fn waiting(&self, die: DieId) -> Tasks {
        self.waiting[die.at()]
    }

    /// The number of dies.
    pub fn dies(&self) -> u32 {
        self.used.len() as u32
    }

    /// Whether the host sends no more requests.
    pub fn is_host_done(&self) -> bool {
        self.is_host_done
    }

    /// The host sends no more requests.
    pub fn end_host(&mut self) {
        self.is_host_done = true;
    }

    /// The active tasks.
    #[inline(always)]
    pub fn active(&self) -> Tasks {
        self.active
    }

    /// A task becomes active, or inactive.
    pub fn set_active(&mut self, task: Source, is_active: bool) {
        self.active.set(task, is_active);
    }

    /// Transactions of a task in all windows.
    #[inline(always)]
    pub fn debit(&self, task: Source) -> u32 {
        self.debits[task.at()]
    }

    /// A transaction of a task enters a window.
    #[inline(always)]
    pub fn enter(&mut self, die: DieId, task: Source) {
        self.take_slot(die);
        self.debits[task.at()] += 1;
    }

    /// A transaction of a task leaves a window.
    #[inline(always)]
    pub fn leave(&mut self, die: DieId, task: Source) {
        self.free_slot(die);
        self.debits[task.at()] -= 1;
    }

    /// A job takes one more slot, or a transaction that enters does ([`Self::enter`]). More slots may be in use than
    /// exist: both parts of a read that is split at its issue take one.
    #[inline(always)]
    pub fn take_slot(&mut self, die: DieId) {
        self.used[die.at()] += 1;
    }

    /// A job releases a slot.
    #[inline(always)]
    pub fn free_slot(&mut self, die: DieId) {
        hold!(self.used[die.at()] > 0, Window, "a slot of {die:?} is released, but none is in use");
        self.used[die.at()] -= 1;
    }

    /// Sets whether transactions of a task wait for admission to a die's window.
    pub fn set_waiting(&mut self, die: DieId, task: Source, is_waiting: bool) {
        self.waiting[die.at()].set(task, is_waiting);
    }
}

#[cfg(test)]
impl DieWindows {
    /// The counts that tests change, to see that the checks notice.
    pub fn used_mut(&mut self, die: DieId) -> &mut u32 {
        &mut self.used[die.at()]
    }
}
