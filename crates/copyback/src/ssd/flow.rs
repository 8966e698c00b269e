//! Flow: a command's way over the channel and through the array, and the end of what it served.
//!
//! A program goes over the channel, then into the array; a read the other way round. One transfer and one array time of
//! a die can be under way at once only where commands follow each other through the cache register.

use super::drive::{BusPhase, Drive, NO_COMMAND};
use crate::dispatch::txn::Txn;
use crate::flash::channel::Turn;
use crate::flash::command::{Command, FlashOp, PlaneSlot, Source};
use crate::flash::geometry::Geometry;
use crate::flash::timing::Timing;
use crate::observe::commands::{Issued, Transfer};
use crate::observe::onfi::Carries;
use crate::observe::report::Cause;
use crate::sim::index::{ChannelId, DieId, RequestId, TxnId};
use crate::sim::invariant::hold;
use crate::sim::queue::{End, EventQueue};

impl Drive {
    /// Sends a command on its way.
    pub(crate) fn issue(&mut self, die: DieId, command: Command, events: &mut EventQueue) {
        self.rules.check(&self.geometry, &command);
        let lease = self.dies[die.at()].lease;
        if lease.is_some() && command.job != lease {
            self.check_between_steps(die, &command);
        }
        let now_ns = events.now_ns();
        self.watch_command(die, &command, now_ns);
        let d = &mut self.dies[die.at()];
        let at = d.free_command();
        let is_first = d.is_ready();
        d.commands[at] = command;
        let at = at as u8;
        if is_first {
            d.busy_since_ns = now_ns;
        } else {
            d.commands[at as usize].cached = true;
            self.work.cached_commands += 1;
        }
        let planes = u64::from(command.planes);
        let cycles_ns = planes * self.timing.command_ns;
        match command.op {
            FlashOp::Program => {
                let data_ns = planes * self.timing.transfer_ns(self.geometry.units_per_page);
                self.want_channel(die, at, BusPhase::Load, cycles_ns + data_ns, events);
            }
            // The cycles of a read that follows another go with that one's data.
            FlashOp::Read if !is_first => {
                self.start_array(die, at, now_ns + cycles_ns + self.timing.cache_busy_ns, events)
            }
            _ if cycles_ns > 0 => self.want_channel(die, at, BusPhase::Command, cycles_ns, events),
            _ => self.start_array(die, at, now_ns, events),
        }
    }

    /// Shows the watcher and the log, where there are any, a command.
    #[inline(always)]
    fn watch_command(&mut self, die: DieId, command: &Command, now_ns: u64) {
        if self.is_observed {
            self.show_command(die, command, now_ns);
        }
    }

    #[cold]
    fn show_command(&mut self, die: DieId, command: &Command, now_ns: u64) {
        if let Some(watcher) = &mut self.watcher {
            let pages: Vec<_> = command.parts().iter().map(|part| (part.plane, part.page)).collect();
            watcher.on_command(die.0, self.dies[die.at()].free_command(), now_ns, command.op, &pages);
        }
        if self.log.is_some() {
            self.log_command(die, command, now_ns);
        }
    }

    #[cold]
    fn log_command(&mut self, die: DieId, command: &Command, now_ns: u64) {
        let part = |(at, slot): (usize, &PlaneSlot)| {
            let txn = slot.txn.is_some().then(|| &self.txns[slot.txn]).filter(|txn| txn.job.is_none());
            // A job's command is for the job first; the host may have parts of it, too.
            let is_jobs = command.job.is_some() && at == 0;
            let source = if txn.is_some() && !is_jobs { Source::Host } else { command.source };
            (slot.plane, slot.page, txn.map_or(RequestId::NONE, |txn| txn.request), source)
        };
        let parts: Vec<_> = command.parts().iter().enumerate().map(part).collect();
        let at = self.dies[die.at()].free_command();
        if let Some(log) = &mut self.log {
            log.on_command(&Issued { die, at, op: command.op, now_ns, parts: &parts });
        }
    }

    /// Shows the watcher and the log, where there are any, a transfer.
    #[inline(always)]
    fn watch_transfer(&mut self, die: DieId, at: u8, phase: BusPhase, start_ns: u64, end_ns: u64) {
        if self.is_observed {
            self.show_transfer(die, at, phase, start_ns, end_ns);
        }
    }

