//! Makes the report of a finished simulation.

use super::simulation::Simulation;
use crate::flash::command::FlashOp;
use crate::ftl::core::Counts;
use crate::ftl::log_blocks::MergeTotals;
use crate::observe::array_report::{ArrayReport, BandwidthReport};
use crate::observe::bandwidth::INTERVALS_MAX;
use crate::observe::collector::Collector;
use crate::observe::counters::{EvictionTotals, MapTotals, WriteCase};
use crate::observe::flash_requests::FlashRequestReport;
use crate::observe::latencies;
use crate::observe::microscope::MicroscopeView;
use crate::observe::report::{
    EvictionReport, FlashWork, GcEvent, GcReport, Latencies, MapReport, Outcome, ParityTotals, Report, Utilization,
    WarmupReport, Wear, WriteAmplification,
};
use crate::observe::window_report::WindowReport;
use crate::ssd::back_end::BackEnd;
use crate::ssd::counter_readings::Reading;
use copyback_workload::Op;
use copyback_workload::units::format_duration_ns;

/// The outcome of a run whose drives had written `preconditioning` before.
pub fn of(mut simulation: Simulation<'_>, preconditioning: Counts) -> Outcome {
    let array = simulation.array_report();
    let bandwidth = simulation.collector.end_bandwidth();
    let window = simulation.end_window();
    simulation.end_series();
    let classes = simulation.collector.classes();
    let ended = EndResults { array, bandwidth, window: window.as_deref().map(WindowReport::of), preconditioning };
    let report = report(&simulation, responses(&classes), ended);
    let microscope = simulation.take_microscope();
    let note_of_intervals = note_of_intervals(&report);
    Outcome {
        report,
        histograms: classes.into_iter().map(|(name, class)| (name, class.into_histogram())).collect(),
        workload_histograms: simulation.tenant_histograms(),
        workload_rates: simulation.tenant_rates(),
        rates: simulation.rates(),
        trimmed_bytes: simulation.collector.bytes[Op::Trim as usize],
        window,
        arrivals: simulation.arrivals(),
        gc_events: gc_events(&simulation),
        commands: simulation.take_commands(),
        series: std::mem::take(&mut simulation.collector.series),
        requests: simulation.collector.take_records(),
        responses: simulation.collector.take_responses(),
        notes: microscope.iter().flat_map(MicroscopeView::notes).chain(note_of_intervals).collect(),
        microscope,
    }
}

/// A note that only the first part of a measurement is divided into intervals.
fn note_of_intervals(report: &Report) -> Option<String> {
    let bandwidth = report.bandwidth.as_ref().filter(|bandwidth| bandwidth.intervals == INTERVALS_MAX as u64)?;
    let divided_ns = bandwidth.intervals.saturating_mul(bandwidth.every_ns);
    let [divided, all] = [divided_ns, report.simulated_ns].map(format_duration_ns);
    (divided_ns < report.simulated_ns).then(|| {
        format!(
            "`measure.bandwidth`: its numbers are of the first {divided} of {all}, because it has at most {} intervals; \
             set a longer interval",
            INTERVALS_MAX
        )
    })
}

