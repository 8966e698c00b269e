//! Is a mistake in a configuration an error with a place and a remedy, on every path that takes one?

use crate::common::*;
use copyback_cli::api::{Done, Failure, call};
use std::path::Path;
use std::sync::Arc;

/// A key of the device or the scheme with a value that no drive has.
const OF_DRIVES: &[(&str, &str)] = &[
    ("capacity.over_provisioning", "0"),
    ("capacity.over_provisioning", "-1"),
    ("capacity.over_provisioning", "0.0001"),
    ("capacity.over_provisioning", "nan"),
    ("capacity.reserved", "1.5"),
    ("capacity.logical", "\"1 B\""),
    ("capacity.logical", "\"1 PiB\""),
    ("geometry.channels", "0"),
    ("geometry.blocks_per_plane", "3"),
    ("geometry.page_size", "1000"),
    ("timing.erase", "\"0 ns\""),
    ("trigger.soft", "2.5"),
    ("trigger.hard", "7.5"),
    ("host.queue_depth", "0"),
];

/// Impossible values of the array's keys.
const OF_ARRAYS: &[(&str, &str)] = &[
    ("array.drives", "1"),
    ("array.drives", "65"),
    ("array.stripe_unit", "777"),
    ("array.stripe_unit", "\"1 PiB\""),
    ("array.failed", "[9]"),
    ("array.delay", "\"1 h\""),
    ("array.override", "[{ drives = [9] }]"),
    ("array.override", "[{ drives = [0], seed = 1 }, { drives = [0], seed = 2 }]"),
];

fn failure(words: &[&str]) -> Failure {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    // As the Python package calls the program.
    match call(&words, &Arc::default()) {
        Ok(Done::Text(text)) => panic!("{words:?} is taken:\n{text}"),
        Ok(_) => panic!("{words:?} is taken"),
        Err(failure) => failure,
    }
}

/// An error that names the key, its place and the remedy.
fn is_refused(words: &[&str], key: &str) {
    let failure = failure(words);
    let (message, help) = (failure.message(), failure.help());
    assert!(matches!(failure, Failure::Input(_)), "{words:?}: {message}");
    let table = key.split('.').next().unwrap();
    assert!(message.contains(table), "{words:?} names no key of `{table}`: {message}");
    assert!(help.is_some_and(|help| help.split(' ').count() > 1), "{words:?}: no remedy for: {message}");
    assert!(failure.place().is_some(), "{words:?}: no place of: {message}");
}

fn text(path: &Path) -> &str {
    path.to_str().expect("names of tests are UTF-8")
}

#[test]
fn every_path_refuses_every_mistake() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let with_array = OF_DRIVES.iter().chain(OF_ARRAYS);
    for (key, value) in with_array {
        let set = format!("{key}={value}");
        let of_pgc = format!("pgc:{set}");
        for words in [
            &["run", "-a", "raid-5", "--set", &set][..],
            &["run", "-a", "raid-5", "--print-config", "--set", &set],
            &["run", "-a", "raid-5", "-S", "ggc-proactive-idle", "--set", &set],
            &["compare", "-a", "raid-5", "-S", "baseline,pgc", "--set", &set],
            &["compare", "-a", "raid-5", "-S", "baseline,pgc", "--set", &of_pgc],
        ] {
            is_refused(words, key);
        }
        let [sweep, claims, experiment] = ["sweep.toml", "claims.toml", "experiment.toml"].map(path);
        let of_array = if key.starts_with("array.") { "" } else { "array.level = \"raid-5\"\n" };
        let of_level = if *key == "array.drives" { "array.level = \"raid-5\"\n" } else { "" };
        let text_of_sweep = format!("schemes = [\"baseline\"]\n[set]\n{of_array}{of_level}{key} = {value}\n");
        std::fs::write(&sweep, &text_of_sweep).unwrap();
        std::fs::write(&claims, format!("{CLAIM}{text_of_sweep}").replace("schemes = [\"baseline\"]\n", "")).unwrap();
        std::fs::write(&experiment, format!("array.level = \"raid-5\"\n{key} = {value}\n")).unwrap();
        is_refused(&["sweep", text(&sweep)], key);
        is_refused(&["sweep", text(&sweep), "--list"], key);
        is_refused(&["reproduce", text(&claims)], key);
        is_refused(&["run", text(&experiment)], key);
    }
}

/// A claim of a file of `reproduce`.
const CLAIM: &str = "schemes = [\"baseline\", \"pgc\"]\nclaim = [{ figure = \"1\", text = \"faster\", where = \"here\", \
                     metric = \"response.all.mean_ns\", scheme = \"pgc\", against = \"baseline\", published = -50 }]\n";

