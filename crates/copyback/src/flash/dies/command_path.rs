//! The path of a command over the channel, and into the array ([`super::cell_array`]).

use super::{Flash, PageOut, Phase, TransferEnd};
use crate::flash::channel::{Channel, TransferClass, Waiters};
use crate::flash::command::{Command, CommandPlane, FlashOp, Source};
use crate::flash::dies::flash_die::{FlashDie, NO_COMMAND};
use crate::flash::geometry::Geometry;
use crate::flash::observer::{Carries, Observer};
use crate::flash::timing::Timing;
use crate::sim::index::{ChannelId, DieId, JobId, PageId};
use crate::sim::invariant::hold;
use crate::sim::queue::{End, EventQueue, Timer};

/// A die, its channel, and the other fields that a command's path needs: looked up once per event.
pub(super) struct CommandPath<'a, O> {
    pub die: DieId,
    pub d: &'a mut FlashDie,
    channel: &'a mut Channel,
    waiters: &'a mut Waiters,
    pub timing: &'a Timing,
    pub geometry: &'a Geometry,
    pub observer: Option<&'a mut O>,
    observes_loads: bool,
    pub first_timer: u32,
}

impl<O: Observer> CommandPath<'_, O> {
    #[inline(always)]
    fn channel_number(&self) -> ChannelId {
        self.d.channel
    }

    #[inline(always)]
    fn channel_timer(&self) -> Timer {
        Timer(self.first_timer + self.geometry.dies + self.channel_number().0)
    }

    /// Starts a command: on the channel with its cycles and data, or in the array at once.
    #[inline(always)]
    fn launch<const ALONE: bool>(&mut self, at: u8, op: FlashOp, planes: u64, events: &mut EventQueue) {
        let cycles_ns = planes * self.timing.command_ns;
        if op == FlashOp::Program {
            let data_ns = planes * self.timing.page_transfer_ns;
            self.want_channel::<ALONE>((at, op), Phase::Load, cycles_ns + data_ns, events);
        } else if cycles_ns > 0 {
            self.want_channel::<ALONE>((at, op), Phase::Command, cycles_ns, events);
        } else {
            self.start_array::<ALONE>((at, op), events.now_ns(), events);
        }
    }

    /// Takes the place for a command that is issued now. Returns the place, and whether the command follows another
    /// through the cache register. If the die was ready, it is busy from now on.
    #[inline(always)]
    fn take_place(&mut self, now_ns: u64) -> (usize, bool) {
        let is_first = self.d.is_ready();
        if is_first {
            self.d.busy_since_ns = now_ns;
        }
        (self.d.free_place(), !is_first && self.d.uses_cache_register())
    }

    /// A command begins, at its place.
    #[inline(always)]
    fn begin(&mut self, at: u8, op: FlashOp, planes: u64, follows: bool, events: &mut EventQueue) {
        if op == FlashOp::Read && follows {
            // The cycles of a read that follows another are transferred with that read's data.
            let cycles_ns = planes * self.timing.command_ns;
            self.start_array::<false>((at, op), events.now_ns() + cycles_ns + self.timing.cache_busy_ns, events);
        } else {
            self.launch::<false>(at, op, planes, events);
        }
    }

    // ---- the channel ------------------------------------------------------------------------------------------------

    /// The die's command needs the channel.
    #[inline(always)]
    pub(super) fn want_channel<const ALONE: bool>(
        &mut self,
        (at, op): (u8, FlashOp),
        phase: Phase,
        duration_ns: u64,
        events: &mut EventQueue,
    ) {
        debug_assert!(self.d.bus == NO_COMMAND || self.d.bus == at, "a die wants two transfers");
        (self.d.bus, self.d.phase, self.d.bus_ns) = (at, phase, duration_ns);
        if self.channel.is_free(events.now_ns()) {
            self.start_transfer::<ALONE>((at, op), phase, duration_ns, events);
        } else {
            // A channel that is neither in use nor free is about to be granted: its event is being handled, or comes at
            // this same moment.
            let is_granted_next = ALONE && self.channel.busy_until_ns() <= events.now_ns();
            let timer = if is_granted_next { None } else { Some(self.channel_timer()) };
            wait_for_channel((self.channel_number(), timer), self.channel, self.waiters, (self.die, self.d), events);
        }
    }

    #[inline(always)]
    fn start_transfer<const ALONE: bool>(
        &mut self,
        (at, op): (u8, FlashOp),
        phase: Phase,
        duration_ns: u64,
        events: &mut EventQueue,
    ) {
        // The end of a transfer needs an event only if something can follow at that time: data has arrived, a command
        // may follow through the cache register, or held pages leave. Otherwise the array starts at a known time.
        let may_follow = || self.observes_loads || self.d.staged != NO_COMMAND;
        let needs_event = phase == Phase::Out || (!ALONE && phase == Phase::Load && may_follow());
        let listener = if needs_event { self.die } else { DieId::NONE };
        let end_ns = self.channel.occupy(events.now_ns(), duration_ns, listener);
        if !ALONE && let Some(observer) = self.observer.as_deref_mut() {
            show_transfer(observer, (self.die, at), self.d.command(at), phase, (events.now_ns(), end_ns));
        }
        if needs_event || (!ALONE && self.channel.has_waiters()) {
            events.schedule_end(End::Transfer, self.channel_timer(), end_ns);
        }
        if !needs_event {
            self.d.bus = NO_COMMAND;
            self.d.command_mut(at).loaded_ns = end_ns;
            self.start_array::<ALONE>((at, op), end_ns, events);
        }
    }
}

