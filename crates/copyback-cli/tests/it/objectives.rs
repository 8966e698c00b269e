//! A sweep's answer to `--where`, `--min` and `--max` agrees with its own table.

use crate::common::{code, copyback, error_text, output_text, rows};
use parquet::record::Field;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const GRID: &str = r#"
schemes = ["baseline", "ideal-no-gc"]
workloads = ["mixed-70-30"]
requests = 2000
seeds = [1, 2]

[vary]
capacity.over_provisioning = [0.15, 0.3]
"#;

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn with(grid: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("grid.toml"), grid).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn sweep(&self, more: &[&str]) -> std::process::Output {
        let (file, out) = (self.path("grid.toml"), self.path("grid.parquet"));
        let arguments = ["sweep", file.to_str().unwrap(), "--quiet", "--out", out.to_str().unwrap()];
        copyback(&[&arguments[..], more].concat())
    }

    fn asked(&self, more: &[&str]) -> String {
        let output = self.sweep(more);
        assert_eq!(code(&output), 0, "{}", error_text(&output));
        output_text(&output)
    }

    fn refused(&self, more: &[&str], phrases: &[&str]) {
        let output = self.sweep(more);
        assert_eq!(code(&output), 2, "{more:?}: {}", output_text(&output));
        phrases
            .iter()
            .for_each(|phrase| assert!(error_text(&output).contains(phrase), "{phrase}: {}", error_text(&output)));
    }
}

fn number(field: &Field) -> f64 {
    match field {
        Field::Double(number) => *number,
        Field::ULong(number) => *number as f64,
        other => panic!("{other} is no number"),
    }
}

/// Means over the two seeds by share of spare flash and scheme, in the order of the grid.
fn means(table: &Path, name: &str) -> Vec<((f64, String), f64)> {
    let mut found: Vec<((f64, String), Vec<f64>)> = Vec::new();
    for row in rows(table) {
        let Field::Str(scheme) = &row["scheme"] else { panic!("a scheme is a text") };
        let key = (number(&row["capacity.over_provisioning"]), scheme.clone());
        match found.iter_mut().find(|(other, _)| *other == key) {
            Some((_, values)) => values.push(number(&row[name])),
            None => found.push((key, vec![number(&row[name])])),
        }
    }
    found.into_iter().map(|(key, values)| (key, values.iter().sum::<f64>() / values.len() as f64)).collect()
}

/// Lines of schemes in the answer. A table that is too wide goes on in further parts, with the same rows.
fn lines(text: &str) -> Vec<&str> {
    let is_row = |line: &&str| line.starts_with("  baseline") || line.starts_with("  ideal-no-gc");
    let parts = text.split("\n\n").map(|part| part.lines().filter(is_row).collect::<Vec<_>>());
    parts.into_iter().find(|rows| !rows.is_empty()).unwrap_or_default()
}

#[test]
fn rows_are_those_whose_means_over_seeds_meet_the_condition() {
    let place = Place::with(GRID);
    place.asked(&[]);
    let name = "response.write.p99_ns";
    let means = means(&place.path("grid.parquet"), name);
    assert_eq!(means.len(), 4);
    // A limit between the third and the fourth of four: one of `baseline` meets it.
    let mut sorted: Vec<f64> = means.iter().map(|(_, mean)| *mean).collect();
    sorted.sort_by(f64::total_cmp);
    let limit_ns = ((sorted[2] + sorted[3]) / 2.0).round();
    let condition = format!("response.write.p99 <= {limit_ns}ns");
    let text = place.asked(&["--where", &condition, "--min", "capacity.over_provisioning"]);
    assert!(text.contains("4 of 4 cells were done before"), "nothing is run again: {text}");
    // The drives of the other scheme cannot be built: they are shown, and not counted.
    assert!(text.contains(&format!("1 of 2 rows meets `{condition}`, as means")), "{text}");
    assert!(text.contains("Not counted: 2 rows of `ideal-no-gc` (marked *)"), "{text}");
    assert_eq!(lines(&text).iter().filter(|line| line.starts_with("  ideal-no-gc * ")).count(), 2, "{text}");
    assert!(text.contains("as means over 2 seeds"), "{text}");
    assert_eq!(lines(&text).len(), 3, "{text}");
    let kept = means.iter().filter(|((_, scheme), mean)| *mean <= limit_ns && scheme == "baseline");
    let least = kept.map(|((spare, _), _)| *spare).fold(f64::INFINITY, f64::min);
    assert!(text.contains(&format!("Least `capacity.over_provisioning`: {least}, ")), "{text}");
    // A name with a unit needs none in the value, and gives the same answer.
    let bare = place.asked(&["--where", &format!("{name}<={limit_ns}")]);
    assert_eq!(lines(&bare).len(), 3, "{bare}");
}

