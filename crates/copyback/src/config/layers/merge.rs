//! Merging of one layer over another.

use super::tree::{Node, Table, plain};
use super::{Configuration, TextSpan, WORKLOADS};

/// Keys of `[workload]` that only a generator has.
const GENERATOR_KEYS: &[&str] = &[
    "requests",
    "read_share",
    "trim_share",
    "footprint",
    "seed",
    "size",
    "read_size",
    "write_size",
    "trim_size",
    "arrivals",
    "read_arrivals",
    "addresses",
];

/// Keys of `[workload]` that only a trace has.
const TRACE_KEYS: &[&str] =
    &["trace", "format", "columns", "zero_means", "event", "skip_bad", "reorder_window", "layout"];

/// Keys of `[workload]` that describe the workload that a layer replaces.
const DESCRIPTION_KEYS: &[&str] = &["name", "source"];

/// Keys of `[workload]` that say how many requests read: one of them takes the other's place.
const READS_KEYS: &[&str] = &["read_share", "read_arrivals"];

/// Keys of `[workload]` that say how large requests are.
const SIZE_KEYS: &[&str] = &["size", "read_size", "write_size"];

/// Whether a layer alone determines the sizes of requests: one that changes a number of a distribution does not.
fn says_sizes(over: &Table) -> bool {
    SIZE_KEYS.iter().any(|key| match over.get(*key).map(|entry| &entry.node) {
        Some(Node::Table(table)) => table.contains_key("kind"),
        Some(Node::Leaf(_)) => true,
        None => false,
    })
}

/// A setting that a later layer dropped: it chose another policy or another workload.
#[derive(Clone, Debug)]
pub struct Dropped {
    /// The table and the key, with dots between.
    pub key: String,
    /// Its value.
    pub value: toml::Value,
    /// The place of the value.
    pub place: TextSpan,
    /// What the later layer replaced.
    pub replaced: Replaced,
    /// The place of the later choice.
    pub by: TextSpan,
}

/// What a later layer replaced, so that a setting was dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replaced {
    /// A choice, to which the setting belongs.
    Choice {
        /// The key that chooses: `policy`, `mode` or `kind`.
        tag: &'static str,
        /// The choice of the earlier layers.
        before: String,
        /// The choice of the later layer.
        now: String,
    },
    /// A trace, which the setting describes.
    Trace {
        /// Whether the later layer names another trace; otherwise it describes a generator.
        by_trace: bool,
    },
}

/// Merges `over` into `base`; settings that lose their meaning thereby are added to `dropped`.
pub(super) fn merge<C: Configuration>(base: &mut Table, over: Table, dropped: &mut Vec<Dropped>) {
    merge_at::<C>(&[], base, over, dropped);
}

fn merge_at<C: Configuration>(path: &[&str], base: &mut Table, over: Table, dropped: &mut Vec<Dropped>) {
    for (key, entry) in over {
        let here = [path, &[key.as_str()]].concat();
        match base.get_mut(&key) {
            Some(below) if here != ["capacity"] => match (&mut below.node, entry.node) {
                (Node::Table(below_table), Node::Table(table)) => {
                    drop_alternatives::<C>(&here, below_table, &table, dropped);
                    (below.key, below.value) = (entry.key, entry.value);
                    merge_at::<C>(&here, below_table, table, dropped);
                }
                (_, node) => *below = super::tree::Entry { node, ..entry },
            },
            _ => {
                base.insert(key, entry);
            }
        }
    }
}

/// The key of a table whose value decides which other keys the table can have.
pub(super) fn tag<C: Configuration>(path: &[&str]) -> Option<&'static str> {
    match path {
        ["precondition"] => Some("mode"),
        ["workload", _] | [WORKLOADS, _, _] => Some("kind"),
        ["admit", "shares"] => Some("policy"),
        [table] if C::AXES.iter().any(|axis| axis.name == *table) => Some("policy"),
        _ => None,
    }
}

