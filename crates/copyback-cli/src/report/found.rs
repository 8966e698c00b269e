//! What a page says first: its title, a sentence on what was found, and which results meet the conditions.

use super::conditions::Condition;
use crate::format;
use serde_json::Value;

/// Schemes that a title names one by one.
const NAMED_MAX: usize = 4;

/// The numbers of which the smallest is looked for, the first that results have.
const MEASURES: [(&str, &str, f64); 4] = [
    ("response.read.p99_9_ns", "99.9 % of reads take at most", 1_000.0),
    ("response.write.p99_9_ns", "99.9 % of writes take at most", 1_000.0),
    ("response.read.mean_ns", "reads take on average", 1.0),
    ("response.write.mean_ns", "writes take on average", 1.0),
];

/// Looks a number up by its name.
pub type Numbers = Box<dyn Fn(&str) -> Option<f64>>;

/// A row of results: what it is called, and its numbers.
pub struct Row {
    /// `pgc`, or `pgc with trigger.soft=0.1`.
    pub name: String,
    /// Whether no real drive can do so: collections take no time.
    pub is_ideal: bool,
    /// Its numbers by name: a report, or means over seeds.
    pub number: Numbers,
}

impl Row {
    fn number(&self, name: &str) -> Option<f64> {
        (self.number)(name)
    }

    /// A percentile of too few requests says nothing.
    fn measure(&self, (name, _, requests): &(&str, &str, f64)) -> Option<f64> {
        let count = self.number(&name.replace(name.rsplit('.').next()?, "count"));
        self.number(name).filter(|value| *value > 0.0 && count.is_none_or(|count| count >= *requests))
    }
}

/// Names as a title has them.
pub fn listed(schemes: &[String]) -> String {
    if schemes.len() > NAMED_MAX { format!("{} schemes", schemes.len()) } else { schemes.join(", ") }
}

/// What rows say, in a sentence or two; `base` is what others are compared with, if there is one.
pub fn sentence(rows: &[Row], base: Option<&str>, conditions: &[Condition]) -> String {
    let measure = MEASURES.iter().find(|measure| rows.iter().any(|row| row.measure(measure).is_some()));
    let mut sentences = Vec::new();
    if let Some(measure) = measure {
        let real = || rows.iter().filter(|row| !row.is_ideal).filter_map(|row| Some((row, row.measure(measure)?)));
        let best = real().min_by(|a, b| a.1.total_cmp(&b.1));
        let base = real().find(|(row, _)| base == Some(row.name.as_str()));
        sentences.extend(best.map(|best| best_of(best, base, rows.len(), measure.1)));
    }
    sentences.extend(conditions.iter().map(|condition| met(rows, condition)));
    sentences.join(" ")
}

/// What a sentence does not say of runs that may go on otherwise.
pub fn caveat(is_steady: bool) -> &'static str {
    if is_steady { "" } else { " Not all runs are steady." }
}

fn best_of((row, value): (&Row, f64), base: Option<(&Row, f64)>, count: usize, words: &str) -> String {
    let amplification = |row: &Row| row.number("write_amplification.total").map(format::three_digits);
    let shown = format::time(value);
    let at = amplification(row).map(|wa| format!(", at a write amplification of {wa}")).unwrap_or_default();
    match base {
        _ if count == 1 => format!("Under {}, {words} {shown}{at}.", row.name),
        Some((base, of_base)) if base.name == row.name => {
            format!("No scheme has shorter tails than {}: {words} {}{at}.", row.name, format::time(of_base))
        }
        Some((base, of_base)) => {
            let from = amplification(base).map(|wa| format!(" and {wa}")).unwrap_or_default();
            format!(
                "{} does best: {words} {shown}{at} ({}: {}{from}; {}).",
                row.name,
                base.name,
                format::time(of_base),
                format::change(value, of_base)
            )
        }
        None => format!("Of {count} results, {} does best: {words} {shown}{at}.", row.name),
    }
}

