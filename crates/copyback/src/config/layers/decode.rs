//! From a tree to a configuration, with the exact place of what does not fit.
//!
//! Policies are internally tagged enums, and these do not report the position of an error inside them. The position is
//! therefore found by decoding again: the key at fault is the one without which the error changes.

use super::merge::tag;
use super::tree::{Entry, Node, Table, plain};
use super::{Configuration, LayerError, Place, Resolved, WORKLOADS, nearest, suggestion, tables};
use crate::config::presets::DEVICES;
use crate::config::{PageTimes, renamed};
use copyback_workload::spec::{Tenant, WorkloadSpec};
use copyback_workload::tenants::Tenants;
use copyback_workload::units::Nanos;
use serde::Deserialize;

/// Name of the lowest layer.
pub(super) const BUILT_IN: &str = "built-in defaults";

/// The least that a configuration needs; everything else has a default.
const LEAST: &str = r#"
geometry = { channels = 1, chips_per_channel = 1, dies_per_chip = 1, planes_per_die = 1, blocks_per_plane = 8,
             pages_per_block = 1, page_size = 4096 }
timing = { read = "1 us", program = "1 us", erase = "1 us", channel = "1 MB/s" }
capacity = { over_provisioning = 1.0 }
"#;

/// Every table that has defaults, with them.
pub(super) fn defaults<C: Configuration>() -> String {
    // By way of a table, as any other configuration: each way is compiled for all types of a configuration.
    let least: toml::Table = LEAST.parse().expect("the text above is TOML");
    let least = C::deserialize(least).expect("the text above is a configuration");
    let mut table = toml::Table::try_from(&least).expect("a configuration holds what TOML can say");
    for device_table in ["geometry", "timing", "capacity"] {
        table.remove(device_table);
    }
    table.to_string()
}

/// The place at which a key was set, or the nearest table around it; `None` if only the defaults set it.
pub(super) fn place_of(root: &Table, key: &str) -> Option<Place> {
    let mut table = root;
    let mut place = None;
    for name in key.split('.') {
        let Some(entry) = table.get(name) else { break };
        place = match &entry.node {
            Node::Leaf(_) => return seen(&entry.value),
            Node::Table(_) => seen(&entry.key),
        };
        let Node::Table(inner) = &entry.node else { break };
        table = inner;
    }
    place
}

/// The place, unless it is in the built-in defaults.
pub(super) fn seen(place: &Place) -> Option<Place> {
    (place.text.name != BUILT_IN).then(|| place.clone())
}

/// The configuration of a tree.
pub(super) fn decode<C: Configuration>(root: &Table) -> Result<Resolved<C>, LayerError> {
    check_names::<C>(root)?;
    let workload = decode_workload::<C>(root)?;
    let mut values = plain(root);
    let tenants = decode_tenants::<C>(&values, root)?;
    values.remove("workload");
    values.remove(WORKLOADS);
    for needed in ["geometry", "timing", "capacity"] {
        if !values.contains_key(needed) {
            return Err(LayerError::new(format!("the device is missing: it needs `[{needed}]`"))
                .with_help("name a device, or write [geometry], [timing] and [capacity]"));
        }
    }
    let run = C::deserialize(values.clone());
    let run = run.map_err(|error| explain::<C>(root, error.message(), &values, &[], &fails::<C>))?;
    Ok(Resolved { run, workload, tenants })
}

/// Several workloads of a tree.
fn decode_tenants<C: Configuration>(values: &toml::Table, root: &Table) -> Result<Tenants, LayerError> {
    let (Some(Node::Table(named)), Some(values)) =
        (root.get(WORKLOADS).map(|entry| &entry.node), values.get(WORKLOADS))
    else {
        return Ok(Tenants::new());
    };
    let mut tenants = Tenants::new();
    for (name, entry) in named {
        let (Node::Table(inner), Some(toml::Value::Table(values))) = (&entry.node, values.get(name)) else {
            return Err(LayerError::new(format!("`{WORKLOADS}.{name}` is a table, not a value"))
                .with_help(format!("write [{WORKLOADS}.{name}] and its keys below"))
                .at(seen(&entry.value)));
        };
        let tenant = Tenant::deserialize(values.clone())
            .map_err(|error| explain::<C>(inner, error.message(), values, &[WORKLOADS, name], &fails::<Tenant>))?;
        tenants.insert(name.clone(), tenant);
    }
    Ok(tenants)
}

