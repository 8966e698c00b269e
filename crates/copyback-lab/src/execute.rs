//! Executes a plan: drives are preconditioned once and shared, schemes run in parallel.

use crate::advice;
use crate::failure::Failure;
use crate::format;
use crate::memory;
use crate::plan::{Plan, Planned};
use crate::preconditioned::{self, Preconditioned};
use crate::progress::{Bars, DrivesToMake, Preparation, ProgressSink};
use crate::requests::{self, OpenedAll};
use crate::work_order::{self, Group, Work};
use crate::workloads;
use copyback::config::plugins::Fault;
use copyback::host::config::HostMode;
use copyback::observe::commands::CommandFilter;
use copyback::observe::matched::{Matched, Responses};
use copyback::observe::microscope::Focus;
use copyback::observe::report::{Outcome, Report};
use copyback::run::config::Resolved;
use copyback::run::{self, Options, Progress, RunError, Warmup};
use copyback::workload::spec::{Pace, WorkloadSpec};
use copyback_workload::temporary::Permission;
use copyback_workload::tenants::with_keys_of;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Name of the threads that execute runs.
const RUN_THREAD: &str = "run";

/// Keeps broken invariants of runs, which are reported as errors, from being printed as panics, too; `RUST_BACKTRACE=1`
/// shows where they broke.
pub fn quiet_broken_invariants() {
    // Once: a program may call many commands, and each hook would call the one before.
    static IS_SET: std::sync::Once = std::sync::Once::new();
    IS_SET.call_once(set_hook);
}

fn set_hook() {
    let shows_backtrace = std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0");
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        // A trace reader turns a panic of a library into an error.
        let is_reported = copyback_workload::panic_is_caught() || std::thread::current().name() == Some(RUN_THREAD);
        if shows_backtrace || !is_reported {
            usual(panic);
        }
    }));
}

/// A run that has ended.
pub struct Finished {
    /// The outcome.
    pub outcome: Outcome,
    /// Response times of the requests that collection affects under the plan's first scheme; `None` if the plan has
    /// one scheme only, or several workloads.
    pub matched: Option<Matched>,
    /// How long it took.
    pub wall: Wall,
}

/// Seconds of real time: the only part of a result that differs between identical runs.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct Wall {
    /// To make and precondition the drive; shared by runs that start from the same drive.
    pub precondition_s: f64,
    /// To serve the workload.
    pub simulate_s: f64,
    /// Requests done in a second of real time, including requests of the warm-up.
    pub requests_per_s: f64,
    /// Flash page operations done in a second of real time.
    pub page_operations_per_s: f64,
}

/// How a plan is executed. Results do not depend on it.
#[derive(Debug)]
pub struct ExecutionOptions {
    /// Runs to execute in parallel, from 1 on.
    pub jobs: usize,
    /// Receives progress updates.
    pub sink: ProgressSink,
    /// Check invariants.
    pub check: bool,
    /// Keep collections.
    pub keep_gc_events: bool,
    /// Keep requests.
    pub keep_requests: bool,
    /// Keep flash commands.
    pub keep_commands: Option<CommandFilter>,
    /// Keep rates over intervals, as fio samples them.
    pub keep_rates: bool,
    /// Record a time window of an array.
    pub microscope: Option<Focus>,
}

impl Default for ExecutionOptions {
    fn default() -> Self {
        Self {
            jobs: cores(),
            sink: ProgressSink::Discard,
            check: false,
            keep_gc_events: false,
            keep_requests: false,
            keep_commands: None,
            keep_rates: false,
            microscope: None,
        }
    }
}

/// Cores of this machine: the default number of parallel runs.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Runs everything. Results are in the plan's order and do not depend on `options.jobs`.
pub fn execute(plan: &Plan, options: &ExecutionOptions) -> Result<Vec<Finished>, Failure> {
    let looks_for_warmup = looks_for_warmup(plan);
    memory::check(plan, memory::DriveUse { jobs: options.jobs, checks: options.check, looks_for_warmup })?;
    execute_from(&Preconditioned::of([plan], memory::for_kept_drives()), plan, options)
}

