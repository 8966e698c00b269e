//! Steps of a job that gathers the units of one page from any place, page by page.

use super::{Job, Step};
use crate::ftl::core::Move;
use crate::sim::index::{PageId, PhysicalUnit};

impl Job {
    /// The next step, none while one executes. Moves are in the order of their destination pages, which `target_of`
    /// distinguishes: a page is programmed when all its current units were read. Units that share a page (`page_of`)
    /// are read together.
    pub fn next_of_gathering<T: PartialEq>(
        &mut self,
        target_of: impl Fn(Move) -> T,
        page_of: impl Fn(PhysicalUnit) -> PageId,
        is_current: impl Fn(Move) -> bool,
    ) -> Option<Step> {
        if self.is_stepping() {
            return None;
        }
        self.drop_stale(&is_current);
        let (held, pending) = (self.held(), self.pending());
        let target = held.first().map(|&m| target_of(m));
        let Some(&first) = pending.first().filter(|&&m| target.as_ref().is_none_or(|target| *target == target_of(m)))
        else {
            return Some(if held.is_empty() { Step::Erase } else { Step::Program { units: held.len() } });
        };
        let is_together =
            |m: &&Move| target_of(**m) == target_of(first) && page_of(m.from) == page_of(first.from) && is_current(**m);
        let units = pending.iter().take_while(is_together).count();
        Some(Step::Read { end: self.first_pending() + units })
    }

    /// The oldest move that was read and not programmed: it determines the page to program.
    pub fn first_held(&self) -> Option<Move> {
        self.held().first().copied()
    }
}
