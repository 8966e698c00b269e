//! Host transactions on other planes of the die join the reads and programs of collection, where page offsets agree.
//!
//! Source: hpdc18 Section 4.1, Algorithm 2. One partner for each free plane. A program's partner is a write of that plane
//! whose next page, in one of its open blocks, has the offset of the round's. Where rounds yield, requests that join the next
//! command are left to it, and do not go before it: hpdc18 Section 4.4 has preemption serve those that "miss".

use crate::flash::command::Command;
use crate::sim::index::{BlockId, DieId, PageId, PlaneId};
use crate::sim::queue::EventQueue;
use crate::ssd::drive::Drive;
use crate::tasks::gc::r#yield::State;

/// Queued reads of other planes at the offset of the round's page join its read.
#[inline(never)]
pub(crate) fn join_gc_read(drive: &mut Drive, die: DieId, command: &mut Command, events: &mut EventQueue) {
    drive.join_reads_of_other_planes(die, command, drive.settings.gc_scan_max, events);
    drive.work.reads_beside_gc += u64::from(command.planes) - 1;
}

/// Queued writes join on planes where a next page has the offset of the round's; `beside_pair`: which is in the block that
/// its plane has set apart for company.
#[inline(never)]
pub(crate) fn join_gc_program(
    drive: &mut Drive,
    die: DieId,
    command: &mut Command,
    beside_pair: bool,
    events: &mut EventQueue,
) {
    // Where rounds yield, writes that may not go first take no free blocks in company either.
    if drive.yielding.yields() && drive.collection_state(die) != State::AllAllowed {
        return;
    }
    drive.join_writes_of_other_planes(die, command, (drive.settings.gc_scan_max, beside_pair), events);
    drive.work.programs_beside_gc += u64::from(command.planes) - 1;
}

impl Drive {
    /// Whether writes to a plane, or to any where none is named, can join the program that a round issues next.
    pub(crate) fn joins_of_writes(&self, die: DieId, partner: PlaneId, plane: PlaneId) -> bool {
        let is_allowed = self.collection_state(die) == State::AllAllowed;
        if !is_allowed || self.settings.global || self.ftl.needs_pairing(plane) {
            return false;
        }
        let (partners, count) = self.partners_of(plane);
        let is_meant = |p: PlaneId| partner.is_none() || p == partner;
        partners[..count].iter().any(|&p| is_meant(p) && self.has_page_beside(p, plane))
    }

    /// Whether the next page of a plane can stand in one command with the next of a round on another.
    fn has_page_beside(&self, partner: PlaneId, plane: PlaneId) -> bool {
        let page_of = |block: BlockId, offset: u32| PageId(block.0 * self.geometry.pages_per_block + offset);
        let (slot, beside_pair) = self.ftl.slot_for_round(plane, &[partner]);
        let lead_offset = self.ftl.next_offset_in(plane, slot);
        let lead = self.ftl.next_block_in(plane, slot).map(|block| page_of(block, lead_offset));
        let own = self.ftl.slot_at(partner, lead_offset, beside_pair).filter(|_| self.host_pages_left(partner) > 0);
        let page = own.and_then(|own| self.ftl.next_block_in(partner, own)).map(|block| page_of(block, lead_offset));
        lead.zip(page).is_some_and(|(lead, page)| self.flash.rules().go_together(&self.geometry, lead, page))
    }
}
