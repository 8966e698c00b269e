//! The dies of a drive: the dies that changed at this moment, the reserved dies, and the remaining parts of split
//! commands.

use crate::flash::command::{Command, Source};
use crate::sim::index::{DieId, JobId};
use crate::ssd::dies::die::DieState;
use std::ops::{Index, IndexMut};

/// The dies of a drive.
pub(in crate::ssd) struct DieTable {
    dies: Vec<DieState>,
    /// Dies that changed at this moment, in the order of the changes. Invariant: the dies for which
    /// [`DieState::is_marked`] holds, each once, after those that were visited already.
    marked: Vec<DieId>,
    /// Invariant: the number of dies that a job has reserved.
    reserved: u32,
    /// Invariant: the sum over dies of the transactions that wait for a free page.
    waiting_for_space: u32,
    /// The remaining part of each die's command, on a device that takes a command plane pair by plane pair; empty on
    /// others. Invariant: a die with a remaining part is not ready.
    rests: Vec<Option<Command>>,
}

impl DieTable {
    /// Dies at rest. `splits_commands`: the device takes a command plane pair by plane pair.
    pub fn new(dies: u32, splits_commands: bool) -> Self {
        Self {
            dies: (0..dies).map(|_| DieState::new()).collect(),
            marked: Vec::with_capacity(dies as usize),
            reserved: 0,
            waiting_for_space: 0,
            rests: if splits_commands { vec![None; dies as usize] } else { Vec::new() },
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &DieState> {
        self.dies.iter()
    }

    /// The dies with their numbers.
    pub fn numbered(&self) -> impl Iterator<Item = (DieId, &DieState)> {
        (0..).map(DieId).zip(&self.dies)
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut DieState> {
        self.dies.iter_mut()
    }

    // ---- marks ------------------------------------------------------------------------------------------------------

    /// Something changed for a die: it is visited before the next event.
    #[inline(always)]
    pub fn mark(&mut self, die: DieId) {
        if self.dies[die.at()].mark() {
            self.marked.push(die);
        }
    }

    /// Whether a die changed that was not visited yet.
    #[inline(always)]
    pub fn has_marked(&self) -> bool {
        !self.marked.is_empty()
    }

    /// Returns the marked die at this place in the order of the changes, and clears its mark. The die can then be
    /// marked again, after the others.
    #[inline(always)]
    pub fn unmark(&mut self, place: usize) -> Option<DieId> {
        let die = *self.marked.get(place)?;
        self.dies[die.at()].unmark();
        Some(die)
    }

    /// All marked dies were visited.
    #[inline(always)]
    pub fn clear_marked(&mut self) {
        self.marked.clear();
    }

    // ---- reservations -----------------------------------------------------------------------------------------------

    /// Dies that jobs have reserved.
    pub fn reserved(&self) -> u32 {
        self.reserved
    }

    /// A job reserves a die. `came_before`: transactions with a smaller sequence number have arrived.
    pub fn reserve(&mut self, die: DieId, id: JobId, source: Source, now_ns: u64, came_before: u64) {
        self.dies[die.at()].reserve(id, source, now_ns);
        self.dies[die.at()].begin_turn_of_collection(came_before);
        self.reserved += 1;
    }

    /// No job has reserved the die any longer.
    pub fn release(&mut self, die: DieId) {
        self.dies[die.at()].release();
        self.reserved -= 1;
    }

    // ---- waits for space --------------------------------------------------------------------------------------------

    /// Transactions at all dies that wait for a free page.
    #[inline]
    pub fn waiting_for_space(&self) -> u32 {
        self.waiting_for_space
    }

    /// A transaction begins to wait for a page at a die.
    pub fn begin_wait_for_space(&mut self, die: DieId) {
        self.dies[die.at()].begin_wait_for_space();
        self.waiting_for_space += 1;
    }

    /// A transaction no longer waits for a page.
    pub fn end_wait_for_space(&mut self, die: DieId) {
        self.dies[die.at()].end_wait_for_space();
        self.waiting_for_space -= 1;
    }

    // ---- split commands ---------------------------------------------------------------------------------------------

    /// Whether the device takes a command plane pair by plane pair.
    #[inline(always)]
    pub fn splits_commands(&self) -> bool {
        !self.rests.is_empty()
    }

    /// Whether a part of a die's command is not issued yet.
    #[inline(always)]
    pub fn has_rest(&self, die: DieId) -> bool {
        self.splits_commands() && self.rests[die.at()].is_some()
    }

    /// Keeps the part of a command that follows when the first part has ended.
    pub fn keep_rest(&mut self, die: DieId, rest: Command) {
        self.rests[die.at()] = Some(rest);
    }

    /// Takes the part of a die's command that is not issued yet.
    pub fn take_rest(&mut self, die: DieId) -> Option<Command> {
        self.rests[die.at()].take()
    }

    /// Drops the remaining parts of all commands; returns whether there were any.
    #[cfg(test)]
    pub fn lose_rests(&mut self) -> bool {
        let had_some = self.rests.iter().any(Option::is_some);
        self.rests.fill(None);
        had_some
    }
}

impl Index<DieId> for DieTable {
    type Output = DieState;
    #[inline(always)]
    fn index(&self, die: DieId) -> &DieState {
        &self.dies[die.at()]
    }
}

impl IndexMut<DieId> for DieTable {
    #[inline(always)]
    fn index_mut(&mut self, die: DieId) -> &mut DieState {
        &mut self.dies[die.at()]
    }
}
