//! A command's way over the channel and through the array.

use super::{ArrayEnd, Flash, Heard, PageOut, Phase};
use crate::config::device::PLANES_MAX;
use crate::flash::channel::Turn;
use crate::flash::command::{Command, CommandPlane, FlashOp, Source};
use crate::flash::die::NO_COMMAND;
use crate::flash::geometry::Geometry;
use crate::flash::observer::{Carries, Observer};
use crate::flash::timing::Timing;
use crate::sim::index::{ChannelId, DieId, JobId, PlaneId};
use crate::sim::invariant::hold;
use crate::sim::queue::{End, EventQueue, Timer};

impl<O: Observer> Flash<O> {
    // ---- a command begins -------------------------------------------------------------------------------------------

    /// Sends a command on its way; whether it follows another.
    ///
    /// # Panics
    /// When the device would refuse it.
    pub fn issue(&mut self, die: DieId, command: &Command, events: &mut EventQueue) -> bool {
        self.rules.check(&self.geometry, command);
        let now_ns = events.now_ns();
        let d = &mut self.dies[die.at()];
        let (at, is_first) = (d.free_place(), d.is_ready());
        d.commands[at] = *command;
        d.commands[at].cached = !is_first;
        if is_first {
            d.busy_since_ns = now_ns;
        }
        let at = at as u8;
        if command.op == FlashOp::Read && !is_first {
            // The cycles of a read that follows another go with that one's data.
            let cycles_ns = u64::from(command.planes) * self.timing.command_ns;
            self.start_array::<false>(die, at, now_ns + cycles_ns + self.timing.cache_busy_ns, events);
        } else {
            self.launch::<false>(die, at, command.op, u64::from(command.planes), events);
        }
        !is_first
    }

    /// Sends a read or a program of one plane on its way, on a die that is ready and takes no other command before its end.
    #[inline(always)]
    pub fn issue_alone(
        &mut self,
        die: DieId,
        op: FlashOp,
        (source, job): (Source, JobId),
        part: CommandPlane,
        events: &mut EventQueue,
    ) {
        let now_ns = events.now_ns();
        let home = self.geometry.plane_of_page(part.page);
        hold!(home == part.plane, LegalCommand, "{op:?} of {:?} on {:?}", part.page, part.plane);
        let d = &mut self.dies[die.at()];
        debug_assert!(d.is_ready() && self.observer.is_none());
        d.busy_since_ns = now_ns;
        d.commands[0].set_alone(op, source, job, part, now_ns);
        self.launch::<true>(die, 0, op, 1, events);
    }

    #[inline(always)]
    fn launch<const ALONE: bool>(&mut self, die: DieId, at: u8, op: FlashOp, planes: u64, events: &mut EventQueue) {
        let cycles_ns = planes * self.timing.command_ns;
        if op == FlashOp::Program {
            let data_ns = planes * self.timing.transfer_ns(self.geometry.units_per_page);
            self.want_channel::<ALONE>(die, at, Phase::Load, cycles_ns + data_ns, events);
        } else if cycles_ns > 0 {
            self.want_channel::<ALONE>(die, at, Phase::Command, cycles_ns, events);
        } else {
            self.start_array::<ALONE>(die, at, events.now_ns(), events);
        }
    }

    // ---- the channel ------------------------------------------------------------------------------------------------

    /// A die's command needs the channel.
    #[inline(always)]
    fn want_channel<const ALONE: bool>(
        &mut self,
        die: DieId,
        at: u8,
        phase: Phase,
        duration_ns: u64,
        events: &mut EventQueue,
    ) {
        let channel = self.geometry.channel_of(die);
        let d = &mut self.dies[die.at()];
        debug_assert!(d.bus == NO_COMMAND || d.bus == at, "a die wants two transfers");
        (d.bus, d.phase, d.bus_ns) = (at, phase, duration_ns);
        if self.channels.is_free(channel, events.now_ns()) {
            self.start_transfer::<ALONE>(die, at, phase, duration_ns, events);
        } else {
            self.wait_for_channel(die, channel, events);
        }
    }