/// Keys of a table that are kept if this policy replaces another: properties of the drive, if the policy uses them.
fn kept<C: Configuration>(path: &[&str], policy: Option<toml::Value>) -> &'static [&'static str] {
    let name = policy.as_ref().and_then(toml::Value::as_str).unwrap_or_default();
    let kept = C::KEPT.iter().find(|kept| [kept.table] == *path && kept.policies.contains(&name));
    kept.map_or(&[], |kept| kept.keys)
}

/// Drops from `base` what makes no sense any more under `over`.
fn drop_alternatives<C: Configuration>(path: &[&str], base: &mut Table, over: &Table, dropped: &mut Vec<Dropped>) {
    if let Some(tag) = tag::<C>(path) {
        let leaf = |table: &Table| match table.get(tag).map(|entry| &entry.node) {
            Some(Node::Leaf(value)) => Some(value.clone()),
            _ => None,
        };
        if let Some(by) = over.get(tag).map(|entry| &entry.value)
            && leaf(over) != leaf(base)
        {
            let kept = kept::<C>(path, leaf(over));
            let name = |choice: Option<toml::Value>| choice.as_ref().and_then(|name| Some(name.as_str()?.to_owned()));
            if let (Some(before), Some(now)) = (name(leaf(base)), name(leaf(over))) {
                // What the later layer sets itself has another value, and is not lost.
                let lost = plain(base)
                    .into_iter()
                    .filter(|(key, _)| key != tag && !kept.contains(&key.as_str()) && !over.contains_key(key));
                dropped.extend(lost.map(|(key, value)| {
                    let place = base[&key].value.clone();
                    let key = path.iter().copied().chain([&*key]).collect::<Vec<_>>().join(".");
                    let replaced = Replaced::Choice { tag, before: before.clone(), now: now.clone() };
                    Dropped { key, value, place, replaced, by: by.clone() }
                }));
            }
            base.retain(|key, _| kept.contains(&key.as_str()));
        }
    }
    if matches!(path, ["workload"] | [WORKLOADS, _]) {
        drop_workload(path, base, over, dropped);
    }
}

/// Drops what describes the workload that `over` replaces.
fn drop_workload(path: &[&str], base: &mut Table, over: &Table, dropped: &mut Vec<Dropped>) {
    let has_share_of_reads = READS_KEYS.iter().any(|key| over.contains_key(*key));
    if has_share_of_reads {
        base.retain(|key, _| !READS_KEYS.contains(&key.as_str()) || over.contains_key(key));
    }
    let trace = over.get("trace");
    let generator = over.get("requests").filter(|_| has_share_of_reads && says_sizes(over));
    if let Some(by) = trace.or(generator) {
        // Without a trace below, these keys describe the trace of this layer.
        if base.contains_key("trace") || trace.is_none() {
            drop_trace(path, base, (over, &by.value), dropped);
        }
        base.retain(|key, _| ![GENERATOR_KEYS, DESCRIPTION_KEYS].concat().contains(&key.as_str()));
    }
    if over.contains_key("size") {
        base.retain(|key, _| !["read_size", "write_size", "trim_size"].contains(&key.as_str()));
    }
}

/// Drops the trace of `base` and the keys that describe it.
fn drop_trace(path: &[&str], base: &mut Table, (over, by): (&Table, &TextSpan), dropped: &mut Vec<Dropped>) {
    let replaced = Replaced::Trace { by_trace: over.contains_key("trace") };
    let is_lost = |key: &str| key != "trace" && TRACE_KEYS.contains(&key) && !over.contains_key(key);
    dropped.extend(plain(base).into_iter().filter(|(key, _)| is_lost(key)).map(|(key, value)| {
        let place = base[&key].value.clone();
        let key = path.iter().copied().chain([&*key]).collect::<Vec<_>>().join(".");
        Dropped { key, value, place, replaced: replaced.clone(), by: by.clone() }
    }));
    base.retain(|key, _| !TRACE_KEYS.contains(&key.as_str()));
}
