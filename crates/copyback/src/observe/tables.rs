//! Rows of the tables behind a report: samples of a drive's state, collections, requests; and when requests arrived.

use super::report::{CAUSES, FlashWork};
use serde::Serialize;

/// State of the drive at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Sample {
    /// When.
    pub time_ns: u64,
    /// Free blocks of the plane that has fewest.
    pub free_blocks_min: u32,
    /// Free blocks of a plane on average.
    pub free_blocks_mean: f64,
    /// Requests in the drive.
    pub queue_depth: u32,
    /// Dies in garbage collection.
    pub dies_collecting: u32,
    /// Requests done since the sample before.
    pub requests_done: u64,
    /// Sum of their response times.
    pub response_sum_ns: u64,
    /// The work requested of the drives, and the work of their flash, since the previous sample.
    pub work: SampleWork,
    /// Share of the slots that collections may hold, in percent; 0 while there are none. Mean over the drives whose
    /// tasks have shares; `None` if no drive has any.
    pub gc_share_percent: Option<f64>,
    /// Share of the slots that scrubbing may hold, if `admit` has shares.
    pub scrub_share_percent: Option<f64>,
    /// Reads of the block that was read most since its erase, if they are counted.
    pub block_reads_max: Option<u32>,
}

impl Sample {
    /// Adds the previous sample: the work of both, the fewest free blocks, and the state of the later one.
    pub(super) fn add(&mut self, before: &Self) {
        self.requests_done += before.requests_done;
        self.response_sum_ns += before.response_sum_ns;
        self.work = self.work.zip(&before.work, |a, b| a + b);
        self.free_blocks_min = self.free_blocks_min.min(before.free_blocks_min);
    }
}

/// The work requested of the drives, and the work of their flash, from one sample to the next. Sums over all samples
/// are the numbers of the report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SampleWork {
    /// Trims done; they are among the requests done.
    pub trims_done: u64,
    /// Mapping units that the host wrote: units bound to flash or, with a buffer, superpages or a redundant array,
    /// units of the requests that were split.
    pub units_written: u64,
    /// Mapping units programmed for the host.
    pub host_units: u64,
    /// Mapping units moved by garbage collection.
    pub gc_units: u64,
    /// Mapping units moved or written by other background work.
    pub other_units: u64,
    /// Unit places of programmed pages that were left empty.
    pub padding_units: u64,
    /// Page reads for the host.
    pub host_page_reads: u64,
    /// Page programs for the host.
    pub host_page_programs: u64,
    /// Page reads of garbage collection.
    pub gc_page_reads: u64,
    /// Page programs of garbage collection.
    pub gc_page_programs: u64,
    /// Block erases.
    pub block_erases: u64,
}

impl SampleWork {
    /// The counters of drives, without the host's writes.
    pub fn of(flash: &FlashWork) -> Self {
        Self {
            trims_done: 0,
            units_written: 0,
            host_units: flash.host_units,
            gc_units: flash.gc_units,
            other_units: flash.other_units,
            padding_units: flash.padding_units,
            host_page_reads: flash.host_page_reads,
            host_page_programs: flash.host_page_programs,
            gc_page_reads: flash.gc_page_reads,
            gc_page_programs: flash.gc_page_programs,
            block_erases: flash.block_erases,
        }
    }

    /// Combines each count with the same count of `other`.
    #[must_use]
    #[inline]
    pub fn zip(&self, other: &Self, with: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            trims_done: with(self.trims_done, other.trims_done),
            units_written: with(self.units_written, other.units_written),
            host_units: with(self.host_units, other.host_units),
            gc_units: with(self.gc_units, other.gc_units),
            other_units: with(self.other_units, other.other_units),
            padding_units: with(self.padding_units, other.padding_units),
            host_page_reads: with(self.host_page_reads, other.host_page_reads),
            host_page_programs: with(self.host_page_programs, other.host_page_programs),
            gc_page_reads: with(self.gc_page_reads, other.gc_page_reads),
            gc_page_programs: with(self.gc_page_programs, other.gc_page_programs),
            block_erases: with(self.block_erases, other.block_erases),
        }
    }

    /// Units programmed for each unit that the host wrote; `None` if it wrote none.
    pub fn write_amplification(&self) -> Option<f64> {
        let programmed = self.host_units + self.gc_units + self.other_units + self.padding_units;
        (self.units_written > 0).then(|| programmed as f64 / self.units_written as f64)
    }
}

/// A bin of the window of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Bin {
    /// Its start. It ends at the start of the next one.
    pub start_ns: u64,
    /// Requests that ended in it, including requests of a warm-up.
    pub requests_done: u64,
    /// Sum of their response times.
    pub response_sum_ns: u64,
    /// Reads among the ended requests.
    pub reads_done: u64,
    /// Small reads among the ended reads.
    pub small_reads_done: u64,
    /// Sum of the response times of small reads.
    pub small_read_response_sum_ns: u64,
    /// Free blocks of all drives, at its end.
    pub free_blocks: u64,
    /// The fewest during the bin: at its start, at its end, and about ten times in between.
    pub free_blocks_fewest: u64,
    /// See [`Sample::gc_share_percent`]; at its end.
    pub gc_share_percent: Option<f64>,
    /// See [`Sample::scrub_share_percent`]; at its end.
    pub scrub_share_percent: Option<f64>,
    /// See [`Sample::block_reads_max`]; at its end.
    pub block_reads_max: Option<u32>,
}

/// One collection.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct GcEvent {
    /// The drive, if there are several.
    pub drive: u32,
    /// When its die was reserved for it, or its first command began.
    pub start_ns: u64,
    /// When its block was erased.
    pub end_ns: u64,
    /// Die of the victim.
    pub die: u32,
    /// Plane of the victim, counted over the drive.
    pub plane: u32,
    /// Victim, counted over the drive.
    pub block: u32,
    /// Valid units in it.
    pub units_valid: u32,
    /// Free blocks of the plane when it started.
    pub free_blocks: u32,
}

/// One host request.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RequestRecord {
    /// Its number in the order of arrival, from 0.
    pub index: u64,
    /// 0 read, 1 write, 2 trim.
    pub op: u8,
    /// The workload by its position in the list, if there are several; else 0.
    pub workload: u16,
    /// Whether it waited for collection.
    pub gc_affected: bool,
    /// When it arrived.
    pub arrival_ns: u64,
    /// First byte.
    pub offset_bytes: u64,
    /// Bytes.
    pub len_bytes: u64,
    /// Response time.
    pub response_ns: u64,
    /// Its parts by cause, in the order of [`super::report::ALL_CAUSES`].
    pub breakdown_ns: [u64; CAUSES],
}

/// The arrival times of requests, including requests of a warm-up. In a closed loop: when each began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrivals {
    /// The first.
    pub first_ns: u64,
    /// The last.
    pub last_ns: u64,
    /// All of them.
    pub requests: u64,
    /// Requests that arrived in the same nanosecond as another.
    pub together: u64,
    /// Whether the last is one of those.
    is_together: bool,
}

impl Arrivals {
    /// Another arrival, not before the last one.
    #[inline]
    pub fn add(&mut self, at_ns: u64) {
        let is_together = self.requests > 0 && at_ns == self.last_ns;
        if is_together {
            self.together += 1 + u64::from(!self.is_together);
        }
        if self.requests == 0 {
            self.first_ns = at_ns;
        }
        (self.last_ns, self.is_together) = (at_ns, is_together);
        self.requests += 1;
    }
}
