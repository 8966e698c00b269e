//! The worlds on a terminal.

use crate::table::{self, BOLD, Cell};
use copyback_lab::reproduce::worlds::{Status, Summary, Worlds};
use copyback_report::reproduction::{described, in_words, reasons_of, share};

/// The text.
pub fn text(document: &Worlds, summary: &Summary) -> String {
    let bold = |text: &str| Cell::styled(text, BOLD);
    let header = ["headline", "published", "decided", "5 %", "median", "95 %", "in size", "in direction"];
    let mut rows = vec![header.map(bold).to_vec()];
    for at in 0..document.headlines.len() {
        rows.push(row(document, summary, at));
    }
    let size = if document.full_size { "full size".to_owned() } else { format!("1/{} of the requests", document.part) };
    let changes = document.changes.iter().map(|change| format!(", with {change}")).collect::<String>();
    let mut text = format!(
        "{}: {} worlds, {} open decisions, seed {}, {size}{changes}\n\
         {} worlds are consistent with the paper, {} inconsistent, {} impossible\n",
        document.paper,
        document.worlds.len(),
        document.decisions.len(),
        document.seed,
        summary.consistent,
        summary.inconsistent,
        summary.impossible,
    );
    if document.decided.status == Status::Inconsistent {
        text += &format!("The world as decided is inconsistent at this size: {}\n", document.decided.why.join("; "));
    }
    text += &reasons(document);
    if !summary.is_of_consistent {
        text += "Too few worlds are consistent: the shares below are of all worlds that ran\n";
    }
    text += &format!("\n{}\n", table::lay_out(&rows));
    for (claim, of) in document.headlines.iter().zip(&summary.headlines) {
        text += &format!("{} {}\n", claim.figure, claim.text);
        text += &format!("  what decides: {}\n", in_words(&of.decides));
        text += &of.rule.as_ref().map(|rule| format!("  rule: {}\n", described(rule))).unwrap_or_default();
    }
    if let Some(rule) = &summary.consistency {
        text += &format!("Consistent with the paper\n  rule: {}\n", described(rule));
    }
    text
}

/// Why worlds are inconsistent or impossible, each reason with its number of worlds.
fn reasons(document: &Worlds) -> String {
    let mut text = String::new();
    for status in [Status::Inconsistent, Status::Impossible] {
        for (why, count) in reasons_of(document, status) {
            let worlds = if count == 1 { "world" } else { "worlds" };
            text += &format!("  {}: {count} {worlds}: {why}\n", status.name());
        }
    }
    text
}

fn row(document: &Worlds, summary: &Summary, at: usize) -> Vec<Cell> {
    let (claim, of) = (&document.headlines[at], &summary.headlines[at]);
    let shown = |effect: Option<f64>| Cell::new(effect.map_or_else(|| "-".to_owned(), |effect| claim.shown(effect)));
    let quantile = |which: usize| shown(of.quantiles.map(|quantiles| quantiles[which]));
    vec![
        Cell::new(format!("{:<5} {}", claim.figure, claim.text)),
        Cell::new(&claim.published),
        shown(document.decided.effects[at]),
        quantile(0),
        quantile(1),
        quantile(2),
        Cell::new(share(of.in_size, of)),
        Cell::new(share(of.in_direction, of)),
    ]
}
