//! The path through DRAM: sub-requests that wait for space in a buffer, pages that leave it, and operations that end
//! there.

use crate::buffer::Leaving;
use crate::dispatch::txn::{Role, Txn};
use crate::host::splitter::SubRequest;
use crate::observe::report::Cause;
use crate::sim::index::{DieId, LogicalUnit, PlaneId, RequestId, TxnId};
use crate::sim::queue::{EventQueue, Timer};
use crate::ssd::drive::Ssd;
use crate::ssd::requests::eviction_waits::{FreedSpace, OperationTime, WaitBreakdown};
use crate::ssd::requests::request_states::Completion;
use std::collections::VecDeque;

/// An operation of a request that ends in DRAM at a known time.
struct InDram {
    end_ns: u64,
    start_ns: u64,
    request: RequestId,
    /// The breakdown of its wait for room.
    waited: WaitBreakdown,
}

/// A sub-request of a write that waits for room in the buffer.
struct WaitingSubRequest {
    request: RequestId,
    sub_request: SubRequest,
    since_ns: u64,
    /// The total time of evictions that had ended at `since_ns`.
    before: OperationTime,
}

/// The DRAM of a drive.
pub(in crate::ssd) struct HostDram {
    /// The time of an access; 0 without a buffer.
    latency_ns: u64,
    waiting: VecDeque<WaitingSubRequest>,
    /// The sum of units of those sub-requests.
    waiting_units: u64,
    /// The total time of all ended evictions.
    ended_time: OperationTime,
    /// The operations in DRAM in the order of their ends, because every access takes the same time.
    inside: VecDeque<InDram>,
    /// The timer of the next end.
    timer: Timer,
    /// Whether the timer came up, and not all operations that end with it were taken.
    is_due: bool,
    /// The timer of a time without requests.
    idle_timer: Timer,
    /// The arrival of the last request.
    used_at_ns: u64,
}

impl HostDram {
    pub(in crate::ssd) fn new(latency_ns: u64, timer: Timer, idle_timer: Timer) -> Self {
        Self {
            latency_ns,
            waiting: VecDeque::new(),
            waiting_units: 0,
            ended_time: OperationTime::default(),
            inside: VecDeque::new(),
            timer,
            is_due: false,
            idle_timer,
            used_at_ns: 0,
        }
    }
}

/// A write of units that leave the buffer.
fn leaving(first: LogicalUnit, units: u32, now_ns: u64) -> Txn {
    Txn { arrival_ns: now_ns, ..Txn::new(Role::Evict, first, units, DieId::NONE, PlaneId::NONE) }
}

impl HostDram {
    /// Whether data read from flash takes time in DRAM on its way to the host.
    #[inline(always)]
    pub(in crate::ssd) fn delays_reads(&self) -> bool {
        self.latency_ns > 0
    }

    /// Whether operations end now that were not all taken.
    #[inline(always)]
    pub(in crate::ssd) fn is_due(&self) -> bool {
        self.is_due
    }

    /// The timer of the next end came up.
    pub(in crate::ssd) fn come_due(&mut self) {
        self.is_due = true;
    }
}

impl Ssd {
    pub(in crate::ssd) fn write_to_buffer(&mut self, id: RequestId, sub_request: SubRequest, events: &mut EventQueue) {
        // The rest of a partly written unit is merged in DRAM: the request waits for the read and the write.
        for unit in self.units_to_update(sub_request) {
            self.submit_read(Role::UpdateRead, id, unit, 1, events);
        }
        self.requests.open(id);
        let waiting =
            WaitingSubRequest { request: id, sub_request, since_ns: events.now_ns(), before: self.dram.ended_time };
        self.dram.waiting.push_back(waiting);
        self.dram.waiting_units += u64::from(sub_request.units);
        self.fill_buffer(None, events);
    }

