//! The tables of a paper's page in Markdown: all claims of its figures, and its headlines under other decisions.

use super::claim::Kind;
use super::count::Counts;
use super::details::{Details, apart};
use super::headlines::{Headlines, Holds};
use super::verdict::Verdict;
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
    details: Details,
}

/// The counts and the table. Columns in which no claim has anything are left out.
pub fn claims(document: &Claims) -> String {
    let header = ["", "claim", "published", "measured", "verdict", "own", "all", "work", "nearest control"];
    let rows: Vec<_> = document.claims.iter().map(ClaimRow::cells).collect();
    let is_shown: Vec<bool> = (0..header.len()).map(|at| rows.iter().any(|row| !row[at].is_empty())).collect();
    let line = |cells: &[String]| {
        let shown = cells.iter().zip(&is_shown).filter(|(_, is_shown)| **is_shown);
        format!("| {} |\n", shown.map(|(cell, _)| cell.as_str()).collect::<Vec<_>>().join(" | "))
    };
    let dashes = "|---".repeat(is_shown.iter().filter(|is_shown| **is_shown).count());
    let rows: String = rows.iter().map(|row| line(row)).collect();
    format!("{}\n{}{dashes}|\n{rows}{}", document.counts.text(), line(&header.map(str::to_owned)), document.silences())
}

impl Claims {
    /// Why claims have no verdict, one list item each.
    fn silences(&self) -> String {
        let why = |row: &ClaimRow| {
            let why = row.why_not_measured.as_ref().or(row.why_not_judged.as_ref())?;
            Some(format!("- {}, {}: {why}\n", row.figure, row.text))
        };
        let items: String = self.claims.iter().filter_map(why).collect();
        if items.is_empty() { items } else { format!("\nNot judged or not measured:\n\n{items}") }
    }
}

impl ClaimRow {
    fn cells(&self) -> [String; 9] {
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
            Some(Verdict::Met) => "**met**",
            Some(verdict) => verdict.name(),
            None if self.why_not_judged.is_some() => "not judged",
            None => "not measured",
        };
        let nearest = controls.iter().find(|control| control.is_nearest);
        let nearest = nearest.and_then(|control| Some(format!("{} `{}`", control.effect.as_ref()?, control.scheme)));
        let published = self.published.clone().unwrap_or_else(|| "-".into());
        [
            self.figure.clone(),
            format!("{}{kind}", self.text),
            published,
            measured,
            verdict.into(),
            own.clone().unwrap_or_default(),
            all.clone().unwrap_or_default(),
            work.join("; "),
            nearest.unwrap_or_default(),
        ]
    }
}

/// The headlines that count under other decisions, one column for each document. Italics: the headline does not hold.
pub fn sensitivity(decided: &Headlines, others: &[Headlines]) -> String {
    let columns: Vec<(String, &Headlines)> = std::iter::once(("as decided".to_owned(), decided))
        .chain(others.iter().map(|other| (format!("`{}`", other.changes.join("`, `")), other)))
        .collect();
    let titles: String = columns.iter().map(|(title, _)| format!(" {title} |")).collect();
    let mut table = format!("| headline | published |{titles}\n|---|---{}|\n", "|---".repeat(columns.len()));
    for headline in decided.counted() {
        table += &format!("| {}: {} | {} |", headline.figure, headline.text, headline.published);
        for (title, column) in &columns {
            let same = column.headlines.iter().find(|h| (&h.figure, &h.text) == (&headline.figure, &headline.text));
            let same = same.unwrap_or_else(|| panic!("{title}: no row \"{}\"", headline.text));
            let measured = same.with_interval().replace("+/-", "±");
            let cell = match same.holds {
                Holds::Size => measured,
                Holds::Direction | Holds::Control | Holds::No | Holds::Unknown => format!("*{measured}*"),
            };
            table += &format!(" {cell} |");
        }
        table += "\n";
    }
    let hold: String = columns.iter().map(|(_, column)| format!(" {} |", column.count(Holds::Size))).collect();
    table + &format!("| **hold, of {}** | |{hold}\n", decided.counted().count())
}
