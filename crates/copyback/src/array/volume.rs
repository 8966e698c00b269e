//! A volume: requests of the host become requests of drives, and end with the last of them.
//!
//! If stripes are not protected, a request is one operation with a part for each drive that it touches: contiguous
//! units of a drive are one part. If stripes are protected, it has one operation for each stripe, in parallel. A write
//! of a stripe locks it from its first read to its last write, and so does a rebuild. Reads that rebuild a unit share
//! the lock with other reads. An operation whose stripe is locked waits in the order of arrival. A read of existing
//! units waits only for operations that change the stripe, or that wait to change it.
//!
//! The caller reports each completed part ([`Volume::on_part_end`]) and the volume's timers. The volume queues parts
//! that begin ([`Volume::next_part`]), and the caller issues them to their drives.

use super::config::{ArrayConfig, WriteAfter};
use super::contents::Contents;
pub use super::drive_requests::DriveRequest;
use super::drive_requests::DriveRequests;
use super::layout::Layout;
use super::locks::Locks;
use super::operations::{Kind, Operation, OperationId, Operations};
use super::rebuild::Rebuild;
use crate::host::HostRequest;
use crate::observe::array_report::VolumeTotals;
use crate::observe::report::{CAUSES, Cause};
use crate::redundancy::planner::{Members, Partial};
use crate::sim::index::RequestId;
use crate::sim::invariant::hold;
use copyback_workload::{Op, Priority, Request};
use std::collections::VecDeque;

/// A request of the volume that ended.
#[derive(Clone, Copy, Debug)]
pub struct VolumeCompletion {
    /// The request.
    pub request: RequestId,
    /// Whether one of its parts waited for collection.
    pub gc_affected: bool,
    /// The causes of its time, along the part that ended last.
    pub breakdown_ns: [u64; CAUSES],
}

/// The state of an outstanding request.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestState {
    /// Operations that have not ended.
    open: u32,
    number: u64,
    priority: Priority,
    gc_affected: bool,
}

/// See the module's page.
pub struct Volume {
    pub(super) layout: Layout,
    pub(super) partial: Partial,
    pub(super) write_after: WriteAfter,
    pub(super) delay_ns: u64,
    pub(super) is_gc_aware: bool,
    /// Mapping units of the drives: reads and writes for parity are rounded out to these.
    pub(super) grain_bytes: u64,
    pub(super) operations: Operations,
    pub(super) parts: DriveRequests,
    pub(super) locks: Option<Locks>,
    pub(super) requests: Vec<RequestState>,
    /// Parts that have begun, for the caller to issue to drives.
    pub(super) begun: VecDeque<RequestId>,
    /// Requests within the controller delay, and the ends of their delays.
    pub(super) delayed: VecDeque<(u64, RequestId, Request)>,
    /// Drives that have failed.
    pub(super) failed: u64,
    pub(super) rebuild: Option<Rebuild>,
    /// Bytes of the host's writes to failed drives: only parity, or a copy, of them is written. In whole mapping units.
    pub(super) unplaced_bytes: u64,
    /// The contents of the drives, under `--check`.
    pub(super) contents: Option<Contents>,
    pub(super) totals: VolumeTotals,
}

impl Volume {
    /// A volume over drives. `drive_bytes`: the smallest drive. `grain_bytes`: whole mapping units of all drives.
    pub fn new(config: &ArrayConfig, drive_bytes: u64, grain_bytes: u64, check: bool) -> Self {
        let unit_bytes = config.stripe_unit_bytes(grain_bytes);
        let layout = Layout::new(config.level, config.drives, unit_bytes, drive_bytes);
        let failed = config.failed.iter().fold(0, |set, drive| set | 1 << drive);
        Self {
            layout,
            partial: config.partial,
            write_after: config.write_after,
            delay_ns: config.delay.0,
            is_gc_aware: config.gc_aware_reads && layout.is_protected(),
            grain_bytes,
            operations: Operations::default(),
            parts: DriveRequests::default(),
            locks: layout.is_protected().then(|| Locks::new(layout.stripes())),
            requests: Vec::new(),
            begun: VecDeque::with_capacity(64),
            delayed: VecDeque::new(),
            failed,
            unplaced_bytes: 0,
            rebuild: config.rebuild.map(|rate| Rebuild::new(rate.transfer_ns(unit_bytes))),
            contents: (check && layout.is_protected()).then(|| Contents::new(layout, grain_bytes)),
            totals: VolumeTotals::default(),
        }
    }

