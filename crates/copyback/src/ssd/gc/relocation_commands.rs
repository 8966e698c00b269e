//! Flash commands of relocations: a request becomes a command, and is bound, only when a die takes it.

use crate::dispatch::txn::{Role, Txn};
use crate::flash::command::{Command, CommandPlane, FlashOp, Source};
use crate::ftl::core::Move;
use crate::ftl::frontier::Stream;
use crate::sim::index::{DieId, JobId, PageId, PlaneId, TxnId};
use crate::sim::queue::EventQueue;
use crate::ssd::back_end::BackEnd;
use crate::tasks::gc::granularity::GranularityPolicy;
use std::ops::Range;

impl BackEnd {
    /// A die takes a request of a relocation.
    pub(in crate::ssd) fn take_request(&mut self, die: DieId, id: TxnId, events: &mut EventQueue) {
        self.stop_waiting(id, events.now_ns());
        match self.txns[id].role {
            Role::RelocationRead => self.take_relocation_read(die, id, events),
            Role::RelocationProgram => self.take_relocation_program(die, id, events),
            _ => self.take_relocation_erase(die, id, events),
        }
    }

    fn take_relocation_read(&mut self, die: DieId, id: TxnId, events: &mut EventQueue) {
        let Txn { job, plane, task: source, .. } = self.txns[id];
        let (ftl, geometry) = (&self.ftl, &self.geometry);
        let is_current = |m: Move| ftl.lookup(m.unit) == m.from;
        let bound = self
            .gc
            .relocations
            .change(job, &mut self.admission.reservations, |r| r.bind_read(|unit| geometry.page_of(unit), is_current));
        let Some((page, units)) = bound else { return self.end_request(id, events) };
        self.txns[id].units = units;
        if source == Source::GC {
            self.records.counters.on_reads_waiting(self.dies[die].reads_waiting());
        }
        if self.scheme.granularity.copies_back() && units == self.geometry.units_per_page {
            return self.copy_back(die, id, events);
        }
        let mut command = Command::new(FlashOp::Read, source, JobId::NONE, events.now_ns());
        command.push(CommandPlane { plane, page, units, txn: id });
        self.issue(die, &command, events);
    }

    /// Copies back the page whose read was just bound: all its units are valid.
    fn copy_back(&mut self, die: DieId, id: TxnId, events: &mut EventQueue) {
        self.txns[id].role = Role::RelocationCopyback;
        let Txn { job, plane, units, task: source, .. } = self.txns[id];
        let which = self.gc.relocations.change(job, &mut self.admission.reservations, |r| r.copy_back(units));
        let page = self.bind_moves_of(job, plane, which);
        let mut command = Command::new(FlashOp::Copyback, source, JobId::NONE, events.now_ns());
        command.push(CommandPlane { plane, page, units, txn: id });
        self.issue(die, &command, events);
        self.collect_if_low(plane, events);
    }

    fn take_relocation_program(&mut self, die: DieId, id: TxnId, events: &mut EventQueue) {
        let Txn { job, plane, units, task: source, .. } = self.txns[id];
        if self.admission.reservations.are_shared() {
            self.admission.reservations.take_move(plane);
        }
        let which = self.gc.relocations.change(job, &mut self.admission.reservations, |r| r.bind_program(units));
        let page = self.bind_moves_of(job, plane, which);
        let mut command = Command::new(FlashOp::Program, source, JobId::NONE, events.now_ns());
        self.push_page(&mut command, plane, page, id);
        self.issue(die, &command, events);
        self.collect_if_low(plane, events);
    }

    fn take_relocation_erase(&mut self, die: DieId, id: TxnId, events: &mut EventQueue) {
        let relocation = self.gc.relocations.get(self.txns[id].job);
        let (plane, block, source) = (relocation.plane(), relocation.block(), relocation.source());
        if let Some(shadow) = &mut self.records.shadow {
            shadow.begin_erase(block, &self.ftl);
        }
        let page = self.geometry.page_of(self.geometry.first_unit(block));
        let mut command = Command::new(FlashOp::Erase, source, JobId::NONE, events.now_ns());
        command.push(CommandPlane { plane, page, units: 0, txn: id });
        self.issue(die, &command, events);
    }

    /// Binds a page of a plane for some of the moves of a relocation.
    fn bind_moves_of(&mut self, job: JobId, plane: PlaneId, which: Range<usize>) -> PageId {
        let relocation = self.gc.relocations.get(job);
        let moves = relocation.moves(which);
        self.records.counters.on_moved_units(relocation.source(), moves.len() as u64);
        let stamp = self.ftl.counts().host_units;
        let current: Vec<bool> = match self.records.shadow {
            Some(_) => moves.iter().map(|m| self.ftl.lookup(m.unit) == m.from).collect(),
            None => Vec::new(),
        };
        let page = self.ftl.move_page(plane, self.ftl.write_point(plane, Stream::Moved), moves, 0, stamp);
        if let Some(shadow) = &mut self.records.shadow {
            shadow.move_page(&self.ftl, page, moves, &current, 0);
        }
        self.map.on_moved(&mut self.queues, &self.txns, &self.ftl, moves, page);
        self.after_bind(plane);
        page
    }
}