    #[inline(never)]
    fn wait_for_channel(&mut self, die: DieId, channel: ChannelId, events: &mut EventQueue) {
        let d = &self.dies[die.at()];
        let turn = match (d.phase, d.commands[usize::from(d.bus)].source) {
            (Phase::Command, _) => Turn::Cycles,
            (_, Source::Host) => Turn::Data,
            _ => Turn::Urgent,
        };
        self.channels.wait(channel, die, turn);
        if !events.is_pending(self.channel_timer(channel)) {
            events.schedule(self.channel_timer(channel), self.channels.busy_until_ns(channel));
        }
    }

    #[inline(always)]
    fn start_transfer<const ALONE: bool>(
        &mut self,
        die: DieId,
        at: u8,
        phase: Phase,
        duration_ns: u64,
        events: &mut EventQueue,
    ) {
        let channel = self.geometry.channel_of(die);
        // The end of a transfer needs an event only where something can follow at that moment: data has arrived, or a
        // command may follow through the cache register. Otherwise the array's time starts at a known moment.
        let is_heard = phase == Phase::Out || (!ALONE && phase == Phase::Load && self.hears_loads);
        let listener = if is_heard { die } else { DieId::NONE };
        let end_ns = self.channels.occupy(channel, events.now_ns(), duration_ns, listener);
        if !ALONE && self.observer.is_some() {
            self.show_transfer(die, at, phase, events.now_ns(), end_ns);
        }
        if is_heard || (!ALONE && self.channels.has_waiters(channel)) {
            events.schedule_end(End::Transfer, self.channel_timer(channel), end_ns);
        }
        if !is_heard {
            let d = &mut self.dies[die.at()];
            d.bus = NO_COMMAND;
            d.commands[usize::from(at)].loaded_ns = end_ns;
            self.start_array::<ALONE>(die, at, end_ns, events);
        }
    }

    #[cold]
    fn show_transfer(&mut self, die: DieId, at: u8, phase: Phase, start_ns: u64, end_ns: u64) {
        let command = &self.dies[die.at()].commands[usize::from(at)];
        let carries = match phase {
            Phase::Command => Carries::Cycles,
            Phase::Load => Carries::DataIn,
            Phase::Out => Carries::DataOut { units: command.parts[usize::from(command.out)].units },
        };
        if let Some(observer) = &mut self.observer {
            observer.on_transfer(die, usize::from(at), carries, start_ns, end_ns);
        }
    }

    /// A channel's transfer ended, or somebody waits for one that was not heard of. Whoever hears of it is handled before
    /// [`Flash::grant`].
    #[inline(always)]
    pub fn on_channel_event(&mut self, channel: ChannelId) -> Heard {
        let die = self.channels.take_listener(channel);
        if die.is_none() {
            return Heard::Nobody;
        }
        let d = &self.dies[die.at()];
        match d.phase {
            Phase::Out if d.commands[usize::from(d.bus)].alone => Heard::PageOutAlone(die),
            Phase::Out => Heard::PageOut(die),
            Phase::Load => Heard::Loaded(die),
            Phase::Command => unreachable!("nobody listens for the end of command cycles"),
        }
    }

    /// Whether a die whose transfer has just ended may send the cycles of its next command before the channel is granted
    /// to data that waits; then the channel's event comes again at this moment.
    pub fn puts_off_grant(&self, channel: ChannelId, events: &mut EventQueue) -> bool {
        let timer = self.channel_timer(channel);
        let puts_off = self.timing.command_ns > 0 && self.channels.has_waiters(channel) && !events.is_pending(timer);
        if puts_off {
            events.schedule(timer, events.now_ns());
        }
        puts_off
    }

