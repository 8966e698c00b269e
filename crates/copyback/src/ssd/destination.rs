//! Where does a page of a round go when collection is global?

use super::drive::Drive;
use crate::ftl::frontier::Origin;
use crate::sim::index::{JobId, PlaneId};
use std::cmp::Reverse;

impl Drive {
    /// The plane to which a job's next page goes. It leaves home for a plane with more room than its own one, on a quiet die:
    /// one that runs no round and has no moves of others to program. A round that waited for the die of another, which waits
    /// for a third, would hold up all, and home is free. Of such planes one that takes the page without falling to its level,
    /// then the one at whose die least waits, then the roomiest.
    ///
    /// A job on a plane that is full of valid data takes it to the roomiest of all, for at home it would gain nothing.
    pub(crate) fn destination_of(&self, id: JobId) -> PlaneId {
        let job = &self.jobs[id.at()];
        let room = |p: PlaneId| self.ftl.pages_left(p, Origin::Move);
        let others = (0..self.geometry.planes).map(PlaneId).filter(|&p| p != job.plane && self.accepts_move(p));
        if job.has_to_leave {
            return others.max_by_key(|&p| (room(p), Reverse(p))).unwrap_or(job.plane);
        }
        let rank = |&p: &PlaneId| {
            let keeps_level = room(p) > self.settings.level_pages;
            let waiting = self.dies[self.geometry.die_of(p).at()].waiting;
            (keeps_level, Reverse(waiting), room(p), Reverse(p))
        };
        let suits = |&p: &PlaneId| room(p) > room(job.plane) && self.is_quiet(p);
        others.filter(suits).max_by_key(rank).unwrap_or(job.plane)
    }

    /// Whether the die of a plane runs no round and has no moves of others to program.
    fn is_quiet(&self, plane: PlaneId) -> bool {
        let die = self.geometry.die_of(plane);
        let d = &self.dies[die.at()];
        let expects_moves = || self.geometry.planes_of(die).any(|p| self.incoming_moves[p.at()] > 0);
        d.lease.is_none() && d.waiting_jobs_count == 0 && !expects_moves()
    }
}
