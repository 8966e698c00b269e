//! Where does a page of a collection go when collection is global?

use super::drive::Drive;
use crate::ftl::frontier::Origin;
use crate::sim::index::{JobId, PlaneId};
use std::cmp::Reverse;

impl Drive {
    /// The plane to which a job's next page goes. It leaves home for a plane with more pages left than its own one, on
    /// an idle die: one that runs no collection and has no moves of others to program. A collection that waited for the
    /// die of another, which waits for a third, would hold up all, and home is free. Of such planes one that takes the
    /// page without falling to its watermark, then the one at whose die least waits, then the one with most pages left.
    ///
    /// A job on a plane that is full of valid data takes it to the plane with most pages left, for at home it would
    /// free nothing.
    pub(crate) fn destination_of(&self, id: JobId) -> PlaneId {
        let job = &self.jobs[id.at()];
        let left = |p: PlaneId| self.ftl.pages_left(p, Origin::Move);
        let others = (0..self.geometry.planes).map(PlaneId).filter(|&p| p != job.plane && self.accepts_move(p));
        if job.has_to_leave {
            return others.max_by_key(|&p| (left(p), Reverse(p))).unwrap_or(job.plane);
        }
        let rank = |&p: &PlaneId| {
            let keeps_watermark = left(p) > self.settings.watermark_pages;
            let waiting = self.dies[self.geometry.die_of(p).at()].waiting;
            (keeps_watermark, Reverse(waiting), left(p), Reverse(p))
        };
        let suits = |&p: &PlaneId| left(p) > left(job.plane) && self.is_die_idle(p);
        others.filter(suits).max_by_key(rank).unwrap_or(job.plane)
    }

    /// Whether the die of a plane runs no collection and has no moves of others to program.
    fn is_die_idle(&self, plane: PlaneId) -> bool {
        let die = self.geometry.die_of(plane);
        let d = &self.dies[die.at()];
        let expects_moves = || self.geometry.planes_of(die).any(|p| self.incoming_moves[p.at()] > 0);
        d.reserved_by.is_none() && d.waiting_jobs_count == 0 && !expects_moves()
    }
}