#[test]
fn several_conditions_hold_together_and_texts_are_compared() {
    let place = Place::with(GRID);
    let both = ["--where", "scheme = ideal-no-gc", "--where", "capacity.over_provisioning > 20 %"];
    let text = place.asked(&both);
    assert!(
        text.contains("None of 2 rows meets `scheme = ideal-no-gc` and `capacity.over_provisioning > 20 %`"),
        "{text}"
    );
    assert_eq!(lines(&text).len(), 1);
    let none = place.asked(&["--where", "scheme != baseline", "--where", "write_amplification.total > 1000"]);
    assert!(none.contains("None of 2 rows meets") && none.contains("Nearest: `ideal-no-gc` in "), "{none}");
    assert_eq!(lines(&none).len(), 1, "{none}");
    let most = place.asked(&["--max", "flash.block_erases"]);
    let highest = means(&place.path("grid.parquet"), "flash.block_erases").into_iter().map(|(_, mean)| mean);
    let highest = highest.fold(0.0, f64::max);
    let shown = most.split("Most `flash.block_erases`: ").nth(1).and_then(|rest| rest.split(", `").next());
    let shown: f64 = shown.expect("the most is told").replace(',', "").parse().unwrap();
    // Three digits are shown.
    assert!((shown / highest - 1.0).abs() < 0.005, "{shown} is not {highest}: {most}");
    // The verdict is beside the requested numbers; with so few requests no drive is steady.
    assert!(most.lines().any(|line| line.ends_with("steady")), "{most}");
    assert!(most.contains("\nNo row is steady. Of all rows:\nMost `flash.block_erases`: "), "{most}");
    // By the words that tables show, or the JSON's.
    let [shown, json] = ["no", "not_yet"].map(|verdict| place.asked(&["--where", &format!("steady = {verdict}")]));
    assert_eq!(lines(&shown), lines(&json));
    place.refused(
        &["--where", "scheme = basline"],
        &["no cell of the sweep has the scheme `basline`", "did you mean `baseline`?"],
    );
    place.refused(&["--show", ""], &["has no column ``"]);
    place.refused(&["--where", "steady = perhaps"], &["`perhaps` is no verdict", "verdicts are `yes`, `no`"]);
}

