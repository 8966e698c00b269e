//! The table of claims: a line for each, and below it, dimmed, the details that qualify its verdict.

use super::JudgedExperiment;
use super::claim::Claim;
use super::details::{Control, Details, apart};
use super::judge::{Measured, MissingVerdict};
use super::verdict::Verdict;
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
        Ok(Verdict::Met) => Cell::styled(Verdict::Met.shown(), DIM),
        Ok(verdict) => Cell::styled(verdict.shown(), BOLD),
        Err(MissingVerdict::NotMeasured(_)) => Cell::styled("not measured", BOLD),
        Err(MissingVerdict::NotJudged(_)) => Cell::styled("not judged", BOLD),
    };
    vec![first, Cell::new(published), Cell::new(effect), verdict]
}

/// The lines below a claim.
fn details(claim: &Claim, measured: &Measured) -> Vec<String> {
    let Details { interval, single_seeds, samples, own, all, work, controls } = Details::of(claim, measured);
    let mut parts: Vec<String> = apart(claim.kind).map(str::to_owned).into_iter().collect();
    parts.extend(interval.map(|interval| format!("seeds +/- {interval}")));
    parts.extend(single_seeds.map(|(least, most)| format!("single seeds {least} to {most}")));
    parts.extend(samples);
    parts.extend(own.map(|own| format!("own {own}")));
    parts.extend(all.map(|all| format!("all {all}")));
    parts.extend(work);
    let control = |Control { scheme, effect }| format!("control {scheme} {}", effect.as_deref().unwrap_or("-"));
    parts.extend(controls.into_iter().map(control));
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
pub fn missing_verdicts(done: &[JudgedExperiment]) -> String {
    let mut text = String::new();
    for (claim, measured) in done.iter().flat_map(JudgedExperiment::claims) {
        if let Err(missing) = &measured.outcome {
            let (what, why) = match missing {
                MissingVerdict::NotMeasured(why) => ("Not measured", why),
                MissingVerdict::NotJudged(why) => ("Not judged", why),
            };
            text.push_str(&format!("{what}: {} {}: {why}\n", claim.figure, claim.text));
        }
    }
    text
}
