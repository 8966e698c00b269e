//! Collections whose commands include requests of the host on other planes (hpdc18 Algorithm 2).

use super::collection::Step;
use super::commands::{PlanePart, Stage};
use super::known::compose_of;
use super::preemption::State;
use super::{Oracle, Place};
use copyback::dispatch::compose::GcBuilderName;
use copyback::dispatch::compose::list::GcTransfers;
use copyback::ftl::frontier::FrontierConfig;

impl Oracle<'_> {
    fn pairs(&self) -> bool {
        self.has_gc_builder(GcBuilderName::GcHost)
    }

    pub(super) fn gc_scan_max(&self) -> usize {
        let compose = compose_of(self.config);
        compose.gc_scan_max as usize
    }

    /// Whether the pages of partner reads leave the die after the collection's program is loaded.
    pub(super) fn keeps_partners(&self) -> bool {
        self.pairs() && !self.is_preemptive() && compose_of(self.config).gc_transfers == GcTransfers::First
    }

    /// Whether the register of a plane holds a page that was kept.
    pub(super) fn is_kept(&self, die: usize, plane: usize) -> bool {
        self.dies[die].commands.iter().any(|c| matches!(c.stage, Stage::Kept(_)) && c.partner_planes.contains(&plane))
    }

    /// The collection's page has left. Its program precedes the pages of its partners, if it comes next and no write
    /// waits for their planes. Returns whether it does.
    pub(super) fn program_before_partners(&mut self, die: usize, at: usize) -> bool {
        let planes = self.dies[die].commands[at].partner_planes.clone();
        let is_asked_for = |&plane: &usize| self.first_write_for(die, plane, self.gc_scan_max()).is_some();
        let goes = !planes.iter().any(is_asked_for) && self.next_step(die) == Step::Program;
        if goes {
            self.take_step(die);
        }
        goes
    }

    /// The planes of reads that go with the collection's next read.
    pub(super) fn planes_of_partners(&self, die: usize, lead: Place) -> Vec<usize> {
        if !self.pairs() {
            return Vec::new();
        }
        let found = self.partner_reads(die, lead, self.gc_scan_max());
        found.iter().map(|&txn| self.place_of[&self.txns[txn].units[0]].plane).collect()
    }

    /// Reads of the host that go with a read of the collection.
    pub(super) fn reads_with_collection(&mut self, die: usize, lead: Place) -> Vec<PlanePart> {
        if !self.pairs() {
            return Vec::new();
        }
        let parts = self.take_partner_reads(die, lead, self.gc_scan_max());
        self.result.counts.reads_paired += parts.len() as u64;
        self.note_paired(die, parts.len());
        parts
    }

    /// Host writes, by plane, that share a program of the collection. If collections are preemptible, writes that may
    /// not preempt do not join as partners, either: both use free blocks.
    pub(super) fn writes_with_collection(
        &mut self,
        die: usize,
        lead: Place,
        is_apart: bool,
    ) -> Vec<(usize, PlanePart)> {
        if !self.pairs() || !self.may_write_with_collection(die) {
            return Vec::new();
        }
        let parts = self.take_partner_writes(die, lead, is_apart, self.gc_scan_max());
        self.result.counts.programs_paired += parts.len() as u64;
        self.note_paired(die, parts.len());
        parts
    }

    fn may_write_with_collection(&self, die: usize) -> bool {
        !self.is_preemptive() || self.state(die) == State::All
    }

    fn note_paired(&mut self, die: usize, count: usize) {
        self.dies[die].reserved_by.as_mut().expect("a collection has the die").was_paired |= count > 0;
    }

    /// Whether a transaction waits for this step, because it will join the step's command.
    pub(super) fn is_left_to_collection(&self, die: usize, txn: usize, step: Step) -> bool {
        if !self.pairs() {
            return false;
        }
        let t = &self.txns[txn];
        match step {
            Step::Read => self.partner_reads(die, self.page_to_read(die), self.gc_scan_max()).contains(&txn),
            Step::Program => !t.is_read && self.may_write_with_collection(die) && self.has_partner_page(die, t.plane),
            Step::Erase => false,
        }
    }

    /// Whether the next page of a plane can share a command with the collection's next page, if writes wait for this
    /// plane only. False if a block has still to be set apart.
    fn has_partner_page(&self, die: usize, plane: usize) -> bool {
        let own = self.dies[die].reserved_by.as_ref().expect("a collection has the die").plane;
        let has_two_blocks = matches!(self.config.frontier, FrontierConfig::SecondActive(_));
        if has_two_blocks && self.planes[own].apart.is_none() {
            return false;
        }
        let next = |plane: usize, at: usize| {
            let (block, page) = self.planes[plane].peek(at)?;
            Some(Place { plane, block, page, offset: 0 })
        };
        let (at, is_apart) = self.block_for_collection(own, &[plane]);
        let Some(lead) = next(own, at) else { return false };
        let partner = self.partner_block(plane, lead.page, is_apart).and_then(|at| next(plane, at));
        partner.is_some_and(|partner| self.go_together(lead, partner))
    }
}
