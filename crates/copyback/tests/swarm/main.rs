//! Does any combination of settings break a run?
//!
//! A swarm draws cases: drives with one setting of every knob, hosts, faults. A case's number determines its kind and
//! all random draws, so that the number alone replays it. A few cases run with all other tests; `make swarm` runs for a
//! given time. A failure prints the command that replays it, and keeps the shrunk case as a configuration and a trace.
//!
//! `SWARM_SEED`: number of the first case; `SWARM_CASES`: number of cases; `SWARM_SECONDS`: time limit; `SWARM_KIND`:
//! only cases of this kind.

mod arrays;
mod cases;
mod coverage;
mod draws;
mod ftl_oracle;
mod impossible;
mod keep;
mod kept;
mod knobs;
mod runs;
mod several;
mod supplied;
#[path = "../it/support/mod.rs"]
mod support;
mod tally;
mod times;
mod timing_oracle;
mod traces;
mod workers;

use cases::KINDS;
use std::time::Duration;
use tally::Tally;
use workers::{Budget, swarm};

/// The number that a variable has; an empty variable counts as unset.
fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().filter(|text| !text.is_empty()).map(|text| number(name, &text))
}

/// Parses a whole number. Anything else is an error: a default instead would run another swarm, and seem to pass.
fn number(name: &str, text: &str) -> u64 {
    let lowest = u64::from(name != "SWARM_SEED");
    let number = text.parse().ok().filter(|number| *number >= lowest);
    number.unwrap_or_else(|| panic!("{name}={text}: give a whole number from {lowest} to {}", u64::MAX))
}

#[test]
fn a_setting_is_a_number_or_an_error() {
    assert_eq!((number("SWARM_SEED", "0"), number("SWARM_CASES", "1")), (0, 1));
    for (name, text) in [
        ("SWARM_SECONDS", "abc"),
        ("SWARM_SECONDS", "-1"),
        ("SWARM_CASES", "0"),
        ("SWARM_SEED", "18446744073709551616"),
        ("SWARM_SEED", " 1"),
    ] {
        let error = std::panic::catch_unwind(|| number(name, text)).expect_err("it is refused");
        let error = error.downcast_ref::<String>().expect("a panic with a text");
        assert!(error.starts_with(&format!("{name}={text}: give a whole number")), "{error}");
    }
}

fn run(budget: Budget, is_talking: bool) -> Tally {
    match swarm(budget, is_talking) {
        Ok(tally) => tally,
        Err(failure) => panic!("case {} does not hold: {}", failure.number, failure.text),
    }
}

/// Number of cases in the short swarm; 643 of them run.
const SHORT: u64 = 672;
/// Number of its first case; from here on, every setting runs. A new knob may need another.
const SHORT_FIRST: u64 = 42_840;

/// The same short swarm each time, as part of all tests.
#[test]
fn a_short_swarm_finds_nothing() {
    let tally = run(Budget { first: SHORT_FIRST, cases: SHORT, time: None, kind: None }, false);
    println!("{tally}");
    assert!(tally.ran * 10 >= tally.drawn * 9, "less than nine tenths ran: {tally}");
    assert!(tally.timed.cases() * 2 >= tally.ran, "less than half was predicted: {tally}");
    assert!(tally.timed.is_enough(), "the timing oracle knew too little: {tally}");
    assert!(tally.erases > 0 && tally.dropped_moves > 0, "the translation layer collected nothing, or never too late");
    assert_eq!(tally.coverage.never_ran(), [], "settings that no case ran with");
}

/// Cases that found what the short swarm did not, as they are in `kept`.
#[test]
fn what_failed_once_holds() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/swarm/kept");
    let mut ran = 0;
    for file in std::fs::read_dir(&folder).expect("there is such a folder") {
        let path = file.expect("it can be read").path();
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let case = kept::read(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let verdict = runs::holds(&case).unwrap_or_else(|e| panic!("{} does not hold: {e}", path.display()));
        assert!(verdict.ran, "{} is refused now", path.display());
        ran += 1;
    }
    assert!(ran > 0, "nothing is kept");
}

/// Runs for a given time: `make swarm`.
#[test]
#[ignore = "runs for minutes: make swarm"]
fn a_long_swarm_finds_nothing() {
    let cases = setting("SWARM_CASES");
    let seconds = setting("SWARM_SECONDS").or(if cases.is_none() { Some(600) } else { None });
    let first = setting("SWARM_SEED").unwrap_or(1_000_000);
    println!("cases from {first} on");
    let time = seconds.map(Duration::from_secs);
    let kind = std::env::var("SWARM_KIND").ok().filter(|name| !name.is_empty());
    let kind = kind.map(|name| KINDS.iter().find(|(known, _)| *known == name).expect("there is such a kind").1);
    let tally = run(Budget { first, cases: cases.unwrap_or(u64::MAX), time, kind }, true);
    println!("{tally}\nhow often each setting ran:\n{}", tally.coverage);
    if tally.drawn >= 10_000 && kind.is_none() {
        assert_eq!(tally.coverage.never_ran(), [], "settings that no case ran with");
    }
}
