//! Collections that are preempted before their steps: by points (ispass11) and by deadline (HIOS).

use super::collection::Step;
use super::commands::Takes;
use super::known::{compose_of, trigger_of};
use super::{Oracle, time_of};
use copyback::dispatch::compose::GcBuilderName;
use copyback::dispatch::order::OrderConfig;
use copyback::ftl::victim::VictimConfig;
use copyback::tasks::gc::preemption::points::{AtRegister, Serves};
use copyback::tasks::gc::preemption::{AtHard, Fence, PreemptionConfig};
use copyback::tasks::gc::preemption::{deadline, points, suspend};

/// The state of a die between two steps of its collection.
#[derive(Clone, Copy, Default)]
pub(super) enum PreemptionPoint {
    /// The queue was not polled yet.
    #[default]
    Closed,
    /// The controller polls it until then.
    Polling(u64),
    /// Requests may preempt.
    Open {
        /// Requests with this number or a later one arrived after the point had opened.
        before: usize,
    },
}

/// The requests that may preempt, by free blocks (ispass11 Fig. 7).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum State {
    All,
    Reads,
    Nothing,
}

impl Oracle<'_> {
    pub(super) fn is_preemptive(&self) -> bool {
        self.config.preemption.lets_host_first()
    }

    pub(super) fn has_gc_builder(&self, name: GcBuilderName) -> bool {
        let compose = compose_of(self.config);
        compose.gc.contains(&name)
    }

    /// Whether commands of a collection and of preempting host requests follow each other through the cache register.
    pub(super) fn pipelines(&self) -> bool {
        self.has_gc_builder(GcBuilderName::Pipeline)
    }

    /// Whether nothing may come between two steps, not even time.
    pub(super) fn steps_follow_at_once(&self) -> bool {
        let has_choice = matches!(self.config.victim, VictimConfig::ReadMatch(_));
        !self.is_preemptive() && self.queue_poll_ns(Step::Read) == 0 && !has_choice
    }

    /// Time of the queue poll before a step.
    fn queue_poll_ns(&self, step: Step) -> u64 {
        let compose = compose_of(self.config);
        let poll_ns = match &self.config.preemption {
            PreemptionConfig::Points(p) => p.poll.0,
            PreemptionConfig::Suspend(p) => p.poll.0,
            PreemptionConfig::Deadline(p) => p.poll.0,
            _ => 0,
        };
        let looks_for_partners = step == Step::Read && self.has_gc_builder(GcBuilderName::GcHost);
        poll_ns + if looks_for_partners { compose.gc_scan.0 } else { 0 }
    }

    /// The die of a collection can take a command: a preempting host request, or the collection's next step. Returns
    /// whether something changed.
    pub(super) fn step_or_preempt(&mut self, die: usize, takes: Takes) -> bool {
        if self.steps_follow_at_once() {
            self.take_step(die);
            return true;
        }
        let step = self.next_step(die);
        match self.dies[die].point {
            PreemptionPoint::Polling(_) => false,
            PreemptionPoint::Closed if takes != Takes::Anything => false,
            PreemptionPoint::Closed => {
                let queue_poll_ns = self.queue_poll_ns(step) + std::mem::take(&mut self.dies[die].choice_ns);
                if queue_poll_ns > 0 {
                    self.result.counts.polls += 1;
                    self.dies[die].point = PreemptionPoint::Polling(self.now_ns + queue_poll_ns);
                } else {
                    self.open_point(die);
                }
                true
            }
            PreemptionPoint::Open { before } => self.go_on(die, step, before, takes),
        }
    }

    pub(super) fn open_point(&mut self, die: usize) {
        self.dies[die].point = PreemptionPoint::Open { before: self.sequences };
        self.change(die);
    }

    fn go_on(&mut self, die: usize, step: Step, before: usize, takes: Takes) -> bool {
        if let Some((is_read, txn)) = self.goes_first(die, step, before) {
            let fits = takes == Takes::Anything || takes == if is_read { Takes::Read } else { Takes::Program };
            if fits {
                self.result.counts.preemptions += 1;
                self.dies[die].reserved_by.as_mut().expect("a collection has the die").was_preempted = true;
                if is_read { self.issue_read(die, txn) } else { self.issue_write(die, txn) }
            }
            return fits;
        }
        let follows = match takes {
            Takes::Anything => true,
            Takes::Read => step == Step::Read,
            Takes::Program => step == Step::Program,
            Takes::Nothing => false,
        };
        if follows {
            self.dies[die].point = PreemptionPoint::Closed;
            self.take_step(die);
        }
        follows
    }

    /// The first read or the first write that may go before the step, in the order of the classes.
    fn goes_first(&self, die: usize, step: Step, before: usize) -> Option<(bool, usize)> {
        let compose = compose_of(self.config);
        let d = &self.dies[die];
        let first = |queue: &[usize]| {
            let mut seen = queue.iter().copied().take(compose.gc_scan_max as usize);
            seen.find(|&txn| !self.is_fenced(die, txn, before) && self.may_go_first(die, txn, step))
        };
        let heads = [(true, first(&d.reads)), (false, first(&d.writes))];
        let mut heads: Vec<(bool, usize)> =
            heads.into_iter().filter_map(|(is_read, txn)| Some((is_read, txn?))).collect();
        if matches!(self.config.order, OrderConfig::Fifo(_)) {
            heads.sort_by_key(|&(_, txn)| self.txns[txn].sequence);
        }
        heads.first().copied()
    }

    /// Whether a request arrived after the point had opened and has to wait for the next one. Below the hard watermark,
    /// and if a write waits for space, all later requests have to.
    pub(super) fn is_fenced(&self, die: usize, txn: usize, before: usize) -> bool {
        let fence = match &self.config.preemption {
            PreemptionConfig::Points(points) => points.fence,
            PreemptionConfig::Suspend(points) => points.fence,
            PreemptionConfig::Deadline(deadline) => deadline.fence,
            _ => Fence::All,
        };
        let waits_for_space = self.planes_of(die).any(|plane| !self.planes[plane].waiting.is_empty());
        let is_closed = waits_for_space || self.state(die) != State::All;
        let is_held = match fence {
            Fence::None => is_closed,
            Fence::Writes => is_closed || !self.txns[txn].is_read,
            Fence::All => true,
        };
        is_held && self.txns[txn].sequence >= before
    }

    fn may_go_first(&self, die: usize, txn: usize, step: Step) -> bool {
        let is_write = !self.txns[txn].is_read;
        let is_allowed = match self.state(die) {
            State::All => true,
            State::Reads => !is_write,
            State::Nothing => false,
        };
        is_allowed
            && !self.is_left_to_collection(die, txn, step)
            && !self.will_be_merged(die, txn, step)
            && match &self.config.preemption {
                PreemptionConfig::Points(points::Params { serves, .. })
                | PreemptionConfig::Suspend(suspend::Params { serves, .. }) => {
                    let is_served = !is_write || *serves == Serves::All;
                    is_served && !self.is_excluded(die, self.plane_now(txn), is_write, step)
                }
                PreemptionConfig::Deadline(params) => self.would_be_late(die, txn, step, params),
                _ => false,
            }
    }

    /// The plane that a transaction would use; none if no unit of it remains.
    fn plane_now(&self, txn: usize) -> Option<usize> {
        let t = &self.txns[txn];
        if t.is_read { t.units.iter().find_map(|unit| Some(self.place_of.get(unit)?.plane)) } else { Some(t.plane) }
    }

    /// Whether a request waits because a moved page, between its read and its program, is in a register (point (1)).
    fn is_excluded(&self, die: usize, plane: Option<usize>, is_write: bool, step: Step) -> bool {
        let own = self.dies[die].reserved_by.as_ref().map(|job| job.plane);
        let at_register = match &self.config.preemption {
            PreemptionConfig::Points(points) => points.at_register,
            PreemptionConfig::Suspend(points) => points.at_register,
            _ => return false,
        };
        let is_there = own.is_some() && plane == own;
        let waits = match at_register {
            AtRegister::Reads => !is_write && is_there,
            AtRegister::AllReads => !is_write,
            AtRegister::Plane => is_there,
            AtRegister::None => false,
        };
        step == Step::Program && waits
    }

    /// Whether the plane is excluded for a partner of a preempting request.
    pub(super) fn excludes_partner(&self, die: usize, plane: usize, is_write: bool) -> bool {
        let is_open = matches!(self.dies[die].point, PreemptionPoint::Open { .. });
        is_open && self.is_excluded(die, Some(plane), is_write, self.step_of(die))
    }

    /// By deadline: whether the request's own command would end after its deadline if the collection's next chunk
    /// preceded it. Times are those of a block's first page.
    fn would_be_late(&self, die: usize, txn: usize, step: Step, params: &deadline::Params) -> bool {
        let timing = &self.config.timing;
        let per_page = self.config.geometry.units_per_page() as usize;
        let on_channel_ns = timing.command.0 + self.data_ns(per_page);
        let read_ns = time_of(&timing.read.list(), 0) + on_channel_ns;
        let write_ns = time_of(&timing.program.list(), 0) + on_channel_ns;
        let pages_moved =
            self.dies[die].reserved_by.as_ref().expect("a collection has the die").programmed.div_ceil(per_page);
        let next_ns = match step {
            Step::Erase => timing.command.0 + timing.erase.0,
            Step::Read if pages_moved.is_multiple_of(params.chunk as usize) => {
                u64::from(params.chunk) * (read_ns + write_ns + 2 * params.poll.0)
            }
            // Inside a chunk.
            Step::Read | Step::Program => return false,
        };
        let t = &self.txns[txn];
        let (own_ns, time_ns) =
            if t.is_read { (read_ns, params.read_deadline.0) } else { (write_ns, params.write_deadline.0) };
        self.now_ns + next_ns + own_ns > t.arrival_ns.saturating_add(time_ns)
    }

    // ---- the hard watermark ---------------------------------------------------------------------------------------

    /// The requests that may preempt at a die: its plane with the least free space decides.
    pub(super) fn state(&self, die: usize) -> State {
        let trigger = trigger_of(self.config);
        let soft = trigger.soft.of(self.config.geometry.blocks_per_plane);
        let hard = trigger.hard.of(soft) as usize;
        let is_low = self.planes_of(die).any(|plane| self.planes[plane].is_below(hard, trigger.count));
        let stops_all = match &self.config.preemption {
            PreemptionConfig::Points(points) => points.at_hard == AtHard::All,
            PreemptionConfig::Suspend(points) => points.at_hard == AtHard::All,
            _ => true,
        };
        match is_low {
            false => State::All,
            true if stops_all || self.urgent_write_waits(die) => State::Nothing,
            true => State::Reads,
        }
    }

    /// Whether a write of high priority waits in the die's queue, for a slot of its window, or for space.
    fn urgent_write_waits(&self, die: usize) -> bool {
        let d = &self.dies[die];
        let for_space = self.planes_of(die).flat_map(|plane| &self.planes[plane].waiting);
        let mut waiting = d.writes.iter().chain(&d.outside).chain(for_space);
        waiting.any(|&txn| self.is_urgent_write(txn))
    }

    fn is_urgent_write(&self, txn: usize) -> bool {
        self.txns[txn].is_urgent && !self.txns[txn].is_read
    }

    /// Whether no request may preempt at the end of a collection while a write of high priority waits: that write then
    /// precedes the next collection.
    pub(super) fn will_defer(&self, die: usize) -> bool {
        self.is_preemptive() && self.state(die) == State::Nothing && self.urgent_write_waits(die)
    }

    /// Serves the write to which collection defers; returns whether it did. If the write waits for space, only a
    /// collection can help it.
    pub(super) fn serve_urgent(&mut self, die: usize, takes: Takes) -> bool {
        let d = &self.dies[die];
        let Some(urgent) = d.writes.iter().copied().find(|&txn| self.is_urgent_write(txn)) else {
            self.dies[die].defers = d.outside.iter().any(|&txn| self.is_urgent_write(txn));
            return false;
        };
        if takes != Takes::Anything {
            return false;
        }
        self.dies[die].defers = false;
        self.issue_write(die, urgent);
        true
    }
}