/// Response times by class.
fn responses(classes: &[(&'static str, latencies::Latencies)]) -> Latencies {
    let summary = |name: &str| {
        let (_, class) = classes.iter().find(|(n, _)| *n == name).expect("the classes are fixed");
        class.summary()
    };
    Latencies {
        all: summary("all"),
        read: summary("read"),
        small_read: summary("small_read"),
        write: summary("write"),
        gc_affected: summary("gc_affected"),
        gc_affected_read: summary("gc_affected_read"),
        gc_affected_write: summary("gc_affected_write"),
    }
}

/// Results that only an ended run has.
struct EndResults {
    array: Option<ArrayReport>,
    bandwidth: Option<BandwidthReport>,
    window: Option<WindowReport>,
    preconditioning: Counts,
}

fn report(simulation: &Simulation<'_>, response: Latencies, ended: EndResults) -> Report {
    let flash = flash_work(simulation);
    let start = simulation.start_of_measures();
    let warmup = (start.requests > 0).then_some(WarmupReport { requests: start.requests, end_ns: start.now_ns });
    let span_ns = simulation.span_ns();
    let per_second = |count: u64| (span_ns > 0).then(|| count as f64 * 1e9 / span_ns as f64);
    let Collector { done: [reads, writes, trims], bytes: [read_bytes, written_bytes, _], .. } = simulation.collector;
    let units = simulation.unit_counts().zip(start.units, |now, then| now - then);
    let units_written = simulation.written_units() - start.written_units;
    Report {
        workloads: simulation.tenant_reports(warmup.map_or(0, |warmup| warmup.end_ns)),
        warmup,
        reads,
        writes,
        trims,
        read_bytes,
        written_bytes,
        units_read: units.read,
        unwritten_units_read: units.unwritten_read,
        units_written,
        buffer_read_hits: units.buffer_read_hits,
        buffer_write_hits: units.buffer_write_hits,
        buffer_units_left: simulation.dirty_units(),
        buffer_bookkeeping_bytes: simulation.back_ends().map(BackEnd::buffer_bookkeeping_bytes).sum(),
        evictions: eviction_report(simulation),
        simulated_ns: span_ns,
        iops: per_second(reads + writes),
        bytes_per_s: per_second(read_bytes + written_bytes),
        latency_breakdown: simulation.collector.latency_breakdown(&response),
        response,
        write_amplification: write_amplification(simulation, &flash, units_written),
        steady: simulation.steady(),
        gc: gc_report(simulation),
        map: map_report(simulation),
        parity: parity_report(simulation),
        window: ended.window,
        merges: merge_report(simulation),
        flash_requests: flash_request_report(simulation),
        array: ended.array,
        bandwidth: ended.bandwidth,
        utilization: utilization(simulation),
        wear: wear(simulation),
        min_free_blocks: simulation.back_ends().map(BackEnd::min_free_blocks).min().unwrap_or(0),
        block_reads_max: simulation.back_ends().filter_map(BackEnd::block_reads_max).max(),
        peak_outstanding: simulation.peak_outstanding(),
        held_by_transaction_limit: simulation.held_requests(),
        precondition_write_amplification: ended.preconditioning.write_amplification(),
        precondition_units: ended.preconditioning.host_units,
        flash,
    }
}

/// Collections of all drives, by the time of their end.
fn gc_events(simulation: &Simulation<'_>) -> Vec<GcEvent> {
    let of_drive = |(number, drive): (u32, &BackEnd)| {
        let events = drive.counters().gc_events().iter();
        events.map(|event| GcEvent { drive: number, ..*event }).collect::<Vec<_>>()
    };
    let mut events: Vec<GcEvent> = (0..).zip(simulation.back_ends()).flat_map(of_drive).collect();
    // The events of one drive already are in this order.
    events.sort_by_key(|event| (event.end_ns, event.drive));
    events
}

/// Work of all drives.
fn flash_work(simulation: &Simulation<'_>) -> FlashWork {
    simulation.readings().fold(FlashWork::default(), |sum, drive| sum.zip(&drive.work, |a, b| a + b))
}

/// Flash units over units that the host wrote, until its last request completed; the parts add up to the whole. `all`
/// is the work until the drives were idle, `written_units` the units that the host wrote until then.
fn write_amplification(simulation: &Simulation<'_>, all: &FlashWork, written_units: u64) -> WriteAmplification {
    // A run so short that pages were still filling when its last request ended is counted whole.
    let (flash, host_written_units) = match simulation.written_until_last_end() {
        0 => (all.clone(), written_units),
        until_last_end => (simulation.work_until_last_end(), until_last_end),
    };
    let programmed = |flash: &FlashWork| flash.host_units + flash.gc_units + flash.other_units + flash.padding_units;
    let over = |units: u64| (host_written_units > 0).then(|| units as f64 / host_written_units as f64);
    WriteAmplification {
        total: over(programmed(&flash)),
        host: over(flash.host_units),
        gc: over(flash.gc_units),
        other: over(flash.other_units),
        padding: over(flash.padding_units),
        after_last_request: over(programmed(all) - programmed(&flash)),
    }
}

fn eviction_report(simulation: &Simulation<'_>) -> EvictionReport {
    let mut report = EvictionReport::default();
    let (mut moments, mut planes, mut planes_most) = (0, 0, 0);
    for EvictionTotals { writes, time_ns, blocked, blocked_ns, pages, moments: m, planes_sum, planes_max, .. } in
        simulation.readings().map(|drive| drive.evictions)
    {
        report.writes += writes;
        report.time_ns += time_ns;
        report.blocked_by_gc += blocked;
        report.blocked_by_gc_ns += blocked_ns;
        report.single_pages += pages[WriteCase::Single as usize];
        report.unaligned_pages += pages[WriteCase::Unaligned as usize];
        report.parallel_pages += pages[WriteCase::Parallel as usize];
        planes_most = planes_most.max(planes_max);
        (moments, planes) = (moments + m, planes + planes_sum);
    }
    if moments > 0 {
        report.planes_in_use_mean = Some(planes as f64 / moments as f64);
        report.planes_in_use_max = Some(planes_most);
    }
    report
}

fn map_report(simulation: &Simulation<'_>) -> Option<MapReport> {
    let totals = simulation.readings().filter_map(|drive| drive.map).reduce(|a, b| a.zip(&b, |a, b| a + b))?;
    let MapTotals { lookups, hits, page_reads, page_programs, write_backs, updates } = totals;
    let hit_ratio = (lookups > 0).then(|| hits as f64 / lookups as f64);
    let pages_owed = simulation.back_ends().map(BackEnd::translation_pages_owed).sum();
    Some(MapReport { lookups, hits, hit_ratio, page_reads, page_programs, write_backs, updates, pages_owed })
}

fn parity_report(simulation: &Simulation<'_>) -> Option<ParityTotals> {
    simulation.readings().filter_map(|drive| drive.parity).reduce(|a, b| a.zip(&b, |a, b| a + b))
}

fn flash_request_report(simulation: &Simulation<'_>) -> Option<FlashRequestReport> {
    let totals = simulation.readings().filter_map(|drive| drive.flash_requests);
    totals.reduce(|a, b| a.zip(&b, |a, b| a + b)).map(|totals| totals.report())
}

fn merge_report(simulation: &Simulation<'_>) -> Option<MergeTotals> {
    simulation.readings().filter_map(|drive| drive.merges).reduce(|a, b| a.zip(&b, |a, b| a + b))
}

/// Array time of a drive's collection by kind of command, and the time of its data on the channel.
fn gc_parts(drive: &BackEnd, did: &Reading, report: &mut GcReport) {
    let timing = drive.timing();
    let alone_ns = |op, pages: u64, at: usize| {
        // Counters leave the array time of lone steps out. A drive has lone steps only if all its pages take the same
        // times.
        timing.uniform_ns(op).map_or(0, |page_ns| (pages - did.gc.array_pages[at]) * page_ns)
    };
    let (reads, programs) = (did.work.gc_page_reads, did.work.gc_page_programs);
    report.read_ns += did.gc.array_ns[0] + alone_ns(FlashOp::Read, reads, 0);
    report.program_ns += did.gc.array_ns[1] + alone_ns(FlashOp::Program, programs, 1);
    report.erase_ns += did.gc.array_ns[2];
    report.transfer_ns += (reads + programs) * timing.transfer_ns(drive.geometry().units_per_flash_page);
}

fn gc_report(simulation: &Simulation<'_>) -> GcReport {
    let mut report = GcReport::default();
    let (mut time_ns, mut held_ns, mut pages_read, mut reads_waiting) = (0, 0u128, 0, 0);
    let (mut longest_ns, mut most_waiting) = (0, 0);
    for (drive, did) in simulation.back_ends().zip(simulation.readings()) {
        gc_parts(drive, &did, &mut report);
        pages_read += did.work.gc_page_reads;
        reads_waiting += did.gc.reads_waiting_sum;
        most_waiting = most_waiting.max(did.gc.reads_waiting_max);
        report.collections += did.gc.collections;
        report.units_moved += did.gc.units;
        held_ns += did.held_by_gc_ns;
        report.under_way_ns += did.collecting_ns;
        longest_ns = longest_ns.max(did.gc.max_ns);
        time_ns += did.gc.time_ns;
    }
    report.die_time_ns = u64::try_from(held_ns).unwrap_or(u64::MAX);
    if report.collections > 0 {
        report.collection_mean_ns = Some(time_ns as f64 / report.collections as f64);
        report.collection_max_ns = Some(longest_ns);
    }
    if pages_read > 0 {
        report.reads_waiting_mean = Some(reads_waiting as f64 / pages_read as f64);
        report.reads_waiting_max = Some(most_waiting);
    }
    report
}

fn utilization(simulation: &Simulation<'_>) -> Utilization {
    let (mut plane_ns, mut die_ns, mut channel_ns) = (0, 0, 0);
    let (mut planes, mut dies, mut channels) = (0u64, 0u64, 0u64);
    let (mut plane_in_gc_ns, mut planes_times_gc_ns) = (0u64, 0u128);
    for (drive, did) in simulation.back_ends().zip(simulation.readings()) {
        plane_ns += did.plane_busy_ns;
        die_ns += did.die_busy_ns;
        channel_ns += did.channel_busy_ns;
        let g = drive.flash_geometry();
        (planes, dies, channels) =
            (planes + u64::from(g.planes), dies + u64::from(g.dies), channels + u64::from(g.channels));
        plane_in_gc_ns += did.gc.plane_busy_ns;
        planes_times_gc_ns += did.gc.reserved_ns * u128::from(g.planes_per_die);
    }
    let passed_ns = simulation.now_ns() - simulation.start_of_measures().now_ns;
    let share = |busy_ns: u64, count: u64| {
        if passed_ns == 0 { 0.0 } else { busy_ns as f64 / (passed_ns as f64 * count as f64) }
    };
    Utilization {
        plane: share(plane_ns, planes),
        plane_during_gc: (planes_times_gc_ns > 0).then(|| plane_in_gc_ns as f64 / planes_times_gc_ns as f64),
        die: share(die_ns, dies),
        channel: share(channel_ns, channels),
    }
}

fn wear(simulation: &Simulation<'_>) -> Wear {
    let erases = || simulation.back_ends().flat_map(|d| d.ftl().blocks().iter().map(|b| b.erases));
    let count = erases().count() as f64;
    let mean = erases().map(f64::from).sum::<f64>() / count;
    let variance = erases().map(|e| (f64::from(e) - mean).powi(2)).sum::<f64>() / count;
    Wear {
        min_erases: erases().min().unwrap_or(0),
        max_erases: erases().max().unwrap_or(0),
        mean_erases: mean,
        stdev_erases: variance.sqrt(),
    }
}
