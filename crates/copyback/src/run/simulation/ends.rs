//! Transactions end, and with the last one a request.

use super::Simulation;
use crate::dispatch::txn::Role;
use crate::sim::index::{RequestId, TxnId};
use crate::sim::invariant::hold;

impl Simulation<'_> {
    /// Hears what ended on a drive, until nothing more does.
    #[inline(always)]
    pub(super) fn hear_member(&mut self, member: usize) {
        let m = &mut self.members[member];
        let written_units = m.drive.counters().work().host_units;
        self.written_by_drives += written_units - std::mem::replace(&mut m.written_units, written_units);
        self.totals.note(member);
        while self.members[member].drive.has_news() {
            self.hear(member);
        }
        self.list_if_marked(member);
    }

    fn hear(&mut self, member: usize) {
        while let Some(request) = self.members[member].drive.take_split() {
            self.requests[request].open += 1;
        }
        if let Some(txn) = self.members[member].drive.take_done() {
            self.end_txn(member, txn);
        }
    }

    fn end_txn(&mut self, member: usize, id: TxnId) {
        let m = &mut self.members[member];
        let txn = m.drive.txn(id);
        let (role, first, units, request) = (txn.role, txn.first, txn.units, txn.request);
        if role == Role::Evict {
            m.drive.remove_txn(id);
            m.buffer.as_mut().expect("only a buffer evicts").evicted(first, units);
            self.fill_buffer(member);
            return;
        }
        let r = &mut self.requests[request];
        hold!(r.open > 0, RequestOnce, "more parts of request {} ended than were begun", r.index);
        r.open -= 1;
        r.gc_affected |= txn.gc_affected;
        r.breakdown_ns = txn.breakdown_ns;
        m.drive.remove_txn(id);
        self.end_if_done(request);
    }

    pub(super) fn end_if_done(&mut self, id: RequestId) {
        let request = &self.requests[id];
        if request.open > 0 || !request.is_split {
            return;
        }
        let now_ns = self.events.now_ns();
        if self.collector.record(request.ended(), now_ns) {
            self.last_end_ns = now_ns;
        }
        self.requests.remove(id);
        if self.next.is_none() && self.requests.live() == 0 {
            self.members.iter_mut().for_each(|m| m.drive.end_idleness(&mut self.events));
        }
        if self.written_units() >= self.track.next_units() {
            self.track.add(self.mark());
        }
    }
}
