//! The findings at the top of a page: its title, a sentence on the results, and which of them meet the conditions.

use super::conditions::Condition;
use copyback::observe::steady::Verdict;
use copyback_lab::format::{self, TooFew, count, is_of_no_request};
use copyback_lab::steady::{is_unsettled, short};
use copyback_lab::sweep::objective::standing::Judged;
use serde_json::Value;
use std::collections::BTreeSet;

/// Most schemes that a title names.
const NAMED_MAX: usize = 4;

/// A number whose smallest value is best.
struct Measure {
    name: &'static str,
    words: &'static str,
    /// The words for a smaller value.
    better: &'static str,
}

const fn measure(name: &'static str, words: &'static str, better: &'static str) -> Measure {
    Measure { name, words, better }
}

/// The first of these that all results have is used, or else the first that any has.
const MEASURES: [Measure; 6] = [
    measure("response.read.p99_9_ns", "99.9 % of reads take at most", "shorter tails"),
    measure("response.write.p99_9_ns", "99.9 % of writes take at most", "shorter tails"),
    measure("response.read.p99_ns", "99 % of reads take at most", "shorter tails"),
    measure("response.write.p99_ns", "99 % of writes take at most", "shorter tails"),
    measure("response.read.mean_ns", "reads take on average", "shorter reads"),
    measure("response.write.mean_ns", "writes take on average", "shorter writes"),
];

/// Looks a number up by its name.
pub type Numbers = Box<dyn Fn(&str) -> Option<f64>>;

/// A row of results: what it is called, and its numbers.
pub struct Row {
    /// `pgc`, or `pgc with trigger.soft=0.1`.
    pub name: String,
    /// The workload, if results of several stand together: the numbers of different workloads are not compared.
    pub workload: Option<String>,
    /// Whether collections take no time, which no real drive achieves.
    pub is_ideal: bool,
    /// Its numbers by name: a report, or means over seeds; of counts of requests, the smallest of all seeds.
    pub number: Numbers,
}

impl Row {
    /// A number; `None` if it has none, no requests of the class, or too few for the percentile.
    fn number(&self, name: &str) -> Option<f64> {
        let is_none = self.too_few(name).is_some() || is_of_no_request(name, &self.number);
        (self.number)(name).filter(|_| !is_none)
    }

    /// The shortage of a percentile, if there are too few requests for it.
    fn too_few(&self, name: &str) -> Option<TooFew> {
        TooFew::of(name, |other| (self.number)(other))
    }

    fn measure(&self, measure: &Measure) -> Option<f64> {
        self.number(measure.name).filter(|value| *value > 0.0)
    }
}

/// Names for a title.
pub fn listed(schemes: &[String]) -> String {
    if schemes.len() > NAMED_MAX { format!("{} schemes", schemes.len()) } else { schemes.join(", ") }
}

/// Sentences on the rows. `base`: the row that others are compared with, if any. `verdicts`: of all runs.
pub fn sentences(rows: &[Row], base: Option<&str>, conditions: &[Condition], verdicts: &[Verdict]) -> String {
    let built = || rows.iter().filter(|row| !row.is_ideal);
    let of_all = MEASURES.iter().find(|measure| built().all(|row| row.measure(measure).is_some()));
    let of_any = || MEASURES.iter().find(|measure| built().any(|row| row.measure(measure).is_some()));
    let mut sentences = Vec::new();
    let is_of_several = rows.iter().any(|row| row.workload != rows[0].workload);
    if is_of_several {
        let of_workloads = best_of_workloads(rows, verdicts);
        if of_workloads.is_empty() {
            sentences
                .extend(none_is_steady(verdicts).map(|none| format!("{}{}.", none[..1].to_uppercase(), &none[1..])));
        }
        sentences.extend(of_workloads);
    } else if let Some(measure) = of_all.filter(|_| built().next().is_some()).or_else(of_any) {
        let real = || rows.iter().filter(|row| !row.is_ideal).filter_map(|row| Some((row, row.measure(measure)?)));
        let best = real().min_by(|a, b| a.1.total_cmp(&b.1));
        let base = real().find(|(row, _)| base == Some(row.name.as_str()));
        let best = best.map(|(row, value)| {
            let alike = real().filter(|(_, other)| *other == value).map(|(row, _)| row.name.clone()).collect();
            Best { row, value, alike }
        });
        let built = built().count();
        let of_all = format!("{}{}", format::counted(built as u64, "result"), that_can_be_built(rows));
        let found = best.map(|best| best_of(&best, base, (built, &of_all), measure));
        sentences.extend(found.map(|found| match none_is_steady(verdicts) {
            // A transient is no result: the same sentence says so.
            Some(none) => format!("{}; {none}.", found.trim_end_matches('.')),
            None => found,
        }));
    }
    sentences.extend(conditions.iter().map(|condition| met(rows, condition)));
    let postponed = postponed(rows);
    sentences.extend(Some(postponed).filter(|text| !text.is_empty()));
    sentences.extend(caveat(verdicts));
    sentences.join(" ")
}

