//! What does a paper claim, and what does a sweep measure of it?
//!
//! A claim names one number of the table and two schemes (or one scheme in two groups of cells). Each cell gives one
//! effect, means over seeds first; an aggregate makes one of them.

use super::verdict::{Published, Verdict, verdict};
use crate::sweep::file::SweepFile;
use crate::sweep::table::Results;
use crate::sweep::text::{Entry, Node, Table};
use copyback::config::layers::{LayerError, Located, Place, nearest, suggestion};
use std::collections::BTreeMap;

/// A claim, as its file states it.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The figure, table or section.
    pub figure: String,
    /// What is claimed.
    pub text: String,
    /// Where in the paper.
    pub source: String,
    /// The number, or two with ` / ` between.
    pub metric: Located,
    /// Of which scheme.
    pub scheme: String,
    /// Against which; the same where cells are compared.
    pub against: String,
    /// How the two make an effect.
    pub measure: Measure,
    /// Cells that count.
    cells: Coordinates,
    /// What is different in the cells that they are compared with.
    base_cells: Coordinates,
    /// How cells make one effect.
    pub aggregate: Aggregate,
    /// What was published.
    pub published: Published,
}

/// How a claim compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// In per cent of what is compared with.
    Change,
    /// As a factor.
    Times,
    /// The difference of two shares, in points.
    Points,
    /// In per cent, less that in the cells that are compared with: whether a gain grows.
    Trend,
    /// Not at all: a share by itself, in per cent.
    Share,
}

/// How the effects of several cells make one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregate {
    /// Arithmetic mean.
    Mean,
    /// Geometric mean of factors.
    GeometricMean,
    /// The lowest.
    Min,
    /// The highest.
    Max,
    /// All of them: the claim holds where it holds in each. The measured effect is the one that is least in its favour.
    Each,
}

const MEASURES: &[(&str, Measure)] = &[
    ("change", Measure::Change),
    ("times", Measure::Times),
    ("points", Measure::Points),
    ("trend", Measure::Trend),
    ("share", Measure::Share),
];
const AGGREGATES: &[(&str, Aggregate)] = &[
    ("mean", Aggregate::Mean),
    ("geometric-mean", Aggregate::GeometricMean),
    ("min", Aggregate::Min),
    ("max", Aggregate::Max),
    ("each", Aggregate::Each),
];

/// Values of `case`, `device` or varied keys; several values of one key are alternatives.
type Coordinates = Vec<(String, Vec<toml::Value>)>;

/// What was measured of a claim.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The effect of each cell: in per cent or points.
    pub cells: Vec<(String, f64)>,
    /// The aggregate, and the verdict on it; or why there is none.
    pub outcome: Result<(f64, Verdict), String>,
}

impl Claim {
    /// Reads the claims of a file.
    pub fn of_file(file: &SweepFile) -> Result<Vec<Self>, LayerError> {
        file.claims.iter().map(|table| Self::read(table.clone(), file)).collect()
    }

    fn read(mut table: Table, file: &SweepFile) -> Result<Self, LayerError> {
        let place = table.place.clone();
        let needed = |key: &str, text: Option<Located>| {
            text.ok_or_else(|| LayerError::new(format!("`{key}` of a [[claim]] is missing")).at(Some(place.clone())))
        };
        let figure = needed("figure", table.take_text("figure")?)?.value;
        let text = needed("text", table.take_text("text")?)?.value;
        let source = needed("where", table.take_text("where")?)?.value;
        let metric = needed("metric", table.take_text("metric")?)?;
        let scheme = scheme(needed("scheme", table.take_text("scheme")?)?, file)?;
        let against = table.take_text("against")?.map(|against| self::scheme(against, file)).transpose()?;
        let measure = choice(&mut table, "measure", MEASURES)?;
        let aggregate = choice(&mut table, "aggregate", AGGREGATES)?;
        let cells = coordinates(&mut table, "cells", file)?;
        let base_cells = coordinates(&mut table, "base_cells", file)?;
        let published = published(&mut table, measure, aggregate, &place)?;
        if measure != Measure::Share && against.is_none() && base_cells.is_empty() {
            let error = LayerError::new("the claim compares with nothing");
            return Err(error
                .with_help("name a scheme: against = ..., or cells: base_cells = { ... }")
                .at(Some(place)));
        }
        let against = against.unwrap_or_else(|| scheme.clone());
        Ok(Self { figure, text, source, metric, scheme, against, measure, cells, base_cells, aggregate, published })
    }

