//! Are claims judged by what the table holds, and is a miss shown as one?

use crate::common::{code, copyback, error_text, output_text};
use std::path::Path;

pub const GRID: &str = r#"
schemes = ["baseline", "dynamic-allocation", "ideal-no-gc"]
workloads = ["oltp", "mixed-70-30"]
requests = 4000
quick_requests = 1000
seeds = [1, 2]

[vary]
trigger.soft = [0.05, 0.1]
"#;

pub const CLAIMS: &str = r#"
[[claim]]
figure = "1"
text = "ideal, both watermarks"
where = "here"
metric = "response.all.mean_ns"
scheme = "ideal-no-gc"
against = "baseline"
cells = { case = "oltp" }
published = -95

[[claim]]
figure = "2"
text = "no GC makes nothing faster"
where = "here"
metric = "matched.read.mean_ns"
scheme = "ideal-no-gc"
against = "baseline"
published = 50

[[claim]]
figure = "3"
text = "a higher watermark, a longer wait"
where = "here"
metric = "response.all.mean_ns"
scheme = "baseline"
cells.trigger.soft = 0.1
base_cells.trigger.soft = 0.05
measure = "times"
aggregate = "each"
direction = "higher"

[[claim]]
figure = "4"
text = "nothing is affected, so nothing is measured"
where = "here"
metric = "response.gc_affected.mean_ns"
scheme = "ideal-no-gc"
against = "baseline"
published = -50

[[claim]]
figure = "5"
text = "share of affected requests"
where = "here"
metric = "response.gc_affected.count / response.all.count"
scheme = "baseline"
measure = "share"
aggregate = "max"
published = 50
"#;

pub fn reproduce(folder: &Path, text: &str, more: &[&str]) -> std::process::Output {
    let path = folder.join("mine.toml");
    std::fs::write(&path, text).unwrap();
    let out = folder.join("out");
    let arguments = ["reproduce", path.to_str().unwrap(), "--out", out.to_str().unwrap(), "--quiet"];
    copyback(&[&arguments[..], more].concat())
}

pub fn results(output: &std::process::Output) -> serde_json::Value {
    assert_eq!(code(output), 0, "{}", error_text(output));
    serde_json::from_str(&output_text(output)).unwrap()
}

/// What `compare` reports of one cell: the mean response of each scheme.
fn means(workload: &str, soft: &str, seed: &str) -> Vec<f64> {
    let set = format!("trigger.soft={soft}");
    let arguments = ["compare", "--schemes", "baseline,dynamic-allocation,ideal-no-gc", "--requests", "4000"];
    let more = ["--workload", workload, "--set", &set, "--seed", seed, "--json", "-"];
    let results = results(&copyback(&[&arguments[..], &more].concat()));
    let list = results["results"].as_array().unwrap();
    list.iter().map(|r| r["report"]["response"]["all"]["mean_ns"].as_f64().unwrap()).collect()
}

#[test]
fn effects_are_those_of_comparisons() {
    let folder = tempfile::tempdir().unwrap();
    let results = results(&reproduce(folder.path(), &format!("{GRID}{CLAIMS}"), &["--json", "-"]));
    let claim = |at: usize| &results["claims"][at];
    let near = |at: usize, expected: f64| {
        let measured = claim(at)["measured_effect"].as_f64().unwrap();
        // The JSON reader may miss the last bits.
        assert!((measured - expected).abs() < 1e-9 * expected.abs(), "claim {at}: {measured}, expected {expected}");
    };
    // Seeds first, then the change, then the mean over cells.
    let over_seeds = |workload: &str, soft: &str, scheme: usize| {
        (means(workload, soft, "1")[scheme] + means(workload, soft, "2")[scheme]) / 2.0
    };
    let change = |soft: &str| 100.0 * (over_seeds("oltp", soft, 2) / over_seeds("oltp", soft, 0) - 1.0);
    near(0, (change("0.05") + change("0.1")) / 2.0);
    assert_eq!(claim(0)["cells"].as_array().unwrap().len(), 2);
    assert_eq!((&claim(0)["verdict"], &claim(0)["direction_holds"]), (&"met".into(), &true.into()));
    assert_eq!((&claim(1)["verdict"], &claim(1)["direction_holds"]), (&"opposite".into(), &false.into()));
    // Of the workloads' factors, the one that favours the claim least.
    let factor = |workload: &str| over_seeds(workload, "0.1", 0) / over_seeds(workload, "0.05", 0);
    near(2, 100.0 * (factor("oltp").min(factor("mixed-70-30")) - 1.0));
    assert_eq!(claim(2)["verdict"], "met");
    assert!(claim(3)["verdict"].is_null() && claim(3)["why_not_measured"].is_string(), "{}", claim(3));
    let share = claim(4)["measured_effect"].as_f64().unwrap();
    assert!(0.0 < share && share < 100.0);
}

