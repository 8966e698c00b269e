//! Columns of a comparison that its user chooses with `--show`: any numbers of the results, by their names.

use crate::execute::Finished;
use crate::failure::Failure;
use crate::flat::{self, Number};
use crate::format::{self, is_maximum};
use crate::plan::Plan;
use crate::sweep::journal::value_of;
use crate::sweep::objective::{is_usual, spelled_out};
use crate::sweep::quantity::Unit;
use crate::table::{self, BOLD, Cell, DIM};
use copyback::config::layers::nearest;
use copyback::observe::matched::Matched;
use copyback::observe::report::Report;
use std::collections::{BTreeMap, BTreeSet};

/// Numbers of a run by name.
type Numbers = BTreeMap<String, Number>;

/// Refuses words that no run can have, before anything runs. Parts that only some runs have are looked for when all are
/// done.
pub fn check(show: &[String]) -> Result<(), Failure> {
    let mut usual: Numbers = flat::numbers(&Report::default())?.into_iter().collect();
    usual.extend(flat::numbers(&Matched::default())?.into_iter().map(|(name, n)| (format!("matched.{name}"), n)));
    let usual = [usual];
    show.iter().map(|word| word.trim()).filter(|word| is_usual(word)).try_for_each(|word| find(word, &usual).map(drop))
}

/// The table, so many characters wide.
pub fn table(plan: &Plan, finished: &[Finished], show: &[String], columns: usize) -> Result<String, Failure> {
    Ok(table::split(&rows(plan, finished, show)?, columns))
}

/// Titles, then for each scheme a line of values, and one of how they differ from the first scheme's.
pub fn rows(plan: &Plan, finished: &[Finished], show: &[String]) -> Result<Vec<Vec<Cell>>, Failure> {
    let numbers = finished.iter().map(numbers).collect::<Result<Vec<_>, _>>()?;
    let mut words: Vec<&str> = Vec::new();
    for word in show.iter().map(|word| word.trim()) {
        if !words.contains(&word) {
            words.push(word);
        }
    }
    let names = words.iter().map(|word| find(word, &numbers)).collect::<Result<Vec<_>, _>>()?;
    let bold = |text: &str| Cell::styled(text, BOLD);
    let mut rows: Vec<Vec<Cell>> =
        vec![std::iter::once(bold("scheme")).chain(words.iter().map(|word| bold(word))).collect()];
    for (at, (planned, of)) in plan.runs.iter().zip(&numbers).enumerate() {
        let shown =
            |name: &String| value(name, of).map_or_else(|| "-".into(), |value| Unit::of_name(name).shown(value));
        rows.push(std::iter::once(bold(&planned.scheme)).chain(names.iter().map(|n| Cell::new(shown(n)))).collect());
        if at > 0 {
            let change = |name: &String| Cell::styled(change(value(name, of), value(name, &numbers[0])), DIM);
            rows.push(std::iter::once(Cell::default()).chain(names.iter().map(change)).collect());
        }
    }
    Ok(rows)
}

fn numbers(done: &Finished) -> Result<Numbers, Failure> {
    let mut numbers: Numbers = flat::numbers(&done.outcome.report)?.into_iter().collect();
    if let Some(matched) = &done.matched {
        let matched = flat::numbers(matched)?.into_iter();
        numbers.extend(matched.map(|(name, number)| (format!("matched.{name}"), number)));
    }
    Ok(numbers)
}

/// The number that a word of `--show` stands for.
fn find(word: &str, numbers: &[Numbers]) -> Result<String, Failure> {
    let is_there = |name: &str| numbers.iter().any(|of| of.contains_key(name));
    spelled_out(word, is_there).ok_or_else(|| {
        let all: BTreeSet<&str> = numbers.iter().flat_map(|of| of.keys()).map(String::as_str).collect();
        let near = nearest(word, all.into_iter()).map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        Failure::input(format!("--show: the results have no number `{word}`"))
            .with_help(format!("{near}names are those of the report in the JSON: read.p99_99, flash.block_erases"))
    })
}

/// None where there is none, and for a percentile beyond which less than one request is.
fn value(name: &str, numbers: &Numbers) -> Option<f64> {
    value_of(numbers, name).filter(|_| !is_maximum(name, |count| value_of(numbers, count)))
}

fn change(value: Option<f64>, first: Option<f64>) -> String {
    match (value, first) {
        (Some(0.0), Some(0.0)) => "both 0".into(),
        (Some(_), Some(0.0)) => "first is 0".into(),
        (Some(value), Some(first)) => format::change(value, first),
        _ => "-".into(),
    }
}
