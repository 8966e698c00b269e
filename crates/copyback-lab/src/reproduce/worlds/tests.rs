//! Do worlds cover the decisions, and does the analysis find what was planted? Expected values are computed by hand.

use super::draw::{strata, worlds};
use super::effects::{Factor, shares};
use super::open::{Admissible, Open, Range};
use super::record::{DecisionAbout, Row, SCHEMA, Status, WorldClaim, Worlds};
use super::rule::{Criterion, Test, Tree, rule};
use super::summary::Summary;
use crate::execute::ExecutionOptions;
use crate::reproduce::claim::{Format, Measure};
use crate::reproduce::headlines::Holds;
use crate::reproduce::runner::Reproduction;
use copyback::config::layers::{LayerError, Text};
use copyback_workload::rng::{stream, unit_f64};
use std::collections::BTreeSet;
use std::sync::Arc;

fn open(text: &str) -> Result<Open, LayerError> {
    Open::parse(&Arc::new(Text::new("open.toml", text)))
}

const OPEN: &str = r#"
part = 4
[set]
geometry.blocks_per_plane = 64

[[open]]
name = "age"
keys = ["precondition.footprint", "workload.footprint"]
range = [0.01, 0.5]
log = true
decided = 0.07
sentence = "not stated"
where = "Section 4"

[[open]]
name = "start"
key = "trigger.when"
values = ["waiting", "below"]
decided = "waiting"
sentence = "not stated"
where = "Section 2"

[[open]]
name = "victims"
key = "preemption.victims"
range = [1, 4]
decided = 1
sentence = "not stated"
where = "Section 5"

[[open]]
name = "bursts"
decided = "none"
sentence = "not published"
where = "Table 2"
[[open.choice]]
name = "none"
[[open.choice]]
name = "short"
set."cello@workload".arrivals = { kind = "on-off", burst = "10 ms" }
[[open.choice]]
name = "long"
set.workload.time_scale = 2
"#;

#[test]
fn open_decisions_are_read() {
    let open = open(OPEN).unwrap();
    assert_eq!((open.part, open.sets.as_slice()), (4, &["geometry.blocks_per_plane=64".to_owned()][..]));
    let names: Vec<&str> = open.decisions.iter().map(|decision| decision.name.as_str()).collect();
    assert_eq!(names, ["age", "start", "victims", "bursts"]);
    let Admissible::Choices(bursts) = &open.decisions[3].admissible else { panic!("choices") };
    assert_eq!(bursts[0].1, Vec::<String>::new());
    let sets = ["cello@workload.arrivals.burst=\"10 ms\"", "cello@workload.arrivals.kind=\"on-off\""];
    assert_eq!(bursts[1].1.iter().map(String::as_str).collect::<BTreeSet<&str>>(), BTreeSet::from(sets));
    assert_eq!(bursts[2].1, ["workload.time_scale=2"]);
}

#[test]
fn a_mistake_in_open_decisions_names_its_place() {
    let wrong = |from: &str, to: &str| open(&OPEN.replace(from, to)).unwrap_err().to_string();
    assert!(wrong("range = [0.01, 0.5]", "range = [0.5, 0.01]").contains("a range has two numbers"));
    assert!(wrong("range = [0.01, 0.5]", "range = [0.0, 0.5]").contains("begins above 0"));
    assert!(wrong("values = [\"waiting\", \"below\"]", "values = [\"waiting\"]").contains("decides nothing"));
    assert!(wrong("name = \"start\"", "name = \"age\"").contains("two decisions are called `age`"));
    assert!(wrong("decided = \"waiting\"\n", "").contains("`decided` of an [[open]] is missing"));
    assert!(wrong("sentence = \"not published\"\n", "").contains("`sentence` of an [[open]] is missing"));
    assert!(wrong("key = \"trigger.when\"", "kee = \"trigger.when\"").contains("unknown key `kee`"));
    let twins = "keys = [\"workload.footprint\", \"workload . footprint\"]";
    let ages = "keys = [\"precondition.footprint\", \"workload.footprint\"]";
    assert!(wrong(ages, twins).contains("is there twice"));
    assert!(wrong("key = \"trigger.when\"", "key = \"workload.footprint\"").contains("two decisions set"));
}

