//! Notes on the cells of a sweep. Each kind of note appears once, even if many cells have it with different numbers.

use super::journal::{CellResult, RunResult};
use super::seeds::SeedGroup;
use super::table::SweepResults;
use crate::format::{names, percent};
use copyback::observe::steady::Verdict;
use copyback::run::config::Resolved;
use copyback_workload::units::format_count;

/// Notes that are shown: more are in the journal.
const NOTES_MAX: usize = 5;

/// Share of the mapping units read by a run's host that hold no data.
pub fn unwritten_share(run: &RunResult) -> f64 {
    let number = |name: &str| run.numbers.get(name).and_then(|number| number.as_f64());
    match (number("unwritten_units_read"), number("units_read")) {
        (Some(unwritten), Some(all)) if all > 0.0 => unwritten / all,
        _ => 0.0,
    }
}

/// The notes of cells, lines of their own.
pub fn of_cells<'a>(cells: impl Iterator<Item = (&'a str, &'a CellResult)>) -> Vec<String> {
    let mut kinds: Vec<(String, String, usize)> = Vec::new();
    let (mut count, mut with_unwritten, mut worst) = (0, 0, ("", 0.0));
    for (label, result) in cells {
        let share = result.runs.iter().map(unwritten_share).fold(0.0, f64::max);
        (count, with_unwritten) = (count + 1, with_unwritten + usize::from(share > 0.0));
        if share > worst.1 {
            worst = (label, share);
        }
        for line in in_whole(&result.notes) {
            match kinds.iter_mut().find(|(kind, _, _)| *kind == kind_of(&line)) {
                Some((_, _, cells)) => *cells += 1,
                None => kinds.push((kind_of(&line), line, 1)),
            }
        }
    }
    // Notes on how a trace was read matter least, and would fill the few lines that are shown.
    kinds.sort_by_key(|(kind, _, _)| is_of_reading(kind));
    let mut lines: Vec<String> = Vec::new();
    if with_unwritten > 0 {
        lines.push(format!(
            "Note: in {with_unwritten} of {}, some of the mapping units read hold no data, up to {} ({}); \
             reading these needs no flash command\n",
            crate::format::counted(count as u64, "cell"),
            percent(worst.1),
            worst.0
        ));
    }
    lines.extend(kinds.iter().take(NOTES_MAX).map(|(_, line, cells)| match cells {
        1 => format!("{line}\n"),
        2 => format!("{line} (and similar in one more cell)\n"),
        _ => format!("{line} (and similar in {} more cells)\n", cells - 1),
    }));
    if kinds.len() > NOTES_MAX {
        lines.push(format!(
            "Note: the journal has {}\n",
            crate::format::counted((kinds.len() - NOTES_MAX) as u64, "more note")
        ));
    }
    lines
}

/// Cells that are named at most.
const CELLS_MAX: usize = 5;

/// The number of requests with which a run would have written the spare space once; `None` if that is not all it lacks.
fn requests_wanted(run: &RunResult) -> Option<u64> {
    let number = |name: &str| run.numbers.get(name).and_then(|number| number.as_f64());
    let written = number("steady.reserve.spare_written").filter(|_| run.steady == Verdict::TooShort)?;
    let requests: f64 = ["reads", "writes", "trims"].into_iter().filter_map(number).sum();
    (0.0 < written && written < 1.0).then(|| (requests / written).ceil() as u64)
}

/// The runs whose drives were not steady: their results are transients. `is_warm`: each run already warms up until it
/// is steady, or its drives begin in a steady state.
pub fn of_steadiness<'a>(cells: impl Iterator<Item = (&'a str, &'a CellResult)>, is_warm: bool) -> Option<String> {
    let (mut count, mut all, mut requests) = (0, 0, None);
    let mut found: Vec<String> = Vec::new();
    for (label, result) in cells {
        requests = requests.max(result.runs.iter().filter_map(requests_wanted).max());
        // Overload has a note of its own.
        let unsettled = result.unsettled().filter(|run| run.steady != Verdict::Overloaded);
        let schemes: Vec<&str> = unsettled.map(|run| run.scheme.as_str()).collect();
        (count, all) = (count + schemes.len(), all + result.runs.len());
        if !schemes.is_empty() {
            found.push(format!("{} in {label}", names(&schemes)));
        }
    }
    let (runs, are) = (if all == 1 { "run" } else { "runs" }, if count == 1 { "is" } else { "are" });
    let advice = match is_warm {
        true => "Extend them: more requests",
        false => "Warm them up or extend them: --warmup steady, or more requests",
    };
    let at_least = requests.map_or_else(String::new, |requests| format!(" ({} or more)", format_count(requests)));
    let more = match found.len().saturating_sub(CELLS_MAX) {
        0 => String::new(),
        more => format!("; and in {}", crate::format::counted(more as u64, "more cell")),
    };
    let which = found.iter().take(CELLS_MAX).map(String::as_str).collect::<Vec<_>>().join("; ");
    (count > 0).then(|| {
        format!(
            "Note: {count} of {all} {runs} {are} not yet steady, or too short to tell: {which}{more}\n      \
             {advice}{at_least}; `run` shows which figure moves\n"
        )
    })
}

