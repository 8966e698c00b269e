//! Are verdicts right? Cells, seeds, null controls, selected requests, work, kinds. Expected values are computed by
//! hand.

use super::claim::Claim;
use super::count::{Count, Counts};
use super::judge::{self, Measured, MissingVerdict};
use super::verdict::Verdict;
use crate::flat::Number;
use crate::sweep::file::SweepFile;
use crate::sweep::grid::{self, Cell, Overrides};
use crate::sweep::journal::{CellResult, RunResult};
use crate::sweep::table::SweepResults;
use copyback::config::layers::Text;
use std::path::Path;
use std::sync::Arc;

const SCHEMES: &str = "schemes = [\"baseline\", \"gc-par\", \"worse\"]\n\
    [[variant]]\nname = \"worse\"\nof = \"baseline\"\nset.trigger.soft = 4\n";

/// A claim on the matched reads of gc-par, compared with the baseline. `more`: its other keys, such as `published`.
fn claim_with(more: &str) -> String {
    format!(
        "[[claim]]\nfigure = \"1\"\ntext = \"t\"\nwhere = \"w\"\nmetric = \"matched.read.mean_ns\"\nscheme = \
         \"gc-par\"\n\
         against = \"baseline\"\n{more}\n"
    )
}

/// Judges a file's claims. `value`: the value of a number, by its name, of a scheme in a cell.
fn judged(text: &str, value: impl Fn(&Cell, &str, &str) -> f64) -> Vec<(Claim, Measured)> {
    const NAMES: &[&str] = &[
        "matched.read.mean_ns",
        "response.gc_affected_read.mean_ns",
        "response.read.mean_ns",
        "response.read.p99_ns",
        "flash.gc_page_programs",
        "flash.block_erases",
        "array.gc_share",
        "flash.merged_reads",
        "unwritten_units_read",
        "units_read",
    ];
    let text = Arc::new(Text::new("test.toml", text));
    let file = SweepFile::parse(&text, "test", Path::new(""), &|_| unreachable!("no grid is named")).unwrap();
    let cells = grid::cells(&file, &Overrides::default()).unwrap().cells;
    let result = |cell: &Cell| {
        let runs = cell.plan.runs.iter().map(|run| {
            let numbers = NAMES.iter().map(|name| ((*name).to_owned(), Number::F64(value(cell, &run.scheme, name))));
            RunResult {
                scheme: run.scheme.clone(),
                hash: String::new(),
                steady: Default::default(),
                numbers: numbers.collect(),
                latencies: Default::default(),
            }
        });
        CellResult { runs: runs.collect(), notes: String::new() }
    };
    let results: Vec<CellResult> = cells.iter().map(result).collect();
    let results = SweepResults { file: &file, cells: &cells, results: &results };
    let claims = Claim::of_file(&file).unwrap();
    claims.into_iter().map(|claim| (claim.clone(), judge::judge(&claim, &results).unwrap())).collect()
}

fn one(text: &str, value: impl Fn(&Cell, &str, &str) -> f64) -> Measured {
    judged(text, value).remove(0).1
}

/// The baseline takes 100 of everything, gc-par 40, and the control as much as is said.
fn with_control(control: f64) -> impl Fn(&Cell, &str, &str) -> f64 {
    move |_, scheme, name| match (name, scheme) {
        ("unwritten_units_read", _) => 0.0,
        (_, "baseline") => 100.0,
        (_, "gc-par") => 40.0,
        _ => control,
    }
}

