//! TOML as a tree in which every key and value knows its place.

use super::{LayerError, Place, Text};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use toml::de::{DeTable, DeValue};

/// Keys in the order of the alphabet.
pub(super) type Table = BTreeMap<String, Entry>;

/// A key and its value.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// Where the key stands.
    pub key: Place,
    /// Where the value stands.
    pub value: Place,
    /// The value.
    pub node: Node,
}

impl Entry {
    /// Whether it is a table without keys.
    pub fn is_empty_table(&self) -> bool {
        matches!(&self.node, Node::Table(inner) if inner.is_empty())
    }
}

/// A value: a table that layers merge key by key, or anything else, which they replace whole.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Leaf(toml::Value),
    Table(Table),
}

/// Reads a text.
pub(super) fn parse(text: &Arc<Text>) -> Result<Table, LayerError> {
    let parsed = DeTable::parse(&text.text).map_err(|error| LayerError {
        message: format!("this is not TOML: {}", error.message()),
        help: None,
        place: error.span().map(|span| Place { text: text.clone(), span }),
    })?;
    table(text, parsed.into_inner())
}

fn table(text: &Arc<Text>, from: DeTable<'_>) -> Result<Table, LayerError> {
    let mut table = Table::new();
    for (key, value) in from {
        let (key_span, value_span) = (key.span(), value.span());
        let place = |span| Place { text: text.clone(), span };
        let node =
            match value.get_ref() {
                DeValue::Table(_) => {
                    let DeValue::Table(inner) = value.into_inner() else { unreachable!("it was a table above") };
                    Node::Table(self::table(text, inner)?)
                }
                _ => {
                    let deserializer = toml::de::ValueDeserializer::from(value);
                    Node::Leaf(toml::Value::deserialize(deserializer).map_err(|error| {
                        LayerError::new(error.message().to_owned()).at(Some(place(value_span.clone())))
                    })?)
                }
            };
        let entry = Entry { key: place(key_span), value: place(value_span), node };
        table.insert(key.into_inner().into_owned(), entry);
    }
    Ok(table)
}

/// The entry at a dotted path.
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
