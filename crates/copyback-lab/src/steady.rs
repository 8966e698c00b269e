//! The verdict on a drive's steady state, as tables and notes print it.

use crate::advice::{REQUESTS_MAX, begins_settled, settings_for_passes};
use crate::execute::Finished;
use crate::format::{counted, names, percent, size};
use crate::overload;
use crate::plan::Plan;
use copyback::flash::geometry::Geometry;
use copyback::observe::steady::{
    ERASES_MIN, Figure, RANGE_MAX, RESERVE_MAX, ROUNDS, Reserve, SLOPE_MAX, Steady, Verdict,
};
use copyback::run::Warmup;
use copyback_workload::spec::WorkloadSpec;
use copyback_workload::units::format_count;

/// Rows of the section of a run.
pub fn rows(steady: &Steady) -> Vec<(&'static str, String)> {
    let mut rows = vec![("verdict", verdict(steady))];
    rows.extend(steady.figures.iter().map(|figure| (figure.name, rounds(figure))));
    rows.extend(steady.reserve.filter(|_| !steady.figures.is_empty()).map(|reserve| ("reserves", reserves(&reserve))));
    rows
}

/// How much of the writes the reserves absorbed.
fn reserves(reserve: &Reserve) -> String {
    format!("{} (buffers {}); {}", reserve.change_text(), percent(reserve.buffered), reserve.postponed_text())
}

fn verdict(steady: &Steady) -> String {
    match steady.verdict {
        // Requests that arrive on their own decide the throughput.
        Verdict::Steady if steady.figures.len() == 1 => {
            format!("steady by the rule of the SNIA PTS, in {} alone", steady.figures[0].name)
        }
        Verdict::Steady => "steady by the rule of the SNIA PTS".into(),
        Verdict::NotYet => format!("not yet steady: {}", what_moves(steady)),
        Verdict::TooShort if !steady.figures.is_empty() => too_little_written(&steady.reserve.unwrap_or_default()),
        Verdict::NoErase => "not steady: no block was erased; free blocks or a buffer still absorb the writes".into(),
        Verdict::TooShort => {
            format!(
                "not judged: the run must erase {} blocks before its last request ends, and in each fifth of it the \
                 host must write, and simulated time must pass",
                ROUNDS as u64 * ERASES_MIN
            )
        }
        Verdict::NoWrite => "not judged: the host wrote nothing".into(),
        Verdict::Overloaded => "overloaded: requests arrive faster than the drive serves them".into(),
    }
}

/// The verdict if nothing moves, but the host wrote less than the spare space.
fn too_little_written(reserve: &Reserve) -> String {
    format!(
        "too short to tell: the host wrote {} of the spare space, and must write it all",
        percent(reserve.spare_written)
    )
}

/// The factor by which a run must be longer to write the spare space once; `None` if that is not what it lacks.
fn factor_to_write_spare(finished: &[Finished]) -> Option<f64> {
    let steady = |done: &Finished| done.outcome.report.steady.clone();
    let short = |steady: Steady| {
        let is_short = steady.verdict == Verdict::TooShort && !steady.figures.is_empty();
        steady.reserve.filter(|_| is_short).map(|reserve| 1.0 / reserve.spare_written)
    };
    finished.iter().filter_map(|done| short(steady(done))).max_by(f64::total_cmp)
}

/// The verdict in a column.
pub fn short(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Steady => "yes",
        Verdict::NotYet => "no",
        Verdict::NoErase => "no erase",
        Verdict::TooShort => "too short",
        Verdict::NoWrite => "-",
        Verdict::Overloaded => "overloaded",
    }
}

/// The verdicts of several seeds in one cell of a table: the common verdict, or counts such as `1 yes, 2 no`.
pub fn short_of_runs(verdicts: &[Verdict]) -> String {
    let with_count = |verdict: Verdict| (verdict, verdicts.iter().filter(|own| **own == verdict).count());
    let found: Vec<_> = Verdict::ALL.into_iter().map(with_count).filter(|(_, count)| *count > 0).collect();
    match found[..] {
        [(verdict, _)] => short(verdict).to_owned(),
        _ => found.iter().map(|(of, count)| format!("{count} {}", short(*of))).collect::<Vec<_>>().join(", "),
    }
}

