//! The dies and their channels: the path of a command over the channel and through the array.
//!
//! A program goes over the channel, then into the array; a read the other way round. A die can transfer data while its
//! array works only if commands follow each other through the cache register, or if held pages of a read leave while a
//! program is in the array.
//!
//! A command is *alone* (`ALONE`) if it uses one plane, no component observes it before it completes, and its die takes
//! no other command meanwhile. It uses the same code; the parts that cannot apply are removed at compile time. Most
//! commands of a drive in use, the moves of its garbage collection, are alone.

mod cell_array;
mod command_path;
mod flash_die;

pub use cell_array::ArrayEnd;
pub(crate) use cell_array::CellArray;
pub use flash_die::Follow;
pub(crate) use flash_die::{FlashDie, NO_COMMAND, Phase};

use super::channel::Channels;
use super::command::{Command, FlashOp, Rules, Source};
use super::geometry::Geometry;
use super::observer::Observer;
use super::timing::Timing;
use crate::config::device::PLANES_MAX;
use crate::sim::index::{ChannelId, DieId, PlaneId};
use crate::sim::queue::Timer;

/// The end of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferEnd {
    /// No component observes it.
    Unobserved,
    /// A program's data is in the register.
    Loaded(DieId),
    /// A read's data of one plane is in the controller; see [`Flash::take_page`].
    PageOut(DieId),
    /// As `PageOut`, for a command that is alone; see [`Flash::end_alone`].
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
    /// Whether the other pages wait in their registers until [`Flash::release_held_pages`] or a program of the die.
    pub is_held: bool,
    /// The start of the plane's counted use, which ends now.
    pub busy_from_ns: u64,
}

/// Dies, registers and channels of a drive; `O` observes them.
pub struct Flash<O> {
    geometry: Geometry,
    timing: Timing,
    rules: Rules,
    dies: Vec<FlashDie>,
    channels: Channels,
    /// The time until which each plane's use was counted.
    plane_busy_until_ns: Vec<u64>,
    plane_busy_ns: u64,
    /// Planes that current commands name; a plane counts once for each command that names it.
    planes_in_use: u32,
    die_busy_ns: u64,
    /// Whether the end of loading a program must be an event.
    observes_loads: bool,
    /// The first of its timers in the event queue: one for each die's array, then one for each channel.
    first_timer: u32,
    observer: Option<Box<O>>,
}

impl<O: Observer> Flash<O> {
    /// Idle flash. `urgent_first`: data of background work precedes the host's on a channel. `observes_loads`: the end
    /// of a program's transfer is an event, because another may follow. Its events use the timers from `first_timer`
    /// on, [`Flash::<O>::timers`] of them.
    pub fn new(
        geometry: &Geometry,
        timing: Timing,
        rules: Rules,
        urgent_first: bool,
        observes_loads: bool,
        first_timer: u32,
    ) -> Self {
        Self {
            timing,
            rules,
            dies: (0..geometry.dies).map(|die| FlashDie::new(geometry.channel_of(DieId(die)))).collect(),
            channels: Channels::new(geometry.channels, geometry.dies, urgent_first),
            plane_busy_until_ns: vec![0; geometry.planes as usize],
            plane_busy_ns: 0,
            planes_in_use: 0,
            die_busy_ns: 0,
            observes_loads,
            first_timer,
            observer: None,
            geometry: geometry.clone(),
        }
    }

    /// Timers of the event queue that flash of this shape needs.
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

    /// Its shape.
    #[inline(always)]
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

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

    /// Whether a die has no current command.
    #[inline(always)]
    pub fn is_ready(&self, die: DieId) -> bool {
        self.dies[die.at()].is_ready()
    }

    /// Whether any die waits for the channel of this die.
    pub fn is_channel_waited_for(&self, die: DieId) -> bool {
        self.channels[self.dies[die.at()].channel].has_waiters()
    }

