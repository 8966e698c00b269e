//! The worlds as a table: a row for each world.

use crate::columns::{About, Column, csv, write_table};
use crate::failure::Failure;
use crate::files;
use copyback_lab::reproduce::worlds::{Row, Worlds};
use std::path::Path;

/// Writes the table, and the same as text beside it.
pub fn write(path: &Path, document: &Worlds) -> Result<(), Failure> {
    let about = About::this_program().with("worlds", &document.paper);
    files::write_whole(path, |file| write_table(file, "worlds", &about, columns(document)))?;
    files::write_whole(&path.with_extension("csv"), |file| csv::write(file, &columns(document)))
}

/// Its columns: the world, its decisions, and the effect and the verdict of each headline by its place.
fn columns(document: &Worlds) -> Vec<Column> {
    let rows: Vec<&Row> = std::iter::once(&document.decided).chain(&document.worlds).collect();
    let text =
        |name: String, value: &dyn Fn(&Row) -> String| Column::NamedText(name, rows.iter().map(|r| value(r)).collect());
    let mut columns = vec![
        Column::U64("world", rows.iter().map(|row| row.world as u64).collect()),
        Column::U64("seed", rows.iter().map(|row| row.seed).collect()),
        text("status".into(), &|row| row.status.name().to_owned()),
    ];
    for (at, decision) in document.decisions.iter().enumerate() {
        columns.push(text(format!("decision.{}", decision.name), &|row| row.values[at].clone()));
    }
    for at in 0..document.headlines.len() {
        let effects = rows.iter().map(|row| row.effects[at]).collect();
        columns.push(Column::MaybeF64(format!("headline.{}.effect", at + 1), effects));
        columns.push(text(format!("headline.{}.verdict", at + 1), &|row| row.holds[at].name().to_owned()));
    }
    columns
}