/// Runs a plan from drives that several plans share.
pub fn execute_from(
    preconditioned: &Preconditioned,
    plan: &Plan,
    options: &ExecutionOptions,
) -> Result<Vec<Finished>, Failure> {
    if let Some(planned) = plan.runs.first() {
        requests::try_traces(planned, plan.seed, plan.requests_in_all())?;
    }
    let names = plan.runs.iter().map(|planned| planned.scheme.as_str());
    let bars = Bars::new(&options.sink, names);
    if let Some(gaps) = plan.fitted.and_then(|fitted| fitted.note_of_gaps()) {
        // Logged before the drive is filled, which may take minutes: a smaller drive may suffice.
        bars.log(&gaps.trim().replacen("It uses", "The trace uses", 1).replacen("of that", "of what it addresses", 1));
    }
    let groups = work_order::groups(plan);
    let preparations = Preparations::new(&groups, options.jobs);
    let make = |planned: &Planned, number: usize| {
        let bar = bars.add(&planned.scheme, None);
        let mut preparation = Preparation::new(&bars, &bar, &planned.scheme, preparations.of(planned), number);
        let made = preconditioned.make(&planned.members[number], &mut |work| preparation.update(work));
        made.map_err(|failure| if plan.runs.len() > 1 { failure.of_run(&planned.scheme) } else { failure })
    };
    if looks_for_warmup(plan) {
        // Each run begins twice, so that no drive can be freed early.
        let drives: Vec<_> = groups.iter().flat_map(|group| &group.drives).collect();
        in_parallel(options.jobs, drives.len(), |at| make(drives[at].0, drives[at].1))?;
    }
    let warmup = common_warmup(plan, options, preconditioned, &bars)?;
    let (order, matching) = (work_order::in_order(&groups, options.jobs), Matching::new(plan));
    let rank = |at: usize| match order[at] {
        Work::Make(planned, _) => plan.runs.iter().position(|other| std::ptr::eq(other, planned)).unwrap_or(0),
        Work::Run(run) => run,
    };
    let done = in_parallel_by_rank(options.jobs, order.len(), rank, |at| match order[at] {
        Work::Make(planned, number) => make(planned, number).map(|()| None),
        Work::Run(run) => {
            let mut done = one(plan, &plan.runs[run], warmup, options, preconditioned, &bars)?;
            matching.add(run, std::mem::take(&mut done.outcome.responses));
            Ok(Some((run, done)))
        }
    })?;
    let in_order_of_plan: BTreeMap<usize, Finished> = done.into_iter().flatten().collect();
    let mut finished: Vec<Finished> = in_order_of_plan.into_values().collect();
    assert_eq!(finished.len(), plan.runs.len(), "each run is in the order once");
    matching.give_to(&mut finished);
    Ok(finished)
}

/// What is announced about the drives that runs make.
struct Preparations<'a>(Vec<(&'a Planned, DrivesToMake)>);

