//! The report of a run: plain data, the same bytes for the same inputs. Times are nanoseconds of simulated time.

use super::array_report::{ArrayReport, BandwidthReport};
use super::commands::CommandRecord;
use super::flash_requests::FlashRequestReport;
pub use super::flash_work::FlashWork;
use super::matched::Responses;
use super::microscope::MicroscopeView;
pub use super::rate_samples::{OpRates, RateSamples};
use super::steady::Steady;
pub use super::tables::{Arrivals, Bin, GcEvent, RequestRecord, Sample, SampleWork};
pub use super::tenants::{TenantLatencies, TenantReport};
use super::window_report::WindowReport;
use crate::ftl::log_blocks::MergeTotals;
use hdrhistogram::Histogram;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// Why a part of a response time passed. At each instant a request waits for one cause: what its last unit waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Cause {
    /// The array worked for it.
    Flash,
    /// Its data, or its command, was on the channel.
    Transfer,
    /// Its die was ready, and the channel was busy.
    Channel,
    /// Its die, or the space it needed, waited for garbage collection.
    Gc,
    /// Its die was busy with map traffic.
    Map,
    /// Its die was busy with read scrubbing.
    Scrub,
    /// Its die was busy with wear levelling.
    Wear,
    /// Its die was busy with parity or a rebuild.
    Parity,
    /// Its die was busy with other host requests; or another request, or a rebuild, held its stripe of an array.
    HostIo,
    /// Its die was free, but the schedule or a window kept it out. Also the wait for admission to the drive, and the
    /// delays of firmware and of an array's controller.
    Scheduler,
    /// It was in DRAM, or in a page that fills. A wait for space in DRAM has the causes of the evictions.
    Buffer,
}

/// Number of causes.
pub const CAUSES: usize = 11;

/// All causes in the order of their numbers.
pub const ALL_CAUSES: [Cause; CAUSES] = [
    Cause::Flash,
    Cause::Transfer,
    Cause::Channel,
    Cause::Gc,
    Cause::Map,
    Cause::Scrub,
    Cause::Wear,
    Cause::Parity,
    Cause::HostIo,
    Cause::Scheduler,
    Cause::Buffer,
];

impl Cause {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Flash => "flash",
            Self::Transfer => "transfer",
            Self::Channel => "channel",
            Self::Gc => "gc",
            Self::Map => "map",
            Self::Scrub => "scrub",
            Self::Wear => "wear",
            Self::Parity => "parity",
            Self::HostIo => "host_io",
            Self::Scheduler => "scheduler",
            Self::Buffer => "buffer",
        }
    }
}

/// Response times of one class of requests. Percentiles are upper ends of histogram bins (three significant digits);
/// mean, standard deviation, minimum and maximum are exact. All are 0 if `count` is 0; in documents and tables they are
/// null then.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Latency {
    /// Requests.
    pub count: u64,
    /// Mean.
    pub mean_ns: f64,
    /// Standard deviation.
    pub stdev_ns: f64,
    /// Smallest.
    pub min_ns: u64,
    /// Median.
    pub p50_ns: u64,
    /// 90 %.
    pub p90_ns: u64,
    /// 95 %.
    pub p95_ns: u64,
    /// 99 %.
    pub p99_ns: u64,
    /// 99.9 %.
    pub p99_9_ns: u64,
    /// 99.99 %.
    pub p99_99_ns: u64,
    /// 99.999 %.
    pub p99_999_ns: u64,
    /// 99.9999 %.
    pub p99_9999_ns: u64,
    /// Largest.
    pub max_ns: u64,
}

impl Serialize for Latency {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { count, mean_ns, stdev_ns, min_ns, max_ns, .. } = *self;
        let Self { p50_ns, p90_ns, p95_ns, p99_ns, p99_9_ns, p99_99_ns, p99_999_ns, p99_9999_ns, .. } = *self;
        let has_requests = count > 0;
        let mut fields = serializer.serialize_struct("Latency", 13)?;
        fields.serialize_field("count", &count)?;
        for (name, ns) in [("mean_ns", mean_ns), ("stdev_ns", stdev_ns)] {
            fields.serialize_field(name, &has_requests.then_some(ns))?;
        }
        for (name, ns) in [
            ("min_ns", min_ns),
            ("p50_ns", p50_ns),
            ("p90_ns", p90_ns),
            ("p95_ns", p95_ns),
            ("p99_ns", p99_ns),
            ("p99_9_ns", p99_9_ns),
            ("p99_99_ns", p99_99_ns),
            ("p99_999_ns", p99_999_ns),
            ("p99_9999_ns", p99_9999_ns),
            ("max_ns", max_ns),
        ] {
            fields.serialize_field(name, &has_requests.then_some(ns))?;
        }
        fields.end()
    }
}

