//! The view of a die for policies of order and of preemption: implements [`DieView`] from the drive's state when a
//! policy asks.

use crate::dispatch::index::place_of;
use crate::dispatch::queues::{Queue, Queues};
use crate::dispatch::txn::Txns;
use crate::flash::geometry::Geometry;
use crate::ftl::core::{Ftl, Move};
use crate::sim::index::{DieId, PlaneId, TxnId};
use crate::ssd::back_end::BackEnd;
use crate::ssd::dies::die::DieState;
use crate::ssd::gc::job_table::JobTable;
use crate::tasks::view::{Class, DieView, Waiting, WorkLeft};

/// A die as policies see it.
pub(in crate::ssd) struct VisibleDie<'a> {
    pub now_ns: u64,
    pub id: DieId,
    pub die: &'a DieState,
    pub queues: &'a Queues,
    pub txns: &'a Txns,
    pub ftl: &'a Ftl,
    pub jobs: &'a JobTable,
    pub geometry: &'a Geometry,
}

impl BackEnd {
    /// The view of a die for policies.
    #[inline(always)]
    pub(in crate::ssd) fn visible_die(&self, id: DieId, now_ns: u64) -> VisibleDie<'_> {
        let (die, queues, txns, ftl, jobs) = (&self.dies[id], &self.queues, &self.txns, &self.ftl, &self.gc.jobs);
        VisibleDie { now_ns, id, die, queues, txns, ftl, jobs, geometry: &self.geometry }
    }
}

impl VisibleDie<'_> {
    fn queued(&self, class: Class) -> impl Iterator<Item = TxnId> + '_ {
        let queue = match class {
            Class::Gc => Queue::Move,
            Class::Read => Queue::Read,
            Class::Write => Queue::Write,
        };
        self.queues.iter(self.queues.of_die(self.id, queue)).map(TxnId)
    }

    fn plane_of(&self, id: TxnId) -> PlaneId {
        let txn = &self.txns[id];
        if txn.role.is_read() {
            let place = place_of(txn, |unit| self.ftl.lookup(unit));
            return place.map_or(PlaneId::NONE, |place| self.geometry.plane_of(self.geometry.block_of(place)));
        }
        txn.plane
    }
}

impl DieView for VisibleDie<'_> {
    fn now_ns(&self) -> u64 {
        self.now_ns
    }

    fn die(&self) -> DieId {
        self.id
    }

    fn geometry(&self) -> &Geometry {
        self.geometry
    }

    fn waiting(&self, class: Class) -> u32 {
        match class {
            Class::Gc => self.die.jobs_waiting() + self.queued(Class::Gc).count() as u32,
            Class::Read => self.die.reads_waiting(),
            Class::Write => self.die.waiting() - self.die.reads_waiting(),
        }
    }

    fn waiting_for(&self, class: Class, plane: PlaneId) -> u32 {
        self.queued(class).filter(|&id| self.plane_of(id) == plane).count() as u32
    }

    fn first(&self, class: Class) -> Option<Waiting> {
        let mut queued = self.queued(class);
        if class == Class::Gc { None } else { queued.next().map(|id| self.request(id)) }
    }

    fn first_for(&self, class: Class, plane: PlaneId) -> Option<Waiting> {
        let id = self.queued(class).find(|&id| class != Class::Gc && self.plane_of(id) == plane)?;
        Some(self.request(id))
    }

    fn request(&self, id: TxnId) -> Waiting {
        let txn = &self.txns[id];
        let (came, arrival_ns, units, is_urgent) = (txn.sequence, txn.arrival_ns, txn.units, txn.high_priority);
        Waiting { came, arrival_ns, units, is_urgent, plane: self.plane_of(id) }
    }

    fn free_blocks(&self, plane: PlaneId) -> u32 {
        self.ftl.free_blocks_of(plane)
    }

    fn free_pages(&self, plane: PlaneId) -> u32 {
        self.ftl.free_pages_of(plane)
    }

    fn work_left(&self) -> Option<WorkLeft> {
        let job = self.die.is_reserved().then(|| &self.jobs[self.die.reserved_by()])?;
        let is_together = |a: &Move, b: &Move| self.geometry.page_of(a.from) == self.geometry.page_of(b.from);
        let pages_of = |moves: &[Move]| moves.chunk_by(is_together).count() as u32;
        let pages_to_read = pages_of(job.pending()) + pages_of(job.hot());
        let pages_to_program = job.pages_left(self.geometry.units_per_page);
        let steps = pages_to_read + pages_to_program + 1;
        Some(WorkLeft { plane: job.plane(), pages_to_read, pages_to_program, steps })
    }
}