/// Whether all requests are those of traces: of the workload, or of each of several.
fn replays(resolved: &Resolved) -> bool {
    let tenants = &resolved.tenants;
    match tenants.is_empty() {
        true => resolved.workload.trace.is_some(),
        false => tenants.values().all(|tenant| tenant.spec.trace.is_some()),
    }
}

/// The note on what seeds vary if requests come from traces: intervals say nothing about other requests.
pub fn of_seeds_on_traces(results: &SweepResults<'_>) -> Option<String> {
    let groups: Vec<_> = SeedGroup::all(results).into_iter().filter(|group| group.cells.len() > 1).collect();
    let is_replayed = |group: &&SeedGroup<'_>| group.first.plan.runs.iter().all(|run| replays(&run.resolved));
    let count = groups.iter().filter(is_replayed).count();
    let of = match groups.len() {
        all if all == count => String::new(),
        all => format!(" in {count} of {all} groups of cells that differ only in the seed"),
    };
    (count > 0).then(|| {
        format!(
            "Note: all seeds replay the trace's requests{of}: seeds vary only the drive's preconditioning and random \
             choices of policies\n      +/- is the spread of these, and does not cover other traces\n"
        )
    })
}

/// The note on what seeds vary if they made no difference: an interval of width 0 looks like certainty.
pub fn of_equal_seeds(results: &SweepResults<'_>) -> Option<String> {
    let groups: Vec<_> = SeedGroup::all(results).into_iter().filter(|group| group.cells.len() > 1).collect();
    let are_equal = |group: &&SeedGroup<'_>| {
        let is_replayed = group.first.plan.runs.iter().all(|run| replays(&run.resolved));
        let numbers = |cell: usize| results.results[cell].runs.iter().map(|run| &run.numbers);
        is_replayed && group.cells.iter().all(|(_, cell)| numbers(*cell).eq(numbers(group.cells[0].1)))
    };
    let count = groups.iter().filter(are_equal).count();
    let of = match groups.len() {
        all if all == count => String::new(),
        all => format!(" in {count} of {all} groups of cells that differ only in the seed"),
    };
    (count > 0).then(|| {
        format!(
            "Note: all seeds give the same results{of}: the requests are the trace's, and seeds vary only the drive's \
             preconditioning and random choices of policies\n      +/- 0 means that neither changes the results, not \
             that the results are certain: test other traces\n"
        )
    })
}

/// The notes, each with its continuation lines.
fn in_whole(notes: &str) -> Vec<String> {
    let mut whole: Vec<String> = Vec::new();
    for line in notes.lines().filter(|line| !line.is_empty()) {
        match whole.last_mut() {
            Some(before) if line.starts_with(' ') => before.push_str(&format!("\n{line}")),
            _ => whole.push(line.to_owned()),
        }
    }
    whole
}

/// Whether a note is on how a trace was found and read.
fn is_of_reading(note: &str) -> bool {
    let said = note.split_once(": ").map_or(note, |(_, said)| said);
    ["format `", "unwrapped ", "played ", "addresses packed"].iter().any(|start| said.starts_with(start))
}

