//! Host transactions on other planes of the die join the reads and programs of collection, where page offsets agree.
//!
//! Source: hpdc18 Section 4.1, Algorithm 2. One partner for each free plane. A program's partner is a write of that plane
//! whose next page, in one of its open blocks, has the offset of the collection's. Where collections are preemptible,
//! requests that join the next command are left to it, and do not go before it: hpdc18 Section 4.4 has preemption serve
//! those that "miss".

use crate::flash::command::Command;
use crate::sim::index::{BlockId, DieId, PageId, PlaneId};
use crate::sim::queue::EventQueue;
use crate::ssd::drive::Drive;
use crate::tasks::gc::granularity::GranularityPolicy;
use crate::tasks::gc::preemption::State;

/// Queued reads of other planes at the offset of the collection's page join its read.
#[inline(never)]
pub(crate) fn join_gc_read(drive: &mut Drive, die: DieId, command: &mut Command, events: &mut EventQueue) {
    drive.join_reads_of_other_planes(die, command, drive.settings.gc_scan_max, events);
    drive.work.reads_paired_with_gc += u64::from(command.planes) - 1;
}

/// Queued writes join on planes where a next page has the offset of the collection's; `is_paired`: which is in the
/// block that its plane has set apart for paired programs.
#[inline(never)]
pub(crate) fn join_gc_program(
    drive: &mut Drive,
    die: DieId,
    command: &mut Command,
    is_paired: bool,
    events: &mut EventQueue,
) {
    // Where collections are preemptible, writes that may not go first take no free blocks as partners either.
    if drive.preemption.is_preemptive() && drive.collection_state(die) != State::AllAllowed {
        return;
    }
    drive.join_writes_of_other_planes(die, command, (drive.settings.gc_scan_max, is_paired), events);
    drive.work.programs_paired_with_gc += u64::from(command.planes) - 1;
}

impl Drive {
    /// Whether writes to a plane, or to any where none is named, can join the program that a collection issues next.
    pub(crate) fn joins_of_writes(&self, die: DieId, partner: PlaneId, plane: PlaneId) -> bool {
        let is_allowed = self.collection_state(die) == State::AllAllowed;
        if !is_allowed || self.granularity.leaves_plane() || self.ftl.needs_pairing(plane) {
            return false;
        }
        let (partners, count) = self.partners_of(plane);
        let is_meant = |p: PlaneId| partner.is_none() || p == partner;
        partners[..count].iter().any(|&p| is_meant(p) && self.has_partner_page(p, plane))
    }

    /// Whether the next page of a plane can stand in one command with the next of a collection on another.
    fn has_partner_page(&self, partner: PlaneId, plane: PlaneId) -> bool {
        let page_of = |block: BlockId, offset: u32| PageId(block.0 * self.geometry.pages_per_block + offset);
        let (write_point, is_paired) = self.ftl.write_point_for_collection(plane, &[partner]);
        let lead_offset = self.ftl.next_offset_in(plane, write_point);
        let lead = self.ftl.next_block_in(plane, write_point).map(|block| page_of(block, lead_offset));
        let own =
            self.ftl.write_point_at(partner, lead_offset, is_paired).filter(|_| self.host_pages_left(partner) > 0);
        let page = own.and_then(|own| self.ftl.next_block_in(partner, own)).map(|block| page_of(block, lead_offset));
        lead.zip(page).is_some_and(|(lead, page)| self.flash.rules().go_together(&self.geometry, lead, page))
    }
}