    /// A channel goes on with whoever waits for it.
    #[inline]
    pub fn grant(&mut self, channel: ChannelId, events: &mut EventQueue) {
        if !self.channels.has_waiters(channel) {
            return;
        }
        if self.channels.busy_until_ns(channel) <= events.now_ns()
            && let Some(die) = self.channels.next_waiter(channel)
        {
            let d = &self.dies[die.at()];
            let (at, phase, duration_ns) = (d.bus, d.phase, d.bus_ns);
            self.start_transfer::<false>(die, at, phase, duration_ns, events);
        }
        if self.channels.has_waiters(channel) && !events.is_pending(self.channel_timer(channel)) {
            events.schedule(self.channel_timer(channel), self.channels.busy_until_ns(channel));
        }
    }

    /// A program's data is in the register: the array begins, or ends the program before first. Whether it begins.
    pub fn on_loaded(&mut self, die: DieId, events: &mut EventQueue) -> bool {
        let now_ns = events.now_ns();
        let d = &mut self.dies[die.at()];
        let at = std::mem::replace(&mut d.bus, NO_COMMAND);
        d.commands[usize::from(at)].loaded_ns = now_ns;
        let begins = d.array == NO_COMMAND;
        if begins {
            self.start_array::<false>(die, at, now_ns, events);
        } else {
            d.staged = at;
        }
        begins
    }

    /// A read's data of one plane has arrived; that of its next plane leaves, or that of the read behind it.
    #[inline]
    pub fn take_page(&mut self, die: DieId, events: &mut EventQueue) -> PageOut {
        let d = &mut self.dies[die.at()];
        let at = d.bus;
        let command = d.commands[usize::from(at)];
        let part = usize::from(command.out);
        d.commands[usize::from(at)].out += 1;
        let is_last = part + 1 == usize::from(command.planes);
        let busy_from_ns = self.release_plane(command.parts[part].plane, command.issued_ns, events.now_ns());
        let d = &mut self.dies[die.at()];
        if !is_last {
            // The planes' data leaves in one go: a channel that turned to another die between two planes would end
            // up with all its dies sensing at once, and idle.
            d.bus_ns = self.timing.transfer_ns(command.parts[part + 1].units);
            let duration_ns = d.bus_ns;
            self.start_transfer::<false>(die, at, Phase::Out, duration_ns, events);
        } else {
            d.bus = NO_COMMAND;
            let staged = std::mem::replace(&mut d.staged, NO_COMMAND);
            if staged != NO_COMMAND {
                let out_ns = self.timing.transfer_ns(d.commands[usize::from(staged)].parts[0].units);
                self.want_channel::<false>(die, staged, Phase::Out, out_ns, events);
            }
            self.rest_if_ready(die, events.now_ns());
        }
        PageOut { command, part, is_last, busy_from_ns }
    }

    // ---- the array --------------------------------------------------------------------------------------------------

    #[inline(always)]
    fn start_array<const ALONE: bool>(&mut self, die: DieId, at: u8, start_ns: u64, events: &mut EventQueue) {
        let d = &mut self.dies[die.at()];
        let command = &mut d.commands[usize::from(at)];
        let op = command.op;
        let array_ns = match self.timing.uniform_ns(op) {
            Some(array_ns) => array_ns,
            None => slowest_ns(&self.timing, &self.geometry, command),
        };
        let end_ns = start_ns + array_ns;
        (command.array_start_ns, command.array_end_ns) = (start_ns, end_ns);
        d.array = at;
        if !ALONE && let Some(observer) = &mut self.observer {
            observer.on_array(die, usize::from(at), start_ns, end_ns);
        }
        let timer = Timer(self.first_timer + die.0);
        match op {
            FlashOp::Read => events.schedule_end(End::Read, timer, end_ns),
            FlashOp::Program => events.schedule_end(End::Program, timer, end_ns),
            FlashOp::Erase | FlashOp::Copyback => events.schedule(timer, end_ns),
        }
    }

