//! `--out DIR`: Parquet tables, the JSON document and the resolved configurations.

mod marker;

use crate::columns::{About, Column, write_table};
use crate::failure::Failure;
use crate::files::{self, Output};
use crate::flat;
use crate::output::Results;
use crate::plan::{Plan, Planned};
use crate::sweep::journal::run_hash;
use copyback::observe::microscope::{Kind, Row};
use copyback::observe::report::ALL_CAUSES;
use marker::Marker;
use std::collections::BTreeSet;
use std::path::Path;

const TABLES: &[&str] = &[
    "summary",
    "latency_histograms",
    "time_series",
    "window",
    "drives",
    "bandwidth",
    "gc_events",
    "requests",
    "microscope",
];
const JSON: &str = "results.json";
/// The tables that are written where one asks for them.
const REQUESTS: &str = "requests.parquet";
const WINDOW: &str = "window.parquet";
const DRIVES: &str = "drives.parquet";
const BANDWIDTH: &str = "bandwidth.parquet";
const MICROSCOPE: &str = "microscope.parquet";

/// Tables that the command line asks for.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// Of every request.
    pub requests: bool,
    /// Of what the microscope saw.
    pub microscope: bool,
}

/// Bytes of a file's name, on the file systems that are in use.
const NAME_BYTES_MAX: usize = 255;

/// Name of the file of a scheme's resolved configuration.
fn config_name(scheme: &str) -> String {
    format!("config-{scheme}.toml")
}

/// Whether a run might give a file this name.
fn is_result(name: &str) -> bool {
    let is_config = name.starts_with("config-") && name.ends_with(".toml") && !name.contains(['/', '\\']);
    let is_table = name.strip_suffix(".parquet").is_some_and(|table| TABLES.contains(&table));
    is_config || is_table || name == JSON
}

/// Names of the files of a plan.
fn names(plan: &Plan, asked: Asked) -> BTreeSet<String> {
    let with_window = plan.runs.iter().any(|planned| planned.resolved.run.measure.window.is_some());
    let is_written = |table: &&&str| match **table {
        "requests" => asked.requests,
        "microscope" => asked.microscope,
        "window" => with_window,
        "drives" => plan.runs.iter().any(|planned| planned.resolved.run.array_or_alone().is_some()),
        "bandwidth" => plan.runs.iter().any(|planned| planned.resolved.run.measure.bandwidth.is_some()),
        _ => true,
    };
    let tables = TABLES.iter().filter(is_written);
    let configurations = plan.runs.iter().map(|planned| config_name(&planned.scheme));
    tables.map(|table| format!("{table}.parquet")).chain(configurations).chain([JSON.to_owned()]).collect()
}

/// All that is written, and what an earlier run left there, which is removed.
pub fn outputs(folder: &Path, plan: &Plan, asked: Asked) -> Vec<Output> {
    let names = &names(plan, asked) | &marker::files_of_earlier_run(folder);
    names.iter().map(|name| Output::new("--out", folder.join(name))).collect()
}

/// Refuses a folder that holds what the program did not write, and one that cannot be made.
pub fn check(folder: &Path, plan: &Plan) -> Result<(), Failure> {
    let shown = folder.display();
    if std::fs::symlink_metadata(folder).is_ok() && !folder.is_dir() {
        let what = if folder.is_symlink() { "a link that leads to no folder" } else { "a file, not a folder" };
        return Err(Failure::input(format!("{shown} is {what}")).with_help("name a folder, or a new one"));
    }
    let cannot_be = |planned: &&Planned| {
        planned.scheme.contains(['/', '\\']) || config_name(&planned.scheme).len() > NAME_BYTES_MAX
    };
    if let Some(planned) = plan.runs.iter().find(cannot_be) {
        return Err(Failure::input(format!("`{}` cannot be part of a file's name", planned.scheme)));
    }
    let whole = folder.ancestors().find(|above| above.as_os_str().is_empty() || above.exists());
    let standing = whole.filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !standing.is_dir() {
        return Err(Failure::input(format!("{} is a file: {shown} cannot be in it", standing.display())));
    }
    files::check_writable(standing)?;
    marker::foreign_file(folder).map_or(Ok(()), |name| Err(foreign(folder, &name)))?;
    let names = &names(plan, Asked { requests: true, microscope: true }) | &marker::files_of_earlier_run(folder);
    names.iter().map(|name| folder.join(name)).try_for_each(|path| match std::fs::symlink_metadata(&path) {
        Ok(data) if data.is_file() => files::check_output(&path),
        Ok(data) => Err(no_file(&path, &data)),
        Err(_) => Ok(()),
    })
}