/// Most workloads with a sentence each.
const WORKLOADS_MAX: usize = 4;

/// The best rows of each of several workloads; empty if there are more than [`WORKLOADS_MAX`].
fn best_of_workloads(rows: &[Row], verdicts: &[Verdict]) -> Vec<String> {
    let workloads: BTreeSet<&str> = rows.iter().filter_map(|row| row.workload.as_deref()).collect();
    if workloads.len() > WORKLOADS_MAX {
        return Vec::new();
    }
    let best = |workload: &str| {
        let built = || rows.iter().filter(|row| !row.is_ideal && row.workload.as_deref() == Some(workload));
        let measure = MEASURES.iter().find(|measure| built().all(|row| row.measure(measure).is_some()))?;
        let values = || built().filter_map(|row| Some((row, row.measure(measure)?)));
        let (row, value) = values().min_by(|a, b| a.1.total_cmp(&b.1))?;
        let alike = values().filter(|(_, other)| *other == value).map(|(row, _)| row.name.clone()).collect();
        let of_all = format!("{}{}", format::counted(built().count() as u64, "result"), that_can_be_built(rows));
        let best = Best { row, value, alike };
        Some(format!("{workload}: {}", best_of(&best, None, (built().count(), &of_all), measure)))
    };
    let unsettled = none_is_steady(verdicts).map(|none| format!("{}{}.", none[..1].to_uppercase(), &none[1..]));
    workloads.into_iter().filter_map(best).chain(unsettled).collect()
}

/// The number of units that drives program after the last request, for each unit that the host wrote.
pub const AFTER_LAST_REQUEST: &str = "write_amplification.after_last_request";

/// Least ratio of programs after the last request to programs before it that a page states.
const POSTPONED_SHARE_MIN: f64 = 0.05;

/// States that rows postponed programs until after the last request, which their write amplification excludes.
fn postponed(rows: &[Row]) -> String {
    let share = |row: &Row| Some(row.number(AFTER_LAST_REQUEST)? / row.number("write_amplification.total")?);
    let shares = rows.iter().filter_map(|row| Some((row, share(row).filter(|share| *share >= POSTPONED_SHARE_MIN)?)));
    match shares.max_by(|a, b| a.1.total_cmp(&b.1)) {
        Some((row, share)) => format!(
            "Write amplification excludes programs after the last request: up to {} of those before, under {}.",
            format::percent(share),
            row.name
        ),
        None => String::new(),
    }
}

/// The verdict of this name in a document or a table.
pub fn verdict(name: &str) -> Option<Verdict> {
    Verdict::ALL.into_iter().find(|verdict| verdict.name() == name)
}

/// The words for results that are all unsteady, with their common verdict; `None` if one is steady or wrote nothing.
fn none_is_steady(verdicts: &[Verdict]) -> Option<String> {
    let (first, rest) = verdicts.split_first()?;
    if !verdicts.iter().all(|verdict| is_unsettled(*verdict)) {
        return None;
    }
    let is_shared = rest.iter().all(|verdict| verdict == first) && *first != Verdict::NotYet;
    let why = if is_shared { format!(" ({})", short(*first)) } else { String::new() };
    Some(if rest.is_empty() { format!("the run is not steady{why}") } else { format!("no run is steady{why}") })
}

