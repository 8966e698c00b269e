//! What must hold whatever bytes the program is given?
//!
//! Every fuzz target is a name and bytes that go to [`check`]. This file and its modules know nothing of libFuzzer:
//! `crates/copyback-cli/tests/it/fuzz_corpus.rs` includes them by path, and so runs the corpus and mutations of it on the
//! stable toolchain with every `make test`. They stand here rather than in a crate of the workspace because nothing but
//! the two ever uses them.

mod config;
mod memory;
mod readers;

use copyback_workload::spec::Format;

/// Targets that are no format of a trace: a trace of unknown format, the layers of a configuration, `--set` arguments.
const OTHER_TARGETS: [&str; 3] = ["open", "config", "set"];

/// The name of every target: one for each format that a reader exists for, and the others.
#[allow(dead_code, reason = "the corpus test asks for it, the targets know their names")]
pub fn targets() -> Vec<&'static str> {
    let formats = Format::ALL.iter().filter(|format| **format != Format::Auto).map(|format| format.word());
    formats.chain(OTHER_TARGETS).collect()
}

/// Lets a reader catch a library's panic and make an error of it. libFuzzer's hook would end the program before; the usual
/// one would only print what nobody needs to read.
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
        "config" => config::check_layers(bytes),
        "set" => config::check_sets(bytes),
        format => readers::check(Some(format.parse().expect("a target's name is a format's word")), bytes),
    }
}
