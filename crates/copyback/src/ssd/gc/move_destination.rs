//! The destination of a collection's page: its plane, which the granularity chooses by a view of the drive, and the
//! open block of that plane.

use crate::ftl::frontier::Stream;
use crate::sim::index::{DieId, JobId, PlaneId};
use crate::ssd::back_end::{BackEnd, Queue};
use crate::tasks::gc::destination::DestinationView;
use crate::tasks::gc::granularity::GranularityPolicy;

impl BackEnd {
    /// Whether a write waits for space that a collection of any die may make, because moves go to other planes.
    #[inline(always)]
    pub(in crate::ssd) fn waits_for_any_collection(&self) -> bool {
        self.scheme.settings.collection.leaves_plane && self.dies.waiting_for_space() > 0
    }

    /// Whether a die's collection must not be delayed, because moves go to other planes: writes wait for the space that
    /// it makes anywhere, or moves that arrive here wait for it.
    pub(in crate::ssd) fn moves_wait_for(&self, die: DieId) -> bool {
        self.scheme.settings.collection.leaves_plane
            && (self.dies.waiting_for_space() > 0 || self.head(die, Queue::Move).is_some())
    }

    /// The plane to which a job's next page goes.
    #[inline(always)]
    pub(in crate::ssd) fn destination_of(&self, id: JobId) -> PlaneId {
        let job = &self.gc.jobs[id];
        if !self.scheme.settings.collection.leaves_plane {
            return job.plane();
        }
        self.scheme.granularity.destination(job.plane(), job.has_to_leave, self)
    }

    /// The open block of a plane for the next page of a job: that of moved data or, if the page is hot and can be
    /// spared, that of the host.
    pub(in crate::ssd) fn write_point_of(&self, id: JobId, plane: PlaneId) -> usize {
        let is_hot = self.map.hotness.is_some() && self.gc.jobs[id].moves_hot() && self.spares_page(plane);
        self.ftl.write_point(plane, if is_hot { Stream::Host } else { Stream::Moved })
    }

    /// Whether a page of a plane is neither reserved nor kept for moves.
    fn spares_page(&self, plane: PlaneId) -> bool {
        let (die, bound) = self.bound_of(plane);
        self.reservable(die, bound) >= self.admission.reservations.space().writes_per_page()
            && self.host_pages_left(plane) > 0
    }
}

impl DestinationView for BackEnd {
    fn planes(&self) -> u32 {
        self.geometry.planes
    }

    fn reservable(&self, plane: PlaneId) -> u32 {
        self.ftl.pages_left(plane, Stream::Moved)
    }

    fn accepts(&self, plane: PlaneId) -> bool {
        self.accepts_move(plane)
    }

    fn is_die_idle(&self, plane: PlaneId) -> bool {
        let die = self.geometry.die_of(plane);
        let d = &self.dies[die];
        let expects_moves =
            || self.geometry.planes_of(die).any(|p| self.admission.reservations.space().expects_moves(p));
        !d.is_reserved() && d.jobs_waiting() == 0 && !expects_moves()
    }

    fn keeps_watermark(&self, plane: PlaneId) -> bool {
        self.ftl.pages_left(plane, Stream::Moved) > self.scheme.settings.collection.watermark_pages
    }

    fn waiting(&self, plane: PlaneId) -> u32 {
        self.dies[self.geometry.die_of(plane)].waiting()
    }
}
