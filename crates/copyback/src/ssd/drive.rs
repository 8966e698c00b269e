//! A whole SSD: a back end, the DRAM in front of it, and its requests.
//!
//! The host begins the run, begins a request, submits its sub-requests or trims (while the drive is not full), and
//! states their end. After everything that it submitted, and after each event, it takes the completed requests, and
//! lets marked dies (those that an event has changed) take work. It states that no more requests come.
//! `run::simulation` is one such host; `tests/it/own_event_loop.rs` shows the least that another one needs. The parts
//! are in `requests`: `sub_requests` (reads and writes of flash), `write_buffer`, and `request_states` (arrival,
//! priority and open operations of each request).
//!
//! The timers of an SSD are in this order: DRAM, the drive's alarms, the drive's flash. If two of them are due at one
//! moment, DRAM is handled first. If a run has several SSDs, each handles all its events of a moment, flash included,
//! before the DRAM of the next SSD. In an open loop, no SSD can observe that others exist: they change only the order
//! in which the host processes completions of one moment. In a closed loop, the host may therefore begin its next
//! request before or after other events of the same moment.

use super::alarms::{ALARMS, Alarm, Alarms, Timers};
use super::back_end::BackEnd;
use super::config::SsdConfig;
use super::requests::eviction_waits::FreedSpace;
use super::requests::request_states::{RequestState, RequestStates};
use super::requests::served_units::ServedUnits;
use super::requests::write_buffer::HostDram;
use crate::buffer::Buffer;
use crate::dispatch::txn::Role;
use crate::flash::geometry::Geometry;
use crate::ftl::core::Ftl;
use crate::host::TRANSACTIONS_MAX;
use crate::host::config::SubpageWrites;
use crate::host::splitter::SubRequest;
use crate::sim::index::{LogicalUnit, RequestId, TxnId};
use crate::sim::queue::{EventQueue, Timer, kind};
use copyback_workload::{Op, Priority};

pub use super::requests::request_states::Completion;

/// Units that the host accessed, by the place where they were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnitCounts {
    /// Units that the host read.
    pub read: u64,
    /// Read units that held no data.
    pub unwritten_read: u64,
    /// Units that reads found in the buffer.
    pub buffer_read_hits: u64,
    /// Units that writes found in the buffer.
    pub buffer_write_hits: u64,
}

impl UnitCounts {
    /// Combines two counts, for example as a sum or a difference.
    #[must_use]
    pub fn zip(self, other: Self, with: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            read: with(self.read, other.read),
            unwritten_read: with(self.unwritten_read, other.unwritten_read),
            buffer_read_hits: with(self.buffer_read_hits, other.buffer_read_hits),
            buffer_write_hits: with(self.buffer_write_hits, other.buffer_write_hits),
        }
    }
}

/// Timers of DRAM: the next access that ends, and a time without requests.
const DRAM_TIMERS: u32 = 2;
/// Timers before those of the drive's flash: of DRAM, and of the drive's alarms.
const OWN_TIMERS: u32 = DRAM_TIMERS + ALARMS;

/// One SSD of a run.
pub struct Ssd {
    pub(super) back_end: BackEnd,
    pub(super) dram: HostDram,
    pub(super) requests: RequestStates,
    pub(super) units: ServedUnits,
    pub(super) subpage_writes: SubpageWrites,
}

impl Ssd {
    /// A preconditioned SSD. Its events use the timers from `first_timer` on, [`Ssd::timers`] of them.
    pub fn new(config: &SsdConfig<'_>, ftl: Ftl, first_timer: u32, check: bool, keep_gc_events: bool) -> Self {
        let buffer = config.buffer.build(&ftl.geometry);
        let timers = Timers { alarms: Alarms(first_timer + DRAM_TIMERS), first: first_timer + OWN_TIMERS };
        let mut back_end = BackEnd::new(&config.back_end, ftl, timers, check, keep_gc_events);
        back_end.host_side.buffer = buffer;
        Self {
            back_end,
            dram: HostDram::new(config.buffer.latency_ns().unwrap_or(0), Timer(first_timer), Timer(first_timer + 1)),
            requests: RequestStates::default(),
            units: ServedUnits::default(),
            subpage_writes: config.subpage_writes,
        }
    }

    /// Whether `host.subpage_writes` applied to a write: the write covered a part of a unit that holds data in flash.
    pub fn has_partial_updates(&self) -> bool {
        self.units.has_partial_updates()
    }

    /// Timers of the event queue that an SSD of this shape needs.
    pub fn timers(geometry: &Geometry) -> u32 {
        OWN_TIMERS + BackEnd::timers(geometry)
    }

    /// The run begins, before its first request: sets the first alarms of background tasks.
    pub fn begin_run(&mut self, events: &mut EventQueue) {
        self.back_end.begin_run(events);
    }

