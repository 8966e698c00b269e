//! A sweep's results as one table: a row for each run.

use super::file::SweepFile;
use super::grid::Cell;
use super::journal::CellResult;
use crate::columns::{Column, write_table};
use crate::failure::Failure;
use crate::files;
use crate::flat::Number;
use std::collections::BTreeSet;
use std::path::Path;

/// Cells and their results, in the same order.
pub struct Results<'a> {
    /// The file.
    pub file: &'a SweepFile,
    /// Its cells.
    pub cells: &'a [Cell],
    /// What came out.
    pub results: Vec<CellResult>,
}

/// Writes the table: first what a run is, then a column for each varied key, then its numbers, then its hash. A number
/// that a run has not is null.
pub fn write(path: &Path, results: &Results<'_>) -> Result<(), Failure> {
    files::write_whole(path, |file| write_table(file, "sweep", columns(results)))
}

fn columns(results: &Results<'_>) -> Vec<Column> {
    let rows: Vec<(&Cell, usize)> = results
        .cells
        .iter()
        .zip(&results.results)
        .flat_map(|(cell, result)| (0..result.runs.len()).map(move |run| (cell, run)))
        .collect();
    let text = |name, value: &dyn Fn(&Cell) -> String| Column::text(name, rows.iter().map(|(c, _)| value(c)).collect());
    let mut columns = vec![
        text("cell", &|cell| cell.label.clone()),
        text("case", &|cell| cell.case.clone()),
        text("device", &|cell| cell.device.clone()),
        text("workload", &|cell| cell.workload.clone()),
        Column::U64("seed", rows.iter().map(|(cell, _)| cell.plan.seed).collect()),
    ];
    for (at, vary) in results.file.vary.iter().enumerate() {
        let values: Vec<&toml::Value> = rows.iter().map(|(cell, _)| &cell.varied[at]).collect();
        columns.push(varied(vary.key.clone(), &values));
    }
    let runs = || results.results.iter().flat_map(|result| &result.runs);
    columns.push(Column::text("scheme", runs().map(|run| run.scheme.clone()).collect()));
    let names: BTreeSet<&String> = runs().flat_map(|run| run.numbers.keys()).collect();
    for name in names {
        let numbers: Vec<Number> = runs().map(|run| run.numbers.get(name).copied().unwrap_or(Number::None)).collect();
        columns.push(numbers_column(name.clone(), &numbers));
    }
    columns.push(Column::text("hash", runs().map(|run| run.hash.clone()).collect()));
    let version = || env!("CARGO_PKG_VERSION").to_owned();
    columns.push(Column::text("version", runs().map(|_| version()).collect()));
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

/// Whole numbers where all are.
fn numbers_column(name: String, numbers: &[Number]) -> Column {
    let is_whole = numbers.iter().any(|n| matches!(n, Number::U64(_)));
    if is_whole && !numbers.iter().any(|n| matches!(n, Number::F64(_))) {
        let whole = |number: &Number| if let Number::U64(value) = *number { Some(value) } else { None };
        return Column::MaybeU64(name, numbers.iter().map(whole).collect());
    }
    Column::MaybeF64(name, numbers.iter().map(|number| number.as_f64()).collect())
}
