//! The deserialiser's errors in the words of users: what is wrong, what is allowed, what to do.

use super::fault::{Fails, Step, Value, at, dotted, missing_field, with_table};
use super::merge::tag;
use super::names::list_of;
use super::{Configuration, LayerError, suggestion};
use crate::config::PageTimes;
use crate::config::presets::DEVICES;
use copyback_workload::units::Nanos;
use serde::Deserialize;

/// The error in the words of a user rather than of the deserialiser.
pub(super) fn wording<C: Configuration>(
    steps: &[Step],
    message: &str,
    values: &toml::Table,
    above: &[&str],
    fails: Fails<'_>,
) -> LayerError {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let path = &*dotted(above, steps);
    let (table, key) = path.rsplit_once('.').unwrap_or(("", path));
    let value = at(values, steps);
    if message.starts_with("unknown field") {
        return unknown_key::<C>(path, steps, quoted.get(1..).unwrap_or_default(), values, fails);
    }
    if message.starts_with("unknown variant") {
        let word = quoted.first().copied().unwrap_or_default();
        let known = quoted.iter().skip(1).copied();
        let error = LayerError::new(format!("`{path}` cannot be `{word}`"));
        return error.with_help(suggestion(word, "choices", known));
    }
    if let Some(field) = missing_field(message) {
        if is_in_list(steps) {
            let error = LayerError::new(format!("`{field}` is missing in `[[{path}]]`"));
            return error.with_help(format!("add it to each [[{path}]]"));
        }
        let error = LayerError::new(format!("`{path}.{field}` is missing"));
        return error.with_help(format!("add it to [{path}]{}", example(path, field)));
    }
    if ["expected struct ", "expected internally tagged enum ", "expected a map"].iter().any(|e| message.contains(e)) {
        let error = LayerError::new(format!("`{path}` is a table, not a value"));
        return error.with_help(match path {
            "trigger.idle" => "write for example trigger.idle = { after = \"10 ms\" }".into(),
            _ if is_in_list(steps) || matches!(value, Some(Value::Other(toml::Value::Array(_)))) => {
                format!("write [[{path}]] and its keys below, or {path} = [{{ key = value }}]")
            }
            _ => format!("write [{path}] and its keys below, or {path} = {{ key = value }}"),
        });
    }
    if ["expected string or map", "expected string only"].iter().any(|expected| message.contains(expected)) {
        let value = shown(value);
        return LayerError::new(format!("`{path}`: {value} is not the name of a choice"))
            .with_help("write a name in quotes; for an unknown name, the error lists all choices");
    }
    if let Some((better, help)) = untagged(key, message, value) {
        return LayerError::new(format!("`{path}`: {}", better.trim_end())).with_help(help);
    }
    if let Some(share) = share_of_percent(value).filter(|_| message.contains("expected f64")) {
        let error = LayerError::new(format!("`{path}`: {} is a text, and a share is a number", shown(value)));
        return error.with_help(format!("write {key} = {share}"));
    }
    let plain = EXPECTED.iter().fold(message.trim_end().to_owned(), |text, (rust, words, _)| text.replace(rust, words));
    LayerError::new(format!("`{path}`: {plain}")).with_help(remedy(table, key, message))
}

/// Whether a path ends in an item of a list.
fn is_in_list(steps: &[Step]) -> bool {
    matches!(steps.last(), Some(Step::Item(_)))
}

/// The error for an unknown key; `known`: the keys that the deserialiser lists.
fn unknown_key<C: Configuration>(
    path: &str,
    steps: &[Step],
    known: &[&str],
    values: &toml::Table,
    fails: Fails<'_>,
) -> LayerError {
    let (table, key) = path.rsplit_once('.').unwrap_or(("", path));
    let inner = steps.split_last().map_or(steps, |(_, inner)| inner);
    let header = if is_in_list(inner) { format!("[[{table}]]") } else { format!("[{table}]") };
    let chosen_by = |own: &str| at(values, inner).and_then(Value::as_table)?.get(own).cloned();
    let own = tag::<C>(&table.split('.').collect::<Vec<_>>()).filter(|tag| Some(*tag) != Some("kind"));
    let own = own.filter(|own| chosen_by(own).is_some());
    let inside = tables_with((own, key), known.iter().copied(), values, inner, fails);
    let keys = own.into_iter().chain(known.iter().copied());
    let help = match inside.is_empty() {
        true => suggestion(key, "keys", keys),
        false => format!("did you mean {}? {}", inside.join(" or "), list_of("keys", keys)),
    };
    let error = LayerError::new(format!("unknown key `{key}` in `{header}`"));
    let Some((own, toml::Value::String(chosen))) = own.and_then(|own| Some((own, chosen_by(own)?))) else {
        return error.with_help(help);
    };
    let having = choices_with(own, key, values, inner, fails);
    if having.is_empty() {
        return error.with_help(help);
    }
    let names = having.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    let message = format!("unknown key `{key}` in `[{table}]`, whose `{own}` is \"{chosen}\"");
    let choose = format!("remove it, or set `{table}.{own}` to a choice that has this key: {names}");
    LayerError::new(message).with_help(format!("{choose}; {help}"))
}

/// What the deserialiser expects, the words for it, and the form of a value that it takes.
const EXPECTED: &[(&str, &str, &str)] = &[
    ("expected u8", "expected a whole number up to 255", "2"),
    ("expected u16", "expected a whole number up to 65535", "4"),
    ("expected u32", "expected a whole number up to 4294967295", "4"),
    ("expected u64", "expected a whole number", "4"),
    ("expected usize", "expected a whole number", "4"),
    ("expected f64", "expected a number", "0.5"),
    ("expected a string", "expected a text", "\"text\""),
    ("expected path string", "expected a file's name", "\"file\""),
    ("expected a boolean", "expected true or false", "true"),
    ("expected a sequence", "expected a list", "[VALUE, VALUE]"),
    ("expected an array of length 2", "expected a list of two values", "[VALUE, VALUE]"),
];