/// Which rows meet a condition, or which is nearest to it.
fn met(rows: &[Row], condition: &Condition) -> String {
    let known: Vec<(&Row, f64)> = rows.iter().filter_map(|row| Some((row, row.number(&condition.metric)?))).collect();
    let meets: Vec<&str> =
        known.iter().filter(|(_, value)| condition.holds(*value)).map(|(row, _)| row.name.as_str()).collect();
    let text = &condition.text;
    if meets.is_empty() {
        let distance = |value: f64| (value - condition.value).abs();
        let nearest = known.iter().min_by(|a, b| distance(a.1).total_cmp(&distance(b.1)));
        return match nearest {
            Some((row, value)) => {
                format!("No result meets {text}; {} is nearest, with {}.", row.name, condition.shown(*value))
            }
            None => format!("No result has the number of {text}."),
        };
    }
    if meets.len() == rows.len() && rows.len() > 1 {
        return format!("All results meet {text}.");
    }
    let verb = if meets.len() == 1 { "meets" } else { "meet" };
    if meets.len() > NAMED_MAX {
        return format!("{} of {} results meet {text}.", meets.len(), rows.len());
    }
    format!("{} {verb} {text}.", meets.join(", "))
}

/// How many claims of reproductions are met.
pub fn of_claims(documents: &[Value]) -> String {
    let claims = || documents.iter().flat_map(|document| document["claims"].as_array().into_iter().flatten());
    let judged = claims().filter(|claim| claim["verdict"].is_string()).count();
    let met = claims().filter(|claim| claim["verdict"] == "met").count();
    format!("{met} of {judged} judged claims are met.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, p99_9_ns: f64, wa: f64) -> Row {
        let number = move |name: &str| match name {
            "response.read.p99_9_ns" => Some(p99_9_ns),
            "response.read.count" => Some(5_000.0),
            "write_amplification.total" => Some(wa),
            _ => None,
        };
        Row { name: name.to_owned(), is_ideal: name == "ideal-no-gc", number: Box::new(number) }
    }

    #[test]
    fn the_best_real_scheme_is_named_with_what_it_is_compared_with() {
        let rows = [row("baseline", 17.1e6, 3.458), row("pgc", 2.56e6, 2.961), row("ideal-no-gc", 0.5e6, 3.46)];
        let said = sentence(&rows, Some("baseline"), &[]);
        let expected = "pgc does best: 99.9 % of reads take at most 2.56 ms, at a write amplification of 2.96 \
                        (baseline: 17.1 ms and 3.46; -85.0 %).";
        assert_eq!(said, expected);
        let said = sentence(&rows[..1], Some("baseline"), &[]);
        assert_eq!(said, "Under baseline, 99.9 % of reads take at most 17.1 ms, at a write amplification of 3.46.");
        assert!(sentence(&[], None, &[]).is_empty());
    }

    #[test]
    fn conditions_name_who_meets_them_or_who_is_nearest() {
        let rows = [row("baseline", 17.1e6, 3.458), row("pgc", 2.56e6, 2.961)];
        let numbers = |name: &str| rows[0].number(name).is_some();
        let condition = |text: &str| Condition::parse(text, &numbers).expect("it can be asked");
        assert_eq!(met(&rows, &condition("read.p99_9 < 5 ms")), "pgc meets read.p99_9 < 5 ms.");
        assert_eq!(met(&rows, &condition("read.p99.9 < 1 s")), "All results meet read.p99.9 < 1 s.");
        let nearest = "No result meets read.p99_9 < 1 ms; pgc is nearest, with 2.56";
        assert!(met(&rows, &condition("read.p99_9 < 1 ms")).starts_with(nearest));
        assert_eq!(met(&rows, &condition("wa <= 3")), "pgc meets wa <= 3.");
        assert!(Condition::parse("nothing < 3", &numbers).is_err());
        assert!(Condition::parse("read.p99_9 < fast", &numbers).is_err());
    }
}
