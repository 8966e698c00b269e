//! Columns of a sweep's table for conditions and output, with their names.

use super::Name;
use super::near::{LISTED, near_names};
use crate::failure::Failure;
use crate::flat;
use crate::steady;
use crate::sweep::file::SweepFile;
use crate::sweep::grid::Cell;
use crate::sweep::journal::{CellResult, RunResult};
use crate::sweep::quantity::{ENDS, Unit};
use copyback::config::layers::LayerError;
use copyback::config::renamed;
use copyback::observe::matched::Matched;
use copyback::observe::report::Report;
use copyback::observe::tenants::TenantReport;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// A column of the table.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// The varied key at this place of the file.
    Varied(usize),
    /// A number of a run.
    Number(String),
    /// A text of a cell or of a run.
    Text(TextColumn),
    /// The seed.
    Seed,
}

/// A column of an objective: shown, compared, or best.
#[derive(Clone, Debug)]
pub struct ShownColumn {
    /// Its name in the objective.
    pub title: String,
    /// The source of its values.
    pub source: Source,
    /// The unit of its numbers; `None` if it has texts.
    pub unit: Option<Unit>,
}

/// A column of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextColumn {
    /// The case.
    Case,
    /// The device.
    Device,
    /// The workload.
    Workload,
    /// The scheme.
    Scheme,
    /// The verdict on the steady state.
    Steady,
}

impl TextColumn {
    /// All of them.
    const ALL: [Self; 5] = [Self::Case, Self::Device, Self::Workload, Self::Scheme, Self::Steady];

    /// Its title in tables.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Case => "case",
            Self::Device => "device",
            Self::Workload => "workload",
            Self::Scheme => "scheme",
            Self::Steady => "steady",
        }
    }
}

/// Parts of a report that only some runs have. They are known when a run has ended.
const OF_SOME_RUNS: &[&str] = &[
    "array",
    "bandwidth",
    "block_reads_max",
    "flash_requests",
    "map",
    "matched",
    "merges",
    "parity",
    "warmup",
    "window",
];

/// Columns of the table's file that identify a run, and are no results.
const OF_THE_FILE: &[&str] = &["cell", "config", "hash", "version"];

/// The prefix of the numbers of each workload.
pub(super) const OF_WORKLOADS: &str = "workloads.";

/// The prefix of response times.
const RESPONSE: &str = "response.";

/// Whether a number of this name, if it exists, is in every run.
pub fn is_usual(name: &str) -> bool {
    // The causes of a run's latencies are known after it.
    !is_of_some_runs(name) && name.split('.').all(|part| part != "latency_breakdown")
}

/// Whether a number of this name belongs to a part of a report that only some runs have.
pub fn is_of_some_runs(name: &str) -> bool {
    OF_SOME_RUNS.contains(&name.split('.').next().unwrap_or_default())
}

/// The numbers that headings of tables abbreviate.
pub(super) const HEADINGS: &[(&str, &str)] = &[
    ("wa", "write_amplification.total"),
    ("write_amplification", "write_amplification.total"),
    ("erases", "flash.block_erases"),
];

/// Classes of requests with response times.
pub(super) const CLASSES: &[&str] = &["all", "read", "write"];

/// The full name of a number: `read.p99` is `response.read.p99_ns`; `w1.write.p99` is such a number of the workload
/// `w1`. The prefix `response.` and the unit may be omitted; column headings, `p99.9` and upper case are accepted.
pub fn spelled_out(word: &str, is_number: impl Fn(&str) -> bool) -> Option<String> {
    let small = word.to_ascii_lowercase();
    let of_workload = |word: &str| {
        word.match_indices('.').find_map(|(at, _)| {
            let begin = format!("{OF_WORKLOADS}{}.", &word[..at]);
            let number = number_of(&word[at + 1..], &|name: &str| is_number(&format!("{begin}{name}")))?;
            Some(begin + &number)
        })
    };
    let spelled = |word: &str| number_of(word, &is_number).or_else(|| of_workload(word));
    spelled(word).or_else(|| spelled(&small))
}