#[test]
fn a_miss_is_a_result_and_a_rerun_runs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("{GRID}{CLAIMS}");
    let first = reproduce(folder.path(), &text, &["--quick"]);
    assert_eq!(code(&first), 0, "{}", error_text(&first));
    let shown = output_text(&first);
    for phrase in [
        "quick: fewer requests",
        "opposite",
        "not measured",
        "Of 5 claims that can fail",
        "3 do not hold; 0 not judged; 1 not measured",
    ] {
        assert!(shown.contains(phrase), "no `{phrase}` in {shown}");
    }
    let journal = folder.path().join("out/mine.journal");
    let bytes = std::fs::read(&journal).unwrap();
    assert_eq!(output_text(&reproduce(folder.path(), &text, &["--quick", "--jobs", "1"])), shown);
    assert_eq!(std::fs::read(&journal).unwrap(), bytes);
    assert!(folder.path().join("out/mine-mine-quick.parquet").is_file());
}

#[test]
fn claims_can_be_asked_under_other_decisions() {
    let folder = tempfile::tempdir().unwrap();
    let text = GRID.replace("seeds = [1, 2]", "") + CLAIMS;
    assert!(!text.contains("seeds"), "{text}");
    let results_of = |more: &[&str]| results(&reproduce(folder.path(), &text, &[&["--json", "-"], more].concat()));
    let share = |results: &serde_json::Value| results["claims"][4]["measured_effect"].as_f64().unwrap();
    let (plain, other) = (results_of(&[]), results_of(&["--set", "capacity.over_provisioning=0.4", "--seed", "5"]));
    assert_eq!(
        (&plain["changes"], &other["changes"]),
        (&serde_json::json!([]), &serde_json::json!(["capacity.over_provisioning=0.4", "seed 5"]))
    );
    // More room: collection affects fewer requests.
    assert!(share(&other) < share(&plain), "{} and {}", share(&other), share(&plain));
    let shown = output_text(&reproduce(folder.path(), &text, &["--seed", "5"]));
    assert!(shown.starts_with("mine: 4 cells, with seed 5\n"), "{shown}");
    for (set, phrase) in [("trigger.sofd=0.1", "did you mean"), ("trigger.soft=0.1", "`mine` varies this key")] {
        let wrong = reproduce(folder.path(), &text, &["--set", set]);
        assert!(code(&wrong) == 2 && error_text(&wrong).contains(phrase), "{}", error_text(&wrong));
    }
}

