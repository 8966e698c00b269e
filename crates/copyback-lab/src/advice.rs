//! Advice if a workload is too short for its warm-up, or to be measured.

use copyback::run::Warmup;
use copyback::run::config::{Resolved, RunConfig};
use copyback::run::precondition::PreconditionConfig;
use copyback::run::warmup::Unfinished;
use copyback_workload::spec::{Tenant, WorkloadSpec};
use copyback_workload::tenants::with_keys_of;

/// Rounds that a warm-up by the steady-state rule, and the measurement after it, usually need.
const ROUNDS_WANTED: f64 = 20.0;

/// The help if no drive settles.
pub const SAY_HOW_LONG: &str = "set the length of the warm-up: --warmup 1000, or --warmup 10s";

/// The help if a workload writes too little for the drive.
const USE_STEADY_DRIVE: &str = "remove --warmup and begin with a steady drive (--set precondition.mode=steady-state)";

/// The help if a workload writes too little, for a drive that begins in a steady state.
const DRIVE_IS_STEADY: &str = "remove --warmup: this drive is steady from the start (precondition.mode=steady-state)";

/// Longest run that is worth suggesting, in requests.
pub const REQUESTS_MAX: f64 = 2e7;

/// Most workloads whose settings an advice lists.
const LISTED_MAX: usize = 4;

/// The help if a workload ends before its warm-up. `has_jobs`: its workloads are jobs of fio.
pub fn for_warmup(unfinished: &Unfinished, resolved: &Resolved, has_jobs: bool) -> String {
    let settle = if begins_settled(&resolved.run) { DRIVE_IS_STEADY } else { USE_STEADY_DRIVE };
    let wanted = match unfinished.warmup {
        Warmup::Steady if !unfinished.has_write => return SAY_HOW_LONG.into(),
        Warmup::Steady => (ROUNDS_WANTED / unfinished.rounds).ceil(),
        Warmup::Requests(requests) => (requests as f64 / unfinished.requests as f64).floor() + 1.0,
        Warmup::Time(ns) => (ns as f64 / unfinished.simulated_ns as f64).floor() + 1.0,
    };
    let times = wanted.max(2.0);
    let play = (times * unfinished.requests as f64 <= REQUESTS_MAX).then(|| longer(resolved, times, has_jobs));
    match (unfinished.warmup, play) {
        (Warmup::Steady, Some(play)) => format!("{play}, take a smaller drive, {settle}, or {SAY_HOW_LONG}"),
        (Warmup::Steady, None) => format!("take a smaller drive, {settle}, or {SAY_HOW_LONG}"),
        (_, Some(play)) => format!("shorten the warm-up, or {play}"),
        (_, None) => "shorten the warm-up".into(),
    }
}

/// How to make the workload, or each of several, this many times as long.
fn longer(resolved: &Resolved, times: f64, has_jobs: bool) -> String {
    let passes = |spec: &WorkloadSpec| times * f64::from(spec.passes.unwrap_or(1));
    if resolved.tenants.is_empty() {
        return format!("extend the workload: {}", settings_for_passes(&resolved.workload, passes(&resolved.workload)));
    }
    if has_jobs {
        return format!("extend the jobs: multiply their `loops` by {times}, or raise their `size` or `runtime`");
    }
    let setting = |(name, Tenant { settings, spec }): (&String, &Tenant)| match settings.passes {
        // The source must last as long.
        Some(own) => Some(format!(
            "--set workloads.{name}.passes={} {}",
            times * own,
            with_keys_of(name, &settings_for_passes(spec, passes(spec)))
        )),
        None if spec.requests.is_none() && spec.trace.is_none() => None,
        None => Some(with_keys_of(name, &settings_for_passes(spec, passes(spec)))),
    };
    let settings: Option<Vec<String>> = resolved.tenants.iter().map(setting).collect();
    match settings.filter(|settings| settings.len() <= LISTED_MAX) {
        Some(settings) => format!("extend the workloads: {}", settings.join(" ")),
        None => "extend the workloads: raise their `requests`, `loop`, `passes` or `stop`".into(),
    }
}

/// Whether a drive is in a steady state of uniform writes from the start, so that no warm-up has to write its capacity
/// several times over.
pub fn begins_settled(run: &RunConfig) -> bool {
    run.precondition == PreconditionConfig::SteadyState {}
}

/// Settings that extend a workload to this many passes. A trace is repeated; a generator makes more requests, because
/// repeating the same ones would overwrite the same few addresses.
pub fn settings_for_passes(workload: &WorkloadSpec, passes: f64) -> String {
    let (Some(requests), None) = (workload.requests, &workload.trace) else {
        return format!("--set workload.loop={passes}");
    };
    let once = if workload.passes.is_some_and(|passes| passes > 1) { "--set workload.loop=1 " } else { "" };
    format!("{once}--set workload.requests={}", requests as f64 * passes)
}
