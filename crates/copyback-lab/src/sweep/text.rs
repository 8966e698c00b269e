//! A sweep file's text: keys, each with its place, are taken out one by one, and the remaining keys are refused.

use copyback::config::layers::{LayerError, Located, Text, TextSpan, check_printable, no_toml, suggestion};
use copyback::run::Warmup;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::sync::Arc;
use toml::de::{DeTable, DeValue};

/// A table of the file.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its name in errors: `[vary]`, `[[case]]`; empty for the file itself.
    name: String,
    /// Its place.
    pub place: TextSpan,
    /// The entries that have not been read yet, in the order of the text.
    pub entries: Vec<Entry>,
    known: Vec<&'static str>,
}

/// A key and its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// The place of the key.
    pub key_place: TextSpan,
    /// Its value.
    pub node: Node,
}

/// A value and its place.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its place.
    pub place: TextSpan,
    /// Its value.
    pub value: Value,
}

/// A value.
#[derive(Clone, Debug)]
pub enum Value {
    /// A number, a text, a truth value.
    Leaf(toml::Value),
    /// A list, also of tables.
    List(Vec<Node>),
    /// A table.
    Table(Table),
}

/// Figures beyond it are mistakes: it is twice the nanoseconds of a year's run.
const FIGURE_MAX: f64 = 6e16;

fn refuse(message: String, help: &str, place: &TextSpan) -> LayerError {
    LayerError::new(message).with_help(help).at(Some(place.clone()))
}

impl Table {
    /// Reads a text.
    pub fn parse(text: &Arc<Text>) -> Result<Self, LayerError> {
        let place = |span| TextSpan { text: text.clone(), span };
        let parsed = DeTable::parse(&text.text).map_err(|error| no_toml(&error).at(error.span().map(place)))?;
        Self::of(text, String::new(), place(0..0), parsed.into_inner())
    }

    fn of(text: &Arc<Text>, name: String, place: TextSpan, from: DeTable<'_>) -> Result<Self, LayerError> {
        let mut entries = Vec::new();
        for (key, value) in from {
            let key_place = TextSpan { text: text.clone(), span: key.span() };
            let key = key.into_inner().into_owned();
            let place = TextSpan { text: text.clone(), span: value.span() };
            check_printable(&key, value.get_ref(), [&key_place, &place])?;
            let node = Node::of(text, &key, value)?;
            entries.push(Entry { key, key_place, node });
        }
        entries.sort_by_key(|entry| entry.key_place.span.start);
        Ok(Self { name, place, entries, known: Vec::new() })
    }

    fn path(&self, key: &str) -> String {
        if self.name.is_empty() { format!("`{key}`") } else { format!("`{key}` in {}", self.name) }
    }

