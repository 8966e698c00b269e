//! The reference lists every key with named choices, with all their names.
//!
//! `UPDATE_DOCS=1` rewrites it. The lists come from the configuration itself: an error about an unknown key or name
//! lists the valid ones.

use copyback::config::layers::{Layer, LayerError};
use copyback::run::config::{AXES, Stack};
use std::path::Path;

const BASE: &str = "
geometry = { channels = 2, chips_per_channel = 1, dies_per_chip = 1, planes_per_die = 2, blocks_per_plane = 64,
             pages_per_block = 16, page_size = \"16 KiB\" }
timing = { read = \"60 us\", program = \"400 us\", erase = \"2.5 ms\", channel = \"800 MB/s\" }
capacity = { over_provisioning = 1.0 }
";

/// A name that no key has, and that no key takes.
const UNKNOWN: &str = "zzz";

/// Tables whose keys are listed, in addition to the axes.
const TABLES: &[&str] =
    &["geometry", "timing", "capacity", "commands", "tasks", "array", "host", "precondition", "measure", "workload"];

/// Tables whose names the user chooses: how the reference shows them, and a name to look up their keys.
const OF_LISTS: &[(&str, &str)] = &[("workloads.NAME", "workloads.zzzz")];

fn error(sets: &[String]) -> Option<LayerError> {
    let mut stack = Stack::new();
    stack.push(Layer::parse("base", BASE).expect("it is TOML"));
    stack.push(Layer::of_sets(sets).ok()?);
    stack.resolve_parts().err()
}

/// What is wrong with settings.
pub fn message(sets: &[String]) -> Option<String> {
    error(sets).map(|error| error.message)
}

/// Names between backticks.
fn quoted(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The keys of a table with these settings.
pub fn keys(sets: &[String], table: &str) -> Vec<String> {
    let error = error(&[sets, &[format!("{table}.{UNKNOWN}=1")]].concat());
    let help = error.filter(|error| error.message.contains("unknown key")).and_then(|error| error.help);
    help.and_then(|help| Some(quoted(help.split_once("keys: ")?.1))).unwrap_or_default()
}

/// The names that a key accepts; empty if it takes another kind of value.
fn choices(sets: &[String], key: &str) -> Vec<String> {
    let set = format!("{key}={UNKNOWN}");
    let Some(error) = error(&[sets, &[set]].concat()) else { return Vec::new() };
    let help = error.help.unwrap_or_default();
    if let Some((_, listed)) = help.split_once("choices: ") {
        return quoted(listed);
    }
    let known = error.message.split_once("Known are ").map_or("", |(_, listed)| listed);
    let names = known.split(|c: char| c == ',' || c.is_whitespace()).map(|name| name.trim_end_matches('.'));
    names.filter(|name| !name.is_empty() && *name != "and").map(str::to_owned).collect()
}

/// Whether a key is a table.
pub fn is_table(sets: &[String], key: &str) -> bool {
    let error = error(&[sets, &[format!("{key}={UNKNOWN}")]].concat());
    error.is_some_and(|error| error.message.contains("is a table, not a value"))
}

fn code(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Rows of the keys of a table, and of tables in it, that take names.
fn rows(sets: &[String], table: &str, shown: &str) -> String {
    let mut text = String::new();
    for key in keys(sets, table) {
        let (own, shown) = (format!("{table}.{key}"), format!("{shown}.{key}"));
        let names = choices(sets, &own);
        if !names.is_empty() {
            text += &format!("| `{shown}` | {} |\n", code(&names));
        } else if is_table(sets, &own) && own.split('.').count() < 5 {
            text += &rows(sets, &own, &shown);
        }
    }
    text
}

/// What the comments of a source say of the names of an enum, or of the fields of a struct.
fn comments(source: &str, item: &str) -> Vec<(String, String)> {
    let (_, behind) = source.split_once(&format!("pub {item}")).unwrap_or_else(|| panic!("no {item}"));
    let (mut said, mut all) = (String::new(), Vec::new());
    let lines = behind.lines().skip(1).map(str::trim).take_while(|line| !line.starts_with('}'));
    for line in lines.filter(|line| !line.starts_with('#')) {
        let name = match (line.split_once(" = \""), line.strip_prefix("pub ")) {
            (Some((_, name)), _) => name.split('"').next(),
            (None, Some(field)) => field.split(':').next(),
            (None, None) => None,
        };
        match (line.strip_prefix("///"), name) {
            (Some(comment), _) => said = format!("{said} {}", comment.trim()).trim().to_owned(),
            (None, Some(name)) => all.push((name.to_owned(), std::mem::take(&mut said))),
            (None, None) => {}
        }
    }
    all
}

/// Tables of a workload whose `kind` determines the other keys, with the items of the source that describe them.
const KINDS: &[(&str, &str, &str)] = &[
    ("workload.arrivals", "enum ArrivalKind", "struct ArrivalSpec"),
    ("workload.size", "enum SizeKind", "struct SizeSpec"),
    ("workload.addresses", "enum AddressKind", "struct AddressSpec"),
];

fn reference() -> String {
    let mut text = "# Keys that take a name\n\n\
        <!-- Written by a test. To change it, change the configuration or the comments of its source, and run\n\
        `UPDATE_DOCS=1 cargo test --package copyback-cli --test it key_reference`. -->\n\n\
        This page lists each key whose value is a name, with all names that it takes, and the keys that belong to each\n\
        policy. Two exceptions: the key `name` of `trigger.plugin` and of `preemption.plugin` is not listed, and\n\
        `coordination.idle_stop` refuses `own`. Set a key in a file, in its table, or with `--set table.key=name`.\n\
        `copyback schemes NAME` prints the page of a policy: what it does, and what its keys mean. The\n\
        [glossary](guide.md#glossary) defines the terms.\n\n## Policies\n\n\
        An axis takes one policy: `[victim] policy = \"greedy\"`.\n\n| axis | policy | its keys |\n|---|---|---|\n"
        .to_owned();
    let mut of_policies = String::new();
    for axis in AXES {
        for choice in axis.choices {
            let sets = [format!("{}.policy={}", axis.name, choice.name)];
            let own: Vec<String> = keys(&sets, axis.name).into_iter().filter(|key| key != "policy").collect();
            text += &format!("| `{}` | `{}` | {} |\n", axis.name, choice.name, code(&own));
            let shares = [&sets[..], &["admit.shares.policy=fixed".to_owned()]].concat();
            let with_shares = if own.contains(&"shares".to_owned()) { &shares[..] } else { &sets };
            for row in rows(with_shares, axis.name, axis.name).lines() {
                let is_new = !row.starts_with(&format!("| `{}.policy`", axis.name)) && !of_policies.contains(row);
                of_policies += &if is_new { format!("{row}\n") } else { String::new() };
            }
        }
    }
    let debit = || "admit.policy=debit".to_owned();
    for policy in choices(&[debit()], "admit.shares.policy") {
        let own = keys(&[debit(), format!("admit.shares.policy={policy}")], "admit.shares");
        let own: Vec<String> = own.into_iter().filter(|key| key != "policy").collect();
        text += &format!("| `admit.shares` | `{policy}` | {} |\n", code(&own));
    }
    text += "\n## Keys of policies\n\n| key | names |\n|---|---|\n";
    text += &of_policies;
    text += "\n## Keys of other tables\n\n| key | names |\n|---|---|\n";
    let lists = OF_LISTS.iter().map(|(shown, table)| (*table, *shown));
    for (table, shown) in TABLES.iter().map(|table| (*table, *table)).chain(lists) {
        text += &rows(&[], table, shown);
    }
    let source = include_str!("../../../copyback-workload/src/spec/generator.rs");
    for (table, kinds, fields) in KINDS {
        text += &format!("\n## `[{table}]`\n\n| kind | what it is |\n|---|---|\n");
        for (kind, says) in comments(source, kinds) {
            text += &format!("| `{kind}` | {says} |\n");
        }
        text += "\n| key | what it is |\n|---|---|\n";
        for (key, says) in comments(source, fields) {
            text += &format!("| `{key}` | {says} |\n");
        }
    }
    text
}

#[test]
fn the_reference_lists_every_name() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/keys.md");
    let expected = reference();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &expected).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == expected, "docs/keys.md is not what is written now (UPDATE_DOCS=1 writes it)");
}

/// The lists of the configuration are found: kinds of a generator, policies of shares, modes, a list.
#[test]
fn names_of_all_tables_are_found() {
    let text = reference();
    for row in [
        "| `workload.arrivals.kind` | `poisson`, `fixed`, `on-off`, `closed` |",
        "| `precondition.mode` |",
        "| `host.mode` | `open`, `closed` |",
        "| `array.level` | `raid-0`, `raid-1`, `raid-10`, `raid-5`, `raid-6` |",
        "| `order.first` |",
        "| `workload.event` |",
        "| `admit.shares.policy` |",
        "| `burst_rate` | Requests a second during a burst, of `on-off`. |",
    ] {
        assert!(text.contains(row), "no {row}\n{text}");
    }
    let policies: usize = AXES.iter().map(|axis| axis.choices.len()).sum();
    assert!(text.matches("\n| `").count() > policies + 40, "{text}");
}
