//! The findings at the top of a page: its title, a sentence on the results, and which of them meet the conditions.

use super::conditions::Condition;
use crate::format;
use crate::sweep::objective::standing::Judged;
use serde_json::Value;

/// Most schemes that a title names.
const NAMED_MAX: usize = 4;

/// A number whose smallest value is best.
struct Measure {
    name: &'static str,
    words: &'static str,
    /// The words for a smaller value.
    better: &'static str,
    /// Fewest requests for a meaningful value.
    requests_min: f64,
}

const fn measure(name: &'static str, words: &'static str, better: &'static str, requests_min: f64) -> Measure {
    Measure { name, words, better, requests_min }
}

/// The first of these that the results have is used.
const MEASURES: [Measure; 4] = [
    measure("response.read.p99_9_ns", "99.9 % of reads take at most", "shorter tails", 1_000.0),
    measure("response.write.p99_9_ns", "99.9 % of writes take at most", "shorter tails", 1_000.0),
    measure("response.read.mean_ns", "reads take on average", "shorter reads", 1.0),
    measure("response.write.mean_ns", "writes take on average", "shorter writes", 1.0),
];

/// Looks a number up by its name.
pub type Numbers = Box<dyn Fn(&str) -> Option<f64>>;

/// A row of results: what it is called, and its numbers.
pub struct Row {
    /// `pgc`, or `pgc with trigger.soft=0.1`.
    pub name: String,
    /// Whether collections take no time, which no real drive achieves.
    pub is_ideal: bool,
    /// Its numbers by name: a report, or means over seeds.
    pub number: Numbers,
}

impl Row {
    fn number(&self, name: &str) -> Option<f64> {
        (self.number)(name)
    }

    /// The value of a measure; `None` for a percentile of too few requests.
    fn measure(&self, measure: &Measure) -> Option<f64> {
        let name = measure.name;
        let count = self.number(&name.replace(name.rsplit('.').next()?, "count"));
        self.number(name).filter(|value| *value > 0.0 && count.is_none_or(|count| count >= measure.requests_min))
    }
}

/// Names for a title.
pub fn listed(schemes: &[String]) -> String {
    if schemes.len() > NAMED_MAX { format!("{} schemes", schemes.len()) } else { schemes.join(", ") }
}

/// One or two sentences on the rows. `base`: the row that others are compared with, if any.
pub fn sentence(rows: &[Row], base: Option<&str>, conditions: &[Condition]) -> String {
    let measure = MEASURES.iter().find(|measure| rows.iter().any(|row| row.measure(measure).is_some()));
    let mut sentences = Vec::new();
    if let Some(measure) = measure {
        let real = || rows.iter().filter(|row| !row.is_ideal).filter_map(|row| Some((row, row.measure(measure)?)));
        let best = real().min_by(|a, b| a.1.total_cmp(&b.1));
        let base = real().find(|(row, _)| base == Some(row.name.as_str()));
        let best = best.map(|(row, value)| {
            let alike = real().filter(|(_, other)| *other == value).map(|(row, _)| row.name.clone()).collect();
            Best { row, value, alike }
        });
        let built = rows.iter().filter(|row| !row.is_ideal).count();
        let of_all = format!("{}{}", format::counted(built as u64, "result"), that_can_be_built(rows));
        sentences.extend(best.map(|best| best_of(&best, base, (built, &of_all), measure)));
    }
    sentences.extend(conditions.iter().map(|condition| met(rows, condition)));
    sentences.join(" ")
}

/// The number of units that drives program after the last request, for each unit that the host wrote.
pub const AFTER_LAST_REQUEST: &str = "write_amplification.after_last_request";

/// Least share of programs after the last request, of those before, that a page states.
const PUT_OFF_MIN: f64 = 0.05;

/// States that rows postponed programs until after the last request, which their write amplification excludes.
pub fn put_off(rows: &[Row]) -> String {
    let share = |row: &Row| Some(row.number(AFTER_LAST_REQUEST)? / row.number("write_amplification.total")?);
    let shares = rows.iter().filter_map(|row| Some((row, share(row).filter(|share| *share >= PUT_OFF_MIN)?)));
    match shares.max_by(|a, b| a.1.total_cmp(&b.1)) {
        Some((row, share)) => format!(
            " Write amplification excludes programs after the last request: up to {} of those before, under {}.",
            format::percent(share),
            row.name
        ),
        None => String::new(),
    }
}

/// A caveat if not all runs are steady.
pub fn caveat(is_steady: bool) -> &'static str {
    if is_steady { "" } else { " Not all runs are steady." }
}

/// The best row that a real drive can achieve, and the names of equally good rows.
struct Best<'a> {
    row: &'a Row,
    value: f64,
    alike: Vec<String>,
}

