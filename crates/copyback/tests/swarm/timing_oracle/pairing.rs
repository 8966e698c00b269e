//! Rounds whose commands take requests of the host along on other planes (hpdc18 Algorithm 2).

use super::collection::Step;
use super::commands::Part;
use super::preemption::State;
use super::{Oracle, Place};
use copyback::dispatch::compose::{ComposeConfig, GcBuilderName};
use copyback::ftl::frontier::FrontierConfig;

impl Oracle<'_> {
    fn pairs(&self) -> bool {
        self.has_gc_builder(GcBuilderName::GcHost)
    }

    pub(super) fn gc_scan_max(&self) -> usize {
        let ComposeConfig::List(compose) = &self.config.compose;
        compose.gc_scan_max as usize
    }

    /// Reads of the host that go with a read of the round.
    pub(super) fn reads_with_round(&mut self, die: usize, lead: Place) -> Vec<Part> {
        if !self.pairs() {
            return Vec::new();
        }
        let parts = self.take_reads_beside(die, lead, self.gc_scan_max());
        self.result.counts.reads_beside += parts.len() as u64;
        self.note_company(die, parts.len());
        parts
    }

    /// Writes of the host, by their planes, that go with a program of the round. Where rounds let the host go first, those
    /// that may not do so consume no free blocks in company either.
    pub(super) fn writes_with_round(&mut self, die: usize, lead: Place, is_apart: bool) -> Vec<(usize, Part)> {
        if !self.pairs() || !self.may_write_with_round(die) {
            return Vec::new();
        }
        let parts = self.take_writes_beside(die, lead, is_apart, self.gc_scan_max());
        self.result.counts.programs_beside += parts.len() as u64;
        self.note_company(die, parts.len());
        parts
    }

    fn may_write_with_round(&self, die: usize) -> bool {
        !self.yields() || self.state(die) == State::All
    }

    fn note_company(&mut self, die: usize, count: usize) {
        self.dies[die].lease.as_mut().expect("a round has the die").had_company |= count > 0;
    }

    /// Whether a transaction does not go first because it will go with the very step.
    pub(super) fn is_left_to_round(&self, die: usize, txn: usize, step: Step) -> bool {
        if !self.pairs() {
            return false;
        }
        let t = &self.txns[txn];
        match step {
            Step::Read => self.reads_beside(die, self.page_to_read(die), self.gc_scan_max()).contains(&txn),
            Step::Program => !t.is_read && self.may_write_with_round(die) && self.has_page_beside(die, t.plane),
            Step::Erase => false,
        }
    }

    /// Whether the next page of a plane can stand in one command with the round's next, if a write waits for it alone. Where
    /// a block has still to be set apart nobody knows.
    fn has_page_beside(&self, die: usize, plane: usize) -> bool {
        let own = self.dies[die].lease.as_ref().expect("a round has the die").plane;
        let has_two_blocks = matches!(self.config.frontier, FrontierConfig::SecondActive(_));
        if has_two_blocks && self.planes[own].apart.is_none() {
            return false;
        }
        let next = |plane: usize, at: usize| {
            let (block, page) = self.planes[plane].peek(at)?;
            Some(Place { plane, block, page, slot: 0 })
        };
        let (at, is_apart) = self.block_for_round(own, &[plane]);
        let Some(lead) = next(own, at) else { return false };
        let beside = self.block_beside(plane, lead.page, is_apart).and_then(|at| next(plane, at));
        beside.is_some_and(|beside| self.go_together(lead, beside))
    }
}
