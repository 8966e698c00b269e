//! Properties that must hold for any input bytes.
//!
//! Every fuzz target is a name and bytes that go to [`check`]. This file and its modules know nothing of libFuzzer:
//! `crates/copyback-cli/tests/it/fuzz_corpus.rs` includes them by path, and so runs the corpus and mutations of it on
//! the stable toolchain with every `make test`. They are in no crate of the workspace, because only the fuzz targets
//! and that test use them.

mod config;
mod memory;
mod readers;

use copyback_workload::spec::Format;

/// Targets that are no format of a trace: a trace of unknown format, a trace in every format of lines, the layers of a
/// configuration, `--set` arguments.
const OTHER_TARGETS: [&str; 4] = ["open", "lines", "config", "set"];

/// The names that a target may have: the formats, and the others.
#[allow(dead_code, reason = "the corpus test asks for it, the targets know their names")]
pub fn possible_targets() -> Vec<&'static str> {
    let formats = Format::ALL.iter().filter(|format| **format != Format::Auto).map(|format| format.word());
    formats.chain(OTHER_TARGETS).collect()
}

/// The targets that must exist: one for each format that is not of lines, and the others. A format of lines may have a
/// target of its own, which finds more in the same time.
#[allow(dead_code, reason = "the corpus test asks for it, the targets know their names")]
pub fn needed_targets() -> Vec<&'static str> {
    let own = Format::ALL.iter().filter(|format| **format != Format::Auto && !format.is_of_lines());
    own.map(|format| format.word()).chain(OTHER_TARGETS).collect()
}

/// Lets a reader catch a library's panic and make an error of it. libFuzzer's hook would end the program before; the
/// usual one would only print text without use.
pub fn let_readers_catch_panics() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !copyback_workload::panic_is_caught() {
            usual(panic);
        }
    }));
}

/// Runs one input of a target.
///
/// # Panics
/// Where the program under test panics, or something does not hold that must.
pub fn check(target: &str, bytes: &[u8]) {
    match target {
        "open" => readers::check(None, bytes),
        "lines" => {
            let formats = Format::ALL.iter().filter(|format| format.is_of_lines());
            formats.for_each(|format| readers::check(Some(*format), bytes));
        }
        "config" => config::check_layers(bytes),
        "set" => config::check_sets(bytes),
        format => readers::check(Some(format.parse().expect("a target's name is a format's word")), bytes),
    }
}