/// A decided value is in the range or among the choices; several words describe what is no value.
#[test]
fn a_decided_value_is_admissible() {
    let read = |decided: &str| open(&OPEN.replace("decided = 0.07", &format!("decided = {decided}"))).map(drop);
    for right in ["0.01", "0.5", "\"0.07\"", "\"one block above the start\""] {
        assert!(read(right).is_ok(), "{right}: {:?}", read(right));
    }
    for wrong in ["\"x\"", "100", "nan", "inf", "-1", "0.6", "\"0.6\"", "[0.07]", "true"] {
        let message = read(wrong).unwrap_err().to_string();
        assert!(message.contains("`decided` is no admissible value"), "{wrong}: {message}");
    }
    let timed = |decided: &str| open(&OPEN.replace("decided = 1\n", &format!("unit = \"ms\"\ndecided = {decided}\n")));
    assert!(timed("\"3000 us\"").is_ok() && timed("4").is_ok());
    assert!(timed("\"5 ms\"").is_err() && timed("\"1 s\"").is_err());
    assert!(open(&OPEN.replace("decided = \"waiting\"", "decided = \"always\"")).is_err());
    assert!(open(&OPEN.replace("decided = \"none\"", "decided = \"nothing at all\"")).is_err());
}

/// Decisions that no drive can take are errors, not impossible worlds; so is a part beyond the requests.
#[test]
fn decisions_without_a_possible_value_are_refused() {
    let refused = |from: &str, to: &str| {
        let reproduction = Reproduction { paper: "tpds20".into(), ..Reproduction::default() };
        let mut world_study = reproduction.world_study().expect("the paper has open decisions");
        let text = OPEN.replace("preemption.victims", "trigger.soft").replace(from, to);
        world_study.open = open(&text).unwrap();
        world_study.open.decisions.retain(|decision| decision.name == "victims");
        let options = ExecutionOptions::default();
        let context = super::WorldContext { world_study: &world_study, is_small: true, options: &options };
        context.check().err().map(|failure| failure.message().to_owned())
    };
    assert_eq!(refused("", ""), None);
    for key in ["nosuch.key", "nosuch:trigger.soft", "", "precondition.mode"] {
        let message = refused("key = \"trigger.soft\"", &format!("key = \"{key}\"")).expect("it is refused");
        assert!(message.contains("no value of the decision `victims` is possible"), "{key}: {message}");
    }
    let message = refused("part = 4", "part = 100000000").expect("it is refused");
    assert!(message.contains("`part` of open.toml is 100000000"), "{message}");
}

#[test]
fn a_latin_hypercube_has_one_world_in_each_stratum() {
    for count in [1, 7, 100] {
        let drawn = strata(&mut stream(5, "worlds.test"), count);
        let places: BTreeSet<usize> = drawn.iter().map(|share| (share * count as f64) as usize).collect();
        assert_eq!(places, (0..count).collect::<BTreeSet<usize>>(), "{count} strata");
    }
    // Ten parts of the range 0.01 to 0.5, equal in factor, have ten of the 100 worlds each. Each of two choices has a
    // half of them, and each of four numbers a quarter.
    let open = open(OPEN).unwrap();
    let worlds = worlds(&open.decisions, 100, 1);
    let decade = |number: f64| (10.0 * (number / 0.01).ln() / 50_f64.ln()).min(9.0) as usize;
    for part in 0..10 {
        let within = worlds.iter().filter(|world| decade(world.values[0].number) == part).count();
        assert!((9..=11).contains(&within), "{within} worlds in part {part}");
    }
    let below = worlds.iter().filter(|world| world.values[1].shown == "below").count();
    assert_eq!(below, 50);
    for victims in 1..=4 {
        let with = worlds.iter().filter(|world| world.values[2].number == f64::from(victims)).count();
        assert_eq!(with, 25, "{victims} victims");
    }
}

#[test]
fn a_seed_gives_the_same_worlds_and_another_gives_others() {
    let open = open(OPEN).unwrap();
    assert_eq!(worlds(&open.decisions, 20, 3), worlds(&open.decisions, 20, 3));
    assert_ne!(worlds(&open.decisions, 20, 3), worlds(&open.decisions, 20, 4));
    let seeds: BTreeSet<u64> = worlds(&open.decisions, 20, 3).iter().map(|world| world.seed).collect();
    assert_eq!(seeds, (3..23).collect::<BTreeSet<u64>>(), "each world has a seed of its own");
}

