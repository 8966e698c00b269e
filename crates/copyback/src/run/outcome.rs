//! From a finished simulation to its report.

use super::simulation::Simulation;
use crate::controller::drive::Drive;
use crate::ftl::core::Counts;
use crate::metrics::report::{FlashWork, GcReport, Latencies, Outcome, Report, Utilisation, Wear, WriteAmplification};

/// The report of a run whose drives had written `past` before.
pub fn of(mut simulation: Simulation<'_>, past: Counts) -> Outcome {
    let classes = simulation.collector.classes();
    let summary = |name: &str| {
        let (_, class) = classes.iter().find(|(n, _)| *n == name).expect("the classes are fixed");
        class.summary()
    };
    let response = Latencies {
        all: summary("all"),
        read: summary("read"),
        write: summary("write"),
        gc_affected: summary("gc_affected"),
        gc_affected_read: summary("gc_affected_read"),
        gc_affected_write: summary("gc_affected_write"),
    };
    let flash = flash_work(&simulation, past);
    let span_ns = simulation.span_ns();
    let per_second = |count: u64| if span_ns == 0 { 0.0 } else { count as f64 * 1e9 / span_ns as f64 };
    let collector = &simulation.collector;
    let [reads, writes, trims] = collector.done;
    let (buffer_read_hits, buffer_write_hits, buffer_units_left) = simulation.buffer_counts();
    let report = Report {
        reads,
        writes,
        trims,
        read_bytes: collector.bytes[0],
        written_bytes: collector.bytes[1],
        units_read: collector.units_read,
        unwritten_units_read: collector.unwritten_units_read,
        buffer_read_hits,
        buffer_write_hits,
        buffer_units_left,
        simulated_ns: span_ns,
        iops: per_second(reads + writes),
        bytes_per_s: per_second(collector.bytes[0] + collector.bytes[1]),
        blame: collector.blame(&response),
        response,
        write_amplification: write_amplification(&flash, collector.written_units),
        steady: simulation.steady(),
        gc: gc_report(&simulation),
        utilisation: utilisation(&simulation),
        wear: wear(&simulation),
        min_free_blocks: simulation.drives().map(Drive::min_free_blocks).min().unwrap_or(0),
        max_queue_depth: simulation.max_queue_depth(),
        precondition_write_amplification: past.write_amplification(),
        precondition_units: past.host_units,
        flash,
    };
    let histograms = classes.iter().map(|(name, class)| (*name, class.histogram().clone())).collect();
    let gc_events = simulation.drives().flat_map(|d| d.gc_events.iter().copied()).collect();
    let series = std::mem::take(&mut simulation.collector.series);
    let requests = simulation.collector.records.take().unwrap_or_default();
    let commands = simulation.take_commands();
    let responses = simulation.collector.responses.take().unwrap_or_default();
    Outcome { report, histograms, series, gc_events, requests, commands, responses, notes: Vec::new() }
}

/// Work of all drives.
fn flash_work(simulation: &Simulation<'_>, past: Counts) -> FlashWork {
    let mut sum = FlashWork::default();
    for drive in simulation.drives() {
        let (w, counts) = (&drive.work, drive.ftl.counts());
        sum.host_page_reads += w.host_page_reads;
        sum.update_page_reads += w.update_page_reads;
        sum.host_page_programs += w.host_page_programs;
        sum.gc_page_reads += w.gc_page_reads;
        sum.gc_page_programs += w.gc_page_programs;
        sum.other_page_reads += w.other_page_reads;
        sum.other_page_programs += w.other_page_programs;
        sum.block_erases += w.block_erases;
        sum.host_units += w.host_units;
        sum.gc_units += w.gc_units;
        sum.other_units += w.other_units;
        sum.padding_units += counts.padding_units;
        sum.dropped_moves += w.dropped_moves + counts.dropped_moves;
        sum.multi_plane_commands += w.multi_plane_commands;
        sum.multi_plane_page_programs += w.multi_plane_page_programs;
        sum.cached_commands += w.cached_commands;
        sum.queue_looks += w.queue_looks;
        sum.preemptions += w.preemptions;
        sum.reads_beside_gc += w.reads_beside_gc;
        sum.programs_beside_gc += w.programs_beside_gc;
        sum.merged_reads += w.merged_reads;
        sum.merged_writes += w.merged_writes;
    }
    sum.padding_units -= past.padding_units;
    sum.dropped_moves -= past.dropped_moves;
    sum
}

/// Flash units over units that the host wrote; the parts add up to the whole.
fn write_amplification(flash: &FlashWork, host_written_units: u64) -> WriteAmplification {
    let over = |units: u64| (host_written_units > 0).then(|| units as f64 / host_written_units as f64);
    WriteAmplification {
        total: over(flash.host_units + flash.gc_units + flash.other_units + flash.padding_units),
        host: over(flash.host_units),
        gc: over(flash.gc_units),
        other: over(flash.other_units),
        padding: over(flash.padding_units),
    }
}

fn gc_report(simulation: &Simulation<'_>) -> GcReport {
    let mut report = GcReport::default();
    let mut time_ns = 0;
    for drive in simulation.drives() {
        report.rounds += drive.gc.rounds;
        report.units_moved += drive.gc.units;
        report.die_time_ns += drive.held_by_gc_ns(simulation.now_ns());
        report.round_max_ns = report.round_max_ns.max(drive.gc.max_ns);
        time_ns += drive.gc.time_ns;
    }
    if report.rounds > 0 {
        report.round_mean_ns = time_ns as f64 / report.rounds as f64;
    }
    report
}

fn utilisation(simulation: &Simulation<'_>) -> Utilisation {
    let (mut plane_ns, mut die_ns, mut channel_ns) = (0, 0, 0);
    let (mut planes, mut dies, mut channels) = (0u64, 0u64, 0u64);
    let (mut plane_in_gc_ns, mut planes_times_gc_ns) = (0u64, 0u64);
    for drive in simulation.drives() {
        let (p, d, c) = drive.busy_ns();
        (plane_ns, die_ns, channel_ns) = (plane_ns + p, die_ns + d, channel_ns + c);
        let g = drive.geometry();
        (planes, dies, channels) =
            (planes + u64::from(g.planes), dies + u64::from(g.dies), channels + u64::from(g.channels));
        plane_in_gc_ns += drive.gc.plane_busy_ns;
        planes_times_gc_ns += drive.gc.lease_ns * u64::from(g.planes_per_die);
    }
    let now_ns = simulation.now_ns();
    let share =
        |busy_ns: u64, count: u64| if now_ns == 0 { 0.0 } else { busy_ns as f64 / (now_ns as f64 * count as f64) };
    Utilisation {
        plane: share(plane_ns, planes),
        plane_during_gc: (planes_times_gc_ns > 0).then(|| plane_in_gc_ns as f64 / planes_times_gc_ns as f64),
        die: share(die_ns, dies),
        channel: share(channel_ns, channels),
    }
}

fn wear(simulation: &Simulation<'_>) -> Wear {
    let erases = || simulation.drives().flat_map(|d| d.ftl.blocks().iter().map(|b| b.erases));
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
