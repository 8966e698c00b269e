//! Numbers of the results that `--show` chooses by their names: columns of a comparison, and a list of a run.

use crate::execute::Finished;
use crate::failure::Failure;
use crate::flat::{self, Number};
use crate::format;
use crate::matched;
use crate::plan::Plan;
use crate::steady;
use crate::sweep::journal::shown_of;
use crate::sweep::objective::{LISTED, is_usual, near_names, numbers_of_workloads, short_of, spelled_out};
use crate::sweep::quantity::Format;
use crate::table::{self, BOLD, Cell, DIM};
use copyback::observe::matched::Matched;
use copyback::observe::report::Report;
use std::collections::{BTreeMap, BTreeSet};

/// Numbers of a run by name.
type Numbers = BTreeMap<String, Number>;

/// The verdict on a run, which is a word and no number.
const VERDICT: &str = "steady";

/// Refuses words that no run of the plan can have, before anything runs. Parts that only some runs have are looked for
/// when all are done.
pub fn check(show: &[String], plan: &Plan) -> Result<(), Failure> {
    let mut usual: Numbers = flat::numbers(&Report::default())?.into_iter().collect();
    usual.extend(flat::numbers(&Matched::default())?.into_iter().map(|(name, n)| (format!("matched.{name}"), n)));
    let tenants = plan.runs.iter().flat_map(|planned| planned.resolved.tenants.keys());
    usual.extend(numbers_of_workloads(tenants)?.into_iter().map(|name| (name, Number::None)));
    let usual = [usual];
    let words = matched::completed(show);
    words.iter().filter(|word| is_usual(word)).try_for_each(|word| find(word, &usual).map(drop))?;
    check_matched(&words, plan)
}

/// Refuses to match the requests of one scheme, or of several workloads.
fn check_matched(words: &[String], plan: &Plan) -> Result<(), Failure> {
    if !matched::are_requested(words.iter().map(String::as_str)) {
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
        .with_help("name several schemes (`copyback compare --schemes baseline,pgc`), or show `own.read.mean`"))
}

/// The numbers that `--show` names, of each run.
struct ShownNumbers {
    /// Of each run.
    numbers: Vec<Numbers>,
    verdicts: Vec<&'static str>,
    words: Vec<String>,
    /// The full name of each word.
    names: Vec<String>,
}

impl ShownNumbers {
    fn new(finished: &[Finished], show: &[String]) -> Result<Self, Failure> {
        let numbers = finished.iter().map(numbers).collect::<Result<Vec<_>, _>>()?;
        let verdicts = finished.iter().map(|done| steady::short(done.outcome.report.steady.verdict)).collect();
        let words = matched::completed(show);
        let names = words.iter().map(|word| find(word, &numbers)).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { numbers, verdicts, words, names })
    }

    fn named_words(&self) -> Vec<(&str, &str)> {
        self.words.iter().map(String::as_str).zip(self.names.iter().map(String::as_str)).collect()
    }
}

/// Titles, then for each scheme a line of values, and one of how they differ from the first scheme's.
pub fn rows(plan: &Plan, finished: &[Finished], show: &[String]) -> Result<Vec<Vec<Cell>>, Failure> {
    let asked = ShownNumbers::new(finished, show)?;
    Ok(rows_of_words(plan, "scheme", &asked.numbers, &asked.verdicts, &asked.named_words()))
}

/// The numbers of one run that `--show` names: each word with its formatted value.
pub fn of_run(done: &Finished, show: &[String]) -> Result<Vec<(String, String)>, Failure> {
    let asked = ShownNumbers::new(std::slice::from_ref(done), show)?;
    let (of, verdict) = (&asked.numbers[0], asked.verdicts[0]);
    let shown = |(word, name): (&str, &str)| {
        let format = Format::of(name, value(name, of).into_iter());
        (word.to_owned(), shown(name, of, verdict, format))
    };
    Ok(asked.named_words().into_iter().map(shown).collect())
}

/// The formatted value of a name in a run.
fn shown(name: &str, of: &Numbers, verdict: &str, format: Format) -> String {
    match value(name, of) {
        _ if name == VERDICT => verdict.to_owned(),
        Some(value) => format.shown(value),
        None => "-".into(),
    }
}

