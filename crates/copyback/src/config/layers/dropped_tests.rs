//! Settings that a later layer drops.

use super::tests::{WORKLOAD, stack, with};
use super::*;

/// A parameter of a choice that a later layer replaces is reported with both places, and nothing else.
#[test]
fn settings_that_a_choice_drops_are_told() {
    let mut stack = stack(&["[frontier]\npolicy = \"single\"\nfill_limit = \"1 ms\"\nhot_window = 100\n"]);
    assert_eq!(stack.dropped().count(), 0);
    stack.push(Layer::of_sets(&["frontier.policy=row".to_owned(), "frontier.hot_window=5".to_owned()]).unwrap());
    let dropped: Vec<&Dropped> = stack.dropped().collect();
    let [Dropped { key, value, place, replaced, by }] = dropped[..] else { panic!("{dropped:?}") };
    assert_eq!((key.as_str(), value.as_str()), ("frontier.fill_limit", Some("1 ms")));
    let (before, now) = ("single".to_owned(), "row".to_owned());
    assert_eq!(*replaced, Replaced::Choice { tag: "policy", before, now });
    assert_eq!((place.text.name.as_str(), by.text.name.as_str()), ("layer2.toml", "--set"));
}

/// Keys of a trace are kept if the layer names the first trace, and otherwise dropped and reported.
#[test]
fn keys_of_a_trace_are_dropped_with_their_trace_only() {
    let keys = "[workload]\nlayout = \"compact\"\nzero_means = \"read\"\ncolumns = { op = \"kind\" }";
    let (first, second) = ("[workload]\ntrace = \"a.csv\"", "[workload]\ntrace = \"b.csv\"\nzero_means = \"write\"");
    let dropped = |texts: &[&str]| {
        let stack = stack(texts);
        let dropped = stack.dropped().map(|dropped| (dropped.key.clone(), dropped.replaced.clone()));
        dropped.collect::<Vec<_>>()
    };
    let kept = with(&[keys, first]).workload;
    assert_eq!(kept.columns.and_then(|columns| columns.op).as_deref(), Some("kind"));
    assert!(kept.layout.is_some() && kept.zero_means.is_some());
    assert_eq!(dropped(&[keys, first]), []);
    let other = with(&[keys, first, second]).workload;
    assert!(other.layout.is_none() && other.columns.is_none() && other.zero_means.is_some());
    let lost = |by_trace| ["columns", "layout"].map(|key| (format!("workload.{key}"), Replaced::Trace { by_trace }));
    assert_eq!(dropped(&[keys, first, second]), lost(true));
    let generator = WORKLOAD.replace("generated", "again");
    let by_generator = dropped(&[keys, &generator]);
    assert!(lost(false).iter().all(|lost| by_generator.contains(lost)), "{by_generator:?}");
}
