//! The verdict on whether a drive had settled, as a person reads it.

use crate::execute::Finished;
use crate::format::percent;
use crate::plan::{Plan, Planned};
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

/// A note for each scheme whose drive had not settled, so that nobody takes a transient for a result, and what helps.
pub fn notes(plan: &Plan, finished: &[Finished]) -> Vec<String> {
    let of_run = |planned: &Planned, steady: &Steady| match steady.verdict {
        Verdict::NotYet | Verdict::NoErase => Some(format!("Note: `{}` is {}\n", planned.scheme, verdict(steady))),
        Verdict::Steady | Verdict::TooShort | Verdict::NoWrite => None,
    };
    let both = plan.runs.iter().zip(finished);
    let mut lines: Vec<String> = both.filter_map(|(p, done)| of_run(p, &done.outcome.report.steady)).collect();
    if !lines.is_empty() {
        lines.push("      Let the workload go on for longer, for example with --set workload.loop=5\n".into());
    }
    lines
}

const _: () = assert!(ROUNDS == 5, "the texts above say fifths");