#[test]
fn a_claim_that_a_null_control_meets_too_is_not_met() {
    let text = |more: &str| format!("{SCHEMES}{}", claim_with(&format!("published = -60\n{more}")));
    let measured = one(&text("null = \"worse\""), with_control(50.0));
    assert_eq!((measured.effect, measured.outcome.clone()), (Some(-60.0), Ok(Verdict::NullToo)));
    assert_eq!(measured.null[0].outcome, Ok((-50.0, Verdict::Met)));
    assert!(measured.outcome.unwrap().direction_holds());
    // The control goes the same way, and not as far: the claim is the scheme's own.
    let measured = one(&text("null = \"worse\""), with_control(75.0));
    assert_eq!(measured.null[0].outcome, Ok((-25.0, Verdict::Smaller)));
    assert_eq!(measured.outcome, Ok(Verdict::Met));
    // Half as far is far enough, whatever the claim's size.
    assert_eq!(one(&text("null = \"worse\""), with_control(70.0)).outcome, Ok(Verdict::NullToo));
    let larger = text("null = \"worse\"").replace("-60", "-90");
    assert_eq!(one(&larger, with_control(99.0)).outcome, Ok(Verdict::Smaller));
    assert_eq!(one(&larger, with_control(69.0)).outcome, Ok(Verdict::NullToo));
    // A claim of a direction is lost only to a control with at least half of the effect.
    let direction = format!("{SCHEMES}{}", claim_with("direction = \"lower\"\nnull = \"worse\""));
    assert_eq!(one(&direction, with_control(99.0)).outcome, Ok(Verdict::Met));
    assert_eq!(one(&direction, with_control(65.0)).outcome, Ok(Verdict::NullToo));
    assert_eq!(one(&text(""), with_control(50.0)).outcome, Ok(Verdict::Met));
    // A miss stays what it is.
    let missed = text("null = \"worse\"").replace("-60", "60");
    assert_eq!(one(&missed, with_control(160.0)).outcome, Ok(Verdict::Opposite));
}

#[test]
fn a_control_of_the_file_counts_for_claims_that_schemes_differ() {
    let file = format!("null = [\"worse\"]\n{SCHEMES}");
    let nulls = |claim: &str| one(&format!("{file}{claim}"), with_control(50.0)).null.len();
    assert_eq!(nulls(&claim_with("published = -60")), 1);
    assert_eq!(nulls(&claim_with("direction = \"lower\"")), 1);
    assert_eq!(nulls(&claim_with("published = -60\nnull = []")), 0);
    assert_eq!(nulls(&claim_with("published = 0")), 0);
    assert_eq!(nulls(&claim_with("published = -60\nkind = \"calibrated\"")), 0);
    assert_eq!(nulls(&claim_with("at_most = 90\nmeasure = \"figure\"\nunit = \"ns\"")), 0);
}

#[test]
fn a_control_of_one_scheme_in_two_groups_of_cells_replaces_both() {
    let text = format!(
        "{SCHEMES}[vary]\nworkload.time_scale = [1.0, 0.5]\n{}",
        claim_with(
            "null = \"worse\"\ncells.workload.time_scale = 0.5\nbase_cells.workload.time_scale = 1.0\ndirection = \
             \"higher\""
        )
        .replace("against = \"baseline\"\n", "")
    );
    // gc-par doubles, the control goes up by a half.
    let measured = one(&text, |cell, scheme, name| match (name, scheme, cell.varied[0].as_float() == Some(0.5)) {
        ("unwritten_units_read", ..) => 0.0,
        (_, "gc-par", true) => 80.0,
        (_, "gc-par", false) => 40.0,
        (_, _, true) => 150.0,
        (_, _, false) => 100.0,
    });
    assert_eq!((measured.effect, measured.outcome), (Some(100.0), Ok(Verdict::NullToo)));
    assert!((measured.null[0].outcome.as_ref().unwrap().0 - 50.0).abs() < 1e-9);
    assert_eq!((measured.pages_moved.map(|work| work.mean), measured.own.is_some()), (Some(100.0), true));
}

#[test]
fn a_matched_effect_shows_own_and_all_requests_and_the_work() {
    let text = format!("{SCHEMES}{}", claim_with("published = -60"));
    let measured = one(&text, |_, scheme, name| match (name, scheme) {
        ("unwritten_units_read", _) => 0.0,
        ("response.gc_affected_read.mean_ns", "gc-par") => 131.0,
        ("response.read.mean_ns", "gc-par") => 121.0,
        ("flash.gc_page_programs", "gc-par") => 91.0,
        ("flash.block_erases", "gc-par") => 98.0,
        ("array.gc_share", "gc-par") => 95.0,
        (_, "gc-par") => 44.0,
        _ => 100.0,
    });
    let near = |value: Option<f64>, expected: f64| assert!((value.unwrap() - expected).abs() < 1e-9, "{value:?}");
    near(measured.effect, -56.0);
    near(measured.own, 31.0);
    near(measured.all, 21.0);
    near(measured.pages_moved.map(|work| work.mean), -9.0);
    near(measured.erases.map(|work| work.mean), -2.0);
    near(measured.gc_time.map(|work| work.mean), -5.0);
    // A number of all requests has no other sets.
    let plain = text.replace("matched.read", "response.read");
    let measured = one(&plain, with_control(50.0));
    assert_eq!((measured.own, measured.all), (None, None));
    // A drive alone counts no share of its dies' time.
    let alone = one(&text, |_, _, name| if name == "array.gc_share" { f64::NAN } else { 100.0 });
    assert_eq!(alone.gc_time.map(|work| work.mean), None);
}