/// The workload of a tree.
pub(super) fn decode_workload<C: Configuration>(root: &Table) -> Result<WorkloadSpec, LayerError> {
    check_names::<C>(root)?;
    let Some(Node::Table(inner)) = root.get("workload").map(|entry| &entry.node) else {
        return Ok(WorkloadSpec::default());
    };
    let values = plain(inner);
    WorkloadSpec::deserialize(values.clone())
        .map_err(|error| explain::<C>(inner, error.message(), &values, &["workload"], &fails::<WorkloadSpec>))
}

/// Keys of an experiment outside tables: the reader of experiments removes them.
const EXPERIMENT_KEYS: &[&str] = &["device", "scheme", "schemes", "seed", "requests"];

/// Refuses keys that are no table of a configuration, and names of earlier versions.
fn check_names<C: Configuration>(root: &Table) -> Result<(), LayerError> {
    for (name, entry) in root {
        refuse_renamed(name, entry)?;
        if !tables::<C>().any(|table| table == name) {
            let help = match name.as_str() {
                name if EXPERIMENT_KEYS.contains(&name) => {
                    format!("`{name}` belongs in an experiment, not in a preset or an override")
                }
                _ => match nearest(name, EXPERIMENT_KEYS.iter().copied().chain(tables::<C>())) {
                    Some(near) if EXPERIMENT_KEYS.contains(&near) => {
                        format!("did you mean `{near}`? it belongs in an experiment")
                    }
                    _ => suggestion(name, "tables", tables::<C>()),
                },
            };
            return Err(LayerError::new(format!("unknown table or key `{name}`")).with_help(help).at(seen(&entry.key)));
        }
        if let Node::Leaf(_) = entry.node {
            return Err(LayerError::new(format!("`{name}` is a table, not a value"))
                .with_help(format!("write [{name}] and its keys below, or `--set {name}.key=value`"))
                .at(seen(&entry.value)));
        }
    }
    Ok(())
}

/// Length of a value that is shown with its key.
const SHOWN_BYTES_MAX: usize = 80;

/// Refuses a table, a key or a policy that was called so before, with its new name.
fn refuse_renamed(table: &str, entry: &Entry) -> Result<(), LayerError> {
    let now = |old: &str, new: &str| LayerError::new(format!("`{old}` is now `{new}`"));
    let Node::Table(inner) = &entry.node else { return Ok(()) };
    let axis = renamed::table(table).unwrap_or(table);
    let policy = match inner.get("policy") {
        Some(Entry { node: Node::Leaf(toml::Value::String(old)), value, .. }) => {
            renamed::policy(axis, old).map(|new| (old, new, value))
        }
        _ => None,
    };
    if axis != table {
        let help = match policy {
            Some((old, new, _)) => format!("write `{axis}.policy = \"{new}\"`: `{old}` is now `{new}`"),
            None => match &plain(inner).into_iter().collect::<Vec<_>>()[..] {
                [(key, value)] if value.to_string().len() <= SHOWN_BYTES_MAX => {
                    let key = renamed::key(axis, key).map_or_else(|| format!("{axis}.{key}"), str::to_owned);
                    format!("write `{key} = {value}`")
                }
                _ => format!("write [{axis}] over its keys"),
            },
        };
        return Err(now(table, axis).with_help(help).at(seen(&entry.key)));
    }
    if let Some((old, new, value)) = policy {
        let error = LayerError::new(format!("`{axis}.policy`: `{old}` is now `{new}`"));
        return Err(error.with_help(format!("write `{axis}.policy = \"{new}\"`")).at(seen(value)));
    }
    for (key, below) in inner {
        if let Some(new) = renamed::key(table, key) {
            return Err(now(&format!("{table}.{key}"), new).with_help(format!("write `{new}`")).at(seen(&below.key)));
        }
    }
    Ok(())
}

fn fails<T: for<'de> Deserialize<'de>>(values: toml::Table) -> Option<String> {
    T::deserialize(values).err().map(|error| error.message().to_owned())
}

type Fails<'a> = &'a dyn Fn(toml::Table) -> Option<String>;

