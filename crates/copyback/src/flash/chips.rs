//! The dies and their channels: a command's way over the channel and through the array.
//!
//! A program goes over the channel, then into the array; a read the other way round. One transfer and one array time of
//! a die can be under way at once only where commands follow each other through the cache register.
//!
//! A command of one plane of which nobody wants to know anything before its end, on a die that takes no other meanwhile, is
//! *alone* (`ALONE`): nothing follows it, nobody observes it. It goes the same way, in the same code; what cannot be is
//! left out when that is compiled. Most commands of a drive in use, the moves of its garbage collection, go so.

use super::channel::{Channels, Turn};
use super::command::{Command, CommandPlane, FlashOp, Rules, Source};
use super::die::{Die, Follow, NO_COMMAND, Phase};
use super::geometry::Geometry;
use super::observer::{Carries, Observer};
use super::timing::Timing;
use crate::config::device::PLANES_MAX;
use crate::sim::index::{ChannelId, DieId, JobId, PlaneId};
use crate::sim::invariant::hold;
use crate::sim::queue::{End, EventQueue, Timer};

/// What the end of an array time means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrayEnd {
    /// The array had no command: a time that the die was to wait is over.
    Waited,
    /// A read goes on to the controller.
    Leaving,
    /// A read waits in the data register, as the page before is still leaving through the cache register.
    Held,
    /// The same of a command that is alone.
    LeavingAlone,
    /// A program, an erase or a copyback ended, which is at this place; see [`Flash::end_in_array`].
    Ended(u8),
    /// The program of a command that is alone ended; see [`Flash::end_alone`].
    EndedAlone,
}

/// What the end of a transfer means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// Nobody wanted to know.
    Nobody,
    /// A program's data is in the register.
    Loaded(DieId),
    /// A read's data of one plane is in the controller; see [`Flash::take_page`].
    PageOut(DieId),
    /// The same of a command that is alone; see [`Flash::end_alone`].
    PageOutAlone(DieId),
}

/// A page that has reached the controller.
#[derive(Clone, Copy, Debug)]
pub struct PageOut {
    /// The read.
    pub command: Command,
    /// Which of its parts.
    pub part: usize,
    /// Whether it is the last.
    pub is_last: bool,
    /// Since when the plane's use counts that ends now.
    pub busy_from_ns: u64,
}

/// Dies, registers and channels of a drive; `O` is shown what happens.
pub struct Flash<O> {
    geometry: Geometry,
    timing: Timing,
    rules: Rules,
    dies: Vec<Die>,
    channels: Channels,
    /// Where each plane's registers are known to be in use until.
    plane_busy_until_ns: Vec<u64>,
    plane_busy_ns: u64,
    die_busy_ns: u64,
    /// Whether somebody wants to know when a program is loaded.
    hears_loads: bool,
    /// Its dies' array times and its channels' transfers are the event queue's timers from this one on.
    first_timer: u32,
    observer: Option<Box<O>>,
}

impl<O: Observer> Flash<O> {
    /// Flash that rests. `urgent_first`: data of background work goes over a channel before the host's. `hears_loads`: the
    /// end of a program's transfer is an event, as another may follow. Its events use the timers from `first_timer` on,
    /// [`Flash::<O>::timers`] of them.
    pub fn new(
        geometry: &Geometry,
        timing: Timing,
        rules: Rules,
        urgent_first: bool,
        hears_loads: bool,
        first_timer: u32,
    ) -> Self {
        Self {
            timing,
            rules,
            dies: (0..geometry.dies).map(|_| Die::new()).collect(),
            channels: Channels::new(geometry.channels, geometry.dies, urgent_first),
            plane_busy_until_ns: vec![0; geometry.planes as usize],
            plane_busy_ns: 0,
            die_busy_ns: 0,
            hears_loads,
            first_timer,
            observer: None,
            geometry: geometry.clone(),
        }
    }

    /// Slots of the event queue that flash of this shape needs.
    pub fn timers(geometry: &Geometry) -> u32 {
        geometry.dies + geometry.channels
    }

    /// The timer of a die's array.
    #[inline(always)]
    pub fn die_timer(&self, die: DieId) -> Timer {
        Timer(self.first_timer + die.0)
    }

    #[inline(always)]
    fn channel_timer(&self, channel: ChannelId) -> Timer {
        Timer(self.first_timer + self.geometry.dies + channel.0)
    }

    // ---- questions --------------------------------------------------------------------------------------------------

    /// Its times.
    #[inline(always)]
    pub fn timing(&self) -> &Timing {
        &self.timing
    }

