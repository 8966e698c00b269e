//! Response times of a run by class: the columns, and a row for each class.

use crate::compare::shown;
use crate::failure::Failure;
use crate::format::{are_too_few, count, time};
use crate::plan::Plan;
use crate::sweep::objective::{near_names, percent_of};
use crate::table::{BOLD, Cell};
use copyback::observe::config::MeasureConfig;
use copyback::observe::report::{Latency, Report};

/// A percentile: heading, requests beyond it per million, value.
pub(crate) type Percentile = (&'static str, u64, fn(&Latency) -> f64);

/// For columns that need no minimum number of requests.
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

/// The choice of `run --show`.
pub(crate) struct ShownWords {
    /// Columns of the tables of response times; empty if no word names one.
    percentiles: Vec<&'static Percentile>,
    /// Words that name no column: numbers of the report.
    pub numbers: Vec<String>,
}

/// The column of a name, `p99.9` or `p99_9`.
fn column(name: &str) -> Option<&'static Percentile> {
    let title = name.to_ascii_lowercase().replace('_', ".");
    PERCENTILES.iter().find(|(known, ..)| *known == title)
}

impl ShownWords {
    /// Divides the words of `--show`.
    pub(crate) fn of(show: &[String]) -> Self {
        let (mut percentiles, mut numbers): (Vec<&Percentile>, Vec<String>) = (Vec::new(), Vec::new());
        for name in show.iter().map(|name| name.trim()) {
            match column(name) {
                Some(column) if percentiles.iter().any(|(title, ..)| *title == column.0) => {}
                Some(column) => percentiles.push(column),
                None => numbers.push(name.to_owned()),
            }
        }
        Self { percentiles, numbers }
    }

    /// The columns, or those that are shown if none is chosen.
    pub(crate) fn columns_or(self, usual: &[&str]) -> Vec<&'static Percentile> {
        if self.percentiles.is_empty() {
            usual.iter().filter_map(|name| column(name)).collect()
        } else {
            self.percentiles
        }
    }

    /// The columns; all if none is chosen.
    pub(crate) fn columns(self) -> Vec<&'static Percentile> {
        if self.percentiles.is_empty() { PERCENTILES.iter().collect() } else { self.percentiles }
    }

    /// Refuses words that name neither a column nor a number, before anything runs.
    pub(crate) fn check(&self, plan: &Plan) -> Result<(), Failure> {
        shown::check(&self.numbers, plan).map_err(|failure| {
            let is_like_column = |word: &&String| percent_of(&word.replacen('.', "_", 1)).is_some();
            let Some(word) = self.numbers.iter().find(is_like_column) else { return failure };
            let known = PERCENTILES.iter().map(|(known, ..)| *known);
            let all = known.clone().collect::<Vec<_>>().join(", ");
            let near = near_names(word, known);
            let number = format!("read.{word}");
            let is_number = shown::check(std::slice::from_ref(&number), plan).is_ok();
            let number = if is_number { format!("; `{number}` is a number of the report") } else { String::new() };
            Failure::input(format!("--show: there is no column `{word}` of response times"))
                .with_help(format!("{near}columns: {all}{number}"))
        })
    }

    /// Refuses columns and numbers in one table.
    pub(crate) fn check_table(&self) -> Result<(), Failure> {
        match (self.percentiles.first(), self.numbers.first()) {
            (Some((column, ..)), Some(number)) => {
                Err(Failure::input(format!("--latex: `{column}` is a column, and `{number}` a number of the report"))
                    .with_help("choose one kind with --show: columns make the table of response times, numbers a list"))
            }
            _ => Ok(()),
        }
    }
}

/// A line of headings, and one for each class with requests.
pub(super) fn latency_rows(report: &Report, measure: &MeasureConfig, percentiles: &[&Percentile]) -> Vec<Vec<Cell>> {
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
        // If none or all of the reads are small, a row of their own helps only a user who has chosen the size.
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
