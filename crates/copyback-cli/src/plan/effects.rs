//! Notes on what a configuration says and no run looks at, or what a name alone would mislead about.

use copyback::array::coordination::CoordinationConfig;
use copyback::config::Axis;
use copyback::config::layers::Layer;
use copyback::dispatch::compose::ComposeConfig;
use copyback::host::config::{HostConfig, HostMode};
use copyback::run::config::{AXES, RunConfig, Stack};
use copyback::tasks::gc::trigger::TriggerConfig;
use serde::Serialize;

/// Axes on which layers over a scheme choose another policy than it does: its name alone would mislead.
pub(super) fn overridden(scheme: &Layer, over: &[Layer]) -> Vec<String> {
    let of_axis = |axis: &Axis| {
        let (own, last) =
            (scheme.policy(axis.name)?, over.iter().rev().find(|layer| layer.policy(axis.name).is_some())?);
        // Whoever hands a policy in knows whose place it takes.
        let policy = last.policy(axis.name).filter(|policy| *policy != own && *policy != "plugin")?;
        Some(format!("`{}` is `{policy}`, for {} has it so, and not the scheme's `{own}`", axis.name, last.text().name))
    };
    AXES.iter().filter_map(of_axis).collect()
}

/// Settings of files and of the command line that have no effect, each with the reason.
pub(super) fn without_effect(stack: &Stack, device: Option<&Layer>, scheme: &Layer, run: &RunConfig) -> Vec<String> {
    let replaced = AXES.iter().filter_map(|axis| replaced(axis, device?, scheme, stack));
    let by_mode = OF_ONE_MODE.iter().filter_map(|OfOneMode { table, key, mode, says }| {
        let key = format!("{table}.{key}");
        let place = stack.place_of_leaf(&key).filter(|place| is_users(&place.text.name))?;
        let is = loop_of(run.host.mode);
        (run.host.mode != *mode && says(&run.host))
            .then(|| format!("`{key}` ({}) has no effect, for the host's loop is {is}", place.text.name))
    });
    let unlooked = UNLOOKED.iter().filter_map(|Unlooked { key, says, why }| {
        let place = stack.place_of_leaf(key).filter(|place| is_users(&place.text.name))?;
        let why = why(run).filter(|_| says(run))?;
        Some(format!("`{key}` ({}) has no effect: {why}", place.text.name))
    });
    replaced.chain(by_mode).chain(unlooked).collect()
}

/// A setting that only some policies of other axes look at.
struct Unlooked {
    key: &'static str,
    /// Whether it says something at all: a printed configuration has every default.
    says: fn(&RunConfig) -> bool,
    /// Why nobody looks at it, where nobody does.
    why: fn(&RunConfig) -> Option<String>,
}

/// All of them.
const UNLOOKED: &[Unlooked] = &[
    Unlooked {
        key: "trigger.hard",
        says: |run| differs(&run.trigger, &TriggerConfig::default(), "hard"),
        why: |run| {
            let policy = run.preemption.name();
            (!run.preemption.lets_host_first()).then(|| {
                format!(
                    "it says when collections let the host go first no more, and under `preemption.policy = \
                     \"{policy}\"` they never do"
                )
            })
        },
    },
    Unlooked {
        key: "trigger.report",
        says: |run| differs(&run.trigger, &TriggerConfig::default(), "report"),
        why: |run| {
            let is_alone = run.coordination == CoordinationConfig::default();
            is_alone.then(|| {
                let policy = run.coordination.name();
                format!("drives that are told when to collect report, and under `coordination.policy = \"{policy}\"` none is")
            })
        },
    },
    Unlooked {
        key: "compose.gc_scan",
        says: |run| differs(&run.compose, &ComposeConfig::default(), "gc_scan"),
        why: |run| {
            let why = "`gc+host` alone looks for partners of a collection's reads, and `compose.gc` has it not";
            (!builds(run, "gc", "gc+host")).then(|| why.to_owned())
        },
    },
    Unlooked {
        key: "timing.cache_busy",
        says: |run| run.timing.cache_busy.0 != 0,
        why: |run| {
            let why =
                "no builder uses the cache register: `cache` in `compose.builders` does, `pipeline` in `compose.gc`";
            (!builds(run, "builders", "cache") && !builds(run, "gc", "pipeline")).then(|| why.to_owned())
        },
    },
];

/// What a table has under a key.
fn value(table: &impl Serialize, key: &str) -> Option<toml::Value> {
    toml::Value::try_from(table).ok()?.get(key).cloned()
}

/// Whether a key of a table has another value than in a second.
fn differs<T: Serialize>(table: &T, other: &T, key: &str) -> bool {
    value(table, key) != value(other, key)
}

/// Whether a list of `[compose]` has a builder.
fn builds(run: &RunConfig, list: &str, builder: &str) -> bool {
    let list = value(&run.compose, list);
    list.and_then(|list| Some(list.as_array()?.iter().any(|name| name.as_str() == Some(builder)))).unwrap_or(false)
}

/// A setting that says something of one mode of the host alone.
pub(super) struct OfOneMode {
    pub table: &'static str,
    pub key: &'static str,
    pub mode: HostMode,
    /// Whether it says something at all: a printed configuration has defaults of both modes.
    says: fn(&HostConfig) -> bool,
}

/// All of them.
pub(super) const OF_ONE_MODE: &[OfOneMode] = &[
    OfOneMode {
        table: "host",
        key: "queue_depth",
        mode: HostMode::Closed,
        says: |host| host.queue_depth != HostConfig::default().queue_depth,
    },
    OfOneMode {
        table: "host",
        key: "outstanding_max",
        mode: HostMode::Open,
        says: |host| host.outstanding_max != HostConfig::default().outstanding_max,
    },
    // Arrival times that are not used have a note of their own.
    OfOneMode { table: "workload", key: "time_scale", mode: HostMode::Open, says: |_| false },
];

/// What a mode means for when requests arrive.
pub(super) fn loop_of(mode: HostMode) -> &'static str {
    match mode {
        HostMode::Open => "open: requests arrive when the workload says",
        HostMode::Closed => "closed: a request arrives when another ends",
    }
}

/// Whether a text is the user's own, and no preset.
fn is_users(name: &str) -> bool {
    !["device ", "scheme ", "array "].iter().any(|preset| name.starts_with(preset))
}

/// A table of a user's device in whose place a scheme has its own.
fn replaced(axis: &Axis, device: &Layer, scheme: &Layer, stack: &Stack) -> Option<String> {
    let (own, chosen) = (device.policy(axis.name)?, scheme.policy(axis.name)?);
    let last = stack.place_of_leaf(&format!("{}.policy", axis.name))?;
    let is_schemes = last.text.name == scheme.text().name;
    (is_users(&device.text().name) && own != chosen && is_schemes).then(|| {
        format!(
            "`[{}]` of {} (`{own}`) has no effect: the scheme goes over the device and has `{chosen}`; --set \
             {}.policy={own} goes over both",
            axis.name,
            device.text().name,
            axis.name
        )
    })
}
