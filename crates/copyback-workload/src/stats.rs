//! Statistics of a workload: the figures in papers' tables, and histograms.

use crate::page_sets::{Counts, Estimate, MEMORY_BYTES, PIECE_PAGES, PageSets};
use crate::units::{counted, format_bytes};
use crate::{Error, Op, Priority, RequestSource};
use hdrhistogram::Histogram;
use serde::Serialize;
use std::collections::BTreeMap;

/// Footprints are counted in pages of this size, as storage papers do.
pub const PAGE_BYTES: u64 = 4096;

/// Figures of one class of requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ClassStats {
    /// How many requests.
    pub requests: u64,
    /// Their bytes in total.
    pub bytes: u64,
    /// The mean size; zero if there are none.
    pub mean_bytes: f64,
    /// Distinct pages touched, in bytes.
    pub footprint_bytes: u64,
}

/// Requests of one device, volume or file.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DeviceStats {
    /// The device's number.
    pub device: u32,
    /// The trace's name of it, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How many requests.
    pub requests: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
}

/// One bin of a histogram by powers of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Bin {
    /// The smallest value in it.
    pub from: u64,
    /// The largest value in it.
    pub to: u64,
    /// How many values.
    pub count: u64,
}

/// Quantiles of the gaps between arrivals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GapQuantiles {
    /// Half of the gaps are at most this.
    pub median_ns: u64,
    /// 90 % of them.
    pub p90_ns: u64,
    /// 99 % of them.
    pub p99_ns: u64,
    /// All of them.
    pub max_ns: u64,
}

/// All statistics of a workload.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceStats {
    /// How many requests.
    pub requests: u64,
    /// Requests that read, in per cent of all.
    pub read_percent: f64,
    /// Requests that write, in per cent of all.
    pub write_percent: f64,
    /// Requests marked urgent.
    pub high_priority_requests: u64,
    /// Figures of reads.
    pub reads: ClassStats,
    /// Figures of writes.
    pub writes: ClassStats,
    /// Figures of trims.
    pub trims: ClassStats,
    /// The mean size of all requests.
    pub mean_bytes: f64,
    /// Distinct pages read or written (separate for each device), in bytes.
    pub footprint_bytes: u64,
    /// Pages written for each distinct page written; zero without writes.
    pub overwrite_ratio: f64,
    /// The highest byte touched, plus one: the smallest capacity that holds the workload.
    pub end_bytes: u64,
    /// From the first to the last arrival.
    pub duration_ns: u64,
    /// Requests a second: the inverse of the mean gap; zero if all arrive at once.
    pub requests_per_s: f64,
    /// The mean gap between arrivals.
    pub mean_gap_ns: f64,
    /// Quantiles of the gaps, to three digits.
    pub gaps: GapQuantiles,
    /// Requests that start at the end of the previous request of the same device, as a share of all.
    pub sequential_share: f64,
    /// Sizes in bytes, by powers of two.
    pub size_histogram: Vec<Bin>,
    /// Gaps in nanoseconds, by powers of two.
    pub gap_histogram: Vec<Bin>,
    /// Each device, by its number; of more than 262,144 devices, the first of them.
    pub devices: Vec<DeviceStats>,
    /// For estimated footprints and overwrites: one of this many pieces of addresses was counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub footprint_counted_one_of: Option<u64>,
    /// Notes of the source.
    pub notes: Vec<String>,
}

impl TraceStats {
    /// Reads a source to its end. Pages are counted exactly as long as that takes less than 256 MiB of memory;
    /// footprints are estimates beyond that, and a note says so.
    ///
    /// # Errors
    /// Whatever the source meets.
    pub fn collect(source: &mut (impl RequestSource + ?Sized)) -> Result<Self, Error> {
        let mut collector = Collector::new()?;
        while let Some(request) = source.next_request()? {
            collector.add(&request);
        }
        Ok(collector.finish(source))
    }
}