/// The help for a value of another type.
fn remedy(table: &str, key: &str, message: &str) -> String {
    if let Some(value) = value_of_device(table, key) {
        return format!("write for example {key} = {value}");
    }
    match EXPECTED.iter().find(|(rust, ..)| message.contains(rust)) {
        Some((.., form)) if form.starts_with('"') => format!("write it in quotes: {key} = {form}"),
        Some((.., form)) if form.starts_with('[') => format!("write it in brackets: {key} = {form}"),
        Some((.., form)) => format!(
            "write {} without quotes, for example {key} = {form}",
            if form.parse::<u32>().is_ok() { "digits only," } else { "it" }
        ),
        None => format!("correct the value of `{key}`, or remove the key to keep its default"),
    }
}

/// The share that a text in per cent means: 0.2 of "20 %".
fn share_of_percent(value: Option<Value<'_>>) -> Option<f64> {
    let Some(Value::Other(toml::Value::String(text))) = value else { return None };
    let percent: f64 = text.trim().strip_suffix('%')?.trim().parse().ok()?;
    // The digits of the text, not those of a division.
    percent.is_finite().then(|| (percent * 1e10).round() / 1e12)
}

/// A value as a file has it.
fn shown(value: Option<Value<'_>>) -> String {
    match value {
        Some(Value::Table(table)) => toml::Value::Table(table.clone()).to_string(),
        Some(Value::Other(value)) => value.to_string(),
        None => String::new(),
    }
}

/// A name that no key and no choice has.
const NO_NAME: &str = "\u{0}";

/// The choices of a table under which it has a key. `own`: the key of the table that chooses.
fn choices_with(own: &str, key: &str, values: &toml::Table, path: &[Step], fails: Fails<'_>) -> Vec<String> {
    let with = |entries: &[(&str, &str)]| {
        let entries = entries.iter().map(|(key, value)| ((*key).to_owned(), toml::Value::from(*value)));
        fails(with_table(values, path, |table| *table = entries.collect())?)
    };
    let quoted = |message: String| message.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    // The deserialiser lists what it would take instead of a name that it does not know.
    let choices = with(&[(own, NO_NAME)]).map(quoted).unwrap_or_default();
    let has_key = |choice: &String| {
        let keys = with(&[(own, choice), (NO_NAME, "")]).filter(|message| message.starts_with("unknown field"));
        keys.map(quoted).is_some_and(|keys| keys.iter().skip(1).any(|known| known == key))
    };
    choices.into_iter().skip(1).filter(has_key).collect()
}

/// Most tables that are suggested for a key.
const TABLES_MAX: usize = 3;

/// The tables in a table that have a key, each with the key: `addresses.theta`. `own`: the key of the table that
/// chooses, if it has one; `known`: its keys.
fn tables_with<'a>(
    (own, key): (Option<&str>, &str),
    known: impl Iterator<Item = &'a str>,
    values: &toml::Table,
    path: &[Step],
    fails: Fails<'_>,
) -> Vec<String> {
    let keys_below = |name: &str| {
        let no_key = toml::Table::from_iter([(NO_NAME.to_owned(), "".into())]);
        let below = (name.to_owned(), toml::Value::Table(no_key));
        let message = fails(with_table(values, path, |table| {
            table.retain(|known, _| own.is_some_and(|own| own == known));
            table.extend([below]);
        })?)?;
        let quoted = || message.split('`').skip(1).step_by(2);
        // The deserialiser lists the keys of the table that the name leads to.
        let is_below = message.starts_with("unknown field") && quoted().next() == Some(NO_NAME);
        is_below.then(|| quoted().skip(1).any(|known| known == key))
    };
    let found = known.filter(|name| keys_below(name) == Some(true)).map(|name| format!("`{name}.{key}`"));
    found.take(TABLES_MAX).collect()
}

/// The first device's form of a key, if it has one.
fn example(table: &str, key: &str) -> String {
    value_of_device(table, key).map(|value| format!(", for example {key} = {value}")).unwrap_or_default()
}

/// The first device's value of a key.
fn value_of_device(table: &str, key: &str) -> Option<toml::Value> {
    let device: toml::Table = DEVICES.first().and_then(|device| device.text.parse().ok())?;
    device.get(table)?.get(key).cloned()
}

/// Values of one of several types: what is wrong, and what helps.
fn untagged(key: &str, message: &str, value: Option<Value<'_>>) -> Option<(String, String)> {
    let kind = message.strip_prefix("data did not match any variant of untagged enum ")?;
    match kind {
        "ShareOrCount" => Some((
            format!("{} is neither a share nor a number of blocks", shown(value)),
            match share_of_percent(value) {
                Some(share) => format!("write {key} = {share}"),
                None => "use a share of the blocks such as 0.05, or a number of them such as 128".into(),
            },
        )),
        "PageTimes" => {
            debug_assert!(std::any::type_name::<PageTimes>().ends_with(kind));
            let one = |value: &toml::Value| Nanos::deserialize(value.clone()).err().map(|e| e.message().to_owned());
            let times = match value {
                Some(Value::Other(toml::Value::Array(list))) => list.iter().find_map(one),
                Some(Value::Other(single)) => one(single),
                _ => None,
            };
            let times = times.unwrap_or_else(|| format!("{} is neither a time nor a list of times", shown(value)));
            Some((times, format!("write {key} = \"50 us\", or a list with a time for each kind of page")))
        }
        _ => None,
    }
}