/// Response times by class.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Latencies {
    /// Reads and writes.
    pub all: Latency,
    /// Reads.
    pub read: Latency,
    /// Small reads: of at most `measure.small_read_max` bytes.
    pub small_read: Latency,
    /// Writes.
    pub write: Latency,
    /// Requests that waited, at any time, for a die reserved for or executing garbage collection.
    pub gc_affected: Latency,
    /// GC-affected reads.
    pub gc_affected_read: Latency,
    /// GC-affected writes.
    pub gc_affected_write: Latency,
}

/// Write amplification until the last request of the host has ended: flash units over host units, and its parts, which
/// add up. `None` without host writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WriteAmplification {
    /// All of it.
    pub total: Option<f64>,
    /// The host's own part: 1; less if a buffer absorbs writes; more if an array adds parity or copies, or if a write
    /// of a part of a superpage includes the rest.
    pub host: Option<f64>,
    /// Garbage collection's.
    pub gc: Option<f64>,
    /// Other background work's.
    pub other: Option<f64>,
    /// Padding's.
    pub padding: Option<f64>,
    /// What was programmed after the last request, over the same host units: no part of the total.
    pub after_last_request: Option<f64>,
}

/// Garbage collection as a whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct GcReport {
    /// Victims collected.
    pub collections: u64,
    /// Valid units moved.
    pub units_moved: u64,
    /// Sum over dies of the time that they were reserved for or executing collection.
    pub die_time_ns: u64,
    /// Mean time of a collection; `None` without collections.
    pub collection_mean_ns: Option<f64>,
    /// Longest collection; `None` without collections.
    pub collection_max_ns: Option<u64>,
    /// Time with at least one collection in progress, summed over drives; 0 if collections reserve dies.
    pub under_way_ns: u64,
    /// Array time of its reads; a read of several planes counts once.
    pub read_ns: u64,
    /// Its data on the channel, in both directions; every page counts as a whole one.
    pub transfer_ns: u64,
    /// Array time of its programs.
    pub program_ns: u64,
    /// Time of its erases.
    pub erase_ns: u64,
    /// Reads of the host that wait at the die when collection reads a page there: mean over those pages, `None` without
    /// such pages.
    pub reads_waiting_mean: Option<f64>,
    /// The most of them.
    pub reads_waiting_max: Option<u32>,
}

/// Writes that leave the buffer. All counts are 0 without one.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct EvictionReport {
    /// Writes of the buffer that are in flash.
    pub writes: u64,
    /// Sum of their times, from when they left the buffer's lists.
    pub time_ns: u64,
    /// Writes of the buffer that waited while collection held their die.
    pub blocked_by_gc: u64,
    /// Sum of the times of the writes that waited for collection.
    pub blocked_by_gc_ns: u64,
    /// Pages that were programmed by themselves while no write for another plane waited at their die.
    pub single_pages: u64,
    /// Pages that were programmed by themselves although a write for another plane waited, and pages that had waited
    /// while such a page was programmed: they had no common write point.
    pub unaligned_pages: u64,
    /// Pages that were programmed together with those of other planes.
    pub parallel_pages: u64,
    /// Planes in use once pages were sent to flash: mean over the moments at which some were, `None` without one.
    pub planes_in_use_mean: Option<f64>,
    /// The most of them.
    pub planes_in_use_max: Option<u32>,
}

/// Traffic of a map whose entries live in flash. Its pages are not in the work for the host, but in other work.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MapReport {
    /// Entries that reads, and writes to flash, looked up.
    pub lookups: u64,
    /// Entries that were in DRAM when they were looked up.
    pub hits: u64,
    /// Hits over look-ups; `None` without look-ups.
    pub hit_ratio: Option<f64>,
    /// Translation pages read.
    pub page_reads: u64,
    /// Translation pages written.
    pub page_programs: u64,
    /// Translation pages that were written because their changed entries had to leave DRAM.
    pub write_backs: u64,
    /// Translation pages that were written because entries of moved or written data were not in DRAM.
    pub updates: u64,
    /// Translation pages that still need such an update at the end.
    pub pages_owed: u64,
}