    /// What the table says of the claim.
    pub fn measure(&self, results: &Results<'_>) -> Result<Measured, LayerError> {
        self.check_metric(results)?;
        let groups = Group::all(results);
        let mut cells = Vec::new();
        for group in groups.iter().filter(|group| group.fits(&self.cells)) {
            let base = groups.iter().find(|base| base.is_base_of(group, &self.base_cells));
            let Some(base) = base else { continue };
            match self.effect(results, group, base) {
                Ok(effect) => cells.push((group.label.clone(), effect)),
                Err(why) => return Ok(Measured { cells, outcome: Err(format!("{}: {why}", group.label)) }),
            }
        }
        let effects: Vec<f64> = cells.iter().map(|(_, effect)| *effect).collect();
        let outcome = match self.aggregate(&effects) {
            Some(effect) => Ok((effect, verdict(effect, self.published))),
            None => Err("its cells were left out".to_owned()),
        };
        Ok(Measured { cells, outcome })
    }

    /// Refuses a number that no run has.
    fn check_metric(&self, results: &Results<'_>) -> Result<(), LayerError> {
        let Some(run) = results.results.first().and_then(|result| result.runs.first()) else { return Ok(()) };
        for name in self.metric.value.split(" / ") {
            if !run.numbers.contains_key(name) {
                let error = LayerError::new(format!("no run has a number `{name}`"));
                let near = nearest(name, run.numbers.keys().map(String::as_str));
                let help =
                    near.map_or_else(|| "see the columns of the table".into(), |n| format!("did you mean `{n}`?"));
                return Err(error.with_help(help).at(self.metric.place.clone()));
            }
        }
        Ok(())
    }

    /// The effect in one cell, or why there is none.
    fn effect(&self, results: &Results<'_>, group: &Group, base: &Group) -> Result<f64, String> {
        let value = group.mean(results, &self.scheme, &self.metric.value)?;
        if self.measure == Measure::Share {
            return Ok(100.0 * value);
        }
        if self.measure == Measure::Trend {
            return Ok(self.change_in(results, group)? - self.change_in(results, base)?);
        }
        let from = base.mean(results, &self.against, &self.metric.value)?;
        match self.measure {
            Measure::Points => Ok(100.0 * (value - from)),
            _ if from == 0.0 => Err(format!("`{}` is 0 with {}", self.metric.value, self.against)),
            _ => Ok(100.0 * (value / from - 1.0)),
        }
    }

    /// The change from one scheme to the other in the same cells.
    fn change_in(&self, results: &Results<'_>, group: &Group) -> Result<f64, String> {
        let from = group.mean(results, &self.against, &self.metric.value)?;
        let value = group.mean(results, &self.scheme, &self.metric.value)?;
        if from == 0.0 {
            return Err(format!("`{}` is 0 with {}", self.metric.value, self.against));
        }
        Ok(100.0 * (value / from - 1.0))
    }

    fn aggregate(&self, effects: &[f64]) -> Option<f64> {
        if effects.is_empty() {
            return None;
        }
        let count = effects.len() as f64;
        let lowest = || effects.iter().copied().reduce(f64::min);
        let highest = || effects.iter().copied().reduce(f64::max);
        match self.aggregate {
            Aggregate::Mean => Some(effects.iter().sum::<f64>() / count),
            Aggregate::GeometricMean => {
                let logs: f64 = effects.iter().map(|effect| (1.0 + effect / 100.0).ln()).sum();
                Some(100.0 * ((logs / count).exp() - 1.0))
            }
            Aggregate::Min => lowest(),
            Aggregate::Max => highest(),
            Aggregate::Each if self.published == Published::Lower => highest(),
            Aggregate::Each => lowest(),
        }
    }

    /// An effect as the claim states it.
    pub fn shown(&self, effect: f64) -> String {
        match self.measure {
            Measure::Change => format!("{effect:+.1} %"),
            Measure::Times => format!("{:.2}x", 1.0 + effect / 100.0),
            Measure::Points | Measure::Trend => format!("{effect:+.1} points"),
            Measure::Share => format!("{effect:.1} %"),
        }
    }

