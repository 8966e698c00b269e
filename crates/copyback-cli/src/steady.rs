//! The verdict on whether a drive had settled, as a person reads it.

use crate::execute::Finished;
use crate::format::{count, percent};
use crate::plan::Plan;
use copyback::metrics::steady::{ERASES_MIN, Figure, RANGE_MAX, ROUNDS, SLOPE_MAX, Steady, Verdict};

/// Rows of the section of a run.
pub fn rows(steady: &Steady) -> Vec<(&'static str, String)> {
    let mut rows = vec![("verdict", verdict(steady))];
    rows.extend(steady.figures.iter().map(|figure| (figure.name, rounds(figure))));
    rows
}

fn verdict(steady: &Steady) -> String {
    match steady.verdict {
        Verdict::Steady => "steady by the rule of the SNIA PTS".into(),
        Verdict::NotYet => format!("not yet steady: {}", what_moves(steady)),
        Verdict::NoErase => "not steady: no block was erased, the drive is still filling up".into(),
        Verdict::TooShort => format!("not judged: fewer than {ERASES_MIN} blocks were erased in each fifth of the run"),
        Verdict::NoWrite => "not judged: the host wrote nothing".into(),
    }
}

/// Which limits of the rule are passed.
fn what_moves(steady: &Steady) -> String {
    let mut parts = Vec::new();
    for figure in steady.figures.iter().filter(|f| !f.is_steady()) {
        let limits = [("range", figure.range, RANGE_MAX), ("slope", figure.slope, SLOPE_MAX)];
        let passed = limits.iter().filter(|(_, value, most)| value.abs() > *most);
        let texts =
            passed.map(|(what, value, most)| format!("{what} {} (at most {:.0} %)", percent(*value), 100.0 * most));
        parts.push(format!("{}, {}", figure.name, texts.collect::<Vec<_>>().join(", ")));
    }
    parts.join("; ")
}

fn rounds(figure: &Figure) -> String {
    let digits = if figure.mean < 100.0 { 3 } else { 0 };
    let values: Vec<String> = figure.rounds.iter().map(|value| format!("{value:.digits$}")).collect();
    format!("{}; range {}, slope {}", values.join("  "), percent(figure.range), percent(figure.slope))
}

/// A note for the schemes whose drives had not settled, so that nobody takes a transient for a result, and what helps.
/// Schemes of which there is the same to say share a note.
pub fn notes(plan: &Plan, finished: &[Finished]) -> Vec<String> {
    let mut found: Vec<(String, Vec<&str>)> = Vec::new();
    for (planned, done) in plan.runs.iter().zip(finished) {
        let steady = &done.outcome.report.steady;
        if matches!(steady.verdict, Verdict::Steady | Verdict::NoWrite) {
            continue;
        }
        let verdict = verdict(steady);
        match found.iter_mut().find(|(other, _)| *other == verdict) {
            Some((_, schemes)) => schemes.push(&planned.scheme),
            None => found.push((verdict, vec![&planned.scheme])),
        }
    }
    let mut lines: Vec<String> = found.iter().map(|(verdict, schemes)| note(verdict, schemes)).collect();
    if !lines.is_empty() {
        lines.push(format!("      {}\n", advice(plan, finished)));
    }
    lines
}

fn note(verdict: &str, schemes: &[&str]) -> String {
    let names: Vec<String> = schemes.iter().map(|scheme| format!("`{scheme}`")).collect();
    let is = if names.len() == 1 { "is" } else { "are" };
    format!("Note: {} {is} {verdict}\n", names.join(", "))
}

/// Passes over a workload that are advised first.
const PASSES: u32 = 5;

/// What makes the run longer. Where `requests` ended it, another pass over the workload would change nothing.
fn advice(plan: &Plan, finished: &[Finished]) -> String {
    let done = |done: &Finished| {
        let report = &done.outcome.report;
        report.reads + report.writes + report.trims
    };
    match plan.requests {
        Some(limit) if finished.iter().any(|run| done(run) >= limit) => format!(
            "Let the run go on for longer: leave its limit of {} requests (--requests) out, or raise it",
            count(limit)
        ),
        _ => {
            let passes = plan.runs.iter().filter_map(|run| run.resolved.workload.passes).max().unwrap_or(1);
            let more = if passes < PASSES { PASSES } else { passes.saturating_mul(2) };
            format!("Let the workload go on for longer, for example with --set workload.loop={more}")
        }
    }
}

const _: () = assert!(ROUNDS == 5, "the texts above say fifths");
