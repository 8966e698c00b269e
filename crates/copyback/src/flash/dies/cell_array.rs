//! The arrays of the dies: a command in the array, from its start to its end, and delays in which a die has no command.
//!
//! The start of a command in the array schedules its end, on the timer of the die. Only [`Flash::wait`] and suspensions
//! use this timer, too.

mod suspension;

use super::command_path::CommandPath;
use super::{Flash, Phase};
use crate::config::device::PLANES_MAX;
use crate::flash::command::{Command, FlashOp};
use crate::flash::dies::flash_die::NO_COMMAND;
use crate::flash::geometry::Geometry;
use crate::flash::observer::Observer;
use crate::flash::timing::Timing;
use crate::sim::index::{DieId, PlaneId};
use crate::sim::queue::{End, EventQueue, Timer};

/// The end of an array time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrayEnd {
    /// The array had no command: the delay of the die has elapsed.
    DelayElapsed,
    /// A read continues to the controller.
    Leaving,
    /// As `Leaving`, for a command that is alone.
    LeavingAlone,
    /// A read waits in the data register, as the page before is still leaving through the cache register.
    Held,
    /// A program, an erase or a copyback at this place ended; see [`Flash::end_in_array`].
    Ended(u8),
    /// The program of a command that is alone ended; see [`Flash::end_alone`].
    EndedAlone,
}

/// The array of a die.
pub(crate) struct CellArray {
    /// Which of the die's commands it works on.
    at: u8,
    /// The issue time of the command that was suspended last. It identifies that command: no two commands of a die that
    /// can be suspended have equal issue times.
    suspended_issued_ns: u64,
    /// How often that command was suspended.
    suspensions: u32,
    /// When that command resumed last.
    resumed_ns: u64,
    /// The suspend latency, if the next command is to be suspended as soon as it begins; otherwise [`NEVER`].
    suspend_next_ns: u64,
}

/// No time.
const NEVER: u64 = u64::MAX;

impl CellArray {
    /// An array that works on no command.
    pub fn new() -> Self {
        Self { at: NO_COMMAND, suspended_issued_ns: NEVER, suspensions: 0, resumed_ns: 0, suspend_next_ns: NEVER }
    }

    /// Which of the die's commands it works on; [`NO_COMMAND`] if on none.
    #[inline(always)]
    pub fn at(&self) -> u8 {
        self.at
    }

    /// Whether it works on a command.
    #[inline(always)]
    pub fn is_busy(&self) -> bool {
        self.at != NO_COMMAND
    }

    /// How often a command was suspended.
    fn suspensions_of(&self, command: &Command) -> u32 {
        if self.suspended_issued_ns == command.issued_ns { self.suspensions } else { 0 }
    }

    /// When the array began its command, or resumed it last.
    fn begun_ns(&self, command: &Command) -> u64 {
        if self.suspensions_of(command) > 0 { self.resumed_ns } else { command.array_start_ns }
    }

    /// Makes it busy with a command, or not.
    #[cfg(test)]
    pub fn set_at(&mut self, at: u8) {
        self.at = at;
    }
}

impl<O: Observer> CommandPath<'_, O> {
    /// The array begins a command; its end is scheduled.
    #[inline(always)]
    pub(super) fn start_array<const ALONE: bool>(
        &mut self,
        (at, op): (u8, FlashOp),
        start_ns: u64,
        events: &mut EventQueue,
    ) {
        let array_ns = match self.timing.uniform_ns(op) {
            _ if ALONE => self.timing.known_uniform_ns(op),
            Some(array_ns) => array_ns,
            None => slowest_ns(self.timing, self.geometry, self.d.command(at)),
        };
        self.run_array::<ALONE>((at, op), (start_ns, start_ns + array_ns), events);
        if !ALONE && self.d.array.suspend_next_ns != NEVER {
            let latency_ns = std::mem::replace(&mut self.d.array.suspend_next_ns, NEVER);
            self.suspend_array(latency_ns, events);
        }
    }

    /// Lets the array work on a command from `start_ns` to `end_ns`, and schedules the end.
    #[inline(always)]
    fn run_array<const ALONE: bool>(
        &mut self,
        (at, op): (u8, FlashOp),
        (start_ns, end_ns): (u64, u64),
        events: &mut EventQueue,
    ) {
        let command = self.d.command_mut(at);
        (command.array_start_ns, command.array_end_ns) = (start_ns, end_ns);
        self.d.array.at = at;
        if !ALONE && let Some(observer) = &mut self.observer {
            observer.on_array(self.die, usize::from(at), start_ns, end_ns);
        }
        let timer = Timer(self.first_timer + self.die.0);
        match op {
            FlashOp::Read => events.schedule_end(End::Read, timer, end_ns),
            FlashOp::Program => events.schedule_end(End::Program, timer, end_ns),
            FlashOp::Erase | FlashOp::Copyback => events.schedule(timer, end_ns),
        }
    }
}

