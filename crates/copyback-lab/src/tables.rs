//! The tables of results, by name: which runs have one, and its columns.

mod commands;

use crate::columns::Column;
use crate::failure::Failure;
use crate::flat;
use crate::plan::Plan;
use crate::results::{KeptTables, Results};
use copyback::observe::microscope::{Kind, Row};
use copyback::observe::report::ALL_CAUSES;
use copyback::run::config::RunConfig;

/// A table's columns, or why there are none.
type Made = Result<Vec<Column>, Failure>;

/// A table.
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Whether runs have it.
    is_of: fn(&Plan, KeptTables) -> bool,
    columns: fn(&Results) -> Made,
}

impl Table {
    /// Whether the runs of a plan have it.
    pub fn is_of(&self, plan: &Plan, kept: KeptTables) -> bool {
        (self.is_of)(plan, kept)
    }

    /// Its columns, all of one length.
    pub fn columns(&self, results: &Results) -> Made {
        (self.columns)(results)
    }

    /// Its file in a folder of results.
    pub fn file(&self) -> String {
        format!("{}.parquet", self.name)
    }
}

const fn table(name: &'static str, is_of: fn(&Plan, KeptTables) -> bool, columns: fn(&Results) -> Made) -> Table {
    Table { name, is_of, columns }
}

/// All tables; docs/output.md describes their columns.
pub const TABLES: &[Table] = &[
    table("summary", |_, _| true, summary),
    table("latency_histograms", |_, _| true, |results| Ok(latency_histograms(results))),
    table("time_series", |_, _| true, |results| Ok(time_series(results))),
    table("window", |plan, _| any(plan, |run| run.measure.window.is_some()), |results| Ok(window(results))),
    table("drives", |plan, _| any(plan, |run| run.array_or_alone().is_some()), drives),
    table("workloads", |plan, _| plan.runs.iter().any(|planned| !planned.resolved.tenants.is_empty()), workloads),
    table("bandwidth", |plan, _| any(plan, |run| run.measure.bandwidth.is_some()), |results| Ok(bandwidth(results))),
    table("gc_events", |_, kept| kept.gc_events, |results| Ok(gc_events(results))),
    table("requests", |_, kept| kept.requests, |results| Ok(requests(results))),
    table("commands", |_, kept| kept.commands, |results| Ok(commands::columns(results))),
    table("microscope", |_, kept| kept.microscope, |results| Ok(microscope(results))),
];

fn any(plan: &Plan, has: fn(&RunConfig) -> bool) -> bool {
    plan.runs.iter().any(|planned| has(&planned.resolved.run))
}

/// Every number of the reports, one in each row: names are paths in the JSON document.
fn summary(results: &Results) -> Made {
    let (mut schemes, mut names, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for (planned, done) in results.plan.runs.iter().zip(&results.finished) {
        let mut found = flat::numbers(&done.outcome.report)?;
        if let Some(matched) = &done.matched {
            let matched = flat::numbers(matched)?;
            found.extend(matched.into_iter().map(|(name, number)| (format!("matched.{name}"), number)));
        }
        for (name, number) in found {
            if let Some(value) = number.as_f64() {
                schemes.push(planned.scheme.clone());
                names.push(name);
                values.push(value);
            }
        }
    }
    Ok(vec![Column::text("scheme", schemes), Column::text("metric", names), Column::F64("value", values)])
}

/// Bins of the histograms that hold something.
fn latency_histograms(results: &Results) -> Vec<Column> {
    let (mut schemes, mut classes) = (Vec::new(), Vec::new());
    let (mut from, mut to, mut counts) = (Vec::new(), Vec::new(), Vec::new());
    for (planned, done) in results.plan.runs.iter().zip(&results.finished) {
        let of_all = done.outcome.histograms.iter().map(|(class, histogram)| ((*class).to_owned(), histogram));
        let of_workloads = done.outcome.workload_histograms.iter().flat_map(|(name, both)| {
            ["read", "write"].into_iter().zip(both).map(move |(op, histogram)| (format!("{name}.{op}"), histogram))
        });
        for (class, histogram) in of_all.chain(of_workloads) {
            for bin in histogram.iter_recorded() {
                let value = bin.value_iterated_to();
                schemes.push(planned.scheme.clone());
                classes.push(class.clone());
                from.push(histogram.lowest_equivalent(value));
                to.push(histogram.highest_equivalent(value));
                counts.push(bin.count_at_value());
            }
        }
    }
    vec![
        Column::text("scheme", schemes),
        Column::text("class", classes),
        Column::U64("from_ns", from),
        Column::U64("to_ns", to),
        Column::U64("count", counts),
    ]
}

/// Rows of one table of every run, each with its scheme.
struct Rows<'a, T> {
    rows: Vec<(&'a str, &'a T)>,
}

