//! The tables of a paper's page in Markdown: all claims of its figures, and its headlines under other decisions.

use copyback_lab::reproduce::claim::{Format, Kind, Measure};
use copyback_lab::reproduce::count::Counts;
use copyback_lab::reproduce::details::{Details, apart};
use copyback_lab::reproduce::headlines::{Headline, Headlines, Holds};
use copyback_lab::reproduce::verdict::Verdict;
use serde::Deserialize;

/// The document of all claims.
#[derive(Deserialize)]
pub struct Claims {
    /// Whether runs were stopped early.
    pub quick: bool,
    /// The options by which the command line changes the experiments.
    pub changes: Vec<String>,
    counts: Counts,
    claims: Vec<ClaimRow>,
}

/// A claim with its verdict.
#[derive(Deserialize)]
struct ClaimRow {
    figure: String,
    text: String,
    kind: Kind,
    published: Option<String>,
    measured: Option<String>,
    verdict: Option<Verdict>,
    why_not_measured: Option<String>,
    why_not_judged: Option<String>,
    published_effect: Option<f64>,
    tolerance: Option<f64>,
    measured_effect: Option<f64>,
    null: Vec<Control>,
    details: Details,
    measure: Option<Measure>,
    unit: Option<String>,
    cells: Vec<Cell>,
}

/// A cell in which a claim is measured.
#[derive(Deserialize)]
struct Cell {
    effect: Option<f64>,
}

/// A null control. Its text is in the details, at the same place.
#[derive(Deserialize)]
struct Control {
    effect: Option<f64>,
}

/// The counts and the table. Columns in which no claim has anything are left out.
pub fn claims(document: &Claims) -> String {
    let header = ["", "claim", "published", "measured", "cells", "verdict", "own", "all", "work", "strongest control"];
    let rows: Vec<_> = document.claims.iter().map(ClaimRow::cells).collect();
    let is_shown: Vec<bool> = (0..header.len()).map(|at| rows.iter().any(|row| !row[at].is_empty())).collect();
    let line = |cells: &[String]| {
        let shown = cells.iter().zip(&is_shown).filter(|(_, is_shown)| **is_shown);
        format!("| {} |\n", shown.map(|(cell, _)| cell.as_str()).collect::<Vec<_>>().join(" | "))
    };
    let dashes = "|---".repeat(is_shown.iter().filter(|is_shown| **is_shown).count());
    let rows: String = rows.iter().map(|row| line(row)).collect();
    let (header, missing) = (line(&header.map(str::to_owned)), document.missing_verdicts());
    format!("{}\n{header}{dashes}|\n{rows}{missing}", document.counts.text())
}

impl Claims {
    /// Why claims have no verdict, one list item each.
    fn missing_verdicts(&self) -> String {
        let why = |row: &ClaimRow| {
            let why = row.why_not_measured.as_ref().or(row.why_not_judged.as_ref())?;
            Some(format!("- {}, {}: {why}\n", row.figure, row.text))
        };
        let items: String = self.claims.iter().filter_map(why).collect();
        if items.is_empty() { items } else { format!("\nNot judged or not measured:\n\n{items}") }
    }
}

impl ClaimRow {
    /// Number of cells, and the least and the greatest effect among them; none for a single cell.
    fn range_of_cells(&self) -> Option<String> {
        let digits = if self.tolerance.is_some_and(|tolerance| tolerance < 0.5) { 2 } else { 1 };
        let format = Format { measure: self.measure?, unit: self.unit.clone()?, digits };
        let effects = || self.cells.iter().filter_map(|cell| cell.effect);
        let (least, most) = (effects().min_by(f64::total_cmp)?, effects().max_by(f64::total_cmp)?);
        let count = effects().count();
        (count > 1).then(|| format!("{count}: {} to {}", format.shown(least), format.shown(most)))
    }

    /// The control that speaks most against the claim: the one with the largest effect in the direction of the measured
    /// effect, or with the smallest effect if the claim is that nothing changes.
    fn strongest_control(&self) -> Option<usize> {
        let is_of_nothing =
            self.published_effect.is_some_and(|effect| effect.abs() < self.tolerance.unwrap_or(1.0).min(1.0));
        let sign = self.measured_effect?.signum();
        let weight = |effect: f64| if is_of_nothing { -effect.abs() } else { sign * effect };
        let measured = self.null.iter().enumerate().filter_map(|(at, control)| Some((at, weight(control.effect?))));
        measured.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(at, _)| at)
    }

    fn cells(&self) -> [String; 10] {
        let Details { interval, single_seeds, samples, own, all, work, controls } = &self.details;
        let kind = apart(self.kind).map_or_else(String::new, |kind| format!(" ({kind})"));
        let mut measured = self.measured.clone().unwrap_or_else(|| "-".into());
        if let Some(interval) = interval {
            measured += &format!(" ± {interval}");
        }
        if let Some((least, most)) = single_seeds {
            measured += &format!(" ({least} to {most})");
        }
        if let Some(samples) = samples {
            measured += &format!(", {samples}");
        }
        let verdict = match self.verdict {
            Some(Verdict::Met) => "**holds**",
            Some(verdict) => verdict.shown(),
            None if self.why_not_judged.is_some() => "not judged",
            None => "not measured",
        };
        let strongest = self.strongest_control().map(|at| &controls[at]);
        let strongest =
            strongest.and_then(|control| Some(format!("{} `{}`", control.effect.as_ref()?, control.scheme)));
        let published = self.published.clone().unwrap_or_else(|| "-".into());
        [
            self.figure.clone(),
            format!("{}{kind}", self.text),
            published,
            measured,
            self.range_of_cells().unwrap_or_default(),
            verdict.into(),
            own.clone().unwrap_or_default(),
            all.clone().unwrap_or_default(),
            work.join("; "),
            strongest.unwrap_or_default(),
        ]
    }
}

/// The counted headlines, measured under other decisions: a line for each document, with its settings, and a column for
/// each headline. Italics: the headline does not hold in size, or a control shows it, too. `-`: the document lacks it.
pub fn sensitivity(decided: &Headlines, others: &[Headlines]) -> String {
    let headlines: Vec<&Headline> = decided.counted().collect();
    let column = |headline: &&Headline| format!(" {}: {} ({}) |", headline.figure, headline.text, headline.published);
    let titles: String = headlines.iter().map(column).collect();
    let mut table = format!("| setting |{titles} hold |\n|---{}|---|\n", "|---".repeat(headlines.len()));
    let is_same = |a: &Headline, b: &Headline| (&a.figure, &a.text) == (&b.figure, &b.text);
    for document in std::iter::once(decided).chain(others) {
        let renamed = document.counted().find(|other| !headlines.iter().any(|headline| is_same(other, headline)));
        assert!(renamed.is_none(), "{:?}: the table has no column for \"{}\"", document.changes, renamed.unwrap().text);
        let changes: Vec<String> = document.changes.iter().map(|change| format!("`{change}`")).collect();
        table += &format!("| {} |", if changes.is_empty() { "as decided".into() } else { changes.join(" ") });
        for headline in &headlines {
            let Some(same) = document.headlines.iter().find(|other| is_same(other, headline)) else {
                table += " - |";
                continue;
            };
            let measured = same.with_interval().replace("+/-", "±");
            table += &if same.holds == Holds::Size { format!(" {measured} |") } else { format!(" *{measured}* |") };
        }
        table += &format!(" {} |\n", document.count(Holds::Size));
    }
    table
}
