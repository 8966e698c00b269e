//! The measures of a run. All counters run from its start; a measurement is the difference of two readings.

use super::Simulation;
use super::totals::FlashTotals;
use crate::flash::geometry::Geometry;
use crate::host::config::HostConfig;
use crate::observe::backlog::Backlog;
use crate::observe::config::MeasureConfig;
use crate::observe::report::{Arrivals, Bin, FlashWork, OpRates, Sample, SampleWork};
use crate::observe::steady::{Loop, RunPosition, Steady, Track};
use crate::run::overload::{self, Load};
use crate::sim::queue::EventQueue;
use crate::ssd::back_end::BackEnd;
use crate::ssd::counter_readings::Reading;
use crate::ssd::drive::UnitCounts;

/// The start of the measured part of a run, and the counters at that time.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// Requests that began before.
    pub requests: u64,
    /// When the first measured request came into the drive; `None` until one does.
    pub since_ns: Option<u64>,
    /// The clock.
    pub now_ns: u64,
    /// Units that the host had written.
    pub written_units: u64,
    /// Units read, and units that needed no flash.
    pub units: UnitCounts,
    /// Requests that had waited for the limit of transactions.
    pub held_requests: u64,
    /// The drives' counters.
    pub drives: Vec<Reading>,
}

impl Simulation<'_> {
    /// Enables the measures of a configuration. Call it before the run starts.
    pub fn measure(&mut self, config: &MeasureConfig) {
        self.collector.measure(config);
        if config.flash_requests {
            self.members.iter_mut().for_each(|m| m.ssd.back_end_mut().measure_flash_requests());
        }
    }

    /// The counters now.
    pub(super) fn reading(&self) -> Start {
        let now_ns = self.events.now_ns();
        Start {
            requests: 0,
            since_ns: None,
            now_ns,
            written_units: self.written_units(),
            units: self.unit_counts(),
            held_requests: self.held_requests,
            drives: self.back_ends().map(|drive| drive.reading(now_ns)).collect(),
        }
    }

    /// The request of this number is about to begin: if the warm-up ends with it, measuring begins.
    pub(super) fn end_warmup_before(&mut self, index: u64, arrival_ns: u64) {
        let Some(mut watch) = self.watch.take() else { return };
        if !watch.is_over(index, arrival_ns, self.written_units(), || self.position()) {
            self.watch = Some(watch);
            return;
        }
        let now_ns = self.events.now_ns();
        self.members.iter_mut().for_each(|m| m.ssd.back_end_mut().begin_part(now_ns));
        self.start = Start { requests: index, since_ns: Some(now_ns), ..self.reading() };
        let work = self.work();
        self.collector.begin(index, now_ns, work);
        self.track = Track::starting_at(self.position());
        self.peak_outstanding = 0;
        self.restart_array();
        self.fetch_max = index.saturating_add(self.requests_max);
    }

    /// The start of the measured part.
    pub fn start_of_measures(&self) -> &Start {
        &self.start
    }

    /// The work of each drive in the measured part.
    pub fn readings(&self) -> impl Iterator<Item = Reading> {
        let now_ns = self.events.now_ns();
        self.back_ends().zip(&self.start.drives).map(move |(drive, start)| drive.reading(now_ns).since(start))
    }

    /// Requests of the measured part that waited because their drive had its maximum of transactions.
    pub fn held_requests(&self) -> u64 {
        self.held_requests - self.start.held_requests
    }

    /// Units that the host has written. These are the units bound to flash, so that a waiting write counts when its
    /// work does; or, if drives write other units than these (a buffer, included units, parity, copies), the units of
    /// the requests that were split.
    pub(crate) fn written_units(&self) -> u64 {
        if self.counts_submitted {
            return self.collector.written_units;
        }
        self.written_by_drives
    }

    /// The present position of the run.
    pub(super) fn position(&self) -> RunPosition {
        let FlashTotals { flash_units, skipped_units, erased_units, erases } = self.totals.work(&self.members);
        RunPosition {
            host_units: self.written_units(),
            requests: self.collector.ended,
            outstanding: u64::from(self.requests.live()),
            now_ns: self.events.now_ns(),
            flash_units,
            skipped_units,
            erased_units,
            dirty_units: self.dirty_units(),
            erases,
        }
    }

    /// The last request has completed: no host waits for the later work of the drives.
    pub(super) fn note_last_end(&mut self) {
        self.track.end(self.position());
        self.work_at_last_end = Some(self.back_ends().map(BackEnd::work).collect());
    }

    /// The work of all drives in the measured part until its last request ended. Call it at the end of the run.
    pub fn work_until_last_end(&self) -> FlashWork {
        let none = FlashWork::default();
        let starts = self.start.drives.iter().map(|start| &start.work);
        let ends = self.work_at_last_end.clone().unwrap_or_else(|| self.back_ends().map(BackEnd::work).collect());
        let did = ends.iter().zip(starts).map(|(end, start)| end.zip(start, |now, then| now - then));
        did.fold(none, |sum, did| sum.zip(&did, |a, b| a + b))
    }

    /// The position when all requests had completed; the present one if that is still ahead.
    fn last_end(&self) -> RunPosition {
        self.track.last_end().unwrap_or_else(|| self.position())
    }

    /// Units that the host had written in the measured part when its last request ended. At the end of the run.
    pub fn written_until_last_end(&self) -> u64 {
        self.last_end().host_units - self.start.written_units
    }

    /// Units programmed after the last request, relative to the units programmed before it, since the start of the
    /// measured part.
    pub fn postponed_share(&self) -> f64 {
        self.track.share_after_end(self.position())
    }

    /// Whether the drives had settled, at the end of the run and of its series.
    pub fn steady(&self) -> Steady {
        let host = if self.is_closed_loop() {
            Loop::Closed
        } else if self.has_open_loop() {
            match overload::load(self) {
                Load::Served => Loop::Open,
                Load::Draining => Loop::Draining,
                Load::Overloaded => Loop::Overloaded,
            }
        } else {
            Loop::Open
        };
        self.track.judge(self.position(), host, self.spare_units())
    }

    /// Physical units of all drives less the logical ones.
    fn spare_units(&self) -> u64 {
        let spare = |geometry: &Geometry| u64::from(geometry.physical_units - geometry.logical_units);
        self.back_ends().map(|drive| spare(drive.geometry())).sum()
    }

    /// Samples the drives before the events of this time, or updates the window.
    pub(super) fn update_measures(&mut self, now_ns: u64) {
        let mut state = self.state();
        if self.collector.is_sample_due(now_ns) {
            state.work = self.refreshed_work();
        }
        self.collector.update(now_ns, &state, self.totals.free_blocks());
    }

    /// Adds the last sample to the state over time, at the end of the run.
    pub fn end_series(&mut self) {
        let state = Sample { work: self.work(), ..self.state() };
        self.collector.end_series(self.events.now_ns(), &state);
    }

    /// The host's writes, and the work of all drives since they were made: the translation layer's counts include their
    /// preconditioning.
    pub(super) fn work(&mut self) -> SampleWork {
        self.totals.refresh(&self.members);
        self.refreshed_work()
    }

    /// As [`Self::work`], if the totals are up to date.
    fn refreshed_work(&self) -> SampleWork {
        SampleWork { units_written: self.written_units(), ..*self.totals.sample_work() }
    }

    /// The bins of the window, at the end of the run; none without a window.
    pub fn end_window(&mut self) -> Option<Vec<Bin>> {
        let state = self.state();
        self.collector.end_window(&state, self.totals.free_blocks())
    }

    /// The state of the drives, without ended requests.
    #[inline]
    fn state(&mut self) -> Sample {
        self.totals.refresh(&self.members);
        let [gc_share_percent, scrub_share_percent] = self.totals.shares_percent(&self.members);
        Sample {
            free_blocks_min: self.totals.free_blocks_min(),
            free_blocks_mean: self.totals.free_blocks_mean(),
            queue_depth: self.requests.live(),
            dies_collecting: self.totals.dies_reserved(),
            gc_share_percent,
            scrub_share_percent,
            block_reads_max: self.totals.block_reads_max(&self.members),
            ..Sample::default()
        }
    }

    /// The drives of the run.
    pub fn back_ends(&self) -> impl Iterator<Item = &BackEnd> {
        self.members.iter().map(|m| m.ssd.back_end())
    }

    /// Whether `host.subpage_writes` decided about a write of any drive.
    pub fn has_partial_updates(&self) -> bool {
        self.members.iter().any(|m| m.ssd.has_partial_updates())
    }

    /// Whether any drive with a buffer was without a request for `buffer.idle_after`.
    pub fn was_buffer_idle(&self) -> bool {
        self.members.iter().any(|m| m.ssd.was_buffer_idle())
    }

    /// The largest number of transactions that a drive had at once.
    pub fn peak_transactions(&self) -> usize {
        self.members.iter().map(|m| m.ssd.peak_transactions()).max().unwrap_or(0)
    }

    /// The most transactions that a search of a drive looked at, as [`Ssd::longest_search`](crate::ssd::Ssd) counts.
    pub fn longest_search(&self) -> usize {
        self.members.iter().map(|m| m.ssd.longest_search()).max().unwrap_or(0)
    }

    /// Whether the buffer of a drive was ever full.
    pub fn has_filled_buffer(&self) -> bool {
        self.members.iter().any(|m| m.ssd.has_filled_buffer())
    }

    /// A drive and the event queue, with which a caller starts work of other tasks on the drive.
    pub fn back_end_and_events(&mut self, member: usize) -> (&mut BackEnd, &mut EventQueue) {
        // Its totals are read after the next event, with all work that was started on it.
        if !std::mem::replace(&mut self.members[member].is_listed, true) {
            self.marked.push(member as u32);
        }
        (self.members[member].ssd.back_end_mut(), &mut self.events)
    }

    /// Units requested from all drives since the run began.
    pub fn unit_counts(&self) -> UnitCounts {
        self.members.iter().fold(UnitCounts::default(), |sum, m| sum.zip(m.ssd.unit_counts(), |a, b| a + b))
    }

    /// Units whose newest data is only in a buffer.
    pub fn dirty_units(&self) -> u64 {
        self.members.iter().map(|m| m.ssd.dirty_units()).sum()
    }

    /// Outstanding requests of open loops over time.
    pub fn backlog(&self) -> &Backlog {
        &self.backlog
    }

    /// When requests arrived.
    pub fn arrivals(&self) -> Arrivals {
        self.arrivals
    }

    /// Most requests that were outstanding at once.
    pub fn peak_outstanding(&self) -> u32 {
        self.peak_outstanding
    }

    /// From the first arrival, or from the end of the warm-up, to the last end.
    pub fn span_ns(&self) -> u64 {
        self.last_end_ns - self.start.since_ns.unwrap_or(0)
    }

    /// Rates of reads, writes and trims over the intervals of the measured part; zeros if they are not kept.
    pub fn rates(&self) -> [OpRates; 3] {
        self.collector.rates(self.last_end_ns)
    }

    /// The host of the run.
    pub fn host(&self) -> &HostConfig {
        &self.host
    }

    /// The clock.
    pub fn now_ns(&self) -> u64 {
        self.events.now_ns()
    }
}
