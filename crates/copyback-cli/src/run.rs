//! `copyback run`: one scheme in depth.

mod arrays;
mod tasks;

use crate::args::{Common, RunArgs};
use crate::around;
use crate::execute::{self, How};
use crate::failure::Failure;
use crate::files::{self, Output};
use crate::fio;
use crate::format::{are_too_few, count, large, percent, size, three_digits, time};
use crate::microscope::Microscope;
use crate::output::{self, Results};
use crate::perfetto::Perfetto;
use crate::plan::{self, Plan};
use crate::steady;
use crate::table::{self, BOLD, Cell};
use crate::tables::Asked;
use crate::timeline::Drawing;
use copyback::config::layers::suggestion;
use copyback::ftl::log_blocks::MergeTotals;
use copyback::observe::config::MeasureConfig;
use copyback::observe::report::{Latency, MapReport, ParityTotals, Report, Sample};
use copyback::run::config::{Resolved, RunConfig};

/// Runs the command.
pub fn run(args: &RunArgs) -> Result<(), Failure> {
    if args.print_config {
        return files::print(&config_text(args)?);
    }
    let Ran { results, is_printed } = ran(args)?;
    if is_printed {
        return Ok(());
    }
    files::print(&text(&results, &args.common, table::terminal_columns(table::PAGE))?)
}

/// A run that is done and written.
pub struct Ran {
    /// What came out.
    pub results: Results,
    /// Whether standard output is taken by it.
    is_printed: bool,
}

/// The configuration with every default filled in, as TOML.
pub fn config_text(args: &RunArgs) -> Result<String, Failure> {
    let plan = plan_of_one(args)?;
    Ok(plan.runs[0].config_text(&plan))
}

fn plan_of_one(args: &RunArgs) -> Result<Plan, Failure> {
    let schemes: Vec<String> = args.scheme.iter().cloned().collect();
    let plan = plan::plan(&args.common, &schemes, &["baseline"])?;
    if plan.runs.len() != 1 {
        let names: Vec<&str> = plan.runs.iter().map(|planned| planned.scheme.as_str()).collect();
        return Err(Failure::input(format!("the experiment names {} schemes: {}", names.len(), names.join(", ")))
            .with_help("`copyback compare` runs several; `--scheme NAME` chooses one"));
    }
    Ok(plan)
}

/// Does what the command line says but for the text.
pub fn ran(args: &RunArgs) -> Result<Ran, Failure> {
    let common = &args.common;
    let plan = plan_of_one(args)?;
    let drawings = [
        ("--timeline", &args.timeline.timeline),
        ("--perfetto", &args.perfetto.perfetto),
        ("--microscope", &args.microscope.microscope),
        ("--fio-json", &args.fio_json),
    ];
    let drawings: Vec<Output> =
        drawings.into_iter().filter_map(|(what, path)| Some(Output::new(what, path.as_deref()?))).collect();
    let asked = Asked { microscope: args.microscope.microscope.is_some(), ..output::asked(common) };
    output::check(common, &plan, &drawings, asked)?;
    let timeline = Drawing::new(&args.timeline, &plan.runs[0].resolved.run)?;
    let perfetto = Perfetto::new(&args.perfetto, &plan)?;
    let microscope = Microscope::new(&args.microscope, &plan)?;
    chosen_percentiles(&common.show)?;
    let folder = output::begin(common, &plan, asked)?;
    let [of_timeline, of_perfetto] =
        around::spans(&plan, common, [timeline.as_ref().map(|t| t.asked), perfetto.as_ref().map(|p| p.asked)])?;
    let usual = output::how(common);
    let how = How {
        keep_commands: usual.keep_commands.or_else(|| around::filter([of_timeline, of_perfetto])),
        keep_requests: usual.keep_requests || perfetto.is_some(),
        keep_gc_events: usual.keep_gc_events || perfetto.is_some(),
        microscope: microscope.as_ref().map(Microscope::focus),
        ..usual
    };
    let finished = execute::execute(&plan, &how)?;
    let results = Results { command: "run", plan, finished, asked };
    let outcome = &results.finished[0].outcome;
    let timeline = timeline.zip(of_timeline).map(|(t, span)| (t.path(), t.draw(span, &outcome.commands).into_bytes()));
    let perfetto = perfetto.zip(of_perfetto).map(|(p, span)| (p.path(), p.encoded(span, outcome)));
    let microscope = microscope.zip(outcome.microscope.as_ref()).map(|(drawing, view)| drawing.drawn(view));
    let microscope = microscope.map(|(path, text)| (path, text.into_bytes()));
    let of_fio = match &args.fio_json {
        Some(path) => {
            let (planned, done) = (&results.plan.runs[0], &results.finished[0]);
            Some((path.as_path(), fio::json::document(planned, done, &results.plan.jobs)?))
        }
        None => None,
    };
    let drawn: Vec<_> = timeline.into_iter().chain(perfetto).chain(microscope).chain(of_fio).collect();
    let is_printed = output::write(common, folder, &results, &drawn)?;
    Ok(Ran { results, is_printed })
}