impl<'a> Preparations<'a> {
    fn new(groups: &[Group<'a>], jobs: usize) -> Self {
        let of_group = |group: &Group<'a>| Some((group.drives.first()?.0, drives_to_make(group, jobs)));
        Self(groups.iter().filter_map(of_group).collect())
    }

    /// The announcement that the drives of a run share.
    fn of(&self, planned: &Planned) -> &DrivesToMake {
        let own = self.0.iter().find(|(of, _)| std::ptr::eq(*of, planned));
        &own.expect("each run that makes drives has one").1
    }
}

/// The drives that a group makes: their number, and their memory while each job preconditions one.
fn drives_to_make(group: &Group<'_>, jobs: usize) -> DrivesToMake {
    let memory_of = |(planned, number): &(&Planned, usize)| {
        let member = &planned.members[*number];
        (preconditioned::kept_bytes(member, group.runs.len()), member.config.memory().preconditioning_bytes)
    };
    let memory: Vec<(u64, u64)> = group.drives.iter().map(memory_of).collect();
    let at_once = jobs.clamp(1, memory.len().max(1));
    let kept_bytes: u64 = memory.iter().map(|(kept_bytes, _)| kept_bytes).sum();
    let most_bytes = memory.iter().map(|(_, preconditioning_bytes)| *preconditioning_bytes).max().unwrap_or(0);
    DrivesToMake::new(memory.len(), at_once, kept_bytes + at_once as u64 * most_bytes)
}

/// Whether the end of a plan's warm-up depends on the scheme, and there are several.
fn looks_for_warmup(plan: &Plan) -> bool {
    let is_closed = |planned: &Planned| {
        let (is_closed, tenants) = (planned.resolved.run.host.mode == HostMode::Closed, &planned.resolved.tenants);
        // Each of several workloads has a loop of its own.
        if tenants.is_empty() { is_closed } else { tenants.values().any(|tenant| tenant.pace(is_closed) != Pace::Open) }
    };
    let differs = match plan.warmup {
        Some(Warmup::Steady) => true,
        Some(Warmup::Time(_)) => plan.runs.iter().any(is_closed),
        Some(Warmup::Requests(_)) | None => false,
    };
    differs && plan.runs.len() > 1
}

/// The warm-up of all runs of a plan. All runs exclude the same requests, so that the measured requests can be
/// compared. If the end of a warm-up depends on the scheme, each run first finds its own end. The latest end applies to
/// all, so that every drive is steady; warm-ups are then simulated twice.
fn common_warmup(
    plan: &Plan,
    options: &ExecutionOptions,
    preconditioned: &Preconditioned,
    bars: &Bars,
) -> Result<Option<Warmup>, Failure> {
    if !looks_for_warmup(plan) {
        return Ok(plan.warmup);
    }
    let ends = in_parallel(options.jobs, plan.runs.len(), |at| {
        let planned = &plan.runs[at];
        let bar = bars.add(&planned.scheme, None);
        bar.set_status("looking for the end of its warm-up");
        let run_options = Options { keep_commands: None, microscope: None, ..run_options(plan, plan.warmup, options) };
        let OpenedAll { streams, files: _files } = requests::open_all(planned, plan.seed)?;
        let drives = preconditioned.copy(planned, &mut |_| bar.stop_if_requested())?;
        let mut listen = |_| bar.stop_if_requested();
        let end = run::warmup_end_of(&planned.resolved.run, drives, streams, &run_options, &mut listen);
        end.map_err(|error| failed(error, plan, planned).of_run(&planned.scheme))
    })?;
    Ok(ends.into_iter().max().map(Warmup::Requests))
}

/// Matches the requests of runs with the first run's, and frees the memory for that as soon as both have ended. Runs of
/// several workloads keep no response time for each request.
struct Matching {
    is_on: bool,
    /// Responses of the first run, and of runs that ended before it, by their index in the plan.
    kept: Mutex<BTreeMap<usize, Arc<Responses>>>,
    matched: Mutex<BTreeMap<usize, Matched>>,
}

impl Matching {
    fn new(plan: &Plan) -> Self {
        let is_on = plan.runs.len() > 1 && plan.runs[0].resolved.tenants.is_empty();
        Self { is_on, kept: Mutex::default(), matched: Mutex::default() }
    }

    /// A run has ended.
    fn add(&self, run: usize, responses: Responses) {
        if !self.is_on {
            return;
        }
        let (first, ended) = {
            let mut kept = lock(&self.kept);
            kept.insert(run, Arc::new(responses));
            let Some(first) = kept.get(&0).cloned() else { return };
            let others = kept.split_off(&1);
            let own = (run == 0).then(|| (0, Arc::clone(&first)));
            (first, others.into_iter().chain(own).collect::<Vec<_>>())
        };
        for (run, own) in ended {
            let matched = own.matched(&first);
            lock(&self.matched).insert(run, matched);
        }
    }

    /// The matched responses of all runs, in the plan's order.
    fn give_to(self, finished: &mut [Finished]) {
        for (run, matched) in self.matched.into_inner().unwrap_or_else(PoisonError::into_inner) {
            finished[run].matched = Some(matched);
        }
    }
}

/// Locks; a thread that panicked left complete entries only.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn run_options(plan: &Plan, warmup: Option<Warmup>, options: &ExecutionOptions) -> Options {
    Options {
        seed: plan.seed,
        requests: plan.requests,
        warmup,
        check: options.check,
        keep_gc_events: options.keep_gc_events,
        keep_requests: options.keep_requests,
        keep_commands: options.keep_commands,
        keep_rates: options.keep_rates,
        keep_responses: plan.runs.len() > 1,
        microscope: options.microscope,
    }
}

