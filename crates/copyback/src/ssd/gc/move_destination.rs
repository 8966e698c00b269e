//! The destination of a collection's page: the view of the drive by which the granularity chooses it.

use crate::ftl::frontier::Stream;
use crate::sim::index::{JobId, PlaneId};
use crate::ssd::drive::Drive;
use crate::tasks::gc::destination::Planes;
use crate::tasks::gc::granularity::GranularityPolicy;

impl Drive {
    /// The plane to which a job's next page goes.
    pub(in crate::ssd) fn destination_of(&self, id: JobId) -> PlaneId {
        let job = &self.gc.jobs[id];
        self.scheme.granularity.destination(job.plane(), job.has_to_leave, self)
    }
}

impl Planes for Drive {
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
