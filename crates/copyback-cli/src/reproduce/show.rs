//! The table of claims: a line for each, and below it, dimmed, what the verdict is worth.

use super::JudgedExperiment;
use super::claim::{Claim, Kind};
use super::judge::{Measured, MissingVerdict};
use super::verdict::Verdict;
use crate::format::{count, counted};
use crate::table::{self, BOLD, Cell, DIM};

/// Columns of a line of details.
const COLUMNS: usize = 120;
/// The column at which the text of a claim begins.
const INDENT: usize = 6;

/// The table.
pub fn claims_table(done: &[JudgedExperiment]) -> String {
    let bold = |text: &str| Cell::styled(text, BOLD);
    let mut rows = vec![vec![bold("claim"), bold("published"), bold("measured"), bold("verdict")]];
    let mut below = vec![Vec::new()];
    for (claim, measured) in done.iter().flat_map(JudgedExperiment::claims) {
        rows.push(row(claim, measured));
        below.push(wrapped(&details(claim, measured)));
    }
    let dim = |line: String| format!("{}{line}{}\n", DIM.render(), DIM.render_reset());
    let table = table::lay_out(&rows);
    let lines = table.lines().zip(below);
    lines.flat_map(|(line, below)| std::iter::once(format!("{line}\n")).chain(below.into_iter().map(dim))).collect()
}

fn row(claim: &Claim, measured: &Measured) -> Vec<Cell> {
    let first = Cell::new(format!("{:<INDENT$}{}", claim.figure, claim.text));
    let published = claim.test.as_ref().map_or_else(|_| "-".to_owned(), super::claim::Test::shown_published);
    let shown = |effect: f64| claim.test.as_ref().ok().map(|test| test.shown(effect));
    let effect = measured.effect.and_then(shown).unwrap_or_else(|| "-".into());
    let verdict = match &measured.outcome {
        Ok(Verdict::Met) => Cell::styled("met", DIM),
        Ok(verdict) => Cell::styled(verdict.name(), BOLD),
        Err(MissingVerdict::NotMeasured(_)) => Cell::styled("not measured", BOLD),
        Err(MissingVerdict::NotJudged(_)) => Cell::styled("not judged", BOLD),
    };
    vec![first, Cell::new(published), Cell::new(effect), verdict]
}

/// The lines below a claim.
fn details(claim: &Claim, measured: &Measured) -> Vec<String> {
    let mut parts = Vec::new();
    match claim.kind {
        Kind::Claim => {}
        Kind::Calibrated => parts.push("calibrated".to_owned()),
        Kind::Construction => parts.push("true by construction".to_owned()),
        Kind::Own => parts.push("our own".to_owned()),
    }
    let Ok(test) = &claim.test else { return parts };
    if let Some(half_width) = measured.half_width {
        parts.push(format!("seeds +/- {}", test.shown_width(half_width)));
    }
    if let Some((least, most)) = measured.spread {
        parts.push(format!("single seeds {} to {}", test.shown(least), test.shown(most)));
    }
    if let Some((fewest, most)) = measured.samples {
        let most = if most > fewest { format!(" to {}", count(most)) } else { String::new() };
        let samples =
            if most.is_empty() { counted(fewest, "sample") } else { format!("{}{most} samples", count(fewest)) };
        parts.push(samples);
    }
    for (name, effect) in [("own", measured.own), ("all", measured.all)] {
        parts.extend(effect.map(|effect| format!("{name} {}", test.shown(effect))));
    }
    parts.extend(measured.changes_of_work());
    for null in &measured.null {
        let effect = null.outcome.as_ref().map_or_else(|_| "-".to_owned(), |(effect, _)| test.shown(*effect));
        parts.push(format!("null {} {effect}", null.scheme));
    }
    parts
}

/// Parts on as few lines as they take.
fn wrapped(parts: &[String]) -> Vec<String> {
    let indent = " ".repeat(INDENT + 2);
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 2 + part.chars().count() <= COLUMNS => {
                line.push_str("; ");
                line.push_str(part);
            }
            _ => lines.push(format!("{indent}{part}")),
        }
    }
    lines
}

/// Why claims have no verdict.
pub fn silences(done: &[JudgedExperiment]) -> String {
    let mut text = String::new();
    for (claim, measured) in done.iter().flat_map(JudgedExperiment::claims) {
        if let Err(silence) = &measured.outcome {
            let (what, why) = match silence {
                MissingVerdict::NotMeasured(why) => ("Not measured", why),
                MissingVerdict::NotJudged(why) => ("Not judged", why),
            };
            text.push_str(&format!("{what}: {} {}: {why}\n", claim.figure, claim.text));
        }
    }
    text
}
