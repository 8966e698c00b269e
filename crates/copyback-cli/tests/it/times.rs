//! The longest time that each key takes is refused, or its run ends without a broken invariant.
//!
//! The keys come from the configuration itself: an error about an unknown key lists the valid ones.

use crate::key_reference::{is_table, keys, message};
use copyback::run::config::AXES;
use copyback_lab::{Experiment, Failure};
use std::collections::BTreeSet;

/// Times that a user may take for "never", and bounds of 64 bits and of keys.
const LONG: &[&str] = &["18446744073709551615 ns", "4611686018427387904 ns", "1000000 h", "1 s"];

/// Tables besides the axes, with settings that give them their keys.
const TABLES: &[(&str, &[&str])] = &[
    ("timing", &[]),
    ("commands", &["commands.suspend.latency=20 us", "preemption.policy=suspend"]),
    ("trigger", &["trigger.idle.after=10 ms"]),
    ("tasks", &["tasks.delays.mode=pipelined", "tasks.scrub.start=10"]),
    ("admit", &["admit.policy=debit", "admit.shares.policy=feedback", "preemption.policy=always"]),
    ("array", &["array.level=raid-5", "array.drives=3"]),
    ("host", &[]),
    ("precondition", &[]),
    ("measure", &["measure.window=100 s", "measure.bin=1 s"]),
    ("workload", &["workload.arrivals.kind=poisson"]),
    ("workload", &["workload.arrivals.kind=poisson", "workload.arrivals.rate=1000"]),
    (
        "workload",
        &[
            "workload.arrivals.kind=on-off",
            "workload.arrivals.rate=1000",
            "workload.arrivals.burst=10 ms",
            "workload.arrivals.burst_rate=10000",
        ],
    ),
    ("workloads.a", &["workloads.a.arrivals.kind=poisson", "workloads.a.arrivals.rate=1000"]),
    ("workloads.a", &["workloads.a.mode=closed", "workloads.a.queue_depth=4"]),
];

/// Keys of arrivals, which `[workload]` has, too.
const NOT_RUN: &[&str] = &["workloads.a.arrivals.burst", "workloads.a.arrivals.mean_gap"];

/// A workload by name.
const NAMED: &str = "[workloads.a]\nshare = 0.5\nrequests = 100\nread_share = 0.5\n\
                     size = { kind = \"fixed\", mean = \"4 KiB\" }\n";

/// A drive that collects at once.
const DRIVE: &[&str] = &[
    "geometry.channels=1",
    "geometry.chips_per_channel=1",
    "geometry.dies_per_chip=2",
    "geometry.blocks_per_plane=24",
    "geometry.pages_per_block=16",
];

/// Settings that a policy needs.
fn companions(axis: &str, policy: &str) -> &'static [&'static str] {
    match (axis, policy) {
        ("coordination", _) => &["array.level=raid-5", "array.drives=3"],
        ("preemption", "suspend") => &["commands.suspend.latency=20 us"],
        _ => &[],
    }
}

/// The tables that have times, with the settings that give them their keys.
fn contexts() -> Vec<(&'static str, Vec<String>)> {
    let owned = |sets: &[&str]| sets.iter().map(|set| (*set).to_owned()).collect::<Vec<_>>();
    let tables = TABLES.iter().map(|(table, sets)| (*table, owned(sets)));
    let policies = AXES.iter().flat_map(|axis| {
        let own = axis.choices.iter().filter(|choice| choice.name != "plugin");
        own.map(move |choice| {
            let policy = format!("{}.policy={}", axis.name, choice.name);
            (axis.name, [owned(companions(axis.name, choice.name)), vec![policy]].concat())
        })
    });
    tables.chain(policies).collect()
}

/// The keys of times in a table, each with a form of its value.
fn times(sets: &[String], table: &str) -> Vec<(String, &'static str)> {
    let mut found = Vec::new();
    let said = message(sets);
    for key in keys(sets, table) {
        let key = format!("{table}.{key}");
        let takes = |form: &str, value: &str| {
            message(&[sets, &[format!("{key}={}", form.replace("TIME", value))]].concat()) == said
        };
        let is_time = |form: &&str| takes(form, "7 ms") && !takes(form, "7 KiB");
        if is_table(sets, &key) && key.split('.').count() < 5 {
            found.extend(times(sets, &key));
        } else if let Some(form) = ["TIME", "[\"1 ns\", \"TIME\"]", "[[\"1 ns\", \"TIME\"]]"].into_iter().find(is_time)
        {
            found.push((key, form));
        }
    }
    found
}

#[test]
fn the_longest_time_of_each_key_is_refused_or_runs() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let named = folder.path().join("named.toml");
    std::fs::write(&named, NAMED).expect("the file can be written");
    let run = |table: &str, sets: &[String]| {
        let settings = DRIVE.iter().map(|set| (*set).to_owned()).chain(sets.iter().cloned()).collect();
        let is_named = table.starts_with("workloads");
        let workload = if is_named { named.display().to_string() } else { "random-write".into() };
        let (device, requests) = (Some("small".into()), (!is_named).then_some(300));
        Experiment { device, workload: Some(workload), requests, settings, ..Experiment::default() }.run().map(|_| ())
    };
    let (mut tried, mut ran) = (BTreeSet::new(), BTreeSet::new());
    for (table, sets) in contexts() {
        for (key, form) in times(&sets, table) {
            for time in LONG {
                let set = format!("{key}={}", form.replace("TIME", time));
                let result = run(table, &[&sets[..], std::slice::from_ref(&set)].concat());
                assert!(!matches!(result, Err(Failure::Run(_))), "{sets:?} {set}: {:?}", result.err());
                ran.extend(result.is_ok().then(|| key.clone()));
            }
            tried.insert(key);
        }
    }
    assert!(tried.len() > 40, "{tried:?}");
    let never: Vec<_> = tried.difference(&ran).collect();
    assert_eq!(never, NOT_RUN);
}