    #[cold]
    fn show_transfer(&mut self, die: DieId, at: u8, phase: BusPhase, start_ns: u64, end_ns: u64) {
        let command = &self.dies[die.at()].commands[usize::from(at)];
        let carries = match phase {
            BusPhase::Command => Carries::Cycles,
            BusPhase::Load => Carries::DataIn,
            BusPhase::Out => Carries::DataOut { units: command.slots[usize::from(command.out)].units },
        };
        if let Some(watcher) = &mut self.watcher {
            watcher.on_transfer(die.0, usize::from(at), carries, start_ns, end_ns);
        }
        if let Some(log) = &mut self.log {
            log.on_transfer(die, usize::from(at), Transfer { start_ns, end_ns, carries });
        }
    }

    /// A die's command needs the channel.
    fn want_channel(&mut self, die: DieId, at: u8, phase: BusPhase, duration_ns: u64, events: &mut EventQueue) {
        let channel = self.geometry.channel_of(die);
        let d = &mut self.dies[die.at()];
        debug_assert!(d.bus == NO_COMMAND || d.bus == at, "a die wants two transfers");
        (d.bus, d.bus_phase, d.bus_ns) = (at, phase, duration_ns);
        if self.channels.is_free(channel, events.now_ns()) {
            self.start_transfer(die, events);
            return;
        }
        let turn = match (phase, self.dies[die.at()].commands[at as usize].source) {
            (BusPhase::Command, _) => Turn::Cycles,
            (_, Source::Host) => Turn::Data,
            _ => Turn::Urgent,
        };
        self.channels.wait(channel, die, turn);
        if !events.is_pending(self.channel_slot(channel)) {
            events.schedule(self.channel_slot(channel), self.channels.busy_until_ns(channel));
        }
    }

    fn start_transfer(&mut self, die: DieId, events: &mut EventQueue) {
        let channel = self.geometry.channel_of(die);
        let (at, phase) = (self.dies[die.at()].bus, self.dies[die.at()].bus_phase);
        // The end of a transfer needs an event only where something can follow at that moment: data has arrived, or a
        // command may follow through the cache register. Otherwise the array's time starts at a known moment.
        let is_heard = phase == BusPhase::Out || (phase == BusPhase::Load && self.settings.hears_loads);
        let listener = if is_heard { die } else { DieId::NONE };
        let end_ns = self.channels.occupy(channel, events.now_ns(), self.dies[die.at()].bus_ns, listener);
        self.watch_transfer(die, at, phase, events.now_ns(), end_ns);
        if is_heard || self.channels.has_waiters(channel) {
            events.schedule_end(End::Transfer, self.channel_slot(channel), end_ns);
        }
        if !is_heard {
            let d = &mut self.dies[die.at()];
            d.bus = NO_COMMAND;
            d.commands[at as usize].loaded_ns = end_ns;
            self.start_array(die, at, end_ns, events);
        }
    }

    /// A transfer ended, or somebody waits for one that was not heard of: the next goes on.
    pub(crate) fn on_channel_event(&mut self, channel: ChannelId, events: &mut EventQueue) {
        let listener = self.channels.take_listener(channel);
        if listener.is_some() {
            self.on_transfer_end(listener, events);
            // The die may go on with the cycles of its next command, which go before the data that waits. So it is looked
            // at before the channel is granted: the channel's event comes again at this moment.
            let may_send_cycles = self.timing.command_ns > 0 && self.dies[listener.at()].is_touched;
            let slot = self.channel_slot(channel);
            if may_send_cycles && self.channels.has_waiters(channel) && !events.is_pending(slot) {
                events.schedule(slot, events.now_ns());
                return;
            }
        }
        if self.channels.busy_until_ns(channel) <= events.now_ns()
            && let Some(die) = self.channels.next_waiter(channel)
        {
            self.start_transfer(die, events);
        }
        if self.channels.has_waiters(channel) && !events.is_pending(self.channel_slot(channel)) {
            events.schedule(self.channel_slot(channel), self.channels.busy_until_ns(channel));
        }
    }

    fn on_transfer_end(&mut self, die: DieId, events: &mut EventQueue) {
        match self.dies[die.at()].bus_phase {
            BusPhase::Out => self.on_page_out(die, events),
            BusPhase::Load => self.on_loaded(die, events),
            BusPhase::Command => unreachable!("nobody listens for the end of command cycles"),
        }
    }

    /// A program's data is in the register. The array begins, or ends the program before first.
    fn on_loaded(&mut self, die: DieId, events: &mut EventQueue) {
        let now_ns = events.now_ns();
        let d = &mut self.dies[die.at()];
        let at = std::mem::replace(&mut d.bus, NO_COMMAND);
        d.commands[at as usize].loaded_ns = now_ns;
        if d.array == NO_COMMAND {
            self.start_array(die, at, now_ns, events);
            self.touch(die);
        } else {
            d.staged = at;
        }
    }