/// Finds the key at fault and describes the fault.
fn explain<C: Configuration>(
    root: &Table,
    message: &str,
    values: &toml::Table,
    above: &[&str],
    fails: Fails<'_>,
) -> LayerError {
    let mut path = Vec::new();
    while let Some(next) = culprit::<C>(message, values, &path, above, fails) {
        path.push(next);
    }
    if let Some(field) = missing_field(message) {
        path.truncate(depth_of_gap(message, field, values, &path, fails));
    }
    let mut entry = None;
    let mut table = Some(root);
    for name in &path {
        entry = table.and_then(|table| table.get(name));
        table = match entry.map(|entry| &entry.node) {
            Some(Node::Table(inner)) => Some(inner),
            _ => None,
        };
    }
    let value = path.iter().try_fold(&toml::Value::Table(values.clone()), |value, name| value.get(name)).cloned();
    let dotted = above.iter().copied().chain(path.iter().map(String::as_str)).collect::<Vec<_>>().join(".");
    let is_key = message.starts_with("unknown field") || message.starts_with("missing field");
    let place = entry.and_then(|entry| seen(if is_key { &entry.key } else { &entry.value }));
    wording::<C>(&dotted, message, value.as_ref(), values, above, fails).at(place)
}

/// The child of the table at `path` without which the error is another. The tag comes last: without it every other key
/// is wrong, too.
fn culprit<C: Configuration>(
    message: &str,
    values: &toml::Table,
    path: &[String],
    above: &[&str],
    fails: Fails<'_>,
) -> Option<String> {
    let table = at(values, path)?;
    let here: Vec<&str> = above.iter().copied().chain(path.iter().map(String::as_str)).collect();
    let tag = tag::<C>(&here);
    let (last, first): (Vec<&String>, Vec<&String>) = table.keys().partition(|key| Some(key.as_str()) == tag);
    first
        .into_iter()
        .chain(last)
        .find(|key| {
            let mut without = values.clone();
            let table = path.iter().try_fold(&mut without, |table, name| table.get_mut(name)?.as_table_mut());
            if let Some(table) = table {
                table.remove(key.as_str());
            }
            fails(without).as_deref() != Some(message)
        })
        .cloned()
}

/// The key that a message finds missing.
fn missing_field(message: &str) -> Option<&str> {
    message.strip_prefix("missing field `")?.split('`').next()
}

/// How many names of the path lead to the table that lacks the key: there, and only there, the error is another once it
/// has one. Without this, the key's sibling would be named, as taking that away changes the error, too.
fn depth_of_gap(message: &str, field: &str, values: &toml::Table, path: &[String], fails: Fails<'_>) -> usize {
    let is_gap = |depth: &usize| {
        let mut with = values.clone();
        let table = path[..*depth].iter().try_fold(&mut with, |table, name| table.get_mut(name)?.as_table_mut());
        let Some(table) = table else { return false };
        table.insert(field.to_owned(), toml::Value::from(""));
        fails(with).is_none_or(|error| error != message && !error.starts_with("unknown field"))
    };
    (0..=path.len()).rev().find(is_gap).unwrap_or(path.len())
}

fn at<'t>(values: &'t toml::Table, path: &[String]) -> Option<&'t toml::Table> {
    path.iter().try_fold(values, |table, name| table.get(name)?.as_table())
}

/// The error in the words of a user rather than of the deserialiser.
fn wording<C: Configuration>(
    path: &str,
    message: &str,
    value: Option<&toml::Value>,
    values: &toml::Table,
    above: &[&str],
    fails: Fails<'_>,
) -> LayerError {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let (table, key) = path.rsplit_once('.').unwrap_or(("", path));
    if let Some(error) = in_list(path, message, value, &quoted) {
        return error;
    }
    if message.starts_with("unknown field") {
        let inner: Vec<String> = table.split('.').skip(above.len()).map(str::to_owned).collect();
        let own = tag::<C>(&table.split('.').collect::<Vec<_>>()).filter(|tag| Some(*tag) != Some("kind"));
        let own = own.filter(|own| at(values, &inner).is_some_and(|table| table.contains_key(*own)));
        let known = own.into_iter().chain(quoted.iter().skip(1).copied());
        let help = suggestion(key, "keys", known);
        let error = LayerError::new(format!("unknown key `{key}` in `[{table}]`"));
        let chosen = own.and_then(|own| Some((own, at(values, &inner)?.get(own)?.as_str()?)));
        let having = own.map_or_else(Vec::new, |own| choices_with(own, key, values, &inner, fails));
        let Some((own, chosen)) = chosen.filter(|_| !having.is_empty()) else { return error.with_help(help) };
        let names = having.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
        let message = format!("unknown key `{key}` in `[{table}]`, whose `{own}` is \"{chosen}\"");
        let choose = format!("remove it, or set `{table}.{own}` to a choice that has this key: {names}");
        return LayerError::new(message).with_help(format!("{choose}; {help}"));
    }
    if message.starts_with("unknown variant") {
        let word = quoted.first().copied().unwrap_or_default();
        let known = quoted.iter().skip(1).copied();
        let error = LayerError::new(format!("`{path}` cannot be `{word}`"));
        return error.with_help(suggestion(word, "choices", known));
    }
    if let Some(field) = missing_field(message) {
        let error = LayerError::new(format!("`{path}.{field}` is missing"));
        return error.with_help(format!("add it to [{path}]{}", example(path, field)));
    }
    if message.contains("expected struct ") || message.contains("expected internally tagged enum ") {
        return LayerError::new(format!("`{path}` is a table, not a value")).with_help(match path {
            "trigger.idle" => "write for example trigger.idle = { after = \"10 ms\" }".into(),
            _ => format!("write [{path}] and its keys below, or {path} = {{ key = value }}"),
        });
    }
    if ["expected string or map", "expected string only"].iter().any(|expected| message.contains(expected)) {
        let value = value.map(toml::Value::to_string).unwrap_or_default();
        return LayerError::new(format!("`{path}`: {value} is not the name of a choice"))
            .with_help("write a name in quotes; the error of an unknown name lists all choices");
    }
    if let Some(better) = untagged(message, value) {
        return LayerError::new(format!("`{path}`: {}", better.trim_end()));
    }
    let plain = message
        .replace("expected u32", "expected a whole number up to 4294967295")
        .replace("expected u64", "expected a whole number");
    let plain = plain.replace("expected f64", "expected a number").replace("expected a string", "expected a text");
    LayerError::new(format!("`{path}`: {}", plain.trim_end()))
}