/// The limits of the rule that the run exceeds.
fn what_moves(steady: &Steady) -> String {
    let mut parts = Vec::new();
    for figure in steady.figures.iter().filter(|f| !f.is_steady()) {
        let limits = [("range", figure.range, RANGE_MAX), ("slope", figure.slope, SLOPE_MAX)];
        let passed = limits.iter().filter(|(_, value, most)| value.abs() > *most);
        let texts =
            passed.map(|(what, value, most)| format!("{what} {} (at most {:.0} %)", percent(*value), 100.0 * most));
        parts.push(format!("{}, {}", figure.name, texts.collect::<Vec<_>>().join(", ")));
    }
    let most = format!("(at most {:.0} %)", 100.0 * RESERVE_MAX);
    let reserve = steady.reserve.unwrap_or_default();
    if reserve.consumed.abs() > RESERVE_MAX {
        parts.push(format!("{} {most}", reserve.change_text()));
    }
    if reserve.postponed > RESERVE_MAX {
        parts.push(format!("{} {most}", reserve.postponed_text()));
    }
    if parts.is_empty() {
        // All that the rule judges is steady, and the backlog of the warm-up decreases.
        return "the drive works off a backlog of outstanding requests".into();
    }
    parts.join("; ")
}

fn rounds(figure: &Figure) -> String {
    let digits = if figure.mean < 100.0 { 3 } else { 0 };
    let values: Vec<String> = figure.rounds.iter().map(|value| format!("{value:.digits$}")).collect();
    format!("{}; range {}, slope {}", values.join("  "), percent(figure.range), percent(figure.slope))
}

/// Whether a run is not steady, or too short to tell; if the host wrote nothing, nothing moves.
pub fn is_unsettled(verdict: Verdict) -> bool {
    !matches!(verdict, Verdict::Steady | Verdict::NoWrite)
}

/// Notes on schemes whose drives had not settled, or cannot keep up, and what helps: a transient is no result. Schemes
/// with the same verdict share a note.
pub fn notes(plan: &Plan, finished: &[Finished]) -> Vec<String> {
    let mut found: Vec<(String, Vec<&str>)> = Vec::new();
    for (planned, done) in plan.runs.iter().zip(finished) {
        let steady = &done.outcome.report.steady;
        // Overload has a note of its own.
        if !is_unsettled(steady.verdict) || steady.verdict == Verdict::Overloaded {
            continue;
        }
        let verdict = verdict(steady);
        match found.iter_mut().find(|(other, _)| *other == verdict) {
            Some((_, schemes)) => schemes.push(&planned.scheme),
            None => found.push((verdict, vec![&planned.scheme])),
        }
    }
    let mut lines: Vec<String> = found.iter().map(|(verdict, schemes)| note(verdict, schemes)).collect();
    match overload::note(plan, finished, false) {
        // No advice to run longer: in a longer run, even more requests would wait.
        Some(note) => lines.push(note),
        None if lines.is_empty() => {}
        None => lines.push(format!("      {}\n", advice(plan, finished))),
    }
    lines
}

fn note(verdict: &str, schemes: &[&str]) -> String {
    let is = if schemes.len() == 1 { "is" } else { "are" };
    format!("Note: {} {is} {verdict}\n", names(schemes))
}

