//! Pairing: the waiting requests of a die that its collection serves with its next step.
//!
//! These requests wait for the step, and do not preempt it. Results that depend only on the step are computed once, on
//! first use, because hundreds of requests may wait.

use crate::config::device::PLANES_MAX;
use crate::dispatch::compose::{JoiningReads, gc_host};
use crate::sim::index::{DieId, JobId, PageId, PlaneId, TxnId};
use crate::ssd::back_end::BackEnd;
use crate::tasks::gc::preemption::State;
use crate::tasks::job::Step;
use std::cell::OnceCell;

/// The requests that the next step of a collection will serve.
pub(in crate::ssd) struct StepPartners<'a> {
    drive: &'a BackEnd,
    die: DieId,
    job: JobId,
    /// `None`: the collection's step is in progress elsewhere.
    step: Option<Step>,
    /// The page that the collection reads first because a request waits for it (builder `merge`), if there is one.
    wanted: OnceCell<Option<PageId>>,
    /// The reads that join the collection's next read.
    partners: OnceCell<JoiningReads>,
    /// Whether writes to each plane of the die join the next program; the last entry: writes to any plane.
    joins: [OnceCell<bool>; PLANES_MAX as usize + 1],
}

impl<'a> StepPartners<'a> {
    /// The partners of the collection that has reserved a die.
    pub(in crate::ssd) fn of(drive: &'a BackEnd, die: DieId, step: Option<Step>) -> Self {
        let job = drive.dies[die].reserved_by();
        Self {
            drive,
            die,
            job,
            step,
            wanted: OnceCell::new(),
            partners: OnceCell::new(),
            joins: [const { OnceCell::new() }; PLANES_MAX as usize + 1],
        }
    }

    /// The plane that is being collected.
    #[inline(always)]
    pub(in crate::ssd) fn own_plane(&self) -> PlaneId {
        self.drive.gc.jobs[self.job].plane()
    }

    /// Whether the step takes all writes to a plane of the die, or all unbound writes if `plane` is none.
    pub(in crate::ssd) fn takes_writes_to(&self, plane: PlaneId) -> bool {
        let drive = self.drive;
        if !drive.scheme.settings.compose.gc_host || !matches!(self.step, Some(Step::Program { .. })) {
            return false;
        }
        let at = if plane.is_some() { drive.geometry.plane_offset(plane) as usize } else { PLANES_MAX as usize };
        let may_join =
            || drive.collection_state(self.die) == State::AllAllowed && !drive.scheme.settings.collection.leaves_plane;
        let own_plane = self.own_plane();
        let join = || may_join() && gc_host::can_writes_join(&drive.view_for_builders(self.die), plane, own_plane);
        *self.joins[at].get_or_init(join)
    }

    /// Whether the step serves a request that waits at the die.
    pub(in crate::ssd) fn takes(&self, txn: TxnId) -> bool {
        let settings = &self.drive.scheme.settings;
        self.step.is_some_and(|step| {
            (settings.compose.serves_from_moves && self.is_served_by_move(txn, step))
                || (settings.compose.gc_host && self.joins(txn, step))
        })
    }

    fn wanted_page(&self) -> Option<PageId> {
        let find = || {
            if self.drive.scheme.settings.compose.serves_from_moves {
                self.drive.wanted_page(self.die, self.job)
            } else {
                None
            }
        };
        *self.wanted.get_or_init(find)
    }

    /// Whether a request accesses only data that the collection moves: the page that it reads next, or whole units of
    /// its next program.
    fn is_served_by_move(&self, txn: TxnId, step: Step) -> bool {
        let drive = self.drive;
        match step {
            Step::Read { .. } => {
                let wanted = self.wanted_page();
                wanted.is_some() && drive.queues.index().page_of(txn) == wanted
            }
            Step::Program { units } => {
                drive.txns[txn].role.is_write() && drive.units_in_program(txn, self.job, units).is_some()
            }
            Step::Erase => false,
        }
    }

    /// Whether a request joins the collection's next command. Of the writes to a plane only the first joins; later ones
    /// keep their order, and are left to the collection, too.
    fn joins(&self, txn: TxnId, step: Step) -> bool {
        let (drive, job) = (self.drive, &self.drive.gc.jobs[self.job]);
        match step {
            Step::Read { .. } => {
                let found = self.partners.get_or_init(|| {
                    let next = || drive.geometry.page_of(job.pending()[0].from);
                    let lead = self.wanted_page().unwrap_or_else(next);
                    gc_host::reads(&drive.view_for_builders(self.die), lead)
                });
                found.as_slice().contains(&txn)
            }
            Step::Program { .. } => drive.txns[txn].role.is_write() && self.takes_writes_to(drive.txns[txn].plane),
            Step::Erase => false,
        }
    }
}