/// Refuses what is no file in a result's place. A link's file was named by nobody, and what others read or keep behind
/// a pipe or a device is not ours.
fn no_file(path: &Path, data: &std::fs::Metadata) -> Failure {
    let what = match data {
        _ if data.is_dir() => "a folder",
        _ if data.is_symlink() => "a link",
        _ => "no ordinary file",
    };
    let message = format!("{} is {what}, where a result of a run is to be or was", path.display());
    Failure::input(message).with_help("move it away, or name another folder: --out")
}

fn foreign(folder: &Path, name: &str) -> Failure {
    let message = format!("{} holds files that are no results of an earlier run, such as {name}", folder.display());
    Failure::input(message).with_help("name an empty or a new folder; only what a run wrote there is overwritten")
}

/// Refuses another output in the folder: it would be a file that no rerun knows.
pub fn refuse_inside(folder: &Path, output: &Output) -> Result<(), Failure> {
    let (Ok(folder), Some(inside)) = (std::fs::canonicalize(folder), files::folder_of_output(&output.path)) else {
        return Ok(());
    };
    if !inside.starts_with(&folder) {
        return Ok(());
    }
    let shown = output.path.display();
    Err(Failure::input(format!("{} {shown} is in the folder of --out, which holds its results alone", output.what))
        .with_help("name a file elsewhere"))
}

/// A folder that this program alone writes results to.
pub struct OutDir<'a> {
    folder: &'a Path,
    own: BTreeSet<String>,
    marker: Marker,
}

impl<'a> OutDir<'a> {
    /// Makes the folder, and what it is known by, before time is spent on results. What came into it since it was
    /// checked is seen now; what comes later under a result's name is in a folder that says so.
    pub fn begin(folder: &'a Path, plan: &Plan, asked: Asked) -> Result<Self, Failure> {
        std::fs::create_dir_all(folder).map_err(|error| {
            Failure::input(format!("cannot make the folder {}: {error}", folder.display()))
                .with_help("name one that can be made: --out")
        })?;
        check(folder, plan)?;
        let own = names(plan, asked);
        let marker = Self::mark(folder, &own)?;
        Ok(Self { folder, own, marker })
    }

    fn mark(folder: &Path, own: &BTreeSet<String>) -> Result<Marker, Failure> {
        // Before a marker is made in a folder that is somebody's, and of what came until it was locked.
        marker::foreign_file(folder).map_or(Ok(()), |name| Err(foreign(folder, &name)))?;
        let marker = Marker::lock(folder)?;
        marker.foreign_file().map_or(Ok(()), |name| Err(foreign(folder, &name)))?;
        marker.write(&(&marker.files() | own))?;
        Ok(marker)
    }

    /// Writes the results. Those of an earlier run go before, so that what stands there is of one run; the document
    /// comes last: where it is, all is.
    pub fn write(mut self, results: &Results<'_>, json: &str) -> Result<(), Failure> {
        let folder = self.folder;
        let failed = |error: std::io::Error| Failure::of_disk(folder, &error);
        if !self.marker.is_there() {
            // Another folder is there now, or none.
            std::fs::create_dir_all(folder).map_err(failed)?;
            self.marker = Self::mark(folder, &self.own)?;
        }
        let before = self.marker.files();
        remove(folder, &before, &self.own).map_err(failed)?;
        write_tables(folder, results, &self.own)?;
        for planned in &results.plan.runs {
            files::write_text(&folder.join(config_name(&planned.scheme)), &planned.config_text(results.plan))?;
        }
        files::write_text(&folder.join(JSON), json)?;
        if before == self.own { Ok(()) } else { self.marker.write(&self.own) }
    }
}

