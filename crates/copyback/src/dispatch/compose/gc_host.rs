//! Host transactions on other planes of the die join the reads and programs of collection, where page offsets agree.
//!
//! Source: hpdc18 Section 4.1, Algorithm 2. One partner for each free plane. A program's partner is a write of that plane
//! whose next page, in one of its open blocks, has the offset of the collection's. Where collections are preemptible,
//! requests that join the next command are left to it, and do not go before it: hpdc18 Section 4.4 has preemption serve
//! those that "miss".

use crate::flash::command::Command;
use crate::sim::index::{BlockId, DieId, PageId, PlaneId, TxnId};
use crate::sim::queue::EventQueue;
use crate::ssd::drive::Drive;
use crate::tasks::gc::granularity::GranularityPolicy;
use crate::tasks::gc::preemption::State;

/// Queued reads of other planes at the offset of the collection's page join its read.
#[inline(never)]
pub(crate) fn join_gc_read(drive: &mut Drive, die: DieId, command: &mut Command, events: &mut EventQueue) {
    let partners = drive.reads_beside_round(die, command.parts[0].page);
    drive.join_reads_of_other_planes(die, command, partners, events);
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
    drive.join_writes_of_other_planes(die, command, Some(is_paired), events);
    drive.work.programs_paired_with_gc += u64::from(command.planes) - 1;
}

impl Drive {
    /// The queued reads that can share a command with the read of a page by a collection, and how many they are: of
    /// each other plane the first, in the order of their queue.
    pub(crate) fn reads_beside_round(&self, die: DieId, lead: PageId) -> ([TxnId; 3], usize) {
        let index = self.queues.index();
        let (lead_block, offset) = self.geometry.block_and_offset(lead);
        let (lead_plane, excluded) = (self.geometry.plane_of(lead_block), self.dies[die.at()].excluded[0]);
        let (mut found, mut count) = ([TxnId::NONE; 3], 0);
        for plane in self.geometry.planes_of(die) {
            if plane == excluded || !self.flash.rules().may_pair(&self.geometry, lead_plane, plane) {
                continue;
            }
            // What joins is read from its first unit on.
            let fits = |&(id, page): &(TxnId, PageId)| {
                self.flash.rules().go_together(&self.geometry, lead, page)
                    && self.ftl.lookup(self.txns[id].first).is_some()
            };
            if let Some((id, _)) = index.reads_at(die, plane, offset).find(fits) {
                found[count] = id;
                count += 1;
            }
        }
        found[..count].sort_unstable_by_key(|&id| index.turn(id));
        (found, count)
    }

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
