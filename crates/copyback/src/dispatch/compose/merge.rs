//! Host transactions are served with the very pages that collection moves.
//!
//! Source: ispass11 Section III-B, Fig. 5. A read ends when the page has reached the controller; a write of data that was
//! read and not programmed yet goes into that program instead of the old version, and gives the page that was reserved
//! for it back. Pages of the victim for which a request waits are moved first: "the order of pages to be moved does not
//! matter". Where collections are preemptible, such requests are left to the collection, and do not go before it.

use crate::flash::command::CommandPlane;
use crate::sim::index::{DieId, JobId, LogicalUnit, PageId, TxnId};
use crate::sim::queue::EventQueue;
use crate::ssd::drive::{Drive, Queue};

/// Writes that go into a program of collection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Merged {
    /// The first of them; the others hang on its chain.
    pub first: TxnId,
    /// Bit n: the n-th unit of the page is the host's.
    pub units: u32,
}

impl Merged {
    /// None.
    pub const NONE: Self = Self { first: TxnId::NONE, units: 0 };
}

impl Drive {
    /// Where among a collection's pending moves the page begins for which a request waits longest, of reads before that
    /// of writes.
    fn wanted_move(&self, die: DieId, id: JobId) -> Option<usize> {
        let job = &self.jobs[id.at()];
        let pending = &job.moves[job.next..];
        let start_of = |page| pending.iter().position(|m| self.geometry.page_of(m.from) == page);
        let waiting = |is_write| self.queues.index().of_block(die, job.block, is_write);
        let mut looked_for = PageId::NONE;
        waiting(false).chain(waiting(true)).find_map(|(_, page)| {
            // Many may wait for one page, which is looked for once.
            let is_new = std::mem::replace(&mut looked_for, page) != page;
            if is_new { start_of(page) } else { None }
        })
    }

    /// The page that a collection reads next because a request waits for it.
    pub(crate) fn wanted_page(&self, die: DieId, id: JobId) -> Option<PageId> {
        let job = &self.jobs[id.at()];
        self.wanted_move(die, id).map(|start| self.geometry.page_of(job.moves[job.next + start].from))
    }

    /// Puts the page of the victim for which a request waits longest before the other moves.
    pub(crate) fn put_wanted_first(&mut self, die: DieId, id: JobId) {
        let Some(start) = self.wanted_move(die, id) else { return };
        let job = &self.jobs[id.at()];
        let pending = &job.moves[job.next..];
        let page_at = |at: usize| self.geometry.page_of(pending[at].from);
        let length = (start..pending.len()).take_while(|&at| page_at(at) == page_at(start)).count();
        let job = &mut self.jobs[id.at()];
        job.moves[job.next..][..start + length].rotate_right(length);
    }

    /// A page of the victim is in the controller: queued reads of it end.
    pub(crate) fn serve_reads_of(&mut self, die: DieId, page: PageId, events: &mut EventQueue) {
        let list = self.queue(die, Queue::Read);
        let block = self.geometry.block_and_offset(page).0;
        let (mut from, to) = (0, self.queues.index().end_of_long_walk(die, false));
        loop {
            let index = self.queues.index();
            let is_next = |&(id, at): &(TxnId, PageId)| at == page && (from..to).contains(&index.turn(id));
            let Some((id, _)) = index.of_block(die, block, false).find(is_next) else { return };
            from = index.turn(id) + 1;
            let is_last = self.queues.next(id.0).is_none();
            self.queues.remove(list, id.0);
            let part = self.bind_read(id, die, events).expect("it was just translated");
            self.end_merged_read(part, events);
            if is_last {
                // What its end lets in, and what is left of it where it is split, came behind the queue poll.
                return;
            }
        }
    }

    fn end_merged_read(&mut self, part: CommandPlane, events: &mut EventQueue) {
        let id = part.txn;
        self.stop_waiting(id, events.now_ns());
        self.show_read(part);
        self.work.merged_reads += 1;
        self.finish_txn(id, events);
    }

    /// Queued writes of nothing but data that the next program of the collection holds: they go into that program.
    pub(crate) fn take_merged_writes(&mut self, die: DieId, job: JobId, units: usize, now_ns: u64) -> Merged {
        let list = self.queue(die, Queue::Write);
        let block = self.jobs[job.at()].block;
        let (mut merged, mut last) = (Merged::NONE, TxnId::NONE);
        let to = self.queues.index().end_of_walk(die, true);
        let mut next = self.queues.index().of_block(die, block, true).next();
        while let Some((id, _)) = next.filter(|&(id, _)| self.queues.index().turn(id) < to) {
            next = self.queues.index().of_block_behind(id, die, block, true).next();
            let Some(covered) = self.units_in_program(id, job, units).filter(|c| c & merged.units == 0) else {
                continue;
            };
            merged.units |= covered;
            self.queues.remove(list, id.0);
            self.merge_write(id, die, now_ns);
            if last.is_some() {
                self.txns[last].chain = id;
            } else {
                merged.first = id;
            }
            last = id;
        }
        self.work.host_units += u64::from(merged.units.count_ones());
        merged
    }

    /// Which units of a program a write consists of, if it consists of nothing else and is the newest of each.
    pub(crate) fn units_in_program(&self, id: TxnId, job: JobId, units: usize) -> Option<u32> {
        let (txn, job) = (&self.txns[id], &self.jobs[job.at()]);
        let moves = &job.moves[job.programmed..][..units];
        let mut covered = 0;
        for unit in (txn.first.0..txn.first.0 + txn.units).map(LogicalUnit) {
            let at = moves.iter().position(|m| m.unit == unit && self.ftl.lookup(unit) == m.from)?;
            if !self.newest.would_be_newest(unit, txn.sequence) {
                return None;
            }
            covered |= 1 << at;
        }
        Some(covered)
    }

    fn merge_write(&mut self, id: TxnId, die: DieId, now_ns: u64) {
        let (first, units, sequence) = (self.txns[id].first.0, self.txns[id].units, self.txns[id].sequence);
        for unit in (first..first + units).map(LogicalUnit) {
            let is_newest = self.newest.is_newest(unit, sequence);
            if let Some(shadow) = &mut self.shadow {
                shadow.bind(unit, sequence, is_newest);
            }
        }
        self.stop_waiting(id, now_ns);
        self.space.release(&self.geometry, die, self.txns[id].plane);
        self.work.merged_writes += 1;
    }
}
