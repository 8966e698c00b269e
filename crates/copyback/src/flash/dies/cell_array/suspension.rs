//! Suspension of a program or an erase that is in the array.
//!
//! A die has at most two commands. A suspended one stays staged; meanwhile the die takes reads, one after another.
//! While a command is suspended, its `array_start_ns` is the time that the array has worked for it, and its
//! `array_end_ns` is the remaining time. When it resumes, its start is later by the time of the suspension. The time
//! from its start to its end is therefore exactly the array's work for it.

use super::{NEVER, slowest_ns};
use crate::flash::command::{Command, FlashOp};
use crate::flash::dies::Flash;
use crate::flash::dies::command_path::CommandPath;
use crate::flash::dies::flash_die::NO_COMMAND;
use crate::flash::observer::Observer;
use crate::sim::index::{DieId, JobId};
use crate::sim::queue::{EventQueue, Timer};

impl<O: Observer> CommandPath<'_, O> {
    /// The array stops its command, now or when it begins, and the die takes a read after the latency.
    #[cold]
    #[inline(never)]
    pub(super) fn suspend_array(&mut self, latency_ns: u64, events: &mut EventQueue) {
        let at = std::mem::replace(&mut self.d.array.at, NO_COMMAND);
        let command = *self.d.command(at);
        let begun_ns = self.d.array.begun_ns(&command);
        let stop_ns = begun_ns.max(events.now_ns());
        let (done_ns, left_ns) = (stop_ns - command.array_start_ns, command.array_end_ns - stop_ns);
        let kept = self.d.command_mut(at);
        (kept.held, kept.array_start_ns, kept.array_end_ns) = (true, done_ns, left_ns);
        self.d.staged = at;
        self.d.array.suspensions = self.d.array.suspensions_of(&command) + 1;
        self.d.array.suspended_issued_ns = command.issued_ns;
        if let Some(observer) = &mut self.observer {
            observer.on_array(self.die, usize::from(at), begun_ns, stop_ns + latency_ns);
        }
        events.schedule(Timer(self.first_timer + self.die.0), stop_ns + latency_ns);
    }
}

impl<O: Observer> Flash<O> {
    /// The program or erase of a job that a die can suspend, its remaining array time, and whether it was suspended
    /// before. `None` if the device cannot suspend the command (at all, or once more), if the command ends before the
    /// die would take a read, or if another command is in progress.
    pub fn suspendable(&self, die: DieId, job: JobId, now_ns: u64) -> Option<(&Command, u64, bool)> {
        let device = self.rules.commands.suspend.as_ref()?;
        let d = &self.dies[die.at()];
        let mut current = d.current();
        let command = current.next().filter(|command| d.staged == NO_COMMAND && command.job == job)?;
        let left_ns = match d.array.is_busy() {
            true => command.array_end_ns - d.array.begun_ns(command).max(now_ns),
            false => slowest_ns(&self.timing, &self.geometry, command),
        };
        let can = match command.op {
            FlashOp::Erase => device.erase,
            FlashOp::Program => device.program,
            FlashOp::Read | FlashOp::Copyback => false,
        };
        let suspensions = d.array.suspensions_of(command);
        let may = suspensions < device.limit && d.array.suspend_next_ns == NEVER;
        let gains = current.next().is_none() && left_ns > device.latency.0;
        (can && may && gains).then_some((command, left_ns, suspensions > 0))
    }

    /// Suspends the command that [`Self::suspendable`] returned; if the array has not begun it, as soon as it does.
    /// When the die takes a read, its event returns [`DelayElapsed`](super::ArrayEnd::DelayElapsed).
    pub fn suspend(&mut self, die: DieId, events: &mut EventQueue) {
        let latency_ns = self.rules.commands.suspend.map_or(0, |device| device.latency.0);
        let mut way = self.path(die);
        match way.d.array.is_busy() {
            true => way.suspend_array(latency_ns, events),
            false => way.d.array.suspend_next_ns = latency_ns,
        }
    }

    /// The suspended command of a die, if the die can take a read or resume the command now.
    pub fn suspended(&self, die: DieId, events: &EventQueue) -> Option<&Command> {
        self.rules.commands.suspend.as_ref()?;
        let d = &self.dies[die.at()];
        let command = (d.staged != NO_COMMAND).then(|| d.command(d.staged))?;
        let is_suspended = command.held && command.op != FlashOp::Read;
        let is_at_rest = d.bus == NO_COMMAND && !d.array.is_busy() && !events.is_pending(self.die_timer(die));
        (is_suspended && is_at_rest).then_some(command)
    }

    /// Resumes the suspended command of a die, after the device's time to resume.
    pub fn resume(&mut self, die: DieId, events: &mut EventQueue) {
        let resumed_ns = events.now_ns() + self.rules.commands.suspend.map_or(0, |device| device.resume.0);
        let mut way = self.path(die);
        let at = std::mem::replace(&mut way.d.staged, NO_COMMAND);
        let Command { op, array_start_ns: done_ns, array_end_ns: left_ns, .. } = *way.d.command(at);
        way.d.array.resumed_ns = resumed_ns;
        way.run_array::<false>((at, op), (resumed_ns, resumed_ns + left_ns), events);
        let command = way.d.command_mut(at);
        (command.held, command.array_start_ns) = (false, resumed_ns - done_ns);
    }
}