/// The help. If `requests` ended the run, another pass over the workload would change nothing.
fn advice(plan: &Plan, finished: &[Finished]) -> String {
    let done = |done: &Finished| {
        let report = &done.outcome.report;
        report.reads + report.writes + report.trims
    };
    let ends_by_itself = |limit: u64| {
        let workload = &plan.runs[0].resolved.workload;
        workload.requests.is_some_and(|requests| requests * u64::from(workload.passes.unwrap_or(1)) <= limit)
    };
    let limit = plan.requests.filter(|limit| finished.iter().any(|run| done(run) >= *limit) && !ends_by_itself(*limit));
    if let Some(limit) = limit {
        let warms_up = plan.warmup.is_none() && !begins_settled(&plan.runs[0].resolved.run);
        let warmup = if warms_up { ", and warm the drive up: --warmup steady" } else { "" };
        let enough = factor_to_write_spare(finished).map_or(String::new(), |factor| {
            format!(" to {} or more", format_count((factor * done(&finished[0]) as f64).ceil() as u64))
        });
        return format!("Remove or raise the limit of {} (--requests){enough}{warmup}", counted(limit, "request"));
    }
    let (run, report) = (&plan.runs[0].resolved, &finished[0].outcome.report);
    let passes = run.workload.passes.unwrap_or(1);
    let geometry = Geometry::new(&run.run.device());
    let before = report.warmup.map_or(0, |warmup| warmup.requests);
    // Requests and writes of one pass, estimated from the measured part.
    let requests = (done(&finished[0]) + before) as f64 / f64::from(passes);
    let written = report.units_written as f64 / done(&finished[0]) as f64 * requests;
    if begins_settled(&run.run) && run.tenants.is_empty() {
        let spare_units = f64::from(geometry.physical_units.saturating_sub(geometry.logical_units));
        let more = factor_to_write_spare(finished).unwrap_or(spare_units / report.units_written as f64);
        return advice_for_settled(report.flash.block_erases, &run.workload, (requests, more));
    }
    if !run.tenants.is_empty() {
        let of_jobs = "Extend the jobs: raise their `size`, `loops` or `runtime`";
        let of_workloads = "Extend the workloads: raise their `requests`, or their `stop`";
        return if plan.jobs.list.is_empty() { of_workloads } else { of_jobs }.to_owned();
    }
    let capacity = f64::from(geometry.logical_units);
    let wanted = (CAPACITIES * capacity / written).ceil().max(2.0 * f64::from(passes));
    if wanted * requests > REQUESTS_MAX {
        return format!(
            "The workload writes too little for this drive to become steady ({} of {} in a pass): use a smaller drive",
            size(written * f64::from(geometry.unit_bytes)),
            size(geometry.logical_bytes() as f64)
        );
    }
    if let Some(first) = run.workload.first.filter(|first| done(&finished[0]) >= *first) {
        return format!("Leave the limit of {} (workload.first) out, or raise it", counted(first, "request"));
    }
    let warmup = if plan.warmup == Some(Warmup::Steady) { "" } else { "--warmup steady " };
    format!("Extend the workload, for example with {warmup}{}", settings_for_passes(&run.workload, wanted))
}

/// The help if a drive begins in a steady state, but was written too little to show it.
fn advice_for_settled(erases: u64, workload: &WorkloadSpec, (requests_a_pass, least): (f64, f64)) -> String {
    let passes = f64::from(workload.passes.unwrap_or(1));
    let more = if erases == 0 { CAPACITIES } else { ERASES_WANTED / erases as f64 };
    let wanted = (passes * more.max(least).max(2.0)).ceil();
    let so_long = "fills the buffer, erases some blocks in each fifth of the run and writes the spare space";
    if wanted * requests_a_pass > REQUESTS_MAX {
        return format!("The drive is steady from the start: extend the workload until it {so_long}");
    }
    format!(
        "The drive is steady from the start: extend the workload until it {so_long}, for example with {}",
        settings_for_passes(workload, wanted)
    )
}

/// Blocks that a measurement is to erase, so that a fifth of it has enough of them.
const ERASES_WANTED: f64 = 2.0 * (ROUNDS as u64 * ERASES_MIN) as f64;

/// Writes, in multiples of the capacity, until a drive is steady and measured. The rule needs at least two and a half;
/// many drives need twice that, and the measurement after it takes as much again.
const CAPACITIES: f64 = 10.0;

const _: () = assert!(ROUNDS == 5, "the texts above say fifths");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_steady_drives_and_those_without_writes_are_settled() {
        let settled: Vec<&str> = Verdict::ALL.into_iter().filter(|own| !is_unsettled(*own)).map(short).collect();
        assert_eq!(settled, ["yes", "-"]);
    }

    #[test]
    fn verdicts_of_seeds_have_one_format() {
        let shown = |verdicts: &[Verdict]| short_of_runs(verdicts);
        assert_eq!(shown(&[Verdict::NotYet; 3]), "no");
        assert_eq!(shown(&[Verdict::NotYet, Verdict::Steady, Verdict::NotYet]), "1 yes, 2 no");
        assert_eq!(shown(&[Verdict::TooShort, Verdict::NotYet]), "1 no, 1 too short");
        assert_eq!(shown(&[]), "");
    }
}