impl<O: Observer> Flash<O> {
    /// The time of a die's array is over.
    #[inline(always)]
    pub fn on_array_end(&mut self, die: DieId, events: &mut EventQueue) -> ArrayEnd {
        // Most programs need no channel when they end.
        let d = &mut self.dies[die.at()];
        let at = std::mem::replace(&mut d.array.at, NO_COMMAND);
        if at == NO_COMMAND {
            return ArrayEnd::DelayElapsed;
        }
        let command = d.command(at);
        let (op, is_alone, units) = (command.op, command.alone, command.parts[0].units);
        if op != FlashOp::Read {
            return if is_alone { ArrayEnd::EndedAlone } else { ArrayEnd::Ended(at) };
        }
        let mut way = self.path(die);
        let out_ns = way.timing.transfer_ns(units);
        if is_alone {
            way.want_channel::<true>((at, FlashOp::Read), Phase::Out, out_ns, events);
            return ArrayEnd::LeavingAlone;
        }
        if way.d.bus != NO_COMMAND {
            way.d.staged = at;
            return ArrayEnd::Held;
        }
        way.want_channel::<false>((at, FlashOp::Read), Phase::Out, out_ns, events);
        ArrayEnd::Leaving
    }

    /// A command ended in the array: its planes are free, and the array continues with the loaded program, if there is
    /// one. Returns the time from which the use of each of its planes counts.
    pub fn end_in_array(
        &mut self,
        die: DieId,
        command: &Command,
        events: &mut EventQueue,
    ) -> [u64; PLANES_MAX as usize] {
        let now_ns = events.now_ns();
        let staged = std::mem::replace(&mut self.dies[die.at()].staged, NO_COMMAND);
        if staged != NO_COMMAND {
            self.path(die).start_array::<false>((staged, FlashOp::Program), now_ns, events);
        }
        let mut busy_from_ns = [now_ns; PLANES_MAX as usize];
        for (part, from_ns) in command.parts().iter().zip(&mut busy_from_ns) {
            *from_ns = self.release_plane(part.plane, command.issued_ns, now_ns);
        }
        self.rest_if_ready(die, now_ns);
        busy_from_ns
    }

    /// Lets a die wait without a command; its event then returns [`ArrayEnd::DelayElapsed`].
    pub fn wait(&mut self, die: DieId, duration_ns: u64, events: &mut EventQueue) {
        events.schedule(self.die_timer(die), events.now_ns() + duration_ns);
    }

    // ---- time in use ------------------------------------------------------------------------------------------------

    /// Counts the plane time of current commands until now; the rest counts at their ends. `count` takes, for each
    /// plane that a command uses, its die and the start of the time to count.
    pub fn settle_planes(&mut self, now_ns: u64, mut count: impl FnMut(DieId, u64)) {
        for die in (0..self.geometry.dies).map(DieId) {
            self.settle_die(die, now_ns, |from_ns| count(die, from_ns));
        }
    }

    /// Counts the plane time of current commands of one die until now.
    pub fn settle_die(&mut self, die: DieId, now_ns: u64, count: impl FnMut(u64)) {
        // One command in the array, one on the channel, one that is staged.
        let mut parts = [(0, PlaneId::NONE); 3 * PLANES_MAX as usize];
        let of_die = self.dies[die.at()].current();
        let of_die = of_die.flat_map(|c| c.parts()[usize::from(c.out)..].iter().map(|part| (c.issued_ns, part.plane)));
        let used = parts.iter_mut().zip(of_die).map(|(entry, part)| *entry = part).count();
        // If two commands use a plane, the earlier one is counted first, and the later one from then on.
        let parts = &mut parts[..used];
        parts.sort_unstable();
        let counted = parts.iter().map(|(issued_ns, plane)| self.count_plane(*plane, *issued_ns, now_ns));
        counted.for_each(count);
    }

    /// Counts a plane as in use since its command was issued, without time that was counted before. Returns the start
    /// of the counted time.
    #[inline(always)]
    pub(super) fn count_plane(&mut self, plane: PlaneId, issued_ns: u64, now_ns: u64) -> u64 {
        let until_ns = &mut self.plane_busy_until_ns[plane.at()];
        let from_ns = issued_ns.max(std::mem::replace(until_ns, now_ns));
        self.plane_busy_ns += now_ns - from_ns;
        from_ns
    }

    /// A plane's register is free again: counts the plane as in use since its command was issued, as
    /// `count_plane` does. Returns the start of the counted time.
    #[inline(always)]
    pub(super) fn release_plane(&mut self, plane: PlaneId, issued_ns: u64, now_ns: u64) -> u64 {
        self.planes_in_use -= 1;
        self.count_plane(plane, issued_ns, now_ns)
    }

    /// Ends the die's time in use if no command remains.
    #[inline(always)]
    pub(super) fn rest_if_ready(&mut self, die: DieId, now_ns: u64) {
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