    /// The source of the command that a die executes.
    #[inline(always)]
    pub fn works_for(&self, die: DieId) -> Option<Source> {
        self.dies[die.at()].at_work().map(|command| command.source)
    }

    /// The planes of a die whose registers hold pages of a read, so that a program can go first.
    pub fn planes_held(&self, die: DieId) -> [PlaneId; PLANES_MAX as usize] {
        self.dies[die.at()].planes_held()
    }

    /// The command that a die works on.
    #[inline(always)]
    pub fn at_work(&self, die: DieId) -> Option<&Command> {
        self.dies[die.at()].at_work()
    }

    /// A command of a die.
    #[inline(always)]
    pub fn command(&self, die: DieId, place: u8) -> &Command {
        self.dies[die.at()].command(place)
    }

    /// The place of the next command of a die.
    pub fn next_place(&self, die: DieId) -> usize {
        self.dies[die.at()].free_place()
    }

    /// Which commands of `follow` may be issued now, behind the current commands of a die.
    #[inline]
    pub fn may_follow(&self, die: DieId, follow: Follow, now_ns: u64) -> Follow {
        let d = &self.dies[die.at()];
        let none = Follow::default();
        if d.staged != NO_COMMAND || d.is_ready() {
            return none;
        }
        let is_hosts = |at: u8, op| {
            let command = d.command(at);
            (command.op, command.source) == (op, Source::HOST)
        };
        if follow.program && d.bus == NO_COMMAND && is_hosts(d.array.at(), FlashOp::Program) {
            return Follow { program: true, ..none };
        }
        let is_leaving = !d.array.is_busy() && d.phase == Phase::Out;
        if follow.read && is_leaving && is_hosts(d.bus, FlashOp::Read) && !self.has_left(die, now_ns) {
            return Follow { read: true, ..none };
        }
        none
    }

    /// Whether the last data of a die's read has left at this very moment: its event is still to come, and makes the
    /// die ready.
    fn has_left(&self, die: DieId, now_ns: u64) -> bool {
        let d = &self.dies[die.at()];
        let command = d.command(d.bus);
        let is_last = command.out + 1 == command.planes;
        is_last && self.channels[self.geometry.channel_of(die)].has_ended(die, now_ns)
    }

    /// Plane time, die time and channel time in use until now. Die time and channel time include current use. Plane
    /// time is added only when a plane is released, or when [`Flash::settle_planes`] is called.
    pub fn busy_ns(&self, now_ns: u64) -> (u64, u64, u64) {
        let at_work = self.dies.iter().filter(|die| !die.is_ready()).map(|die| now_ns - die.busy_since_ns);
        (self.plane_busy_ns, self.die_busy_ns + at_work.sum::<u64>(), self.channels.busy_ns(now_ns))
    }

    /// Planes that current commands name.
    #[inline(always)]
    pub fn planes_in_use(&self) -> u32 {
        self.planes_in_use
    }

    /// The state of a die's commands, for the report of a run that makes no progress.
    pub fn describe(&self, die: DieId) -> String {
        let d = &self.dies[die.at()];
        format!("commands {:?}", (d.array.at(), d.bus, d.staged))
    }

    /// Attaches an observer from now on.
    pub fn observe(&mut self, observer: Box<O>) {
        self.observer = Some(observer);
    }

    /// The attached observer.
    #[inline(always)]
    pub fn observer(&mut self) -> Option<&mut O> {
        self.observer.as_deref_mut()
    }

    /// Whether an observer is attached.
    #[inline(always)]
    pub fn is_observed(&self) -> bool {
        self.observer.is_some()
    }

    /// Whether commands of a die that takes no others meanwhile may be issued as alone.
    pub fn has_lone_commands(&self) -> bool {
        !self.is_observed() && !self.observes_loads && self.timing.is_uniform()
    }
}

/// Changes by tests, to show that they are detected.
#[cfg(test)]
pub(crate) struct Inside<'a> {
    pub dies: &'a mut [FlashDie],
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
