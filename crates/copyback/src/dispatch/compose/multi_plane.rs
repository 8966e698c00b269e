//! Transactions of the same operation on other planes of the die join the lead in one multi-plane command, where page
//! offsets agree, and block offsets and plane pairs on devices that ask for it.
//!
//! Source: hpdc18 Section 2.2.2, tpds20 Section 2; ONFI 5.1 multi-plane operations.

use crate::flash::command::Command;
use crate::sim::index::{DieId, PageId, TxnId};
use crate::sim::queue::EventQueue;
use crate::ssd::drive::{Drive, Queue};

/// Queued reads of other planes at the lead's offset join the command.
#[inline(always)]
pub(crate) fn join_reads(drive: &mut Drive, die: DieId, command: &mut Command, events: &mut EventQueue) {
    if drive.head(die, Queue::Read).is_some() {
        let partners = drive.partner_reads(die, command.parts[0].page);
        drive.join_reads_of_other_planes(die, command, partners, events);
    }
}

/// Queued writes join on planes whose next page has the lead's offset.
#[inline(always)]
pub(crate) fn join_writes(drive: &mut Drive, die: DieId, command: &mut Command, events: &mut EventQueue) {
    if drive.head(die, Queue::Write).is_some() {
        drive.join_writes_of_other_planes(die, command, None, events);
    }
}

impl Drive {
    /// Queued reads join a command.
    #[inline(always)]
    pub(crate) fn join_reads_of_other_planes(
        &mut self,
        die: DieId,
        command: &mut Command,
        (found, count): ([TxnId; 3], usize),
        events: &mut EventQueue,
    ) {
        let list = self.queue(die, Queue::Read);
        for &id in &found[..count] {
            self.queues.remove(list, id.0);
            let part = self.bind_read(id, die, events).expect("the partner was just translated");
            self.add_read(command, part, events.now_ns());
        }
    }

    /// The queued reads that can share a command with the read of a page, and how many they are.
    #[inline(always)]
    fn partner_reads(&self, die: DieId, lead: PageId) -> ([TxnId; 3], usize) {
        let list = self.queue(die, Queue::Read);
        let mut found = [TxnId::NONE; 3];
        let mut count = 0;
        let mut pages = [lead; 4];
        let offset = self.geometry.block_and_offset(lead).1;
        for id in self.queues.iter(list).take(self.settings.scan_max).map(TxnId) {
            if count + 1 == self.geometry.planes_per_die as usize {
                break;
            }
            let place = self.ftl.lookup(self.txns[id].first);
            if place.is_none() {
                continue;
            }
            // Most queued reads fail for their offset, so it is asked first.
            let page = self.geometry.page_of(place);
            let (block, page_offset) = self.geometry.block_and_offset(page);
            if page_offset != offset {
                continue;
            }
            let plane = self.geometry.plane_of(block);
            let is_excluded = plane == self.dies[die.at()].excluded[0];
            let fits = |&other: &PageId| self.flash.rules().go_together(&self.geometry, other, page);
            if self.geometry.die_of(plane) == die && !is_excluded && pages[..=count].iter().all(fits) {
                found[count] = id;
                count += 1;
                pages[count] = page;
            }
        }
        (found, count)
    }

    /// Queued writes join on planes whose next page has the lead's offset; beside a collection's, where the answer says
    /// whether its page is in the block that its plane has set apart for paired programs.
    pub(crate) fn join_writes_of_other_planes(
        &mut self,
        die: DieId,
        command: &mut Command,
        beside_round: Option<bool>,
        events: &mut EventQueue,
    ) {
        let lead = command.parts[0];
        let offset = self.geometry.block_and_offset(lead.page).1;
        let excluded = self.dies[die.at()].excluded[1];
        for partner in self.geometry.planes_of(die).filter(|&p| p != lead.plane && p != excluded) {
            let Some(write_point) = self.ftl.write_point_at(partner, offset, beside_round == Some(true)) else {
                continue;
            };
            if self.host_pages_left(partner) == 0 {
                continue;
            }
            let Some(block) = self.ftl.next_block_in(partner, write_point) else { continue };
            let page = PageId(block.0 * self.geometry.pages_per_block + offset);
            if !command.parts().iter().all(|s| self.flash.rules().go_together(&self.geometry, s.page, page)) {
                continue;
            }
            let first = match beside_round {
                Some(_) => self.queues.index().first_write_for(die, partner),
                None => self.first_write_for(die, partner),
            };
            if let Some(id) = first {
                self.bind_write(die, (partner, write_point), id, command, events.now_ns());
            }
        }
    }
}