/// What parity made a drive do. Its programs and reads are other work, not the host's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ParityTotals {
    /// Reads of the host that were rebuilt, page by page.
    pub rebuilt: u64,
    /// Reads of other members for those.
    pub rebuild_reads: u64,
    /// Reads that would have been rebuilt if all that they needed had been in flash. Most often, the new parity of
    /// their stripe was on its way there.
    pub not_rebuilt: u64,
    /// Reads for new parity.
    pub reads: u64,
    /// Units of parity that were programmed, except by moves.
    pub units: u64,
}

impl ParityTotals {
    /// Combines each count with the same count of `other`.
    #[must_use]
    pub fn zip(&self, other: &Self, with: fn(u64, u64) -> u64) -> Self {
        Self {
            rebuilt: with(self.rebuilt, other.rebuilt),
            rebuild_reads: with(self.rebuild_reads, other.rebuild_reads),
            not_rebuilt: with(self.not_rebuilt, other.not_rebuilt),
            reads: with(self.reads, other.reads),
            units: with(self.units, other.units),
        }
    }
}

/// Utilization: shares of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Utilization {
    /// Planes, from a command's first cycle until the plane's register is free.
    pub plane: f64,
    /// Planes of dies while these dies collect; `None` without collection.
    pub plane_during_gc: Option<f64>,
    /// Dies with a current command.
    pub die: f64,
    /// Channels.
    pub channel: f64,
}

/// Wear of the blocks, counted over the drive's whole life.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Wear {
    /// Fewest erases of a block.
    pub min_erases: u32,
    /// Most.
    pub max_erases: u32,
    /// Mean.
    pub mean_erases: f64,
    /// Standard deviation.
    pub stdev_erases: f64,
}

/// Writes a mean by cause; if it is empty, all of its parts are null in documents.
pub(super) fn serialize_parts<S: Serializer>(parts: &[(Cause, f64)], serializer: S) -> Result<S::Ok, S::Error> {
    match parts {
        [] => ALL_CAUSES.map(|cause| (cause, None::<f64>)).serialize(serializer),
        parts => parts.serialize(serializer),
    }
}

/// Time by cause.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LatencyBreakdown {
    /// Mean over the requests of the class, by cause in the order of [`ALL_CAUSES`]; they add up to the class' mean.
    /// Empty without requests.
    #[serde(serialize_with = "serialize_parts")]
    pub read_mean_ns: Vec<(Cause, f64)>,
    /// The same for writes.
    #[serde(serialize_with = "serialize_parts")]
    pub write_mean_ns: Vec<(Cause, f64)>,
}

/// The work of a run before its measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WarmupReport {
    /// Requests that began in it: those of the numbers below this one.
    pub requests: u64,
    /// The simulated time at which it ended, and measuring began.
    pub end_ns: u64,
}