/// A single coordinated drive is an array of one.
#[test]
fn a_coordinated_drive_refuses_every_mistake() {
    for (key, value) in OF_DRIVES {
        is_refused(&["run", "-S", "ggc-reactive-inclusive", "--set", &format!("{key}={value}")], key);
    }
}

/// An override makes a drive that is impossible, or incompatible with the others.
#[test]
fn a_drive_of_its_own_is_checked_before_anything_is_built() {
    let folder = tempfile::tempdir().unwrap();
    let [device, experiment] = ["device.toml", "experiment.toml"].map(|name| folder.path().join(name));
    let small = output_text(&copyback(&["devices", "small"]));
    let small = &small[small.find("[geometry]").expect("a device has a geometry")..];
    let mistakes = [
        ("blocks_per_plane", "blocks_per_plane = 3", "geometry"),
        ("over_provisioning", "over_provisioning = 0.0", "capacity"),
        ("over_provisioning", "logical = \"1 B\"", "capacity"),
        // A stripe unit of 16 KiB is no whole page of this drive.
        ("page_size", "page_size = \"24 KiB\"", "array.stripe_unit"),
    ];
    for (key, line, named) in mistakes {
        let lines = small.lines().map(|own| if own.trim_start().starts_with(key) { line } else { own });
        std::fs::write(&device, lines.collect::<Vec<_>>().join("\n")).unwrap();
        let array =
            "[array]\nlevel = \"raid-5\"\ndrives = 3\nstripe_unit = \"16 KiB\"\n[[array.override]]\ndrives = [1]\n";
        std::fs::write(&experiment, format!("{array}device = \"device.toml\"\n")).unwrap();
        for words in [&["run", text(&experiment)][..], &["run", text(&experiment), "--print-config"]] {
            let failure = failure(words);
            let message = failure.message();
            assert!(message.contains(named) && message.contains("drive 1"), "{line}: {message}");
            assert!(failure.help().is_some() && failure.place().is_some(), "{line}: {message}");
        }
    }
}

/// The program ends as the library does.
#[test]
fn a_mistake_in_an_array_ends_with_2() {
    let output = copyback(&["run", "-a", "raid-5", "--set", "capacity.over_provisioning=0"]);
    let text = error_text(&output);
    assert_eq!(code(&output), 2, "{text}");
    for part in ["error: `capacity.over_provisioning`: 0 is not possible", "--set:1:", "help: use physical/logical"] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
}

/// Files with a value of another type, each with the command that reads it, and the key that the error names.
const WRONG_TYPES: &[(&str, &str, &str)] = &[
    ("run", "device = 5\n", "`device`"),
    ("run", "seed = \"a\"\n", "`seed`"),
    ("run", "requests = 1.5\n", "`requests`"),
    ("run", "warmup = true\n", "`warmup`"),
    ("run", "array = 7\n", "`array`"),
    ("compare", "schemes = [1]\n", "`schemes`"),
    ("run", "[array]\ndrives = \"a\"\n", "`array.drives`"),
    ("run", "[[array.override]]\ndrives = [0]\nseed = \"a\"\n", "`array.override.seed`"),
    ("run", "[[array.override]]\ndrives = 0\n", "`array.override.drives`"),
    ("run", "[[array.override]]\ndrives = [0]\ndevice = 3\n", "`array.override.device`"),
    ("run", "[[array.override]]\ndrives = [0]\ncoordinated = 1\n", "`array.override.coordinated`"),
    ("run", "[workloads.a]\nqueue_depth = \"a\"\n", "`workloads.a.queue_depth`"),
    ("trace info", "[workload]\ntrace = 5\n", "`workload.trace`"),
    ("trace info", "[workload]\ntrace = \"x\"\noperations.2a = 5\n", "`workload.operations.2a`"),
    ("sweep", "[[variant]]\nname = 5\n", "`name` in [[variant]]"),
    ("sweep", "[[variant]]\nof = \"pgc\"\n", "`name` in [[variant]]"),
    ("sweep", "[[variant]]\nname = \"a\"\nof = [\"pgc\"]\n", "`of` in [[variant]]"),
    ("sweep", "[[variant]]\nname = \"a\"\nof = \"pgc\"\nset = 5\n", "`set` in [[variant]]"),
    ("sweep", "schemes = [\"a\"]\n[[variant]]\nname = \"a\"\nof = \"pgc\"\nset.trigger.soft = [1]\n", "`trigger.soft`"),
    ("sweep", "[[case]]\nname = 5\n", "`name` in [[case]]"),
    ("sweep", "[[case]]\nset.array.override = [{ drives = [0], seed = \"a\" }]\n", "`array.override.seed`"),
    ("sweep", "[set]\narray.override = [{ drives = [0], seed = \"a\" }]\n", "`array.override.seed`"),
    ("sweep", "[vary]\ntrigger.soft = [true]\n", "`trigger.soft`"),
    ("sweep", "warmup = []\n", "`warmup`"),
    ("sweep", "seeds = [1.5]\n", "`seeds`"),
    ("reproduce", "claim = [{ figure = 1 }]\n", "`figure` in [[claim]]"),
    ("reproduce", "claim = [{ figure = \"1\" }]\n", "`text` in [[claim]]"),
    ("run", "device = small\n", "this is not TOML"),
    ("sweep", "device = small\n", "this is not TOML"),
];

