//! Finds the key and the place that an error of the deserialiser means.
//!
//! Policies are internally tagged enums, and these do not report the position of an error inside them. The position is
//! therefore found by decoding again, with more and more of the keys: the key at fault is the first that brings the
//! error.

use super::decode::user_place;
use super::merge::tag;
use super::tree::{Items, Node, Table};
use super::wording::wording;
use super::{Configuration, LayerError, TextSpan};
use serde::Deserialize;

/// The error of decoding a table as `T`, if there is one.
pub(super) fn fails<T: for<'de> Deserialize<'de>>(values: toml::Table) -> Option<String> {
    T::deserialize(values).err().map(|error| error.message().to_owned())
}

/// Decodes a table, and returns the deserialiser's message.
pub(super) type Fails<'a> = &'a dyn Fn(toml::Table) -> Option<String>;

/// One step from a table or a list to what is in it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    Key(String),
    Item(usize),
}

/// The steps as a key of the configuration, with dots; the items of lists have no names.
pub(super) fn dotted(above: &[&str], path: &[Step]) -> String {
    let keys = path.iter().filter_map(|step| match step {
        Step::Key(key) => Some(key.as_str()),
        Step::Item(_) => None,
    });
    above.iter().copied().chain(keys).collect::<Vec<_>>().join(".")
}

/// The value at the end of a path.
pub(super) fn at<'v>(values: &'v toml::Table, path: &[Step]) -> Option<Value<'v>> {
    path.iter().try_fold(Value::Table(values), |value, step| match (value, step) {
        (Value::Table(table), Step::Key(key)) => table.get(key).map(Value::of),
        (Value::Other(toml::Value::Array(list)), Step::Item(item)) => list.get(*item).map(Value::of),
        _ => None,
    })
}

/// A table, or another value.
#[derive(Clone, Copy)]
pub(super) enum Value<'v> {
    Table(&'v toml::Table),
    Other(&'v toml::Value),
}

impl<'v> Value<'v> {
    fn of(value: &'v toml::Value) -> Self {
        match value {
            toml::Value::Table(table) => Self::Table(table),
            other => Self::Other(other),
        }
    }

    /// The table, if the value is one.
    pub fn as_table(self) -> Option<&'v toml::Table> {
        match self {
            Self::Table(table) => Some(table),
            Self::Other(_) => None,
        }
    }
}

/// The values, with the table at the end of a path changed.
pub(super) fn with_table(
    values: &toml::Table,
    path: &[Step],
    change: impl FnOnce(&mut toml::Table),
) -> Option<toml::Table> {
    let mut values = values.clone();
    match path.split_last() {
        None => change(&mut values),
        Some(_) => change(value_at(&mut values, path)?.as_table_mut()?),
    }
    Some(values)
}

/// The value at the end of a path of one step or more.
fn value_at<'v>(values: &'v mut toml::Table, path: &[Step]) -> Option<&'v mut toml::Value> {
    let (Step::Key(first), rest) = path.split_first()? else { return None };
    rest.iter().try_fold(values.get_mut(first)?, |value, step| match step {
        Step::Key(key) => value.get_mut(key),
        Step::Item(item) => value.get_mut(*item),
    })
}

/// Finds the key at fault and describes the fault.
pub(super) fn explain<C: Configuration>(
    root: &Table,
    message: &str,
    values: &toml::Table,
    above: &[&str],
    fails: Fails<'_>,
) -> LayerError {
    let mut path = Vec::new();
    let mut first = values.clone();
    while let Some(next) = culprit::<C>(message, &first, &path, above, fails) {
        leave_out_later::<C>(message, &mut first, &path, above, &next);
        path.push(next);
    }
    if let Some(field) = missing_field(message) {
        path.truncate(depth_of_gap(message, field, &first, &path, fails));
    }
    let is_key = message.starts_with("unknown field") || message.starts_with("missing field");
    let place = place_of(root, &path, is_key).and_then(|place| user_place(&place));
    wording::<C>(&path, message, values, above, fails).at(place)
}

/// The place of the last step of a path that has one: its key, or its value.
fn place_of(root: &Table, path: &[Step], is_key: bool) -> Option<TextSpan> {
    let (mut table, mut place) = (root, None);
    for (depth, step) in path.iter().enumerate() {
        let Step::Key(name) = step else { break };
        let Some(entry) = table.get(name) else { break };
        place = Some(if is_key { &entry.key } else { &entry.value }.clone());
        match &entry.node {
            Node::Table(inner) => table = inner,
            Node::Leaf(_) => return entry.items.place_of(&path[depth + 1..], is_key).cloned().or(place),
        }
    }
    place
}