/// The table, `columns` characters wide: its rows, the explanation of matched requests if it has any, and a table for
/// each of several workloads, with the words for which that workload has numbers.
pub fn table(plan: &Plan, finished: &[Finished], show: &[String], columns: usize) -> Result<String, Failure> {
    let asked = ShownNumbers::new(finished, show)?;
    let both = asked.named_words();
    let rows = rows_of_words(plan, "scheme", &asked.numbers, &asked.verdicts, &both);
    let mut text = table::split(&rows, columns);
    if let Some(first) =
        finished[0].matched.as_ref().filter(|_| matched::are_requested(asked.names.iter().map(String::as_str)))
    {
        text += &matched::note(&format!("`{}`", plan.runs[0].scheme), Some([first.read.count, first.write.count]));
    }
    for workload in plan.runs[0].resolved.tenants.keys() {
        let of_workload: Vec<Numbers> =
            asked.numbers.iter().map(|of| below(of, &format!("workloads.{workload}."))).collect();
        let is_there = |name: &str| of_workload.iter().any(|of| of.contains_key(name));
        let shown: Vec<(&str, &str)> = both.iter().copied().filter(|(_, name)| is_there(name)).collect();
        if !shown.is_empty() {
            let rows = rows_of_words(plan, workload, &of_workload, &asked.verdicts, &shown);
            text += &format!("\n{}", table::split(&rows, columns));
        }
    }
    Ok(text)
}

/// Numbers whose names have this prefix, by the rest of the name.
fn below(numbers: &Numbers, begin: &str) -> Numbers {
    let named = numbers.iter().filter_map(|(name, number)| Some((name.strip_prefix(begin)?.to_owned(), *number)));
    named.collect()
}

/// A heading of words, and the lines of each scheme with the values of their names.
fn rows_of_words(
    plan: &Plan,
    title: &str,
    numbers: &[Numbers],
    verdicts: &[&str],
    words: &[(&str, &str)],
) -> Vec<Vec<Cell>> {
    let bold = |text: &str| Cell::styled(text, BOLD);
    let formats: Vec<Format> =
        words.iter().map(|(_, name)| Format::of(name, numbers.iter().filter_map(|of| value(name, of)))).collect();
    let mut rows: Vec<Vec<Cell>> =
        vec![std::iter::once(bold(title)).chain(words.iter().map(|(word, _)| bold(word))).collect()];
    for (at, (planned, of)) in plan.runs.iter().zip(numbers).enumerate() {
        let shown = |((_, name), format): (&(&str, &str), &Format)| Cell::new(shown(name, of, verdicts[at], *format));
        rows.push(std::iter::once(bold(&planned.scheme)).chain(words.iter().zip(&formats).map(shown)).collect());
        if at > 0 {
            let change = |(_, name): &(&str, &str)| match *name {
                VERDICT => Cell::default(),
                name => Cell::styled(change(value(name, of), value(name, &numbers[0])), DIM),
            };
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

/// The full name of the number that a word of `--show` names.
fn find(word: &str, numbers: &[Numbers]) -> Result<String, Failure> {
    if word.eq_ignore_ascii_case(VERDICT) {
        return Ok(VERDICT.to_owned());
    }
    let is_there = |name: &str| numbers.iter().any(|of| of.contains_key(name));
    spelled_out(word, is_there).ok_or_else(|| {
        // The prefix of response times is optional. Matched requests are suggested only for words with `matched`.
        let names = || numbers.iter().flat_map(|of| of.keys()).map(String::as_str);
        let short: Vec<String> = names().filter_map(short_of).collect();
        let short = short.iter().map(String::as_str);
        let is_offered = |name: &&str| word.contains("matched") || !name.starts_with("matched.");
        let all: BTreeSet<&str> = names().chain(short).chain([VERDICT]).filter(is_offered).collect();
        let near = near_names(word, all.into_iter());
        Failure::input(format!("--show: the results have no number `{word}`")).with_help(format!("{near}{LISTED}"))
    })
}

/// A value; `None` if there is none, or if there are too few requests for the percentile.
fn value(name: &str, numbers: &Numbers) -> Option<f64> {
    shown_of(numbers, name)
}

fn change(value: Option<f64>, first: Option<f64>) -> String {
    match (value, first) {
        (Some(0.0), Some(0.0)) => "both 0".into(),
        (Some(_), Some(0.0)) => "first is 0".into(),
        (Some(value), Some(first)) => format::change(value, first),
        _ => "-".into(),
    }
}
