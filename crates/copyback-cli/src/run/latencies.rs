//! Response times of a run by class: which columns there are, and a row for each class.

use crate::failure::Failure;
use crate::format::{are_too_few, count, time};
use crate::table::{BOLD, Cell};
use copyback::config::layers::suggestion;
use copyback::observe::config::MeasureConfig;
use copyback::observe::report::{Latency, Report};

/// A percentile's heading, how many of a million requests are beyond it, and how a class tells it.
pub(crate) type Percentile = (&'static str, u64, fn(&Latency) -> f64);

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
pub(crate) fn chosen_percentiles(show: &[String]) -> Result<Vec<&'static Percentile>, Failure> {
    if show.is_empty() {
        return Ok(PERCENTILES.iter().collect());
    }
    let find = |name: &String| {
        let title = name.trim().replace('_', ".");
        let known = |title: &str| PERCENTILES.iter().find(|(known, ..)| *known == title);
        known(&title).ok_or_else(|| {
            let error = Failure::input(format!("--show: no column of response times is called `{name}`"));
            // `read.p99`, as comparisons have it: here each class has a row.
            let last = title.strip_suffix(".ns").unwrap_or(&title);
            let of_class = last.match_indices('.').map(|(at, _)| &last[at + 1..]).find(|rest| known(rest).is_some());
            let all = PERCENTILES.iter().map(|(known, ..)| *known);
            error.with_help(match of_class {
                Some(column) => format!("write `{column}`: each class of requests has a row of its own"),
                None => format!(
                    "{}; all other numbers of a run are shown, or in its report (--json)",
                    suggestion(&title, "columns", all)
                ),
            })
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

/// A line of headings, and one for each class that says something.
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