impl<O: Observer> Flash<O> {
    #[inline(always)]
    pub(super) fn path(&mut self, die: DieId) -> CommandPath<'_, O> {
        let d = &mut self.dies[die.at()];
        let (channel, waiters) = self.channels.split(d.channel);
        CommandPath {
            die,
            d,
            channel,
            waiters,
            timing: &self.timing,
            geometry: &self.geometry,
            observer: self.observer.as_deref_mut(),
            observes_loads: self.observes_loads,
            first_timer: self.first_timer,
        }
    }

    // ---- a command begins -------------------------------------------------------------------------------------------

    /// Sends a command on its way. Returns whether it follows another.
    ///
    /// # Panics
    /// When the device would refuse it.
    pub fn issue(&mut self, die: DieId, command: &Command, events: &mut EventQueue) -> bool {
        self.rules.check(&self.geometry, command);
        self.planes_in_use += u32::from(command.planes);
        let mut way = self.path(die);
        let (at, follows) = way.take_place(events.now_ns());
        way.d.commands[at] = *command;
        way.d.commands[at].cached = follows;
        way.begin(at as u8, command.op, u64::from(command.planes), follows, events);
        follows
    }

    /// Sends a read or a program of one page on its way, which serves transactions. Returns whether it follows another.
    ///
    /// # Panics
    /// When the page is not on the plane.
    #[inline(always)]
    pub fn issue_page(
        &mut self,
        die: DieId,
        op: FlashOp,
        source: Source,
        part: CommandPlane,
        events: &mut EventQueue,
    ) -> bool {
        let (page, plane) = (part.page, part.plane);
        hold!(self.geometry.plane_of_page(page) == plane, LegalCommand, "{op:?} of {page:?} on {plane:?}");
        self.planes_in_use += 1;
        let mut way = self.path(die);
        let (at, follows) = way.take_place(events.now_ns());
        way.d.commands[at].set_page(op, source, part, follows, events.now_ns());
        way.begin(at as u8, op, 1, follows, events);
        follows
    }

    /// Sends a read or a program of one plane on its way, on a die that is ready and takes no other command before its
    /// end.
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
        self.planes_in_use += 1;
        let mut way = self.path(die);
        debug_assert!(way.d.is_ready() && way.observer.is_none());
        way.d.busy_since_ns = now_ns;
        way.d.commands[0].set_alone(op, source, job, part, now_ns);
        way.launch::<true>(0, op, 1, events);
    }

    // ---- the channel ------------------------------------------------------------------------------------------------

    /// The event of a channel: its transfer ended. If the end notifies no die, the event is only for the dies that wait
    /// for the channel. The die that is notified is handled before [`Flash::grant`].
    #[inline(always)]
    pub fn on_channel_event(&mut self, channel: ChannelId) -> TransferEnd {
        let die = self.channels[channel].take_listener();
        if die.is_none() {
            return TransferEnd::Unobserved;
        }
        let d = &self.dies[die.at()];
        match d.phase {
            Phase::Out if d.command(d.bus).alone => TransferEnd::PageOutAlone(die),
            Phase::Out => TransferEnd::PageOut(die),
            Phase::Load => TransferEnd::Loaded(die),
            Phase::Command => unreachable!("no component observes the end of command cycles"),
        }
    }

    /// Whether the grant of a channel to waiting data is deferred, because a die whose transfer has just ended may send
    /// the cycles of its next command first. The channel's event then comes again at this moment.
    pub fn defers_grant(&self, channel: ChannelId, events: &mut EventQueue) -> bool {
        let timer = self.channel_timer(channel);
        let puts_off = self.timing.command_ns > 0 && self.channels[channel].has_waiters() && !events.is_pending(timer);
        if puts_off {
            events.schedule(timer, events.now_ns());
        }
        puts_off
    }

    /// Grants a channel to the next waiting die.
    #[inline(always)]
    pub fn grant(&mut self, channel: ChannelId, events: &mut EventQueue) {
        if self.channels[channel].has_waiters() {
            self.grant_next(channel, events);
        }
    }

    #[inline(never)]
    fn grant_next(&mut self, number: ChannelId, events: &mut EventQueue) {
        let (channel, waiters) = self.channels.split(number);
        if channel.busy_until_ns() <= events.now_ns()
            && let Some(die) = waiters.next(number, channel)
        {
            let mut way = self.path(die);
            let (at, phase, duration_ns) = (way.d.bus, way.d.phase, way.d.bus_ns);
            let op = way.d.command(at).op;
            way.start_transfer::<false>((at, op), phase, duration_ns, events);
        }
        let timer = self.channel_timer(number);
        if self.channels[number].has_waiters() && !events.is_pending(timer) {
            events.schedule(timer, self.channels[number].busy_until_ns());
        }
    }

    /// A program's data is in the register. Returns whether the array begins; otherwise it first ends the previous
    /// program.
    pub fn on_loaded(&mut self, die: DieId, events: &mut EventQueue) -> bool {
        let now_ns = events.now_ns();
        let mut way = self.path(die);
        let at = std::mem::replace(&mut way.d.bus, NO_COMMAND);
        way.d.command_mut(at).loaded_ns = now_ns;
        let begins = !way.d.array.is_busy();
        if begins {
            let held = std::mem::replace(&mut way.d.staged, NO_COMMAND);
            way.start_array::<false>((at, FlashOp::Program), now_ns, events);
            if held != NO_COMMAND {
                let command = way.d.command(held);
                let out_ns = way.timing.transfer_ns(command.parts[usize::from(command.out)].units);
                way.want_channel::<false>((held, FlashOp::Read), Phase::Out, out_ns, events);
            }
        } else {
            way.d.staged = at;
        }
        begins
    }

    /// A read's data of one plane has arrived. The data of its next plane leaves, or else the data of the read that
    /// follows it. `holds`: after the first page of a job's read has left, its other pages are held.
    #[inline]
    pub fn take_page(&mut self, die: DieId, holds: bool, events: &mut EventQueue) -> PageOut {
        let now_ns = events.now_ns();
        let mut way = self.path(die);
        let at = way.d.bus;
        let command = *way.d.command(at);
        let part = usize::from(command.out);
        way.d.command_mut(at).out += 1;
        let is_last = part + 1 == usize::from(command.planes);
        let is_held = holds && part == 0 && !is_last && command.job.is_some();
        if is_held {
            way.d.command_mut(at).held = true;
            (way.d.bus, way.d.staged) = (NO_COMMAND, at);
        } else if !is_last {
            // The planes' data leaves in one go. If the channel turned to another die between two planes, all its dies
            // would soon read their arrays at once, while the channel is idle.
            way.d.bus_ns = way.timing.transfer_ns(command.parts[part + 1].units);
            let duration_ns = way.d.bus_ns;
            way.start_transfer::<false>((at, FlashOp::Read), Phase::Out, duration_ns, events);
        } else {
            way.d.bus = NO_COMMAND;
            let staged = way.d.take_staged();
            if staged != NO_COMMAND {
                let out_ns = way.timing.transfer_ns(way.d.command(staged).parts[0].units);
                way.want_channel::<false>((staged, FlashOp::Read), Phase::Out, out_ns, events);
            }
            self.rest_if_ready(die, now_ns);
        }
        let busy_from_ns = self.release_plane(command.parts[part].plane, command.issued_ns, now_ns);
        PageOut { command, part, is_last, is_held, busy_from_ns }
    }

    /// Lets held pages of a die leave at once, in one go.
    pub fn release_held_pages(&mut self, die: DieId, events: &mut EventQueue) {
        let mut way = self.path(die);
        let at = std::mem::replace(&mut way.d.staged, NO_COMMAND);
        let command = way.d.command_mut(at);
        command.held = false;
        let units = command.parts[usize::from(command.out)].units;
        way.d.bus = at;
        way.d.bus_ns = way.timing.transfer_ns(units);
        let duration_ns = way.d.bus_ns;
        way.start_transfer::<false>((at, FlashOp::Read), Phase::Out, duration_ns, events);
    }

    // ---- commands that are alone ------------------------------------------------------------------------------------

    /// Ends the command of a die that was alone there. Returns the start of the time that now counts as its plane's
    /// use.
    #[inline(always)]
    pub fn end_alone(&mut self, die: DieId, now_ns: u64) -> u64 {
        let d = &mut self.dies[die.at()];
        d.bus = NO_COMMAND;
        let (plane, issued_ns) = (d.commands[0].parts[0].plane, d.commands[0].issued_ns);
        self.die_busy_ns += now_ns - d.busy_since_ns;
        self.release_plane(plane, issued_ns, now_ns)
    }

    /// Ends the command of a die as [`Flash::end_alone`] does, and returns the same; sends the next command of its job.
    /// `page` is on the same plane.
    #[inline(always)]
    pub fn follow_alone(
        &mut self,
        die: DieId,
        (op, page, units): (FlashOp, PageId, u32),
        events: &mut EventQueue,
    ) -> u64 {
        let (now_ns, home) = (events.now_ns(), self.geometry.plane_of_page(page));
        let mut way = self.path(die);
        let (plane, issued_ns) = (way.d.commands[0].parts[0].plane, way.d.commands[0].issued_ns);
        hold!(home == plane, LegalCommand, "{op:?} of {page:?} on {plane:?}");
        way.d.bus = NO_COMMAND;
        let busy_since_ns = std::mem::replace(&mut way.d.busy_since_ns, now_ns);
        way.d.commands[0].set_following(op, page, units, now_ns);
        way.launch::<true>(0, op, 1, events);
        // The plane stays in use.
        self.die_busy_ns += now_ns - busy_since_ns;
        self.count_plane(plane, issued_ns, now_ns)
    }
}

