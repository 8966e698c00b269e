//! Does anything break if everything is combined with everything?
//!
//! A swarm draws cases: drives with one setting of every knob, hosts, faults. A case's number decides its kind and all
//! that is drawn, so the number alone replays it. A short budget of them runs with all other tests; `make swarm` runs
//! for as long as it is told. A failure prints the command that replays it, shrinks the case, and keeps the rest as a
//! configuration and a trace.
//!
//! `SWARM_SEED`: number of the first case; `SWARM_CASES`: how many; `SWARM_SECONDS`: or for how long; `SWARM_KIND`:
//! only
//! those of this kind.

mod arrays;
mod ftl_oracle;
mod keep;
mod kept;
mod knobs;
mod runs;
mod several;
#[path = "../it/support/mod.rs"]
mod support;
mod times;
mod timing_oracle;
mod traces;

use copyback::observe::array_report::ToldTotals;
use knobs::{Coverage, Mark};
use proptest::prelude::*;
use proptest::strategy::BoxedStrategy;
use proptest::test_runner::{Config, RngSeed, TestError, TestRunner};
use std::cell::{Cell, RefCell};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use timing_oracle::Timed;

/// What a case asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A drive with everything, and whatever disturbs it.
    Run,
    /// A drive that the timing oracle understands.
    Timing,
    /// One of them whose collections share their dies with the host.
    Sharing,
    /// The translation layer by itself.
    Ftl,
    /// Several drives in one run.
    Several,
    /// A trace that is damaged.
    Trace,
    /// An array of drives.
    Array,
}

const KINDS: &[(&str, Kind)] = &[
    ("run", Kind::Run),
    ("timing", Kind::Timing),
    ("sharing", Kind::Sharing),
    ("ftl", Kind::Ftl),
    ("several", Kind::Several),
    ("trace", Kind::Trace),
    ("array", Kind::Array),
];

impl Kind {
    /// The kind of a case, by its number.
    fn of(number: u64) -> Self {
        match number % 18 {
            0..=7 => Self::Run,
            8 => Self::Timing,
            9..=10 => Self::Sharing,
            11..=12 => Self::Ftl,
            13 => Self::Several,
            14..=15 => Self::Trace,
            _ => Self::Array,
        }
    }

    fn name(self) -> &'static str {
        KINDS.iter().find(|(_, kind)| *kind == self).expect("every kind has a name").0
    }
}

/// What came of the cases so far.
#[derive(Clone)]
struct Tally {
    drawn: u64,
    ran: u64,
    /// What the timing oracle foretold, to the end of every request.
    timed: Timed,
    erases: u64,
    dropped_moves: u64,
    /// What drives of arrays were told.
    told: ToldTotals,
    coverage: Coverage,
}

impl Tally {
    fn new() -> Self {
        let kinds: Vec<&str> = KINDS.iter().map(|(name, _)| *name).collect();
        let files = runs::FAULTS.iter().chain(traces::KNOBS).chain(arrays::KNOBS).copied();
        let more: Vec<_> = files.chain([("kind", &kinds[..])]).collect();
        let (timed, told, coverage) = (Timed::default(), ToldTotals::default(), Coverage::new(&more));
        Self { drawn: 0, ran: 0, timed, erases: 0, dropped_moves: 0, told, coverage }
    }

    fn note(&mut self, kind: Kind, ran: bool, marks: &[Mark]) {
        if ran {
            self.ran += 1;
            self.coverage.add(marks);
            self.coverage.add(&[("kind", kind.name())]);
        }
    }
}

/// The strategies of all kinds, made once.
struct Strategies {
    run: BoxedStrategy<runs::Case>,
    timing: BoxedStrategy<runs::Case>,
    sharing: BoxedStrategy<runs::Case>,
    ftl: BoxedStrategy<ftl_oracle::Case>,
    several: BoxedStrategy<several::Case>,
    trace: BoxedStrategy<traces::Case>,
    array: BoxedStrategy<arrays::Case>,
}

impl Strategies {
    fn new() -> Self {
        Self {
            run: runs::case(|_| true, true).boxed(),
            timing: runs::case_of(may_be_timed, timing_oracle::is_known).boxed(),
            sharing: runs::case_of(may_be_timed, timing_oracle::is_known_to_share).boxed(),
            ftl: ftl_oracle::case().boxed(),
            several: several::case().boxed(),
            trace: traces::case().boxed(),
            array: arrays::case().boxed(),
        }
    }
}

