//! Where does a page of a round go when collection is global?

use super::drive::Drive;
use crate::ftl::frontier::Origin;
use crate::sim::index::{JobId, PlaneId};
use std::cmp::Reverse;

impl Drive {
    /// The plane to which a job's next page goes: of those with more room than its own one that takes the page without falling
    /// to its level; of these one whose die runs no round, and of these the one at whose die least waits: a round that waits
    /// for the die of another, which waits for a third, would hold up all. Where each is at its level, the roomiest. A job on
    /// a plane that is full of valid data takes it to the roomiest, for at home it would gain nothing.
    pub(super) fn destination_of(&self, id: JobId) -> PlaneId {
        let job = &self.jobs[id.at()];
        let room = |p: PlaneId| self.ftl.pages_left(p, Origin::Move);
        let suits =
            |&p: &PlaneId| p != job.plane && (job.has_to_leave || room(p) > room(job.plane)) && self.accepts_move(p);
        let rank = |&p: &PlaneId| {
            let die = self.geometry.die_of(p);
            let d = &self.dies[die.at()];
            let keeps_level = room(p) > self.settings.level_pages + self.incoming_moves[p.at()];
            let by_load = keeps_level && !job.has_to_leave;
            let runs_no_round = by_load && d.lease.is_none() && d.waiting_jobs_count == 0;
            let moves: u32 = self.geometry.planes_of(die).map(|p| self.incoming_moves[p.at()]).sum();
            let queued = if by_load { d.waiting + moves } else { 0 };
            (by_load, runs_no_round, Reverse(queued), room(p), Reverse(p))
        };
        (0..self.geometry.planes).map(PlaneId).filter(suits).max_by_key(rank).unwrap_or(job.plane)
    }
}