#[test]
fn what_cannot_be_asked_is_refused_where_it_stands() {
    let place = Place::with(&GRID.replace("seeds = [1, 2]", "seed = 1").replace("2000", "100"));
    place.refused(&["--where", "response.raed.p99 < 5ms"], &["--where:1:1", "did you mean `response.read.p99`"]);
    place.refused(&["--where", "capacity.over_provisoning < 1"], &["did you mean `capacity.over_provisioning`?"]);
    place.refused(&["--where", "response.read.p99 < 5"], &["--where:1:21", "needs a unit of time"]);
    place.refused(&["--where", "response.read.p99 < 5 msec"], &["did you mean `ms`?"]);
    place.refused(&["--where", "flash.block_erases < 5ms"], &["`5ms` is no number"]);
    place.refused(&["--where", "flash.block_erases"], &["compares nothing", "write for example"]);
    for wrong in ["=<", "=>", "<>", "= ="] {
        let asked = format!("flash.block_erases {wrong} 5");
        let said = format!("`{wrong}` is no comparison");
        place.refused(&["--where", &asked], &[&said, "comparisons are <, <=, >, >=, =, !="]);
    }
    place.refused(&["--where", "scheme < baseline"], &["compare them with = or !="]);
    place.refused(&["--min", "scheme"], &["--min:1:1", "name a number"]);
    place.refused(&["--max", "response.all.maen_ns"], &["--max:1:1", "did you mean `response.all.mean`?"]);
    place.refused(&["--min", "a", "--max", "b"], &["cannot be used with"]);
    place.refused(&["--where", "write.p98 < 5ms"], &["--where:1:1", "did you mean `write.p9"]);
    place.refused(&["--show", "flash.erases,hash"], &["did you mean `"]);
    place.refused(&["--show", "hash"], &["`hash` is only in the table's file", "use `case`"]);
    place.refused(&["--min", "config"], &["--min:1:1", "`config` is only in the table's file"]);
    place.refused(&["--max", "seed"], &["`seed` is no result, and rows are means over seeds"]);
    place.refused(&["--where", "seed < 2"], &["`seed` has seeds", "compare them with = or !="]);
    for (name, wrong, right) in
        [("case", "mixed-7-30", "mixed-70-30"), ("device", "smal", "small"), ("workload", "mixed", "mixed-70-30")]
    {
        let condition = format!("{name} = {wrong}");
        let says = format!("no cell of the sweep has the {name} `{wrong}`");
        place.refused(&["--where", &condition], &[&says, &format!("did you mean `{right}`? cells have `{right}`")]);
    }
    place.refused(&["--where", "seed = 7"], &["no cell of the sweep has the seed `7`", "cells have `1`"]);
    let both = "capacity.over_provisioning < 1 and read.p99 < 5ms";
    place.refused(&["--where", both], &["takes one condition", "--where 'A < 1' --where 'B < 2'"]);
    place.refused(&["--where", "read.p99 < 5ms or seed = 1"], &["for `or`, run the command once for each condition"]);
    // A mistake is reported before any run.
    assert!(!place.path("grid.parquet").exists() && !place.path("grid.journal").exists());
}

/// A seed of the workload's own is varied as any other key, and a case may be called like one.
#[test]
fn cells_that_are_called_like_seeds_are_not_averaged() {
    let vary = "schemes = [\"baseline\"]\nrequests = 50\nworkload = \"random-write\"\nseeds = [1, 2]\n\
                [vary]\nworkload.seed = [1, 2]\n";
    let place = Place::with(vary);
    let text = place.asked(&[]);
    assert!(text.contains("workload.seed=1") && text.contains("workload.seed=2"), "{text}");
    assert!(text.contains("Means over 2 seeds"), "{text}");
    assert_eq!(text.matches("  baseline ").count(), 2, "{text}");
    let text = place.asked(&["--where", "workload.seed = 2", "--show", "workload.seed"]);
    assert!(text.contains("1 of 2 rows"), "{text}");
    let cases = "schemes = [\"baseline\"]\nrequests = 50\n[[case]]\nname = \"a seed=first\"\n\
                 workload = \"random-write\"\n[[case]]\nname = \"a seed=second\"\nworkload = \"random-read\"\n";
    let text = Place::with(cases).asked(&[]);
    assert!(text.contains("a seed=first") && text.contains("a seed=second") && !text.contains("Means over"), "{text}");
}

/// A text may look like several conditions.
#[test]
fn a_text_with_signs_in_it_is_asked_for_by_its_name() {
    let grid = "schemes = [\"baseline\"]\nrequests = 50\n[[case]]\nname = \"soft=0.05, stop=0.1\"\n\
                workload = \"mixed-70-30\"\n[[case]]\nname = \"other\"\nworkload = \"random-write\"\n";
    let place = Place::with(grid);
    let text = place.asked(&["--where", "case = soft=0.05, stop=0.1", "--show", "flash.block_erases"]);
    // The notes are of all cells.
    let (answer, _) = text.split_once("\nNote: ").expect("notes below the answer");
    assert!(answer.contains("soft=0.05, stop=0.1") && !answer.contains("other"), "{text}");
    place.refused(&["--where", "case = soft=0.05, stop=0.2"], &["takes one condition"]);
}