// Cold functions take the fields that they need, not a `CommandPath`, which would have to be built in memory for each
// call.

/// Makes a die wait for its busy channel. `timer`: the channel's; none if its event is already due now.
#[inline(never)]
fn wait_for_channel(
    (number, timer): (ChannelId, Option<Timer>),
    channel: &mut Channel,
    waiters: &mut Waiters,
    (die, d): (DieId, &FlashDie),
    events: &mut EventQueue,
) {
    let command = d.command(d.bus);
    let class = match (d.phase, command.source) {
        (Phase::Command, _) => TransferClass::Cycles,
        (_, source) if source == Source::HOST => TransferClass::Data,
        // The held pages are those of host reads that joined the job's read.
        (Phase::Out, _) if command.held => TransferClass::Data,
        _ => TransferClass::Urgent,
    };
    waiters.wait(number, channel, die, class);
    if let Some(timer) = timer.filter(|&timer| !events.is_pending(timer)) {
        events.schedule(timer, channel.busy_until_ns());
    }
}

/// Shows an observer a transfer.
#[cold]
#[inline(never)]
fn show_transfer(
    observer: &mut impl Observer,
    (die, at): (DieId, u8),
    command: &Command,
    phase: Phase,
    (start_ns, end_ns): (u64, u64),
) {
    let carries = match phase {
        Phase::Command => Carries::Cycles,
        Phase::Load => Carries::DataIn,
        Phase::Out => Carries::DataOut { units: command.parts[usize::from(command.out)].units },
    };
    observer.on_transfer(die, usize::from(at), carries, start_ns, end_ns);
}
