//! The columns that an error suggests for a table: only those that read its first rows.

use super::csv::Csv;
use super::guess::Guess;
use super::{LineFormat, ReaderOptions, columns};
use crate::spec::{ColumnNames, Field, Meaning, Operations, full_name};
use std::collections::BTreeSet;

/// Most operations whose meanings the help asks for.
const OPERATIONS_MAX: usize = 8;

/// What the help says besides the columns; `None` if these columns do not read the rows. `is_headed`: a header names
/// the columns, so that its operations may be of any word or number.
pub(crate) fn remarks(guess: &Guess, lines: &[&[u8]], rows: &[Vec<String>], is_headed: bool) -> Option<String> {
    let operations = operations_of(guess, rows);
    let is_number = |word: &String| word.parse::<i64>().is_ok();
    let usual = |word: &&String| columns::is_op_word(word.as_bytes()) || ["0", "1", "2"].contains(&word.as_str());
    let unknown: Vec<&String> = operations.iter().filter(|word| !usual(word)).collect();
    if unknown.len() > OPERATIONS_MAX || (!is_headed && unknown.iter().any(|word| is_number(word))) {
        return None;
    }
    let meanings = unknown.iter().map(|word| ((*word).clone(), Meaning::Read)).collect();
    if !lines.is_empty() && !reads(guess, Operations(meanings), lines) {
        return None;
    }
    let mut remarks = String::new();
    match &unknown[..] {
        [] if !operations.is_empty() && operations.iter().all(is_number) => {
            remarks.push_str("; of its operations, 0 is taken for a read, 1 for a write, 2 for a trim");
        }
        [] => {}
        [first, others @ ..] => {
            remarks.push_str(&format!("; and {}", columns::say_what_it_means(first)));
            let others: Vec<String> = others.iter().map(|word| (*word).clone()).collect();
            if !others.is_empty() {
                remarks.push_str(&format!(", and likewise for {}", columns::list(&others)));
            }
        }
    }
    if guess.is_time_unit_unknown {
        remarks.push_str("; the unit of its times is not known, and may also be arrival_ns, arrival_ms or arrival_s");
    }
    Some(remarks)
}

/// The different operations of the rows.
fn operations_of(guess: &Guess, rows: &[Vec<String>]) -> BTreeSet<String> {
    let at = guess.keys.iter().position(|key| columns::field_of(full_name(key)) == Some(Field::Op));
    at.map_or_else(BTreeSet::new, |at| rows.iter().filter_map(|row| row.get(at)).cloned().collect())
}

/// Whether these columns read the first row, and most of the others.
fn reads(guess: &Guess, operations: Operations, lines: &[&[u8]]) -> bool {
    let columns = ColumnNames { order: Some(guess.keys.clone()), ..ColumnNames::default() };
    let options = ReaderOptions { columns, operations, ..ReaderOptions::default() };
    let Ok(mut table) = Csv::new("", &lines.join(&b'\n'), &options) else { return false };
    let are_read: Vec<bool> = lines.iter().map(|line| table.parse(line).is_ok()).collect();
    are_read.first() == Some(&true) && 2 * are_read.iter().filter(|is_read| **is_read).count() > are_read.len()
}
