//! What a person sees of a sweep: a line for each run, a few columns of the many.

use super::journal::RunResult;
use super::table::Results;
use crate::format::{are_too_few, change, count, percent, time};
use crate::table::{self, BOLD, Cell, DIM};

/// A column: its headings, and a cell's text.
type Column = (&'static str, &'static str, fn(&RunResult, &RunResult) -> String);

fn number(run: &RunResult, name: &str) -> Option<f64> {
    run.numbers.get(name).and_then(|number| number.as_f64())
}

/// The number of a class of requests, where it has any.
fn of_class(run: &RunResult, class: &str, name: &str) -> Option<f64> {
    number(run, &format!("{class}.count")).filter(|count| *count > 0.0)?;
    number(run, &format!("{class}.{name}"))
}

fn time_or(value: Option<f64>) -> String {
    value.map_or_else(|| "-".into(), time)
}

fn affected(run: &RunResult, _: &RunResult) -> String {
    let count = |class: &str| number(run, &format!("response.{class}.count"));
    match (count("gc_affected"), count("all")) {
        (Some(part), Some(all)) if all > 0.0 => percent(part / all),
        _ => "-".into(),
    }
}

fn against_first(run: &RunResult, first: &RunResult) -> String {
    let mean = |run: &RunResult| of_class(run, "response.all", "mean_ns");
    match (mean(run), mean(first)) {
        _ if std::ptr::eq(run, first) => String::new(),
        (Some(value), Some(from)) if from > 0.0 => change(value, from),
        _ => "-".into(),
    }
}

const COLUMNS: &[Column] = &[
    ("all", "mean", |run, _| time_or(of_class(run, "response.all", "mean_ns"))),
    ("", "change", against_first),
    ("", "std dev", |run, _| time_or(of_class(run, "response.all", "stdev_ns"))),
    ("", "p99.9", |run, _| {
        let is_shown = number(run, "response.all.count").is_some_and(|count| !are_too_few(count as u64, 1_000));
        time_or(of_class(run, "response.all", "p99_9_ns").filter(|_| is_shown))
    }),
    ("", "max", |run, _| time_or(of_class(run, "response.all", "max_ns"))),
    ("GC-affected", "share", affected),
    ("of first", "reads", |run, _| time_or(of_class(run, "matched.read", "mean_ns"))),
    ("", "writes", |run, _| time_or(of_class(run, "matched.write", "mean_ns"))),
    ("flash", "WA", |run, _| {
        number(run, "write_amplification.total").map_or_else(|| "-".into(), |value| format!("{value:.3}"))
    }),
    ("", "erases", |run, _| number(run, "flash.block_erases").map_or_else(|| "-".into(), |value| count(value as u64))),
];

/// The table: for each cell a line with its label, and below it a line for each run.
pub fn table(results: &Results<'_>) -> String {
    let bold = |text: &str| Cell::styled(text, BOLD);
    let mut rows: Vec<Vec<Cell>> = vec![
        std::iter::once(Cell::default()).chain(COLUMNS.iter().map(|(group, _, _)| bold(group))).collect(),
        std::iter::once(Cell::default()).chain(COLUMNS.iter().map(|(_, title, _)| bold(title))).collect(),
    ];
    for (cell, result) in results.cells.iter().zip(&results.results) {
        rows.push(vec![bold(&cell.label)]);
        for run in &result.runs {
            let value = |(_, title, text): &Column| {
                let text = text(run, &result.runs[0]);
                if *title == "change" { Cell::styled(text, DIM) } else { Cell::new(text) }
            };
            let scheme = Cell::new(format!("  {}", run.scheme));
            rows.push(std::iter::once(scheme).chain(COLUMNS.iter().map(value)).collect());
        }
    }
    table::lay_out(&rows)
}
