//! The ends of commands. The order matters:
//!
//! 1. The flash releases the planes, and the counters add the time of their use for collection.
//! 2. If the device takes the command in parts and this was the first, the rest is issued. The later steps follow the
//!    end of the rest, except for step 3 of a read.
//! 3. The transactions that the command served end, plane by plane (`admission::transaction_end`).
//! 4. The job whose step it was continues or ends (`gc::collection_course`).
//! 5. The die is marked, unless the job's next step is in progress already.
//!
//! Data of a read arrives plane by plane: steps 1 and 3 run for each plane, the others for the last.

use crate::dispatch::txn::{Role, Txn};
use crate::flash::PageOut;
use crate::flash::command::{Command, FlashOp};
use crate::observe::report::Cause;
use crate::sim::index::{ChannelId, DieId, TxnId};
use crate::sim::invariant::hold;
use crate::sim::queue::EventQueue;
use crate::ssd::back_end::BackEnd;
use crate::ssd::requests::flash_request_times::ServiceTimes;

impl BackEnd {
    /// A program's data is in the register of its die.
    #[inline(never)]
    pub(in crate::ssd) fn end_load(&mut self, die: DieId, events: &mut EventQueue) {
        if self.flash.on_loaded(die, events) {
            self.mark_ready(die);
        }
    }

    /// A transfer ended, of a die or of none: grants the channel to the next transfer.
    #[inline(never)]
    pub(in crate::ssd) fn pass_channel_on(&mut self, channel: ChannelId, die: DieId, events: &mut EventQueue) {
        if die.is_none() || !self.defers_grant(die, channel, events) {
            self.flash.grant(channel, events);
        }
    }

    /// Whether the grant of a channel is deferred, for a die whose transfer has just ended. The die may continue with
    /// the cycles of its next command, which precede waiting data; the die is therefore visited before the grant.
    #[inline]
    pub(in crate::ssd) fn defers_grant(&self, die: DieId, channel: ChannelId, events: &mut EventQueue) -> bool {
        self.dies[die].is_marked() && self.flash.defers_grant(channel, events)
    }

    /// A command that ends in the array: program, erase, copyback.
    #[inline(never)]
    pub(in crate::ssd) fn end_in_array(&mut self, die: DieId, at: u8, events: &mut EventQueue) {
        let command = *self.flash.command(die, at);
        let busy_from_ns = self.flash.end_in_array(die, &command, events);
        for from_ns in &busy_from_ns[..command.parts().len()] {
            self.count_plane_in_gc(die, *from_ns, events.now_ns());
        }
        if command.op == FlashOp::Erase {
            self.records.counters.on_erase(command.planes);
        }
        if let Some(shadow) = &mut self.records.shadow {
            command.parts().iter().for_each(|part| shadow.end_page(self.geometry.unit_of_flash_page(part.page)));
        }
        if self.issue_rest(die, &command, events) {
            return;
        }
        for part in 0..command.planes as usize {
            self.end_program_part(&command, part, events);
        }
        if command.job.is_some() {
            self.on_step_end(die, &command, events);
        }
        self.mark_ready_unless_stepping(die);
    }

    /// Marks the die: another command may follow the one whose data has begun to leave, or the one in the array. Not if
    /// its job has begun the next step, and nothing may go between steps.
    #[inline]
    fn mark_ready_unless_stepping(&mut self, die: DieId) {
        let is_reserved = self.dies[die].is_reserved();
        if !is_reserved || self.flash.is_ready(die) || !self.scheme.settings.collection.steps_at_once {
            self.mark_ready(die);
        }
    }

    /// Ends the transactions whose data a program has brought into flash.
    fn end_program_part(&mut self, command: &Command, part: usize, events: &mut EventQueue) {
        let mut id = command.parts[part].txn;
        while id.is_some() {
            let next = std::mem::replace(&mut self.txns[id].next_in_list, TxnId::NONE);
            if self.txns[id].job.is_some() {
                self.on_move_end(id, events);
            } else if self.host_side.filling.is_some() {
                self.end_in_page(id, command, events);
            } else {
                self.charge_program(id, command, events.now_ns());
                if self.records.flash_requests.is_some() {
                    self.count_program(id, command, events.now_ns());
                }
                self.finish_txn(id, events);
            }
            id = next;
        }
    }

    /// Charges a program's time since its issue: its page's own transfer, the array, earlier work of the array, and the
    /// rest to the channel.
    #[inline(always)]
    pub(in crate::ssd) fn charge_program(&mut self, id: TxnId, command: &Command, now_ns: u64) {
        let ServiceTimes { flash_ns, transfer_ns, behind_ns } = self.served_by_program(command);
        self.txns[id].charge_issued(command.issued_ns, now_ns, flash_ns, transfer_ns, behind_ns);
    }

    /// A read's data of one plane has arrived.
    #[inline(never)]
    pub(in crate::ssd) fn end_page_out(&mut self, die: DieId, events: &mut EventQueue) {
        let now_ns = events.now_ns();
        let holds = self.scheme.settings.compose.holds_partners;
        let PageOut { command, part, is_last, is_held, busy_from_ns } = self.flash.take_page(die, holds, events);
        self.count_plane_in_gc(die, busy_from_ns, now_ns);
        let id = command.parts[part].txn;
        if self.scheme.settings.compose.serves_from_moves && part == 0 && command.job.is_some() {
            self.serve_reads_of(die, command.parts[0].page, events);
        }
        if id.is_some() {
            let ServiceTimes { flash_ns, transfer_ns, behind_ns } = self.served_by_read(&command, part);
            self.txns[id].charge_issued(command.issued_ns, now_ns, flash_ns, transfer_ns, behind_ns);
            if self.records.flash_requests.is_some() {
                self.count_read(id, &command, part, now_ns);
            }
            if self.txns[id].role == Role::RelocationRead {
                self.end_request(id, events);
            } else {
                self.finish_txn(id, events);
            }
        }
        if is_held && !self.program_before_partners(die, &command, events) {
            self.flash.release_held_pages(die, events);
        }
        if is_last {
            if self.issue_rest(die, &command, events) {
                return;
            }
            // If its pages were held, the job's next step has begun already.
            if command.job.is_some() && !command.held {
                self.on_step_end(die, &command, events);
            }
            self.mark_ready_unless_stepping(die);
        }
    }

    /// Counts a plane's time in use for collection, if a collection has the die or a block of it.
    #[inline(always)]
    pub(in crate::ssd) fn count_plane_in_gc(&mut self, die: DieId, from_ns: u64, now_ns: u64) {
        if let Some(since_ns) = self.dies[die].collecting_since_ns() {
            self.records.counters.on_plane_busy(now_ns - from_ns.max(since_ns));
        }
    }
}

impl Txn {
    /// Charges the time since the command was issued. The caller gives the times of flash, of its own transfer, and of
    /// earlier work in the array; the rest is the channel's.
    fn charge_issued(&mut self, issued_ns: u64, now_ns: u64, flash_ns: u64, transfer_ns: u64, behind_ns: u64) {
        let least_ns = issued_ns + flash_ns + transfer_ns + behind_ns;
        hold!(
            now_ns >= least_ns,
            TimeExplained,
            "a command issued at {issued_ns} ns ended at {now_ns} ns, before {least_ns} ns"
        );
        let rest_ns = now_ns - least_ns;
        self.breakdown_ns[Cause::Flash as usize] += flash_ns;
        self.breakdown_ns[Cause::Transfer as usize] += transfer_ns;
        self.breakdown_ns[Cause::HostIo as usize] += behind_ns;
        self.breakdown_ns[Cause::Channel as usize] += rest_ns;
    }
}