#[test]
fn a_text_that_no_value_of_a_varied_key_is_is_refused() {
    let place = Place::with("scheme = \"baseline\"\nrequests = 50\n[vary]\nvictim.policy = [\"greedy\", \"fifo\"]\n");
    let says =
        ["no cell of the sweep has the victim.policy `gredy`", "did you mean `greedy`? cells have `greedy`, `fifo`"];
    place.refused(&["--where", "victim.policy = gredy"], &says);
    assert!(!place.path("grid.journal").exists(), "nothing has run");
    let text = place.asked(&["--where", "victim.policy = fifo"]);
    assert_eq!(lines(&text).len(), 1, "{text}");
}

/// Rows of drives that cannot be built are not counted, neither in the first line nor in the notes. Numbers of writes
/// are null in a table of reads, not 0.
#[test]
fn notes_count_the_rows_that_the_first_line_counts() {
    let place = Place::with("schemes = [\"baseline\", \"ideal-no-gc\"]\nworkload = \"random-read\"\nrequests = 300\n");
    let text = place.asked(&["--where", "read.p99_99 < 1 s"]);
    assert!(text.contains("None of 1 row can be judged") && text.contains("has no value in 1 row,"), "{text}");
    let text = place.asked(&["--where", "write.mean < 1 s"]);
    assert!(text.contains("no `write.mean` in 1 row, so that its condition cannot be judged there"), "{text}");
    let csv = std::fs::read_to_string(place.path("grid.csv")).unwrap();
    let titles: Vec<&str> = csv.lines().next().expect("titles").split(',').collect();
    let at = titles.iter().position(|title| *title == "response.write.mean_ns").expect("a column");
    assert!(csv.lines().skip(1).filter(|line| line.split(',').nth(at) == Some("")).count() >= 2, "{csv}");
}

/// If all requests come from traces, of one workload or of several, seeds change only the drive's preconditioning.
#[test]
fn seeds_on_traces_of_several_workloads_are_noted() {
    let trace = "arrival_us,op,offset_bytes,length_bytes\n0,W,0,65536\n10,R,65536,65536\n";
    let place = Place::with("");
    std::fs::write(place.path("t.csv"), trace).unwrap();
    let trace = place.path("t.csv").display().to_string();
    for (keys, is_noted) in [
        (format!("workloads.a.trace = {trace:?}\nworkloads.b.trace = {trace:?}\n"), true),
        (format!("workload.trace = {trace:?}\n"), true),
        (
            format!(
                "workloads.a.trace = {trace:?}\nworkloads.b = {{ requests = 9, read_share = 0.5, addresses = {{ kind = \
                 'uniform' }}, size = {{ kind = 'fixed', mean = '16 KiB' }} }}\n"
            ),
            false,
        ),
    ] {
        let grid = format!("schemes = [\"baseline\"]\nseeds = [1, 2]\n[set]\n{keys}");
        std::fs::write(place.path("grid.toml"), grid).unwrap();
        let text = place.asked(&[]);
        let noted = ["all seeds replay the trace's requests", "all seeds give the same results"];
        assert_eq!(noted.iter().any(|note| text.contains(note)), is_noted, "{keys}: {text}");
        let (table, page) = (place.path("grid.parquet"), place.path("p.html"));
        let output = copyback(&["report", table.to_str().unwrap(), "-o", page.to_str().unwrap()]);
        assert_eq!(code(&output), 0, "{}", error_text(&output));
        let html = std::fs::read_to_string(&page).unwrap();
        assert_eq!(html.contains("All seeds replay the trace's requests"), is_noted, "{keys}");
    }
}

