//! What goes through DRAM: sub-requests that wait for room in a buffer, pages that leave it, parts that end there.

use super::{DRAM, InDram, Simulation, WaitingSubRequest};
use crate::dispatch::txn::{Role, Txn};
use crate::host::splitter::SubRequest;
use crate::observe::report::{CAUSES, Cause};
use crate::sim::index::{PlaneId, RequestId, TxnId};

impl Simulation<'_> {
    pub(super) fn write_to_buffer(&mut self, member: usize, id: RequestId, sub_request: SubRequest) {
        // The rest of a unit that is written in part is merged in DRAM: the request waits for both.
        for unit in self.units_to_update(member, sub_request) {
            self.submit_read(member, Role::UpdateRead, id, unit, 1, TxnId::NONE);
        }
        self.requests[id].open += 1;
        let waiting = WaitingSubRequest { request: id, sub_request, since_ns: self.events.now_ns() };
        self.members[member].waiting_sub_requests.push_back(waiting);
        self.members[member].waiting_units += u64::from(sub_request.units);
        self.fill_buffer(member);
    }

    /// Lets waiting sub-requests into the buffer, in order, and evicts what has to go for all that wait: pages leave
    /// side by side, as far as there are dies.
    pub(super) fn fill_buffer(&mut self, member: usize) {
        loop {
            let m = &mut self.members[member];
            let (Some(waiting), Some(buffer)) = (m.waiting_sub_requests.front(), &mut m.buffer) else { return };
            let sub_request = waiting.sub_request;
            if let Some(hits) = buffer.write(sub_request.first, sub_request.units) {
                m.buffer_write_hits += u64::from(hits);
                m.waiting_units -= u64::from(sub_request.units);
                let waiting = m.waiting_sub_requests.pop_front().expect("it was looked at");
                self.requests[waiting.request].open -= 1;
                self.enter_dram(member, waiting.request, waiting.since_ns);
                continue;
            }
            if !buffer.must_evict(m.waiting_units) {
                return;
            }
            let runs = buffer.evict();
            if runs.is_empty() {
                return;
            }
            for (first, units) in runs {
                let mut txn = Txn::new(Role::Evict, first, units, crate::sim::index::DieId::NONE, PlaneId::NONE);
                txn.arrival_ns = self.events.now_ns();
                let drive = &mut self.members[member].drive;
                let place = drive.place(first);
                (txn.die, txn.plane) = (place.die, place.plane);
                let txn = drive.add_txn(txn);
                drive.submit(txn, &mut self.events);
            }
        }
    }

    /// A part of a request is in DRAM and ends after the time of an access.
    pub(super) fn enter_dram(&mut self, member: usize, request: RequestId, start_ns: u64) {
        let latency_ns = self.members[member].buffer.as_ref().map_or(0, |b| b.latency_ns);
        let end_ns = self.events.now_ns() + latency_ns;
        self.requests[request].open += 1;
        // Drives may differ in latency: the list stays in the order of its ends.
        let at = self.in_dram.partition_point(|d| d.end_ns <= end_ns);
        self.in_dram.insert(at, InDram { end_ns, start_ns, request });
        self.events.schedule(DRAM, self.in_dram[0].end_ns);
    }

    pub(super) fn end_in_dram(&mut self, now_ns: u64) {
        while self.in_dram.front().is_some_and(|d| d.end_ns <= now_ns) {
            let part = self.in_dram.pop_front().expect("it was looked at");
            let request = &mut self.requests[part.request];
            request.open -= 1;
            request.breakdown_ns = [0; CAUSES];
            request.breakdown_ns[Cause::Scheduler as usize] = part.start_ns - request.arrival_ns;
            request.breakdown_ns[Cause::Buffer as usize] = now_ns - part.start_ns;
            self.end_if_done(part.request);
        }
        if let Some(next) = self.in_dram.front() {
            self.events.schedule(DRAM, next.end_ns);
        }
    }
}
