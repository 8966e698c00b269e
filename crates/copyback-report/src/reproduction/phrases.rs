//! Phrases of worlds that pages and the terminal share.

use copyback_lab::format::percent;
use copyback_lab::reproduce::worlds::{DecisionShare, HeadlineSummary, Row, RuleSummary, Status, Worlds};

/// Decisions that a line names.
const NAMED: usize = 3;

/// The reasons of a status by how often they occur.
pub fn reasons_of(document: &Worlds, status: Status) -> Vec<(String, usize)> {
    let mut counts = std::collections::BTreeMap::new();
    let rows = document.worlds.iter().filter(|row| row.status == status);
    rows.flat_map(|row: &Row| &row.why).for_each(|why| *counts.entry(why.clone()).or_insert(0) += 1);
    let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    counts
}

/// A number of worlds as a share of those that judge a headline.
pub fn share(count: usize, of: &HeadlineSummary) -> String {
    match of.judged {
        0 => "-".into(),
        judged => format!("{count} of {judged}"),
    }
}

/// The decisions that matter most, with intervals.
pub fn in_words(decides: &[DecisionShare]) -> String {
    let named = decides.iter().take(NAMED).filter(|decision| decision.share > 0.0);
    let words: Vec<String> = named
        .map(|DecisionShare { decision, share, least, most }| {
            format!("{decision} {} ({} to {})", percent(*share), percent(*least), percent(*most))
        })
        .collect();
    if words.is_empty() { "none of them beyond chance".into() } else { words.join(", ") }
}

/// A rule with how often it is right.
pub fn described(rule: &RuleSummary) -> String {
    let RuleSummary { rule, right, right_without, right_validated, worlds } = rule;
    format!(
        "{rule} (correct for {right} of {worlds}; {right_validated} when validated, {right_without} without the rule)"
    )
}
