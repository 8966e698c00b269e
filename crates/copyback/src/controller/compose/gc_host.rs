//! Host transactions on other planes of the die join the reads and programs of collection, where page offsets agree.
//!
//! Source: hpdc18 Section 4.1, Algorithm 2. One partner for each free plane. A program's partner is a write of that plane
//! whose next page, in one of its open blocks, has the offset of the round's. Where rounds yield, requests that join the next
//! command are left to it, and do not go before it: hpdc18 Section 4.4 has preemption serve those that "miss".

use crate::background::job::Step;
use crate::controller::drive::Drive;
use crate::ftl::frontier::Origin;
use crate::nand::command::Command;
use crate::sim::index::{BlockId, DieId, JobId, PageId, PlaneId, TxnId};
use crate::sim::queue::EventQueue;

/// Queued reads of other planes at the offset of the round's page join its read.
#[inline(never)]
pub(super) fn join_gc_read(drive: &mut Drive, die: DieId, command: &mut Command, events: &mut EventQueue) {
    drive.join_reads_of_other_planes(die, command, events);
    drive.work.reads_beside_gc += u64::from(command.planes) - 1;
}

/// Queued writes join on planes where a next page has the offset of the round's.
#[inline(never)]
pub(super) fn join_gc_program(drive: &mut Drive, die: DieId, command: &mut Command, events: &mut EventQueue) {
    drive.join_writes_of_other_planes(die, command, events);
    drive.work.programs_beside_gc += u64::from(command.planes) - 1;
}

impl Drive {
    /// Whether a request that waits at a die joins the command that its round issues next. Of writes to a plane only the first
    /// does; those behind it keep their order and are left to the round, too.
    pub(in crate::controller) fn joins_step(&self, txn: TxnId, die: DieId, id: JobId, step: Step) -> bool {
        let job = &self.jobs[id.at()];
        match step {
            Step::Read { .. } => {
                let lead = self.geometry.page_of(job.moves[job.next].from);
                let (found, count) = self.reads_beside(die, lead);
                found[..count].contains(&txn)
            }
            Step::Program { .. } => {
                Self::is_write(self.txns[txn].role) && self.writes_join(self.txns[txn].plane, job.plane)
            }
            Step::Erase => false,
        }
    }

    /// Whether writes to a plane can join the program that a round on another one issues next.
    fn writes_join(&self, partner: PlaneId, plane: PlaneId) -> bool {
        if partner.is_none() || partner == plane || self.settings.global || self.ftl.needs_pairing(plane) {
            return false;
        }
        let page_of = |block: BlockId, offset: u32| PageId(block.0 * self.geometry.pages_per_block + offset);
        let offset = self.ftl.next_page_offset(plane, Origin::Move);
        let lead = self.ftl.next_block(plane, Origin::Move).map(|block| page_of(block, offset));
        let slot = self.ftl.slot_at(partner, offset).filter(|_| self.host_pages_left(partner) > 0);
        let page = slot.and_then(|slot| self.ftl.next_block_in(partner, slot)).map(|block| page_of(block, offset));
        lead.zip(page).is_some_and(|(lead, page)| self.rules.go_together(&self.geometry, lead, page))
    }
}