/// The summary as a person reads it, so many characters wide.
pub fn text(results: &Results, common: &Common, terminal_columns: usize) -> Result<String, Failure> {
    let percentiles = chosen_percentiles(&common.show)?;
    let (plan, done) = (&results.plan, &results.finished[0]);
    let planned = &plan.runs[0];
    let report = &done.outcome.report;
    let mut text = heading(plan, &planned.scheme, &planned.resolved);
    let mut parts = vec![
        ("Requests", requests(report)),
        (
            "Response times",
            table::split(&latency_rows(report, &planned.resolved.run.measure, &percentiles), terminal_columns),
        ),
        ("Where the time went", breakdown(report, planned.resolved.run.frontier.fill().is_some())),
        ("Write amplification", write_amplification(report)),
        ("Steady state", facts(steady::rows(&report.steady))),
        ("Garbage collection", collection(report)),
        ("Utilization", utilization(report)),
        ("Wear", wear(report, &planned.resolved.run)),
        ("Over time", over_time(&done.outcome.series)),
    ];
    if !report.workloads.is_empty() {
        parts.insert(2, ("Each workload", crate::tenants::text(plan, std::slice::from_ref(done), terminal_columns)));
    }
    let tasks = tasks::rows(&planned.resolved.run, report, &done.outcome.series);
    if !tasks.is_empty() {
        parts.insert(6, ("Tasks", facts(tasks)));
    }
    if let Some(map) = &report.map {
        parts.insert(6, ("Map in flash", map_in_flash(map)));
    }
    if let Some(parity) = &report.parity {
        parts.insert(6, ("Parity", parity_of_stripes(parity)));
    }
    if let Some(merges) = &report.merges {
        parts.insert(6, ("Merges of log blocks", merges_of_logs(merges)));
    }
    match (&report.array, &report.bandwidth) {
        (Some(array), bandwidth) => parts.insert(2, ("Array", arrays::section(array, bandwidth.as_ref()))),
        (None, Some(bandwidth)) => {
            parts.insert(2, ("Bandwidth", facts(vec![("each", arrays::per_interval(bandwidth))])))
        }
        (None, None) => {}
    }
    for (title, body) in parts {
        text.push_str(&format!("\n{}{title}{}\n{body}", BOLD.render(), BOLD.render_reset()));
    }
    let wall = done.wall;
    text.push_str(&format!(
        "\nSimulated in {} ({} requests/s, {} flash pages/s), the drive's preconditioning in {}.\n",
        time(wall.simulate_s * 1e9),
        large(wall.requests_per_s),
        large(wall.page_operations_per_s),
        time(wall.precondition_s * 1e9),
    ));
    Ok(text + &output::notes(plan, std::slice::from_ref(done)))
}