    /// The time of a die's array is over.
    #[inline(always)]
    pub fn on_array_end(&mut self, die: DieId, events: &mut EventQueue) -> ArrayEnd {
        let d = &mut self.dies[die.at()];
        let at = std::mem::replace(&mut d.array, NO_COMMAND);
        if at == NO_COMMAND {
            return ArrayEnd::Waited;
        }
        let command = &d.commands[usize::from(at)];
        let is_alone = command.alone;
        if command.op != FlashOp::Read {
            return if is_alone { ArrayEnd::EndedAlone } else { ArrayEnd::Ended(at) };
        }
        let out_ns = self.timing.transfer_ns(command.parts[0].units);
        if is_alone {
            self.want_channel::<true>(die, at, Phase::Out, out_ns, events);
            return ArrayEnd::LeavingAlone;
        }
        if d.bus != NO_COMMAND {
            d.staged = at;
            return ArrayEnd::Held;
        }
        self.want_channel::<false>(die, at, Phase::Out, out_ns, events);
        ArrayEnd::Leaving
    }

    /// A command ended in the array: its planes are free, and the array goes on with the program that is loaded, if one is.
    /// Since when the use of each of its planes counts.
    pub fn end_in_array(
        &mut self,
        die: DieId,
        command: &Command,
        events: &mut EventQueue,
    ) -> [u64; PLANES_MAX as usize] {
        let now_ns = events.now_ns();
        let staged = std::mem::replace(&mut self.dies[die.at()].staged, NO_COMMAND);
        if staged != NO_COMMAND {
            self.start_array::<false>(die, staged, now_ns, events);
        }
        let mut busy_from_ns = [now_ns; PLANES_MAX as usize];
        for (part, from_ns) in command.parts().iter().zip(&mut busy_from_ns) {
            *from_ns = self.release_plane(part.plane, command.issued_ns, now_ns);
        }
        self.rest_if_ready(die, now_ns);
        busy_from_ns
    }

    /// The command of a die that was alone there ended; since when its plane's use counts.
    #[inline(always)]
    pub fn end_alone(&mut self, die: DieId, now_ns: u64) -> u64 {
        let d = &mut self.dies[die.at()];
        d.bus = NO_COMMAND;
        let (plane, issued_ns) = (d.commands[0].parts[0].plane, d.commands[0].issued_ns);
        self.die_busy_ns += now_ns - d.busy_since_ns;
        self.release_plane(plane, issued_ns, now_ns)
    }

    /// A plane's register is free again: the time since its command was issued counts as in use, once. Since when it does.
    #[inline(always)]
    fn release_plane(&mut self, plane: PlaneId, issued_ns: u64, now_ns: u64) -> u64 {
        let from_ns = issued_ns.max(self.plane_busy_until_ns[plane.at()]);
        self.plane_busy_until_ns[plane.at()] = now_ns;
        self.plane_busy_ns += now_ns - from_ns;
        from_ns
    }

    /// The die's time in use ends where nothing is under way.
    #[inline(always)]
    fn rest_if_ready(&mut self, die: DieId, now_ns: u64) {
        let d = &self.dies[die.at()];
        if d.is_ready() {
            self.die_busy_ns += now_ns - d.busy_since_ns;
        }
    }

    /// Has a die wait for a time without a command; its event then says [`ArrayEnd::Waited`].
    pub fn wait(&mut self, die: DieId, duration_ns: u64, events: &mut EventQueue) {
        events.schedule(self.die_timer(die), events.now_ns() + duration_ns);
    }
}

/// Array time of a command: that of the slowest of its planes' pages.
#[inline(never)]
fn slowest_ns(timing: &Timing, geometry: &Geometry, command: &Command) -> u64 {
    let times = command.parts().iter().map(|part| timing.page_ns(command.op, geometry.block_and_offset(part.page).1));
    times.max().expect("a command has a plane")
}
