//! A sweep's results as one table: a row for each run.

use super::file::SweepFile;
use super::grid::Cell;
use super::journal::{CellResult, RunResult};
use crate::columns::{About, Column, csv, write_table};
use crate::failure::Failure;
use crate::flat::Number;
use crate::outputs;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Cells and their results, in the same order.
pub struct SweepResults<'a> {
    /// The file.
    pub file: &'a SweepFile,
    /// Its cells.
    pub cells: &'a [Cell],
    /// The results.
    pub results: &'a [CellResult],
}

/// Writes the table: first the description of a cell, with a column for each varied key; then a run's scheme, verdict,
/// numbers, configuration, hash and version. A number that a run lacks is null.
pub fn write(path: &Path, results: &SweepResults<'_>) -> Result<(), Failure> {
    outputs::write_whole(path, |file| write_table(file, "sweep", &about(results), columns(results)))
}

/// Names of the columns that each table of a sweep begins with.
const FIRST_COLUMNS: [&str; 5] = ["cell", "case", "device", "workload", "seed"];

/// The path of the table as text, next to the table.
pub fn text_beside(table: &Path) -> PathBuf {
    table.with_extension("csv")
}

/// Writes the same table as text.
pub fn write_text(path: &Path, results: &SweepResults<'_>) -> Result<(), Failure> {
    outputs::write_whole(path, |file| csv::write(file, &columns(results)))
}

/// Whether a sweep wrote the text: it begins with the names that all have.
pub fn is_text_of_a_sweep(path: &Path) -> bool {
    let names = FIRST_COLUMNS.join(",") + ",";
    let mut begin = vec![0; names.len()];
    let read = std::fs::File::open(path).and_then(|mut file| std::io::Read::read_exact(&mut file, &mut begin));
    read.is_ok() && begin == names.as_bytes()
}

/// The metadata of a sweep's tables: seeds, configurations and hashes of runs are in the rows.
pub fn about(results: &SweepResults<'_>) -> About {
    About::this_program().with("sweep", &results.file.name)
}

/// All runs, each with its cell.
pub fn rows<'a>(results: &'a SweepResults<'_>) -> Vec<(&'a Cell, &'a RunResult)> {
    let both = results.cells.iter().zip(results.results);
    both.flat_map(|(cell, result)| result.runs.iter().map(move |run| (cell, run))).collect()
}

/// Columns that describe a cell: those of every sweep, then one for each varied key.
pub fn cell_columns(results: &SweepResults<'_>, rows: &[&Cell]) -> Vec<Column> {
    let text = |name, value: &dyn Fn(&Cell) -> String| Column::text(name, rows.iter().map(|c| value(c)).collect());
    let [label, case, device, workload, seed] = FIRST_COLUMNS;
    let mut columns = vec![
        text(label, &|cell| cell.label.clone()),
        text(case, &|cell| cell.case.clone()),
        text(device, &|cell| cell.device.clone()),
        text(workload, &|cell| cell.workload.clone()),
        Column::U64(seed, rows.iter().map(|cell| cell.plan.seed).collect()),
    ];
    for (at, vary) in results.file.vary.iter().enumerate() {
        let values: Vec<&toml::Value> = rows.iter().map(|cell| &cell.varied[at]).collect();
        columns.push(varied(vary.key.clone(), &values));
    }
    columns
}

/// The columns of the table.
pub fn columns(results: &SweepResults<'_>) -> Vec<Column> {
    let (cells, runs): (Vec<&Cell>, Vec<&RunResult>) = rows(results).into_iter().unzip();
    let text = |name, value: fn(&RunResult) -> String| Column::text(name, runs.iter().map(|run| value(run)).collect());
    let mut columns = cell_columns(results, &cells);
    columns.push(text("scheme", |run| run.scheme.clone()));
    columns.push(text("steady", |run| run.steady.name().to_owned()));
    let names: BTreeSet<&String> = runs.iter().flat_map(|run| run.numbers.keys()).collect();
    for name in names {
        let number = |run: &&RunResult| run.numbers.get(name).copied().unwrap_or(Number::None);
        columns.push(numbers_column(name.clone(), &runs.iter().map(number).collect::<Vec<_>>()));
    }
    let config = |cell: &Cell| cell.plan.runs.iter().map(|planned| planned.config_text(&cell.plan)).collect::<Vec<_>>();
    columns.push(Column::text("config", results.cells.iter().flat_map(config).collect()));
    columns.push(text("hash", |run| run.hash.clone()));
    columns.push(text("version", |_| env!("CARGO_PKG_VERSION").to_owned()));
    columns
}

/// A column of values of a configuration: whole numbers, numbers, or else texts.
fn varied(name: String, values: &[&toml::Value]) -> Column {
    let float = |value: &&toml::Value| value.as_float().or_else(|| value.as_integer().map(|n| n as f64));
    let whole = |value: &&toml::Value| value.as_integer().and_then(|n| u64::try_from(n).ok());
    if let Some(values) = values.iter().map(whole).collect::<Option<Vec<_>>>() {
        return Column::MaybeU64(name, values.into_iter().map(Some).collect());
    }
    if let Some(values) = values.iter().map(float).collect::<Option<Vec<_>>>() {
        return Column::MaybeF64(name, values.into_iter().map(Some).collect());
    }
    let text = |value: &&toml::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    Column::NamedText(name, values.iter().map(text).collect())
}

/// Whole numbers if all are.
fn numbers_column(name: String, numbers: &[Number]) -> Column {
    let is_whole = numbers.iter().any(|n| matches!(n, Number::U64(_)));
    if is_whole && !numbers.iter().any(|n| matches!(n, Number::F64(_))) {
        let whole = |number: &Number| if let Number::U64(value) = *number { Some(value) } else { None };
        return Column::MaybeU64(name, numbers.iter().map(whole).collect());
    }
    Column::MaybeF64(name, numbers.iter().map(|number| number.as_f64()).collect())
}
