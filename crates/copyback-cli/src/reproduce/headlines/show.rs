//! The table of headlines on a terminal.

use super::{Headline, Headlines, Holds};
use crate::reproduce::claim::Kind;
use crate::table::{self, BOLD, Cell, DIM};

/// Columns of a line of details.
const COLUMNS: usize = 116;

/// The table, with quotes, work and causes below each line.
pub fn text(document: &Headlines) -> String {
    let Headlines { paper, quick, changes, cells, headlines, .. } = document;
    let quick = if *quick { ", quick: fewer requests than the results in docs/reproduction" } else { "" };
    let other = if changes.is_empty() { String::new() } else { format!(", with {}", changes.join(", ")) };
    let bold = |text: &str| Cell::styled(text, BOLD);
    let mut rows = vec![["headline", "published", "measured", "verdict"].map(bold).to_vec()];
    let mut below = vec![Vec::new()];
    for headline in headlines {
        rows.push(row(headline));
        below.push(details(headline));
    }
    let table = table::lay_out(&rows);
    let dim = |line: &String| format!("{}{line}{}\n", DIM.render(), DIM.render_reset());
    let lines = table.lines().zip(&below);
    let lines: String =
        lines.map(|(line, below)| format!("{line}\n{}", below.iter().map(dim).collect::<String>())).collect();
    format!("{paper}: headlines, {cells} cells{quick}{other}\n\n{lines}\n{}\n", document.sentence())
}

fn row(headline: &Headline) -> Vec<Cell> {
    let Headline { figure, text, published, holds, .. } = headline;
    let style = if *holds == Holds::Size { DIM } else { BOLD };
    vec![
        Cell::new(format!("{figure:<5} {text}")),
        Cell::new(published),
        Cell::new(headline.with_interval()),
        Cell::styled(holds.name(), style),
    ]
}

fn details(headline: &Headline) -> Vec<String> {
    let mut parts = vec![format!("\"{}\" ({})", headline.quote, headline.source)];
    match headline.kind {
        Kind::Claim | Kind::Own => {}
        Kind::Calibrated => parts.push("calibrated: the experiment was set so that it holds".into()),
        Kind::Construction => parts.push("true by construction".into()),
    }
    if !matches!(headline.holds, Holds::Size | Holds::Control) {
        parts.push(format!("verdict: {}", headline.detail));
    }
    if !headline.work.is_empty() {
        parts.push(format!("work: {}", headline.work));
    }
    parts.extend(headline.controls.iter().map(|control| format!("control {control}")));
    if let Some(cause) = &headline.cause {
        parts.push(format!("cause, {}: {}", cause.origin.name(), cause.text));
    }
    let wrapped = |part: &String| {
        let options = textwrap::Options::new(COLUMNS).initial_indent("      ").subsequent_indent("        ");
        textwrap::wrap(part, options).into_iter().map(std::borrow::Cow::into_owned).collect::<Vec<_>>()
    };
    parts.iter().flat_map(wrapped).collect()
}
