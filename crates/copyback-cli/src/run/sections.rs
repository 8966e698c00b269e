//! The printed sections of a run, each from a part of its report.

use super::facts;
use crate::format::{count, counted, grouped, large, percent, size, time};
use crate::output;
use crate::table::{self, BOLD, Cell};
use copyback::ftl::log_blocks::MergeTotals;
use copyback::observe::report::{ALL_CAUSES, Cause, MapReport, ParityTotals, Report, Sample};
use copyback::run::config::RunConfig;

pub(super) fn requests(report: &Report) -> String {
    let mut rows = vec![
        ("reads", format!("{} ({})", count(report.reads), size(report.read_bytes as f64))),
        ("writes", format!("{} ({})", count(report.writes), size(report.written_bytes as f64))),
    ];
    if report.trims > 0 {
        rows.push(("trims", count(report.trims)));
    }
    if report.unwritten_units_read > 0 {
        let share = percent(report.unwritten_units_read as f64 / report.units_read.max(1) as f64);
        let units = counted(report.unwritten_units_read, "unit");
        rows.push(("reads of nothing", format!("{units} held no data, {share} of those read")));
    }
    if report.buffer_read_hits + report.buffer_write_hits > 0 {
        let hits = (count(report.buffer_read_hits), count(report.buffer_write_hits));
        rows.push(("buffer hits", format!("{} units read, {} written", hits.0, hits.1)));
    }
    if report.warmup.is_some() {
        rows.insert(0, ("warm-up", format!("{}: not measured", output::warmup_text(report))));
    }
    let since = if report.warmup.is_some() { "end of the warm-up" } else { "first arrival" };
    let simulated = time(report.simulated_ns as f64);
    rows.push(("simulated time", format!("{simulated}, {since} to last completion")));
    let rates = match report.iops.zip(report.bytes_per_s) {
        Some((iops, bytes_per_s)) => {
            let rates = format!("{} IOPS, {}/s", large(iops), size(bytes_per_s));
            format!("{rates}: the reads and writes above, over the simulated time")
        }
        None => "none: no simulated time passed".to_owned(),
    };
    rows.push(("throughput", rates));
    rows.push(("peak outstanding", counted(report.peak_outstanding.into(), "request")));
    if report.held_by_transaction_limit > 0 {
        rows.push((
            "held back",
            format!("{}, by the drive's limit of transactions", counted(report.held_by_transaction_limit, "request")),
        ));
    }
    facts(rows)
}

/// Shares of the mean response time in the order of causes; causes without a share are left out.
pub(super) fn breakdown(report: &Report, pages_fill: bool) -> String {
    let total = |parts: &[(Cause, f64)]| parts.iter().map(|(_, ns)| ns).sum::<f64>();
    let (reads, writes) = (&report.latency_breakdown.read_mean_ns, &report.latency_breakdown.write_mean_ns);
    let (read_total, write_total) = (total(reads), total(writes));
    let share = |part: f64, whole: f64| if whole > 0.0 { percent(part / whole) } else { "-".into() };
    let bold = |text: &str| Cell::styled(text, BOLD);
    let mut rows = vec![vec![bold("  waiting for"), bold("reads"), bold("writes")]];
    // One of both is empty if there are no such requests.
    let part =
        |parts: &[(Cause, f64)], cause: Cause| parts.iter().find(|(of, _)| *of == cause).map_or(0.0, |(_, ns)| *ns);
    for cause in ALL_CAUSES {
        let (read_ns, write_ns) = (part(reads, cause), part(writes, cause));
        if read_ns > 0.0 || write_ns > 0.0 {
            let cells = [share(read_ns, read_total), share(write_ns, write_total)];
            let text = if pages_fill && cause == Cause::Buffer { "buffer, filling page" } else { label(cause) };
            rows.push(std::iter::once(format!("  {text}")).chain(cells).map(Cell::new).collect());
        }
    }
    if rows.len() == 1 {
        return "  nothing: no request took any time\n".into();
    }
    table::lay_out(&rows)
}

/// The label of a cause.
fn label(cause: Cause) -> &'static str {
    match cause {
        Cause::Flash => "flash array",
        Cause::Transfer => "data transfer",
        Cause::Channel => "busy channel",
        Cause::Gc => "garbage collection",
        Cause::Map => "map traffic",
        Cause::Scrub => "read scrubbing",
        Cause::Wear => "wear levelling",
        Cause::Parity => "parity, rebuild",
        Cause::HostIo => "other host requests",
        Cause::Scheduler => "schedule, window",
        Cause::Buffer => "buffer",
    }
}

