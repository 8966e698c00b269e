//! What does a paper leave open? The file `open.toml`: decisions, their admissible values, and the sentence that leaves
//! each open.

use crate::sweep::file::{self, Setting};
use crate::sweep::text::{Entry, Node, Table, Value};
use copyback::config::layers::{LayerError, Located, Text, TextSpan};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The open decisions of a paper.
#[derive(Clone, Debug)]
pub struct Open {
    /// The divisor of each headline's requests and warm-up in a small world.
    pub part: u64,
    /// Settings of every world, as `--set` takes them: a smaller drive.
    pub sets: Vec<String>,
    /// The decisions.
    pub decisions: Vec<Decision>,
}

/// A decision that the paper leaves open.
#[derive(Clone, Debug)]
pub struct Decision {
    /// Its name in tables.
    pub name: String,
    /// The paper's sentence, or what it does not say.
    pub sentence: String,
    /// The place in the paper.
    pub source: String,
    /// The decision of this project.
    pub decided: String,
    /// The admissible values.
    pub admissible: Admissible,
}

/// The admissible values.
#[derive(Clone, Debug)]
pub enum Admissible {
    /// Any number of a range, for these keys.
    Range(Range),
    /// One of several choices, each with its settings as `--set` takes them.
    Choices(Vec<(String, Vec<String>)>),
}

/// Numbers between two bounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// The lower bound.
    pub least: f64,
    /// The upper bound.
    pub most: f64,
    /// Whether equal factors are equally likely, not equal differences.
    pub is_log: bool,
    /// Whether only whole numbers are meant.
    pub is_whole: bool,
    /// The unit of the setting: `"2.5 ms"`.
    pub unit: Option<String>,
    /// The keys that take the number.
    pub keys: Vec<String>,
}

impl Open {
    /// Reads the file's text.
    pub fn parse(text: &Arc<Text>) -> Result<Self, LayerError> {
        let mut table = Table::parse(text)?;
        let part = table.take_number("part", 1)?.unwrap_or(1);
        let sets = arguments(file::settings(&mut table)?);
        let mut names = BTreeSet::new();
        let mut decisions = Vec::new();
        for table in table.take_tables("open")? {
            let place = table.place.clone();
            let decision = Decision::read(table)?;
            if !names.insert(decision.name.clone()) {
                return Err(refused(
                    &format!("two decisions are called `{}`", decision.name),
                    "give each a name of its own",
                    &place,
                ));
            }
            decisions.push(decision);
        }
        let place = table.place.clone();
        table.finish()?;
        if decisions.is_empty() {
            return Err(refused("no decision is open", "add a table [[open]] with name, range or choices", &place));
        }
        Ok(Self { part, sets, decisions })
    }
}

fn arguments(settings: Vec<Setting>) -> Vec<String> {
    settings.into_iter().map(|setting| setting.argument).collect()
}

fn refused(message: &str, help: &str, place: &TextSpan) -> LayerError {
    LayerError::new(message).with_help(help).at(Some(place.clone()))
}

