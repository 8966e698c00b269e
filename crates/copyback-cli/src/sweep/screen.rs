//! The printed table of a sweep: a line for each run, with a few columns. Runs that differ only in their seeds share a
//! line of means, and a line with half the width of the 95 % intervals.

use super::journal::RunResult;
use super::quantity::Format;
use super::seeds::{Mean, SeedGroup};
use super::table::SweepResults;
use crate::format::{change, percent, time, wrapped};
use crate::steady;
use crate::table::{self, BOLD, Cell, DIM};

/// A column: its headings, the value of a run (given also the run of the first scheme), and how values and errors are
/// printed.
struct Column {
    group: &'static str,
    title: &'static str,
    /// The column of the file that has its numbers: named in the note if this column is left out.
    name: &'static str,
    value: fn(&RunResult, &RunResult) -> Option<f64>,
    print: fn(f64) -> String,
    print_error: fn(f64) -> String,
}

const fn column(
    [group, title, name]: [&'static str; 3],
    value: fn(&RunResult, &RunResult) -> Option<f64>,
    print: fn(f64) -> String,
) -> Column {
    Column { group, title, name, value, print, print_error: print }
}

fn affected(run: &RunResult, _: &RunResult) -> Option<f64> {
    let count = |class: &str| run.value(&format!("response.{class}.count"));
    Some(count("gc_affected")? / count("all").filter(|all| *all > 0.0)?)
}

/// The mean response time over that of the first scheme, less one.
fn against_first(run: &RunResult, first: &RunResult) -> Option<f64> {
    let mean = |run: &RunResult| run.value("response.all.mean_ns");
    Some(mean(run)? / mean(first).filter(|from| *from > 0.0)? - 1.0)
}

const CHANGE: &str = "change";

const COLUMNS: &[Column] = &[
    column(["all", "mean", "response.all.mean"], |run, _| run.value("response.all.mean_ns"), time),
    Column { print_error: percent, ..column(["", CHANGE, CHANGE], against_first, |value| change(1.0 + value, 1.0)) },
    column(["", "std dev", "response.all.stdev"], |run, _| run.value("response.all.stdev_ns"), time),
    column(["", "p99.9", "response.all.p99_9"], |run, _| run.shown("response.all.p99_9_ns"), time),
    column(["", "max", "response.all.max"], |run, _| run.value("response.all.max_ns"), time),
    column(["waited", "for GC", "response.gc_affected.count"], affected, percent),
    column(
        ["flash", "WA", "write_amplification.total"],
        |run, _| run.value("write_amplification.total"),
        |value| format!("{value:.3}"),
    ),
    Column {
        print_error: |half_width| Format::Count.shown_error(half_width),
        ..column(
            ["", "erases", "flash.block_erases"],
            |run, _| run.value("flash.block_erases"),
            |value| Format::Count.shown(value),
        )
    },
];

/// The last column, after [`COLUMNS`]: the verdicts on steadiness. The table's file has them under this name.
const VERDICTS: &str = "steady";

/// The order in which columns are kept if there is no room for all. The label has index 0, [`COLUMNS`] follow, and the
/// highest index is the column of verdicts.
const BY_IMPORTANCE: &[usize] = &[1, 2, 9, 4, 7, 8, 6, 3, 5];

/// The table: for each cell a line with its label, and below it a line for each scheme. The last lines name the columns
/// for which there is no room.
pub fn table(results: &SweepResults<'_>, terminal_columns: usize) -> String {
    let rows = rows(results);
    let (kept, mut left_out) = table::fitting(&rows, BY_IMPORTANCE, terminal_columns);
    let text = table::lay_out_of(&rows, &kept);
    left_out.sort_unstable();
    let name = |index: &usize| COLUMNS.get(index - 1).map_or(VERDICTS, |column| column.name);
    // The change has no column in the file, so that nothing else shows it.
    let names: Vec<&str> = left_out.iter().map(name).filter(|name| *name != CHANGE).collect();
    if names.is_empty() {
        return text;
    }
    let left_out = format!("Left out in {terminal_columns} columns: {}", names.join(", "));
    let left_out = wrapped(&left_out, terminal_columns).join("\n");
    let remedy = "(--show NAME,... shows them, and the table's file has all)";
    format!("{text}\n{left_out}\n{}\n", wrapped(remedy, terminal_columns).join("\n"))
}

/// All rows and columns: two lines of titles, then cells, each with a line for each scheme.
pub fn rows(results: &SweepResults<'_>) -> Vec<Vec<Cell>> {
    let bold = |text: &str| Cell::styled(text, BOLD);
    let heading = |of: fn(&Column) -> &'static str, last: &str| -> Vec<Cell> {
        let titles = COLUMNS.iter().map(of).chain([last]);
        std::iter::once(Cell::default()).chain(titles.map(bold)).collect()
    };
    let mut rows = vec![heading(|column| column.group, ""), heading(|column| column.title, VERDICTS)];
    for group in SeedGroup::all(results) {
        rows.push(vec![bold(&group.label)]);
        let first = group.runs(results, 0);
        for scheme in 0..results.file.schemes.len() {
            rows.extend(of_scheme(&group.runs(results, scheme), &first, scheme == 0));
        }
    }
    rows
}

/// The line of a scheme, and one of errors if it has several seeds.
fn of_scheme(runs: &[&RunResult], first: &[&RunResult], is_first: bool) -> Vec<Vec<Cell>> {
    let mean = |column: &Column| {
        let mean = Mean::of(runs.iter().zip(first).map(|(run, first)| (column.value)(run, first)));
        mean.map(|mean| mean.of_bins(column.name))
    };
    let means: Vec<Option<Mean>> = COLUMNS.iter().map(mean).collect();
    let shown = |column: &Column, text: String| match column.title {
        CHANGE if is_first => Cell::default(),
        CHANGE => Cell::styled(text, DIM),
        _ => Cell::new(text),
    };
    let value = |(column, mean): (&Column, &Option<Mean>)| {
        shown(column, mean.map_or_else(|| "-".to_owned(), |mean| (column.print)(mean.value)))
    };
    let mut line = vec![Cell::new(format!("  {}", runs[0].scheme))];
    line.extend(COLUMNS.iter().zip(&means).map(value));
    line.push(Cell::new(steadiness(runs)));
    let error = |(column, mean): (&Column, &Option<Mean>)| {
        let half_width = mean.and_then(|mean| mean.half_width).filter(|_| column.title != CHANGE || !is_first);
        half_width.map_or_else(Cell::default, |half_width| Cell::styled((column.print_error)(half_width), DIM))
    };
    let mut lines = vec![line];
    if runs.len() > 1 {
        lines
            .push(std::iter::once(Cell::styled("    +/-", DIM)).chain(COLUMNS.iter().zip(&means).map(error)).collect());
    }
    lines
}

/// The verdicts on the runs of a scheme.
fn steadiness(runs: &[&RunResult]) -> String {
    steady::short_of_runs(&runs.iter().map(|run| run.steady).collect::<Vec<_>>())
}

/// Explains the lines of errors; empty if no cell has several seeds.
pub fn note_of_seeds(results: &SweepResults<'_>) -> String {
    let seeds = SeedGroup::all(results).iter().map(|group| group.cells.len()).max().unwrap_or(1);
    if seeds < 2 {
        return String::new();
    }
    format!(
        "\nMeans over {seeds} seeds; +/- is half of the 95 % interval of a mean (Student's t), and for a percentile\n\
         at least the width of its bin in the histogram. `{CHANGE}` is the mean of the changes with each seed\n"
    )
}
