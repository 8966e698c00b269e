//! One case: its kind, its random draws, its run and its shrinking.

use crate::draws::Demands;
use crate::tally::Verdict;
use crate::{arrays, ftl_oracle, impossible, keep, runs, several, timing_oracle, traces};
use proptest::prelude::*;
use proptest::strategy::BoxedStrategy;
use proptest::test_runner::{Config, RngSeed, TestError, TestRunner};
use std::cell::{Cell, RefCell};

/// The kinds of cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A drive with all features and disturbances.
    Run,
    /// A drive that the timing oracle understands.
    Timing,
    /// Such a drive, with collections that share dies with the host.
    Sharing,
    /// The translation layer alone.
    Ftl,
    /// Several drives in one run.
    Several,
    /// A trace that is damaged.
    Trace,
    /// An array of drives.
    Array,
    /// A drive that must be refused.
    Impossible,
}

pub const KINDS: &[(&str, Kind)] = &[
    ("run", Kind::Run),
    ("timing", Kind::Timing),
    ("sharing", Kind::Sharing),
    ("ftl", Kind::Ftl),
    ("several", Kind::Several),
    ("trace", Kind::Trace),
    ("array", Kind::Array),
    ("impossible", Kind::Impossible),
];

/// Number of cases after which the sequence of kinds repeats.
const CYCLE: u64 = 24;
/// Cases at the start of each cycle that are of the kind `Run`.
const RUNS: u64 = 6;

impl Kind {
    /// The kind of a case, by its number. One in 24 must be refused; about half are made for the timing oracle.
    pub fn of(number: u64) -> Self {
        match number % CYCLE {
            0..RUNS => Self::Run,
            6..=10 => Self::Timing,
            11..=17 => Self::Sharing,
            18 => Self::Ftl,
            19 => Self::Several,
            20 => Self::Trace,
            21..=22 => Self::Array,
            _ => Self::Impossible,
        }
    }

    /// Counts the cases of the kind `Run` before this one.
    fn turn_of(number: u64) -> u64 {
        number / CYCLE * RUNS + number % CYCLE
    }

    pub fn name(self) -> &'static str {
        KINDS.iter().find(|(_, kind)| *kind == self).expect("every kind has a name").0
    }
}

/// The strategies of kinds, made once; that of a run depends on the case.
pub struct Strategies {
    timing: BoxedStrategy<runs::Case>,
    sharing: BoxedStrategy<runs::Case>,
    ftl: BoxedStrategy<ftl_oracle::Case>,
    several: BoxedStrategy<several::Case>,
    trace: BoxedStrategy<traces::Case>,
    array: BoxedStrategy<arrays::Case>,
    impossible: BoxedStrategy<impossible::Case>,
}

impl Strategies {
    pub fn new() -> Self {
        let timed = |obstacle| runs::plain_case(Demands { obstacle, ..Demands::NONE }).boxed();
        Self {
            timing: timed(timing_oracle::obstacle),
            sharing: timed(timing_oracle::obstacle_to_sharing),
            ftl: ftl_oracle::case().boxed(),
            several: several::case().boxed(),
            trace: traces::case().boxed(),
            array: arrays::case().boxed(),
            impossible: impossible::case().boxed(),
        }
    }
}

/// The longest shrinking; then the smallest failing case so far is reported.
const SHRINKING_MS_MAX: u32 = 30_000;

/// A case that failed, shrunk.
pub struct Failure {
    pub number: u64,
    pub text: String,
}

/// Draws a case and runs `holds`; returns the smallest failing case, if it does not hold.
fn ask<C: std::fmt::Debug + Clone>(
    number: u64,
    strategy: &BoxedStrategy<C>,
    holds: impl Fn(&C) -> Result<Verdict, TestCaseError>,
    keep: impl Fn(&C) -> String,
) -> Result<Verdict, Failure> {
    let config = Config {
        cases: 1,
        rng_seed: RngSeed::Fixed(number),
        failure_persistence: None,
        max_shrink_iters: 4_000,
        max_shrink_time: SHRINKING_MS_MAX,
        ..Config::default()
    };
    let (is_first, verdict) = (Cell::new(true), RefCell::new(Verdict::default()));
    let result = TestRunner::new(config).run(strategy, |case| {
        let result = silence::during(|| std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| holds(&case))));
        let result = result.unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()));
            Err(TestCaseError::fail(text.unwrap_or_else(|| "a panic".to_owned())))
        });
        if let (Err(e), true) = (&result, is_first.replace(false)) {
            eprintln!("\ncase {number} ({}): {e}\n{}\nshrinking ...", Kind::of(number).name(), keep::command(number));
        }
        result.map(|of_case| *verdict.borrow_mut() = of_case)
    });
    match result {
        Ok(()) => Ok(verdict.into_inner()),
        Err(TestError::Fail(reason, case)) => {
            let text = format!("{reason}\n{}\n{case:?}\n{}", keep::command(number), keep(&case));
            Err(Failure { number, text })
        }
        Err(TestError::Abort(reason)) => Err(Failure { number, text: reason.to_string() }),
    }
}

/// Runs the case of a number.
pub fn run_case(number: u64, strategies: &Strategies) -> Result<Verdict, Failure> {
    let keep_run = |case: &runs::Case| keep::run(number, case);
    let nothing = String::new;
    match Kind::of(number) {
        Kind::Run => ask(number, &runs::disturbed_case(Kind::turn_of(number)).boxed(), runs::holds, keep_run),
        Kind::Timing => ask(number, &strategies.timing, runs::holds, keep_run),
        Kind::Sharing => ask(number, &strategies.sharing, runs::holds, keep_run),
        Kind::Ftl => ask(number, &strategies.ftl, |case| Ok(ftl_oracle::holds(case)), |_| nothing()),
        Kind::Several => ask(number, &strategies.several, several::holds, |_| nothing()),
        Kind::Array => ask(number, &strategies.array, arrays::holds, |_| nothing()),
        Kind::Impossible => ask(number, &strategies.impossible, impossible::holds, |_| nothing()),
        Kind::Trace => {
            let path = keep::scratch(number);
            let holds = |case: &traces::Case| traces::holds(case, &path);
            let result = ask(number, &strategies.trace, holds, |case| keep::trace(number, case, &path));
            let _ = std::fs::remove_file(&path);
            result
        }
    }
}

/// The engine reports broken invariants by panics, which are caught; what they print would drown the rest.
mod silence {
    use std::cell::Cell;
    use std::sync::Once;

    thread_local! {
        static IS_SILENT: Cell<bool> = const { Cell::new(false) };
    }
    static HOOK: Once = Once::new();

    /// Lets work of this thread panic without a word.
    pub fn during<T>(work: impl FnOnce() -> T) -> T {
        HOOK.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |info| {
                if !IS_SILENT.get() {
                    before(info);
                }
            }));
        });
        IS_SILENT.set(true);
        let result = work();
        IS_SILENT.set(false);
        result
    }
}