/// The full name of a number of a run or of a workload.
fn number_of(word: &str, is_number: &dyn Fn(&str) -> bool) -> Option<String> {
    if let Some((_, name)) = HEADINGS.iter().find(|(heading, _)| heading.eq_ignore_ascii_case(word)) {
        return Some((*name).to_owned()).filter(|name| is_number(name));
    }
    if let Some(name) = crate::matched::own(word) {
        return number_of(&name, is_number);
    }
    let word = &*joined(word);
    // A class of requests is no number: `read` is not `read_bytes`.
    if CLASSES.contains(&word) {
        return None;
    }
    let ends = || std::iter::once("").chain(ENDS.iter().map(|(end, _)| *end));
    if word.is_empty() {
        return None;
    }
    let all = ["", RESPONSE].into_iter().flat_map(|begin| ends().map(move |end| format!("{begin}{word}{end}")));
    all.into_iter().find(|name| is_number(name))
}

/// The short name of a number, without its optional prefix: `w1.write.p99_ns`; `None` if it has no prefix.
pub fn short_of(number: &str) -> Option<String> {
    let of_workload = number.strip_prefix(OF_WORKLOADS);
    let rest = of_workload.unwrap_or(number);
    let is_shorter = of_workload.is_some() || rest.starts_with(RESPONSE);
    is_shorter.then(|| rest.replacen(RESPONSE, "", 1))
}

/// A name whose percentile has a point, `read.p99.9`, as results write it: `read.p99_9`.
pub(super) fn joined(word: &str) -> Cow<'_, str> {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_percentile =
        |text: &str| text.rsplit('.').next().and_then(|last| last.strip_prefix('p')).is_some_and(is_digits);
    let parts = word.rsplit_once('.').filter(|(head, tail)| is_percentile(head) && is_digits(tail));
    parts.map_or(word.into(), |(head, tail)| format!("{head}_{tail}").into())
}

/// The per cent of a percentile's name: 99.9 of `p99_9`.
pub fn percent_of(name: &str) -> Option<f64> {
    let digits = name.strip_prefix('p')?.replacen('_', ".", 1);
    digits.starts_with(|first: char| first.is_ascii_digit()).then(|| digits.parse().ok())?
}

/// The numbers that results have of each of several workloads.
pub fn numbers_of_workloads<'a>(names: impl Iterator<Item = &'a String>) -> Result<BTreeSet<String>, Failure> {
    let of_each = flat::numbers(&TenantReport::default())?;
    let names: BTreeSet<&String> = names.collect();
    let numbers = names
        .iter()
        .flat_map(|workload| of_each.iter().map(move |(number, _)| format!("{OF_WORKLOADS}{workload}.{number}")));
    Ok(numbers.collect())
}

/// A name without the unit at its end, which need not be written.
pub(super) fn without_unit_of(name: &str) -> &str {
    let rest = ENDS.iter().find_map(|(end, _)| name.strip_suffix(end));
    rest.filter(|rest| !rest.is_empty() && !rest.ends_with('.')).unwrap_or(name)
}

/// The available columns: varied keys, texts, and numbers of the runs that are done.
pub struct Columns<'a> {
    file: &'a SweepFile,
    cells: &'a [Cell],
    numbers: BTreeSet<String>,
}