    /// Whether the key is still there.
    pub fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|entry| entry.key == key)
    }

    /// Takes an entry.
    pub fn take(&mut self, key: &'static str) -> Option<Entry> {
        self.known.push(key);
        let at = self.entries.iter().position(|entry| entry.key == key)?;
        Some(self.entries.remove(at))
    }

    /// Takes a text.
    pub fn take_text(&mut self, key: &'static str) -> Result<Option<Located>, LayerError> {
        let Some(entry) = self.take(key) else { return Ok(None) };
        let text = entry.node.text();
        text.map(Some).ok_or_else(|| {
            let help = format!("write it in quotes: {key} = \"text\"");
            refuse(format!("{} must be a text", self.path(key)), &help, &entry.node.place)
        })
    }

    /// Takes a list of texts that is not empty, or one text.
    pub fn take_texts(&mut self, key: &'static str) -> Result<Option<Vec<Located>>, LayerError> {
        let Some(entry) = self.take(key) else { return Ok(None) };
        if key == "workload" && matches!(entry.node.value, Value::Table(_)) {
            let help = "a sweep names its workloads: workload = [\"mixed-70-30\"], or a TOML file with this table; \
                        `copyback run` takes an experiment";
            return Err(refuse("`[workload]` is a table of an experiment".to_owned(), help, &entry.node.place));
        }
        let wrong = |node: &Node| {
            refuse(format!("{} must be a list of texts", self.path(key)), "write [\"one\", \"two\"]", &node.place)
        };
        let nodes = self.list(key, &entry.node)?;
        nodes.iter().map(|node| node.text().ok_or_else(|| wrong(node))).collect::<Result<_, _>>().map(Some)
    }

    /// Takes a list of texts, which may be empty, or one text.
    pub fn take_texts_or_none(&mut self, key: &'static str) -> Result<Option<Vec<Located>>, LayerError> {
        let is_empty = |entry: &Entry| matches!(&entry.node.value, Value::List(nodes) if nodes.is_empty());
        if self.entries.iter().any(|entry| entry.key == key && is_empty(entry)) {
            self.take(key);
            return Ok(Some(Vec::new()));
        }
        self.take_texts(key)
    }

    /// Takes a whole number.
    pub fn take_number(&mut self, key: &'static str, least: u64) -> Result<Option<u64>, LayerError> {
        let Some(entry) = self.take(key) else { return Ok(None) };
        self.number(key, &entry.node, least).map(Some)
    }

    /// Takes a warm-up: a number of requests, a time, or a word.
    pub fn take_warmup(&mut self) -> Result<Option<Warmup>, LayerError> {
        let Some(entry) = self.take("warmup") else { return Ok(None) };
        let wrong =
            |message: String| LayerError::new(format!("{}: {message}", self.path("warmup"))).with_help(Warmup::FORMS);
        let warmup = Warmup::of_toml(&entry.node.plain()).map_err(wrong);
        warmup.map(Some).map_err(|error| error.at(Some(entry.node.place)))
    }

    /// Takes a list of different whole numbers that is not empty, or one number.
    pub fn take_numbers(&mut self, key: &'static str) -> Result<Option<Vec<u64>>, LayerError> {
        let Some(entry) = self.take(key) else { return Ok(None) };
        let (mut numbers, mut seen) = (Vec::new(), BTreeSet::new());
        for node in self.list(key, &entry.node)? {
            let number = self.number(key, &node, 0)?;
            if !seen.insert(number) {
                let message =
                    format!("{} has {number} twice: its cells would be run and counted twice", self.path(key));
                return Err(refuse(message, "name each number once", &node.place));
            }
            numbers.push(number);
        }
        Ok(Some(numbers))
    }

    fn number(&self, key: &str, node: &Node, least: u64) -> Result<u64, LayerError> {
        let number = match node.value {
            Value::Leaf(toml::Value::Integer(number)) => u64::try_from(number).ok().filter(|number| *number >= least),
            _ => None,
        };
        let message = || format!("{} must be a whole number, {least} or more", self.path(key));
        number.ok_or_else(|| refuse(message(), "write digits only, without quotes", &node.place))
    }

    /// Takes a number.
    pub fn take_float(&mut self, key: &'static str) -> Result<Option<f64>, LayerError> {
        let Some(entry) = self.take(key) else { return Ok(None) };
        match entry.node.value {
            Value::Leaf(toml::Value::Integer(number)) => Ok(Some(number as f64)),
            Value::Leaf(toml::Value::Float(number)) if number.abs() <= FIGURE_MAX => Ok(Some(number)),
            Value::Leaf(toml::Value::Float(number)) if number.is_finite() => Err(refuse(
                format!("{} is {number:e}, more than any run measures", self.path(key)),
                &format!("write a number of at most {FIGURE_MAX:e}, above or below zero"),
                &entry.node.place,
            )),
            _ => Err(refuse(
                format!("{} must be a number", self.path(key)),
                "write for example -29.44",
                &entry.node.place,
            )),
        }
    }

    /// Takes a truth value.
    pub fn take_bool(&mut self, key: &'static str) -> Result<Option<bool>, LayerError> {
        let Some(entry) = self.take(key) else { return Ok(None) };
        match entry.node.value {
            Value::Leaf(toml::Value::Boolean(is)) => Ok(Some(is)),
            _ => Err(refuse(
                format!("{} must be true or false", self.path(key)),
                "write true or false",
                &entry.node.place,
            )),
        }
    }

    /// Takes a table.
    pub fn take_table(&mut self, key: &'static str) -> Result<Option<Table>, LayerError> {
        let Some(entry) = self.take(key) else { return Ok(None) };
        match entry.node.value {
            Value::Table(table) => Ok(Some(table.named(format!("[{key}]")))),
            _ => {
                let help = format!("write [{key}] and its keys below");
                Err(refuse(format!("{} must be a table", self.path(key)), &help, &entry.node.place))
            }
        }
    }

    /// Takes a list of tables; empty if it is missing.
    pub fn take_tables(&mut self, key: &'static str) -> Result<Vec<Table>, LayerError> {
        let Some(entry) = self.take(key) else { return Ok(Vec::new()) };
        let wrong = |place: &TextSpan| {
            let help = format!("write [[{key}]] and its keys below");
            refuse(format!("{} must be a list of tables", self.path(key)), &help, place)
        };
        let Value::List(nodes) = entry.node.value else { return Err(wrong(&entry.node.place)) };
        let table = |node: Node| match node.value {
            Value::Table(table) => Ok(table.named(format!("[[{key}]]"))),
            _ => Err(wrong(&node.place)),
        };
        nodes.into_iter().map(table).collect()
    }

    fn named(self, name: String) -> Self {
        Self { name, ..self }
    }

    /// The elements of a list, or the value itself; an empty list leaves no cell.
    fn list(&self, key: &str, node: &Node) -> Result<Vec<Node>, LayerError> {
        node.elements().ok_or_else(|| {
            refuse(
                format!("{} is empty: the grid has no cell", self.path(key)),
                "name one, or remove the key",
                &node.place,
            )
        })
    }

    /// The error if a text that the table needs is missing.
    pub fn lacks(&self, key: &str) -> LayerError {
        let help = format!("add a line such as {key} = \"text\" to it");
        refuse(format!("{} is missing", self.path(key)), &help, &self.place)
    }

    /// Refuses keys that were not taken.
    pub fn finish(&self) -> Result<(), LayerError> {
        let Some(entry) = self.entries.first() else { return Ok(()) };
        let kind = if self.name.is_empty() { "keys of a sweep".to_owned() } else { format!("keys of {}", self.name) };
        let known = self.known.iter().copied();
        let error = LayerError::new(format!("unknown key {}", self.path(&entry.key)));
        Err(error.with_help(suggestion(&entry.key, &kind, known)).at(Some(entry.key_place.clone())))
    }
}