    /// Lets waiting sub-requests into the buffer, in order. Evicts pages while `Buffer::must_evict` requires it: until
    /// all waiting sub-requests fit, and then until the low-water mark, or until the buffer is empty in idle time.
    /// `evicted`: the eviction that has just made room.
    fn fill_buffer(&mut self, evicted: Option<&FreedSpace>, events: &mut EventQueue) {
        loop {
            if self.enter_buffer(evicted, events) {
                continue;
            }
            let (dram, Some(buffer)) = (&self.dram, &mut self.back_end.host_side.buffer) else { return };
            if !buffer.must_evict(dram.waiting_units) {
                return;
            }
            let set = buffer.next_set();
            if set.is_empty() {
                return;
            }
            // Each superpage has a command of its own.
            if self.back_end.looks_up() && !self.back_end.geometry().has_superpages() {
                let now_ns = events.now_ns();
                let runs = set.pages().iter().flat_map(|page| page.runs());
                self.back_end.look_up_together(runs.map(|(first, units)| leaving(first, units, now_ns)), events);
                continue;
            }
            for page in set.pages() {
                self.evict(*page, events);
            }
        }
    }

    /// Lets the first waiting sub-request into the buffer, if there is one and room for it.
    fn enter_buffer(&mut self, evicted: Option<&FreedSpace>, events: &mut EventQueue) -> bool {
        let Some(sub_request) = self.dram.waiting.front().map(|waiting| waiting.sub_request) else { return false };
        let home = self.back_end.home(sub_request.first);
        let (dram, Some(buffer)) = (&mut self.dram, &mut self.back_end.host_side.buffer) else { return false };
        let Some(hits) = buffer.insert(sub_request.first, sub_request.units, home) else { return false };
        self.units.on_buffer_write_hits(hits);
        dram.waiting_units -= u64::from(sub_request.units);
        let waiting = dram.waiting.pop_front().expect("it was looked at");
        self.requests.close(waiting.request);
        let waited_ns = events.now_ns() - waiting.since_ns;
        let explain = |evicted: &FreedSpace| evicted.explain_wait(waited_ns, &dram.ended_time, &waiting.before);
        let waited = evicted.map(explain).unwrap_or_default();
        self.enter_dram(waiting.request, waiting.since_ns, waited, events);
        true
    }

    /// A request arrived at a drive whose buffer is emptied in idle time.
    pub(in crate::ssd) fn note_use(&mut self, events: &mut EventQueue) {
        let Some(buffer) = &mut self.back_end.host_side.buffer else { return };
        let Some(after_ns) = buffer.idle_after_ns() else { return };
        buffer.end_idle();
        self.dram.used_at_ns = events.now_ns();
        // If the timer is pending, it detects this request when it comes up.
        if !events.is_pending(self.dram.idle_timer) {
            events.schedule(self.dram.idle_timer, events.now_ns() + after_ns);
        }
    }

    /// The timer came up: if no request has arrived for long enough, all pages leave the buffer.
    pub(in crate::ssd) fn on_unused(&mut self, events: &mut EventQueue) {
        let Some(buffer) = &mut self.back_end.host_side.buffer else { return };
        let idle_ns = self.dram.used_at_ns + buffer.idle_after_ns().expect("the timer was set");
        if events.now_ns() < idle_ns {
            return events.schedule(self.dram.idle_timer, idle_ns);
        }
        buffer.begin_idle();
        self.fill_buffer(None, events);
    }

    /// The largest number of transactions that the drive had at once.
    pub fn peak_transactions(&self) -> usize {
        self.back_end.txns.entries()
    }

    /// The most transactions that a search with the limit `compose.scan_max` examined. If the limit ended a search,
    /// this is one more than the limit.
    pub fn longest_search(&self) -> usize {
        self.back_end.queues.longest_search() as usize
    }

    /// Whether the drive has a buffer that evicted pages because waiting units did not fit.
    pub fn has_filled_buffer(&self) -> bool {
        self.back_end.host_side.buffer.as_ref().is_some_and(|buffer| buffer.was_full())
    }

