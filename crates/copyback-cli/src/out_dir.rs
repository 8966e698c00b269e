//! `--out DIR`: Parquet tables, the JSON document and the resolved configurations.

use crate::columns::{Column, write_table};
use crate::failure::Failure;
use crate::files;
use crate::flat;
use crate::output::Results;
use crate::plan::Plan;
use copyback::metrics::report::ALL_CAUSES;
use serde::Deserialize;
use std::path::Path;

const TABLES: &[&str] = &["summary", "latency_histograms", "time_series", "gc_events", "requests"];
const JSON: &str = "results.json";

/// What is read of the document of an earlier run.
#[derive(Deserialize)]
struct Earlier {
    schema: String,
    results: Vec<EarlierRun>,
}

#[derive(Deserialize)]
struct EarlierRun {
    scheme: String,
}

/// Names of the files in a folder that an earlier run left there: its document says which schemes it ran. Without the
/// document nothing is ours, whatever it is called.
fn left_by_earlier_run(folder: &Path) -> Vec<String> {
    let document = std::fs::read(folder.join(JSON)).ok();
    let earlier: Option<Earlier> = document.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let is_ours =
        |earlier: &Earlier| ["copyback/run/", "copyback/compare/"].iter().any(|s| earlier.schema.starts_with(s));
    let Some(earlier) = earlier.filter(is_ours) else { return Vec::new() };
    let tables = TABLES.iter().map(|table| format!("{table}.parquet"));
    let configurations = earlier.results.iter().map(|run| config_name(&run.scheme));
    tables.chain(configurations).chain([JSON.to_owned()]).collect()
}

/// Name of the file of a scheme's resolved configuration.
fn config_name(scheme: &str) -> String {
    format!("config-{scheme}.toml")
}

/// Refuses a folder that holds what the program did not write.
pub fn check(folder: &Path, plan: &Plan) -> Result<(), Failure> {
    let shown = folder.display();
    if folder.exists() && !folder.is_dir() {
        return Err(Failure::input(format!("{shown} is a file, not a folder")).with_help("name a folder, or a new one"));
    }
    if let Some(planned) = plan.runs.iter().find(|planned| planned.scheme.contains(['/', '\\'])) {
        return Err(Failure::input(format!("`{}` cannot be part of a file's name", planned.scheme)));
    }
    let whole = folder.ancestors().find(|above| above.as_os_str().is_empty() || above.exists());
    let standing = whole.filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !standing.is_dir() {
        return Err(Failure::input(format!("{} is a file: {shown} cannot be in it", standing.display())));
    }
    files::check_writable(standing)?;
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(()) };
    let ours = left_by_earlier_run(folder);
    let mut foreign: Vec<String> = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| !ours.contains(name))
        .collect();
    foreign.sort();
    match foreign.first() {
        Some(name) => {
            Err(Failure::input(format!("{shown} holds files that are no results of an earlier run, such as {name}"))
                .with_help(format!(
                    "name an empty or a new folder; only results that {JSON} there tells of are overwritten"
                )))
        }
        None => Ok(()),
    }
}

/// Writes the folder. Results of an earlier run go first, so that what stands there is of one run.
pub fn write(folder: &Path, results: &Results<'_>, json: &str, with_requests: bool) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::run(format!("cannot write to {}: {error}", folder.display()));
    std::fs::create_dir_all(folder).map_err(failed)?;
    for name in left_by_earlier_run(folder) {
        let path = folder.join(name);
        if path.exists() {
            std::fs::remove_file(path).map_err(failed)?;
        }
    }
    let table = |name: &str, columns: Vec<Column>| {
        let path = folder.join(format!("{name}.parquet"));
        files::write_whole(&path, |file| write_table(file, name, columns))
    };
    table("summary", summary(results)?)?;
    table("latency_histograms", latency_histograms(results))?;
    table("time_series", time_series(results))?;
    table("gc_events", gc_events(results))?;
    if with_requests {
        table("requests", requests(results))?;
    }
    for planned in &results.plan.runs {
        let path = folder.join(config_name(&planned.scheme));
        let text = planned.config_text(results.plan);
        files::write_whole(&path, |file| std::io::Write::write_all(file, text.as_bytes()))?;
    }
    files::write_whole(&folder.join(JSON), |file| std::io::Write::write_all(file, json.as_bytes()))
}

/// Every number of the reports, a row a number: names are paths in the JSON document.
fn summary(results: &Results<'_>) -> Result<Vec<Column>, Failure> {
    let (mut schemes, mut names, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for (planned, done) in results.plan.runs.iter().zip(results.finished) {
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
fn latency_histograms(results: &Results<'_>) -> Vec<Column> {
    let (mut schemes, mut classes) = (Vec::new(), Vec::new());
    let (mut from, mut to, mut counts) = (Vec::new(), Vec::new(), Vec::new());
    for (planned, done) in results.plan.runs.iter().zip(results.finished) {
        for (class, histogram) in &done.outcome.histograms {
            for bin in histogram.iter_recorded() {
                let value = bin.value_iterated_to();
                schemes.push(planned.scheme.clone());
                classes.push((*class).to_owned());
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
    fn new(results: &'a Results<'_>, of: impl Fn(&'a copyback::metrics::report::Outcome) -> &'a [T]) -> Self {
        let both = results.plan.runs.iter().zip(results.finished);
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
}

fn time_series(results: &Results<'_>) -> Vec<Column> {
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
    ]
}

fn gc_events(results: &Results<'_>) -> Vec<Column> {
    let rows = Rows::new(results, |outcome| &outcome.gc_events);
    vec![
        rows.schemes(),
        rows.u64("start_ns", |e| e.start_ns),
        rows.u64("end_ns", |e| e.end_ns),
        rows.u64("die", |e| e.die.into()),
        rows.u64("plane", |e| e.plane.into()),
        rows.u64("block", |e| e.block.into()),
        rows.u64("units_valid", |e| e.units_valid.into()),
        rows.u64("free_blocks", |e| e.free_blocks.into()),
    ]
}

fn requests(results: &Results<'_>) -> Vec<Column> {
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
    for cause in ALL_CAUSES {
        let values = rows.rows.iter().map(|(_, r)| r.blame_ns[cause as usize]).collect();
        columns.push(Column::Named(format!("{}_ns", cause.name()), values));
    }
    columns
}

fn op_name(op: u8) -> &'static str {
    match op {
        0 => "read",
        1 => "write",
        _ => "trim",
    }
}