#[test]
fn a_world_sets_all_keys_of_a_decision() {
    let worlds = worlds(&open(OPEN).unwrap().decisions, 3, 1);
    let world = &worlds[0];
    let age = &world.values[0].shown;
    assert_eq!(world.sets[..2], [format!("precondition.footprint={age}"), format!("workload.footprint={age}")]);
    let range = Range {
        least: 1.0,
        most: 50.0,
        is_log: true,
        is_whole: false,
        unit: Some("ms".into()),
        keys: vec!["coordination.idle_after".into()],
    };
    assert_eq!((range.at(0.0), range.at(0.5), range.at(1.0)), (1.0, 7.071, 50.0));
    assert_eq!(range.sets(7.071), ["coordination.idle_after=\"7.071 ms\""]);
}

/// The decided world and eight drawn ones of each paper: all settings exist, and no two of a world exclude each other.
#[test]
fn every_papers_worlds_can_be_planned() {
    for paper in crate::reproduce::experiments::PAPERS {
        let reproduction = Reproduction { paper: paper.name.to_owned(), ..Reproduction::default() };
        let world_study = reproduction.world_study().unwrap_or_else(|error| panic!("{}: {error:?}", paper.name));
        let options = ExecutionOptions::default();
        let context = super::WorldContext { world_study: &world_study, is_small: true, options: &options };
        assert!(context.check().is_ok(), "{}: {:?}", paper.name, context.check());
        let decided = super::World { number: 0, seed: 1, values: Vec::new(), sets: Vec::new() };
        for world in worlds(&world_study.open.decisions, 8, 1).iter().chain([&decided]) {
            let made = context.experiments(world);
            assert!(made.is_ok(), "{}: {:?}: {:?}", paper.name, world.sets, made.err());
        }
    }
}

/// Numbers of 400 worlds: three independent ranges.
fn numbers() -> Vec<Factor> {
    let of = |name: &str| {
        let mut rng = stream(11, name);
        Factor { values: strata(&mut rng, 400), is_choice: false }
    };
    vec![of("a"), of("b"), of("c")]
}

/// 3 a + b: nine tenths of the variance are a's, one tenth b's, none c's. Four groups of a range hold 15/16 of what is
/// linear in it.
#[test]
fn main_effects_of_an_additive_function() {
    let factors = numbers();
    let effects: Vec<f64> = (0..400).map(|at| 3.0 * factors[0].values[at] + factors[1].values[at]).collect();
    let shares = shares(&effects, &factors, 1);
    for (share, expected) in shares.iter().zip([0.9 * 0.9375, 0.1 * 0.9375, 0.0]) {
        assert!((share.share - expected).abs() < 0.04, "{share:?}, expected {expected}");
        assert!(share.least <= share.share && share.share <= share.most, "{share:?}");
    }
    assert!(shares[0].least > 0.75 && shares[2].least < 0.01, "{shares:?}");
}

#[test]
fn a_choice_that_decides_all_has_all_of_the_variance() {
    let values: Vec<f64> = (0..90).map(|at| f64::from(at % 3)).collect();
    let effects: Vec<f64> = values.iter().map(|value| [5.0, -40.0, 2.0][*value as usize]).collect();
    let factors = [Factor { values, is_choice: true }];
    assert!((shares(&effects, &factors, 1)[0].share - 1.0).abs() < 1e-12);
    // Equal effects have no variance to share.
    assert_eq!(shares(&[7.0; 90], &factors, 1)[0].share, 0.0);
    assert!(shares(&[], &[], 1).is_empty());
}

fn criteria_of(tree: &Tree, asked: &mut Vec<Criterion>) {
    if let Tree::Split(criterion, yes, no) = tree {
        asked.push(*criterion);
        criteria_of(yes, asked);
        criteria_of(no, asked);
    }
}

#[test]
fn the_tree_finds_a_planted_rule() {
    let mut factors = numbers();
    let mut rng = stream(3, "choice");
    factors[1] = Factor { values: (0..400).map(|_| (unit_f64(&mut rng) * 3.0).floor()).collect(), is_choice: true };
    // Holds if a < 0.5 and the choice is the third.
    let planted = |at: usize| factors[0].values[at] < 0.5 && factors[1].values[at] == 2.0;
    let answers: Vec<bool> = (0..400).map(planted).collect();
    let found = rule(&answers, &factors).unwrap();
    assert_eq!((found.worlds, found.right_without), (400, answers.iter().filter(|holds| !**holds).count()));
    assert!(found.right >= 390 && found.right_validated >= 380, "{found:?}");
    let mut asked = Vec::new();
    criteria_of(&found.tree, &mut asked);
    asked.sort_by_key(|criterion| criterion.factor);
    let [Criterion { factor: 0, test: Test::Below(at) }, Criterion { factor: 1, test: Test::Is(choice) }] = asked[..]
    else {
        panic!("{found:?}")
    };
    assert!((at - 0.5).abs() < 0.05 && choice == 2.0, "{found:?}");
    let right = (0..400).filter(|&at| found.tree.answer(&factors, at) == answers[at]).count();
    assert_eq!(right, found.right);
}