/// Settings of drives that the timing oracle is likely to understand.
fn may_be_timed(setting: support::Setting) -> bool {
    let unknown = ["\"dynamic\"", "static-die", "\"lru\"", "\"global\"", "trigger.scope"];
    let is_other =
        |key: &str, wanted: &[&str]| setting.starts_with(key) && !wanted.iter().any(|w| setting.ends_with(w));
    !is_other("precondition.", &["\"empty\"", "fill = 0.7"]) && unknown.iter().all(|word| !setting.contains(word))
}

/// A case that failed, shrunk.
struct Failure {
    number: u64,
    text: String,
}

/// Draws a case and asks `holds`; the smallest case that fails, if it does not hold.
fn ask<C: std::fmt::Debug + Clone>(
    number: u64,
    strategy: &BoxedStrategy<C>,
    holds: impl Fn(&C) -> Result<(), TestCaseError>,
    keep: impl Fn(&C) -> String,
) -> Result<(), Failure> {
    let config = Config {
        cases: 1,
        rng_seed: RngSeed::Fixed(number),
        failure_persistence: None,
        max_shrink_iters: 4_000,
        max_shrink_time: SHRINKING_MS_MAX,
        ..Config::default()
    };
    let is_first = Cell::new(true);
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
        result
    });
    match result {
        Ok(()) => Ok(()),
        Err(TestError::Fail(reason, case)) => {
            let text = format!("{reason}\n{}\n{case:?}\n{}", keep::command(number), keep(&case));
            Err(Failure { number, text })
        }
        Err(TestError::Abort(reason)) => Err(Failure { number, text: reason.to_string() }),
    }
}

/// Runs the case of a number.
fn run_case(number: u64, strategies: &Strategies, tally: &RefCell<Tally>) -> Result<(), Failure> {
    let kind = Kind::of(number);
    tally.borrow_mut().drawn += 1;
    let of_run = |case: &runs::Case| {
        let verdict = runs::holds(case)?;
        if let Some(foretold) = verdict.timed {
            tally.borrow_mut().timed.add(foretold);
        }
        tally.borrow_mut().note(kind, verdict.ran, &case.marks);
        Ok(())
    };
    let keep_run = |case: &runs::Case| keep::run(number, case);
    match kind {
        Kind::Run => ask(number, &strategies.run, of_run, keep_run),
        Kind::Timing => ask(number, &strategies.timing, of_run, keep_run),
        Kind::Sharing => ask(number, &strategies.sharing, of_run, keep_run),
        Kind::Ftl => {
            let of_ftl = |case: &ftl_oracle::Case| {
                let verdict = ftl_oracle::holds(case);
                let mut tally = tally.borrow_mut();
                tally.erases += verdict.erases;
                tally.dropped_moves += verdict.dropped;
                tally.note(kind, verdict.ran, &case.marks);
                Ok(())
            };
            ask(number, &strategies.ftl, of_ftl, |_| String::new())
        }
        Kind::Several => {
            let of_several = |case: &several::Case| {
                let ran = several::holds(case)?;
                tally.borrow_mut().note(kind, ran, &case.marks());
                Ok(())
            };
            ask(number, &strategies.several, of_several, |_| String::new())
        }
        Kind::Array => {
            let of_array = |case: &arrays::Case| {
                let told = arrays::holds(case)?;
                let mut tally = tally.borrow_mut();
                tally.told = tally.told.zip(&told.unwrap_or_default(), |sum, of_case| sum + of_case);
                tally.note(kind, told.is_some(), &case.marks);
                Ok(())
            };
            ask(number, &strategies.array, of_array, |_| String::new())
        }
        Kind::Trace => {
            let path = keep::scratch(number);
            let of_trace = |case: &traces::Case| {
                let ran = traces::holds(case, &path)?;
                tally.borrow_mut().note(kind, ran, &case.marks());
                Ok(())
            };
            let result = ask(number, &strategies.trace, of_trace, |case| keep::trace(number, case, &path));
            let _ = std::fs::remove_file(&path);
            result
        }
    }
}

/// How many cases are run, and from which on.
#[derive(Clone, Copy)]
struct Budget {
    first: u64,
    cases: u64,
    time: Option<Duration>,
    /// Cases of other kinds are passed over.
    kind: Option<Kind>,
}

/// Shrinking ends then with what it has.
const SHRINKING_MS_MAX: u32 = 30_000;
/// A case that takes longer than this, shrinking included, hangs: cases take milliseconds.
const CASE_SECONDS_MAX: u64 = 60;

/// What a worker is doing: the number of its case and since when.
type Doing = Mutex<Option<(u64, Instant)>>;