    /// Which planes and pages go together.
    #[inline(always)]
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Whether no command is under way on a die.
    #[inline(always)]
    pub fn is_ready(&self, die: DieId) -> bool {
        self.dies[die.at()].is_ready()
    }

    /// For whom a die works.
    #[inline(always)]
    pub fn works_for(&self, die: DieId) -> Option<Source> {
        self.dies[die.at()].at_work().map(|command| command.source)
    }

    /// A command of a die.
    #[inline(always)]
    pub fn command(&self, die: DieId, place: u8) -> &Command {
        &self.dies[die.at()].commands[usize::from(place)]
    }

    /// Where the next command of a die will be.
    pub fn next_place(&self, die: DieId) -> usize {
        self.dies[die.at()].free_place()
    }

    /// What may follow the commands that are under way on a die, of all that may follow each other.
    #[inline]
    pub fn may_follow(&self, die: DieId, follow: Follow, now_ns: u64) -> Follow {
        let d = &self.dies[die.at()];
        let none = Follow::default();
        if d.staged != NO_COMMAND || d.is_ready() {
            return none;
        }
        let is_hosts = |at: u8, op| {
            let command = &d.commands[usize::from(at)];
            (command.op, command.source) == (op, Source::Host)
        };
        if follow.program && d.bus == NO_COMMAND && is_hosts(d.array, FlashOp::Program) {
            return Follow { program: true, ..none };
        }
        let is_leaving = d.array == NO_COMMAND && d.phase == Phase::Out;
        if follow.read && is_leaving && is_hosts(d.bus, FlashOp::Read) && !self.has_left(die, now_ns) {
            return Follow { read: true, ..none };
        }
        none
    }

    /// Whether the last data of the read that is leaving a die has left at this very moment: its event comes yet, and then
    /// the die is ready.
    fn has_left(&self, die: DieId, now_ns: u64) -> bool {
        let d = &self.dies[die.at()];
        let command = &d.commands[usize::from(d.bus)];
        let is_last = command.out + 1 == command.planes;
        is_last && self.channels.has_ended(self.geometry.channel_of(die), die, now_ns)
    }

    /// Plane time, die time and channel time in use. A plane's counts when its command ends, a transfer's when it begins,
    /// a die's as it passes.
    pub fn busy_ns(&self, now_ns: u64) -> (u64, u64, u64) {
        let at_work = self.dies.iter().filter(|die| !die.is_ready()).map(|die| now_ns - die.busy_since_ns);
        (self.plane_busy_ns, self.die_busy_ns + at_work.sum::<u64>(), self.channels.busy_ns())
    }

    /// Where the commands of a die are, for the report of a run that got stuck.
    pub fn describe(&self, die: DieId) -> String {
        let d = &self.dies[die.at()];
        format!("commands {:?}", (d.array, d.bus, d.staged))
    }

    /// Shows what happens from now on to somebody.
    pub fn observe(&mut self, observer: Box<O>) {
        self.observer = Some(observer);
    }

    /// Who is shown what happens.
    #[inline(always)]
    pub fn observer(&mut self) -> Option<&mut O> {
        self.observer.as_deref_mut()
    }

    /// Whether somebody is.
    #[inline(always)]
    pub fn is_observed(&self) -> bool {
        self.observer.is_some()
    }

    /// Whether commands of a die that takes no others meanwhile may be issued as alone.
    pub fn has_lone_commands(&self) -> bool {
        !self.is_observed() && !self.hears_loads && self.timing.is_uniform()
    }

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

/// What tests change from outside, to see that it is noticed.
#[cfg(test)]
pub(crate) struct Inside<'a> {
    pub dies: &'a mut [Die],
    pub channels: &'a mut Channels,
    pub timing: &'a mut Timing,
    pub rules: &'a mut Rules,
    pub plane_busy_ns: &'a mut u64,
}

#[cfg(test)]
impl<O: Observer> Flash<O> {
    pub(crate) fn inside(&mut self) -> Inside<'_> {
        Inside {
            dies: &mut self.dies,
            channels: &mut self.channels,
            timing: &mut self.timing,
            rules: &mut self.rules,
            plane_busy_ns: &mut self.plane_busy_ns,
        }
    }
}

/// Array time of a command: that of the slowest of its planes' pages.
#[inline(never)]
fn slowest_ns(timing: &Timing, geometry: &Geometry, command: &Command) -> u64 {
    let times = command.parts().iter().map(|part| timing.page_ns(command.op, geometry.block_and_offset(part.page).1));
    times.max().expect("a command has a plane")
}