    /// The layout of the volume.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The totals of the volume's work.
    pub fn totals(&self) -> VolumeTotals {
        self.totals
    }

    /// Stripe units of the drives that have failed.
    pub fn units_lost(&self) -> u64 {
        u64::from(self.failed.count_ones()) * self.layout.rows()
    }

    /// Whether a drive has failed, and no rebuild is configured.
    pub fn is_missing(&self, drive: u32) -> bool {
        self.failed >> drive & 1 == 1 && self.rebuild.is_none()
    }

    /// Whether reads depend on the drives that collect.
    pub fn is_gc_aware(&self) -> bool {
        self.is_gc_aware
    }

    /// A request begins; `target`: the drive that it addresses, if it addresses one. `collecting`: the drives that
    /// collect now, a bit each. Returns the time at which the controller delay has elapsed, if there is one.
    pub fn begin(
        &mut self,
        id: RequestId,
        request: &HostRequest,
        target: Option<u32>,
        collecting: u64,
        now_ns: u64,
    ) -> Option<u64> {
        let asked = &request.asked;
        let state = RequestState { open: 0, number: request.index, priority: asked.priority, gc_affected: false };
        if id.at() >= self.requests.len() {
            self.requests.resize(id.at() + 1, state);
        }
        self.requests[id.at()] = state;
        if self.delay_ns > 0 && target.is_none() {
            self.delayed.push_back((now_ns + self.delay_ns, id, Request { arrival_ns: request.arrival_ns, ..*asked }));
            return Some(now_ns + self.delay_ns);
        }
        let mut before_ns = [0; CAUSES];
        before_ns[Cause::Scheduler as usize] = now_ns - request.arrival_ns;
        match target {
            Some(drive) => self.begin_single_part(id, asked, drive, before_ns, now_ns),
            None => self.split(id, asked, collecting, before_ns, now_ns),
        }
        None
    }

    /// Requests whose controller delay has elapsed continue; returns the time at which the next delay elapses.
    pub fn on_delay(&mut self, collecting: u64, now_ns: u64) -> Option<u64> {
        while let Some(&(due_ns, id, asked)) = self.delayed.front() {
            if due_ns > now_ns {
                return Some(due_ns);
            }
            self.delayed.pop_front();
            let mut before_ns = [0; CAUSES];
            before_ns[Cause::Scheduler as usize] = now_ns - asked.arrival_ns;
            self.split(id, &asked, collecting, before_ns, now_ns);
        }
        None
    }

    /// A request for one drive becomes one part.
    fn begin_single_part(&mut self, id: RequestId, asked: &Request, drive: u32, before_ns: [u64; CAUSES], now_ns: u64) {
        let operation = self.operation(id, Kind::Host(asked.op), 0, [0, 0], before_ns);
        self.begin_part(operation, (drive, 0), asked.op, [asked.offset_bytes, asked.len_bytes], now_ns);
    }

