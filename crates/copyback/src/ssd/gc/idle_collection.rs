//! Idleness: collection ahead of need, while the drive has nothing to do.
//!
//! A drive is idle from the end of its last transaction; collection starts when that has lasted for as long as the
//! trigger says, on each die the plane with the fewest free blocks first, and goes on collection after collection until
//! the watermark is reached or a request arrives. The collection under way then goes on as it would at any other time.

use crate::sim::index::DieId;
use crate::sim::queue::EventQueue;
use crate::ssd::drive::Drive;
use crate::tasks::gc::trigger::idle::Idle;
use crate::tasks::gc::trigger::{Start, TriggerPolicy};

impl Drive {
    /// Whether it serves or queues anything.
    pub(crate) fn serves(&self) -> bool {
        // What ends while dies are looked at is done, and nobody has taken it yet.
        self.txns.live() > self.done.len()
    }

    /// Something changed: the drive may have fallen idle, or have been woken.
    pub(in crate::ssd) fn time_idleness(&mut self, events: &mut EventQueue) {
        let Some(idle) = self.trigger.idle() else { return };
        let timer = self.idle_timer();
        // A read whose data was trimmed ends while dies are looked at, and nobody looks again.
        if self.serves() {
            if self.idle_since_ns.take().is_some() && events.is_pending(timer) {
                events.cancel(timer);
            }
        } else if self.idle_since_ns.is_none() && !self.is_host_done {
            self.idle_since_ns = Some(events.now_ns());
            events.schedule(timer, idle.begins_ns(events.now_ns()));
        }
    }

    /// The host has no more requests: collections from now on would serve nobody.
    pub(crate) fn end_idleness(&mut self, events: &mut EventQueue) {
        self.is_host_done = true;
        let timer = self.idle_timer();
        if self.idle_since_ns.take().is_some() && events.is_pending(timer) {
            events.cancel(timer);
        }
    }

    /// The drive has been idle for long enough.
    pub(in crate::ssd) fn on_idle(&mut self, events: &mut EventQueue) {
        for die in (0..self.geometry.dies).map(DieId) {
            self.collect_while_idle(die, events);
        }
    }

    /// Whether the drive has been idle for as long as the trigger asks for.
    fn is_idle(&self, idle: Idle, now_ns: u64) -> bool {
        self.txns.live() == 0 && self.idle_since_ns.is_some_and(|since_ns| now_ns >= idle.begins_ns(since_ns))
    }

    /// Starts collection on the plane of a die that needs it most, where the drive is idle and the die collects
    /// nothing.
    pub(in crate::ssd) fn collect_while_idle(&mut self, die: DieId, events: &mut EventQueue) {
        let Some(idle) = self.trigger.idle().filter(|&idle| self.is_idle(idle, events.now_ns())) else { return };
        while !self.has_job(die) {
            let Some(lowest) = self.lowest_that(die, |p| idle.wants_plane(self.free_of(p))) else { return };
            let free = self.free_of(lowest);
            self.start_collection(lowest, Start::Idle, events);
            // Collection without time is done already, and goes on while it frees blocks.
            if self.preemption.is_timeless() && self.free_of(lowest) <= free {
                return;
            }
        }
    }
}