    /// A request begins. `number`: its number in the order of arrival.
    #[inline]
    pub fn begin(&mut self, id: RequestId, arrival_ns: u64, priority: Priority, number: u64) {
        self.requests.begin(id, RequestState::new(number, arrival_ns, priority == Priority::High));
        self.back_end.announce(id, number);
    }

    /// Whether the SSD has the most transactions that it can hold: later sub-requests have to wait.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.back_end.txns_live() >= TRANSACTIONS_MAX
    }

    /// Reads, writes or trims a sub-request of a request that began.
    #[inline]
    pub fn submit(&mut self, id: RequestId, sub_request: SubRequest, op: Op, events: &mut EventQueue) {
        if self.back_end.host_side.buffer.is_some() {
            self.note_use(events);
        }
        match op {
            Op::Read => self.read(id, sub_request, events),
            Op::Write if self.back_end.host_side.buffer.is_some() => self.write_to_buffer(id, sub_request, events),
            Op::Write => self.write(id, sub_request, events),
            Op::Trim => self.trim(sub_request.first, sub_request.units, events),
        }
        if op == Op::Write && self.back_end.has_parity() {
            self.back_end.write_parity(&sub_request, events);
        }
    }

    /// Discards the data of units, at once.
    pub fn trim(&mut self, first: LogicalUnit, units: u32, events: &mut EventQueue) {
        self.back_end.trim(first, units);
        if self.back_end.has_parity() {
            self.back_end.trim_parity([first.0, first.0 + units], events);
        }
        if let Some(buffer) = &mut self.back_end.host_side.buffer {
            buffer.trim(first, units);
        }
    }

    /// Marks that no more of a request will be submitted. Returns the request if none of its operations is open. The
    /// caller takes earlier completions first.
    #[inline]
    #[must_use]
    pub fn end_of_split(&mut self, id: RequestId, now_ns: u64) -> Option<Completion> {
        self.requests.end_of_split(id, now_ns)
    }

    /// The host has no more requests: idle collections, background tasks and early evictions start no more, because no
    /// request would benefit.
    pub fn end_of_requests(&mut self, events: &mut EventQueue) {
        self.back_end.end_idleness(events);
        self.end_early_evictions(events);
    }

    /// Handles an event of this SSD; `local` counts from its first timer. Returns whether something may follow: a
    /// request completes, or a die takes waiting work.
    #[inline(always)]
    pub fn on_event(&mut self, local: u32, events: &mut EventQueue) -> bool {
        self.on_event_of_kind::<{ kind::ANY }>(local, events)
    }

    /// As [`Self::on_event`]; `KIND`: see [`EventQueue::pop_with_end`]. Only flash has ends.
    #[inline(always)]
    pub(crate) fn on_event_of_kind<const KIND: u8>(&mut self, local: u32, events: &mut EventQueue) -> bool {
        if KIND == kind::ANY && local < OWN_TIMERS {
            return self.on_own_timer(local, events);
        }
        // Only flash has ends.
        self.back_end.on_event::<KIND>(local - OWN_TIMERS, events)
    }

    /// A timer of the DRAM, or an alarm of the drive.
    #[cold]
    #[inline(never)]
    fn on_own_timer(&mut self, local: u32, events: &mut EventQueue) -> bool {
        match local.checked_sub(DRAM_TIMERS) {
            None if local == 0 => self.dram.come_due(),
            None => self.on_unused(events),
            Some(alarm) => self.back_end.on_alarm(Alarm::at(alarm), events),
        }
        true
    }

    /// The next completed request, in the order of their ends; none when all endings are processed. Later endings have
    /// had no effect yet, so that the caller sees the SSD as it was when the request ended.
    #[inline(always)]
    pub fn take_completion(&mut self, events: &mut EventQueue) -> Option<Completion> {
        if !self.dram.is_due() && !self.back_end.has_endings() {
            return None;
        }
        self.next_completion(events)
    }

    fn next_completion(&mut self, events: &mut EventQueue) -> Option<Completion> {
        if self.dram.is_due() {
            let done = self.end_in_dram(events);
            if done.is_some() {
                return done;
            }
        }
        while self.back_end.has_endings() {
            while let Some(request) = self.back_end.take_split() {
                self.requests.open(request);
            }
            let ended = self.back_end.take_done();
            let done = ended.and_then(|txn| self.end_txn(txn, events));
            if done.is_some() {
                return done;
            }
        }
        None
    }

    /// Processes the end of a transaction; returns its request if that is complete.
    #[inline(always)]
    fn end_txn(&mut self, id: TxnId, events: &mut EventQueue) -> Option<Completion> {
        let txn = self.back_end.txn(id);
        if txn.request.is_none() {
            self.end_own_txn(id, events);
            return None;
        }
        if self.dram.delays_reads() && matches!(txn.role, Role::Read | Role::Rebuild) {
            self.pass_through_dram(id, events);
            return None;
        }
        let done = self.requests.end(txn.request, txn.gc_affected, &txn.breakdown_ns);
        self.back_end.remove_txn(id);
        done
    }

    /// Processes the end of a transaction that belongs to no request.
    #[inline(never)]
    fn end_own_txn(&mut self, id: TxnId, events: &mut EventQueue) {
        let txn = self.back_end.txn(id);
        match txn.role {
            Role::Evict => {}
            Role::ParityWrite => return self.back_end.end_parity(id),
            _ => return self.back_end.end_map_txn(id, events),
        }
        let (first, units, others) = (txn.first, txn.units, txn.role_data);
        let evicted = FreedSpace::by(txn, events.now_ns());
        self.back_end.records.counters.on_evicted(evicted.time.took_ns, evicted.gc_affected);
        self.back_end.remove_txn(id);
        self.on_evicted(first, (units, others), &evicted, events);
    }

    /// Lets marked dies take waiting work.
    #[inline(always)]
    pub fn dispatch_ready(&mut self, events: &mut EventQueue) {
        self.back_end.dispatch_ready(events);
    }

    /// Whether a die is marked.
    #[inline(always)]
    pub fn is_marked(&self) -> bool {
        self.back_end.is_marked()
    }

    /// The back end: flash, with the translation layer and the engine.
    #[inline(always)]
    pub fn back_end(&self) -> &BackEnd {
        &self.back_end
    }

    /// The back end, mutably, to start work of other tasks on it.
    #[inline(always)]
    pub(crate) fn back_end_mut(&mut self) -> &mut BackEnd {
        &mut self.back_end
    }

    /// Units that the host accessed since the run began.
    pub fn unit_counts(&self) -> UnitCounts {
        self.units.counts()
    }

    /// Whether the SSD has a write buffer.
    pub fn has_buffer(&self) -> bool {
        self.back_end.host_side.buffer.is_some()
    }

    /// Whether a write includes units that the host did not write with it.
    pub fn takes_along(&self) -> bool {
        self.back_end.geometry().has_superpages()
    }

    /// Units whose newest data is only in the buffer.
    pub fn dirty_units(&self) -> u64 {
        self.back_end.host_side.buffer.as_ref().map_or(0, Buffer::dirty_units)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::config::RunConfig;

    /// One die of 4 KiB pages, with more configuration.
    fn config(more: &str) -> RunConfig {
        let text = format!(
            r#"
            precondition = {{ mode = "empty" }}
            capacity = {{ over_provisioning = 0.6 }}
            timing = {{ read = "50 us", program = "500 us", erase = "3 ms", channel = "100 MB/s" }}
            {more}
            [geometry]
            channels = 1
            chips_per_channel = 1
            dies_per_chip = 1
            planes_per_die = 1
            blocks_per_plane = 16
            pages_per_block = 8
            page_size = "4 KiB"
            "#
        );
        crate::config::from_toml(&text).expect("a configuration")
    }

    fn ssd(config: &RunConfig) -> (Ssd, EventQueue) {
        let ftl = Ftl::new(&config.ftl(), 1);
        let events = EventQueue::new(Ssd::timers(&ftl.geometry) as usize);
        (Ssd::new(&config.ssd(SubpageWrites::ReadModifyWrite), ftl, 0, true, false), events)
    }

    fn page(unit: u32) -> SubRequest {
        let request = [unit, unit + 1];
        SubRequest { first: LogicalUnit(unit), units: 1, first_is_partial: false, last_is_partial: false, request }
    }

    #[test]
    fn transactions_of_urgent_requests_are_urgent() {
        let (mut ssd, mut events) = ssd(&config(""));
        for (id, priority) in [(0, Priority::Normal), (1, Priority::High)] {
            ssd.begin(RequestId(id), 0, priority, u64::from(id));
            ssd.submit(RequestId(id), page(id), Op::Write, &mut events);
        }
        assert_eq!([0, 1].map(|id| ssd.back_end.txn(TxnId(id)).high_priority), [false, true]);
    }

    /// A write that ends in DRAM, and a read that finds its data there, without a host.
    #[test]
    fn a_buffered_write_is_done_after_an_access() {
        let (mut ssd, mut events) =
            ssd(&config("buffer = { policy = \"lru\", size = \"16 KiB\", latency = \"2 us\" }"));
        for (number, op) in [Op::Write, Op::Read].into_iter().enumerate() {
            let id = RequestId(0);
            ssd.begin(id, events.now_ns(), Priority::Normal, number as u64);
            ssd.submit(id, page(3), op, &mut events);
            assert!(ssd.end_of_split(id, events.now_ns()).is_none() && ssd.take_completion(&mut events).is_none());
            let (now_ns, timer) = events.pop().expect("the end of an access");
            assert_eq!(now_ns, 2_000 * (number as u64 + 1));
            assert!(ssd.on_event(timer.0, &mut events));
            assert_eq!(ssd.take_completion(&mut events).expect("it is done").request, id);
            assert!(ssd.take_completion(&mut events).is_none());
        }
        assert_eq!((ssd.unit_counts().buffer_read_hits, ssd.dirty_units()), (1, 1));
    }
}
