//! What a run says of itself.

use super::{Member, Simulation};
use crate::buffer::lru::Buffer;
use crate::config::host::HostMode;
use crate::controller::drive::Drive;
use crate::metrics::report::Sample;
use crate::metrics::steady::{Mark, Steady};
use crate::sim::index::PlaneId;
use crate::sim::queue::EventQueue;

impl Simulation<'_> {
    /// Where the run is.
    pub(super) fn mark(&self) -> Mark {
        let mut mark = Mark {
            host_units: self.collector.written_units,
            requests: self.collector.done.iter().sum(),
            now_ns: self.events.now_ns(),
            ..Mark::default()
        };
        for drive in self.drives() {
            let counts = drive.counts();
            mark.flash_units += counts.host_units + counts.moved_units + counts.padding_units;
            mark.erases += counts.erases;
        }
        mark
    }

    /// Whether the drives had settled, at the end of the run.
    pub fn steady(&self) -> Steady {
        self.track.judge(self.mark(), self.host.mode == HostMode::Closed)
    }

    pub(super) fn sample(&mut self, now_ns: u64) {
        let planes = self.members.iter().flat_map(|m| {
            let ftl = &m.drive.ftl;
            (0..m.drive.geometry().planes).map(|p| ftl.free_blocks_of(PlaneId(p)))
        });
        let (mut count, mut sum, mut min) = (0u64, 0u64, u32::MAX);
        for free in planes {
            (count, sum, min) = (count + 1, sum + u64::from(free), min.min(free));
        }
        let state = Sample {
            free_blocks_min: min,
            free_blocks_mean: sum as f64 / count as f64,
            queue_depth: self.requests.live(),
            dies_collecting: self.members.iter().map(|m| m.drive.dies_leased()).sum(),
            ..Sample::default()
        };
        self.collector.sample(now_ns, state);
    }

    /// The drives of the run.
    pub fn drives(&self) -> impl Iterator<Item = &Drive> {
        self.members.iter().map(|m| &m.drive)
    }

    /// A drive, to have work of other tasks started on it, and the queue that this needs.
    pub fn drive_and_events(&mut self, member: usize) -> (&mut Drive, &mut EventQueue) {
        (&mut self.members[member].drive, &mut self.events)
    }

    /// Hits of reads and of writes in DRAM, and dirty units left there.
    pub fn buffer_counts(&self) -> (u64, u64, u64) {
        let left = |m: &Member| m.buffer.as_ref().map_or(0, Buffer::dirty_units);
        self.members
            .iter()
            .fold((0, 0, 0), |(r, w, l), m| (r + m.buffer_read_hits, w + m.buffer_write_hits, l + left(m)))
    }

    /// Most requests that were under way at once.
    pub fn max_queue_depth(&self) -> u32 {
        self.max_queue_depth
    }

    /// From the first arrival to the last end.
    pub fn span_ns(&self) -> u64 {
        self.last_end_ns - self.first_arrival_ns.unwrap_or(0)
    }

    /// The clock.
    pub fn now_ns(&self) -> u64 {
        self.events.now_ns()
    }
}