impl<'a> Columns<'a> {
    /// The columns of cells that are done.
    pub fn of<'r>(file: &'a SweepFile, cells: &'a [Cell], results: impl Iterator<Item = &'r CellResult>) -> Self {
        let runs = results.flat_map(|result| &result.runs);
        Self { file, cells, numbers: runs.flat_map(|run| run.numbers.keys()).cloned().collect() }
    }

    /// The columns that are known before any cell has run.
    pub fn usual(file: &'a SweepFile, cells: &'a [Cell]) -> Result<Self, Failure> {
        let numbers = flat::numbers(&Report::default())?.into_iter().map(|(name, _)| name);
        let matched = flat::numbers(&Matched::default())?.into_iter().map(|(name, _)| format!("matched.{name}"));
        let planned = cells.iter().flat_map(|cell| &cell.plan.runs);
        let workloads = numbers_of_workloads(planned.flat_map(|planned| planned.resolved.tenants.keys()))?;
        Ok(Self { file, cells, numbers: numbers.chain(matched).chain(workloads).collect() })
    }

    /// The column of a name.
    pub(super) fn find(&self, name: &Name) -> Result<ShownColumn, LayerError> {
        let asked = |source, unit| ShownColumn { title: name.word.clone(), source, unit };
        if let Some(at) = self.file.vary.iter().position(|vary| vary.key == name.word) {
            return Ok(asked(Source::Varied(at), self.unit_of_varied(at)));
        }
        if name.word == "seed" {
            return Ok(asked(Source::Seed, None));
        }
        if let Some(text) = TextColumn::ALL.into_iter().find(|text| text.title().eq_ignore_ascii_case(&name.word)) {
            return Ok(asked(Source::Text(text), None));
        }
        if let Some(number) = spelled_out(&name.word, |number| self.numbers.contains(number)) {
            let unit = Unit::of_name(&number);
            return Ok(asked(Source::Number(number), Some(unit)));
        }
        Err(self.unknown(name))
    }

    /// The unit of a varied key's values; none if they are texts, or of several units.
    fn unit_of_varied(&self, at: usize) -> Option<Unit> {
        let values = self.file.vary[at].settings.iter().map(|(value, _)| Unit::of_value(value));
        let units = values.map(|of| of.map(|(_, unit)| unit)).collect::<Option<BTreeSet<_>>>()?;
        units.first().copied().filter(|_| units.len() == 1)
    }

    /// All that a column of texts, or of seeds, has.
    pub(super) fn texts(&self, source: &Source) -> Vec<String> {
        let mut texts: Vec<String> = match source {
            Source::Text(TextColumn::Scheme) => {
                self.file.schemes.iter().map(|scheme| self.file.label_of(scheme)).collect()
            }
            Source::Seed => self.cells.iter().map(|cell| cell.plan.seed.to_string()).collect(),
            _ => self.cells.iter().map(|cell| source.text_of_cell(cell)).collect(),
        };
        let mut seen = BTreeSet::new();
        texts.retain(|text| seen.insert(text.clone()));
        texts
    }

    fn unknown(&self, name: &Name) -> LayerError {
        if let Some(new) = renamed::number(&name.word) {
            return name.refuse(format!("`{}` is now `{new}`", name.word)).with_help(format!("write `{new}`"));
        }
        if OF_THE_FILE.contains(&name.word.as_str()) {
            let message = format!("`{}` is only in the table's file: rows cannot be selected by it", name.word);
            let help = "use `case`, `device`, `workload`, `scheme`, `seed`, a key of [vary] or a number of the results";
            return name.refuse(message).with_help(help);
        }
        let keys = self.file.vary.iter().map(|vary| vary.key.as_str());
        let numbers = || self.numbers.iter().map(String::as_str);
        let short: Vec<String> = numbers().filter_map(short_of).collect();
        let short = short.iter().map(String::as_str);
        let all = keys.chain(TextColumn::ALL.map(TextColumn::title)).chain(["seed"]).chain(numbers()).chain(short);
        let all = all.filter(|near| name.word.contains("matched") || !near.starts_with("matched."));
        let near = near_names(&name.word, all);
        let help = format!("{near}{LISTED}; columns are these numbers, and keys of [vary]");
        name.refuse(format!("the sweep has no column `{}`", name.word)).with_help(help)
    }
}

impl Source {
    /// The number of a run of a cell; `None` if it has none, or too few requests for the percentile.
    pub fn number(&self, cell: &Cell, run: &RunResult) -> Option<f64> {
        match self {
            Self::Varied(at) => Unit::of_value(&cell.varied[*at]).map(|(number, _)| number),
            Self::Number(name) => run.shown(name),
            Self::Text(_) | Self::Seed => None,
        }
    }

    /// The value as a text; empty if there is none. A percentile of too few requests is included.
    pub fn text(&self, cell: &Cell, run: &RunResult) -> String {
        match self {
            Self::Number(name) => run.value(name).map_or_else(String::new, |number| number.to_string()),
            Self::Text(TextColumn::Scheme) => run.scheme.clone(),
            Self::Text(TextColumn::Steady) => steady::short(run.steady).to_owned(),
            _ => self.text_of_cell(cell),
        }
    }

    /// The description of a cell.
    fn text_of_cell(&self, cell: &Cell) -> String {
        match self {
            Self::Varied(at) => {
                let value = &cell.varied[*at];
                value.as_str().map_or_else(|| value.to_string(), str::to_owned)
            }
            Self::Text(TextColumn::Case) => cell.case.clone(),
            Self::Text(TextColumn::Device) => cell.device.clone(),
            Self::Text(TextColumn::Workload) => cell.workload.clone(),
            Self::Seed => cell.plan.seed.to_string(),
            Self::Text(TextColumn::Scheme | TextColumn::Steady) | Self::Number(_) => String::new(),
        }
    }
}