    fn start_array(&mut self, die: DieId, at: u8, start_ns: u64, events: &mut EventQueue) {
        let command = &mut self.dies[die.at()].commands[at as usize];
        let op = command.op;
        let (timing, geometry) = (&self.timing, &self.geometry);
        let array_ns = timing.uniform_ns(op).unwrap_or_else(|| slowest_ns(timing, geometry, command));
        (command.array_start_ns, command.array_end_ns) = (start_ns, start_ns + array_ns);
        self.dies[die.at()].array = at;
        if self.is_observed {
            self.show_array(die, at, start_ns, start_ns + array_ns);
        }
        let (slot, end_ns) = (self.die_slot(die), start_ns + array_ns);
        match op {
            FlashOp::Read | FlashOp::Program => {
                let end = if op == FlashOp::Read { End::Read } else { End::Program };
                events.schedule_end(end, slot, end_ns);
            }
            FlashOp::Erase | FlashOp::Copyback => events.schedule(slot, end_ns),
        }
    }

    #[cold]
    fn show_array(&mut self, die: DieId, at: u8, start_ns: u64, end_ns: u64) {
        if let Some(watcher) = &mut self.watcher {
            watcher.on_array(die.0, usize::from(at), start_ns, end_ns);
        }
        if let Some(log) = &mut self.log {
            log.on_array(die, usize::from(at), start_ns, end_ns);
        }
    }

    pub(crate) fn on_array_end(&mut self, die: DieId, events: &mut EventQueue) {
        let d = &mut self.dies[die.at()];
        let at = std::mem::replace(&mut d.array, NO_COMMAND);
        if at == NO_COMMAND {
            self.on_look_end(die);
            return;
        }
        let command = &d.commands[at as usize];
        match command.op {
            FlashOp::Read if d.bus != NO_COMMAND => {
                // The page before is still leaving through the cache register.
                d.staged = at;
                return;
            }
            FlashOp::Read => {
                let out_ns = self.timing.transfer_ns(command.slots[0].units);
                self.want_channel(die, at, BusPhase::Out, out_ns, events);
                if self.settings.hears_reads {
                    self.touch(die);
                }
                return;
            }
            FlashOp::Program | FlashOp::Erase | FlashOp::Copyback => {}
        }
        let command = *command;
        let staged = std::mem::replace(&mut d.staged, NO_COMMAND);
        if staged != NO_COMMAND {
            self.start_array(die, staged, events.now_ns(), events);
        }
        self.end_in_array(die, &command, events);
        self.touch_unless_stepping(die);
    }

    /// A die whose job went on to its next step takes nothing else. Where others may go first, a command may follow the one
    /// that has just begun to leave, or the array's.
    #[inline]
    fn touch_unless_stepping(&mut self, die: DieId) {
        let d = &self.dies[die.at()];
        if d.lease.is_none() || d.is_ready() || !self.settings.steps_at_once {
            self.touch(die);
        }
    }

    /// A command that ends in the array: program, erase, copyback.
    fn end_in_array(&mut self, die: DieId, command: &Command, events: &mut EventQueue) {
        let now_ns = events.now_ns();
        for slot in 0..command.planes as usize {
            self.release_plane(die, command, slot, now_ns);
        }
        self.rest_if_ready(die, now_ns);
        if command.op == FlashOp::Erase {
            self.work.block_erases += 1;
        }
        if let Some(shadow) = &mut self.shadow {
            command.parts().iter().for_each(|part| shadow.end_page(part.page));
        }
        for slot in 0..command.planes as usize {
            self.end_program_part(command, slot, events);
        }
        if command.job.is_some() {
            self.on_step_end(die, command, events);
        }
    }

    /// The transactions whose data a program has brought into flash end.
    fn end_program_part(&mut self, command: &Command, slot: usize, events: &mut EventQueue) {
        let mut id = command.slots[slot].txn;
        while id.is_some() {
            let next = std::mem::replace(&mut self.txns[id].chain, TxnId::NONE);
            if self.txns[id].job.is_some() {
                self.on_move_end(id);
            } else {
                self.charge_program(id, command, events.now_ns());
                self.finish_txn(id, events);
            }
            id = next;
        }
    }