/// Why a run failed.
fn failed(error: RunError, plan: &Plan, planned: &Planned) -> Failure {
    match error {
        RunError::WarmupUnfinished(unfinished) => {
            let help = advice::for_warmup(&unfinished, &planned.resolved, !plan.jobs.list.is_empty());
            Failure::input(unfinished.to_string()).with_help(help)
        }
        RunError::Empty if ends_with_map(&planned.resolved) => {
            let names: Vec<&str> = planned.resolved.tenants.keys().map(String::as_str).collect();
            let of = if names.is_empty() { String::new() } else { format!(" in {}", format::names(&names)) };
            Failure::input(format!(
                "there is no request{of}: no request fits behind the first address that fio's map draws. fio ends such a \
                 job without I/O and without an error; a simulation has nothing to measure"
            ))
            .with_help("raise `size`, use another seed (--seed N) or smaller requests, or norandommap=1")
        }
        error => with_keys_of_workloads(error.into(), &planned.resolved),
    }
}

/// Names the keys of `[workload]` in the help as several workloads have them.
fn with_keys_of_workloads(failure: Failure, resolved: &Resolved) -> Failure {
    let mut names = resolved.tenants.keys();
    let name = match (names.next(), names.next()) {
        (None, _) => return failure,
        (Some(only), None) => only,
        _ => "NAME",
    };
    match failure.help().map(|help| with_keys_of(name, help)) {
        Some(help) => failure.with_help(help),
        None => failure,
    }
}

/// Whether all of its workloads end with fio's map of blocks.
fn ends_with_map(resolved: &Resolved) -> bool {
    let ends = |spec: &WorkloadSpec| spec.addresses.as_ref().is_some_and(|addresses| addresses.ends == Some(true));
    match resolved.tenants.is_empty() {
        true => ends(&resolved.workload),
        false => resolved.tenants.values().all(|tenant| ends(&tenant.spec)),
    }
}

/// The note that a run ended before the requested number of requests, and the setting that extends it.
fn too_few_requests(plan: &Plan, resolved: &Resolved, report: &Report) -> Option<String> {
    let Resolved { workload, tenants, .. } = resolved;
    let is_generated = tenants.is_empty() && workload.trace.is_none();
    let expected = workloads::expected_requests(workload, None).filter(|_| is_generated);
    let (asked, made) = match expected {
        Some(made) => (plan.requests_in_all()?, made),
        None => (plan.requests?, report.reads + report.writes + report.trims),
    };
    if made >= asked {
        return None;
    }
    let has = match (tenants.is_empty(), plan.jobs.list.is_empty()) {
        (true, _) if is_generated => "the workload generates",
        (true, _) => "the workload has",
        (false, true) => "the workloads have",
        (false, false) => "the jobs have",
    };
    let remedy = match (tenants.is_empty(), plan.jobs.list.is_empty()) {
        (true, _) if is_generated => "set `workload.requests` for more",
        (true, _) if workload.first.is_some_and(|first| first <= made) => "raise `workload.first` for more",
        (true, _) if workload.passes.is_some() => "raise `workload.loop` for more",
        (true, _) => "set `workload.loop` to replay the trace several times",
        (false, true) => "raise their `requests`, `loop` or `stop` for more",
        (false, false) => "raise their `size`, `loops` or `runtime` for more",
    };
    let (made, asked) = (crate::format::counted(made, "request"), crate::format::count(asked));
    Some(format!("{has} {made}, but {asked} are requested; {remedy}"))
}

fn one(
    plan: &Plan,
    planned: &Planned,
    warmup: Option<Warmup>,
    options: &ExecutionOptions,
    preconditioned: &Preconditioned,
    bars: &Bars,
) -> Result<Finished, Failure> {
    let run_options = run_options(plan, warmup, options);
    let OpenedAll { streams, files: _files } = requests::open_all(planned, plan.seed)?;
    let expected = workloads::expected_requests(&planned.resolved.workload, plan.requests_in_all());
    let mut bar = bars.add(&planned.scheme, expected);
    let (drives, precondition_s) = preconditioned.take(planned, &mut |_| bar.stop_if_requested())?;
    bar.restart();
    let started = Instant::now();
    let mut last = None;
    let mut progress = |progress: Progress| {
        bar.update(progress);
        last = Some(progress);
    };
    let outcome = run::simulate_streams(&planned.resolved.run, drives, streams, &run_options, &mut progress)
        .map_err(|error| failed(error, plan, planned))?;
    let mut outcome = outcome;
    planned.retain_notes_of_user(&mut outcome.notes);
    outcome.notes.extend(too_few_requests(plan, &planned.resolved, &outcome.report));
    let seconds = started.elapsed().as_secs_f64();
    let rate = |count: fn(&Progress) -> u64| last.as_ref().map_or(0, count) as f64 / seconds.max(1e-9);
    let wall = Wall {
        precondition_s,
        simulate_s: seconds,
        requests_per_s: rate(|last| last.requests_done),
        page_operations_per_s: rate(|last| last.page_operations),
    };
    Ok(Finished { outcome, matched: None, wall })
}