impl<'a, T> Rows<'a, T> {
    fn new(results: &'a Results, of: impl Fn(&'a copyback::observe::report::Outcome) -> &'a [T]) -> Self {
        let both = results.plan.runs.iter().zip(&results.finished);
        let rows = both.flat_map(|(planned, done)| of(&done.outcome).iter().map(move |row| (&*planned.scheme, row)));
        Self { rows: rows.collect() }
    }

    fn schemes(&self) -> Column {
        Column::text("scheme", self.rows.iter().map(|(scheme, _)| (*scheme).to_owned()).collect())
    }

    fn u64(&self, name: &'static str, value: impl Fn(&T) -> u64) -> Column {
        Column::U64(name, self.rows.iter().map(|(_, row)| value(row)).collect())
    }

    fn f64(&self, name: &'static str, value: impl Fn(&T) -> f64) -> Column {
        Column::F64(name, self.rows.iter().map(|(_, row)| value(row)).collect())
    }

    fn maybe_u64(&self, name: &str, value: impl Fn(&T) -> Option<u64>) -> Column {
        Column::MaybeU64(name.to_owned(), self.rows.iter().map(|(_, row)| value(row)).collect())
    }

    fn maybe_f64(&self, name: &str, value: impl Fn(&T) -> Option<f64>) -> Column {
        Column::MaybeF64(name.to_owned(), self.rows.iter().map(|(_, row)| value(row)).collect())
    }
}

fn time_series(results: &Results) -> Vec<Column> {
    let rows = Rows::new(results, |outcome| &outcome.series);
    vec![
        rows.schemes(),
        rows.u64("time_ns", |s| s.time_ns),
        rows.u64("free_blocks_min", |s| s.free_blocks_min.into()),
        rows.f64("free_blocks_mean", |s| s.free_blocks_mean),
        rows.u64("queue_depth", |s| s.queue_depth.into()),
        rows.u64("dies_collecting", |s| s.dies_collecting.into()),
        rows.u64("requests_done", |s| s.requests_done),
        rows.u64("response_sum_ns", |s| s.response_sum_ns),
        rows.u64("trims_done", |s| s.work.trims_done),
        rows.u64("units_written", |s| s.work.units_written),
        rows.u64("host_units", |s| s.work.host_units),
        rows.u64("gc_units", |s| s.work.gc_units),
        rows.u64("other_units", |s| s.work.other_units),
        rows.u64("padding_units", |s| s.work.padding_units),
        rows.maybe_f64("write_amplification", |s| s.work.write_amplification()),
        rows.u64("host_page_reads", |s| s.work.host_page_reads),
        rows.u64("host_page_programs", |s| s.work.host_page_programs),
        rows.u64("gc_page_reads", |s| s.work.gc_page_reads),
        rows.u64("gc_page_programs", |s| s.work.gc_page_programs),
        rows.u64("block_erases", |s| s.work.block_erases),
        rows.maybe_f64("gc_share_percent", |s| s.gc_share_percent),
        rows.maybe_f64("scrub_share_percent", |s| s.scrub_share_percent),
        rows.maybe_u64("block_reads_max", |s| s.block_reads_max.map(u64::from)),
    ]
}

fn window(results: &Results) -> Vec<Column> {
    let rows = Rows::new(results, |outcome| outcome.window.as_deref().unwrap_or_default());
    vec![
        rows.schemes(),
        rows.u64("start_ns", |b| b.start_ns),
        rows.u64("requests_done", |b| b.requests_done),
        rows.u64("response_sum_ns", |b| b.response_sum_ns),
        rows.u64("reads_done", |b| b.reads_done),
        rows.u64("small_reads_done", |b| b.small_reads_done),
        rows.u64("small_read_response_sum_ns", |b| b.small_read_response_sum_ns),
        rows.u64("free_blocks", |b| b.free_blocks),
        rows.u64("free_blocks_fewest", |b| b.free_blocks_fewest),
        rows.maybe_f64("gc_share_percent", |b| b.gc_share_percent),
        rows.maybe_f64("scrub_share_percent", |b| b.scrub_share_percent),
        rows.maybe_u64("block_reads_max", |b| b.block_reads_max.map(u64::from)),
    ]
}

/// Every number of each drive of an array, one in each row: names are paths in the JSON document, below a drive.
fn drives(results: &Results) -> Made {
    let (mut schemes, mut drives) = (Vec::new(), Vec::new());
    let (mut names, mut values) = (Vec::new(), Vec::new());
    for (planned, done) in results.plan.runs.iter().zip(&results.finished) {
        for drive in done.outcome.report.array.iter().flat_map(|array| &array.drives) {
            for (name, number) in flat::numbers(drive)? {
                let Some(value) = number.as_f64() else { continue };
                schemes.push(planned.scheme.clone());
                drives.push(drive.drive.into());
                names.push(name);
                values.push(value);
            }
        }
    }
    let (scheme, metric) = (Column::text("scheme", schemes), Column::text("metric", names));
    Ok(vec![scheme, Column::U64("drive", drives), metric, Column::F64("value", values)])
}