/// A name that no key and no choice has.
const NO_NAME: &str = "\u{0}";

/// The choices of a table under which it has a key. `own`: the key of the table that chooses.
fn choices_with(own: &str, key: &str, values: &toml::Table, path: &[String], fails: Fails<'_>) -> Vec<String> {
    let with = |entries: &[(&str, &str)]| {
        let mut values = values.clone();
        let table = path.iter().try_fold(&mut values, |table, name| table.get_mut(name)?.as_table_mut())?;
        *table = entries.iter().map(|(key, value)| ((*key).to_owned(), toml::Value::from(*value))).collect();
        fails(values)
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

/// Keys that are wrong in a table of a list below, which no path names.
fn in_list(path: &str, message: &str, value: Option<&toml::Value>, quoted: &[&str]) -> Option<LayerError> {
    let tables = |value: &toml::Value| value.as_array().is_some_and(|list| list.iter().any(toml::Value::is_table));
    if message.starts_with("unknown field") && value.is_some_and(tables) {
        let (key, known) = quoted.split_first()?;
        let error = LayerError::new(format!("unknown key `{key}` in `[[{path}]]`"));
        return Some(error.with_help(suggestion(key, "keys", known.iter().copied())));
    }
    let field = missing_field(message)?;
    let lacks = |table: &toml::Value| table.as_table().is_some_and(|table| !table.contains_key(field));
    let table = value?.as_table().filter(|table| table.contains_key(field))?;
    let list = table.iter().find(|(_, list)| list.as_array().is_some_and(|list| list.iter().any(lacks)))?.0;
    let error = LayerError::new(format!("`{field}` is missing in `[[{path}.{list}]]`"));
    Some(error.with_help(format!("add it to each [[{path}.{list}]]")))
}

/// The first device's form of a key, if it has one.
fn example(table: &str, key: &str) -> String {
    let device: Option<toml::Table> = DEVICES.first().and_then(|device| device.text.parse().ok());
    let value = device.as_ref().and_then(|device| device.get(table)?.get(key));
    value.map(|value| format!(", for example {key} = {value}")).unwrap_or_default()
}

/// Values of one of several types: completes the deserialiser's message.
fn untagged(message: &str, value: Option<&toml::Value>) -> Option<String> {
    let kind = message.strip_prefix("data did not match any variant of untagged enum ")?;
    match kind {
        "ShareOrCount" => Some("use a share of the blocks such as 0.05, or a number of them such as 128".into()),
        "PageTimes" => {
            debug_assert!(std::any::type_name::<PageTimes>().ends_with(kind));
            let one = |value: &toml::Value| Nanos::deserialize(value.clone()).err().map(|e| e.message().to_owned());
            let times = value.and_then(|value| match value {
                toml::Value::Array(list) => list.iter().find_map(one),
                single => one(single),
            });
            Some(times.unwrap_or_else(|| "write a time, or a list of times".into()))
        }
        _ => None,
    }
}