/// A p99.99 of fewer than 10,000 reads is their maximum, and a p99 of 100 is not.
#[test]
fn percentiles_of_too_few_requests_meet_no_condition() {
    let place = Place::with("schemes = [\"baseline\"]\nworkload = \"random-read\"\nrequests = 300\n");
    let text = place.asked(&["--where", "read.p99_99 < 1000 s", "--show", "read.p99"]);
    assert!(text.contains("None of 1 row can be judged by `read.p99_99 < 1000 s`"), "{text}");
    // The row is shown nevertheless, without that number.
    let row = lines(&text)[0].split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(&*row[1], "-", "{text}");
    let note = "`read.p99_99` has no value in 1 row, so that its condition cannot be judged there: it needs 10,000 \
                requests in each run, and there are 300";
    assert!(text.contains(note), "{text}");
    let latex = place.path("t.tex");
    let text = place.asked(&["--show", "read.p99_99,read.p99", "--latex", latex.to_str().unwrap()]);
    let row = lines(&text)[0].split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!((&*row[1], &*row[3]), ("-", "us"), "{text}");
    let latex = std::fs::read_to_string(latex).unwrap();
    assert!(latex.lines().any(|line| line.contains("baseline") && line.contains("& -- &")), "{latex}");
    let page = place.path("p.html");
    let report = |condition: &str| {
        let (table, page) = (place.path("grid.parquet"), page.to_str().unwrap());
        let output = copyback(&["report", table.to_str().unwrap(), "-o", page, "--where", condition]);
        assert_eq!(code(&output), 0, "{}", error_text(&output));
        let html = std::fs::read_to_string(page).unwrap();
        let (_, data) = html.split_once("id=\"data\">").unwrap();
        serde_json::from_str::<serde_json::Value>(data.split_once("</script>").unwrap().0).unwrap()
    };
    let data = report("read.p99_99 < 1000 s");
    let found = data["found"][0].as_str().unwrap();
    let judged = "read.p99_99 < 1000 s cannot be judged: 300 of the 10,000 requests that it needs.";
    assert!(found.contains(", 99 % of reads take at most ") && found.contains(judged), "{found}");
    let sweep = &data["sources"][0]["sweep"];
    let at = |name: &str| sweep["metrics"].as_array().unwrap().iter().position(|own| own == name).unwrap();
    let values = &sweep["groups"][0]["schemes"]["baseline"]["values"];
    let [p99, p99_9] = ["p99_ns", "p99_9_ns"].map(|name| values[at(&format!("response.read.{name}"))].clone());
    assert!(p99[0].is_number() && p99_9.is_null(), "{values}");
    assert!(report("read.p99 < 1000 s")["found"][0].as_str().unwrap().contains(" meets read.p99 < 1000 s."));
}

/// A mean of counts is printed as a count, as in the table without `--show`.
#[test]
fn means_of_counts_are_counts() {
    let place = Place::with(&GRID.replace("[0.15, 0.3]", "[0.15]"));
    let text = place.asked(&["--show", "erases"]);
    let shown = lines(&text)[0].split_whitespace().nth(1).unwrap().replace(',', "");
    assert!(shown.parse::<u64>().is_ok(), "{text}");
    let usual = place.asked(&[]);
    assert!(usual.contains(&format!(" {shown} ")), "{shown}: {usual}");
}

/// One seed of several is selected like any row, and a number that is requested twice is shown once.
#[test]
fn rows_of_a_seed_are_of_that_seed_alone() {
    let place = Place::with(GRID);
    let show = ["--show", "seed,flash.block_erases,flash.block_erases"];
    let all = place.asked(&show);
    let heading = |text: &str| {
        let line = text.lines().find(|line| line.contains("seed") && line.ends_with("steady")).map(str::to_owned);
        line.unwrap_or_else(|| panic!("no heading: {text}"))
    };
    assert_eq!(heading(&all).split_whitespace().collect::<Vec<_>>(), ["seed", "flash.block_erases", "steady"]);
    assert!(lines(&all)[0].contains("1, 2"), "{all}");
    let of_two = place.asked(&[&show[..], &["--where", "seed = 2", "--where", "scheme = baseline"]].concat());
    assert!(!of_two.contains("means over") && !of_two.contains("+/-"), "{of_two}");
    let erases = |row: &BTreeMap<String, Field>| number(&row["flash.block_erases"]);
    let is_asked = |row: &&BTreeMap<String, Field>| {
        number(&row["seed"]) == 2.0 && row["scheme"] == Field::Str("baseline".to_owned())
    };
    let rows = rows(&place.path("grid.parquet"));
    let expected: Vec<f64> = rows.iter().filter(is_asked).map(erases).collect();
    let shown: Vec<f64> =
        lines(&of_two).iter().map(|line| line.split_whitespace().nth(3).unwrap().parse().unwrap()).collect();
    assert_eq!(shown, expected, "{of_two}");
}