    /// What was published, as the claim states it.
    pub fn shown_published(&self) -> String {
        match self.published {
            Published::Effect(effect) | Published::Figure(effect) => self.shown(effect),
            Published::Lower => "lower".into(),
            Published::Higher => "higher".into(),
        }
    }
}

fn scheme(name: Located, file: &SweepFile) -> Result<String, LayerError> {
    if file.schemes.iter().any(|scheme| scheme.value == name.value) {
        return Ok(crate::plan::label(&name.value));
    }
    let known = file.schemes.iter().map(|scheme| scheme.value.as_str());
    let error = LayerError::new(format!("the file has no scheme `{}`", name.value));
    Err(error.with_help(suggestion(&name.value, "its schemes", known)).at(name.place))
}

/// One of several words; the first where the key is not there.
fn choice<T: Copy>(table: &mut Table, key: &'static str, choices: &[(&str, T)]) -> Result<T, LayerError> {
    let Some(word) = table.take_text(key)? else { return Ok(choices[0].1) };
    let chosen = choices.iter().find(|(name, _)| *name == word.value).map(|(_, choice)| *choice);
    chosen.ok_or_else(|| {
        let error = LayerError::new(format!("`{key}` cannot be `{}`", word.value));
        error.with_help(suggestion(&word.value, "choices", choices.iter().map(|(name, _)| *name))).at(word.place)
    })
}

/// What was published: the last keys of a claim, so that a misspelt one is told before a missing one.
fn published(
    table: &mut Table,
    measure: Measure,
    aggregate: Aggregate,
    place: &Place,
) -> Result<Published, LayerError> {
    const DIRECTIONS: &[(&str, Published)] = &[("lower", Published::Lower), ("higher", Published::Higher)];
    let wrong = |message: &str, help: &str| LayerError::new(message).with_help(help).at(Some(place.clone()));
    let has_direction = table.has("direction");
    let direction = choice(table, "direction", DIRECTIONS)?;
    let number = table.take_float("published")?;
    table.finish()?;
    match (number, has_direction) {
        (Some(_), true) => Err(wrong("a claim has a `published` number or a `direction`", "remove one of the two")),
        (None, false) => {
            Err(wrong("the claim says nothing", "give it `published = NUMBER` or `direction = \"lower\"`"))
        }
        (Some(_), false) if aggregate == Aggregate::Each => {
            Err(wrong("`aggregate = \"each\"` goes with a `direction`", "use min or max for a number"))
        }
        (None, true) if measure == Measure::Share => Err(wrong("a share has no direction", "publish a number")),
        (None, true) => Ok(direction),
        (Some(number), false) => Ok(match measure {
            Measure::Share => Published::Figure(number),
            Measure::Times => Published::Effect(100.0 * (number - 1.0)),
            Measure::Change | Measure::Points | Measure::Trend => Published::Effect(number),
        }),
    }
}

/// Coordinates that a claim names; keys that the grid has not, and values that no cell has, are refused.
fn coordinates(table: &mut Table, key: &'static str, file: &SweepFile) -> Result<Coordinates, LayerError> {
    let Some(inner) = table.take_table(key)? else { return Ok(Vec::new()) };
    let mut flat = Vec::new();
    inner.entries.into_iter().for_each(|entry| flatten("", entry, &mut flat));
    let mut coordinates = Coordinates::new();
    for (name, place, node) in flat {
        let known = known_values(file, &name).ok_or_else(|| {
            let keys = ["case", "device"].into_iter().chain(file.vary.iter().map(|vary| vary.key.as_str()));
            let error = LayerError::new(format!("no cell is told from others by `{name}`"));
            error.with_help(suggestion(&name, "keys", keys)).at(Some(place))
        })?;
        let nodes = node.elements().unwrap_or_default();
        for one in &nodes {
            if !known.iter().any(|value| is_same(value, &one.plain())) {
                let list: Vec<String> = known.iter().map(ToString::to_string).collect();
                let error = LayerError::new(format!("no cell has `{name} = {}`", one.plain()));
                return Err(error.with_help(format!("values: {}", list.join(", "))).at(Some(one.place.clone())));
            }
        }
        coordinates.push((name, nodes.iter().map(Node::plain).collect()));
    }
    Ok(coordinates)
}