#[test]
fn an_effect_over_seeds_is_held_against_what_the_seeds_differ_by() {
    let text = format!("seeds = [1, 2, 3]\n{SCHEMES}{}", claim_with("direction = \"lower\""));
    let over = |effects: [f64; 3]| {
        one(&text, move |cell, scheme, name| match (name, scheme) {
            ("unwritten_units_read", _) => 0.0,
            (_, "gc-par") => 100.0 + effects[cell.plan.seed as usize - 1],
            _ => 100.0,
        })
    };
    // Mean -4, s = 2: t(2) * s / sqrt(3) = 4.303 * 1.1547 = 4.968, more than the effect.
    let measured = over([-2.0, -4.0, -6.0]);
    assert!((measured.half_width.unwrap() - 4.968).abs() < 1e-3, "{:?}", measured.half_width);
    assert!((measured.effect.unwrap() + 4.0).abs() < 1e-9);
    assert_eq!(measured.outcome, Ok(Verdict::NoEffect));
    // s = 1: 2.484, less than it.
    assert_eq!(over([-3.0, -4.0, -5.0]).outcome, Ok(Verdict::Met));
    let single = format!("{SCHEMES}{}", claim_with("direction = \"lower\""));
    assert_eq!(one(&single, with_control(0.0)).half_width, None);
}

/// 1 ms and 0.99 ms lie between 2^19 and 2^20 ns, where a bin has 512 ns: -1 % is -1.0512 % if the one is at the start
/// of its bin, and 100 (990,000 / 999,488 - 1) = -0.9493 % if the other is.
#[test]
fn an_effect_on_percentiles_that_all_seeds_share_is_no_more_exact_than_their_bins() {
    let text = format!("seeds = [1, 2, 3]\n{SCHEMES}{}", claim_with("direction = \"lower\""));
    let text = text.replace("matched.read.mean_ns", "response.read.p99_ns");
    let measured = one(&text, |_, scheme, name| match (name, scheme) {
        ("unwritten_units_read", _) => 0.0,
        (_, "gc-par") => 990_000.0,
        _ => 1_000_000.0,
    });
    assert!((measured.effect.unwrap() + 1.0).abs() < 1e-9);
    assert!((measured.half_width.unwrap() - 0.0512).abs() < 1e-6, "{:?}", measured.half_width);
}

#[test]
fn a_trend_may_compare_one_set_of_cells_with_another() {
    let cases = |names: &[&str]| {
        // Lengths of their own: two cells that are the same are refused.
        let case = |(at, name): (usize, &&str)| {
            format!("[[case]]\nname = \"{name}\"\nworkload = \"mixed-70-30\"\nrequests = {}\n", 100 + at)
        };
        names.iter().enumerate().map(case).collect::<String>()
    };
    let text = format!(
        "{SCHEMES}{}{}",
        cases(&["a", "b", "c", "d"]),
        claim_with(
            "measure = \"trend\"\ncells.case = [\"a\", \"b\"]\nbase_cells.case = [\"c\", \"d\"]\ndirection = \"lower\""
        )
    );
    // Changes: -60 and -40, mean -50; -10 and -30, mean -20.
    let measured = one(&text, |cell, scheme, name| match (name, scheme, cell.case.as_str()) {
        ("unwritten_units_read", ..) => 0.0,
        (_, "gc-par", "a") => 40.0,
        (_, "gc-par", "b") => 60.0,
        (_, "gc-par", "c") => 90.0,
        (_, "gc-par", "d") => 70.0,
        _ => 100.0,
    });
    assert!((measured.effect.unwrap() + 30.0).abs() < 1e-9, "{:?}", measured.effect);
    assert_eq!((measured.cells.len(), measured.outcome), (2, Ok(Verdict::Met)));
}