/// How much of a drive a workload addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Whether `bytes` is an estimate: counting would take more than 256 MiB of memory.
    pub is_estimate: bool,
    /// Distinct pages of [`PAGE_BYTES`] that are read or written (separate for each device), in bytes. Pages that are
    /// only trimmed hold no data.
    pub bytes: u64,
    /// The highest byte touched, plus one: the smallest capacity that holds the workload.
    pub end_bytes: u64,
}

impl Footprint {
    /// Reads a source to its end, with at most 256 MiB of memory for the touched addresses.
    ///
    /// # Errors
    /// Whatever the source meets.
    pub fn measure(source: &mut (impl RequestSource + ?Sized)) -> Result<Self, Error> {
        let (mut pages, mut end_bytes) = (PageSets::default(), 0);
        while let Some(request) = source.next_request()? {
            end_bytes = request.offset_bytes.saturating_add(request.len_bytes).max(end_bytes);
            if request.op != Op::Trim {
                let last_byte = request.offset_bytes + (request.len_bytes - 1);
                pages.insert(0, request.device, request.offset_bytes / PAGE_BYTES, last_byte / PAGE_BYTES);
            }
        }
        let counts = pages.counts();
        let bytes = counts.of_either.saturating_mul(PAGE_BYTES);
        Ok(Self { is_estimate: counts.estimate.is_some(), bytes, end_bytes })
    }
}

/// Largest number of distinguished devices: their data takes some 30 MB.
const DEVICES_MAX: usize = 1 << 18;

/// The longest gap that is distinguished from longer gaps: 292 years. A longer one counts in the last bin.
const GAP_NS_MAX: u64 = i64::MAX as u64;

/// Sums, counts and bitmaps on the way to [`TraceStats`].
struct Collector {
    classes: [ClassStats; 3],
    pages: PageSets,
    pages_written: u64,
    high_priority_requests: u64,
    end_bytes: u64,
    first_ns: Option<u64>,
    last_ns: u64,
    gaps: Histogram<u64>,
    gap_bins: [u64; 65],
    size_bins: [u64; 65],
    sequential: u64,
    devices: BTreeMap<u32, OfDevice>,
    /// Requests of devices beyond the distinguished ones.
    other_devices: u64,
}

/// Counts of a device.
#[derive(Default)]
struct OfDevice {
    requests: u64,
    read_bytes: u64,
    written_bytes: u64,
    last_end_bytes: u64,
}

impl Collector {
    fn new() -> Result<Self, Error> {
        let gaps = Histogram::new_with_bounds(1, GAP_NS_MAX, 3)
            .map_err(|error| Error::new(format!("no histogram of gaps: {error}")))?;
        Ok(Self {
            classes: Default::default(),
            pages: PageSets::default(),
            pages_written: 0,
            high_priority_requests: 0,
            end_bytes: 0,
            first_ns: None,
            last_ns: 0,
            gaps,
            gap_bins: [0; 65],
            size_bins: [0; 65],
            sequential: 0,
            devices: BTreeMap::new(),
            other_devices: 0,
        })
    }

    fn add(&mut self, request: &crate::Request) {
        let class = &mut self.classes[request.op as usize];
        class.requests += 1;
        // Lengths of a damaged trace may overflow a sum.
        class.bytes = class.bytes.saturating_add(request.len_bytes);
        self.high_priority_requests += u64::from(request.priority == Priority::High);
        self.size_bins[bin_of(request.len_bytes)] += 1;
        self.add_pages(request);
        self.add_arrival(request.arrival_ns);
        let end_bytes = request.offset_bytes + request.len_bytes;
        self.end_bytes = self.end_bytes.max(end_bytes);
        if self.devices.len() >= DEVICES_MAX && !self.devices.contains_key(&request.device) {
            self.other_devices += 1;
            return;
        }
        let device = self.devices.entry(request.device).or_default();
        // A device's first request continues nothing, wherever it starts.
        self.sequential += u64::from(device.requests > 0 && device.last_end_bytes == request.offset_bytes);
        device.last_end_bytes = end_bytes;
        device.requests += 1;
        match request.op {
            Op::Read => device.read_bytes = device.read_bytes.saturating_add(request.len_bytes),
            Op::Write => device.written_bytes = device.written_bytes.saturating_add(request.len_bytes),
            Op::Trim => {}
        }
    }