    /// Splits a request into operations.
    fn split(&mut self, id: RequestId, asked: &Request, collecting: u64, before_ns: [u64; CAUSES], now_ns: u64) {
        let mut bytes = [asked.offset_bytes, asked.offset_bytes + asked.len_bytes];
        if asked.op == Op::Trim {
            // Drives discard whole mapping units, and parity must not count others as zeros.
            let inside = bytes[0].next_multiple_of(self.grain_bytes);
            bytes = [inside, (bytes[1] / self.grain_bytes * self.grain_bytes).max(inside)];
        }
        if bytes[0] == bytes[1] {
            // The request is empty: any drive can complete it.
            let drive = (!self.failed).trailing_zeros();
            let nothing = Request { offset_bytes: 0, len_bytes: 0, ..*asked };
            return self.begin_single_part(id, &nothing, drive, before_ns, now_ns);
        }
        if !self.layout.is_protected() {
            return self.begin_on_all(id, asked.op, bytes, before_ns, now_ns);
        }
        let stripe_bytes = self.layout.unit_bytes() * u64::from(self.layout.data());
        let mut from = bytes[0];
        loop {
            let stripe = from / stripe_bytes;
            let to = bytes[1].min((stripe + 1) * stripe_bytes);
            let operation = self.operation(id, Kind::Host(asked.op), stripe, [from, to], before_ns);
            self.begin_in_stripe(operation, collecting, now_ns);
            from = to;
            if from >= bytes[1] {
                return;
            }
        }
    }

    /// A new operation of a request.
    pub(super) fn operation(
        &mut self,
        request: RequestId,
        kind: Kind,
        stripe: u64,
        bytes: [u64; 2],
        breakdown_ns: [u64; CAUSES],
    ) -> OperationId {
        if request.is_some() {
            self.requests[request.at()].open += 1;
        }
        self.operations.add(Operation {
            request,
            kind,
            stripe,
            bytes,
            hull: [0, 0],
            wanted: Members::default(),
            in_part: Members::default(),
            reads: Members::default(),
            writes: Members::default(),
            reads_open: 0,
            open: 0,
            has_lock: false,
            waits_since_ns: 0,
            next_waiting: OperationId::NONE,
            gc_affected: false,
            breakdown_ns,
        })
    }

    /// Without protection: begins a part for each drive, with the contiguous units there.
    fn begin_on_all(&mut self, id: RequestId, op: Op, bytes: [u64; 2], before_ns: [u64; CAUSES], now_ns: u64) {
        let (unit_bytes, drives) = (self.layout.unit_bytes(), u64::from(self.layout.drives()));
        let operation = self.operation(id, Kind::Host(op), 0, bytes, before_ns);
        let first = bytes[0] / unit_bytes;
        let last = (bytes[1] - 1) / unit_bytes;
        // The drives that the request touches, each from the first of its units.
        for own_first in first..=last.min(first + drives - 1) {
            let drive = own_first % drives;
            let own_last = last - (last - own_first) % drives;
            // The byte of the drive that is nearest to a byte of the volume, within a unit.
            let inside = |unit: u64, byte: u64| {
                let [start, end] = [unit * unit_bytes, (unit + 1) * unit_bytes];
                unit / drives * unit_bytes + byte.clamp(start, end) - start
            };
            let (from, to) = (inside(own_first, bytes[0]), inside(own_last, bytes[1]));
            self.begin_part(operation, (drive as u32, drive as u32), op, [from, to - from], now_ns);
        }
    }

    /// Begins a part: queues it for its drive.
    pub(super) fn begin_part(
        &mut self,
        id: OperationId,
        (drive, member): (u32, u32),
        op: Op,
        [offset_bytes, len_bytes]: [u64; 2],
        now_ns: u64,
    ) {
        let operation = &mut self.operations[id];
        operation.open += 1;
        let is_read_first = op == Op::Read && operation.kind != Kind::Host(Op::Read);
        operation.reads_open += u32::from(is_read_first);
        let (number, priority) = match operation.request.is_some() {
            true => (self.requests[operation.request.at()].number, self.requests[operation.request.at()].priority),
            false => (u64::MAX, Priority::Normal),
        };
        // If the operation has only waited for admission to the volume, this wait counts as a wait for the drive: the
        // drive may count a deadline from the beginning of the wait.
        let waited_ns = operation.breakdown_ns[Cause::Scheduler as usize];
        let has_begun = operation.breakdown_ns.iter().sum::<u64>() > waited_ns;
        let (arrival_ns, before_ns) =
            if has_begun { (now_ns, operation.breakdown_ns) } else { (now_ns - waited_ns, [0; CAUSES]) };
        let asked = Request { arrival_ns, offset_bytes, len_bytes, device: drive, op, priority };
        let part = DriveRequest {
            asked,
            drive,
            number,
            is_data: operation.request.is_some() && member < self.layout.data(),
            arrival_ns: now_ns,
            operation: id,
            member,
            is_read_first,
            before_ns,
        };
        self.totals.parts += 1;
        self.begun.push_back(self.parts.add(part));
    }

