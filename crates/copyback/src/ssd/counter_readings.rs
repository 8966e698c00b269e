//! Readings of a drive's counters. The work in a part of a run is the difference of two readings.

use super::back_end::BackEnd;
use super::run_records::FewestFree;
use crate::buffer::Buffer;
use crate::flash::timing::Timing;
use crate::ftl::log_blocks::MergeTotals;
use crate::observe::counters::{EvictionTotals, GcTotals, MapTotals};
use crate::observe::flash_requests::FlashRequestTotals;
use crate::observe::report::{FlashWork, ParityTotals, SampleWork};

/// The values of a drive's counters at one time.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// Work, including counts of the translation layer (padding units, skipped pages, dropped moves). These include the
    /// preconditioning.
    pub work: FlashWork,
    /// Collection. Its longest collection and its most waiting reads are those since the current part of the run began.
    pub gc: GcTotals,
    /// Writes of the buffer. The most planes in use are those since the current part of the run began.
    pub evictions: EvictionTotals,
    /// Traffic of the map, if it is in flash.
    pub map: Option<MapTotals>,
    /// Work that parity caused, if there is parity.
    pub parity: Option<ParityTotals>,
    /// Merges, if there are log blocks; they include those of the preconditioning.
    pub merges: Option<MergeTotals>,
    /// Time of the host's flash requests, if it is measured.
    pub flash_requests: Option<FlashRequestTotals>,
    /// Sum over planes of their time in use. A command counts when it ends, or when a part of the run begins.
    pub plane_busy_ns: u64,
    /// Sum over dies of their time in use.
    pub die_busy_ns: u64,
    /// Sum over channels of their time in use.
    pub channel_busy_ns: u64,
    /// Sum over dies of the time that collection held them. 64 bits would overflow with two dies over 292 years.
    pub held_by_gc_ns: u128,
    /// Time with at least one collection in progress that reserves no die.
    pub collecting_ns: u64,
}

impl BackEnd {
    /// Work, including the counts of the translation layer.
    pub fn work(&self) -> FlashWork {
        let counts = self.ftl.counts();
        let mut work = self.records.counters.work().clone();
        work.padding_units += counts.padding_units;
        work.skipped_pages += counts.skipped_units / u64::from(self.geometry.units_per_page);
        work.dropped_moves += counts.dropped_moves;
        work
    }

    /// The part of the work that samples over time show.
    pub fn sample_work(&self) -> SampleWork {
        let work = SampleWork::of(self.records.counters.work());
        SampleWork { padding_units: work.padding_units + self.ftl.counts().padding_units, ..work }
    }

    /// The current values of the counters.
    pub fn reading(&self, now_ns: u64) -> Reading {
        let (plane_busy_ns, die_busy_ns, channel_busy_ns) = self.flash.busy_ns(now_ns);
        Reading {
            work: self.work(),
            gc: *self.records.counters.gc(),
            evictions: *self.records.counters.evictions(),
            map: self.map.translation.as_ref().map(|map| map.totals()),
            parity: self.parity_totals(),
            merges: self.ftl.merge_totals(),
            flash_requests: self.records.flash_requests.as_deref().copied(),
            plane_busy_ns,
            die_busy_ns,
            channel_busy_ns,
            held_by_gc_ns: self.held_by_gc_ns(now_ns),
            collecting_ns: self.gc.relocations.collecting_for_ns(now_ns),
        }
    }

    /// The times of the drive's flash.
    pub fn timing(&self) -> &Timing {
        self.flash.timing()
    }

    /// Memory that the buffer needs in addition to its pages.
    pub fn buffer_bookkeeping_bytes(&self) -> f64 {
        self.host_side.buffer.as_ref().map_or(0.0, Buffer::bookkeeping_bytes)
    }

    /// A part of the run begins. Extremes (the longest collection, the fewest free blocks, and others) restart, because
    /// no difference of readings yields them. The recorded collections are discarded. The time of commands and
    /// collections in progress is divided between the parts of the run.
    pub(crate) fn begin_part(&mut self, now_ns: u64) {
        self.records.counters.restart_extremes();
        self.records.fewest_free = FewestFree::from_now(&self.ftl);
        let (dies, counters) = (&mut self.dies, &mut self.records.counters);
        self.flash.settle_planes(now_ns, |die, from_ns| {
            if let Some(since_ns) = dies[die].collecting_since_ns() {
                counters.on_plane_busy(now_ns - from_ns.max(since_ns));
            }
        });
        for die in dies.iter_mut() {
            if let Some(since_ns) = die.collecting_since_ns() {
                counters.on_die_reserved(now_ns - since_ns);
            }
            die.count_collecting_from(now_ns);
        }
    }
}

impl Reading {
    /// The work between `earlier` and this reading.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            work: self.work.zip(&earlier.work, |now, then| now - then),
            gc: GcTotals {
                collections: self.gc.collections - earlier.gc.collections,
                units: self.gc.units - earlier.gc.units,
                time_ns: self.gc.time_ns - earlier.gc.time_ns,
                max_ns: self.gc.max_ns,
                reads_waiting_sum: self.gc.reads_waiting_sum - earlier.gc.reads_waiting_sum,
                reads_waiting_max: self.gc.reads_waiting_max,
                plane_busy_ns: self.gc.plane_busy_ns - earlier.gc.plane_busy_ns,
                reserved_ns: self.gc.reserved_ns - earlier.gc.reserved_ns,
                array_ns: std::array::from_fn(|at| self.gc.array_ns[at] - earlier.gc.array_ns[at]),
                array_pages: std::array::from_fn(|at| self.gc.array_pages[at] - earlier.gc.array_pages[at]),
            },
            evictions: self.evictions.since(&earlier.evictions),
            map: self.map.map(|map| map.zip(&earlier.map.unwrap_or_default(), |now, then| now - then)),
            parity: self.parity.map(|all| all.zip(&earlier.parity.unwrap_or_default(), |now, then| now - then)),
            merges: self.merges.map(|all| all.zip(&earlier.merges.unwrap_or_default(), |now, then| now - then)),
            flash_requests: self
                .flash_requests
                .map(|all| all.zip(&earlier.flash_requests.unwrap_or_default(), |now, then| now - then)),
            plane_busy_ns: self.plane_busy_ns - earlier.plane_busy_ns,
            die_busy_ns: self.die_busy_ns - earlier.die_busy_ns,
            channel_busy_ns: self.channel_busy_ns - earlier.channel_busy_ns,
            held_by_gc_ns: self.held_by_gc_ns - earlier.held_by_gc_ns,
            collecting_ns: self.collecting_ns - earlier.collecting_ns,
        }
    }
}