/// Removes what an earlier run left, and links that came into the place of a result since they were looked for: the
/// link goes, its file stays.
fn remove(folder: &Path, before: &BTreeSet<String>, own: &BTreeSet<String>) -> std::io::Result<()> {
    marker::remove_temporary_files(folder)?;
    // The document says that all is there: it goes first.
    let document = before.get(JSON).into_iter();
    for name in document.chain(before.iter().filter(|name| *name != JSON)) {
        let path = folder.join(name);
        match std::fs::symlink_metadata(&path) {
            Ok(data) if data.is_file() || data.is_symlink() || !own.contains(name) => std::fs::remove_file(path)?,
            _ => {}
        }
    }
    Ok(())
}

fn write_tables(folder: &Path, results: &Results<'_>, own: &BTreeSet<String>) -> Result<(), Failure> {
    let about = about(results.plan);
    let table = |name: &str, columns: Vec<Column>| {
        let path = folder.join(format!("{name}.parquet"));
        files::write_whole(&path, |file| write_table(file, name, &about, columns))
    };
    table("summary", summary(results)?)?;
    table("latency_histograms", latency_histograms(results))?;
    table("time_series", time_series(results))?;
    table("gc_events", gc_events(results))?;
    if own.contains(WINDOW) {
        table("window", window(results))?;
    }
    if own.contains(DRIVES) {
        table("drives", drives(results)?)?;
    }
    if own.contains(BANDWIDTH) {
        table("bandwidth", bandwidth(results))?;
    }
    if own.contains(MICROSCOPE) {
        table("microscope", microscope(results))?;
    }
    if own.contains(REQUESTS) { table("requests", requests(results)) } else { Ok(()) }
}

/// What each table says of the runs in it.
fn about(plan: &Plan) -> About {
    let of_all = About::this_program().with("seed", plan.seed);
    plan.runs.iter().enumerate().fold(of_all, |about, (at, planned)| {
        let scheme = &planned.scheme;
        let about = about.with(format!("hash.{scheme}"), run_hash(plan, at));
        about.with(format!("config.{scheme}"), planned.config_text(plan))
    })
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
    fn new(results: &'a Results<'_>, of: impl Fn(&'a copyback::observe::report::Outcome) -> &'a [T]) -> Self {
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

    fn maybe_u64(&self, name: &str, value: impl Fn(&T) -> Option<u64>) -> Column {
        Column::MaybeU64(name.to_owned(), self.rows.iter().map(|(_, row)| value(row)).collect())
    }

    fn maybe_f64(&self, name: &str, value: impl Fn(&T) -> Option<f64>) -> Column {
        Column::MaybeF64(name.to_owned(), self.rows.iter().map(|(_, row)| value(row)).collect())
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

fn window(results: &Results<'_>) -> Vec<Column> {
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

/// Every number of each drive of an array, a row a number: names are paths in the JSON document, below a drive.
fn drives(results: &Results<'_>) -> Result<Vec<Column>, Failure> {
    let (mut schemes, mut drives) = (Vec::new(), Vec::new());
    let (mut names, mut values) = (Vec::new(), Vec::new());
    for (planned, done) in results.plan.runs.iter().zip(results.finished) {
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

/// The bytes of each interval.
fn bandwidth(results: &Results<'_>) -> Vec<Column> {
    let (mut schemes, mut from, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
    for (planned, done) in results.plan.runs.iter().zip(results.finished) {
        let Some(bandwidth) = &done.outcome.report.bandwidth else { continue };
        for (at, of) in (0..).zip(&bandwidth.bytes) {
            schemes.push(planned.scheme.clone());
            from.push(at * bandwidth.every_ns);
            bytes.push(*of);
        }
    }
    vec![Column::text("scheme", schemes), Column::U64("from_ns", from), Column::U64("bytes", bytes)]
}

fn gc_events(results: &Results<'_>) -> Vec<Column> {
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
        let values = rows.rows.iter().map(|(_, r)| r.breakdown_ns[cause as usize]).collect();
        columns.push(Column::Named(format!("{}_ns", cause.name()), values));
    }
    columns
}

fn microscope(results: &Results<'_>) -> Vec<Column> {
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

fn op_name(op: u8) -> &'static str {
    match op {
        0 => "read",
        1 => "write",
        _ => "trim",
    }
}
