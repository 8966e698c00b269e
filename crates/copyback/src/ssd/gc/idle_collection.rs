//! Idle collection: an idle drive collects before a watermark requires it.
//!
//! A drive is idle from the end of its last transaction on. Collection starts when the drive has been idle for as long
//! as the trigger requires. On each die it starts on the plane with the fewest free blocks, and continues until the
//! watermark of idle collection (`trigger.idle.stop`) is reached or a request arrives. The collection in progress then
//! continues as at any other time.

use crate::sim::index::DieId;
use crate::sim::queue::{EventQueue, Timer};
use crate::ssd::back_end::BackEnd;
use crate::tasks::gc::trigger::idle::Idle;
use crate::tasks::gc::trigger::{Start, TriggerPolicy};

/// The time for which a drive has been idle.
pub(in crate::ssd) struct Idleness {
    /// The timer for the moment at which the drive has been idle for as long as the trigger requires.
    timer: Timer,
    /// When the drive became idle, if the trigger uses idleness. Invariant: `None` once the host is done.
    since_ns: Option<u64>,
    /// No more requests will come.
    is_host_done: bool,
}

impl Idleness {
    pub fn new(timer: Timer) -> Self {
        Self { timer, since_ns: None, is_host_done: false }
    }

    /// Whether the host has no more requests.
    #[inline]
    pub fn is_host_done(&self) -> bool {
        self.is_host_done
    }

    /// Something changed: the drive may have become idle or busy.
    fn update(&mut self, is_serving: bool, idle: Idle, events: &mut EventQueue) {
        if is_serving {
            self.end(events);
        } else if self.since_ns.is_none() && !self.is_host_done {
            self.since_ns = Some(events.now_ns());
            events.schedule(self.timer, idle.begins_ns(events.now_ns()));
        }
    }

    /// The host has no more requests.
    fn end_host(&mut self, events: &mut EventQueue) {
        self.is_host_done = true;
        self.end(events);
    }

    fn end(&mut self, events: &mut EventQueue) {
        if self.since_ns.take().is_some() && events.is_pending(self.timer) {
            events.cancel(self.timer);
        }
    }

    /// Whether the idle time is as long as the trigger requires.
    fn has_lasted(&self, idle: Idle, now_ns: u64) -> bool {
        self.since_ns.is_some_and(|since_ns| now_ns >= idle.begins_ns(since_ns))
    }
}

impl BackEnd {
    /// Whether the drive serves or queues any transaction.
    pub(crate) fn serves(&self) -> bool {
        // A transaction that ends while dies are visited is done, but was not taken yet.
        self.txns.live() > self.host_side.endings.count()
    }

    /// Something changed: the drive may have become idle or busy.
    pub(in crate::ssd) fn time_idleness(&mut self, events: &mut EventQueue) {
        let Some(idle) = self.scheme.trigger.idle() else { return };
        // A read whose data was trimmed ends while dies are visited; no event follows.
        let is_serving = self.serves();
        self.gc.idleness.update(is_serving, idle, events);
    }

    /// The host has no more requests: idle collections and background tasks start no more, because no request would
    /// benefit.
    pub(crate) fn end_idleness(&mut self, events: &mut EventQueue) {
        self.gc.idleness.end_host(events);
        self.end_background(events);
    }

    /// The drive has been idle for as long as the trigger requires.
    pub(in crate::ssd) fn on_idle(&mut self, events: &mut EventQueue) {
        for die in (0..self.geometry.dies).map(DieId) {
            self.collect_while_idle(die, events);
        }
    }

    /// Whether the drive has been idle for as long as the trigger requires.
    fn is_idle(&self, idle: Idle, now_ns: u64) -> bool {
        self.txns.live() == 0 && self.gc.idleness.has_lasted(idle, now_ns)
    }

    /// Starts collection on the neediest plane of a die, if the drive is idle and the die has no job.
    pub(in crate::ssd) fn collect_while_idle(&mut self, die: DieId, events: &mut EventQueue) {
        let Some(idle) = self.scheme.trigger.idle().filter(|&idle| self.is_idle(idle, events.now_ns())) else { return };
        while !self.has_job(die) {
            let Some(lowest) = self.lowest_that(die, |p| idle.wants_plane(self.free_of(p))) else { return };
            let free = self.free_of(lowest);
            self.start_collection(lowest, Start::Idle, events);
            // Collection without time is complete already; it continues while it frees blocks.
            if self.scheme.preemption.is_timeless() && self.free_of(lowest) <= free {
                return;
            }
        }
    }
}