/// A note without its numbers.
fn kind_of(line: &str) -> String {
    let is_number = |c: char| c.is_ascii_digit() || c == ',' || c == '.';
    let mut kind = String::new();
    for c in line.chars() {
        match is_number(c) {
            true if kind.ends_with('#') => {}
            true => kind.push('#'),
            false => kind.push(c),
        }
    }
    kind
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flat::Number;
    use std::collections::BTreeMap;

    fn cell(unwritten: u64, notes: &str) -> CellResult {
        let numbers = [("unwritten_units_read", unwritten), ("units_read", 1000)];
        let numbers = numbers.map(|(name, value)| (name.to_owned(), Number::U64(value))).into();
        let steady = if unwritten == 0 { Verdict::Steady } else { Verdict::TooShort };
        let run = RunResult { scheme: "s".into(), hash: "h".into(), steady, numbers, latencies: BTreeMap::new() };
        CellResult { runs: vec![run], notes: notes.into() }
    }

    #[test]
    fn a_kind_is_told_once_whatever_its_numbers() {
        let cells =
            [cell(0, "Note: 12 records of 1,500 were bad\n"), cell(441, "Note: 7 records of 90 were bad\nNote: b\n")];
        let lines = of_cells(["one", "two"].into_iter().zip(&cells));
        assert_eq!(
            lines,
            [
                "Note: in 1 of 2 cells, some of the mapping units read hold no data, up to 44.1 % (two); reading these \
                 needs no flash command\n",
                "Note: 12 records of 1,500 were bad (and similar in one more cell)\n",
                "Note: b\n"
            ]
        );
        assert!(of_cells(std::iter::once(("one", &cell(0, "")))).is_empty());
        // What was read comes last, and a note of two lines is one.
        let cell = cell(0, "Note: format `fiu`\nNote: the drive cannot keep up with `a`: so\n      Let it\n");
        assert_eq!(
            of_cells(std::iter::once(("one", &cell))),
            ["Note: the drive cannot keep up with `a`: so\n      Let it\n", "Note: format `fiu`\n"]
        );
    }

    #[test]
    fn cells_that_have_not_settled_are_counted() {
        let results = |steady: &[bool]| steady.iter().map(|is| cell(u64::from(!is), "")).collect::<Vec<_>>();
        let of_steadiness = |steady: &[bool], is_warm| {
            let results = results(steady);
            super::of_steadiness(["a", "b", "c"].into_iter().zip(&results), is_warm)
        };
        assert_eq!(of_steadiness(&[true, true], false), None);
        let two_of_three = of_steadiness(&[false, true, false], false).unwrap();
        let says = "Note: 2 of 3 runs are not yet steady, or too short to tell: `s` in a; `s` in c\n";
        assert!(two_of_three.starts_with(says), "{two_of_three}");
        let one = of_steadiness(&[false, true], false).unwrap();
        assert!(one.starts_with("Note: 1 of 2 runs is not yet steady") && one.contains("--warmup steady"), "{one}");
        assert!(one.contains("or more requests; `run` shows"), "{one}");
        // A run that wrote a part of the spare space says how many requests write all of it.
        let mut some = results(&[false, false, true]);
        for (result, written) in some.iter_mut().zip([0.5, 0.25, 0.1]) {
            let numbers = [("steady.reserve.spare_written", written), ("reads", 300.0), ("writes", 700.0)];
            let numbers = numbers.map(|(name, value)| (name.to_owned(), Number::F64(value)));
            result.runs[0].numbers.extend(numbers);
        }
        let short = super::of_steadiness(["a", "b", "c"].into_iter().zip(&some), false).unwrap();
        assert!(short.contains("or more requests (4,000 or more); `run` shows"), "{short}");
        // What was done already is not advised.
        let warmed = of_steadiness(&[false], true).unwrap();
        assert!(warmed.contains("Extend them") && !warmed.contains("--warmup"), "{warmed}");
    }

    /// One scheme of a cell that has not settled is not the whole cell.
    #[test]
    fn the_schemes_that_have_not_settled_are_named() {
        let mut result = cell(0, "");
        for (scheme, steady) in [("t", Verdict::NotYet), ("u", Verdict::Steady), ("v", Verdict::TooShort)] {
            let run = RunResult { scheme: scheme.into(), steady, ..result.runs[0].clone() };
            result.runs.push(run);
        }
        let note = super::of_steadiness(std::iter::once(("oltp", &result)), false).unwrap();
        assert!(
            note.starts_with("Note: 2 of 4 runs are not yet steady, or too short to tell: `t`, `v` in oltp\n"),
            "{note}"
        );
    }
}
