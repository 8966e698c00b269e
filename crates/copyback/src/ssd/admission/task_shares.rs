//! Tasks that begin and end, and shares that follow the state of the drive.

use crate::dispatch::admit::shares::{Host, State};
use crate::dispatch::admit::{AdmitPolicy, Change};
use crate::flash::command::Source;
use crate::sim::index::DieId;
use crate::sim::queue::EventQueue;
use crate::ssd::drive::Drive;
use crate::tasks::background::Level;
use crate::tasks::gc::trigger::TriggerPolicy;

impl Drive {
    /// A task beside the host begins to work.
    pub(in crate::ssd) fn activate(&mut self, task: Source, events: &mut EventQueue) {
        if self.windows.active().has(task) {
            return;
        }
        self.windows.set_active(task, true);
        let Some(shares) = self.admit.shares() else { return };
        shares.on_activate(task);
        let follow = shares.follow(|active| active == task);
        if let Some(period_ns) = shares.period_ns().filter(|_| follow && !events.is_pending(self.shares_timer)) {
            events.schedule(self.shares_timer, events.now_ns() + period_ns);
        }
    }

    /// A task may have nothing to do any more: what it was kept is the host's then.
    pub(in crate::ssd) fn deactivate_at_rest(&mut self, task: Source, events: &mut EventQueue) {
        let updates = self.translation.as_ref().map_or(0, |map| map.updates_of[task as usize]);
        if self.windows.active().has(task) && self.relocations.count_of(task) == 0 && updates == 0 {
            self.windows.set_active(task, false);
            self.let_all_in(Change::Limits, events);
        }
    }

    /// Nothing moves any more, and no request of the host will come: what tasks without a share have begun they end.
    pub(crate) fn end_host(&mut self, events: &mut EventQueue) {
        if self.told.is_some() {
            self.resume();
        }
        self.wake_shares(events);
        self.windows.end_host();
        self.let_all_in(Change::Limits, events);
    }

    /// A period has passed: shares are updated, and whoever is below a limit now enters.
    pub(in crate::ssd) fn update_shares(&mut self, events: &mut EventQueue) {
        self.shares_settled_ns = None;
        let active = self.windows.active();
        let looks_at_host = self.admit.shares().is_some_and(|shares| shares.looks_at_host());
        if looks_at_host && self.is_host_done {
            // Nobody is served any more. What was begun ends when nothing moves, this timer too.
            return;
        }
        let host = if looks_at_host { self.host_for_shares(events.now_ns()) } else { Host::default() };
        let state = State { host, ..self.state_for_shares() };
        let Some(shares) = self.admit.shares().filter(|shares| shares.follow(|task| active.has(task))) else { return };
        let has_changed = shares.update(|task| active.has(task), &state);
        let Some(period_ns) = shares.period_ns() else { return };
        events.schedule(self.shares_timer, events.now_ns() + period_ns);
        let somebody_entered = self.let_all_in(Change::Limits, events);
        if !has_changed && !somebody_entered && self.marked.is_empty() {
            self.leave_updates_out(period_ns, events);
        }
    }

    /// Shares have settled, and whatever could change them is an event of this drive, or comes to it from outside
    /// ([`Self::wake_shares`]). The next update is the first that is not before its next event; with no such event
    /// there is none. Where flash is slow and periods are short, nearly all events of a run would be updates.
    fn leave_updates_out(&mut self, period_ns: u64, events: &mut EventQueue) {
        let now_ns = events.now_ns();
        self.shares_settled_ns = Some(now_ns);
        match self.next_event_ns(events) {
            Some(next_ns) => {
                let periods = (next_ns - now_ns).div_ceil(period_ns).max(1);
                events.schedule(self.shares_timer, now_ns + periods * period_ns);
            }
            None => events.cancel(self.shares_timer),
        }
    }

    /// Something comes to the drive: shares are updated again with the next period.
    #[inline(always)]
    pub(in crate::ssd) fn wake_shares(&mut self, events: &mut EventQueue) {
        if self.shares_settled_ns.is_some() {
            self.go_on_with_updates(events);
        }
    }

    #[cold]
    #[inline(never)]
    fn go_on_with_updates(&mut self, events: &mut EventQueue) {
        let period_ns = self.admit.shares().and_then(|shares| shares.period_ns());
        let (Some(settled_ns), Some(period_ns)) = (self.shares_settled_ns.take(), period_ns) else { return };
        let periods = (events.now_ns() - settled_ns) / period_ns + 1;
        let next_ns = settled_ns + periods * period_ns;
        if events.time_of(self.shares_timer).is_none_or(|time_ns| time_ns > next_ns) {
            events.schedule(self.shares_timer, next_ns);
        }
    }

    /// The share of a task in percent, where `admit` knows shares: 0 while the task has nothing to do.
    pub fn share_percent(&self, task: Source) -> Option<f64> {
        let share = self.admit.share_percent(task)?;
        Some(if self.windows.active().has(task) { share } else { 0.0 })
    }

    fn state_for_shares(&self) -> State {
        let free_blocks_target = self.trigger.soft_blocks(&self.geometry);
        let Level { highest, target } = self.level_of(Source::Scrub).unwrap_or_default();
        let (reads_max, reads_target) = (u64::from(highest), u64::from(target));
        State {
            free_blocks: self.ftl.free_blocks(),
            free_blocks_target,
            reads_max,
            reads_target,
            host: Host::default(),
        }
    }

    /// What the host wants: looks at all dies, and at all that wait in front of them.
    fn host_for_shares(&self, now_ns: u64) -> Host {
        let in_front = |die| self.queues.iter(self.queues.in_front(die, Source::Host)).count();
        let waiting: usize = (0..self.geometry.dies).map(|die| in_front(DieId(die))).sum();
        let admitted = self.windows.debit(Source::Host) + self.waiting_for_space;
        let [reads, writes] = self.arrived;
        Host { now_ns, outstanding: waiting as u64 + u64::from(admitted), reads, writes }
    }
}
