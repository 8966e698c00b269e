//! Preemption points: the requests that are served between two steps of the collection that has reserved a die.
//!
//! Before each step the controller polls the queue, if that takes time or may let a request preempt. Waiting requests
//! that the preemption policy admits go first, in the order of the die's classes. So do requests that arrive meanwhile,
//! as far as the policy's fence lets them. Then the collection takes its step. With the `pipeline` builder, preempting
//! requests, and then the collection's step, follow a host command of their type through the cache register.
//!
//! A read may also suspend a step that is in the array (`suspension`).

mod suspension;

use crate::dispatch::index::place_of;
use crate::dispatch::order::{Class, Heads};
use crate::flash::command::{Command, FlashOp, Source};
use crate::flash::source::Account;
use crate::sim::index::{DieId, JobId, PlaneId, TxnId};
use crate::sim::invariant::hold;
use crate::sim::queue::EventQueue;
use crate::ssd::back_end::{BackEnd, Queue};
use crate::ssd::dies::die::PreemptionPoint;
use crate::ssd::dies::die_view::VisibleDie;
use crate::ssd::dies::issue::Readiness;
use crate::ssd::gc::step_partners::StepPartners;
use crate::tasks::gc::preemption::{Candidate, Fence, NextStep, PreemptionView, State, state_of};
use crate::tasks::gc::trigger::TriggerPolicy;
use crate::tasks::job::{Job, Step};

/// A search for the first waiting request that may preempt.
struct FirstQuery<'a> {
    view: &'a PreemptionView<'a>,
    /// Only requests with a smaller sequence number.
    before: u64,
    pairing: &'a StepPartners<'a>,
    /// The suspended command: no read of a block that it changes.
    suspended: Option<&'a Command>,
}

impl BackEnd {
    /// The die of a collection is visited: it may take the collection's next step, or host work that preempts. Returns
    /// whether something changed.
    pub(in crate::ssd) fn step_or_preempt(
        &mut self,
        die: DieId,
        id: JobId,
        readiness: Readiness,
        events: &mut EventQueue,
    ) -> bool {
        if readiness == Readiness::Busy {
            return self.suspend_or_resume(die, id, events);
        }
        if self.is_job_paused(id) {
            return self.take_beside_paused(die, readiness, events);
        }
        if self.scheme.settings.collection.steps_at_once {
            return readiness == Readiness::Ready && self.take_step(die, id, events);
        }
        let Some(step) = self.next_step(id) else { return self.fill_wait(die, id, readiness, events) };
        match self.dies[die].point() {
            PreemptionPoint::Polling => false,
            PreemptionPoint::Closed => {
                if readiness != Readiness::Ready {
                    return false;
                }
                if !self.begin_poll(die, step, events) {
                    self.open_point(die, events.now_ns());
                }
                true
            }
            PreemptionPoint::Open { since } => self.go_on(die, id, step, since, readiness, events),
        }
    }

    /// The time for which the controller polls the queue before a step.
    fn queue_poll_ns(&mut self, die: DieId, step: Step) -> u64 {
        let scan_ns = if matches!(step, Step::Read { .. }) { self.scheme.settings.compose.scan_ns } else { 0 };
        self.scheme.preemption.queue_poll_ns() + scan_ns + self.dies[die].take_poll_delay_ns()
    }

    /// The controller begins to poll a die's queue before a step. Returns whether that takes time.
    #[inline]
    pub(in crate::ssd) fn begin_poll(&mut self, die: DieId, step: Step, events: &mut EventQueue) -> bool {
        let queue_poll_ns = self.queue_poll_ns(die, step);
        if queue_poll_ns == 0 {
            return false;
        }
        self.dies[die].begin_poll();
        self.records.counters.on_queue_poll();
        self.flash.wait(die, queue_poll_ns, events);
        true
    }

    /// The poll of a die's queue is over, or its step is suspended. Returns whether the collection took its step.
    #[inline(never)]
    pub(in crate::ssd) fn on_poll_end(&mut self, die: DieId, events: &mut EventQueue) -> bool {
        if self.dies[die].point() != PreemptionPoint::Polling {
            self.mark_ready(die);
            return false;
        }
        self.open_point(die, events.now_ns());
        let id = self.dies[die].reserved_by();
        let step = self.next_step(id).expect("no step is under way");
        self.step_alone_at_point(die, id, step, events)
    }