/// The results of a run. Every value is a function of the inputs, and covers the measurement only: a warm-up is
/// excluded.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// The warm-up, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warmup: Option<WarmupReport>,
    /// Host requests done, by operation.
    pub reads: u64,
    /// Writes done.
    pub writes: u64,
    /// Trims done.
    pub trims: u64,
    /// Bytes read by the host.
    pub read_bytes: u64,
    /// Bytes written by the host.
    pub written_bytes: u64,
    /// Mapping units read by the host.
    pub units_read: u64,
    /// Mapping units read by the host that held no data and needed no flash.
    pub unwritten_units_read: u64,
    /// Mapping units written by the host: units bound to flash or, with a buffer, superpages or a redundant array,
    /// units of the requests that were split.
    pub units_written: u64,
    /// Units that reads found in the buffer.
    pub buffer_read_hits: u64,
    /// Units that writes found in the buffer.
    pub buffer_write_hits: u64,
    /// Dirty units left in the buffer at the end.
    pub buffer_units_left: u64,
    /// Memory of the buffer in addition to its pages: heads of lists, turn and counters; 0 without lists of dies or
    /// planes.
    pub buffer_bookkeeping_bytes: f64,
    /// Writes that leave the buffer.
    pub evictions: EvictionReport,
    /// Simulated time from the first arrival, or from the end of the warm-up, to the last completion.
    pub simulated_ns: u64,
    /// Requests done in a second of simulated time; `None` if no time passed.
    pub iops: Option<f64>,
    /// Bytes read or written in a second of simulated time; `None` if no time passed.
    pub bytes_per_s: Option<f64>,
    /// Response times.
    pub response: Latencies,
    /// Response times by cause.
    pub latency_breakdown: LatencyBreakdown,
    /// The time of the host's flash requests by cause, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flash_requests: Option<FlashRequestReport>,
    /// Work of the flash.
    pub flash: FlashWork,
    /// Write amplification of the run, its preconditioning left out.
    pub write_amplification: WriteAmplification,
    /// Whether the drive had settled.
    pub steady: Steady,
    /// Garbage collection.
    pub gc: GcReport,
    /// The map, if its entries are in flash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub map: Option<MapReport>,
    /// Parity, if the scheme keeps it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parity: Option<ParityTotals>,
    /// Summary of the requested window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<WindowReport>,
    /// Merges, if writes go to log blocks. Each merged logical block is a collection, and so is each erase of a block
    /// without valid units: see [`GcReport`] for their work and times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merges: Option<MergeTotals>,
    /// The array and each of its drives, if there is one; all other numbers are then of the volume, or of all drives
    /// together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub array: Option<ArrayReport>,
    /// Each of several workloads by name, if they share the drives; all other numbers are then of all of them together.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub workloads: BTreeMap<String, TenantReport>,
    /// Bandwidth by intervals, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<BandwidthReport>,
    /// Utilization: shares of time.
    pub utilization: Utilization,
    /// Wear.
    pub wear: Wear,
    /// Smallest number of free blocks that a plane had.
    pub min_free_blocks: u32,
    /// At the end of the run, the most reads of a block since its erase; `None` if scrubbing does not count them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_reads_max: Option<u32>,
    /// Peak of the requests that were in the drive.
    pub peak_outstanding: u32,
    /// Requests that waited because a drive had its maximum of outstanding transactions.
    pub held_by_transaction_limit: u64,
    /// Write amplification of the drive's preconditioning, `None` without one.
    pub precondition_write_amplification: Option<f64>,
    /// Host units written by the drive's preconditioning.
    pub precondition_units: u64,
}

/// A run's results: the report, and the tables behind it.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The report.
    pub report: Report,
    /// Histograms of response times in nanoseconds, by class name (`all`, `read`, `small_read`, `write`, …).
    pub histograms: Vec<(&'static str, Histogram<u64>)>,
    /// Histograms of response times of the reads and of the writes of each of several workloads, by name.
    pub workload_histograms: BTreeMap<String, [Histogram<u64>; 2]>,
    /// Rates of the reads, writes and trims of each of several workloads over intervals of 500 ms, by name.
    pub workload_rates: BTreeMap<String, [OpRates; 3]>,
    /// Rates of all requests together; zeros if [`keep_rates`](crate::run::Options::keep_rates) is not set.
    pub rates: [OpRates; 3],
    /// Bytes of the trims that were done.
    pub trimmed_bytes: u64,
    /// State over time, evenly spaced; the last one is at the run's end.
    pub series: Vec<Sample>,
    /// The bins of the requested window that the run reached; none without a window.
    pub window: Option<Vec<Bin>>,
    /// When requests arrived.
    pub arrivals: Arrivals,
    /// Collections in the order of their ends; empty unless requested.
    pub gc_events: Vec<GcEvent>,
    /// Requests in the order of their completion; empty unless requested.
    pub requests: Vec<RequestRecord>,
    /// Flash commands in the order of their issue; empty unless requested.
    pub commands: Vec<CommandRecord>,
    /// Response times by request, to be matched with those of another run; empty unless requested.
    pub responses: Responses,
    /// The recording of an array by the microscope; none unless requested.
    pub microscope: Option<MicroscopeView>,
    /// What the user should know: folded addresses, skipped lines, and the like.
    pub notes: Vec<String>,
}
