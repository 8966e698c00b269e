//! Sharing: what goes between two steps of the round that has a die.
//!
//! Before each step the controller looks at the queue, where that takes time or may let somebody go first. Whatever waits
//! then and is admitted by the yield policy goes first, in the order of the die's classes, with what comes meanwhile as far
//! as the policy's fence lets it; then the round takes its step.
//! Where the `pipeline` builder is in use, commands of one type follow each other through the cache register, host and
//! round alike.

use super::company::Company;
use super::drive::{Drive, Queue};
use super::issue::Readiness;
use crate::dispatch::order::{Class, Heads};
use crate::flash::command::{Command, FlashOp, Source};
use crate::sim::index::{DieId, JobId, LogicalUnit, PlaneId, TxnId};
use crate::sim::invariant::hold;
use crate::sim::queue::EventQueue;
use crate::tasks::gc::trigger::watermark::Scope;
use crate::tasks::gc::r#yield::{Candidate, Fence, NextStep, State, View, state_of};
use crate::tasks::job::{Job, Step};

/// How far a die has come between two steps of its round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    /// The queue was not looked at yet.
    Closed,
    /// The controller looks at the queue, until the die's event.
    Looking,
    /// What waits may go first.
    Open {
        /// The place in the order of arrival from which on requests came while it was open.
        since: u64,
    },
}

/// No plane is barred.
pub(crate) const NO_PLANES: [PlaneId; 2] = [PlaneId::NONE; 2];

impl Drive {
    /// The die of a round can take a command: the round's next step, or host work that goes first. Whether something
    /// changed.
    pub(crate) fn share(&mut self, die: DieId, id: JobId, readiness: Readiness, events: &mut EventQueue) -> bool {
        if self.settings.steps_at_once {
            return readiness == Readiness::Ready && self.take_step(die, id, events);
        }
        let Some(step) = self.next_step(id) else {
            return self.fill_wait(die, id, readiness, events);
        };
        match self.dies[die.at()].pause {
            Pause::Looking => false,
            Pause::Closed => {
                if readiness != Readiness::Ready {
                    return false;
                }
                let look_ns = self.look_ns(die, step);
                if look_ns == 0 {
                    self.open_pause(die);
                } else {
                    self.dies[die.at()].pause = Pause::Looking;
                    self.work.queue_looks += 1;
                    self.flash.wait(die, look_ns, events);
                }
                true
            }
            Pause::Open { since } => self.go_on(die, id, step, since, readiness, events),
        }
    }

    /// Time before a step in which the controller looks at the queue.
    fn look_ns(&mut self, die: DieId, step: Step) -> u64 {
        let scan_ns = if matches!(step, Step::Read { .. }) { self.settings.scan_ns } else { 0 };
        self.settings.poll_ns + scan_ns + std::mem::take(&mut self.dies[die.at()].choice_ns)
    }

    /// The look at the queue of a die is over.
    pub(crate) fn on_look_end(&mut self, die: DieId) {
        self.open_pause(die);
        self.touch(die);
    }

    fn open_pause(&mut self, die: DieId) {
        let since = self.txns.next_sequence();
        self.dies[die.at()].pause = Pause::Open { since };
    }

    /// Bars the round's plane where its next step does. Looked at before each request that goes first: one that goes may
    /// overwrite all that the round had still to read, and its next step is then another one.
    fn bar_planes(&mut self, die: DieId, id: JobId, step: Step) {
        let plane = self.jobs[id.at()].plane;
        let barred = |is_write| if self.yielding.bars_plane(kind(step), is_write) { plane } else { PlaneId::NONE };
        self.dies[die.at()].barred = [barred(false), barred(true)];
    }

    fn close_pause(&mut self, die: DieId) {
        let d = &mut self.dies[die.at()];
        (d.pause, d.barred) = (Pause::Closed, NO_PLANES);
    }

    /// A pause is open: host work that may go first does, then the round's step.
    fn go_on(
        &mut self,
        die: DieId,
        id: JobId,
        step: Step,
        since: u64,
        readiness: Readiness,
        events: &mut EventQueue,
    ) -> bool {
        if self.yielding.yields() {
            self.bar_planes(die, id, step);
            let view = self.view(die, id, kind(step), events.now_ns());
            let fence = self.fence(die, &view);
            let before = |is_write| if fence.holds_back(is_write) { since } else { u64::MAX };
            let read = self.first_admitted(die, Queue::Read, &view, before(false), Some(step));
            let write = self.first_admitted(die, Queue::Write, &view, before(true), Some(step));
            if let Some(class) = self.order.pick(self.heads_of(read, write)) {
                let took = self.take_first(die, class, read, write, readiness, events);
                self.work.preemptions += u64::from(took);
                return took;
            }
        }
        let follows = match readiness {
            Readiness::Ready => true,
            Readiness::CachedRead => matches!(step, Step::Read { .. }),
            Readiness::CachedProgram => matches!(step, Step::Program { .. }) && !self.settings.global,
            Readiness::Busy => false,
        };
        if follows {
            self.close_pause(die);
            self.issue_step_after_others(die, id, step, events);
        }
        follows
    }

