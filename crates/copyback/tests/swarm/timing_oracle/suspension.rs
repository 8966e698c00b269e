//! Steps of collections that reads suspend (Wu and He 2012): when a step stops, what goes meanwhile, when it resumes.

use super::Oracle;
use super::commands::{Command, Kind, PlanePart, Stage};
use super::known::compose_of;
use super::preemption::{PreemptionPoint, State};
use copyback::tasks::gc::preemption::PreemptionConfig;
use copyback::tasks::gc::preemption::suspend::Suspends;

impl Oracle<'_> {
    /// For the die of a collection that takes no further command: a read suspends the step in the array, or is issued
    /// while the step is suspended; without a read, the step resumes. Returns whether another decision may follow.
    pub(super) fn suspend_or_resume(&mut self, die: usize) -> bool {
        let PreemptionConfig::Suspend(params) = &self.config.preemption else { return false };
        let device = self.config.commands.suspend.expect("the policy needs it");
        if self.dies[die].reserved_by.is_none() || self.dies[die].commands.len() != 1 {
            return false;
        }
        let step = &self.dies[die].commands[0];
        let (begun_ns, stage) = (step.begun_ns, step.stage);
        if let Stage::Stopped { left_ns } = stage {
            if let Some(read) = self.read_beside(die, false) {
                self.issue_read_beside(die, read);
                return true;
            }
            let begun_ns = self.now_ns + device.resume.0;
            let step = &mut self.dies[die].commands[0];
            (step.begun_ns, step.stage) = (begun_ns, Stage::Array(begun_ns + left_ns));
            self.dies[die].point = PreemptionPoint::Closed;
            return false;
        }
        let left_ns = match stage {
            Stage::Array(end_ns) => end_ns - begun_ns.max(self.now_ns),
            Stage::In => step.array_ns,
            _ => return false,
        };
        let can = match step.kind {
            Kind::Erase => device.erase && params.suspends != Suspends::Programs,
            Kind::Program => device.program && params.suspends != Suspends::Erases,
            Kind::Read | Kind::Copyback => false,
        };
        let is_worth_it = left_ns > device.latency.0 && left_ns > params.min_left.0;
        let may = step.is_step && !step.stops && step.suspensions < device.limit;
        if !can || !is_worth_it || !may || self.read_beside(die, step.suspensions > 0).is_none() {
            return false;
        }
        self.result.counts.suspensions += 1;
        self.dies[die].point = PreemptionPoint::Open { before: self.sequences };
        self.dies[die].commands[0].stops = true;
        self.stop_if_asked(die, 0);
        false
    }

    /// The array stops a step, if a read asked for it and the array has begun the step or will resume it.
    pub(super) fn stop_if_asked(&mut self, die: usize, at: usize) {
        let latency_ns = self.config.commands.suspend.map_or(0, |device| device.latency.0);
        let now_ns = self.now_ns;
        let step = &mut self.dies[die].commands[at];
        if let (true, Stage::Array(end_ns)) = (step.stops, step.stage) {
            let stop_ns = step.begun_ns.max(now_ns);
            step.stage = Stage::Stopping { ready_ns: stop_ns + latency_ns, left_ns: end_ns - stop_ns };
            (step.stops, step.suspensions) = (false, step.suspensions + 1);
        }
    }

    /// The end of a die's transfer, if its step stops at that very moment (the device suspends in no time), and no
    /// event follows the transfer. The die then takes a read before the channel goes to another die.
    pub(super) fn stop_with_transfer_ns(&self, die: usize) -> Option<u64> {
        let stops_at_once = self.config.commands.suspend.is_some_and(|device| device.latency.0 == 0);
        let (on_channel, end_ns) = self.channels[self.channel_of(die)].transfer?;
        let is_this = |step: &Command| step.stops && step.stage == Stage::In;
        let is_expected = stops_at_once && on_channel == die && self.dies[die].commands.iter().any(is_this);
        (is_expected && !self.has_event_after_transfer(die)).then_some(end_ns)
    }

    /// Whether the array of a die has just stopped: the die takes reads now.
    pub(super) fn has_stopped(&mut self, die: usize) -> bool {
        let now_ns = self.now_ns;
        if self.stop_with_transfer_ns(die) == Some(now_ns) {
            let channel = self.channel_of(die);
            let step = &mut self.dies[die].commands[0];
            (step.begun_ns, step.suspensions, step.stops) = (now_ns, step.suspensions + 1, false);
            step.stage = Stage::Stopped { left_ns: step.array_ns };
            let c = &mut self.channels[channel];
            (c.transfer, c.is_held) = (None, !c.is_unwanted());
            self.change(die);
            return true;
        }
        for step in &mut self.dies[die].commands {
            if let Stage::Stopping { ready_ns, left_ns } = step.stage
                && ready_ns == now_ns
            {
                step.stage = Stage::Stopped { left_ns };
                self.change(die);
                return true;
            }
        }
        false
    }

    /// The first read that may go while the step is suspended. If a fence holds reads back, only a read that waited
    /// when the stop was requested may go, and no step is suspended again.
    fn read_beside(&self, die: usize, is_again: bool) -> Option<usize> {
        if self.state(die) == State::Nothing {
            return None;
        }
        let step: &Command = &self.dies[die].commands[0];
        let before = match self.dies[die].point {
            PreemptionPoint::Open { before } => before,
            _ if is_again => 0,
            _ => usize::MAX,
        };
        let is_free = |&txn: &usize| {
            let place = self.txns[txn].units.iter().find_map(|unit| self.place_of.get(unit));
            place.is_none_or(|place| !step.changes.contains(&(place.plane, place.block)))
        };
        let seen = self.dies[die].reads.iter().copied().take(compose_of(self.config).gc_scan_max as usize);
        seen.into_iter().find(|txn| !self.is_fenced(die, *txn, before) && is_free(txn))
    }

    /// A read goes alone: without reads of other planes.
    fn issue_read_beside(&mut self, die: usize, read: usize) {
        let Some((place, part)) = self.bind_read(die, read) else { return };
        self.result.counts.page_reads += 1;
        self.result.counts.preemptions += 1;
        self.dies[die].reserved_by.as_mut().expect("a collection has the die").was_preempted = true;
        let parts: Vec<PlanePart> = vec![part];
        self.start_read(die, false, place, parts);
    }
}
