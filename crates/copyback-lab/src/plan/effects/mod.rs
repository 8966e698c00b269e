//! Notes on settings without effect, and on policies that replace those of the named scheme.

mod unused;
mod workload;

use copyback::config::Axis;
use copyback::config::layers::{Dropped, Layer, Origin, Replaced, WORKLOADS};
use copyback::host::config::{HostConfig, HostMode};
use copyback::run::config::{AXES, Resolved, RunConfig, Stack};
use copyback::tasks::gc::preemption::PreemptionConfig;
use unused::UNUSED_SETTINGS;

/// Notes on axes on which a later layer chooses another policy than the scheme.
pub(super) fn overridden(scheme: &Layer, over: &[Layer]) -> Vec<String> {
    let of_axis = |axis: &Axis| {
        let (own, last) =
            (scheme.policy(axis.name)?, over.iter().rev().find(|layer| layer.policy(axis.name).is_some())?);
        // A caller that hands a policy in knows which one it replaces.
        let policy = last.policy(axis.name).filter(|policy| *policy != own && *policy != "plugin")?;
        Some(format!("`{}` is `{policy}`: {} replaces the scheme's `{own}`", axis.name, last.text().name))
    };
    AXES.iter().filter_map(of_axis).collect()
}

/// Settings of files and of the command line that have no effect, each with the reason.
pub(super) fn without_effect(
    stack: &Stack,
    device: Option<&Layer>,
    scheme: &Layer,
    resolved: &Resolved,
) -> Vec<String> {
    let run = &resolved.run;
    let replaced = AXES.iter().filter_map(|axis| replaced(axis, device?, scheme, stack));
    let of_workload = workload::without_effect(stack, resolved);
    let unused = of_unused(stack, run);
    let of_overrides = of_overrides(stack, run);
    let dropped = stack.dropped().filter_map(|dropped| match dropped.replaced {
        Replaced::Choice { .. } => of_dropped(dropped, device, scheme, run),
        Replaced::Trace { by_trace } => of_other_trace(dropped, by_trace, stack),
    });
    replaced.chain(of_workload).chain(unused).chain(of_overrides).chain(dropped).collect()
}

/// Settings that no component of the run uses.
fn of_unused(stack: &Stack, run: &RunConfig) -> Vec<String> {
    let Ok(toml::Value::Table(tables)) = toml::Value::try_from(run) else { return Vec::new() };
    let unused = users_keys(stack, &tables).into_iter().filter_map(|(key, name)| {
        let listed = || UNUSED_SETTINGS.iter().filter(|unused| unused.has(&key)).find_map(|unused| (unused.why)(run));
        let why = of_other_preemption(&key, run).or_else(listed)?;
        Some((key, name, why))
    });
    let unused: Vec<_> = unused.collect();
    if unused.is_empty() {
        return Vec::new();
    }
    // A printed configuration has every default.
    let all = without(&tables, unused.iter().map(|(key, ..)| key.as_str()));
    let own = toml::Value::Table(tables.clone());
    let is_default = |key: &str| match &all {
        Some(defaults) => value(defaults, key) == value(&own, key),
        // One of the keys has no default.
        None => {
            without(&tables, std::iter::once(key)).is_some_and(|defaults| value(&defaults, key) == value(&own, key))
        }
    };
    let set = unused.into_iter().filter(|(key, ..)| !is_default(key));
    set.map(|(key, name, why)| format!("`{key}` ({name}) has no effect: {why}")).collect()
}

/// Why a run does not use a key of the device that only another preemption policy uses.
fn of_other_preemption(key: &str, run: &RunConfig) -> Option<String> {
    let user = PreemptionConfig::only_user_of(key).filter(|user| *user != run.preemption.name())?;
    Some(format!("only `preemption.policy = \"{user}\"` uses it"))
}

