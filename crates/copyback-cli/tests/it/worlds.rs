//! Headlines and worlds: do they show the claims and the open decisions of their files, and does a rerun give the same
//! bytes?

use crate::common::{code, error_text, output_text};
use crate::reproduce::{CLAIMS, GRID, reproduce, results};
use std::path::Path;

/// A headline and a constraint on the grid of the claims.
const HEADLINES: &str = r#"
[[claim]]
figure = "1"
text = "no GC is faster"
quote = "GC costs much"
where = "Abstract"
metric = "response.all.mean_ns"
scheme = "ideal-no-gc"
against = "baseline"
cells = { case = "oltp" }
published = -95

[[claim]]
figure = "T1"
text = "share of affected requests"
quote = "many are affected"
where = "Table 1"
kind = "calibrated"
metric = "response.gc_affected.count / response.all.count"
scheme = "baseline"
measure = "share"
aggregate = "max"
at_least = 28
"#;

const OPEN: &str = r#"
part = 4

[[open]]
name = "pace"
key = "workload.time_scale"
range = [0.5, 4.0]
log = true
decided = 1
sentence = "The load is not stated"
where = "Section 5"

[[open]]
name = "collections"
decided = "one watermark"
sentence = "Nothing is said of it"
where = "Section 3"

[[open.choice]]
name = "one watermark"

[[open.choice]]
name = "of the ideal drive only"
set."ideal-no-gc:trigger".soft = 0.06

[[open.choice]]
name = "of a case only"
set."oltp@trigger".stop = 0.12
"#;

fn worlds(folder: &Path, count: &str, more: &[&str]) -> std::process::Output {
    std::fs::write(folder.join("open.toml"), OPEN).unwrap();
    let grid = GRID.replace("[vary]\ntrigger.soft = [0.05, 0.1]\n", "").replace("seeds = [1, 2]\n", "");
    assert!(!grid.contains("vary") && !grid.contains("seeds"), "{grid}");
    reproduce(folder, &(grid + HEADLINES), &[&["--worlds", count][..], more].concat())
}

#[test]
fn headlines_are_shown_with_quotes_and_intervals() {
    let folder = tempfile::tempdir().unwrap();
    let grid = GRID.replace("[vary]\ntrigger.soft = [0.05, 0.1]\n", "");
    let output = reproduce(folder.path(), &(grid + HEADLINES), &["--headlines"]);
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    let shown = output_text(&output);
    for phrase in
        ["no GC is faster", "\"GC costs much\" (Abstract)", " +/- ", "Of 1 headline 1 holds; 1 more is calibrated"]
    {
        assert!(shown.contains(phrase), "no `{phrase}` in {shown}");
    }
    assert!(folder.path().join("out/mine-headlines.json").is_file());
    // A file without a quote has no headline.
    let without = reproduce(folder.path(), &format!("{GRID}{CLAIMS}"), &["--headlines"]);
    assert_eq!(code(&without), 2);
    assert!(error_text(&without).contains("no claim of mine is a headline"), "{}", error_text(&without));
}

/// A cause is about the runs of the file: a run with other settings, or a shorter one, does not print it. All print the
/// notes on their runs.
#[test]
fn headlines_have_the_notes_of_their_runs_and_causes_as_decided_alone() {
    let grid = GRID.replace("[vary]\ntrigger.soft = [0.05, 0.1]\n", "");
    let miss = HEADLINES.replace("published = -95", "published = 95\norigin = \"trace\"\ncause = \"another trace\"");
    for (options, has_cause) in
        [(&[][..], true), (&["--quick"], false), (&["--set", "order.first=gc-read-write"], false)]
    {
        let folder = tempfile::tempdir().unwrap();
        let output = reproduce(folder.path(), &format!("{grid}{miss}"), &[&["--headlines"][..], options].concat());
        let shown = output_text(&output);
        assert!(shown.contains("verdict: opposite"), "{options:?}: {shown}");
        assert_eq!(shown.contains("another trace"), has_cause, "{options:?}: {shown}");
        assert!(shown.contains("runs are not yet steady"), "{options:?}: {shown}");
    }
}

/// The journal keeps the first five cells; the rerun gives the same bytes as a run in one go.
#[test]
fn worlds_resume_with_the_same_bytes() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let whole = worlds(first.path(), "6", &["--jobs", "1"]);
    assert_eq!(code(&whole), 0, "{}", error_text(&whole));
    let journal = first.path().join("out/mine-worlds.journal");
    let text = std::fs::read_to_string(&journal).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    // Seven worlds, the decided one among them, of two cases each.
    assert_eq!(lines.len(), 1 + 7 * 2);
    std::fs::create_dir(second.path().join("out")).unwrap();
    std::fs::write(second.path().join("out/mine-worlds.journal"), lines[..6].join("\n") + "\n").unwrap();
    let resumed = worlds(second.path(), "6", &[]);
    assert_eq!(code(&resumed), 0, "{}", error_text(&resumed));
    for file in ["json", "svg", "csv", "parquet"] {
        let of = |folder: &Path| std::fs::read(folder.join(format!("out/mine-worlds.{file}"))).unwrap();
        assert_eq!(of(first.path()), of(second.path()), "{file}");
    }
}

#[test]
fn worlds_that_contradict_the_paper_are_reported_apart() {
    let folder = tempfile::tempdir().unwrap();
    let document = results(&worlds(folder.path(), "8", &["--json", "-"]));
    let rows = document["worlds"].as_array().unwrap();
    assert_eq!(rows.len(), 8);
    let of = |status: &str| rows.iter().filter(|row| row["status"] == status).count() as u64;
    let summary = &document["summary"];
    assert_eq!(
        (&summary["consistent"], &summary["inconsistent"]),
        (&of("consistent").into(), &of("inconsistent").into())
    );
    assert!(of("consistent") > 0 && of("inconsistent") > 0, "{summary}");
    for row in rows.iter().filter(|row| row["status"] == "inconsistent") {
        assert_eq!(row["why"][0], "T1 share of affected requests", "{row}");
    }
    assert_eq!(document["decided"]["world"], 0);
    assert_eq!(document["decisions"][1]["choices"].as_array().unwrap().len(), 3);
    // A decision that the command line makes is no longer open.
    let fixed = results(&worlds(folder.path(), "2", &["--json", "-", "--set", "workload.time_scale=2"]));
    assert_eq!(fixed["decisions"].as_array().unwrap().len(), 1);
}

#[test]
fn open_decisions_that_are_missing_or_wrong_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let missing = reproduce(folder.path(), &(GRID.to_owned() + HEADLINES), &["--worlds", "2"]);
    assert_eq!(code(&missing), 2);
    let message = error_text(&missing).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(message.contains("open.toml, which is not there"), "{message}");
    let both = reproduce(folder.path(), GRID, &["--worlds", "2", "--headlines"]);
    assert_eq!(code(&both), 2);
}