#[test]
fn mistakes_in_claims_are_shown_where_they_stand() {
    let folder = tempfile::tempdir().unwrap();
    let claim = |from: &str, to: &str| {
        let first = CLAIMS.split("\n\n").next().unwrap();
        assert!(first.contains(from), "{from}");
        format!("schemes = [\"baseline\", \"ideal-no-gc\"]\nrequests = 100\n{}\n", first.replace(from, to))
    };
    for (from, to, phrases) in [
        ("scheme = \"ideal-no-gc\"", "scheme = \"ideal\"", &["did you mean `ideal-no-gc`?", "mine.toml:9:10"][..]),
        (
            "metric = \"response.all.mean_ns\"",
            "metric = \"response.all.meen_ns\"",
            &["did you mean `response.all.mean_ns`?"],
        ),
        ("case = \"oltp\"", "case = \"otlp\"", &["no cell has `case = \"otlp\"`", "values: \"oltp\""]),
        ("case = \"oltp\"", "trigger.soft = 0.1", &["no cells differ in `trigger.soft`"]),
        ("published = -95", "", &["the claim has no published effect"]),
        ("published = -95", "publisht = -95", &["did you mean `published`?"]),
        ("published = -95", "published = -95\naggregate = \"maen\"", &["did you mean `mean`?"]),
        ("against = \"baseline\"\n", "", &["has no base of comparison"]),
        ("where = \"here\"", "", &["`where` in [[claim]] is missing"]),
        ("published = -95", "published = -95\nat_most = 3", &["a `published` number, a `direction`, or bounds"]),
        ("published = -95", "published = -95\nnull = \"baselin\"", &["did you mean `baseline`?"]),
        ("published = -95", "published = -95\ntolerance = 2", &["a tolerance needs its reason"]),
        (
            "published = -95",
            "published = -95\ntolerance = 1e300\ntolerance_reason = \"r\"",
            &["`tolerance` in [[claim]] is 1e300", "at most 6e16"],
        ),
        ("published = -95", "at_least = -7e16", &["`at_least` in [[claim]] is -7e16", "more than any run measures"]),
        (
            "published = -95",
            "published = -95\nrequires_at_least = 5",
            &["`requires_at_least` needs `requires`", "requires = \"writes\""],
        ),
        ("published = -95", "measure = \"figure\"\nat_most = 5", &["a figure and a rise need a `unit`"]),
        ("response.all.mean_ns", "a / b / c", &["divides more than once"]),
    ] {
        let output = reproduce(folder.path(), &claim(from, to), &[]);
        assert_eq!(code(&output), 2, "{to}: {}", output_text(&output));
        for phrase in phrases {
            assert!(error_text(&output).contains(phrase), "{to}: no `{phrase}` in {}", error_text(&output));
        }
    }
    let unknown = copyback(&["reproduce", "ispas11"]);
    assert!(
        code(&unknown) == 2 && error_text(&unknown).contains("did you mean `ispass11`?"),
        "{}",
        error_text(&unknown)
    );
    let figure = copyback(&["reproduce", "ispass11", "--figure", "99"]);
    assert!(
        code(&figure) == 2 && error_text(&figure).contains("no experiment for figure `99`"),
        "{}",
        error_text(&figure)
    );
}

const ADDRESSES: &str = r#"
schemes = ["baseline", "gc-par"]
workload = "mixed-70-30"
requests = 2000
seeds = [1, 2]

[set]
precondition = { mode = "aged", valid = 0.4 }

[vary]
workload.footprint = [1.0, "mapped"]

[[claim]]
figure = "1"
text = "reads of a drive that is half mapped"
where = "here"
metric = "response.read.mean_ns"
scheme = "gc-par"
against = "baseline"
cells.workload.footprint = 1.0
direction = "lower"

[[claim]]
figure = "2"
text = "reads of what is mapped that find nothing"
where = "here"
metric = "unwritten_units_read"
scheme = "gc-par"
measure = "figure"
unit = "units"
cells.workload.footprint = "mapped"
at_most = 0

[[claim]]
figure = "3"
text = "what is mapped is nearly all that the preconditioning has written"
where = "here"
metric = "units_read"
scheme = "gc-par"
measure = "figure"
unit = "units"
cells.workload.footprint = "mapped"
at_least = 1000
"#;

