//! The worlds in Markdown, for the pages.

use super::phrases::{described, in_words, reasons_of, share};
use copyback_lab::reproduce::worlds::{Status, Summary, Worlds};

/// In how many worlds a headline holds in size, and in how many in direction; `None` if the worlds do not judge it.
pub fn shares_of(document: &Worlds, summary: &Summary, figure: &str, claim: &str) -> Option<String> {
    let at = document.headlines.iter().position(|asked| asked.figure == figure && asked.text == claim)?;
    let of = &summary.headlines[at];
    Some(format!("{} / {} of {}", of.in_size, of.in_direction, of.judged))
}

/// The tables.
pub fn tables(document: &Worlds, summary: &Summary) -> String {
    let mut text = format!(
        "{} worlds (seed {}): {} consistent with the paper, {} inconsistent, {} impossible.{}\n\n\
         | headline | published | decided | 5 % | median | 95 % | in size | in direction |\n\
         |---|---|---|---|---|---|---|---|\n",
        document.worlds.len(),
        document.seed,
        summary.consistent,
        summary.inconsistent,
        summary.impossible,
        if summary.is_of_consistent { "" } else { " Shares are of all worlds that ran." },
    );
    if document.decided.status == Status::Inconsistent {
        let why = document.decided.why.join("; ");
        text = text.replacen("\n\n|", &format!(" The world as decided is inconsistent at this size: {why}.\n\n|"), 1);
    }
    for (at, (claim, of)) in document.headlines.iter().zip(&summary.headlines).enumerate() {
        let shown = |effect: Option<f64>| effect.map_or_else(|| "-".to_owned(), |effect| claim.shown(effect));
        let quantiles: Vec<String> = (0..3).map(|which| shown(of.quantiles.map(|q| q[which]))).collect();
        text += &format!(
            "| {}: {} | {} | {} | {} | {} | {} |\n",
            claim.figure,
            claim.text,
            claim.published,
            shown(document.decided.effects[at]),
            quantiles.join(" | "),
            share(of.in_size, of),
            share(of.in_direction, of),
        );
    }
    text += "\n| headline | what decides: share of the variance | simplest rule for the direction |\n|---|---|---|\n";
    for (claim, of) in document.headlines.iter().zip(&summary.headlines) {
        let rule = of.rule.as_ref().map(described).unwrap_or_default();
        text += &format!("| {}: {} | {} | {rule} |\n", claim.figure, claim.text, in_words(&of.decides));
    }
    if let Some(rule) = &summary.consistency {
        text += &format!("| consistent with the paper | | {} |\n", described(rule));
    }
    text += "\n| open decision | admissible | decided | the paper |\n|---|---|---|---|\n";
    for decision in &document.decisions {
        text += &format!(
            "| {} | {} | {} | {} ({}) |\n",
            decision.name, decision.admissible, decision.decided, decision.sentence, decision.source
        );
    }
    for (why, count) in reasons_of(document, Status::Inconsistent) {
        text += &format!("\n- inconsistent, {count} worlds: {why}");
    }
    for (why, count) in reasons_of(document, Status::Impossible) {
        text += &format!("\n- impossible, {count} worlds: {why}");
    }
    text.trim_end().to_owned() + "\n"
}