/// The step from the value at the end of a path to the part of it that causes the error. The message of a missing key
/// does not depend on the order of decoding. The key is therefore in the part without which the error changes.
fn culprit<C: Configuration>(
    message: &str,
    values: &toml::Table,
    path: &[Step],
    above: &[&str],
    fails: Fails<'_>,
) -> Option<Step> {
    let table = match at(values, path)? {
        Value::Table(table) => table,
        Value::Other(toml::Value::Array(list)) => return item(message, list, values, path, fails),
        Value::Other(_) => return None,
    };
    let here = dotted(above, path);
    let here: Vec<&str> = if here.is_empty() { Vec::new() } else { here.split('.').collect() };
    let tag = tag::<C>(&here);
    let others: Vec<&String> = table.keys().filter(|key| Some(key.as_str()) != tag).collect();
    let without = |removed: &[&String]| {
        let values = with_table(values, path, |table| removed.iter().for_each(|key| _ = table.remove(key.as_str())))?;
        fails(values)
    };
    let brings = |removed: &[&String]| without(removed).as_deref() == Some(message);
    let tag = || table.keys().find(|key| Some(key.as_str()) == tag);
    if missing_field(message).is_some() {
        let is_needed = |key: &&String| !brings(&[*key]);
        return others
            .iter()
            .copied()
            .find(is_needed)
            .or_else(|| tag().filter(is_needed))
            .map(|key| Step::Key(key.clone()));
    }
    // The tag determines which other keys are possible, so it is tried first, and stays in all later trials.
    if brings(&others) {
        return tag().filter(|tag| !brings(&[&others[..], &[*tag][..]].concat())).map(|key| Step::Key(key.clone()));
    }
    (1..=others.len()).find(|taken| brings(&others[*taken..])).map(|taken| Step::Key(others[taken - 1].clone()))
}

/// Leaves out what is decoded after a step: it can have the same mistake.
fn leave_out_later<C: Configuration>(
    message: &str,
    values: &mut toml::Table,
    path: &[Step],
    above: &[&str],
    step: &Step,
) {
    let table = match (step, path.is_empty()) {
        (Step::Item(item), _) => {
            if let Some(toml::Value::Array(list)) = value_at(values, path) {
                list.truncate(item + 1);
            }
            return;
        }
        (Step::Key(_), true) => Some(values),
        (Step::Key(_), false) => value_at(values, path).and_then(toml::Value::as_table_mut),
    };
    // Missing keys are found in another order.
    let (Some(table), Step::Key(key), None) = (table, step, missing_field(message)) else { return };
    let here = dotted(above, path);
    let tag = tag::<C>(&here.split('.').filter(|name| !name.is_empty()).collect::<Vec<_>>());
    let others: Vec<String> = table.keys().filter(|key| Some(key.as_str()) != tag).cloned().collect();
    let later = others.iter().position(|other| other == key).map_or(0, |at| at + 1);
    others[later..].iter().for_each(|other| _ = table.remove(other));
}

/// The item of a list that brings the error; none if its length does.
fn item(message: &str, list: &[toml::Value], values: &toml::Table, path: &[Step], fails: Fails<'_>) -> Option<Step> {
    let brings = |taken: &usize| {
        let mut values = values.clone();
        if let Some(toml::Value::Array(list)) = value_at(&mut values, path) {
            list.truncate(*taken);
        }
        fails(values).as_deref() == Some(message)
    };
    if message.starts_with("invalid length") || brings(&0) {
        return None;
    }
    (1..=list.len()).find(brings).map(|taken| Step::Item(taken - 1))
}

/// The key that a message finds missing.
pub(super) fn missing_field(message: &str) -> Option<&str> {
    message.strip_prefix("missing field `")?.split('`').next()
}

/// How many steps of the path lead to the table that lacks the key. In this table, and in no other, adding the key
/// changes the error. Without this search, a sibling of the key would be named, because its removal also changes the
/// error.
fn depth_of_gap(message: &str, field: &str, values: &toml::Table, path: &[Step], fails: Fails<'_>) -> usize {
    let is_gap = |depth: &usize| {
        let with = with_table(values, &path[..*depth], |table| {
            table.insert(field.to_owned(), toml::Value::from(""));
        });
        let Some(with) = with else { return false };
        fails(with).is_none_or(|error| error != message && !error.starts_with("unknown field"))
    };
    (0..=path.len()).rev().find(is_gap).unwrap_or(path.len())
}

impl Items {
    /// The place of what is at the end of a path: its key, or its value. An item of a list is its own place.
    fn place_of(&self, path: &[Step], is_key: bool) -> Option<&TextSpan> {
        let (step, rest) = path.split_first()?;
        let (place, inner) = match (self, step) {
            (Self::List(list), Step::Item(item)) => list.get(*item).map(|(place, inner)| (place, inner))?,
            (Self::Table(table), Step::Key(name)) => {
                let (key, value, inner) = table.get(name)?;
                (if is_key { key } else { value }, inner)
            }
            _ => return None,
        };
        inner.place_of(rest, is_key).or(Some(place))
    }
}