    #[inline]
    pub(in crate::ssd) fn open_point(&mut self, die: DieId, now_ns: u64) {
        let since = self.txns.next_sequence();
        // The fields separately: the policy changes its own state while it reads the drive.
        let Self { scheme, dies, queues, txns, ftl, gc, geometry, .. } = self;
        scheme.preemption.on_point(&VisibleDie {
            now_ns,
            id: die,
            die: &dies[die],
            queues,
            txns,
            ftl,
            jobs: &gc.jobs,
            geometry,
        });
        self.dies[die].open_point(since);
    }

    /// Excludes the collection's plane if its next step requires that. Evaluated before each request that preempts: the
    /// request may overwrite all units that the collection had still to read, which changes the next step.
    fn exclude_planes(&mut self, die: DieId, id: JobId, step: Step) {
        let plane = self.gc.jobs[id].plane();
        let excluded = |is_write| {
            if self.scheme.preemption.excludes_plane(kind(step), is_write) { plane } else { PlaneId::NONE }
        };
        let planes = [excluded(false), excluded(true)];
        self.dies[die].exclude(planes);
    }

    /// A preemption point is open: host work that may preempt goes first, then the collection's step.
    fn go_on(
        &mut self,
        die: DieId,
        id: JobId,
        step: Step,
        since: u64,
        readiness: Readiness,
        events: &mut EventQueue,
    ) -> bool {
        let has_waiting = self.dies[die].waiting() > 0;
        if self.scheme.preemption.is_preemptive() && has_waiting {
            self.exclude_planes(die, id, step);
            let seen = self.visible_die(die, events.now_ns());
            let view = self.view(&seen, id, kind(step));
            let fence = self.fence(die, &view);
            let before = |is_write| {
                if fence.holds_back(is_write) { since } else { u64::MAX }
            };
            let pairing = StepPartners::of(self, die, Some(step));
            let asked =
                |is_write| FirstQuery { view: &view, before: before(is_write), pairing: &pairing, suspended: None };
            let read = self.first_admitted(die, Queue::Read, &asked(false));
            let write = self.first_admitted(die, Queue::Write, &asked(true));
            if let Some(class) = self.pick_class(die, &self.heads_of(read, write), events.now_ns()) {
                let took = self.take_first(die, class, read, write, readiness, events);
                if took {
                    self.records.counters.on_preemption();
                }
                return took;
            }
        }
        let follows = match readiness {
            Readiness::Ready => true,
            Readiness::CachedRead => matches!(step, Step::Read { .. }),
            Readiness::CachedProgram => {
                matches!(step, Step::Program { .. }) && !self.scheme.settings.collection.leaves_plane
            }
            Readiness::Busy => false,
        };
        if follows {
            self.dies[die].close_point();
            if readiness == Readiness::Ready && self.may_step_alone(die, id, step) {
                self.begin_lone_steps(die, id, step, events);
            } else {
                self.issue_step(die, id, step, events);
            }
        }
        follows
    }

    /// The requests that wait for the collection's next step, among those that arrive while requests preempt. All of
    /// them wait if the collection must not be delayed for ever: writes wait for its space, or the hard watermark
    /// prohibits writes until its end. If data goes to other dies, writes anywhere may wait for this collection, and
    /// other collections for moves that arrive here.
    fn fence(&self, die: DieId, view: &PreemptionView<'_>) -> Fence {
        let waits = self.dies[die].waiting_for_space() > 0 || self.moves_wait_for(die);
        let is_needed = view.state != State::AllAllowed || waits;
        if is_needed { Fence::All } else { self.scheme.preemption.fence() }
    }