/// Runs cases on all cores until the budget is used up or one fails.
fn swarm(budget: Budget, is_talking: bool) -> Result<Tally, Failure> {
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get().min(8));
    let (next, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let doing: Vec<Doing> = (0..workers).map(|_| Mutex::new(None)).collect();
    let results: Vec<Mutex<(Tally, Option<Failure>)>> =
        (0..workers).map(|_| Mutex::new((Tally::new(), None))).collect();
    let started = Instant::now();
    let is_over = || budget.time.is_some_and(|time| started.elapsed() >= time);
    let work = |worker: usize| {
        let strategies = Strategies::new();
        while !stop.load(Ordering::Relaxed) && !is_over() {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= budget.cases {
                break;
            }
            let number = budget.first.wrapping_add(at);
            if budget.kind.is_some_and(|kind| kind != Kind::of(number)) {
                continue;
            }
            *doing[worker].lock().expect("no worker panics") = Some((number, Instant::now()));
            let tally = RefCell::new(results[worker].lock().expect("no worker panics").0.clone());
            let result = run_case(number, &strategies, &tally);
            *doing[worker].lock().expect("no worker panics") = None;
            let mut entry = results[worker].lock().expect("no worker panics");
            match result {
                Ok(()) => entry.0 = tally.into_inner(),
                Err(failure) => {
                    entry.1 = Some(failure);
                    stop.store(true, Ordering::Relaxed);
                }
            }
        }
    };
    let summed = || {
        let mut sum = Tally::new();
        for result in &results {
            let tally = &result.lock().expect("no worker panics").0;
            sum.drawn += tally.drawn;
            sum.ran += tally.ran;
            sum.timed.merge(&tally.timed);
            sum.erases += tally.erases;
            sum.dropped_moves += tally.dropped_moves;
            sum.told = sum.told.zip(&tally.told, |a, b| a + b);
            sum.coverage.merge(&tally.coverage);
        }
        sum
    };
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..workers).map(|worker| scope.spawn(move || work(worker))).collect();
        let mut said = Instant::now();
        while handles.iter().any(|h| !h.is_finished()) {
            std::thread::sleep(Duration::from_millis(20));
            watch(&doing);
            if is_talking && said.elapsed() >= Duration::from_secs(10) {
                said = Instant::now();
                eprintln!("{} s: {}", started.elapsed().as_secs(), told(&summed()));
            }
        }
    });
    let sum = summed();
    let failures = results.into_iter().filter_map(|r| r.into_inner().expect("no worker panics").1);
    failures.min_by_key(|f| f.number).map_or(Ok(sum), Err)
}

/// Ends the program where a worker hangs: nothing else can.
fn watch(doing: &[Doing]) {
    for doing in doing {
        if let Some((number, since)) = *doing.lock().expect("no worker panics")
            && since.elapsed() > Duration::from_secs(CASE_SECONDS_MAX)
        {
            eprintln!("case {number} or its shrinking has gone on for {CASE_SECONDS_MAX} s\n{}", keep::command(number));
            std::process::exit(1);
        }
    }
}

/// One line of progress.
fn told(tally: &Tally) -> String {
    let Tally { drawn, ran, timed, told, .. } = tally;
    let ToldTotals { forced, forced_collections, last_resort_collections, pauses } = told;
    let told = format!(
        "drives forced {forced} times, to {forced_collections} collections, {last_resort_collections} at the last \
         resort, {pauses} pauses"
    );
    format!("{drawn} cases, {ran} ran, {} refused; {timed}; {told}", drawn - ran)
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

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

fn run(budget: Budget, is_talking: bool) -> Tally {
    match swarm(budget, is_talking) {
        Ok(tally) => tally,
        Err(failure) => panic!("case {} does not hold: {}", failure.number, failure.text),
    }
}

/// The same short swarm each time, as part of all tests.
#[test]
fn a_short_swarm_finds_nothing() {
    let budget = Budget { first: 0, cases: 4_000, time: None, kind: None };
    let tally = run(budget, false);
    println!("{}", told(&tally));
    // Knobs that do not go together are refused, as they should be; the rest must be enough, and mixed.
    assert!(tally.ran * 5 > tally.drawn, "only {} of {} cases ran", tally.ran, tally.drawn);
    assert!(tally.timed.is_enough(), "the timing oracle knew too little: {}", told(&tally));
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

/// As long as it is told: `make swarm`.
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
    println!("{}\nhow often each setting ran:\n{}", told(&tally), tally.coverage);
    if tally.drawn >= 10_000 && kind.is_none() {
        assert_eq!(tally.coverage.never_ran(), [], "settings that no case ran with");
    }
}
