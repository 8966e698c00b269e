//! The table of headlines in Markdown, for the pages.

use super::{Headline, Headlines};
use crate::reproduce::worlds::{Summary, Worlds, shares_of};

/// The table of those that count, and the sentence about all. Worlds that asked a headline have a column: in how many
/// it holds in size, and in how many in direction.
pub fn table(document: &Headlines, worlds: Option<&(Worlds, Summary)>) -> String {
    let mut text = "| headline | published | measured | work | verdict | worlds: in size / in direction | \
                    cause of a miss |\n|---|---|---|---|---|---|---|\n"
        .to_owned();
    for headline in document.counted() {
        let Headline { figure, text: claim, published, holds, work, .. } = headline;
        let cause = headline.cause.as_ref();
        let cause = cause.map_or_else(String::new, |cause| format!("{}: {}", cause.origin.name(), cause.text));
        let measured = headline.with_interval().replace("+/-", "±");
        let holds = if holds.name() == "holds" { "**holds**" } else { holds.name() };
        let shares = worlds.and_then(|(worlds, summary)| shares_of(worlds, summary, figure, claim));
        let shares = shares.unwrap_or_else(|| "-".into());
        text.push_str(&format!(
            "| {figure}: {claim} | {published} | {measured} | {work} | {holds} | {shares} | {cause} |\n"
        ));
    }
    format!("{text}\n{}.\n", document.sentence())
}