    /// Issues host work of this class before the collection's step, if the die can take it now.
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
                self.check_hard_watermark(die, false);
                self.take_read(die, read.expect("the class has a head"), events);
            }
            (Class::Write, Readiness::Ready | Readiness::CachedProgram) => {
                self.check_hard_watermark(die, true);
                self.take_write(die, write.expect("the class has a head"), events);
            }
            _ => return false,
        }
        true
    }

    fn heads_of(&self, read: Option<TxnId>, write: Option<TxnId>) -> Heads {
        let came = |id: Option<TxnId>| id.map_or(u64::MAX, |id| self.txns[id].sequence);
        let txns = [None, read, write].map(|id| id.unwrap_or(TxnId::NONE));
        Heads { came: [u64::MAX, came(read), came(write)], txns, waited_before: 0 }
    }

    /// The collection's step is in progress on another die, or in this die's other register. Moves of other dies' jobs
    /// may use the free die. The host may, too, if the collection is preemptible at all.
    fn fill_wait(&mut self, die: DieId, id: JobId, readiness: Readiness, events: &mut EventQueue) -> bool {
        if readiness != Readiness::Ready {
            return false;
        }
        if self.head(die, Queue::Move).is_some() {
            self.take_move(die, events);
            return true;
        }
        if !self.scheme.preemption.is_preemptive() {
            return false;
        }
        let seen = self.visible_die(die, events.now_ns());
        let view = self.view(&seen, id, NextStep::Elsewhere);
        let pairing = StepPartners::of(self, die, None);
        let asked = FirstQuery { view: &view, before: u64::MAX, pairing: &pairing, suspended: None };
        let read = self.first_admitted(die, Queue::Read, &asked);
        let write = self.first_admitted(die, Queue::Write, &asked);
        match self.pick_class(die, &self.heads_of(read, write), events.now_ns()) {
            Some(class) => self.take_first(die, class, read, write, readiness, events),
            None => false,
        }
    }

    /// Checks that a command which is not a step of the die's collection may be issued now. Compares constants of the
    /// configuration with the policy's decision.
    #[inline(never)]
    pub(in crate::ssd) fn check_between_steps(&self, die: DieId, command: &Command) {
        let d = &self.dies[die];
        let job = &self.gc.jobs[d.reserved_by()];
        let may_go = match command.source.account() {
            Account::Host | Account::Map => {
                self.scheme.preemption.is_preemptive()
                    && (job.is_stepping() || matches!(d.point(), PreemptionPoint::Open { .. }))
            }
            _ => job.is_stepping(),
        };
        let may_go = may_go || self.is_job_paused(d.reserved_by());
        let (op, source) = (command.op, command.source);
        hold!(may_go, DieReservation, "{op:?} of {source:?} on {die:?}, which {:?} has", d.reserved_by());
        let is_excluded = self.scheme.settings.collection.excludes_at_register[usize::from(op != FlashOp::Read)]
            && self.holds_page(job);
        let uses_plane = (op == FlashOp::Read && self.scheme.settings.collection.excludes_all_reads)
            || command.parts().iter().any(|part| self.geometry.plane_of_flash(part.plane) == job.plane());
        hold!(!(is_excluded && uses_plane), PlaneExcluded, "{op:?} of {source:?} on {:?} of {die:?}", job.plane());
    }

    /// Whether a collection is between the read and the program of a page, or of its last units. Called when a command
    /// is bound, which may just have overwritten the units still to be read; those are therefore not checked.
    fn holds_page(&self, job: &Job) -> bool {
        let held = job.held().len();
        let is_whole = held >= self.geometry.units_per_page as usize;
        !job.is_stepping() && held > 0 && (is_whole || job.pending().is_empty())
    }

    /// Checks that a request may preempt a collection with so few free blocks.
    fn check_hard_watermark(&self, die: DieId, is_write: bool) {
        let free = self.free_of_collection(die);
        if free >= self.scheme.settings.collection.hard_watermark {
            return;
        }
        let is_urgent = self.queues.index().has_urgent_write(die);
        hold!(
            !(is_write || is_urgent || self.scheme.settings.collection.hard_stops_all),
            HardWatermark,
            "a request goes before the collection of {die:?}, write: {is_write}, urgent write waits: {is_urgent}, \
             with {free} free, below {}",
            self.scheme.settings.collection.hard_watermark
        );
    }

    fn view<'a>(&self, seen: &'a VisibleDie<'_>, id: JobId, step: NextStep) -> PreemptionView<'a> {
        let job = &self.gc.jobs[id];
        let pages_moved = (job.programmed() as u32).div_ceil(self.geometry.units_per_page);
        PreemptionView { state: self.collection_state(seen.id), step, pages_moved, now_ns: seen.now_ns, die: seen }
    }

    /// The state of collection of a die that collects (ispass11 Fig. 7). If each plane has a watermark, the lowest
    /// plane of the die counts: it is collected next, and each preempting request delays that, too.
    pub(in crate::ssd) fn collection_state(&self, die: DieId) -> State {
        let free = self.free_of_collection(die);
        let high_priority_waits = self.dies[die].high_priority_waiting() > 0;
        state_of(self.scheme.trigger.is_below_hard(free), high_priority_waits, self.scheme.preemption.at_hard())
    }

    /// The first request of a queue that may go before the collection's next step, and is not to be served by that
    /// step.
    fn first_admitted(&self, die: DieId, queue: Queue, asked: &FirstQuery) -> Option<TxnId> {
        self.head(die, queue)?;
        if queue == Queue::Write && !self.scheme.preemption.serves_writes() {
            return None;
        }
        let is_prohibited = match asked.view.state {
            State::AllAllowed => false,
            State::WritesProhibited => queue == Queue::Write,
            State::AllProhibited => true,
        };
        if is_prohibited {
            return None;
        }
        if queue == Queue::Write { self.first_write_admitted(die, asked) } else { self.first_read_admitted(die, asked) }
    }

    fn first_read_admitted(&self, die: DieId, asked: &FirstQuery) -> Option<TxnId> {
        // If no plane is excluded, the plane of a read does not matter.
        let minds_planes = self.scheme.preemption.excludes_plane(asked.view.step, false);
        let queued =
            self.queues.iter(self.queue(die, Queue::Read)).map(TxnId).take(self.scheme.settings.compose.gc_scan_max);
        queued.into_iter().find(|&id| {
            let plane = if minds_planes { self.plane_of_read(id) } else { PlaneId::NONE };
            self.txns[id].sequence < asked.before
                && self.may_go_first(id, false, plane, asked)
                && asked.suspended.is_none_or(|command| !self.is_read_of_block(id, command))
        })
    }

    /// [`Self::first_admitted`] among writes. Searches by plane, because the reason that delays one write to a plane
    /// mostly delays all. No write goes to the collection's plane if that is excluded.
    fn first_write_admitted(&self, die: DieId, asked: &FirstQuery) -> Option<TxnId> {
        let index = self.queues.index();
        let mut first: Option<TxnId> = None;
        let is_excluded = self.scheme.preemption.excludes_plane(asked.view.step, true);
        let excluded = if is_excluded { asked.pairing.own_plane() } else { PlaneId::NONE };
        for bound_to in self.geometry.planes_of(die).chain([PlaneId::NONE]) {
            if bound_to.is_some() && bound_to == excluded {
                continue;
            }
            let mut writes = index.writes_to(die, bound_to).peekable();
            if writes.peek().is_none() {
                continue;
            }
            let plane = if bound_to.is_some() { bound_to } else { self.open_plane(die) };
            let has_room = || bound_to.is_some() || self.host_pages_left(plane) > 0;
            if !has_room() || asked.pairing.takes_writes_to(bound_to) {
                continue;
            }
            let mut writes = writes.take_while(|&id| first.is_none_or(|first| index.turn(id) < index.turn(first)));
            let found =
                writes.find(|&id| self.txns[id].sequence < asked.before && self.may_go_first(id, true, plane, asked));
            first = found.or(first);
        }
        first
    }

    /// Whether the policy lets a request on a plane preempt, and the collection's next step will not serve the request.
    fn may_go_first(&self, id: TxnId, is_write: bool, plane: PlaneId, asked: &FirstQuery) -> bool {
        let is_on_its_plane = plane == asked.pairing.own_plane();
        let candidate = Candidate { is_write, is_on_its_plane, arrival_ns: self.txns[id].arrival_ns };
        self.scheme.preemption.admits(asked.view, candidate) && !asked.pairing.takes(id)
    }

    /// The plane that a waiting read would use now. A read whose data is gone or has left the die uses none, and counts
    /// as a read of a plane that is not excluded.
    pub(in crate::ssd) fn plane_of_read(&self, id: TxnId) -> PlaneId {
        let place = place_of(&self.txns[id], |unit| self.ftl.lookup(unit));
        place.map_or(PlaneId::NONE, |place| self.geometry.plane_of(self.geometry.block_of(place)))
    }

    /// A collection ended in a state that prohibited preemption: the write of high priority that caused this state goes
    /// before the next collection. Returns whether it was issued.
    #[inline(never)]
    pub(in crate::ssd) fn serve_high_priority(
        &mut self,
        die: DieId,
        readiness: Readiness,
        events: &mut EventQueue,
    ) -> bool {
        let Some(id) = self.queues.index().first_urgent_write(die) else {
            // It may still wait for the window; if it waits for space, only a collection can serve it.
            let in_front = self.queues.iter(self.queues.for_window(die, Source::HOST)).map(TxnId);
            let defers = in_front.into_iter().any(|id| self.is_high_priority_write(id));
            self.dies[die].defer_to_high_priority(defers);
            return false;
        };
        if readiness != Readiness::Ready {
            return false;
        }
        // The write is bound before writes that arrived earlier.
        self.map.newest.track();
        self.dies[die].defer_to_high_priority(false);
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
