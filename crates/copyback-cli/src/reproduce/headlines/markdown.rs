//! The table of headlines in Markdown, for the pages.

use super::{Headline, Headlines};
use crate::reproduce::claim::Kind;

/// The table.
pub fn table(document: &Headlines) -> String {
    let mut text =
        "| headline | published | measured | work | verdict | cause of a miss |\n|---|---|---|---|---|---|\n"
            .to_owned();
    for headline in &document.headlines {
        let apart = match headline.kind {
            Kind::Claim => "",
            Kind::Calibrated => " (calibrated)",
            Kind::Construction => " (construction)",
            Kind::Own => " (own)",
        };
        let Headline { figure, text: claim, published, holds, work, .. } = headline;
        let cause = headline.cause.as_ref();
        let cause = cause.map_or_else(String::new, |cause| format!("{}: {}", cause.origin.name(), cause.text));
        let measured = headline.with_interval().replace("+/-", "±");
        let holds = if holds.name() == "holds" { "**holds**" } else { holds.name() };
        text.push_str(&format!(
            "| {figure}: {claim}{apart} | {published} | {measured} | {work} | {holds} | {cause} |\n"
        ));
    }
    format!("{text}\n{}.\n", document.sentence())
}