pub(super) fn write_amplification(report: &Report) -> String {
    let wa = &report.write_amplification;
    let Some(total) = wa.total else { return "  none: the host wrote nothing\n".into() };
    let part = |value: Option<f64>| format!("{:.3}", value.unwrap_or(0.0));
    let mut rows = vec![
        ("total", format!("{total:.3}")),
        ("host", part(wa.host)),
        ("GC", part(wa.gc)),
        ("other", part(wa.other)),
        ("padding", part(wa.padding)),
    ];
    let skipped = report.flash.skipped_pages;
    if skipped > 0 {
        rows.push(("skipped", format!("{}, to align planes: not in the total", counted(skipped, "page"))));
    }
    if let Some(behind) = wa.after_last_request.filter(|behind| *behind > 0.0) {
        rows.push(("after the end", format!("{behind:.3}, programmed after the last request: not in the total")));
    }
    if let Some(before) = report.precondition_write_amplification {
        rows.push(("preconditioning", format!("{before:.3}, over {}", counted(report.precondition_units, "unit"))));
    }
    facts(rows)
}

pub(super) fn collection(report: &Report) -> String {
    let gc = &report.gc;
    if gc.collections == 0 {
        return format!("  none; fewest free blocks of a plane: {}\n", count(report.min_free_blocks.into()));
    }
    let per_collection = grouped(gc.units_moved as f64 / gc.collections as f64);
    let affected = report.response.gc_affected.count as f64 / (report.response.all.count.max(1)) as f64;
    let flash = &report.flash;
    let mut rows = vec![
        ("collections", format!("{}, each moving {per_collection} units on average", count(gc.collections))),
        (
            "time of a collection",
            format!(
                "mean {}, longest {}",
                time(gc.collection_mean_ns.unwrap_or_default()),
                time(gc.collection_max_ns.unwrap_or_default() as f64)
            ),
        ),
        ("requests affected", percent(affected)),
        ("fewest free blocks", format!("{} of a plane", count(report.min_free_blocks.into()))),
        ("moves dropped", count(flash.dropped_moves)),
    ];
    if flash.preemptions > 0 {
        rows.push((
            "preemptions",
            format!(
                "{} of the host, between steps of collections and background tasks, or while a step was suspended",
                counted(flash.preemptions, "command")
            ),
        ));
    }
    if flash.suspensions > 0 {
        let times = counted(flash.suspensions, "time");
        rows.push(("suspended", format!("programs and erases of collections and background tasks, {times}")));
    }
    if flash.reads_paired_with_gc + flash.programs_paired_with_gc > 0 {
        let (reads, programs) = (count(flash.reads_paired_with_gc), count(flash.programs_paired_with_gc));
        rows.push((
            "paired with GC",
            format!("{reads} reads and {programs} programs of the host, by commands of collections"),
        ));
    }
    if flash.copybacks > 0 {
        rows.push(("copied back", format!("{}, off the channel", counted(flash.copybacks, "page"))));
    }
    if flash.merged_reads + flash.merged_writes > 0 {
        let (reads, writes) = (count(flash.merged_reads), count(flash.merged_writes));
        rows.push((
            "merged",
            format!("{reads} reads and {writes} writes of the host, with pages that collections moved"),
        ));
    }
    facts(rows)
}

pub(super) fn merges_of_logs(merges: &MergeTotals) -> String {
    let written = merges.sequential_pages + merges.random_pages;
    let in_order = if written > 0 { percent(merges.sequential_pages as f64 / written as f64) } else { "none".into() };
    facts(vec![
        ("pages written", format!("{}, in order {in_order}", count(written))),
        ("switch merges", count(merges.switch_merges)),
        ("partial merges", count(merges.partial_merges)),
        (
            "full merges",
            format!("{}, to empty {} log blocks", count(merges.full_merges), count(merges.log_blocks_emptied)),
        ),
        ("pages gathered", count(merges.pages_gathered)),
    ])
}