    /// Where a program's time went since it was issued: its page's own transfer, the array, what the array did before it,
    /// and the channel for the rest.
    fn charge_program(&mut self, id: TxnId, command: &Command, now_ns: u64) {
        let flash_ns = command.array_end_ns - command.array_start_ns;
        let transfer_ns = self.timing.command_ns + self.timing.transfer_ns(self.geometry.units_per_page);
        let behind_ns = command.array_start_ns - command.loaded_ns;
        // Programs follow those of the host only through the cache register, so what the array did before was for the host.
        self.txns[id].charge_issued(command.issued_ns, now_ns, flash_ns, transfer_ns, behind_ns);
    }

    /// A read's data of one plane has arrived.
    fn on_page_out(&mut self, die: DieId, events: &mut EventQueue) {
        let now_ns = events.now_ns();
        let d = &mut self.dies[die.at()];
        let at = d.bus;
        let command = d.commands[at as usize];
        let slot = command.out as usize;
        d.commands[at as usize].out += 1;
        let is_last = slot + 1 == command.planes as usize;
        if is_last {
            d.bus = NO_COMMAND;
        } else {
            // The planes' data leaves in one go: a channel that turned to another die between two planes would end
            // up with all its dies sensing at once, and idle.
            d.bus_ns = self.timing.transfer_ns(command.slots[slot + 1].units);
            self.start_transfer(die, events);
        }
        self.release_plane(die, &command, slot, now_ns);
        let id = command.slots[slot].txn;
        if self.settings.merge && slot == 0 && command.job.is_some() {
            self.serve_reads_of(die, command.slots[0].page, events);
        }
        if id.is_some() {
            let transfer_ns = self.timing.command_ns + self.timing.transfer_ns(command.slots[slot].units);
            let flash_ns = command.array_end_ns - command.array_start_ns;
            let taken_ns = if command.cached { flash_ns + self.timing.cache_busy_ns } else { flash_ns };
            self.txns[id].charge_issued(command.issued_ns, now_ns, taken_ns, transfer_ns, 0);
        }
        if is_last {
            let d = &mut self.dies[die.at()];
            let staged = std::mem::replace(&mut d.staged, NO_COMMAND);
            if staged != NO_COMMAND {
                let out_ns = self.timing.transfer_ns(d.commands[staged as usize].slots[0].units);
                self.want_channel(die, staged, BusPhase::Out, out_ns, events);
            }
            self.rest_if_ready(die, now_ns);
        }
        if id.is_some() {
            self.finish_txn(id, events);
        }
        if is_last {
            if command.job.is_some() {
                self.on_step_end(die, &command, events);
            }
            self.touch_unless_stepping(die);
        }
    }

    /// A plane's register is free again: the time since its command was issued counts as in use, once.
    fn release_plane(&mut self, die: DieId, command: &Command, slot: usize, now_ns: u64) {
        let plane = command.slots[slot].plane;
        let from_ns = command.issued_ns.max(self.plane_busy_until_ns[plane.at()]);
        self.plane_busy_until_ns[plane.at()] = now_ns;
        self.plane_busy_ns += now_ns - from_ns;
        let lease = self.dies[die.at()].lease;
        if lease.is_some() && self.jobs[lease.at()].source == Source::Gc {
            self.gc.plane_busy_ns += now_ns - from_ns.max(self.dies[die.at()].lease_since_ns);
        }
    }

    /// The die's time in use ends where nothing is under way.
    fn rest_if_ready(&mut self, die: DieId, now_ns: u64) {
        let d = &self.dies[die.at()];
        if d.is_ready() {
            self.die_busy_ns += now_ns - d.busy_since_ns;
        }
    }
}

/// Array time of a command: that of the slowest of its planes' pages.
#[inline(never)]
fn slowest_ns(timing: &Timing, geometry: &Geometry, command: &Command) -> u64 {
    let times = command.parts().iter().map(|part| timing.page_ns(command.op, geometry.block_and_offset(part.page).1));
    times.max().expect("a command has a plane")
}

impl Txn {
    /// Charges the time since the command was issued: flash, its own transfer, and work before it in the array are
    /// given; the channel has the rest.
    fn charge_issued(&mut self, issued_ns: u64, now_ns: u64, flash_ns: u64, transfer_ns: u64, behind_ns: u64) {
        let least_ns = issued_ns + flash_ns + transfer_ns + behind_ns;
        hold!(now_ns >= least_ns, TimeExplained, "a command of {issued_ns} ns ended at {now_ns} ns, not {least_ns} ns");
        let rest_ns = now_ns - least_ns;
        self.blame_ns[Cause::Flash as usize] += flash_ns;
        self.blame_ns[Cause::Transfer as usize] += transfer_ns;
        self.blame_ns[Cause::HostIo as usize] += behind_ns;
        self.blame_ns[Cause::Channel as usize] += rest_ns;
    }
}
