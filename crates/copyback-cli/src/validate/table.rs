//! The printed result: a table for each group, with the sources of theory's values and the reasons of tolerances below.

use crate::table::{self, BOLD, Cell, DIM};
use anstyle::{AnsiColor, Style};
use copyback_lab::validate::gate::{GROUPS, Group, Judged, Verdict};

/// Columns that everything fits into.
const COLUMNS: usize = 120;

/// All groups that have gates, and how many passed.
pub fn text(judged: &[Judged], passed: usize) -> String {
    let mut text = String::new();
    for group in GROUPS {
        let gates: Vec<&Judged> = judged.iter().filter(|gate| gate.group == group).collect();
        if !gates.is_empty() {
            text.push_str(&one_group(group, &gates));
            text.push('\n');
        }
    }
    text + &format!("{passed} of {} pass\n", judged.len())
}

fn one_group(group: Group, gates: &[&Judged]) -> String {
    let sources = distinct(gates.iter().map(|gate| gate.source));
    let reasons = distinct(gates.iter().map(|gate| gate.reason));
    let bold = |text: &str| Cell::styled(text, BOLD);
    let headings = ["", "theory", "", "simulated", "deviation", "95 % interval", "tolerance", "", "verdict"];
    let mut rows = vec![headings.map(bold).to_vec()];
    for gate in gates {
        let source = 1 + sources.iter().position(|s| *s == gate.source).unwrap_or(0);
        let reason = reasons.iter().position(|r| *r == gate.reason).unwrap_or(0) as u8;
        rows.push(row(gate, source, char::from(b'a' + reason)));
    }
    let mut text = format!("{}{}{}\n", BOLD.render(), group.title(), BOLD.render_reset());
    text.push_str(&table::lay_out(&rows));
    for (at, source) in sources.iter().enumerate() {
        text.push_str(&note(&(at + 1).to_string(), source));
    }
    for (at, reason) in reasons.iter().enumerate() {
        text.push_str(&note(&char::from(b'a' + at as u8).to_string(), reason));
    }
    text
}

fn distinct(texts: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    let mut found: Vec<&'static str> = Vec::new();
    for text in texts {
        if !found.contains(&text) {
            found.push(text);
        }
    }
    found
}

fn row(gate: &Judged, source: usize, reason: char) -> Vec<Cell> {
    let theory = match gate.floor {
        Some(floor) => format!("{} to {}", number(floor), number(gate.theory)),
        None => number(gate.theory),
    };
    let interval = gate.interval_95.map_or_else(|| "exact".into(), |half| format!("±{:.2} %", 100.0 * half));
    let verdict = match gate.verdict {
        Verdict::Pass => Style::new().fg_color(Some(AnsiColor::Green.into())),
        Verdict::Fail | Verdict::Noisy => Style::new().bold().fg_color(Some(AnsiColor::Red.into())),
    };
    vec![
        Cell::new(format!("  {}", gate.name)),
        Cell::new(theory),
        Cell::styled(source.to_string(), DIM),
        Cell::new(number(gate.simulated)),
        Cell::new(format!("{:+.2} %", 100.0 * gate.deviation)),
        Cell::new(interval),
        Cell::new(format!("{} %", (1e5 * gate.tolerance).round() / 1e3)),
        Cell::styled(reason.to_string(), DIM),
        Cell::styled(gate.verdict.word(), verdict),
    ]
}

/// Four significant digits; at most three decimals, and all digits before the point.
fn number(value: f64) -> String {
    match value.abs() {
        v if v < 9.9995 => format!("{value:.3}"),
        v if v < 99.995 => format!("{value:.2}"),
        v if v < 999.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// A note under a table, on as many lines as it needs.
fn note(mark: &str, about: &str) -> String {
    let mut lines = vec![format!("  {mark} ")];
    for word in about.split_whitespace() {
        let line = lines.last_mut().expect("there is always a line");
        if line.chars().count() + 1 + word.chars().count() > COLUMNS {
            lines.push(format!("     {word}"));
        } else {
            line.push(' ');
            line.push_str(word);
        }
    }
    format!("{}{}{}\n", DIM.render(), lines.join("\n"), DIM.render_reset())
}

#[cfg(test)]
mod tests {
    use super::*;
    use copyback_lab::validate::gate::{Figure, Gate};

    #[test]
    fn a_table_fits_and_marks_what_failed() {
        let gate = |name: &str, tolerance| Gate {
            name: name.into(),
            source: "a long source, said at length, so that the note below the table goes on for more than one line of \
                     a hundred and twenty columns",
            tolerance,
            reason: "because",
        };
        let figures = [3.8, 3.9, 4.0].map(|a| Figure::equal(a, 3.8));
        let name = "hpdc18-4plane, 64 dies on 4 channels";
        let judged: Vec<Judged> =
            [0.01, 0.2].map(|tolerance| gate(name, tolerance).judge(Group::Sustained, &figures).unwrap()).to_vec();
        let text = anstream::adapter::strip_str(&text(&judged, 1)).to_string();
        assert!(text.lines().all(|line| line.chars().count() <= COLUMNS), "{text}");
        assert!(text.contains("FAIL\n") && text.contains("pass\n") && text.ends_with("1 of 2 pass\n"), "{text}");
        assert!(text.contains("+2.63 %") && text.contains("±6.54 %"), "{text}");
    }
}