/// A caveat if some runs are steady and others are not.
fn caveat(verdicts: &[Verdict]) -> Option<String> {
    let unsettled = verdicts.iter().filter(|verdict| is_unsettled(**verdict)).count();
    let is_some = unsettled > 0 && unsettled < verdicts.len();
    let are = if unsettled == 1 { "is" } else { "are" };
    is_some.then(|| format!("{unsettled} of {} runs {are} not steady.", verdicts.len()))
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
    let shortages: Vec<TooFew> = built().filter_map(|row| row.too_few(&condition.metric)).collect();
    if let Some(most) = shortages.iter().max() {
        let (all, few) = (built().count(), shortages.len());
        let at_most = if few > 1 { "at most " } else { "" };
        let why = format!("{at_most}{} of the {} requests that it needs", count(most.count), count(most.needed));
        if few == all {
            return format!("{text} cannot be judged: {why}.");
        }
        let named = match meets.len() {
            0 => "no other result meets it".to_owned(),
            1 => "1 other result meets it".to_owned(),
            many => format!("{many} other results meet it"),
        };
        return format!("{text} cannot be judged in {few} of {all} results{can_be_built} ({why}); {named}.");
    }
    if meets.is_empty() {
        return match judged.nearest.and_then(|row| Some((row, value(row)?))) {
            Some((row, value)) => {
                let (name, value) = (&row.name, condition.shown(value));
                format!("No result{can_be_built} meets {text}; {name} is nearest, with {value}.")
            }
            None => format!("{text} cannot be judged: no result{can_be_built} has this number."),
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

/// How many claims of a reproduction hold.
pub fn of_claims(document: &Value) -> String {
    let claims = || document["claims"].as_array().into_iter().flatten();
    let judged = claims().filter(|claim| claim["verdict"].is_string()).count();
    let met = claims().filter(|claim| claim["verdict"] == "met").count();
    format!("{met} of {judged} judged claims hold.")
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEADY: [Verdict; 1] = [Verdict::Steady];

    fn row(name: &str, p99_9_ns: f64, wa: f64) -> Row {
        let number = move |name: &str| match name {
            "response.read.p99_9_ns" => Some(p99_9_ns),
            "response.read.count" => Some(5_000.0),
            "write_amplification.total" => Some(wa),
            _ => None,
        };
        Row { name: name.to_owned(), workload: None, is_ideal: name == "ideal-no-gc", number: Box::new(number) }
    }

    #[test]
    fn the_best_real_scheme_is_named_with_what_it_is_compared_with() {
        let rows = [row("baseline", 17.1e6, 3.458), row("pgc", 2.56e6, 2.961), row("ideal-no-gc", 0.5e6, 3.46)];
        let said = sentences(&rows, Some("baseline"), &[], &STEADY);
        let expected = "pgc does best: 99.9 % of reads take at most 2.56 ms, at a write amplification of 2.96 \
                        (baseline: 17.1 ms and 3.46; -85.0 %).";
        assert_eq!(said, expected);
        let said = sentences(&rows[..1], Some("baseline"), &[], &STEADY);
        assert_eq!(said, "Under baseline, 99.9 % of reads take at most 17.1 ms, at a write amplification of 3.46.");
        assert!(sentences(&[], None, &[], &[]).is_empty());
        // The ideal drive is better, but cannot be built. Of equal rows, all are named.
        let rows = [row("baseline", 1e6, 2.0), row("mine", 1e6, 2.0), row("ideal-no-gc", 0.5e6, 2.0)];
        let said = sentences(&rows, Some("baseline"), &[], &STEADY);
        assert!(said.starts_with("No scheme that can be built has shorter tails than baseline: "), "{said}");
        assert!(
            sentences(&rows, None, &[], &STEADY)
                .starts_with("Of 2 results that can be built, baseline, mine do equally well: "),
            "{said}"
        );
    }

    /// A number of one workload says nothing of another.
    #[test]
    fn different_workloads_are_not_compared() {
        let of = |workload: &str, name: &str, ns: f64| Row { workload: Some(workload.into()), ..row(name, ns, 2.0) };
        let rows = [of("a", "baseline", 9e6), of("a", "pgc", 8e6), of("b", "baseline", 3e6), of("b", "pgc", 5e6)];
        let said = sentences(&rows, None, &[], &STEADY);
        assert_eq!(
            said,
            "a: Of 2 results, pgc does best: 99.9 % of reads take at most 8.00 ms, at a write amplification of 2.00. b: \
             Of 2 results, baseline does best: 99.9 % of reads take at most 3.00 ms, at a write amplification of 2.00."
        );
        let many: Vec<Row> = (0..5).map(|number| of(&number.to_string(), "pgc", 1e6)).collect();
        assert!(sentences(&many, None, &[], &STEADY).is_empty());
        assert!(sentences(&many, None, &[], &[Verdict::NotYet]).starts_with("The run is not steady"));
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
        let said = postponed(&[row(0.01), row(0.66)]);
        assert!(said.contains("up to 44") && said.ends_with("of those before, under pgc."), "{said}");
        assert!(postponed(&[row(0.01)]).is_empty());
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

    /// Results of earlier versions have 0 for all times of a class without requests: such times meet no limit.
    #[test]
    fn times_of_no_request_meet_no_condition() {
        let row = |name: &str, reads: f64| Row {
            name: name.to_owned(),
            workload: None,
            is_ideal: false,
            number: Box::new(move |number: &str| match number {
                "response.read.count" => Some(reads),
                "response.read.p99_9_ns" | "response.read.mean_ns" => Some(if reads > 0.0 { 1e6 } else { 0.0 }),
                _ => None,
            }),
        };
        let is_time = |name: &str| ["response.read.p99_9_ns", "response.read.mean_ns"].contains(&name);
        for text in ["read.p99_9 < 5ms", "read.mean < 5ms"] {
            let condition = Condition::parse(text, &|name| is_time(name)).expect("it can be asked");
            let said = met(&[row("baseline", 0.0), row("pgc", 0.0)], &condition);
            assert_eq!(said, format!("{} cannot be judged: no result has this number.", condition.text));
            let said = met(&[row("baseline", 0.0), row("pgc", 2_000.0)], &condition);
            assert_eq!(said, format!("pgc meets {}.", condition.text));
        }
    }

    /// A p99.9 needs 1,000 requests, a p99 100: with fewer, it is the maximum.
    #[test]
    fn percentiles_of_too_few_requests_are_neither_best_nor_judged() {
        let row = |name: &str, count: f64, ns: f64| Row {
            name: name.to_owned(),
            workload: None,
            is_ideal: false,
            number: Box::new(move |number: &str| match number {
                "response.read.count" => Some(count),
                "response.read.p99_9_ns" => Some(ns),
                "response.read.p99_ns" => Some(ns / 2.0),
                "response.read.mean_ns" => Some(ns / 10.0),
                _ => None,
            }),
        };
        let said = |rows: &[Row]| sentences(rows, Some("a"), &[], &STEADY);
        let few = [row("a", 5_000.0, 8e6), row("b", 441.0, 4e6)];
        assert_eq!(said(&few), "b does best: 99 % of reads take at most 2.00 ms (a: 4.00 ms; -50.0 %).");
        let fewer = [row("a", 5_000.0, 8e6), row("b", 99.0, 4e6)];
        assert_eq!(said(&fewer), "b does best: reads take on average 400 us (a: 800 us; -50.0 %).");
        let condition = Condition::parse("read.p99_9 < 5 ms", &|name| fewer[0].number(name).is_some()).expect("valid");
        let alone = "read.p99_9 < 5 ms cannot be judged: 99 of the 1,000 requests that it needs.";
        assert_eq!(met(&fewer[1..], &condition), alone);
        let one = "read.p99_9 < 5 ms cannot be judged in 1 of 2 results (441 of the 1,000 requests that it needs); no \
                   other result meets it.";
        assert_eq!(met(&few, &condition), one);
    }

    #[test]
    fn a_sentence_on_runs_that_are_not_steady_says_so() {
        let rows = [row("baseline", 4e6, 2.0), row("pgc", 2e6, 2.0)];
        let said = |verdicts: &[Verdict]| sentences(&rows, None, &[], verdicts);
        let (short, yes, no) = (Verdict::TooShort, Verdict::Steady, Verdict::NotYet);
        let end = "at a write amplification of 2.00; no run is steady";
        assert!(said(&[short, short]).ends_with(&format!("{end} (too short).")), "{}", said(&[short, short]));
        assert!(said(&[short, no]).ends_with(&format!("{end}.")), "{}", said(&[short, no]));
        assert!(said(&[short, yes, no]).ends_with("2.00. 2 of 3 runs are not steady."), "{}", said(&[short, yes, no]));
        // A host that only reads moves nothing.
        assert!(said(&[yes, Verdict::NoWrite]).ends_with("2.00."), "{}", said(&[yes, Verdict::NoWrite]));
    }
}
