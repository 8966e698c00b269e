//! Advice if a workload is too short for its warm-up, or to be measured.

use copyback::run::Warmup;
use copyback::run::config::RunConfig;
use copyback::run::precondition::PreconditionConfig;
use copyback::run::warmup::Unfinished;
use copyback_workload::spec::WorkloadSpec;

/// Rounds that a warm-up by the steady-state rule, and the measurement after it, usually need.
const ROUNDS_WANTED: f64 = 20.0;

/// The help if no drive settles.
pub const SAY_HOW_LONG: &str = "set the length of the warm-up: --warmup 1000, or --warmup 10s";

/// The help if a workload writes too little for the drive.
const BEGIN_SETTLED: &str = "remove --warmup and begin with a steady drive (--set precondition.mode=steady-state)";

/// The help if a workload writes too little, for a drive that begins in a steady state.
const BEGINS_SETTLED: &str = "remove --warmup: this drive is steady from the start (precondition.mode=steady-state)";

/// Longest run that is worth suggesting, in requests.
pub const REQUESTS_MAX: f64 = 2e7;

/// The help if a workload ends before its warm-up. `is_settled`: the drive begins in a steady state.
pub fn for_warmup(unfinished: &Unfinished, workload: &WorkloadSpec, is_settled: bool) -> String {
    let settle = if is_settled { BEGINS_SETTLED } else { BEGIN_SETTLED };
    let wanted = match unfinished.warmup {
        Warmup::Steady if !unfinished.has_written => return SAY_HOW_LONG.into(),
        Warmup::Steady => (ROUNDS_WANTED / unfinished.rounds).ceil(),
        Warmup::Requests(requests) => (requests as f64 / unfinished.requests as f64).floor() + 1.0,
        Warmup::Time(ns) => (ns as f64 / unfinished.simulated_ns as f64).floor() + 1.0,
    };
    let times = wanted.max(2.0);
    let passes = times * f64::from(workload.passes.unwrap_or(1));
    let play = (times * unfinished.requests as f64 <= REQUESTS_MAX)
        .then(|| format!("extend the workload: {}", going_on(workload, passes)));
    match (unfinished.warmup, play) {
        (Warmup::Steady, Some(play)) => format!("{play}, take a smaller drive, {settle}, or {SAY_HOW_LONG}"),
        (Warmup::Steady, None) => format!("take a smaller drive, {settle}, or {SAY_HOW_LONG}"),
        (_, Some(play)) => format!("shorten the warm-up, or {play}"),
        (_, None) => "shorten the warm-up".into(),
    }
}

/// Whether a drive is in a steady state of uniform writes from the start, so that no warm-up has to write its capacity
/// several times over.
pub fn begins_settled(run: &RunConfig) -> bool {
    run.precondition == PreconditionConfig::SteadyState {}
}

/// Settings that extend a workload to this many passes. A trace is repeated; a generator makes more requests, because
/// repeating the same ones would overwrite the same few addresses.
pub fn going_on(workload: &WorkloadSpec, passes: f64) -> String {
    let (Some(requests), None) = (workload.requests, &workload.trace) else {
        return format!("--set workload.loop={passes}");
    };
    let once = if workload.passes.is_some_and(|passes| passes > 1) { "--set workload.loop=1 " } else { "" };
    format!("{once}--set workload.requests={}", requests as f64 * passes)
}