pub(super) fn map_in_flash(map: &MapReport) -> String {
    let found = map.hit_ratio.map_or_else(|| "none".to_owned(), percent);
    let later = map.updates;
    facts(vec![
        ("entries looked up", format!("{}, of which DRAM held {found}", count(map.lookups))),
        ("translation pages read", count(map.page_reads)),
        ("written back", format!("{}, to make room in DRAM", count(map.write_backs))),
        (
            "updated",
            format!(
                "{}, because the entries of moved or written data were not in DRAM; {} still to be updated",
                count(later),
                count(map.pages_owed)
            ),
        ),
    ])
}

pub(super) fn parity_of_stripes(parity: &ParityTotals) -> String {
    let asked = parity.rebuilt + parity.not_rebuilt;
    facts(vec![
        ("units written", format!("{}, after {} page reads", count(parity.units), count(parity.reads))),
        ("reads rebuilt", format!("{} of {} blocked ones", count(parity.rebuilt), count(asked))),
        ("pages read for that", count(parity.rebuild_reads)),
    ])
}

pub(super) fn utilization(report: &Report) -> String {
    let used = &report.utilization;
    let during = used.plane_during_gc.map_or_else(|| "no GC".into(), |share| format!("{} during GC", percent(share)));
    let flash = &report.flash;
    let pages = |host: u64, gc: u64, other: u64| {
        let other = if other > 0 { format!(", other {}", count(other)) } else { String::new() };
        format!("host {}, GC {}{other}", count(host), count(gc))
    };
    facts(vec![
        ("planes", format!("{} ({during})", percent(used.plane))),
        ("dies", percent(used.die)),
        ("channels", percent(used.channel)),
        ("page reads", pages(flash.host_page_reads, flash.gc_page_reads, flash.other_page_reads)),
        ("page programs", pages(flash.host_page_programs, flash.gc_page_programs, flash.other_page_programs)),
        ("multi-plane", counted(flash.multi_plane_commands, "command")),
        ("cached", counted(flash.cached_commands, "command")),
    ])
}

/// Number of intervals into which a run is divided.
const INTERVALS: usize = 10;

/// The run in intervals: outstanding requests and free blocks show whether the drive keeps up.
pub(super) fn over_time(series: &[Sample]) -> String {
    if series.is_empty() {
        return "  the run is too short\n".into();
    }
    let bold = |heading: [&str; 7]| heading.iter().map(|text| Cell::styled(*text, BOLD)).collect::<Vec<_>>();
    let mut rows = vec![
        bold(["", "", "", "outstanding", "", "free blocks", ""]),
        bold(["  until", "requests", "mean response", "mean", "peak", "mean", "fewest"]),
    ];
    for samples in series.chunks(series.len().div_ceil(INTERVALS)) {
        let count_of = samples.len() as f64;
        let done: u64 = samples.iter().map(|s| s.requests_done).sum();
        let response_ns: u64 = samples.iter().map(|s| s.response_sum_ns).sum();
        let depth: f64 = samples.iter().map(|s| f64::from(s.queue_depth)).sum();
        let free: f64 = samples.iter().map(|s| s.free_blocks_mean).sum();
        let response = if done == 0 { "none".into() } else { time(response_ns as f64 / done as f64) };
        let cells = [
            format!("  {}", time(samples.last().map_or(0, |s| s.time_ns) as f64)),
            count(done),
            response,
            grouped(depth / count_of),
            count(samples.iter().map(|s| s.queue_depth).max().unwrap_or(0).into()),
            grouped(free / count_of),
            count(samples.iter().map(|s| s.free_blocks_min).min().unwrap_or(0).into()),
        ];
        rows.push(cells.into_iter().map(Cell::new).collect());
    }
    table::lay_out(&rows)
}

pub(super) fn wear(report: &Report, run: &RunConfig) -> String {
    let wear = &report.wear;
    // If a drive is written in rows, a relocated block is one block of each plane.
    let planes = if run.frontier.is_in_rows() { u64::from(run.geometry.planes_per_die) } else { 1 };
    let by_tasks = match report.flash.blocks_relocated * planes {
        0 => String::new(),
        erases => format!(", {} of them by background tasks other than GC", count(erases)),
    };
    facts(vec![
        ("erases", format!("{} in this run{by_tasks}", count(report.flash.block_erases))),
        (
            "of each block",
            format!(
                "{} to {}, mean {}, standard deviation {}",
                count(wear.min_erases.into()),
                count(wear.max_erases.into()),
                grouped(wear.mean_erases),
                grouped(wear.stdev_erases)
            ),
        ),
    ])
}