#[test]
fn a_value_of_another_type_is_refused_with_its_key_place_and_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    for (command, text, key) in WRONG_TYPES {
        std::fs::write(&path, text).unwrap();
        let words: Vec<&str> = command.split(' ').chain([self::text(&path)]).collect();
        let failure = failure(&words);
        let (message, help) = (failure.message(), failure.help());
        assert!(message.contains(key), "{text}: no {key} in: {message}");
        assert!(help.is_some_and(|help| help.split(' ').count() > 2), "{text}: no remedy for: {message}");
        let (name, line, ..) = failure.place().unwrap_or_else(|| panic!("{text}: no place of: {message}"));
        assert!(name.ends_with("mine.toml") && line <= text.lines().count(), "{text}: {name}:{line}");
    }
    // A setting of the command line is not part of a list with places of its own: the place is the argument.
    for (set, key) in [
        ("array.override=[{ drives = [0], seed = 'a' }]", "`array.override.seed`"),
        ("workload.columns.order=[1]", "`workload.columns.order`"),
    ] {
        let failure = failure(&["run", "-a", "raid-5", "--set", set]);
        assert!(failure.message().contains(key) && failure.help().is_some(), "{set}: {}", failure.message());
        assert!(failure.place().is_some(), "{set}");
    }
}

/// A variant that no list of schemes names is not left out in silence.
#[test]
fn a_variant_that_does_not_run_is_noted() {
    let folder = tempfile::tempdir().unwrap();
    let (path, table) = (folder.path().join("mine.toml"), folder.path().join("mine.parquet"));
    let noted = |schemes: &str, more: &[&str]| {
        let variant = "[[variant]]\nname = \"soon\"\nof = \"pgc\"\nset.trigger.soft = 0.07\n";
        let head = format!("schemes = {schemes}\nworkload = \"random-read\"\nrequests = 100\n");
        std::fs::write(&path, head + variant).unwrap();
        let words = [&["sweep", text(&path), "--fresh", "--out", text(&table)][..], more].concat();
        output_text(&copyback(&words)).contains("Note: not run: variant `soon`, as `schemes` does not have its name\n")
    };
    assert!(noted("[\"baseline\"]", &[]));
    assert!(!noted("[\"baseline\", \"soon\"]", &[]));
    assert!(!noted("[\"baseline\"]", &["--schemes", "baseline,soon"]));
}

/// A policy in the position of a scheme is explained, and not taken for a misspelt scheme.
#[test]
fn a_policy_that_is_named_as_a_scheme_is_explained() {
    let refused = |word: &str| {
        let output = copyback(&["compare", "--schemes", &format!("baseline,{word}")]);
        assert_eq!(code(&output), 2, "{}", output_text(&output));
        error_text(&output).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let greedy = refused("greedy");
    assert!(greedy.contains("unknown scheme `greedy`") && !greedy.contains("did you mean"), "{greedy}");
    assert!(
        greedy.contains("`greedy` is a policy of `victim`, not a scheme; the scheme `baseline` has it"),
        "{greedy}"
    );
    let suspend = refused("suspend");
    assert!(suspend.contains("`suspend` is a policy of `preemption`, not a scheme: add it to a scheme with"));
    // The advised command runs.
    let (_, advised) = suspend.split_once("compare with ").expect("a command");
    let advised = advised.split(';').next().unwrap().replace("-- ", "--");
    let device = ["compare", "-q", "--requests", "50", "--set", "commands.suspend.latency=20us"];
    let output = copyback(&[&device[..], &advised.split_whitespace().collect::<Vec<_>>()].concat());
    assert_eq!(code(&output), 0, "{advised}: {}", error_text(&output));
    assert!(output_text(&output).contains("\nsuspend "), "{}", output_text(&output));
}
