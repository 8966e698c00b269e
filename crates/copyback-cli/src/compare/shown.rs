//! Columns of a comparison that its user chooses with `--show`: any numbers of the results, by their names.

use crate::execute::Finished;
use crate::failure::Failure;
use crate::flat::{self, Number};
use crate::format::{self, is_maximum};
use crate::matched;
use crate::plan::Plan;
use crate::sweep::journal::value_of;
use crate::sweep::objective::{is_usual, near_names, spelled_out};
use crate::sweep::quantity::Format;
use crate::table::{self, BOLD, Cell, DIM};
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
    let words = matched::completed(show);
    words.iter().filter(|word| is_usual(word)).try_for_each(|word| find(word, &usual).map(drop))
}

/// Refuses to match the requests of one scheme, or of several workloads, before they run.
pub fn check_matched(show: &[String], plan: &Plan) -> Result<(), Failure> {
    let words = matched::completed(show);
    if !matched::are_asked_for(words.iter().map(String::as_str)) {
        return Ok(());
    }
    if !plan.runs[0].resolved.tenants.is_empty() {
        return Err(Failure::input("--show matched: requests of several workloads are not matched")
            .with_help("show the requests that each scheme's own collections affect: `own.read.mean`"));
    }
    if plan.runs.len() > 1 {
        return Ok(());
    }
    Err(Failure::input("--show matched: it compares schemes, and this command runs only one")
        .with_help("name several schemes (--schemes baseline,pgc), or show `own.read.mean`"))
}

/// What `--show` asks of the runs.
struct Asked {
    numbers: Vec<Numbers>,
    words: Vec<String>,
    /// The full name of each word.
    names: Vec<String>,
}

impl Asked {
    fn new(finished: &[Finished], show: &[String]) -> Result<Self, Failure> {
        let numbers = finished.iter().map(numbers).collect::<Result<Vec<_>, _>>()?;
        let words = matched::completed(show);
        let names = words.iter().map(|word| find(word, &numbers)).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { numbers, words, names })
    }

    fn named_words(&self) -> Vec<(&str, &str)> {
        self.words.iter().map(String::as_str).zip(self.names.iter().map(String::as_str)).collect()
    }
}

/// Titles, then for each scheme a line of values, and one of how they differ from the first scheme's.
pub fn rows(plan: &Plan, finished: &[Finished], show: &[String]) -> Result<Vec<Vec<Cell>>, Failure> {
    let asked = Asked::new(finished, show)?;
    Ok(rows_of_words(plan, "scheme", &asked.numbers, &asked.named_words()))
}

/// The table, so many characters wide: its rows; a table of each of several workloads, of those words that it has
/// numbers for; and which requests are matched, if some are.
pub fn table(plan: &Plan, finished: &[Finished], show: &[String], columns: usize) -> Result<String, Failure> {
    let asked = Asked::new(finished, show)?;
    let both = asked.named_words();
    let mut text = table::split(&rows_of_words(plan, "scheme", &asked.numbers, &both), columns);
    if let Some(first) =
        finished[0].matched.as_ref().filter(|_| matched::are_asked_for(asked.names.iter().map(String::as_str)))
    {
        text += &matched::note(&format!("`{}`", plan.runs[0].scheme), Some([first.read.count, first.write.count]));
    }
    for workload in plan.runs[0].resolved.tenants.keys() {
        let of_workload: Vec<Numbers> =
            asked.numbers.iter().map(|of| below(of, &format!("workloads.{workload}."))).collect();
        let is_there = |name: &str| of_workload.iter().any(|of| of.contains_key(name));
        let shown: Vec<(&str, &str)> = both.iter().copied().filter(|(_, name)| is_there(name)).collect();
        if !shown.is_empty() {
            text += &format!("\n{}", table::split(&rows_of_words(plan, workload, &of_workload, &shown), columns));
        }
    }
    Ok(text)
}

/// Numbers whose names begin so, by what follows.
fn below(numbers: &Numbers, begin: &str) -> Numbers {
    let named = numbers.iter().filter_map(|(name, number)| Some((name.strip_prefix(begin)?.to_owned(), *number)));
    named.collect()
}

/// A heading of words, and the lines of each scheme with what the names of these stand for.
fn rows_of_words(plan: &Plan, title: &str, numbers: &[Numbers], words: &[(&str, &str)]) -> Vec<Vec<Cell>> {
    let bold = |text: &str| Cell::styled(text, BOLD);
    let formats: Vec<Format> =
        words.iter().map(|(_, name)| Format::of(name, numbers.iter().filter_map(|of| value(name, of)))).collect();
    let mut rows: Vec<Vec<Cell>> =
        vec![std::iter::once(bold(title)).chain(words.iter().map(|(word, _)| bold(word))).collect()];
    for (at, (planned, of)) in plan.runs.iter().zip(numbers).enumerate() {
        let shown = |((_, name), format): (&(&str, &str), &Format)| {
            Cell::new(value(name, of).map_or_else(|| "-".into(), |value| format.shown(value)))
        };
        rows.push(std::iter::once(bold(&planned.scheme)).chain(words.iter().zip(&formats).map(shown)).collect());
        if at > 0 {
            let change =
                |(_, name): &(&str, &str)| Cell::styled(change(value(name, of), value(name, &numbers[0])), DIM);
            rows.push(std::iter::once(Cell::default()).chain(words.iter().map(change)).collect());
        }
    }
    rows
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
        // What names of response times begin with may be left out; matched requests are never suggested.
        let names = || numbers.iter().flat_map(|of| of.keys()).map(String::as_str);
        let short = names().filter_map(|name| name.strip_prefix("response."));
        let is_offered = |name: &&str| word.starts_with("matched") || !name.starts_with("matched.");
        let all: BTreeSet<&str> = names().chain(short).filter(is_offered).collect();
        let near = near_names(word, all.into_iter());
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