fn flatten(path: &str, entry: Entry, flat: &mut Vec<(String, Place, Node)>) {
    let key = if path.is_empty() { entry.key } else { format!("{path}.{}", entry.key) };
    match entry.node.value {
        crate::sweep::text::Value::Table(table) => {
            table.entries.into_iter().for_each(|entry| flatten(&key, entry, flat));
        }
        _ => flat.push((key, entry.key_place, entry.node)),
    }
}

fn known_values(file: &SweepFile, key: &str) -> Option<Vec<toml::Value>> {
    match key {
        "case" => Some(file.cases.iter().map(|case| case.name.as_str().into()).collect()),
        "device" => Some(file.devices.iter().map(|device| device.value.as_str().into()).collect()),
        _ => {
            let vary = file.vary.iter().find(|vary| vary.key == key)?;
            Some(vary.settings.iter().map(|(value, _)| value.clone()).collect())
        }
    }
}

/// Whether two values are the same; 1 and 1.0 are.
fn is_same(a: &toml::Value, b: &toml::Value) -> bool {
    let number = |value: &toml::Value| value.as_float().or_else(|| value.as_integer().map(|n| n as f64));
    a == b || number(a).is_some_and(|a| number(b) == Some(a))
}

/// Cells that differ in their seeds only.
struct Group {
    label: String,
    coordinates: BTreeMap<String, toml::Value>,
    cells: Vec<usize>,
}

impl Group {
    fn all(results: &Results<'_>) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        for (at, cell) in results.cells.iter().enumerate() {
            let varied = results.file.vary.iter().map(|vary| vary.key.clone()).zip(cell.varied.iter().cloned());
            let own = [("case", &cell.case), ("device", &cell.device)];
            let own = own.into_iter().map(|(key, value)| (key.to_owned(), value.as_str().into()));
            let coordinates: BTreeMap<String, toml::Value> = own.chain(varied).collect();
            match groups.iter_mut().find(|group| group.coordinates == coordinates) {
                Some(group) => group.cells.push(at),
                None => {
                    let label = cell.label.split(" seed=").next().unwrap_or_default().to_owned();
                    groups.push(Self { label, coordinates, cells: vec![at] });
                }
            }
        }
        groups
    }

    fn fits(&self, wanted: &Coordinates) -> bool {
        let has =
            |key: &String, values: &[toml::Value]| values.iter().any(|value| is_same(&self.coordinates[key], value));
        wanted.iter().all(|(key, values)| has(key, values))
    }

    /// Whether this is what `group` is compared with: the same but for `different`.
    fn is_base_of(&self, group: &Self, different: &Coordinates) -> bool {
        let is_free = |key: &String| different.iter().any(|(other, _)| other == key);
        let others = group.coordinates.iter().filter(|(key, _)| !is_free(key));
        self.fits(different) && others.into_iter().all(|(key, value)| is_same(&self.coordinates[key], value))
    }

    /// The mean over seeds of a number, or of two numbers' quotient.
    fn mean(&self, results: &Results<'_>, scheme: &str, metric: &str) -> Result<f64, String> {
        let mut sum = 0.0;
        for &cell in &self.cells {
            let run = results.results[cell].runs.iter().find(|run| run.scheme == scheme);
            let run = run.ok_or_else(|| format!("there is no run of {scheme}"))?;
            let mut values = metric.split(" / ").map(|name| number(&run.numbers, name));
            let first = values.next().flatten().ok_or_else(|| format!("`{metric}` measured nothing with {scheme}"))?;
            sum += match values.next() {
                None => first,
                Some(Some(second)) if second != 0.0 => first / second,
                Some(_) => return Err(format!("`{metric}` divides by nothing with {scheme}")),
            };
        }
        Ok(sum / self.cells.len() as f64)
    }
}

/// A number of a run; none where it is about a class of requests that is empty.
fn number(numbers: &BTreeMap<String, crate::flat::Number>, name: &str) -> Option<f64> {
    if let Some((class, last)) = name.rsplit_once('.')
        && last != "count"
        && numbers.get(&format!("{class}.count")).is_some_and(|count| count.as_f64() == Some(0.0))
    {
        return None;
    }
    numbers.get(name)?.as_f64()
}