/// Two loads under two triggers: gc-par takes 60 % off with the one, 20 % with the other, and 10 points less at twice
/// the rate.
#[test]
fn a_claim_may_be_asked_for_each_value_of_a_key() {
    let file = format!("{SCHEMES}[vary]\ntrigger.when = [\"waiting\", \"below\"]\nworkload.time_scale = [1.0, 0.5]\n");
    let value = |cell: &Cell, scheme: &str, name: &str| {
        let is_waiting = cell.varied[0].as_str() == Some("waiting");
        let less = if cell.varied[1].as_float() == Some(0.5) { 10.0 } else { 0.0 };
        match (name, scheme) {
            ("unwritten_units_read", _) => 0.0,
            (_, "gc-par") if is_waiting => 40.0 + less,
            (_, "gc-par") => 80.0 + less,
            _ => 100.0,
        }
    };
    let asked = |more: &str| {
        let claim = claim_with(&format!("for_each = \"trigger.when\"\nnull = []\n{more}"));
        let judged = judged(&format!("{file}{claim}"), value);
        judged.into_iter().map(|(claim, measured)| (claim.text, measured.effect.unwrap().round())).collect::<Vec<_>>()
    };
    let with = |waiting: f64, below: f64| {
        vec![("t; trigger.when = waiting".to_owned(), waiting), ("t; trigger.when = below".to_owned(), below)]
    };
    assert_eq!(asked("cells.workload.time_scale = 1.0\npublished = -60"), with(-60.0, -20.0));
    // Both are means of two loads.
    assert_eq!(asked("published = -60"), with(-55.0, -15.0));
    // What it is compared with has the same value.
    let trend = "measure = \"trend\"\ncells.workload.time_scale = 0.5\nbase_cells.workload.time_scale = 1.0";
    assert_eq!(asked(&format!("{trend}\ndirection = \"higher\"")), with(10.0, 10.0));
}

/// The baseline goes from 100 to 160 us, gc-par from 40 to 60: 40 less.
#[test]
fn a_rise_is_held_against_that_of_another_scheme() {
    let text = format!(
        "{SCHEMES}[vary]\nworkload.time_scale = [1.0, 0.5]\n{}",
        claim_with(
            "measure = \"rise\"\nunit = \"us\"\nnull = \"worse\"\ncells.workload.time_scale = 0.5\n\
             base_cells.workload.time_scale = 1.0\ndirection = \"lower\""
        )
    );
    let (claim, measured) =
        judged(&text, |cell, scheme, name| match (name, scheme, cell.varied[0].as_float() == Some(0.5)) {
            ("unwritten_units_read", ..) => 0.0,
            (_, "gc-par", true) => 60e3,
            (_, "gc-par", false) => 40e3,
            (_, "worse", true) => 155e3,
            (_, _, true) => 160e3,
            (_, _, false) => 100e3,
        })
        .remove(0);
    let test = claim.test.expect("it compares");
    assert_eq!(test.shown(measured.effect.unwrap()), "-40.0 us");
    assert_eq!(measured.null[0].outcome, Ok((-5.0, Verdict::Met)));
    assert_eq!(measured.outcome, Ok(Verdict::Met));
    // gc-par erases 60 and 62.5 per cent less than the baseline. Work is compared inside the counted group: 62.5.
    assert_eq!(measured.erases.map(|work| work.mean), Some(-62.5));
}

#[test]
fn what_a_claim_cannot_be_asked_for_is_refused() {
    let refusal = |key: &str, more: &str| {
        let claim = claim_with(&format!("for_each = \"{key}\"\npublished = -60\n{more}"));
        let text = format!("{SCHEMES}[vary]\ntrigger.when = [\"waiting\", \"below\"]\n{claim}");
        let text = Arc::new(Text::new("test.toml", text));
        let file = SweepFile::parse(&text, "test", Path::new(""), &|_| unreachable!("no grid is named")).unwrap();
        format!("{:?}", Claim::of_file(&file).expect_err("it is refused"))
    };
    let unknown = refusal("trigger.whem", "");
    assert!(unknown.contains("no cells differ in `trigger.whem`"), "{unknown}");
    assert!(unknown.contains("did you mean `trigger.when`?"), "{unknown}");
    let itself =
        SCHEMES.to_owned() + &claim_with("published = -60").replace("against = \"baseline\"", "against = \"gc-par\"");
    let text = Arc::new(Text::new("test.toml", itself));
    let file = SweepFile::parse(&text, "test", Path::new(""), &|_| unreachable!("no grid is named")).unwrap();
    let error = Claim::of_file(&file).expect_err("it is refused").to_string();
    assert!(error.contains("the claim compares a scheme with itself"), "{error}");
    let twice = "is judged for each `trigger.when`, and also names values of it";
    for cells in ["cells", "base_cells"] {
        let named = refusal("trigger.when", &format!("{cells}.trigger.when = \"below\""));
        assert!(named.contains(twice), "{named}");
    }
}