#[test]
fn a_rule_is_no_deeper_than_it_needs_to_be() {
    let factors = numbers();
    let by_one: Vec<bool> = factors[2].values.iter().map(|value| *value < 0.25).collect();
    let Tree::Split(Criterion { factor: 2, test: Test::Below(at) }, yes, no) = rule(&by_one, &factors).unwrap().tree
    else {
        panic!("one criterion")
    };
    assert!((at - 0.25).abs() < 0.05, "{at}");
    assert_eq!((*yes, *no), (Tree::Leaf(true), Tree::Leaf(false)));
    assert_eq!(rule(&[true; 400], &factors).unwrap().tree, Tree::Leaf(true));
    // One world that differs is no rule.
    let mut one = [true; 400];
    one[7] = false;
    assert_eq!(rule(&one, &factors).unwrap().tree, Tree::Leaf(true));
    assert!(rule(&[], &factors).is_none());
}

/// 40 worlds of two decisions; the headline holds in size if `start` is the first choice. Every fourth contradicts the
/// paper, and the last is impossible.
fn document() -> Worlds {
    let about = |name: &str, choices: &[&str]| DecisionAbout {
        name: name.into(),
        admissible: "any".into(),
        choices: choices.iter().map(|&choice| choice.to_owned()).collect(),
        decided: "1".into(),
        sentence: "not stated".into(),
        source: "Section 1".into(),
    };
    let row = |world: usize| {
        let (age, start) = (world as f64 / 40.0, (world / 2 % 2) as f64);
        let mut row = Row {
            world,
            seed: world as u64,
            values: vec![format!("{age}"), ["waiting", "below"][start as usize].into()],
            numbers: vec![Some(age), Some(start)],
            status: if world % 4 == 3 { Status::Inconsistent } else { Status::Consistent },
            why: if world % 4 == 3 { vec!["Table 2".into()] } else { Vec::new() },
            effects: vec![Some(-60.0 + 50.0 * start)],
            holds: vec![if start == 0.0 { Holds::Size } else { Holds::No }],
        };
        if world == 40 {
            (row.status, row.effects, row.holds) = (Status::Impossible, vec![None], vec![Holds::Unknown]);
        }
        row
    };
    Worlds {
        schema: SCHEMA.into(),
        paper: "paper".into(),
        seed: 1,
        full_size: false,
        part: 4,
        changes: Vec::new(),
        decisions: vec![about("age", &[]), about("start", &["waiting", "below"])],
        headlines: vec![WorldClaim {
            figure: "9".into(),
            text: "mean <response>".into(),
            quote: "by 66 %".into(),
            published: "-66.0 %".into(),
            published_effect: Some(-66.0),
            format: Some(Format { measure: Measure::Change, unit: String::new(), digits: 1 }),
        }],
        constraints: Vec::new(),
        decided: Row { world: 0, numbers: vec![None, None], ..row(4) },
        worlds: (1..=40).map(row).collect(),
    }
}

#[test]
fn a_summary_counts_consistent_worlds_alone() {
    let document = document();
    let summary = Summary::of(&document);
    assert_eq!((summary.consistent, summary.inconsistent, summary.impossible), (29, 10, 1));
    let of = &summary.headlines[0];
    // Of worlds 1 to 39 that are not 3, 7, … 39: start is the first choice in 4, 8, … 36 and in 1, 5, … 37.
    assert_eq!((of.judged, of.in_size, of.in_direction), (29, 19, 19));
    assert_eq!(of.quantiles, Some([-60.0, -60.0, -10.0]));
    assert_eq!(of.decides[0].decision, "start");
    assert!(of.decides[0].share > 0.999, "{:?}", of.decides);
    let rule = of.rule.as_ref().unwrap();
    assert_eq!((rule.rule.as_str(), rule.right), ("if start = waiting: holds; else does not hold", 29));
}
