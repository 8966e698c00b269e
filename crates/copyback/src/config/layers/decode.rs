//! Decodes a tree to a configuration.

use super::fault::{explain, fails};
use super::tree::{Entry, Node, Table, plain};
use super::{Configuration, LayerError, Resolved, TextSpan, WORKLOADS, nearest, suggestion, tables};
use crate::config::renamed;
use copyback_workload::spec::{Tenant, WorkloadSpec};
use copyback_workload::tenants::Tenants;
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
    // Goes through a table, as the layers do: a second parser would be compiled for every configuration type.
    let least: toml::Table = LEAST.parse().expect("the text above is TOML");
    let least = C::deserialize(least).expect("the text above is a configuration");
    let mut table = toml::Table::try_from(&least).expect("a configuration holds what TOML can say");
    for device_table in ["geometry", "timing", "capacity"] {
        table.remove(device_table);
    }
    table.to_string()
}

/// The place at which a key was set, or the nearest table around it; `None` if only the defaults set it.
pub(super) fn place_of(root: &Table, key: &str) -> Option<TextSpan> {
    let mut table = root;
    let mut place = None;
    for name in key.split('.') {
        let Some(entry) = table.get(name) else { break };
        place = match &entry.node {
            Node::Leaf(_) => return user_place(&entry.value),
            Node::Table(_) => user_place(&entry.key),
        };
        let Node::Table(inner) = &entry.node else { break };
        table = inner;
    }
    place
}

/// The place, unless it is in the built-in defaults.
pub(super) fn user_place(place: &TextSpan) -> Option<TextSpan> {
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
    for needed in DEVICE_TABLES {
        if !values.contains_key(needed) {
            return Err(incomplete_device(root, needed));
        }
    }
    let run = C::deserialize(values.clone());
    let run = run.map_err(|error| explain::<C>(root, error.message(), &values, &[], &fails::<C>))?;
    Ok(Resolved { run, workload, tenants })
}

/// The tables that describe a device.
const DEVICE_TABLES: [&str; 3] = ["geometry", "timing", "capacity"];

/// The error of a device without one of its tables, at the first of its tables that is there.
fn incomplete_device(root: &Table, needed: &str) -> LayerError {
    let place = DEVICE_TABLES.iter().find_map(|table| user_place(&root.get(*table)?.key));
    let Some(place) = place else {
        return LayerError::new(format!("the device is missing: it needs `[{needed}]`"))
            .with_help("name a device, or write [geometry], [timing] and [capacity]");
    };
    let missing: Vec<String> =
        DEVICE_TABLES.iter().filter(|table| !root.contains_key(**table)).map(|table| format!("[{table}]")).collect();
    LayerError::new(format!("the device has no {}", missing.join(" and no ")))
        .with_help(format!(
            "add {}; or, to change some tables of a device, write device = \"small\" above them, and run the file as \
             an experiment, without --device",
            missing.join(" and ")
        ))
        .at(Some(place))
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
                .at(user_place(&entry.value)));
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
const EXPERIMENT_KEYS: &[&str] = &["device", "scheme", "schemes", "seed", "requests", "trace", "warmup"];

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
            return Err(LayerError::new(format!("unknown table or key `{name}`"))
                .with_help(help)
                .at(user_place(&entry.key)));
        }
        if let Node::Leaf(_) = entry.node {
            return Err(LayerError::new(format!("`{name}` is a table, not a value"))
                .with_help(format!("write [{name}] and its keys below, or `--set {name}.key=value`"))
                .at(user_place(&entry.value)));
        }
    }
    Ok(())
}

/// Length of a value that is shown with its key.
const SHOWN_BYTES_MAX: usize = 80;

/// Refuses a table, a key or a policy by its old name, and states the new one.
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
                _ => format!("write [{axis}] above its keys"),
            },
        };
        return Err(now(table, axis).with_help(help).at(user_place(&entry.key)));
    }
    if let Some((old, new, value)) = policy {
        let error = LayerError::new(format!("`{axis}.policy`: `{old}` is now `{new}`"));
        return Err(error.with_help(format!("write `{axis}.policy = \"{new}\"`")).at(user_place(value)));
    }
    for (key, below) in inner {
        if let Some(new) = renamed::key(table, key) {
            return Err(now(&format!("{table}.{key}"), new)
                .with_help(format!("write `{new}`"))
                .at(user_place(&below.key)));
        }
    }
    Ok(())
}
