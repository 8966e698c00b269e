//! The properties that must hold for any input hold for the fuzzers' corpus, and for inputs near it.
//!
//! `fuzz/` checks the same properties with coverage, for any time. Here every input of the corpus runs, with a fixed
//! number of its mutations: the same ones each time, so that failures are reproducible.

#[path = "../../../../fuzz/src/lib.rs"]
mod properties;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Once;

/// Mutations of a trace's bytes, for each reader.
const TRACE_MUTATIONS: u32 = 500;

/// Mutations of a file for the target that tries every line format on it.
const LINES_MUTATIONS: u32 = 30;

/// Mutations of a configuration or of `--set` arguments.
const CONFIG_MUTATIONS: u32 = 2000;

/// The longest mutation.
const MUTATION_BYTES_MAX: usize = 1 << 14;

fn fuzz_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

/// A target's inputs by name, in the order of their names.
fn corpus(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = fuzz_folder().join("corpus").join(target);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut inputs: Vec<(String, Vec<u8>)> =
        paths.map(|path| (path.display().to_string(), std::fs::read(path).unwrap())).collect();
    inputs.sort();
    assert!(!inputs.is_empty(), "{target} has no input to start from");
    inputs
}

/// Once, as tests run side by side.
fn prepare() {
    static PREPARED: Once = Once::new();
    PREPARED.call_once(properties::let_readers_catch_panics);
}

/// The targets that fuzz/Cargo.toml builds.
fn targets() -> Vec<String> {
    let manifest: toml::Table = std::fs::read_to_string(fuzz_folder().join("Cargo.toml")).unwrap().parse().unwrap();
    let bins = manifest["bin"].as_array().unwrap().iter();
    bins.map(|bin| bin["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_reader_has_a_target() {
    let built = targets();
    let missing: Vec<_> =
        properties::needed_targets().into_iter().filter(|name| !built.iter().any(|b| b == name)).collect();
    assert!(missing.is_empty(), "fuzz/Cargo.toml lacks {missing:?}");
    let possible = properties::possible_targets();
    let unknown: Vec<_> = built.iter().filter(|name| !possible.contains(&name.as_str())).collect();
    assert!(unknown.is_empty(), "fuzz/Cargo.toml builds {unknown:?}, which are no formats");
}

#[test]
fn the_corpus_holds() {
    prepare();
    for target in targets() {
        for (name, bytes) in corpus(&target) {
            check(&target, &bytes, &name);
        }
    }
}

#[test]
fn mutations_of_traces_hold() {
    prepare();
    for target in targets() {
        match target.as_str() {
            "config" | "set" => {}
            "lines" => mutate("lines", LINES_MUTATIONS),
            format => mutate(format, TRACE_MUTATIONS),
        }
    }
}

#[test]
fn mutations_of_configurations_hold() {
    ["config", "set"].into_iter().for_each(|target| mutate(target, CONFIG_MUTATIONS));
}

fn mutate(target: &str, mutations: u32) {
    let inputs = corpus(target);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    for index in 0..mutations {
        let (name, bytes) = &inputs[rng.random_range(0..inputs.len())];
        let (_, other) = &inputs[rng.random_range(0..inputs.len())];
        let mut bytes = bytes.clone();
        for _ in 0..rng.random_range(1..=4) {
            change(&mut bytes, other, &mut rng);
        }
        bytes.truncate(MUTATION_BYTES_MAX);
        check(target, &bytes, &format!("mutation {index}, of {name}"));
    }
}

/// Runs an input; if a property does not hold, keeps the input and reports its path.
fn check(target: &str, bytes: &[u8], name: &str) {
    if catch_unwind(AssertUnwindSafe(|| properties::check(target, bytes))).is_err() {
        let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{target}"));
        std::fs::write(&kept, bytes).unwrap();
        panic!("target {target} fails on {name}; the input is kept as {}", kept.display());
    }
}

/// Numbers at which sums, products and shifts go wrong.
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "65535",
    "65536",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999",
    "0.0000000001",
    "1e308",
    "nan",
    "inf",
];

/// Changes bytes in one of the ways in which files are damaged, or numbers are wrong.
fn change(bytes: &mut Vec<u8>, other: &[u8], rng: &mut Xoshiro256PlusPlus) {
    let at = rng.random_range(0..=bytes.len());
    let len = rng.random_range(0..=(bytes.len() - at).min(64));
    match rng.random_range(0..7) {
        0 if at < bytes.len() => bytes[at] ^= 1 << rng.random_range(0..8),
        1 if at < bytes.len() => bytes[at] = rng.random(),
        2 => bytes.truncate(at),
        3 => drop(bytes.drain(at..at + len)),
        4 => {
            let again = bytes[at..at + len].to_vec();
            bytes.splice(at..at, again);
        }
        5 => {
            let from = rng.random_range(0..=other.len());
            bytes.splice(at.., other[from..].iter().copied());
        }
        _ => replace_number(bytes, at, rng),
    }
}

/// Replaces the first run of digits from here on; if there is none, a few bytes become all zeros or ones.
fn replace_number(bytes: &mut Vec<u8>, at: usize, rng: &mut Xoshiro256PlusPlus) {
    let Some(start) = bytes[at..].iter().position(u8::is_ascii_digit).map(|digit| at + digit) else {
        let fill = if rng.random() { 0xff } else { 0 };
        bytes.iter_mut().skip(at).take(4).for_each(|byte| *byte = fill);
        return;
    };
    let len = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = NUMBERS[rng.random_range(0..NUMBERS.len())];
    bytes.splice(start..start + len, number.bytes());
}