/// Converts the mistake of a supplied policy to an error outside of a run: when its drive is made or copied.
fn guarded<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        match panic.downcast_ref::<Fault>() {
            Some(fault) => Err(Failure::of_plugin(fault)),
            None => std::panic::resume_unwind(panic),
        }
    })
}

/// Calls `work` for 0 to `count` on this many threads, at least one. Results are in order; of errors, the first in that
/// order is returned. After an error, no later work begins.
pub fn in_parallel<T: Send>(
    jobs: usize,
    count: usize,
    work: impl Fn(usize) -> Result<T, Failure> + Sync,
) -> Result<Vec<T>, Failure> {
    in_parallel_by_rank(jobs, count, |at| at, work)
}

/// The same, with the errors in the order of ranks: the returned error is the same for any number of threads. After an
/// error, no work of a higher rank begins.
fn in_parallel_by_rank<T: Send>(
    jobs: usize,
    count: usize,
    rank: impl Fn(usize) -> usize + Sync,
    work: impl Fn(usize) -> Result<T, Failure> + Sync,
) -> Result<Vec<T>, Failure> {
    let (next, first_failed) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
    let done: Vec<Mutex<Option<Result<T, Failure>>>> = (0..count).map(|_| Mutex::new(None)).collect();
    let permission = Permission::of_thread();
    let take_turns = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(entry) = done.get(at) else { return };
            // Work of lower ranks is always done, so that the reported error does not depend on the threads.
            if rank(at) <= first_failed.load(Ordering::Relaxed) {
                let result = guarded(|| work(at));
                *lock(entry) = Some(result.inspect_err(|_| _ = first_failed.fetch_min(rank(at), Ordering::Relaxed)));
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1).min(count) {
            let thread = std::thread::Builder::new().name(RUN_THREAD.into());
            if thread.spawn_scoped(scope, || permission.during(take_turns)).is_err() {
                // The system gives no more threads: the running ones, or else this one, do all the work.
                take_turns();
                break;
            }
        }
    });
    let results: Vec<Option<Result<T, Failure>>> =
        done.into_iter().map(|entry| entry.into_inner().unwrap_or_else(PoisonError::into_inner)).collect();
    let failed = |at: &usize| matches!(results[*at], Some(Err(_)));
    match (0..count).filter(failed).min_by_key(|&at| rank(at)) {
        Some(at) => Err(results.into_iter().nth(at).flatten().and_then(Result::err).expect("it is an error")),
        None => Ok(results.into_iter().map(|result| result.and_then(Result::ok).expect("all work is done")).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Work 1 of rank 1 fails at once, and work 2 of rank 0 still begins.
    #[test]
    fn the_error_of_the_lowest_rank_is_returned() {
        for jobs in [1, 2, 9] {
            let failed = in_parallel_by_rank(
                jobs,
                4,
                |at| at % 2,
                |at| match at {
                    0 => Ok(()),
                    _ => Err(Failure::run(format!("{at} failed"))),
                },
            );
            assert_eq!(failed.expect_err("some fail").message(), "2 failed", "{jobs} jobs");
        }
    }

    /// The first error in order is returned, whichever thread fails first; with one thread, nothing begins after it.
    #[test]
    fn after_an_error_no_later_work_begins() {
        for jobs in [1, 4] {
            let begun = AtomicUsize::new(0);
            let failed = in_parallel(jobs, 100, |at| {
                begun.fetch_add(1, Ordering::Relaxed);
                match at {
                    // It fails last, although it is first in order.
                    3 if jobs > 1 => std::thread::sleep(std::time::Duration::from_millis(50)),
                    _ => {}
                }
                if at < 3 { Ok(at) } else { Err(Failure::run(format!("{at} failed"))) }
            });
            assert_eq!(failed.expect_err("some fail").message(), "3 failed");
            let begun = begun.into_inner();
            assert!(begun <= 3 + jobs, "{begun} with {jobs} jobs");
        }
    }
}