/// The check of names before the run refuses no column of the table.
#[test]
fn each_number_of_the_table_can_be_asked_for() {
    let place = Place::with("schemes = [\"baseline\", \"pgc\"]\nworkload = \"mixed-70-30\"\nrequests = 300\n");
    place.asked(&[]);
    let first = rows(&place.path("grid.parquet")).remove(0);
    let is_number = |field: &Field| matches!(field, Field::Double(_) | Field::ULong(_));
    let names: Vec<String> = first.into_iter().filter(|(_, field)| is_number(field)).map(|(name, _)| name).collect();
    assert!(names.len() > 50, "{names:?}");
    let text = place.asked(&["--show", &names.join(",")]);
    assert!(text.contains("1 of 1 cell was done before"), "{text}");
    for name in names {
        assert!(text.split_whitespace().any(|word| word == name), "no {name}: {text}");
    }
}

#[test]
fn a_cell_that_cannot_be_is_named() {
    let place = Place::with("scheme = \"baseline\"\nrequests = 50\n[vary]\nhost.queue_depth = [4, 0]\n");
    place.refused(&[], &["host.queue_depth=0: `host.queue_depth`", "grid.toml:4:"]);
}

/// A part of the results that no run has is refused in the end, with its place.
#[test]
fn a_part_that_no_run_has_is_refused_when_all_are_done() {
    let place = Place::with("schemes = [\"baseline\"]\nrequests = 50\n");
    place.refused(&["--where", "map.hit_ratio > 0.5"], &["--where:1:1", "the sweep has no column `map.hit_ratio`"]);
}

/// Collections of `ideal-no-gc` take no time. It needs the least spare flash of all, but cannot be built.
#[test]
fn only_drives_that_can_be_built_are_recommended() {
    let place = Place::with(GRID);
    let text = place.asked(&["--where", "response.read.p99 < 1s", "--min", "response.read.mean"]);
    let least = text.lines().find(|line| line.starts_with("Least `response.read.mean`")).expect("a recommendation");
    assert!(least.contains("`baseline`") && !least.contains("ideal-no-gc"), "{least}");
    let says = "Not counted: 2 rows of `ideal-no-gc` (marked *), whose collections take zero time; no real drive can";
    assert!(text.contains(says), "{text}");
    // Its row is in the table nevertheless; if no other row is left, nothing is recommended.
    assert_eq!(lines(&text).len(), 4, "{text}");
    let alone = place.asked(&["--where", "scheme = ideal-no-gc", "--min", "response.read.mean"]);
    assert!(alone.contains("No drive of this sweep that can be built meets it") && alone.contains(says), "{alone}");
    assert!(!alone.contains("Least `"), "{alone}");
    // This also holds for a condition without `--min` or `--max`.
    let condition = place.asked(&["--where", "gc.die_time_ns <= 0"]);
    assert!(
        condition.contains("No drive of this sweep that can be built meets it") && condition.contains(says),
        "{condition}"
    );
    assert!(condition.contains("Nearest that can be built: `baseline`"), "{condition}");
}

/// If no row meets the conditions, the nearest row of a drive that can be built is shown.
#[test]
fn the_nearest_row_is_shown_where_none_meets_what_is_asked() {
    let place = Place::with(GRID);
    let text = place.asked(&["--where", "response.read.p99 < 1ns", "--min", "capacity.over_provisioning"]);
    assert!(text.starts_with("grid") && text.contains("None of 2 rows meets `response.read.p99 < 1ns`"), "{text}");
    let p99s = means(&place.path("grid.parquet"), "response.read.p99_ns");
    let of_baseline = p99s.iter().filter(|((_, scheme), _)| scheme == "baseline");
    let ((spare, _), _) = of_baseline.min_by(|(_, a), (_, b)| a.total_cmp(b)).expect("baseline was run");
    let nearest = text.lines().find(|line| line.starts_with("Nearest: ")).expect("a nearest row");
    assert!(nearest.contains(&format!("`baseline` in capacity.over_provisioning={spare}: ")), "{nearest}");
    assert!(nearest.contains("`response.read.p99` is ") && nearest.ends_with(", not < 1ns"), "{nearest}");
    assert_eq!(lines(&text).len(), 1, "{text}");
    assert!(!text.contains("Least `"), "nothing meets it, so nothing is the least: {text}");
}