impl Node {
    fn of(text: &Arc<Text>, key: &str, value: toml::Spanned<DeValue<'_>>) -> Result<Self, LayerError> {
        let place = TextSpan { text: text.clone(), span: value.span() };
        let value = match value.get_ref() {
            DeValue::Table(_) => {
                let DeValue::Table(inner) = value.into_inner() else { unreachable!("it was a table above") };
                Value::Table(Table::of(text, format!("[{key}]"), place.clone(), inner)?)
            }
            DeValue::Array(_) => {
                let DeValue::Array(inner) = value.into_inner() else { unreachable!("it was a list above") };
                Value::List(inner.into_iter().map(|node| Self::of(text, key, node)).collect::<Result<_, _>>()?)
            }
            _ => {
                let leaf = toml::Value::deserialize(toml::de::ValueDeserializer::from(value));
                let wrong = |error: toml::de::Error| no_toml(&error).at(Some(place.clone()));
                Value::Leaf(leaf.map_err(wrong)?)
            }
        };
        Ok(Self { place, value })
    }

    fn text(&self) -> Option<Located> {
        match &self.value {
            Value::Leaf(toml::Value::String(text)) => {
                Some(Located { value: text.clone(), place: Some(self.place.clone()) })
            }
            _ => None,
        }
    }

    /// The elements of a list, or the value itself; `None` if the list is empty.
    pub fn elements(&self) -> Option<Vec<Node>> {
        match &self.value {
            Value::List(nodes) if nodes.is_empty() => None,
            Value::List(nodes) => Some(nodes.clone()),
            _ => Some(vec![self.clone()]),
        }
    }

    /// The value without places.
    pub fn plain(&self) -> toml::Value {
        match &self.value {
            Value::Leaf(value) => value.clone(),
            Value::List(nodes) => toml::Value::Array(nodes.iter().map(Self::plain).collect()),
            Value::Table(table) => {
                toml::Value::Table(table.entries.iter().map(|e| (e.key.clone(), e.node.plain())).collect())
            }
        }
    }
}