fn heading(plan: &Plan, scheme: &str, resolved: &Resolved) -> String {
    let title = plan.name.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
    let workload = output::asked_name(resolved);
    format!("{title}scheme `{scheme}`, workload {workload}, {}\n", output::target_line(&plan.runs[0]))
}

/// Rows of a name and a text.
fn facts(rows: Vec<(&str, String)>) -> String {
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    rows.into_iter().map(|(name, value)| format!("  {name:<width$}  {value}\n")).collect()
}

fn requests(report: &Report) -> String {
    let mut rows = vec![
        ("reads", format!("{} ({})", count(report.reads), size(report.read_bytes as f64))),
        ("writes", format!("{} ({})", count(report.writes), size(report.written_bytes as f64))),
    ];
    if report.trims > 0 {
        rows.push(("trims", count(report.trims)));
    }
    if report.unwritten_units_read > 0 {
        let share = percent(report.unwritten_units_read as f64 / report.units_read.max(1) as f64);
        let units = count(report.unwritten_units_read);
        rows.push(("reads of nothing", format!("{units} units held no data, {share} of those read")));
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
    let rates = format!("{} IOPS, {}/s", large(report.iops), size(report.bytes_per_s));
    rows.push(("throughput", format!("{rates}: the reads and writes above, over the simulated time")));
    rows.push(("peak outstanding", format!("{} requests", count(report.peak_outstanding.into()))));
    if report.held_by_transaction_limit > 0 {
        rows.push((
            "held back",
            format!("{} requests, by the limit of pages", count(report.held_by_transaction_limit)),
        ));
    }
    facts(rows)
}

/// A percentile's heading, how many of a million requests are beyond it, and how a class tells it.
type Percentile = (&'static str, u64, fn(&Latency) -> f64);

/// Of what is no percentile, and is shown of any request.
const ANY: u64 = u64::MAX;

const PERCENTILES: &[Percentile] = &[
    ("mean", ANY, |l| l.mean_ns),
    ("p50", 500_000, |l| l.p50_ns as f64),
    ("p90", 100_000, |l| l.p90_ns as f64),
    ("p99", 10_000, |l| l.p99_ns as f64),
    ("p99.9", 1_000, |l| l.p99_9_ns as f64),
    ("p99.99", 100, |l| l.p99_99_ns as f64),
    ("p99.999", 10, |l| l.p99_999_ns as f64),
    ("p99.9999", 1, |l| l.p99_9999_ns as f64),
    ("max", ANY, |l| l.max_ns as f64),
];

/// The columns that `--show` chooses; all where it is not there.
fn chosen_percentiles(show: &[String]) -> Result<Vec<&'static Percentile>, Failure> {
    if show.is_empty() {
        return Ok(PERCENTILES.iter().collect());
    }
    let find = |name: &String| {
        let title = name.trim().replace('_', ".");
        PERCENTILES.iter().find(|(known, ..)| *known == title).ok_or_else(|| {
            let known = PERCENTILES.iter().map(|(known, ..)| *known);
            Failure::input(format!("--show: no column of response times is called `{name}`"))
                .with_help(suggestion(&title, "columns", known))
        })
    };
    let mut percentiles: Vec<&Percentile> = Vec::new();
    for name in show {
        let percentile = find(name)?;
        if percentiles.iter().all(|(title, ..)| *title != percentile.0) {
            percentiles.push(percentile);
        }
    }
    Ok(percentiles)
}

fn latency_rows(report: &Report, measure: &MeasureConfig, percentiles: &[&Percentile]) -> Vec<Vec<Cell>> {
    let response = &report.response;
    let small_reads = format!("reads up to {}", measure.small_read_max);
    let mut classes = vec![
        ("all", &response.all),
        ("reads", &response.read),
        (&*small_reads, &response.small_read),
        ("writes", &response.write),
        ("GC-affected reads", &response.gc_affected_read),
        ("GC-affected writes", &response.gc_affected_write),
    ];
    let is_asked_for = measure.small_read_max != MeasureConfig::default().small_read_max && response.read.count > 0;
    if !is_asked_for && [0, response.read.count].contains(&response.small_read.count) {
        // None of the reads is small, or all are: a row of its own would say nothing but to who has chosen the size.
        classes.retain(|(name, _)| *name != small_reads);
    }
    let heading = ["class", "requests"].into_iter().chain(percentiles.iter().map(|(name, ..)| *name));
    let mut rows: Vec<Vec<Cell>> = vec![heading.map(|text| Cell::styled(text, BOLD)).collect()];
    for row in &mut rows {
        if let Some(first) = row.first_mut() {
            *first = Cell::styled("  class", BOLD);
        }
    }
    for (name, class) in classes {
        let mut row = vec![Cell::new(format!("  {name}")), Cell::new(count(class.count))];
        if class.count == 0 {
            row.push(Cell::new("none"));
        } else {
            let shown = |(_, beyond_ppm, value): &&Percentile| match are_too_few(class.count, *beyond_ppm) {
                true => Cell::new("-"),
                false => Cell::new(time(value(class))),
            };
            row.extend(percentiles.iter().map(shown));
        }
        rows.push(row);
    }
    rows
}

/// Shares of the mean response time in the order of causes; causes without a share are left out.
fn breakdown(report: &Report, pages_fill: bool) -> String {
    let total = |parts: &[(&str, f64)]| parts.iter().map(|(_, ns)| ns).sum::<f64>();
    let (reads, writes) = (&report.latency_breakdown.read_mean_ns, &report.latency_breakdown.write_mean_ns);
    let (read_total, write_total) = (total(reads), total(writes));
    let share = |part: f64, whole: f64| if whole > 0.0 { percent(part / whole) } else { "-".into() };
    let bold = |text: &str| Cell::styled(text, BOLD);
    let mut rows = vec![vec![bold("  waiting for"), bold("reads"), bold("writes")]];
    for (at, (cause, ns)) in reads.iter().enumerate() {
        let write_ns = writes.get(at).map_or(0.0, |(_, ns)| *ns);
        if *ns > 0.0 || write_ns > 0.0 {
            let cells = [share(*ns, read_total), share(write_ns, write_total)];
            let text = if pages_fill && *cause == "buffer" { "buffer, filling page" } else { cause_text(cause) };
            rows.push(std::iter::once(format!("  {text}")).chain(cells).map(Cell::new).collect());
        }
    }
    if rows.len() == 1 {
        return "  nothing: no request took any time\n".into();
    }
    table::lay_out(&rows)
}

/// A cause as a person would say it.
fn cause_text(cause: &str) -> &str {
    match cause {
        "flash" => "flash array",
        "transfer" => "data transfer",
        "channel" => "busy channel",
        "gc" => "garbage collection",
        "map" => "map traffic",
        "scrub" => "read scrubbing",
        "wear" => "wear levelling",
        "parity" => "parity, rebuild",
        "host_io" => "other host requests",
        "scheduler" => "schedule, window",
        "buffer" => "buffer",
        other => other,
    }
}

fn write_amplification(report: &Report) -> String {
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
    if let Some(before) = report.precondition_write_amplification {
        rows.push(("preconditioning", format!("{before:.3}, over {} units", count(report.precondition_units))));
    }
    facts(rows)
}

fn collection(report: &Report) -> String {
    let gc = &report.gc;
    if gc.collections == 0 {
        return format!("  none; fewest free blocks of a plane: {}\n", report.min_free_blocks);
    }
    let per_collection = three_digits(gc.units_moved as f64 / gc.collections as f64);
    let affected = report.response.gc_affected.count as f64 / (report.response.all.count.max(1)) as f64;
    let flash = &report.flash;
    let mut rows = vec![
        ("collections", format!("{}, each moving {per_collection} units on average", count(gc.collections))),
        (
            "time of a collection",
            format!("mean {}, longest {}", time(gc.collection_mean_ns), time(gc.collection_max_ns as f64)),
        ),
        ("requests affected", percent(affected)),
        ("fewest free blocks", format!("{} of a plane", report.min_free_blocks)),
        ("moves dropped", count(flash.dropped_moves)),
    ];
    if flash.preemptions > 0 {
        rows.push((
            "went first",
            format!("{} commands of the host, between steps of collections", count(flash.preemptions)),
        ));
    }
    if flash.reads_paired_with_gc + flash.programs_paired_with_gc > 0 {
        let (reads, programs) = (count(flash.reads_paired_with_gc), count(flash.programs_paired_with_gc));
        rows.push((
            "paired with GC",
            format!("{reads} reads and {programs} programs of the host, by commands of collections"),
        ));
    }
    if flash.copybacks > 0 {
        rows.push(("copied back", format!("{} pages, off the channel", count(flash.copybacks))));
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

fn merges_of_logs(merges: &MergeTotals) -> String {
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

fn map_in_flash(map: &MapReport) -> String {
    let found = map.hit_ratio.map_or_else(|| "none".to_owned(), percent);
    let later = map.page_programs - map.write_backs;
    facts(vec![
        ("entries looked up", format!("{}, of which DRAM held {found}", count(map.lookups))),
        ("translation pages read", count(map.page_reads)),
        ("written back", format!("{}, to make room in DRAM", count(map.write_backs))),
        (
            "updated",
            format!(
                "{}, as data moved whose entries were not in DRAM; {} still to be updated",
                count(later),
                count(map.pages_owed)
            ),
        ),
    ])
}

fn parity_of_stripes(parity: &ParityTotals) -> String {
    let asked = parity.rebuilt + parity.not_rebuilt;
    facts(vec![
        ("units written", format!("{}, after {} page reads", count(parity.units), count(parity.reads))),
        ("reads rebuilt", format!("{} of {} blocked ones", count(parity.rebuilt), count(asked))),
        ("pages read for that", count(parity.rebuild_reads)),
    ])
}

fn utilization(report: &Report) -> String {
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
        ("multi-plane", format!("{} commands", count(flash.multi_plane_commands))),
        ("cached", format!("{} commands", count(flash.cached_commands))),
    ])
}

/// Intervals that a run is told in.
const INTERVALS: usize = 10;

/// How the run went: requests waiting and blocks left show whether the drive keeps up or drowns.
fn over_time(series: &[Sample]) -> String {
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
            three_digits(depth / count_of),
            count(samples.iter().map(|s| s.queue_depth).max().unwrap_or(0).into()),
            three_digits(free / count_of),
            count(samples.iter().map(|s| s.free_blocks_min).min().unwrap_or(0).into()),
        ];
        rows.push(cells.into_iter().map(Cell::new).collect());
    }
    table::lay_out(&rows)
}

fn wear(report: &Report, run: &RunConfig) -> String {
    let wear = &report.wear;
    // Where a drive is written in rows, what is relocated as a block is one of each plane.
    let planes = if run.frontier.is_in_rows() { u64::from(run.geometry.planes_per_die) } else { 1 };
    let by_tasks = match report.flash.blocks_relocated * planes {
        0 => String::new(),
        erases => format!(", {} of them by scrubbing or wear levelling", count(erases)),
    };
    facts(vec![
        ("erases", format!("{} in this run{by_tasks}", count(report.flash.block_erases))),
        (
            "of each block",
            format!(
                "{} to {}, mean {}, standard deviation {}",
                wear.min_erases,
                wear.max_erases,
                three_digits(wear.mean_erases),
                three_digits(wear.stdev_erases)
            ),
        ),
    ])
}
