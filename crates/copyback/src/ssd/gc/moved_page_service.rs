//! Service from moved pages: executes the decisions of `compose::merge` on requests for pages that a collection moves.

use crate::dispatch::compose::merge::{self, ServedWrites};
use crate::flash::command::CommandPlane;
use crate::sim::index::{DieId, JobId, LogicalUnit, PageId, TxnId};
use crate::sim::queue::EventQueue;
use crate::ssd::back_end::{BackEnd, Queue};

impl BackEnd {
    /// The page that a collection reads next because a request waits for it.
    pub(in crate::ssd) fn wanted_page(&self, die: DieId, id: JobId) -> Option<PageId> {
        let job = &self.gc.jobs[id];
        let pending = job.pending();
        let start = merge::wanted_move(&self.view_for_builders(die), job.block(), pending)?;
        Some(self.geometry.page_of(pending[start].from))
    }

    /// Moves the page of the victim for which a request has waited longest to the front of the moves.
    #[inline(never)]
    pub(in crate::ssd) fn put_wanted_first(&mut self, die: DieId, id: JobId) {
        let job = &self.gc.jobs[id];
        let pending = job.pending();
        let Some(start) = merge::wanted_move(&self.view_for_builders(die), job.block(), pending) else { return };
        let page_at = |at: usize| self.geometry.page_of(pending[at].from);
        let length = (start..pending.len()).take_while(|&at| page_at(at) == page_at(start)).count();
        self.gc.jobs[id].put_first(start, length);
    }

    /// A page of the victim is in the controller: ends queued reads of it.
    #[inline(never)]
    pub(in crate::ssd) fn serve_reads_of(&mut self, die: DieId, page: PageId, events: &mut EventQueue) {
        let list = self.queue(die, Queue::Read);
        let mut turns = 0..self.queues.index().end_of_long_walk(die, false);
        while let Some(id) = merge::read_of(&self.view_for_builders(die), page, turns.clone()) {
            turns.start = self.queues.index().turn(id) + 1;
            let is_last = self.queues.next(id.0).is_none();
            self.queues.remove(list, id.0);
            let part = self.bind_read(id, die, events).expect("it was just translated");
            self.end_served_read(part, events);
            if is_last {
                // Requests that its end admits, and the rest of a split read, arrived after the queue poll.
                return;
            }
        }
    }

    fn end_served_read(&mut self, part: CommandPlane, events: &mut EventQueue) {
        let id = part.txn;
        self.stop_waiting(id, events.now_ns());
        self.check_read(part);
        self.records.counters.on_merged_read();
        self.count_end(id);
        self.finish_txn(id, events);
    }

    /// Takes queued writes whose data is all in the collection's next program: that program serves them.
    #[inline(never)]
    pub(in crate::ssd) fn take_served_writes(
        &mut self,
        die: DieId,
        id: JobId,
        units: usize,
        now_ns: u64,
    ) -> ServedWrites {
        let list = self.queue(die, Queue::Write);
        let (mut served, mut last) = (ServedWrites::NONE, TxnId::NONE);
        let (end, victim) = (self.queues.index().end_of_walk(die, true), self.gc.jobs[id].block());
        let mut next = merge::next_write(&self.view_for_builders(die), victim, None, end);
        while let Some(txn) = next {
            next = merge::next_write(&self.view_for_builders(die), victim, Some(txn), end);
            let Some(covered) = self.units_in_program(txn, id, units).filter(|c| c & served.units == 0) else {
                continue;
            };
            served.units |= covered;
            self.queues.remove(list, txn.0);
            self.serve_write(txn, die, now_ns);
            if last.is_some() {
                self.txns[last].next_in_list = txn;
            } else {
                served.first = txn;
            }
            last = txn;
        }
        self.records.counters.on_host_units(served.units.count_ones());
        served
    }

    /// The units of a collection's next program that a write covers, if the program can serve the write.
    pub(in crate::ssd) fn units_in_program(&self, txn: TxnId, id: JobId, units: usize) -> Option<u32> {
        let job = &self.gc.jobs[id];
        merge::units_in_program(&self.view_for_builders(job.die()), txn, &job.held()[..units])
    }

    fn serve_write(&mut self, id: TxnId, die: DieId, now_ns: u64) {
        let (first, units, sequence) = (self.txns[id].first.0, self.txns[id].units, self.txns[id].sequence);
        for unit in (first..first + units).map(LogicalUnit) {
            let is_newest = self.map.newest.is_newest(unit, sequence);
            if let Some(shadow) = &mut self.records.shadow {
                shadow.bind(unit, sequence, is_newest);
            }
        }
        self.stop_waiting(id, now_ns);
        self.release_page(die, self.txns[id].plane);
        self.records.counters.on_merged_write();
    }
}