    fn add_pages(&mut self, request: &crate::Request) {
        let first = request.offset_bytes / PAGE_BYTES;
        let last = (request.offset_bytes + request.len_bytes - 1) / PAGE_BYTES;
        self.pages.insert(request.op as usize, request.device, first, last);
        if request.op == Op::Write {
            self.pages_written = self.pages_written.saturating_add(last - first + 1);
        }
    }

    fn add_arrival(&mut self, arrival_ns: u64) {
        if self.first_ns.is_some() {
            let gap_ns = arrival_ns.saturating_sub(self.last_ns);
            self.gaps.saturating_record(gap_ns);
            self.gap_bins[bin_of(gap_ns)] += 1;
        }
        self.first_ns.get_or_insert(arrival_ns);
        self.last_ns = arrival_ns;
    }

    fn finish(mut self, source: &(impl RequestSource + ?Sized)) -> TraceStats {
        let Counts { of_sets, of_either, estimate } = self.pages.counts();
        for (class, pages) in self.classes.iter_mut().zip(of_sets) {
            class.mean_bytes = ratio(class.bytes, class.requests);
            class.footprint_bytes = pages.saturating_mul(PAGE_BYTES);
        }
        let mut notes = source.notes();
        notes.extend(estimate.map(note_estimate));
        if self.other_devices > 0 {
            notes.push(format!(
                "{} of devices beyond the first {DEVICES_MAX}: counted in all sums, but not in the list of devices, \
                 and never as sequential",
                counted(self.other_devices, "request")
            ));
        }
        let devices = self.devices.into_iter().map(|(device, of_device)| {
            let OfDevice { requests, read_bytes, written_bytes, .. } = of_device;
            DeviceStats { device, name: source.device_name(device), requests, read_bytes, written_bytes }
        });
        let devices = devices.collect();
        let [reads, writes, trims] = self.classes;
        let requests = reads.requests + writes.requests + trims.requests;
        let duration_ns = self.last_ns - self.first_ns.unwrap_or(0);
        let gap_count = requests.saturating_sub(1);
        let mean_gap_ns = ratio(duration_ns, gap_count);
        TraceStats {
            requests,
            read_percent: 100.0 * ratio(reads.requests, requests),
            write_percent: 100.0 * ratio(writes.requests, requests),
            high_priority_requests: self.high_priority_requests,
            mean_bytes: ratio(reads.bytes.saturating_add(writes.bytes).saturating_add(trims.bytes), requests),
            footprint_bytes: of_either.saturating_mul(PAGE_BYTES),
            overwrite_ratio: ratio(self.pages_written, of_sets[Op::Write as usize]),
            end_bytes: self.end_bytes,
            duration_ns,
            requests_per_s: if duration_ns == 0 { 0.0 } else { 1e9 / mean_gap_ns },
            mean_gap_ns,
            gaps: GapQuantiles {
                median_ns: self.gaps.value_at_quantile(0.5),
                p90_ns: self.gaps.value_at_quantile(0.9),
                p99_ns: self.gaps.value_at_quantile(0.99),
                max_ns: self.gaps.max(),
            },
            sequential_share: ratio(self.sequential, requests),
            size_histogram: bins(&self.size_bins),
            gap_histogram: bins(&self.gap_bins),
            devices,
            footprint_counted_one_of: estimate.map(|estimate| estimate.one_of),
            notes,
            reads,
            writes,
            trims,
        }
    }
}