/// The note that `array.override.coordinated` has no effect, if no drive is coordinated.
fn of_overrides(stack: &Stack, run: &RunConfig) -> Option<String> {
    let place = stack.place_of("array.override").filter(|place| place.text.origin.is_no_preset())?;
    let name = &place.text.name;
    let is_set = run.array.iter().flat_map(|array| &array.overrides).any(|named| named.coordinated == Some(false));
    let policy = run.coordination.name();
    (is_set && run.coordination.common().is_none()).then(|| {
        format!(
            "`array.override.coordinated` ({name}) has no effect: no drive is coordinated under \
             `coordination.policy = \"{policy}\"`"
        )
    })
}

/// Whether a note is for the user. A note that a setting has no effect is not, if a preset or a job of fio made the
/// setting.
pub(super) fn is_of_user(note: &str, stack: &Stack) -> bool {
    let Some(key) = key_without_effect(note) else { return true };
    let place = stack.place_of(&key);
    place.is_none_or(|place| !matches!(place.text.origin, Origin::Preset | Origin::Fio))
}

/// The key of a note that says that a setting has no effect.
fn key_without_effect(note: &str) -> Option<String> {
    // A note on one of several workloads begins with the name of the workload.
    let of_one = note.strip_prefix("workload `").and_then(|rest| rest.split_once("`: "));
    let note = of_one.map_or(note, |(_, note)| note);
    let (key, rest) = note.strip_prefix('`')?.split_once('`')?;
    if !rest.starts_with(" has no effect") {
        return None;
    }
    let below = key.strip_prefix("workload.").zip(of_one);
    Some(below.map_or_else(|| key.to_owned(), |(key, (name, _))| format!("{WORKLOADS}.{name}.{key}")))
}

/// Keys of a run's tables that the user's texts set, each with the name of its text.
fn users_keys(stack: &Stack, tables: &toml::Table) -> Vec<(String, String)> {
    let keys = tables.iter().flat_map(|(name, table)| keys_of(name, table));
    let chooses = |key: &str| [".policy", ".mode"].iter().any(|tag| key.ends_with(tag));
    let users = keys.filter(|key| !chooses(key)).filter_map(|key| {
        let place = stack.place_of_leaf(&key).filter(|place| place.text.origin.is_no_preset())?;
        Some((key, place.text.name.clone()))
    });
    users.collect()
}

/// The keys of a table and of the tables in it, each with its path.
fn keys_of(path: &str, value: &toml::Value) -> Vec<String> {
    match value {
        toml::Value::Table(table) => {
            table.iter().flat_map(|(key, value)| keys_of(&format!("{path}.{key}"), value)).collect()
        }
        _ => vec![path.to_owned()],
    }
}

/// The value of a key in tables.
fn value<'a>(tables: &'a toml::Value, key: &str) -> Option<&'a toml::Value> {
    key.split('.').try_fold(tables, |value, name| value.get(name))
}

/// The tables of a run in which nothing sets these keys; `None` if there is no such run.
fn without<'a>(tables: &toml::Table, keys: impl Iterator<Item = &'a str>) -> Option<toml::Value> {
    let mut tables = tables.clone();
    for key in keys {
        let (path, leaf) = key.rsplit_once('.')?;
        let table = path.split('.').try_fold(&mut tables, |table, name| table.get_mut(name)?.as_table_mut());
        table.and_then(|table| table.remove(leaf));
    }
    toml::Value::try_from(tables.try_into::<RunConfig>().ok()?).ok()
}