#[test]
fn reads_of_nothing_are_told_and_not_judged_and_mapped_addresses_have_none() {
    let folder = tempfile::tempdir().unwrap();
    let shown = output_text(&reproduce(folder.path(), ADDRESSES, &[]));
    let note = "Note: in 2 of 4 cells, some of the mapping units read hold no data, up to ";
    assert_eq!(shown.matches(note).count(), 1, "{shown}");
    let results = results(&reproduce(folder.path(), ADDRESSES, &["--json", "-"]));
    let claim = |at: usize| &results["claims"][at];
    assert!(claim(0)["verdict"].is_null() && claim(0)["measured"].is_string(), "{}", claim(0));
    assert!(claim(0)["why_not_judged"].as_str().unwrap().contains("hold no data"), "{}", claim(0));
    assert_eq!((&claim(1)["verdict"], &claim(2)["verdict"]), (&"met".into(), &"met".into()), "{results}");
    assert_eq!(
        (&results["counts"]["claims"]["met"], &results["counts"]["claims"]["not_judged"]),
        (&2.into(), &1.into())
    );
    // A sweep reports it, too.
    let sweep = folder.path().join("grid.toml");
    std::fs::write(&sweep, ADDRESSES).unwrap();
    let out = folder.path().join("grid.parquet");
    let sweep = copyback(&["sweep", sweep.to_str().unwrap(), "--out", out.to_str().unwrap(), "--quiet"]);
    assert!(output_text(&sweep).contains(note), "{}{}", output_text(&sweep), error_text(&sweep));
    let empty = ADDRESSES.replace("mode = \"aged\", valid = 0.4", "mode = \"empty\"");
    let nothing = reproduce(folder.path(), &empty, &[]);
    assert!(code(&nothing) == 2 && error_text(&nothing).contains("maps nothing"), "{}", error_text(&nothing));
}

const CONTROL: &str = r#"
schemes = ["baseline", "dynamic-allocation", "earlier"]
workload = "oltp"
requests = 4000
quick_requests = 4000

[[variant]]
name = "earlier"
of = "baseline"
set.trigger.soft = 0.04

[[claim]]
figure = "1"
text = "at most ten times as slow, which a control is, too"
where = "here"
metric = "matched.read.mean_ns"
scheme = "dynamic-allocation"
against = "baseline"
null = "earlier"
at_most = 1000
"#;

#[test]
fn a_control_is_a_scheme_with_settings_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let document = results(&reproduce(folder.path(), CONTROL, &["--json", "-"]));
    let claim = &document["claims"][0];
    assert_eq!((&claim["verdict"], &claim["null"][0]["scheme"]), (&"null-too".into(), &"earlier".into()), "{claim}");
    assert!(claim["own_effect"].is_number() && claim["all_effect"].is_number(), "{claim}");
    let is_mean = |work: &str| claim[work]["mean"].is_number();
    assert!(is_mean("pages_moved_change") && is_mean("erases_change"), "{claim}");
    // The control is what `compare` shows of the baseline with that setting, on its own requests.
    let compare = |set: &str| {
        let arguments = ["compare", "--schemes", "baseline", "--workload", "oltp", "--requests", "4000", "--set", set];
        let results = results(&copyback(&[&arguments[..], &["--json", "-"]].concat()));
        results["results"][0]["report"]["response"]["all"]["mean_ns"].as_f64().unwrap()
    };
    let all = CONTROL.replace("matched.read", "response.all").replace("at_most = 1000", "direction = \"lower\"");
    let document = results(&reproduce(folder.path(), &all, &["--json", "-"]));
    let effect = document["claims"][0]["null"][0]["effect"].as_f64().unwrap();
    let expected = 100.0 * (compare("trigger.soft=0.04") / compare("trigger.soft=0.03") - 1.0);
    assert!((effect - expected).abs() < 1e-9 * expected.abs().max(1.0), "{effect} and {expected}");
    for (from, to, phrase) in [
        ("name = \"earlier\"", "name = \"gc-par\"", "there is a scheme `gc-par` already"),
        ("set.trigger.soft = 0.04", "", "is `baseline` itself"),
        ("set.trigger.soft = 0.04", "set.trigger.sofd = 0.04", "did you mean"),
        ("of = \"baseline\"", "of = \"baselin\"", "did you mean `baseline`?"),
    ] {
        let wrong = reproduce(folder.path(), &CONTROL.replace(from, to), &[]);
        assert!(code(&wrong) == 2 && error_text(&wrong).contains(phrase), "{to}: {}", error_text(&wrong));
        assert!(error_text(&wrong).contains("mine.toml:"), "{to}: {}", error_text(&wrong));
    }
}

