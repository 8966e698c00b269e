//! Shares of tasks that follow the state of the drive, and the start and end of tasks.

use crate::dispatch::admit::Change;
use crate::dispatch::admit::shares::{Host, State};
use crate::flash::command::Source;
use crate::sim::index::DieId;
use crate::sim::queue::{EventQueue, Timer};
use crate::ssd::admission::Admission;
use crate::ssd::back_end::BackEnd;
use crate::tasks::background::TaskLevel;
use crate::tasks::gc::trigger::TriggerPolicy;
use std::ops::Range;

/// The schedule of share updates, and the host's arrivals between them.
pub(in crate::ssd) struct TaskShares {
    /// The timer of the next update.
    timer: Timer,
    /// The other timers of the drive: their events could change shares.
    others: [Range<u32>; 2],
    /// The time of the last update, while updates that would change nothing are skipped.
    settled_ns: Option<u64>,
    /// Reads and writes of the host that have arrived, if the policy distinguishes tasks.
    arrived: [u64; 2],
}

impl TaskShares {
    /// `others`: the timers of the drive; they may include the updates' own.
    pub fn new(timer: Timer, others: [Range<u32>; 2]) -> Self {
        Self { timer, others, settled_ns: None, arrived: [0; 2] }
    }

    /// Counts a request of the host that arrived.
    pub fn on_arrival(&mut self, is_write: bool) {
        self.arrived[usize::from(is_write)] += 1;
    }

    /// Begins updates, unless they are scheduled.
    fn begin(&self, period_ns: u64, events: &mut EventQueue) {
        if !events.is_pending(self.timer) {
            events.schedule(self.timer, events.now_ns() + period_ns);
        }
    }

    /// Schedules the next update after a period.
    fn go_on(&self, period_ns: u64, events: &mut EventQueue) {
        events.schedule(self.timer, events.now_ns() + period_ns);
    }

    /// Whether updates are skipped.
    #[inline(always)]
    fn have_settled(&self) -> bool {
        self.settled_ns.is_some()
    }

    /// The time of the drive's next event, without updates.
    fn next_event_ns(&self, events: &EventQueue) -> Option<u64> {
        let others = self.others.iter().cloned().flatten().filter(|&timer| timer != self.timer.0);
        others.filter_map(|timer| events.time_of(Timer(timer))).min()
    }

    /// Stops updates while shares cannot change. Only an event of this drive, or an arrival from outside
    /// ([`Self::wake`]), can change them. The next update is the first at or after the drive's next event; if there is
    /// none, no update is scheduled. On slow flash with short periods, nearly all events of a run would otherwise be
    /// updates.
    fn settle(&mut self, period_ns: u64, events: &mut EventQueue) {
        let now_ns = events.now_ns();
        self.settled_ns = Some(now_ns);
        match self.next_event_ns(events) {
            Some(next_ns) => {
                let periods = (next_ns - now_ns).div_ceil(period_ns).max(1);
                events.schedule(self.timer, now_ns + periods * period_ns);
            }
            None => events.cancel(self.timer),
        }
    }

    /// Something arrives at the drive: skipped updates continue with the next period.
    fn wake(&mut self, period_ns: u64, events: &mut EventQueue) {
        let Some(settled_ns) = self.settled_ns.take() else { return };
        let periods = (events.now_ns() - settled_ns) / period_ns + 1;
        let next_ns = settled_ns + periods * period_ns;
        if events.time_of(self.timer).is_none_or(|time_ns| time_ns > next_ns) {
            events.schedule(self.timer, next_ns);
        }
    }
}

impl BackEnd {
    /// A task beside the host begins to work.
    pub(in crate::ssd) fn activate(&mut self, task: Source, events: &mut EventQueue) {
        let Admission { control, shares: updates, .. } = &mut self.admission;
        if control.windows().active().has(task) {
            return;
        }
        control.set_active(task, true);
        let Some(shares) = control.shares() else { return };
        shares.on_activate(task);
        let may_change = shares.may_change(|active| active == task);
        if let Some(period_ns) = shares.period_ns().filter(|_| may_change) {
            updates.begin(period_ns, events);
        }
    }