/// A setting that a later layer dropped when it chose another policy, if one of the two is the user's.
fn of_dropped(dropped: &Dropped, device: Option<&Layer>, scheme: &Layer, run: &RunConfig) -> Option<String> {
    let Dropped { key, value, place, replaced: Replaced::Choice { tag, before, now }, by } = dropped else {
        return None;
    };
    let (name, over) = (&place.text.name, &by.text.name);
    let is_of_device = device.is_some_and(|device| *name == device.text().name);
    // No note if a preset overrides a preset. Dropped settings of the scheme, and tables of the device that the scheme
    // replaces, have their own notes.
    let is_between_presets = !place.text.origin.is_no_preset() && !by.text.origin.is_no_preset();
    if is_between_presets || *name == scheme.text().name || (is_of_device && *over == scheme.text().name) {
        return None;
    }
    let (table, leaf) = key.rsplit_once('.')?;
    if default_under(run, table, (tag, before), leaf).is_some_and(|default| default == *value) {
        return None;
    }
    Some(format!(
        "`{key} = {value}` ({name}) has no effect: it belongs to `{table}.{tag} = \"{before}\"`, and {over} chooses \
         \"{now}\""
    ))
}

/// A setting of the user's that describes the trace which a later layer replaced.
fn of_other_trace(Dropped { key, place, by, .. }: &Dropped, by_trace: bool, stack: &Stack) -> Option<String> {
    if !place.text.origin.is_no_preset() || stack.place_of_leaf(key).is_some() {
        return None;
    }
    let (name, over) = (&place.text.name, &by.text.name);
    Some(match by_trace {
        true => format!("`{key}` ({name}) has no effect: {over} names another trace; set it with --set if it applies"),
        false => format!("`{key}` ({name}) has no effect: it belongs to a trace, and {over} describes a generator"),
    })
}

/// The value that a key has under a choice if nothing sets it.
fn default_under(run: &RunConfig, table: &str, (tag, choice): (&str, &str), leaf: &str) -> Option<toml::Value> {
    let mut tables = toml::Table::try_from(run).ok()?;
    let own = table.split('.').try_fold(&mut tables, |table, name| table.get_mut(name)?.as_table_mut())?;
    *own = toml::Table::from_iter([(tag.to_owned(), choice.into())]);
    let run: RunConfig = tables.try_into().ok()?;
    value(&toml::Value::try_from(run).ok()?, &format!("{table}.{leaf}")).cloned()
}

/// A setting that applies to one mode of the host only.
pub(super) struct ModeSetting {
    pub table: &'static str,
    pub key: &'static str,
    pub mode: HostMode,
    /// Whether the setting differs from its default: a printed configuration has defaults of both modes.
    differs_from_default: fn(&HostConfig) -> bool,
}

/// All of them.
pub(super) const OF_ONE_MODE: &[ModeSetting] = &[
    ModeSetting {
        table: "host",
        key: "queue_depth",
        mode: HostMode::Closed,
        differs_from_default: |host| host.queue_depth != HostConfig::default().queue_depth,
    },
    ModeSetting {
        table: "host",
        key: "outstanding_max",
        mode: HostMode::Open,
        differs_from_default: |host| host.outstanding_max != HostConfig::default().outstanding_max,
    },
    // Arrival times that are not used have a note of their own.
    ModeSetting { table: "workload", key: "time_scale", mode: HostMode::Open, differs_from_default: |_| false },
];

/// The effect of a mode on the times of requests.
pub(super) fn loop_of(mode: HostMode) -> &'static str {
    match mode {
        HostMode::Open => "open: requests arrive when the workload says",
        HostMode::Closed => "closed: a request arrives when another ends",
    }
}

/// The note on a table of the user's device that the scheme replaces.
fn replaced(axis: &Axis, device: &Layer, scheme: &Layer, stack: &Stack) -> Option<String> {
    let (own, chosen) = (device.policy(axis.name)?, scheme.policy(axis.name)?);
    let last = stack.place_of_leaf(&format!("{}.policy", axis.name))?;
    let is_schemes = last.text.name == scheme.text().name;
    (device.text().origin.is_no_preset() && own != chosen && is_schemes).then(|| {
        format!(
            "`[{}]` of {} (`{own}`) has no effect: the scheme overrides the device with `{chosen}`; --set \
             {}.policy={own} overrides both",
            axis.name,
            device.text().name,
            axis.name
        )
    })
}
