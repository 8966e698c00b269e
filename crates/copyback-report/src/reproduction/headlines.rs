//! The table of headlines in Markdown, for the pages.

use super::worlds::shares_of;
use copyback_lab::reproduce::claim::Kind;
use copyback_lab::reproduce::headlines::{Headline, Headlines};
use copyback_lab::reproduce::worlds::{Summary, Worlds};

const HEADER: &str = "| headline | published | measured | work | verdict | worlds: in size / in direction | cause of a miss |\n\
     |---|---|---|---|---|---|---|\n";

/// The table of those that count, and the sentence about all. If the worlds judge a headline, a column states in how
/// many worlds it holds in size, and in how many in direction.
pub fn table(document: &Headlines, worlds: Option<&(Worlds, Summary)>) -> String {
    let rows: String = document.counted().map(|headline| row(headline, "", worlds)).collect();
    format!("{HEADER}{rows}\n{}.\n", document.sentence())
}

/// The table of the others, each with the reason why it does not count; none if all count.
pub fn others(document: &Headlines, worlds: Option<&(Worlds, Summary)>) -> Option<String> {
    let mut rows = String::new();
    for headline in &document.headlines {
        let reason = match headline.kind {
            Kind::Claim => continue,
            Kind::Calibrated => " (calibrated)",
            Kind::Construction => " (construction)",
            Kind::Own => " (own)",
        };
        rows += &row(headline, reason, worlds);
    }
    (!rows.is_empty()).then(|| format!("{HEADER}{rows}"))
}

fn row(headline: &Headline, reason: &str, worlds: Option<&(Worlds, Summary)>) -> String {
    let Headline { figure, text: claim, published, holds, work, .. } = headline;
    let cause = headline.cause.as_ref();
    let cause = cause.map_or_else(String::new, |cause| format!("{}: {}", cause.origin.name(), cause.text));
    let measured = headline.with_interval().replace("+/-", "±");
    let holds = if holds.name() == "holds" { "**holds**" } else { holds.name() };
    let shares = worlds.and_then(|(worlds, summary)| shares_of(worlds, summary, figure, claim));
    let shares = shares.unwrap_or_else(|| "-".into());
    format!("| {figure}: {claim}{reason} | {published} | {measured} | {work} | {holds} | {shares} | {cause} |\n")
}