    /// The next part that has begun and was not issued to its drive.
    pub fn next_part(&mut self) -> Option<RequestId> {
        self.begun.pop_front()
    }

    /// Whether a part has begun and was not issued to its drive.
    #[inline(always)]
    pub fn has_parts(&self) -> bool {
        !self.begun.is_empty()
    }

    /// Bytes of the host's writes to failed drives since the last call, in whole mapping units.
    pub fn take_unplaced_bytes(&mut self) -> u64 {
        std::mem::take(&mut self.unplaced_bytes)
    }

    /// A current part.
    pub fn part(&self, id: RequestId) -> &DriveRequest {
        self.parts.get(id)
    }

    /// The host's request of a part; none for a rebuild.
    pub fn request_of(&self, part: RequestId) -> RequestId {
        self.operations[self.parts.get(part).operation].request
    }

    /// A part completed: the steps that depend on it begin. Returns its request, if that is complete. `collecting`: the
    /// drives that collect now, a bit each.
    pub fn on_part_end(
        &mut self,
        id: RequestId,
        gc_affected: bool,
        breakdown_ns: &[u64; CAUSES],
        collecting: u64,
        now_ns: u64,
    ) -> Option<VolumeCompletion> {
        let part = self.parts.remove(id);
        let operation = &mut self.operations[part.operation];
        operation.gc_affected |= gc_affected;
        operation.open -= 1;
        operation.reads_open -= u32::from(part.is_read_first);
        // The part that ends last explains the time up to here.
        for ((sum, before), own) in operation.breakdown_ns.iter_mut().zip(&part.before_ns).zip(breakdown_ns) {
            *sum = before + own;
        }
        if operation.has_lock {
            self.on_stripe_part_end(&part, now_ns);
        }
        if self.operations[part.operation].open > 0 {
            return None;
        }
        self.end_operation(part.operation, collecting, now_ns)
    }

    fn end_operation(&mut self, id: OperationId, collecting: u64, now_ns: u64) -> Option<VolumeCompletion> {
        let Operation { request, kind, gc_affected, breakdown_ns, has_lock, .. } = self.operations[id];
        if let Some(contents) = self.contents.as_mut().filter(|_| has_lock) {
            contents.end(&self.operations[id], id, self.failed, self.rebuild.as_ref());
        }
        if kind == Kind::Rebuild {
            // Before the stripe is released, so that the next holder finds it complete.
            self.on_rebuilt(now_ns);
        }
        if has_lock {
            self.unlock(id, collecting, now_ns);
        }
        self.operations.remove(id);
        if kind == Kind::Rebuild {
            return None;
        }
        let state = &mut self.requests[request.at()];
        state.open -= 1;
        state.gc_affected |= gc_affected;
        (state.open == 0).then_some(VolumeCompletion { request, gc_affected: state.gc_affected, breakdown_ns })
    }

    /// The run is over: checks that nothing remains.
    pub fn check_end(&self) {
        let left = (self.operations.live(), self.parts.live(), self.delayed.len());
        hold!(left == (0, 0, 0), AllReturned, "{left:?} operations, parts and delayed requests of the volume are left");
        let is_free = self.locks.as_ref().is_none_or(Locks::are_free);
        hold!(is_free, AllReturned, "a stripe of the volume is still locked");
    }
}

#[cfg(test)]
mod tests;