#[test]
fn a_control_of_a_claim_is_another_scheme_and_a_tolerance_has_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let list = |names: &str| CONTROL.replace("null = \"earlier\"", &format!("null = [{names}]"));
    for (text, phrases) in [
        (list("\"dynamic-allocation\""), ["mine.toml:19:9", "`dynamic-allocation` is compared by the claim"]),
        (list("\"earlier\", \"baseline\""), ["mine.toml:19:20", "`baseline` is compared by the claim"]),
        (list("\"earlier\", \"earlier\""), ["mine.toml:19:20", "the control `earlier` is there twice"]),
        (format!("{CONTROL}tolerance = 3\ntolerance_reason = \" \"\n"), ["mine.toml:22:20", "gives no reason"]),
        (CONTROL.replace("matched.read.mean_ns", "nan"), ["mine.toml:16:10", "`nan` is no number"]),
    ] {
        let wrong = reproduce(folder.path(), &text, &[]);
        assert_eq!(code(&wrong), 2, "{text}: {}", error_text(&wrong));
        phrases
            .iter()
            .for_each(|phrase| assert!(error_text(&wrong).contains(phrase), "no `{phrase}`: {}", error_text(&wrong)));
    }
    // A file's list is for all of its claims: what one of them compares is left out there.
    let of_file = CONTROL.replace("null = \"earlier\"\n", "").replace("at_most = 1000", "direction = \"lower\"");
    let of_file = format!("null = [\"baseline\", \"earlier\"]\n{of_file}");
    let document = results(&reproduce(folder.path(), &of_file, &["--json", "-"]));
    let controls = document["claims"][0]["null"].as_array().unwrap();
    assert_eq!((controls.len(), &controls[0]["scheme"]), (1, &"earlier".into()), "{document}");
}

#[test]
fn a_misspelt_number_is_told_after_the_first_cell() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("{GRID}{CLAIMS}").replace("matched.read.mean_ns", "matched.raed.mean_ns");
    // A journal with the cell reports it, too.
    for _ in 0..2 {
        let wrong = reproduce(folder.path(), &text, &["--quick", "--jobs", "1"]);
        assert_eq!(code(&wrong), 2, "{}", output_text(&wrong));
        for phrase in ["mine.toml:", "did you mean `matched.read.mean_ns`?"] {
            assert!(error_text(&wrong).contains(phrase), "{}", error_text(&wrong));
        }
        let journal = std::fs::read_to_string(folder.path().join("out/mine.journal")).unwrap();
        assert_eq!(journal.lines().count(), 2, "a first line, and one of eight cells");
    }
}

/// If the command line sizes the drives, they are not the file's: the table says so.
#[test]
fn what_the_command_line_fits_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let text =
        format!("schemes = [\"baseline\", \"ideal-no-gc\"]\nworkload = \"oltp\"\nrequests = 200\n{}", one_claim());
    let fitted = reproduce(folder.path(), &text, &["--fit", "0.8"]);
    assert_eq!(code(&fitted), 0, "{}", error_text(&fitted));
    assert!(output_text(&fitted).starts_with("mine: 1 cell, with --fit 0.8\n"), "{}", output_text(&fitted));
    let generated = reproduce(folder.path(), &text.replace("oltp", "mixed-70-30"), &["--fit", "0.8"]);
    assert_eq!(code(&generated), 2);
    assert!(error_text(&generated).contains("this workload is generated for the drive"), "{}", error_text(&generated));
}

/// The first of the claims.
fn one_claim() -> String {
    CLAIMS.split("\n\n").next().unwrap_or_default().replace("cells = { case = \"oltp\" }\n", "")
}

/// The program alone cannot draw: it says so before it runs anything, and leaves no file behind.
#[test]
fn figures_without_the_package_for_python_are_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let [out, figures] = ["out", "figures"].map(|name| folder.path().join(name));
    let arguments = ["reproduce", "tpds20", "--figures", figures.to_str().unwrap(), "--out", out.to_str().unwrap()];
    let output = copyback(&arguments);
    let text = error_text(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(code(&output), 2, "{text}");
    assert!(text.contains("--figures: ") && text.contains("pip install '.[plot]'"), "{text}");
    assert!(!out.exists() && !figures.exists());
}
