//! TOML as a tree; every key and value has its place in the text.

use super::{LayerError, Text, TextSpan};
use copyback_workload::printable::{is_unprintable, printable};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Keys in the order of the alphabet.
pub(super) type Table = BTreeMap<String, Entry>;

/// A key and its value.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// The place of the key.
    pub key: TextSpan,
    /// The place of the value.
    pub value: TextSpan,
    /// The value.
    pub node: Node,
    /// The places of what is in it, if it is a list.
    pub items: Items,
}

/// The places of what is in a list, to any depth.
#[derive(Clone, Debug, Default)]
pub(super) enum Items {
    /// It is no list, or its places are not known.
    #[default]
    None,
    /// The place of each item, and those in it.
    List(Vec<(TextSpan, Items)>),
    /// By key: the places of the key and of its value, and those in it.
    Table(BTreeMap<String, (TextSpan, TextSpan, Items)>),
}

impl Items {
    fn of(text: &Arc<Text>, value: &DeValue<'_>) -> Self {
        let place = |span| TextSpan { text: text.clone(), span };
        match value {
            DeValue::Array(items) => {
                Self::List(items.iter().map(|item| (place(item.span()), Self::of(text, item.get_ref()))).collect())
            }
            DeValue::Table(table) => {
                let places = |key: Range<usize>, value: &Spanned<DeValue<'_>>| {
                    (place(key), place(value.span()), Self::of(text, value.get_ref()))
                };
                Self::Table(
                    table.iter().map(|(key, value)| (key.get_ref().to_string(), places(key.span(), value))).collect(),
                )
            }
            _ => Self::None,
        }
    }
}

impl Entry {
    /// Whether it is a table without keys.
    pub fn is_empty_table(&self) -> bool {
        matches!(&self.node, Node::Table(inner) if inner.is_empty())
    }
}

/// A value: a table, which layers merge key by key, or another value, which they replace as a whole.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Leaf(toml::Value),
    Table(Table),
}

/// Reads a text.
pub(super) fn parse(text: &Arc<Text>) -> Result<Table, LayerError> {
    let parsed = DeTable::parse(&text.text)
        .map_err(|error| no_toml(&error).at(error.span().map(|span| TextSpan { text: text.clone(), span })))?;
    table(text, parsed.into_inner())
}

/// The error of a text that the parser does not take, without its place.
pub fn no_toml(error: &toml::de::Error) -> LayerError {
    if let Some((_, behind)) = error.message().split_once("invalid type: integer `") {
        let number = behind.split('`').next().unwrap_or_default();
        return LayerError::new(format!("the number {number} is too large"))
            .with_help("whole numbers end at 9223372036854775807");
    }
    LayerError::new(format!("this is not TOML: {}", error.message()))
        .with_help("write `key = value` lines below a `[table]`, and quotes around a text")
}

/// Refuses a key, or a value of one, with characters that would change what a terminal shows. A text may have line ends
/// and tabs, a name may not.
///
/// # Errors
/// The character and its place.
pub fn check_printable(key: &str, value: &DeValue<'_>, [key_place, place]: [&TextSpan; 2]) -> Result<(), LayerError> {
    let refuse = |what: &str, c: char, place: &TextSpan| {
        let character = u32::from(c);
        LayerError::new(format!("{what} has the control character U+{character:04X}"))
            .with_help("remove it")
            .at(Some(place.clone()))
    };
    if let Some(c) = key.chars().find(|c| is_unprintable(*c)) {
        return Err(refuse(&format!("the key `{}`", printable(key)), c, key_place));
    }
    let is_wrong = |c: &char| is_unprintable(*c) && (key == "name" || !['\n', '\r', '\t'].contains(c));
    match value {
        DeValue::String(text) => match text.chars().find(is_wrong) {
            Some(c) => Err(refuse(&format!("`{key}`"), c, place)),
            None => Ok(()),
        },
        DeValue::Array(items) => items.iter().try_for_each(|item| match item.get_ref() {
            // Other tables are checked where they are read, with their own places.
            DeValue::Table(inner) => inner
                .iter()
                .try_for_each(|(key, value)| check_printable(key.get_ref(), value.get_ref(), [place, place])),
            item => check_printable(key, item, [key_place, place]),
        }),
        _ => Ok(()),
    }
}

fn table(text: &Arc<Text>, from: DeTable<'_>) -> Result<Table, LayerError> {
    let mut table = Table::new();
    for (key, value) in from {
        let (key_span, value_span) = (key.span(), value.span());
        let place = |span| TextSpan { text: text.clone(), span };
        check_printable(key.get_ref(), value.get_ref(), [&place(key_span.clone()), &place(value_span.clone())])?;
        let items = match value.get_ref() {
            list @ DeValue::Array(_) => Items::of(text, list),
            _ => Items::None,
        };
        let node = match value.get_ref() {
            DeValue::Table(_) => {
                let DeValue::Table(inner) = value.into_inner() else { unreachable!("it was a table above") };
                Node::Table(self::table(text, inner)?)
            }
            _ => {
                let deserializer = toml::de::ValueDeserializer::from(value);
                Node::Leaf(
                    toml::Value::deserialize(deserializer)
                        .map_err(|error| no_toml(&error).at(Some(place(value_span.clone()))))?,
                )
            }
        };
        let entry = Entry { key: place(key_span), value: place(value_span), node, items };
        table.insert(key.into_inner().into_owned(), entry);
    }
    Ok(table)
}

/// The entry at a dotted path.
pub(super) fn find<'t>(root: &'t Table, path: &str) -> Option<&'t Entry> {
    let Some((first, rest)) = path.split_once('.') else { return root.get(path) };
    match &root.get(first)?.node {
        Node::Table(inner) => find(inner, rest),
        Node::Leaf(_) => None,
    }
}

/// The entry at a dotted path, mutable.
pub(super) fn find_mut<'t>(root: &'t mut Table, path: &str) -> Option<&'t mut Entry> {
    let Some((first, rest)) = path.split_once('.') else { return root.get_mut(path) };
    match &mut root.get_mut(first)?.node {
        Node::Table(inner) => find_mut(inner, rest),
        Node::Leaf(_) => None,
    }
}

/// The values without their places.
pub(super) fn plain(table: &Table) -> toml::Table {
    let value = |entry: &Entry| match &entry.node {
        Node::Leaf(value) => value.clone(),
        Node::Table(inner) => toml::Value::Table(plain(inner)),
    };
    table.iter().map(|(key, entry)| (key.clone(), value(entry))).collect()
}