    /// A task may have no more work: the host then gets the task's share.
    pub(in crate::ssd) fn deactivate_at_rest(&mut self, task: Source, events: &mut EventQueue) {
        let updates = self.map.translation.as_ref().map_or(0, |map| map.updates_of(task));
        if self.admission.control.windows().active().has(task)
            && self.gc.relocations.count_of(task) == 0
            && updates == 0
        {
            self.admission.control.set_active(task, false);
            self.admit_waiting(Change::Limits, events);
        }
    }

    /// No event is left, and the host sends no more requests: tasks without a share complete the work that they began.
    pub(crate) fn end_host(&mut self, events: &mut EventQueue) {
        if self.gc.coordination.is_some() {
            self.resume();
        }
        self.wake_shares(events);
        self.admission.control.end_host();
        self.admit_waiting(Change::Limits, events);
    }

    /// A period has passed: updates shares, and admits requests of tasks that are now below their limit.
    pub(in crate::ssd) fn update_shares(&mut self, events: &mut EventQueue) {
        self.admission.shares.settled_ns = None;
        let active = self.admission.control.windows().active();
        let looks_at_host = self.admission.control.shares().is_some_and(|shares| shares.looks_at_host());
        if looks_at_host && self.gc.idleness.is_host_done() {
            // The host is done: this timer stops, so that events can run out. Tasks then complete their work
            // (`end_host`).
            return;
        }
        let host = if looks_at_host { self.host_for_shares(events.now_ns()) } else { Host::default() };
        let state = State { host, ..self.state_for_shares() };
        let shares = self.admission.control.shares();
        let Some(shares) = shares.filter(|shares| shares.may_change(|task| active.has(task))) else { return };
        let has_changed = shares.update(|task| active.has(task), &state);
        let Some(period_ns) = shares.period_ns() else { return };
        self.admission.shares.go_on(period_ns, events);
        let has_let_in = self.admit_waiting(Change::Limits, events);
        if !has_changed && !has_let_in && !self.dies.has_marked() {
            self.admission.shares.settle(period_ns, events);
        }
    }

    /// Something arrives at the drive: share updates continue with the next period.
    #[inline(always)]
    pub(in crate::ssd) fn wake_shares(&mut self, events: &mut EventQueue) {
        if self.admission.shares.have_settled() {
            self.go_on_with_updates(events);
        }
    }

    #[cold]
    #[inline(never)]
    fn go_on_with_updates(&mut self, events: &mut EventQueue) {
        let Admission { control, shares: updates, .. } = &mut self.admission;
        if let Some(period_ns) = control.shares().and_then(|shares| shares.period_ns()) {
            updates.wake(period_ns, events);
        }
    }

    /// The share of a task in percent, if `admit` has shares: 0 while the task has no work.
    pub fn share_percent(&self, task: Source) -> Option<f64> {
        self.admission.control.share_percent(task)
    }

    fn state_for_shares(&self) -> State {
        let free_blocks_target = self.scheme.trigger.soft_blocks(&self.geometry);
        let TaskLevel { highest, target } = self.gc.background.level_of(Source::SCRUB).unwrap_or_default();
        let (reads_max, reads_target) = (u64::from(highest), u64::from(target));
        State {
            free_blocks: self.ftl.free_blocks(),
            free_blocks_target,
            reads_max,
            reads_target,
            host: Host::default(),
        }
    }

    /// The host's demand. Visits all dies, and all transactions that wait in front of them.
    fn host_for_shares(&self, now_ns: u64) -> Host {
        let in_front = |die| self.queues.iter(self.queues.for_window(die, Source::HOST)).count();
        let waiting: usize = (0..self.geometry.dies).map(|die| in_front(DieId(die))).sum();
        let admitted = self.admission.control.windows().debit(Source::HOST) + self.dies.waiting_for_space();
        let [reads, writes] = self.admission.shares.arrived;
        Host { now_ns, outstanding: waiting as u64 + u64::from(admitted), reads, writes }
    }
}