/// Only the ideal drive collects in no time. Of the others, the one that collects for the shortest time is the nearest,
/// though each time is infinitely many times the wanted 0.
#[test]
fn if_only_ideal_drives_meet_what_is_asked_the_nearest_real_one_is_shown() {
    let place = Place::with(GRID);
    let text = place.asked(&["--where", "gc.die_time_ns <= 0", "--max", "capacity.over_provisioning"]);
    assert!(text.contains("Not counted: 2 rows of `ideal-no-gc`"), "{text}");
    let nearest = text.lines().find(|line| line.starts_with("Nearest that can be built: ")).expect("a nearest row");
    let times = means(&place.path("grid.parquet"), "gc.die_time_ns");
    let of_baseline = times.iter().filter(|((_, scheme), _)| scheme == "baseline");
    let ((spare, _), _) = of_baseline.min_by(|(_, a), (_, b)| a.total_cmp(b)).expect("baseline was run");
    assert!(nearest.contains(&format!("`baseline` in capacity.over_provisioning={spare}: ")), "{nearest}");
}

/// The best value may be beyond a grid whose last value meets the conditions.
#[test]
fn a_best_value_at_the_end_of_the_grid_is_noted() {
    let (place, key) = (Place::with(GRID), "capacity.over_provisioning");
    for (of, note) in [("--max", "highest"), ("--min", "lowest")] {
        let says = format!("\nThis is the {note} value in the grid;");
        let text = place.asked(&["--where", "response.read.p99 < 1000s", of, key]);
        assert!(text.contains(&says), "{text}");
        assert!(!place.asked(&[of, key]).contains(&says), "nothing is asked that another value could meet");
    }
    let inside = place.asked(&["--where", "capacity.over_provisioning < 0.2", "--max", key]);
    assert!(inside.contains(": 0.15") && !inside.contains("in the grid"), "{inside}");
}

/// The limit lies inside the interval of the mean over seeds: the row meets it, and may not with other seeds.
#[test]
fn an_interval_that_reaches_beyond_the_limit_is_named() {
    let place = Place::with(&GRID.replace("\"baseline\", \"ideal-no-gc\"", "\"baseline\""));
    place.asked(&[]);
    let name = "response.read.p99_ns";
    let means = means(&place.path("grid.parquet"), name);
    let found = rows(&place.path("grid.parquet"));
    let spares = means.iter().map(|((spare, _), mean)| (*spare, *mean));
    for (spare, mean) in spares {
        let of_spare = found.iter().filter(|row| number(&row["capacity.over_provisioning"]) == spare);
        let values: Vec<f64> = of_spare.map(|row| number(&row[name])).collect();
        // Two values: the half width of the 95 % interval is t(1) = 12.706 times half of their distance.
        let half_width = 12.706 * (values[0] - values[1]).abs() / 2.0;
        for (limit, is_beyond) in [(mean + half_width * 0.5, true), (mean + half_width * 1.5 + 1e6, false)] {
            let limit = format!("{}ns", limit.round());
            let text = place.asked(&["--where", &format!("{name}<{limit}")]);
            let says = format!("beyond `{name} < {limit}`: ");
            let line = text.lines().find(|line| line.contains(&says)).unwrap_or_default();
            let is_named = line.contains(&format!("`baseline` in capacity.over_provisioning={spare}"));
            assert_eq!(is_named, is_beyond, "{spare}: {text}");
        }
    }
}

/// The rows in LaTeX are those of the terminal, whether they meet the condition, are nearest, or cannot be judged.
#[test]
fn latex_has_the_rows_that_the_terminal_shows() {
    let place = Place::with("schemes = [\"baseline\"]\nworkload = \"random-read\"\nrequests = 300\n");
    let latex = place.path("t.tex");
    for condition in ["read.p99 < 1000 s", "read.p99 < 1 ns", "read.p99_99 < 1000 s"] {
        let text = place.asked(&["--where", condition, "--latex", latex.to_str().unwrap()]);
        let written = std::fs::read_to_string(&latex).unwrap();
        assert_eq!(lines(&text).len(), 1, "{condition}: {text}");
        assert_eq!(written.lines().filter(|line| line.starts_with("baseline & ")).count(), 1, "{condition}: {written}");
    }
}

