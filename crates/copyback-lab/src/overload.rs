//! Notes on drives that do not keep up with an open loop's requests, with advice.

use crate::execute::Finished;
use crate::format::{names, percent, time};
use crate::plan::{Plan, Planned};
use copyback::flash::geometry::Geometry;
use copyback::observe::report::{Arrivals, Cause};
use copyback::observe::steady::Verdict;
use copyback::run::overload::lasts;
use copyback::tasks::gc::preemption::PreemptionConfig;
use copyback::tasks::gc::preemption::always::VICTIMS_MAX;
use copyback::workload::spec::{ArrivalKind, ArrivalSpec, WorkloadSpec};

/// Least factor by which the advice slows down arrivals.
const SLOWER: f64 = 4.0;

/// Share of the time below which dies are mostly idle.
const DIES_MOSTLY_IDLE: f64 = 0.5;
/// Least number of parallel victims that the advice suggests, if the drive has as many dies.
const VICTIMS: u32 = 4;
/// Response time of a write that counts as long, even if only one write takes it.
const LONG_WAIT_NS: u64 = 1_000_000_000;
/// Least share of the writes' mean time spent on waiting for space, if a write takes long. A quarter suffices: the
/// waits of requests behind such writes are charged to other host requests.
const SHARE_FOR_SPACE: f64 = 0.25;

/// As `SHARE_FOR_SPACE`, if no write takes long.
const SHARE_FOR_SPACE_IF_SHORT: f64 = 0.5;

/// A number of parallel victims that may help, if the present number leaves dies idle.
fn more_victims(planned: &Planned, done: &Finished) -> Option<u32> {
    let (run, report) = (&planned.resolved.run, &done.outcome.report);
    let PreemptionConfig::Always(task) = &run.preemption else { return None };
    let dies = Geometry::new(&run.device()).dies;
    let are_idle = report.utilization.die < DIES_MOSTLY_IDLE && report.gc.collections > 0;
    let victims = VICTIMS.max(2 * task.victims).min(dies).min(VICTIMS_MAX);
    (are_idle && victims > task.victims).then_some(victims)
}

/// Whether writes spend a large part of their time waiting for pages. The buffer's part counts, because a page that
/// waits for a free block is charged to the buffer.
fn waits_for_space(done: &Finished) -> bool {
    let report = &done.outcome.report;
    let parts = &report.latency_breakdown.write_mean_ns;
    let waited_ns: f64 =
        parts.iter().filter(|(cause, _)| matches!(cause, Cause::Gc | Cause::Buffer)).map(|(_, ns)| ns).sum();
    let is_long = report.response.write.max_ns >= LONG_WAIT_NS;
    let share = if is_long { SHARE_FOR_SPACE } else { SHARE_FOR_SPACE_IF_SHORT };
    waited_ns > share * report.response.write.mean_ns
}

/// The advice to collect more victims in parallel, with the share of idle time; `None` if it would not help.
fn victims_advice(planned: &Planned, done: &Finished) -> Option<String> {
    let victims = more_victims(planned, done)?;
    Some(format!(
        "Dies are idle for {} of the time under `{}`: collect more blocks in parallel, --set \
         preemption.victims={victims}",
        percent(1.0 - done.outcome.report.utilization.die),
        planned.scheme
    ))
}

/// The note that writes waited for collections that used few of the dies, even if that did not last.
fn note_of_few_victims(plan: &Plan, finished: &[Finished]) -> Option<String> {
    let waiting = plan.runs.iter().zip(finished).filter(|(_, done)| waits_for_space(done));
    let found: Vec<_> =
        waiting.filter_map(|(planned, done)| Some((planned, done, victims_advice(planned, done)?))).collect();
    let schemes: Vec<&str> = found.iter().map(|(planned, ..)| &*planned.scheme).collect();
    let longest_ns = found.iter().map(|(_, done, _)| done.outcome.report.response.write.max_ns).max()?;
    let (.., advice) = found.first()?;
    Some(format!(
        "Note: writes took up to {} and waited for collections under {}\n      {advice}\n",
        time(longest_ns as f64),
        names(&schemes)
    ))
}

/// Whether requests arrived faster than the drive served them.
fn is_overloaded(done: &Finished) -> bool {
    done.outcome.report.steady.verdict == Verdict::Overloaded
}

/// How requests arrive this many times more slowly. For a generator, the advice sets the mean rate, so that a table
/// shows the right rate. For a cell of a sweep it sets none, because the sweep may vary the rate.
fn slower_arrivals(workload: &WorkloadSpec, of_scheme: &str, by: f64, is_cell: bool) -> String {
    let arrivals = workload.arrivals.as_ref().filter(|_| workload.trace.is_none() && workload.time_scale.is_none());
    let has_one_rate = |arrivals: &&ArrivalSpec| matches!(arrivals.kind, ArrivalKind::Poisson | ArrivalKind::Fixed);
    match arrivals.filter(has_one_rate).and_then(|arrivals| arrivals.rate) {
        Some(_) if is_cell => format!("{by} times: lower `workload.arrivals.rate`"),
        Some(rate) => format!("--set {of_scheme}workload.arrivals.rate={}", (1e3 * rate / by).round() / 1e3),
        None => format!("--set {of_scheme}workload.time_scale={}", by * workload.time_scale.unwrap_or(1.0)),
    }
}

/// The note that drives could not keep up, and what helps. If all kept up: the note that writes waited for collections
/// on few dies, or `None`. `is_cell`: the plan is a cell of a sweep.
pub fn note(plan: &Plan, finished: &[Finished], is_cell: bool) -> Option<String> {
    let both = || plan.runs.iter().zip(finished);
    let schemes: Vec<&str> =
        both().filter(|(_, done)| is_overloaded(done)).map(|(planned, _)| &*planned.scheme).collect();
    let Some((planned, done)) = both().find(|(_, done)| is_overloaded(done)) else {
        return note_of_few_victims(plan, finished);
    };
    let mut overloaded = both().filter(|(_, done)| is_overloaded(done));
    let victims = overloaded.find_map(|(planned, done)| victims_advice(planned, done));
    let Arrivals { requests, together, .. } = done.outcome.arrivals;
    let advice = if 2 * together >= requests {
        format!(
            "{} of the requests arrive in the same nanosecond as another, so their times mean little: let a request \
             arrive when another completes, --set host.mode=closed",
            percent(together as f64 / requests as f64)
        )
    } else if !planned.resolved.tenants.is_empty() {
        "Lower the rates of the workloads (`workloads.NAME.arrivals.rate`), or make them wait: `workloads.NAME.mode = \
         \"paced\"`"
            .to_owned()
    } else {
        let longest =
            both().map(|(_, done)| lasts(&done.outcome)).filter(|times| times.is_finite()).fold(1.0, f64::max);
        let by = (2.0 * longest).ceil().max(SLOWER);
        let differs = plan.runs.iter().any(|run| run.resolved.workload != planned.resolved.workload);
        let of_scheme = if differs { format!("{}:", planned.scheme) } else { String::new() };
        let arrivals = slower_arrivals(&planned.resolved.workload, &of_scheme, by, is_cell);
        let slower = format!("requests arrive more slowly, {arrivals}");
        victims.map_or_else(|| format!("Let {slower}"), |victims| format!("{victims}; or let {slower}"))
    };
    Some(format!(
        "Note: the drive cannot keep up under {}: the longer the run, the longer requests wait\n      {advice}\n",
        names(&schemes)
    ))
}