/// Every number of each of several workloads, one in each row: names are paths in the JSON document, below a workload.
fn workloads(results: &Results) -> Made {
    let (mut schemes, mut workloads) = (Vec::new(), Vec::new());
    let (mut names, mut values) = (Vec::new(), Vec::new());
    for (planned, done) in results.plan.runs.iter().zip(&results.finished) {
        for (workload, report) in &done.outcome.report.workloads {
            for (name, number) in flat::numbers(report)? {
                let Some(value) = number.as_f64() else { continue };
                schemes.push(planned.scheme.clone());
                workloads.push(workload.clone());
                names.push(name);
                values.push(value);
            }
        }
    }
    let (scheme, metric) = (Column::text("scheme", schemes), Column::text("metric", names));
    Ok(vec![scheme, Column::text("workload", workloads), metric, Column::F64("value", values)])
}

/// The bytes of each interval.
fn bandwidth(results: &Results) -> Vec<Column> {
    let (mut schemes, mut from, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
    for (planned, done) in results.plan.runs.iter().zip(&results.finished) {
        let Some(bandwidth) = &done.outcome.report.bandwidth else { continue };
        for (at, of) in (0..).zip(&bandwidth.bytes) {
            schemes.push(planned.scheme.clone());
            from.push(at * bandwidth.every_ns);
            bytes.push(*of);
        }
    }
    vec![Column::text("scheme", schemes), Column::U64("from_ns", from), Column::U64("bytes", bytes)]
}

fn gc_events(results: &Results) -> Vec<Column> {
    let rows = Rows::new(results, |outcome| &outcome.gc_events);
    vec![
        rows.schemes(),
        rows.u64("start_ns", |e| e.start_ns),
        rows.u64("end_ns", |e| e.end_ns),
        rows.u64("drive", |e| e.drive.into()),
        rows.u64("die", |e| e.die.into()),
        rows.u64("plane", |e| e.plane.into()),
        rows.u64("block", |e| e.block.into()),
        rows.u64("units_valid", |e| e.units_valid.into()),
        rows.u64("free_blocks", |e| e.free_blocks.into()),
    ]
}

fn requests(results: &Results) -> Vec<Column> {
    let rows = Rows::new(results, |outcome| &outcome.requests);
    let mut columns = vec![
        rows.schemes(),
        rows.u64("index", |r| r.index),
        Column::text("op", rows.rows.iter().map(|(_, r)| op_name(r.op).to_owned()).collect()),
        rows.u64("gc_affected", |r| r.gc_affected.into()),
        rows.u64("arrival_ns", |r| r.arrival_ns),
        rows.u64("offset_bytes", |r| r.offset_bytes),
        rows.u64("len_bytes", |r| r.len_bytes),
        rows.u64("response_ns", |r| r.response_ns),
    ];
    let workloads: Vec<&String> =
        results.plan.runs.iter().take(1).flat_map(|run| run.resolved.tenants.keys()).collect();
    if !workloads.is_empty() {
        let name = |at: u16| workloads.get(usize::from(at)).map_or_else(String::new, |name| (*name).clone());
        columns.push(Column::text("workload", rows.rows.iter().map(|(_, r)| name(r.workload)).collect()));
    }
    for cause in ALL_CAUSES {
        let values = rows.rows.iter().map(|(_, r)| r.breakdown_ns[cause as usize]).collect();
        columns.push(Column::Named(format!("{}_ns", cause.name()), values));
    }
    columns
}

fn microscope(results: &Results) -> Vec<Column> {
    let rows = Rows::new(results, |outcome| outcome.microscope.as_ref().map(|view| &*view.rows).unwrap_or_default());
    let op = |row: &Row| row.op.map_or("gc", |op| op_name(op as u8)).to_owned();
    vec![
        rows.schemes(),
        Column::text("kind", rows.rows.iter().map(|(_, r)| r.kind.name().to_owned()).collect()),
        rows.maybe_u64("drive", |r| r.drive.map(u64::from)),
        Column::text("op", rows.rows.iter().map(|(_, r)| op(r)).collect()),
        rows.maybe_u64("dies", |r| (r.kind == Kind::Collecting).then_some(r.dies.into())),
        rows.u64("start_ns", |r| r.start_ns),
        rows.u64("end_ns", |r| r.end_ns),
        rows.u64("value_ns", Row::time_ns),
    ]
}

/// An operation, as tables name it.
pub fn op_name(op: u8) -> &'static str {
    match op {
        0 => "read",
        1 => "write",
        _ => "trim",
    }
}