#[test]
fn reads_of_nothing_and_what_does_not_happen_are_not_judged() {
    let unwritten = |share: f64| {
        move |_: &Cell, scheme: &str, name: &str| match (name, scheme) {
            ("units_read", _) => 1000.0,
            ("unwritten_units_read", "baseline") => 1000.0 * share,
            ("unwritten_units_read" | "flash.merged_reads", _) => 0.0,
            (_, "gc-par") => 40.0,
            _ => 100.0,
        }
    };
    let text = format!("{SCHEMES}{}", claim_with("published = -60"));
    let why = |measured: &Measured| match &measured.outcome {
        Err(MissingVerdict::NotJudged(why)) => why.clone(),
        other => panic!("{other:?}"),
    };
    // One per cent is judged, more is not, whichever of the two schemes reads it; the figure is shown.
    assert_eq!(one(&text, unwritten(0.01)).outcome, Ok(Verdict::Met));
    let measured = one(&text, unwritten(0.44));
    assert!(why(&measured).contains("44.0 % of the mapping units read hold no data"), "{}", why(&measured));
    assert!((measured.effect.unwrap() + 60.0).abs() < 1e-9);
    let requires = format!("{SCHEMES}{}", claim_with("published = -60\nrequires = \"flash.merged_reads\""));
    assert!(why(&one(&requires, unwritten(0.0))).contains("`flash.merged_reads` is 0 with gc-par"));
}

#[test]
fn where_there_is_less_than_required_nothing_is_judged() {
    let with = |least: f64| {
        let requires = format!("published = -60\nrequires = \"units_read\"\nrequires_at_least = {least}");
        one(&format!("{SCHEMES}{}", claim_with(&requires)), with_control(0.0))
    };
    // gc-par takes 40 of everything.
    assert_eq!(with(40.0).outcome, Ok(Verdict::Met));
    let measured = with(40.5);
    assert_eq!(measured.effect, Some(-60.0), "what was measured is shown all the same");
    let why = "`units_read` is 40 with gc-par, less than 40.5";
    assert!(matches!(&measured.outcome, Err(MissingVerdict::NotJudged(text)) if text.contains(why)), "{measured:?}");
}

#[test]
fn what_is_required_is_a_number_other_than_nothing() {
    let requires = |metric: &str| {
        let text = format!("{SCHEMES}{}", claim_with(&format!("published = -60\nrequires = \"{metric}\"")));
        one(&text, |_, scheme, name| match (name, scheme) {
            ("unwritten_units_read" | "flash.merged_reads", _) => 0.0,
            ("flash.block_erases", _) => f64::NAN,
            (_, "gc-par") => 40.0,
            _ => 100.0,
        })
    };
    assert_eq!(requires("units_read").outcome, Ok(Verdict::Met));
    for (metric, phrase) in [
        ("units_read / flash.merged_reads", "divides by nothing with gc-par"),
        ("flash.block_erases", "is no number with gc-par"),
        ("units_read * 1e300 * 1e300", "is no number with gc-par"),
    ] {
        let measured = requires(metric);
        assert_eq!(measured.effect, Some(-60.0));
        assert!(
            matches!(&measured.outcome, Err(MissingVerdict::NotJudged(why)) if why.contains(phrase)),
            "{measured:?}"
        );
    }
}

#[test]
fn a_control_that_measured_nothing_leaves_what_holds_unjudged() {
    let with = |published: &str, controls: &str| {
        let more = "[[variant]]\nname = \"other\"\nof = \"baseline\"\nset.trigger.soft = 5\n";
        let schemes = SCHEMES.replace("\"worse\"]", "\"worse\", \"other\"]");
        let claim = claim_with(&format!("published = {published}\nnull = {controls}"));
        one(&format!("{schemes}{more}{claim}"), |_, scheme, name| match (name, scheme) {
            ("unwritten_units_read", _) => 0.0,
            (_, "worse") => f64::NAN,
            (_, "gc-par") => 40.0,
            (_, "other") => 50.0,
            _ => 100.0,
        })
    };
    let measured = with("-60", "\"worse\"");
    let phrase = "the null control worse was not measured";
    assert!(matches!(&measured.outcome, Err(MissingVerdict::NotJudged(why)) if why.contains(phrase)), "{measured:?}");
    assert!(measured.null[0].outcome.is_err());
    // A claim that fails without this control fails all the same.
    assert_eq!(with("60", "\"worse\"").outcome, Ok(Verdict::Opposite));
    assert_eq!(with("-60", "[\"worse\", \"other\"]").outcome, Ok(Verdict::NullToo));
}