impl Decision {
    fn read(mut table: Table) -> Result<Self, LayerError> {
        let place = table.place.clone();
        let mut needed = |key: &'static str| {
            let missing = || LayerError::new(format!("`{key}` of an [[open]] is missing")).at(Some(place.clone()));
            table.take_text(key)?.ok_or_else(missing).map(|text: Located| text.value)
        };
        let (name, sentence, source) = (needed("name")?, needed("sentence")?, needed("where")?);
        let keys = table.take_texts("keys")?.or(table.take_texts("key")?).unwrap_or_default();
        let keys: Vec<String> = keys.into_iter().map(|key| key.value).collect();
        let is_log = table.take_bool("log")?.unwrap_or(false);
        let unit = table.take_text("unit")?.map(|unit| unit.value);
        let range = table.take("range");
        let values = table.take("values");
        let choices = table.take_tables("choice")?;
        let decided = table.take("decided").map(|entry| shown(&entry.node.plain()));
        table.finish()?;
        let wrong = |message: &str, help: &str| Err(refused(message, help, &place));
        let Some(decided) = decided else { return wrong("`decided` of an [[open]] is missing", "write what is set") };
        let admissible = match (range, values, choices.is_empty()) {
            (Some(range), None, true) => {
                let (least, most, is_whole) = bounds(&range)?;
                if is_log && least <= 0.0 {
                    return wrong("a range of factors begins above 0", "raise its lower bound, or leave `log` out");
                }
                Admissible::Range(Range { least, most, is_log, is_whole, unit, keys })
            }
            (None, Some(values), true) => Admissible::Choices(of_values(&keys, &values)?),
            (None, None, false) => Admissible::Choices(choices.into_iter().map(choice).collect::<Result<Vec<_>, _>>()?),
            _ => return wrong("a decision has a `range`, `values`, or tables [[open.choice]]", "keep one of them"),
        };
        let has_no_key = match &admissible {
            Admissible::Range(range) => range.keys.is_empty(),
            Admissible::Choices(choices) => choices.len() < 2,
        };
        if has_no_key {
            return wrong("the decision decides nothing", "name its `key`, and two values or more");
        }
        Ok(Self { name, sentence, source, decided, admissible })
    }
}

/// A value as tables show it.
fn shown(value: &toml::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn bounds(range: &Entry) -> Result<(f64, f64, bool), LayerError> {
    let number = |node: &Node| match &node.value {
        Value::Leaf(toml::Value::Integer(number)) => Some((*number as f64, true)),
        Value::Leaf(toml::Value::Float(number)) if number.is_finite() => Some((*number, false)),
        _ => None,
    };
    let elements = range.node.elements().unwrap_or_default();
    match elements.iter().map(number).collect::<Option<Vec<_>>>().as_deref() {
        Some([(least, is_whole), (most, is_whole_too)]) if least < most => {
            Ok((*least, *most, *is_whole && *is_whole_too))
        }
        _ => Err(refused("a range has two numbers, the lower one first", "write [0.01, 0.2]", &range.node.place)),
    }
}

fn of_values(keys: &[String], values: &Entry) -> Result<Vec<(String, Vec<String>)>, LayerError> {
    if keys.is_empty() {
        return Err(refused("values need a `key`", "write key = \"trigger.when\"", &values.node.place));
    }
    let nodes = values.node.elements().unwrap_or_default();
    let of_value = |node: &Node| {
        let value = node.plain();
        (shown(&value), keys.iter().map(|key| format!("{key}={value}")).collect())
    };
    Ok(nodes.iter().map(of_value).collect())
}

fn choice(mut table: Table) -> Result<(String, Vec<String>), LayerError> {
    let place = table.place.clone();
    let name = table.take_text("name")?;
    let Some(name) = name else { return Err(refused("`name` of a choice is missing", "name it", &place)) };
    let settings = file::settings(&mut table)?;
    table.finish()?;
    Ok((name.value, arguments(settings)))
}

impl Range {
    /// The number at a share of the range.
    pub fn at(&self, share: f64) -> f64 {
        let value = match self.is_log {
            // The powers are rounded below, so that every machine draws the same world.
            true => self.least * (share * (self.most / self.least).ln()).exp(),
            false if self.is_whole => self.least + (share * (self.most - self.least + 1.0)).floor(),
            false => self.least + share * (self.most - self.least),
        };
        let value = if self.is_whole { value.round() } else { four_digits(value) };
        value.clamp(self.least, self.most)
    }

    /// A number as settings and tables write it.
    pub fn shown(&self, value: f64) -> String {
        let number = if self.is_whole { format!("{value:.0}") } else { format!("{value}") };
        self.unit.as_ref().map_or_else(|| number.clone(), |unit| format!("{number} {unit}"))
    }

    /// The settings of a number, as `--set` takes them.
    pub fn sets(&self, value: f64) -> Vec<String> {
        let shown = self.shown(value);
        let value = if self.unit.is_some() { format!("\"{shown}\"") } else { shown };
        self.keys.iter().map(|key| format!("{key}={value}")).collect()
    }
}

/// A number with four significant digits.
fn four_digits(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}