fn best_of(best: &Best<'_>, base: Option<(&Row, f64)>, (count, of_all): (usize, &str), measure: &Measure) -> String {
    let Best { row, value, alike } = best;
    let amplification = |row: &Row| row.number("write_amplification.total").map(format::three_digits);
    let (shown, words) = (format::time(*value), measure.words);
    let at = amplification(row).map(|wa| format!(", at a write amplification of {wa}")).unwrap_or_default();
    let named = if alike.len() > NAMED_MAX { format!("{} results", alike.len()) } else { alike.join(", ") };
    let best = if alike.len() > 1 { format!("{named} do equally well") } else { format!("{named} does best") };
    match base {
        _ if count == 1 => format!("Under {}, {words} {shown}{at}.", row.name),
        Some((base, of_base)) if alike.contains(&base.name) => {
            let of_base = format::time(of_base);
            format!("No scheme that can be built has {} than {}: {words} {of_base}{at}.", measure.better, base.name)
        }
        Some((base, of_base)) => {
            let from = amplification(base).map(|wa| format!(" and {wa}")).unwrap_or_default();
            let (of_base_shown, change) = (format::time(of_base), format::change(*value, of_base));
            format!("{best}: {words} {shown}{at} ({}: {of_base_shown}{from}; {change}).", base.name)
        }
        None => format!("Of {of_all}, {best}: {words} {shown}{at}."),
    }
}

/// The words for the counted rows, if others were left out.
fn that_can_be_built(rows: &[Row]) -> &'static str {
    if rows.iter().any(|row| row.is_ideal) { " that can be built" } else { "" }
}

/// The rows of real drives that meet a condition, or the nearest one.
fn met(rows: &[Row], condition: &Condition) -> String {
    let built = || rows.iter().filter(|row| !row.is_ideal);
    let value = |row: &Row| row.number(&condition.metric);
    let judged = Judged::new(built(), |row| condition.standing(value(row)));
    let meets: Vec<&str> = judged.meet.iter().map(|row| row.name.as_str()).collect();
    let text = &condition.text;
    let can_be_built = that_can_be_built(rows);
    if meets.is_empty() {
        return match judged.nearest.and_then(|row| Some((row, value(row)?))) {
            Some((row, value)) => {
                let (name, value) = (&row.name, condition.shown(value));
                format!("No result{can_be_built} meets {text}; {name} is nearest, with {value}.")
            }
            None => format!("No result has the number of {text}."),
        };
    }
    let count = built().count();
    if meets.len() == count && count > 1 {
        return format!("All results{can_be_built} meet {text}.");
    }
    let verb = if meets.len() == 1 { "meets" } else { "meet" };
    if meets.len() > NAMED_MAX {
        return format!("{} of {count} results{can_be_built} meet {text}.", meets.len());
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
        // The ideal drive is better, but cannot be built. Of equal rows, all are named.
        let rows = [row("baseline", 1e6, 2.0), row("mine", 1e6, 2.0), row("ideal-no-gc", 0.5e6, 2.0)];
        let said = sentence(&rows, Some("baseline"), &[]);
        assert!(said.starts_with("No scheme that can be built has shorter tails than baseline: "), "{said}");
        assert!(
            sentence(&rows, None, &[]).starts_with("Of 2 results that can be built, baseline, mine do equally well: "),
            "{said}"
        );
    }

    #[test]
    fn postponed_programs_are_stated() {
        let row = |after: f64| Row {
            number: Box::new(move |name: &str| match name {
                "write_amplification.total" => Some(1.5),
                AFTER_LAST_REQUEST => Some(after),
                _ => None,
            }),
            ..row("pgc", 1e6, 1.5)
        };
        let said = put_off(&[row(0.01), row(0.66)]);
        assert!(said.contains("up to 44") && said.ends_with("of those before, under pgc."), "{said}");
        assert!(put_off(&[row(0.01)]).is_empty());
    }

    #[test]
    fn conditions_name_who_meets_them_or_who_is_nearest() {
        let rows = [row("baseline", 17.1e6, 3.458), row("pgc", 2.56e6, 2.961), row("ideal-no-gc", 0.5e6, 2.5)];
        let numbers = |name: &str| rows[0].number(name).is_some();
        let condition = |text: &str| Condition::parse(text, &numbers).expect("it can be asked");
        assert_eq!(met(&rows, &condition("read.p99_9 < 5 ms")), "pgc meets read.p99_9 < 5 ms.");
        assert_eq!(met(&rows, &condition("read.p99.9 < 1 s")), "All results that can be built meet read.p99.9 < 1 s.");
        let nearest = "No result that can be built meets read.p99_9 < 1 ms; pgc is nearest, with 2.56";
        assert!(met(&rows, &condition("read.p99_9 < 1 ms")).starts_with(nearest));
        assert_eq!(met(&rows, &condition("wa <= 3")), "pgc meets wa <= 3.");
        assert!(Condition::parse("nothing < 3", &numbers).is_err());
        assert!(Condition::parse("read.p99_9 < fast", &numbers).is_err());
    }
}
