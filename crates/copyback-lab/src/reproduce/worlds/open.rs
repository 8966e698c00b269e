//! What does a paper leave open? The file `open.toml`: decisions, their admissible values, and the sentence that leaves
//! each open.

use crate::sweep::file::{self, Setting};
use crate::sweep::text::{Entry, Node, Table, Value};
use copyback::config::layers::{LayerError, Located, Text, TextSpan};
use copyback_workload::units::{parse_bytes, parse_duration_ns};
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
            if let Some(key) = decisions.iter().flat_map(Decision::keys).find(|key| decision.keys().contains(key)) {
                return Err(refused(&format!("two decisions set `{key}`"), "let one of them set it", &place));
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
        let mut seen = BTreeSet::new();
        if let Some(twin) = keys.iter().find(|key| !seen.insert(file::normalised_key(&key.value))) {
            let error = LayerError::new(format!("`{}` is there twice", twin.value)).with_help("write it once");
            return Err(error.at(twin.place.clone()));
        }
        let keys: Vec<String> = keys.into_iter().map(|key| key.value).collect();
        let is_log = table.take_bool("log")?.unwrap_or(false);
        let unit = table.take_text("unit")?.map(|unit| unit.value);
        let range = table.take("range");
        let values = table.take("values");
        let choices = table.take_tables("choice")?;
        let decided = table.take("decided");
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
        let decides_nothing = match &admissible {
            Admissible::Range(range) => range.keys.is_empty(),
            Admissible::Choices(choices) => choices.len() < 2,
        };
        if decides_nothing {
            return wrong("the decision decides nothing", "name its `key`, and two values or more");
        }
        if !admissible.has(&decided.node.plain()) {
            let help = "write one of the admissible values, or several words that describe the setting";
            return Err(refused("`decided` is no admissible value", help, &decided.node.place));
        }
        Ok(Self { name, sentence, source, decided: shown(&decided.node.plain()), admissible })
    }

    /// The keys that it sets.
    pub fn keys(&self) -> BTreeSet<String> {
        let key = |set: &str| file::normalised_key(set.split('=').next().unwrap_or_default());
        match &self.admissible {
            Admissible::Range(range) => range.keys.iter().map(|own| file::normalised_key(own)).collect(),
            Admissible::Choices(choices) => choices.iter().flat_map(|(_, sets)| sets).map(|set| key(set)).collect(),
        }
    }
}

impl Admissible {
    /// Whether a decided value is one of these. Several words that are no quantity are accepted, too: they describe a
    /// setting that has no single value, such as "one block above the start".
    fn has(&self, decided: &toml::Value) -> bool {
        match (self, decided) {
            (Self::Choices(choices), _) => choices.iter().any(|(name, _)| *name == shown(decided)),
            (Self::Range(range), toml::Value::Integer(number)) => range.has(*number as f64),
            (Self::Range(range), toml::Value::Float(number)) => range.has(*number),
            (Self::Range(range), toml::Value::String(text)) => match range.number_of(text) {
                Some(number) => range.has(number),
                None => text.trim().contains(' '),
            },
            _ => false,
        }
    }

    /// The settings of its bounds, or of each choice that sets something.
    pub fn bounds(&self) -> Vec<Vec<String>> {
        match self {
            Self::Range(range) => vec![range.sets(range.least), range.sets(range.most)],
            Self::Choices(choices) => {
                choices.iter().map(|(_, sets)| sets.clone()).filter(|sets| !sets.is_empty()).collect()
            }
        }
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
    /// Whether a number is in it.
    fn has(&self, number: f64) -> bool {
        (self.least..=self.most).contains(&number)
    }

    /// The number of a quantity, in the range's unit; `None` if the text is no quantity.
    fn number_of(&self, text: &str) -> Option<f64> {
        let Some(unit) = &self.unit else { return text.trim().parse().ok() };
        let units = |parse: fn(&str) -> Result<u64, String>| {
            Some(parse(text).ok()? as f64 / parse(&format!("1 {unit}")).ok()? as f64)
        };
        units(parse_duration_ns).or_else(|| units(parse_bytes))
    }

    /// The number at a share of the range.
    pub fn at(&self, share: f64) -> f64 {
        let value = match self.is_log {
            // The value of `exp` is rounded after this match, so that every machine draws the same world.
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