    /// What waits for the next step, of that which comes while requests go before this one. Everything, where a round must not
    /// be held up for ever: writes that wait for space, and those that the hard level prohibits, wait for its end. Where data
    /// goes to other dies, writes that wait anywhere may wait for this round, and other rounds for the moves that come here.
    fn fence(&self, die: DieId, view: &View) -> Fence {
        let moves_wait = self.settings.global && (self.waiting_for_space > 0 || self.head(die, Queue::Move).is_some());
        let is_needed = view.state != State::AllAllowed || self.dies[die.at()].waiting_for_space > 0 || moves_wait;
        if is_needed { Fence::All } else { self.yielding.fence() }
    }

    /// Host work of this class goes before the round, where the die can take it now.
    #[inline(never)]
    fn take_first(
        &mut self,
        die: DieId,
        class: Class,
        read: Option<TxnId>,
        write: Option<TxnId>,
        readiness: Readiness,
        events: &mut EventQueue,
    ) -> bool {
        match (class, readiness) {
            (Class::Read, Readiness::Ready | Readiness::CachedRead) => {
                self.check_hard_level(die, false);
                self.take_read(die, read.expect("the class has a head"), events);
            }
            (Class::Write, Readiness::Ready | Readiness::CachedProgram) => {
                self.check_hard_level(die, true);
                self.take_write(die, write.expect("the class has a head"), events);
            }
            _ => return false,
        }
        true
    }

    fn heads_of(&self, read: Option<TxnId>, write: Option<TxnId>) -> Heads {
        let came = |id: Option<TxnId>| id.map_or(u64::MAX, |id| self.txns[id].sequence);
        Heads { came: [u64::MAX, came(read), came(write)], waited_before: 0 }
    }

    /// The round's step is under way on another die, or through this die's other register: moves of other dies' jobs may
    /// use a free die, and so may the host where the round yields at all.
    fn fill_wait(&mut self, die: DieId, id: JobId, readiness: Readiness, events: &mut EventQueue) -> bool {
        if readiness != Readiness::Ready {
            return false;
        }
        if self.head(die, Queue::Move).is_some() {
            self.take_move(die, events);
            return true;
        }
        if !self.yielding.yields() {
            return false;
        }
        let view = self.view(die, id, NextStep::Elsewhere, events.now_ns());
        let read = self.first_admitted(die, Queue::Read, &view, u64::MAX, None);
        let write = self.first_admitted(die, Queue::Write, &view, u64::MAX, None);
        match self.order.pick(self.heads_of(read, write)) {
            Some(class) => self.take_first(die, class, read, write, readiness, events),
            None => false,
        }
    }

    /// Whether a command that is no step of the round which has its die may be issued there now: what the configuration
    /// says, looked up before the run, against what the policy has answered.
    #[inline(never)]
    pub(crate) fn check_between_steps(&self, die: DieId, command: &Command) {
        let d = &self.dies[die.at()];
        let job = &self.jobs[d.lease.at()];
        let may_go = match command.source {
            Source::Host => self.yielding.yields() && (job.is_stepping || matches!(d.pause, Pause::Open { .. })),
            _ => job.is_stepping,
        };
        let (op, source) = (command.op, command.source);
        hold!(may_go, LeaseKept, "{op:?} of {source:?} on {die:?}, which {:?} has", d.lease);
        let is_barred = self.settings.bars_at_register[usize::from(op != FlashOp::Read)] && self.holds_page(job);
        let uses_plane = command.parts().iter().any(|part| part.plane == job.plane);
        hold!(!(is_barred && uses_plane), PlaneBarred, "{op:?} of {source:?} on {:?} of {die:?}", job.plane);
    }

    /// Whether a round stands between the read and the program of a page, or of all that was left. Asked when a command is
    /// bound, which may just have overwritten what was still to be read, so that is not looked at.
    fn holds_page(&self, job: &Job) -> bool {
        let held = job.next - job.programmed;
        let is_whole = held >= self.geometry.units_per_page as usize;
        !job.is_stepping && held > 0 && (is_whole || job.next == job.moves.len())
    }

    /// What is about to go before a round's step may do so at this level of free blocks.
    fn check_hard_level(&self, die: DieId, is_write: bool) {
        let level = self.level_of_collection(die);
        if level >= self.settings.hard_level {
            return;
        }
        let mut queued = self.queues.iter(self.queue(die, Queue::Write)).map(TxnId).take(self.settings.gc_scan_max);
        let is_urgent = queued.any(|id| self.txns[id].high_priority);
        hold!(
            !(is_write || is_urgent || self.settings.hard_stops_all),
            HardLevel,
            "a request goes before the round of {die:?}, write: {is_write}, urgent write waits: {is_urgent}, with {level} \
             free, below {}",
            self.settings.hard_level
        );
    }