#[test]
fn claims_that_cannot_fail_are_counted_apart() {
    let calibrated = claim_with("published = -60\nkind = \"calibrated\"");
    let built_in = claim_with("published = 0\nkind = \"construction\"");
    let own = claim_with("published = -60\nkind = \"own\"");
    let unknown = "[[claim]]\nfigure = \"2\"\ntext = \"t\"\nwhere = \"w\"\nnot_measured = \"no column has it\"\n";
    let (met, null_too) = (claim_with("published = -60"), claim_with("published = -60\nnull = \"worse\""));
    let (smaller, missed) = (claim_with("published = -90"), claim_with("published = 60"));
    let claims = [&met, &met, &null_too, &smaller, &missed, &calibrated, &built_in, &own].map(String::as_str).concat();
    let text = format!("{SCHEMES}{claims}{unknown}");
    let judged = judged(&text, with_control(50.0));
    let counts = Counts::of(judged.iter().map(|(claim, measured)| (claim, measured)));
    let expected = Count { claims: 6, met: 2, smaller: 1, null_too: 1, missed: 1, not_measured: 1, ..Count::default() };
    assert_eq!(counts.claims, expected);
    assert_eq!(counts.calibrated, Count { claims: 1, met: 1, ..Count::default() });
    assert_eq!(counts.construction, Count { claims: 1, missed: 1, ..Count::default() });
    assert_eq!(counts.own, Count { claims: 1, met: 1, ..Count::default() });
    let text = counts.text();
    for phrase in [
        "Of 6 claims that can fail and were not calibrated: 2 hold (33 %)",
        "1 is shown by a control, too",
        "Counted apart: 1 calibrated (1 holds), 1 true by construction (0 hold), 1 of our own (1 holds)",
    ] {
        assert!(text.contains(phrase), "no `{phrase}` in {text}");
    }
}

#[test]
fn what_was_published_is_shown_in_its_unit() {
    let shown = |more: &str| {
        let judged = judged(&format!("{SCHEMES}{}", claim_with(more)), with_control(50.0));
        let test = judged[0].0.test.as_ref().unwrap();
        (test.shown_published(), test.shown(judged[0].1.effect.unwrap()))
    };
    let figure = "measure = \"figure\"\nunit = \"us\"\n";
    assert_eq!(shown(&format!("{figure}at_least = 0.01\nat_most = 1")), ("0.01-1 us".into(), "0.04 us".into()));
    assert_eq!(shown(&format!("{figure}at_most = 25")), ("<= 25 us".into(), "0.04 us".into()));
    assert_eq!(shown("measure = \"times\"\nat_least = 10"), (">= 10.00x".into(), "0.40x".into()));
    assert_eq!(shown("at_least = -15.1\nat_most = -5.7").0, "-15.1 to -5.7 %");
    assert_eq!(shown("published = -60.26"), ("-60.3 %".into(), "-60.0 %".into()));
    let tolerance = "tolerance = 0.13\ntolerance_reason = \"r\"\n";
    assert_eq!(shown(&format!("{tolerance}published = 0.53")), ("+0.53 %".into(), "-60.00 %".into()));
}

/// Of an even number the mean of the two in the middle; the mean of all follows the one that is far off.
#[test]
fn a_median_over_seeds_is_not_moved_by_one_of_them() {
    use super::claim::OverSeeds;
    assert_eq!(OverSeeds::Median.of(vec![3.0, 900.0, 1.0]), Some(3.0));
    assert_eq!(OverSeeds::Median.of(vec![900.0, 1.0, 4.0, 2.0]), Some(3.0));
    assert_eq!(OverSeeds::Mean.of(vec![3.0, 900.0, 3.0]), Some(302.0));
    assert_eq!(OverSeeds::Median.of(Vec::new()), None);
}
