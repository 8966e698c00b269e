//! Runs a plan: drives with a past made once and shared, schemes side by side.

use crate::failure::Failure;
use crate::plan::{Plan, Planned};
use crate::progress::Bars;
use crate::workloads;
use copyback::metrics::commands::CommandFilter;
use copyback::metrics::matched::{Matched, Responses};
use copyback::metrics::report::Outcome;
use copyback::nand::geometry::Geometry;
use copyback::run::{self, Image, Options, Progress};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Name of the threads that runs go on.
const RUN_THREAD: &str = "run";

/// Keeps broken invariants of runs, which are reported as errors, from being printed as panics, too; `RUST_BACKTRACE=1`
/// shows where they broke.
pub fn quiet_broken_invariants() {
    let shows_backtrace = std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0");
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        // A reader makes an error of what a library says.
        let is_reported = copyback_workload::panic_is_caught() || std::thread::current().name() == Some(RUN_THREAD);
        if shows_backtrace || !is_reported {
            usual(panic);
        }
    }));
}

/// A run that is done.
pub struct Finished {
    /// What it returned.
    pub outcome: Outcome,
    /// Response times of the requests that collection affects under the plan's first scheme; none where it is alone.
    pub matched: Option<Matched>,
    /// How long it took.
    pub wall: Wall,
}

/// Seconds of real time: the only part of a result that differs from one time to the next.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct Wall {
    /// To make the drive and its past; shared by runs with the same past.
    pub precondition_s: f64,
    /// To serve the workload.
    pub simulate_s: f64,
    /// Requests done in a second of real time.
    pub requests_per_s: f64,
    /// Flash page operations done in a second of real time.
    pub page_operations_per_s: f64,
}

/// How a plan is run.
pub struct How {
    /// Runs at once.
    pub jobs: usize,
    /// No bars.
    pub is_quiet: bool,
    /// Check invariants.
    pub check: bool,
    /// Keep rounds of collection.
    pub keep_gc_events: bool,
    /// Keep requests.
    pub keep_requests: bool,
    /// Keep flash commands.
    pub keep_commands: Option<CommandFilter>,
}

/// Cores of this machine: how many runs go side by side where nobody says.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A drive with a past, and how many runs still want it.
struct Shared {
    image: Mutex<(Option<Image>, usize)>,
    seconds: f64,
}

/// Runs everything. Results are in the plan's order and do not depend on `how.jobs`.
pub fn execute(plan: &Plan, how: &How) -> Result<Vec<Finished>, Failure> {
    if let Some(Planned { resolved, .. }) = plan.runs.first() {
        let capacity_bytes = Geometry::new(&resolved.run).logical_bytes();
        workloads::try_trace(&resolved.workload, plan.seed, capacity_bytes, plan.requests)?;
    }
    let mut users: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (i, planned) in plan.runs.iter().enumerate() {
        users.entry(run::image_key(&planned.resolved.run)).or_default().push(i);
    }
    let bars = Bars::new(how.is_quiet, plan.runs.iter().map(|planned| planned.scheme.as_str()));
    let groups: Vec<Vec<usize>> = users.into_values().collect();
    let images = in_parallel(how.jobs, groups.len(), |at| {
        let first = &plan.runs[groups[at][0]];
        let bar = bars.add(&first.scheme, None);
        bar.say("making the drive and its past");
        let started = Instant::now();
        let image = run::precondition(&first.resolved.run, plan.seed)?;
        let image = Mutex::new((Some(image), groups[at].len()));
        Ok(Shared { image, seconds: started.elapsed().as_secs_f64() })
    })?;
    let image_of = |run: usize| groups.iter().position(|group| group.contains(&run)).map(|at| &images[at]);
    let mut finished = in_parallel(how.jobs, plan.runs.len(), |at| {
        let shared = image_of(at).expect("every run is in a group");
        one(plan, &plan.runs[at], how, shared, &bars)
    })?;
    match_requests(&mut finished);
    Ok(finished)
}

/// Matches the requests of all runs with the first run's, and forgets what that took.
fn match_requests(finished: &mut [Finished]) {
    if finished.len() < 2 {
        return;
    }
    let responses: Vec<Responses> =
        finished.iter_mut().map(|done| std::mem::take(&mut done.outcome.responses)).collect();
    for (done, own) in finished.iter_mut().zip(&responses) {
        done.matched = Some(own.matched(&responses[0]));
    }
}

fn one(plan: &Plan, planned: &Planned, how: &How, shared: &Shared, bars: &Bars) -> Result<Finished, Failure> {
    let options = Options {
        seed: plan.seed,
        requests: plan.requests,
        check: how.check,
        keep_gc_events: how.keep_gc_events,
        keep_requests: how.keep_requests,
        keep_commands: how.keep_commands,
        keep_responses: plan.runs.len() > 1,
    };
    let spec = &planned.resolved.workload;
    let capacity_bytes = Geometry::new(&planned.resolved.run).logical_bytes();
    let opened = workloads::open_source(spec, plan.seed, capacity_bytes)?;
    let mut bar = bars.add(&planned.scheme, workloads::expected_requests(spec, plan.requests));
    let image = shared.take();
    bar.restart();
    let started = Instant::now();
    let mut last = None;
    let mut progress = |progress: Progress| {
        bar.update(progress);
        last = Some(progress);
    };
    let outcome = run::simulate(&planned.resolved.run, image, opened.source, &options, &mut progress)?;
    let seconds = started.elapsed().as_secs_f64();
    let report = &outcome.report;
    let flash = &report.flash;
    let pages = flash.host_page_reads
        + flash.host_page_programs
        + flash.gc_page_reads
        + flash.gc_page_programs
        + flash.other_page_reads
        + flash.other_page_programs;
    let rate = |count: u64| count as f64 / seconds.max(1e-9);
    let wall = Wall {
        precondition_s: shared.seconds,
        simulate_s: seconds,
        requests_per_s: rate(report.reads + report.writes + report.trims),
        page_operations_per_s: rate(pages),
    };
    Ok(Finished { outcome, matched: None, wall })
}

impl Shared {
    /// A drive for one run: a copy, or the drive itself for the last.
    fn take(&self) -> Image {
        let mut guard = self.image.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        guard.1 -= 1;
        let image = if guard.1 == 0 { guard.0.take() } else { guard.0.clone() };
        image.expect("a drive is taken once by each of its runs")
    }
}

/// Calls `work` for 0 to `count` on so many threads; the results are in order, the first error in that order wins.
pub fn in_parallel<T: Send>(
    jobs: usize,
    count: usize,
    work: impl Fn(usize) -> Result<T, Failure> + Sync,
) -> Result<Vec<T>, Failure> {
    let next = AtomicUsize::new(0);
    let done: Vec<Mutex<Option<Result<T, Failure>>>> = (0..count).map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        let take_turns = || {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(slot) = done.get(at) else { return };
                let result = work(at);
                *slot.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(result);
            }
        };
        for _ in 0..jobs.min(count) {
            let thread = std::thread::Builder::new().name(RUN_THREAD.into());
            if thread.spawn_scoped(scope, take_turns).is_err() {
                // The system gives no more threads: those that run, or else this one, do it all.
                take_turns();
                break;
            }
        }
    });
    let result = |slot: Mutex<Option<Result<T, Failure>>>| {
        slot.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).expect("every slot was filled")
    };
    done.into_iter().map(result).collect()
}