/// The note that footprints are estimates, with their error.
fn note_estimate(estimate: Estimate) -> String {
    let Estimate { one_of, error_share } = estimate;
    let (piece, memory) = (format_bytes(PIECE_PAGES * PAGE_BYTES), format_bytes(MEMORY_BYTES as u64));
    format!(
        "footprints and overwrites are estimates: to count all pages would take more than {memory} of memory, so one in \
         {one_of} pieces of {piece} of addresses was counted (standard error {:.1} %)",
        100.0 * error_share
    )
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Bin 0 holds zero, bin n the values from 2^(n-1) up to 2^n - 1.
fn bin_of(value: u64) -> usize {
    (u64::BITS - value.leading_zeros()) as usize
}

/// The bins from the first that is not empty to the last.
fn bins(counts: &[u64; 65]) -> Vec<Bin> {
    let Some(first) = counts.iter().position(|count| *count > 0) else { return Vec::new() };
    let last = counts.iter().rposition(|count| *count > 0).unwrap_or(first);
    let bin = |index: usize| {
        let from = if index == 0 { 0 } else { 1 << (index - 1) };
        let to = if index == 0 { 0 } else { from + (from - 1) };
        Bin { from, to, count: counts[index] }
    };
    (first..=last).map(bin).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Request;

    fn request(arrival_ns: u64, op: Op, offset_bytes: u64, len_bytes: u64) -> Request {
        Request { arrival_ns, offset_bytes, len_bytes, device: 0, op, priority: Priority::Normal }
    }

    #[test]
    fn figures_of_a_small_workload() {
        let requests = vec![
            request(0, Op::Write, 0, 8192),
            request(1000, Op::Write, 8192, 4096),
            request(2000, Op::Write, 0, 4096),
            request(4000, Op::Read, 4095, 2),
        ];
        let stats = TraceStats::collect(&mut requests.into_iter()).unwrap();
        assert_eq!((stats.requests, stats.read_percent, stats.duration_ns), (4, 25.0, 4000));
        assert_eq!((stats.footprint_bytes, stats.writes.footprint_bytes), (3 * 4096, 3 * 4096));
        assert_eq!(stats.reads.footprint_bytes, 2 * 4096, "two bytes may lie in two pages");
        assert!((stats.overwrite_ratio - 4.0 / 3.0).abs() < 1e-12);
        assert!((stats.sequential_share - 0.25).abs() < 1e-12);
        assert!((stats.requests_per_s - 750_000.0).abs() < 1e-6);
        assert_eq!(stats.end_bytes, 12_288);
        assert_eq!(stats.size_histogram.iter().map(|bin| bin.count).sum::<u64>(), 4);
        assert_eq!(stats.gap_histogram.len(), 2);
    }

    /// Gaps of 110 and of 183 years.
    #[test]
    fn quantiles_of_the_longest_gaps_are_sorted() {
        let times = [0, 3 << 60, 8 << 60];
        let requests: Vec<Request> = times.map(|arrival_ns| request(arrival_ns, Op::Read, 0, 4096)).into();
        let gaps = TraceStats::collect(&mut requests.into_iter()).unwrap().gaps;
        assert!(gaps.median_ns >= 3 << 60 && gaps.p90_ns >= 5 << 60 && gaps.max_ns >= 5 << 60, "{gaps:?}");
    }

    #[test]
    fn the_footprint_alone_is_that_of_all_figures() {
        let requests = vec![
            request(0, Op::Write, 1 << 40, 8192),
            request(1, Op::Read, 4095, 2),
            request(2, Op::Write, 1 << 40, 4096),
            request(3, Op::Trim, 1 << 41, 4096),
        ];
        // Two pages far away, and two that a read of two bytes touches; the trim only moves the end.
        let expected = Footprint { is_estimate: false, bytes: 4 * 4096, end_bytes: (1 << 41) + 4096 };
        assert_eq!(Footprint::measure(&mut requests.clone().into_iter()).unwrap(), expected);
        let stats = TraceStats::collect(&mut requests.into_iter()).unwrap();
        assert_eq!((stats.footprint_bytes, stats.end_bytes), (expected.bytes, expected.end_bytes));
    }

    #[test]
    fn figures_of_an_empty_workload_are_zero() {
        let stats = TraceStats::collect(&mut Vec::new().into_iter()).unwrap();
        assert_eq!((stats.requests, stats.overwrite_ratio, stats.requests_per_s), (0, 0.0, 0.0));
    }
}