/// Drives that only read have nothing to settle: their rows count as steady ones.
#[test]
fn rows_without_writes_count_as_steady() {
    let place = Place::with("workload = \"random-read\"\nrequests = 100\nschemes = [\"baseline\", \"pgc\"]\n");
    let text = place.asked(&["--where", "response.read.p99 < 1s", "--min", "response.read.mean"]);
    assert!(
        text.contains("Least `response.read.mean`") && !text.contains("steady. Of") && !text.contains("not steady"),
        "{text}"
    );
}

/// The numbers of a drive that is not steady change in a longer run, so that the best steady row is named first.
#[test]
fn the_best_steady_row_comes_first() {
    let place = Place::with(
        "workload = \"random-read\"\nrequests = 300\nschemes = [\"baseline\"]\n\
         [vary]\nworkload.read_share = [1.0, 0.5]\n",
    );
    let text = place.asked(&["--max", "response.read.mean"]);
    let answers: Vec<&str> = text.lines().filter(|line| line.contains("Most `response.read.mean`: ")).collect();
    assert_eq!(answers.len(), 2, "{text}");
    assert!(answers[0].starts_with("Most `") && answers[0].ends_with("in read_share=1.0"), "{text}");
    assert!(answers[1].starts_with("With rows that are not steady: Most `"), "{text}");
    assert!(answers[1].ends_with("in read_share=0.5"), "{text}");
    // The same row is named once.
    let least = place.asked(&["--min", "response.read.mean"]);
    assert_eq!(least.matches("Least `response.read.mean`: ").count(), 1, "{least}");
    let none = place.asked(&["--where", "workload.read_share = 0.5", "--max", "response.read.mean"]);
    assert!(none.contains("\nNo steady row meets it. Of all rows that meet it:\nMost `"), "{none}");
}

/// More seeds may change the answer, although all rows count as steady.
#[test]
fn a_row_that_meets_a_condition_in_its_mean_only_is_no_sure_answer() {
    let place = Place::with("workload = \"random-read\"\nrequests = 100\nschemes = [\"baseline\"]\nseeds = [1, 2]\n");
    place.asked(&[]);
    let found = rows(&place.path("grid.parquet"));
    let means: Vec<f64> = found.iter().map(|row| number(&row["response.read.mean_ns"])).collect();
    // The interval of two values is 12.7 times as wide as their distance.
    let limit_ns = means[0].max(means[1]) + (means[0] - means[1]).abs();
    let condition = format!("response.read.mean < {}ns", limit_ns.round());
    let text = place.asked(&["--where", &condition, "--min", "response.read.mean"]);
    let answer =
        "\nNo steady row meets it over its whole interval. Of all rows that meet it:\nLeast `response.read.mean`: ";
    assert!(text.contains(answer), "{text}");
}

/// A drive that requests overrun has the highest throughput, and meets a condition in a short run. It is not
/// recommended.
#[test]
fn overloaded_rows_are_not_recommended() {
    let place = Place::with(
        "workload = \"random-read\"\nrequests = 2000\nschemes = [\"baseline\"]\n\
         [set]\nworkload.arrivals.kind = \"poisson\"\n[vary]\nworkload.arrivals.rate = [1000, 1000000]\n",
    );
    let text = place.asked(&["--max", "iops"]);
    let line = |begin: &str| text.lines().find(|line| line.starts_with(begin)).unwrap_or_default();
    assert!(line("Most `iops`: ").ends_with("arrivals.rate=1000"), "{text}");
    assert!(line("Not counted: 1 row with overloaded drives").ends_with("wait longer in longer runs"), "{text}");
    let text = place.asked(&["--max", "iops", "--where", "read.mean < 1 s"]);
    assert!(text.contains("2 of 2 rows meet (1 overloaded) `read.mean < 1 s`"), "{text}");
    assert!(text.contains("Most `iops`: 1.01 k"), "{text}");
    let text = place.asked(&["--max", "iops", "--where", "iops > 100000"]);
    assert!(text.contains("No row that meets it keeps up with its requests"), "{text}");
}