    /// Whether the drive has a buffer, and was without a request for its `idle_after`.
    pub fn was_buffer_idle(&self) -> bool {
        self.back_end.host_side.buffer.as_ref().is_some_and(|buffer| buffer.was_idle())
    }

    /// No page leaves the buffer ahead of need any more.
    pub(in crate::ssd) fn end_early_evictions(&mut self, events: &mut EventQueue) {
        let Some(buffer) = &mut self.back_end.host_side.buffer else { return };
        buffer.end_early_evictions();
        if events.is_pending(self.dram.idle_timer) {
            events.cancel(self.dram.idle_timer);
        }
    }

    /// Writes the units of a logical page that leave the buffer.
    fn evict(&mut self, page: Leaving, events: &mut EventQueue) {
        let now_ns = events.now_ns();
        if self.back_end.geometry().has_superpages() {
            let (first, mask) = page.units();
            let mut txn = leaving(first, 0, now_ns);
            self.take_superpage(&mut txn, |unit| mask >> (unit.0 - first.0) & 1 == 1);
            let reads = self.others_held(&txn);
            self.submit_after(txn, reads, events);
            return;
        }
        for (first, units) in page.runs() {
            self.submit_after(leaving(first, units, now_ns), 0, events);
        }
    }

    /// Units that left the buffer are in flash: their room is free for waiting sub-requests. `others` (a bit each) were
    /// written with them, but did not leave the buffer.
    pub(in crate::ssd) fn on_evicted(
        &mut self,
        first: LogicalUnit,
        (units, others): (u32, u32),
        evicted: &FreedSpace,
        events: &mut EventQueue,
    ) {
        self.back_end.host_side.buffer.as_mut().expect("only a buffer evicts").ended(first, units, others);
        self.dram.ended_time.add(&evicted.time);
        self.fill_buffer(Some(evicted), events);
    }

    /// An operation of a request is in DRAM, and ends after the time of an access.
    pub(in crate::ssd) fn enter_dram(
        &mut self,
        request: RequestId,
        start_ns: u64,
        waited: WaitBreakdown,
        events: &mut EventQueue,
    ) {
        let dram = &mut self.dram;
        let end_ns = events.now_ns() + dram.latency_ns;
        self.requests.open(request);
        if dram.inside.is_empty() {
            events.schedule(dram.timer, end_ns);
        }
        dram.inside.push_back(InDram { end_ns, start_ns, request, waited });
    }

    /// Data that a request read from flash passes through DRAM.
    #[inline(never)]
    pub(in crate::ssd) fn pass_through_dram(&mut self, id: TxnId, events: &mut EventQueue) {
        let txn = self.back_end.txn(id);
        let (request, arrival_ns) = (txn.request, txn.arrival_ns);
        let waited = WaitBreakdown { breakdown_ns: txn.breakdown_ns, gc_affected: txn.gc_affected };
        self.back_end.remove_txn(id);
        self.enter_dram(request, arrival_ns, waited, events);
        self.requests.close(request);
    }

    /// The next request that completes with an operation that ends in DRAM at this moment.
    pub(in crate::ssd) fn end_in_dram(&mut self, events: &mut EventQueue) -> Option<Completion> {
        let now_ns = events.now_ns();
        while self.dram.inside.front().is_some_and(|d| d.end_ns <= now_ns) {
            let part = self.dram.inside.pop_front().expect("it was looked at");
            let WaitBreakdown { mut breakdown_ns, gc_affected } = part.waited;
            let explained_ns: u64 = breakdown_ns.iter().sum();
            breakdown_ns[Cause::Buffer as usize] += now_ns - part.start_ns - explained_ns;
            breakdown_ns[Cause::Scheduler as usize] += part.start_ns - self.requests.state_of(part.request).arrival_ns;
            let done = self.requests.end(part.request, gc_affected, &breakdown_ns);
            if done.is_some() {
                return done;
            }
        }
        self.dram.is_due = false;
        if let Some(next) = self.dram.inside.front() {
            events.schedule(self.dram.timer, next.end_ns);
        }
        None
    }
}