    fn view(&self, die: DieId, id: JobId, step: NextStep, now_ns: u64) -> View {
        let job = &self.jobs[id.at()];
        let pages_moved = (job.programmed as u32).div_ceil(self.geometry.units_per_page);
        View { state: self.collection_state(die), step, pages_moved, now_ns }
    }

    /// The state of collection of a die that collects (ispass11 Fig. 7). Where levels are those of planes, the lowest of
    /// its planes counts: that one collects next, and whatever goes first holds it up, too.
    pub(crate) fn collection_state(&self, die: DieId) -> State {
        let free_level = self.level_of_collection(die);
        let high_priority_waits = self.dies[die.at()].high_priority_waiting > 0;
        state_of(self.trigger.is_below_hard(free_level), high_priority_waits, self.yielding.at_hard())
    }

    /// What is free in the scope of a die that collects.
    fn level_of_collection(&self, die: DieId) -> u32 {
        match self.trigger.scope {
            Scope::Plane => self.geometry.planes_of(die).map(|p| self.level_of(p)).min().unwrap_or(0),
            Scope::Die => self.level_of_die(die),
            Scope::Device => self.ftl.free_blocks() as u32,
        }
    }

    /// The first request of a queue that may go before the round's next step, and is not to be served by that step.
    fn first_admitted(&self, die: DieId, queue: Queue, view: &View, before: u64, step: Option<Step>) -> Option<TxnId> {
        let is_prohibited = match view.state {
            State::AllAllowed => false,
            State::WritesProhibited => queue == Queue::Write,
            State::AllProhibited => true,
        };
        if is_prohibited {
            return None;
        }
        let own_plane = self.jobs[self.dies[die.at()].lease.at()].plane;
        let is_write = queue == Queue::Write;
        // Where no plane is barred, it makes no difference where a read's data is.
        let minds_planes = is_write || self.yielding.bars_plane(view.step, is_write);
        let company = Company::of(self, die, step);
        let queued = self.queues.iter(self.queue(die, queue)).map(TxnId).take(self.settings.gc_scan_max);
        queued.into_iter().find(|&id| {
            let txn = &self.txns[id];
            if txn.sequence >= before {
                return false;
            }
            let plane = if minds_planes { self.plane_of_waiting(id, die, queue) } else { Some(PlaneId::NONE) };
            let Some(plane) = plane else { return false };
            let candidate = Candidate { is_write, is_on_its_plane: plane == own_plane, arrival_ns: txn.arrival_ns };
            self.yielding.admits(*view, candidate) && !company.takes(id)
        })
    }

    /// The plane that a request which waits at a die would use now. A read whose data is gone or has left the die uses
    /// none, and counts as one of a plane that nobody bars.
    fn plane_of_waiting(&self, id: TxnId, die: DieId, queue: Queue) -> Option<PlaneId> {
        if queue == Queue::Write {
            let plane = self.plane_for(id, die);
            return (self.txns[id].plane.is_some() || self.host_pages_left(plane) > 0).then_some(plane);
        }
        let txn = &self.txns[id];
        let place =
            (txn.first.0..txn.first.0 + txn.units).map(|u| self.ftl.lookup(LogicalUnit(u))).find(|p| p.is_some());
        Some(place.map_or(PlaneId::NONE, |place| self.geometry.plane_of(self.geometry.block_of(place))))
    }

    /// A round ended in a state in which nothing might go before it: the write of high priority that asked for that goes
    /// before the next round. Whether there was one.
    #[inline(never)]
    pub(crate) fn pay_high_priority(&mut self, die: DieId, readiness: Readiness, events: &mut EventQueue) -> bool {
        let queued = self.queues.iter(self.queue(die, Queue::Write)).map(TxnId);
        let Some(id) = queued.into_iter().find(|&id| self.txns[id].high_priority) else {
            // It may stand in front of the window still; where it waits for space, only a round can help it.
            let in_front = self.queues.iter(self.queue(die, Queue::Window)).map(TxnId);
            self.dies[die.at()].owes_high_priority = in_front.into_iter().any(|id| self.is_high_priority_write(id));
            return false;
        };
        if readiness != Readiness::Ready {
            return false;
        }
        // It overtakes writes that came before it.
        self.newest.watch();
        self.dies[die.at()].owes_high_priority = false;
        self.take_write(die, id, events);
        true
    }
}

fn kind(step: Step) -> NextStep {
    match step {
        Step::Read { .. } => NextStep::Read,
        Step::Program { .. } => NextStep::Program,
        Step::Erase => NextStep::Erase,
    }
}
