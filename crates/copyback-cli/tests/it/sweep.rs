//! Does a sweep run the grid that its file spans, once, and into the same bytes however it was interrupted?

use crate::common::{code, copyback, error_text, output_text, rows};
use parquet::record::Field;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const GRID: &str = r#"
description = "a grid for tests"
schemes = ["baseline", "dynamic-allocation", "ideal-no-gc"]
requests = 3000
seeds = [1, 2]

[vary]
trigger.soft = [0.05, 0.1]

[[case]]
name = "recorded"
workload = "oltp"

[[case]]
workload = "mixed-70-30"
set.workload.read_share = 0.5
requests = 2000
"#;

/// Writes a sweep file and returns its path.
fn file(folder: &Path, text: &str) -> PathBuf {
    let path = folder.join("grid.toml");
    std::fs::write(&path, text).unwrap();
    path
}

fn sweep(file: &Path, out: &Path, more: &[&str]) -> String {
    let arguments = ["sweep", file.to_str().unwrap(), "--out", out.to_str().unwrap()];
    let output = copyback(&[&arguments[..], more].concat());
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    output_text(&output)
}

fn refused(folder: &Path, text: &str, phrases: &[&str]) {
    let path = file(folder, text);
    let output = copyback(&["sweep", path.to_str().unwrap(), "--list"]);
    assert_eq!(code(&output), 2, "{text}: {}{}", output_text(&output), error_text(&output));
    for phrase in phrases {
        assert!(error_text(&output).contains(phrase), "{text}: no `{phrase}` in: {}", error_text(&output));
    }
}

/// Also if all cells were done before.
#[test]
fn cells_whose_drives_have_not_settled_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let case = |name: &str| format!("[[case]]\nworkload = \"{name}\"\n");
    let head = "schemes = [\"baseline\", \"pgc\"]\nrequests = 500\n";
    let grid = file(folder.path(), &format!("{head}{}{}", case("mixed-70-30"), case("random-read")));
    for _ in 0..2 {
        let text = sweep(&grid, &folder.path().join("grid.parquet"), &[]);
        let says = "\nNote: 2 of 4 runs are not yet steady, or too short to tell: `baseline`, `pgc` in mixed-70-30\n";
        assert!(text.contains(says), "{text}");
    }
    let reads = file(folder.path(), &format!("{head}{}", case("random-read")));
    let text = sweep(&reads, &folder.path().join("reads.parquet"), &[]);
    assert!(!text.contains("not yet steady"), "nothing moves where nothing is written: {text}");
}

/// A drive that begins in a steady state needs no warm-up, and the program would refuse it.
#[test]
fn no_warm_up_is_advised_if_drives_begin_steady() {
    let folder = tempfile::tempdir().unwrap();
    let head = "schemes = [\"baseline\"]\nrequests = 500\nset.precondition.mode = \"steady-state\"\n";
    let grid = file(folder.path(), &format!("{head}[[case]]\nworkload = \"random-write\"\n"));
    let text = sweep(&grid, &folder.path().join("grid.parquet"), &[]);
    assert!(text.contains("Extend") && !text.contains("--warmup"), "{text}");
}

#[test]
fn a_row_of_the_table_is_what_a_comparison_reports() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("grid.parquet");
    let text = sweep(&file(folder.path(), GRID), &out, &[]);
    assert!(text.contains("8 cells, 24 runs"), "{text}");
    let rows = rows(&out);
    assert_eq!(rows.len(), 24);
    let share = "workload.read_share=0.5";
    let arguments = ["compare", "--schemes", "baseline,dynamic-allocation,ideal-no-gc", "--workload", "mixed-70-30"];
    let more = ["--set", share, "--set", "trigger.soft=0.1", "--seed", "2", "--requests", "2000", "--json", "-"];
    let output = copyback(&[&arguments[..], &more].concat());
    let results: serde_json::Value = serde_json::from_str(&output_text(&output)).unwrap();
    let text = |value: &str| Field::Str(value.into());
    for result in results["results"].as_array().unwrap() {
        let row = rows.iter().find(|row| {
            row["case"] == text("mixed-70-30")
                && row["trigger.soft"] == Field::Double(0.1)
                && row["seed"] == Field::ULong(2)
                && row["scheme"] == text(result["scheme"].as_str().unwrap())
        });
        let row = row.expect("the grid has this cell");
        let report = &result["report"];
        let whole = |value: &serde_json::Value| Field::ULong(value.as_u64().unwrap());
        assert_eq!(row["response.all.p99_9_ns"], whole(&report["response"]["all"]["p99_9_ns"]));
        assert_eq!(row["flash.block_erases"], whole(&report["flash"]["block_erases"]));
        assert_eq!(row["matched.write.max_ns"], whole(&result["matched"]["write"]["max_ns"]));
        assert!(matches!(row["response.all.stdev_ns"], Field::Double(_)));
        assert!(matches!(row["latency_breakdown.read_mean_ns.gc"], Field::Double(_)));
    }
}

/// The cumulative distribution over seeds is a sum over rows: as many requests as the seeds had, in bins that hold each
/// percentile of a run.
#[test]
fn response_times_of_each_run_are_kept_in_bins() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("grid.parquet");
    let text = sweep(&file(folder.path(), GRID), &out, &[]);
    let beside = folder.path().join("grid-latencies.parquet");
    assert!(text.contains(&format!("and {}; a rerun skips", beside.display())), "{text}");
    let whole = |field: &Field| if let Field::ULong(value) = field { *value } else { panic!("{field} is no number") };
    let bins = rows(&beside);
    for run in rows(&out) {
        for (class, count) in [("read", &run["response.read.count"]), ("write", &run["response.write.count"])] {
            let own = ["cell", "seed", "trigger.soft", "scheme"];
            let is_own = |bin: &&BTreeMap<String, Field>| {
                own.iter().all(|name| bin[*name] == run[*name]) && bin["class"] == Field::Str(class.into())
            };
            let bins: Vec<[u64; 3]> = bins
                .iter()
                .filter(is_own)
                .map(|bin| ["from_ns", "to_ns", "count"].map(|name| whole(&bin[name])))
                .collect();
            assert_eq!(bins.iter().map(|bin| bin[2]).sum::<u64>(), whole(count));
            // The bin in which half of the requests are reached is that of the median.
            let (mut reached, half) = (0, whole(count).div_ceil(2));
            let median = bins.iter().find(|bin| {
                reached += bin[2];
                reached >= half
            });
            let [from, to, _] = median.expect("there are requests");
            let p50 = whole(&run[&format!("response.{class}.p50_ns")]);
            assert!((*from..=*to).contains(&p50), "{class}: {p50} is not in {from}..={to}");
        }
    }
    // A file that a sweep wrote is replaced, even if the journal is gone; a file of the user stays.
    let again = || {
        std::fs::remove_file(folder.path().join("grid.journal")).unwrap();
        copyback(&["sweep", folder.path().join("grid.toml").to_str().unwrap(), "--out", out.to_str().unwrap()])
    };
    assert_eq!(code(&again()), 0);
    std::fs::write(&beside, "somebody's").unwrap();
    let output = again();
    assert!(code(&output) == 2 && error_text(&output).contains("no journal next to it"), "{}", error_text(&output));
    assert_eq!(std::fs::read(&beside).unwrap(), b"somebody's");
}

/// Of two seeds the interval is the mean plus and minus 12.706 times half of their difference (Student's t with one
/// degree of freedom).
#[test]
fn several_seeds_are_a_mean_and_its_interval() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("grid.parquet");
    let grid = "schemes = [\"baseline\", \"pgc\"]\nworkload = \"mixed-70-30\"\nrequests = 3000\nseeds = [1, 2]\n";
    let text = sweep(&file(folder.path(), grid), &out, &[]);
    let amplification = |row: &BTreeMap<String, Field>| match row["write_amplification.total"] {
        Field::Double(value) => value,
        ref other => panic!("{other} is no number"),
    };
    let baseline = Field::Str("baseline".into());
    let of_seeds: Vec<f64> = rows(&out).iter().filter(|row| row["scheme"] == baseline).map(amplification).collect();
    let (mean, half) = ((of_seeds[0] + of_seeds[1]) / 2.0, 12.7062 * (of_seeds[0] - of_seeds[1]).abs() / 2.0);
    let mut lines = text.lines().skip_while(|line| !line.starts_with("  baseline"));
    let (line, error) = (lines.next().unwrap(), lines.next().unwrap());
    assert!(line.contains(&format!("  {mean:.3}  ")), "{mean}: {line}");
    assert!(error.starts_with("    +/-") && error.contains(&format!("  {half:.3}  ")), "{half}: {error}");
    assert!(text.contains("\nMeans over 2 seeds; +/- is half of the 95 % interval"), "{text}");
    assert_eq!(text.matches("+/-").count(), 3, "a line for each scheme, and the note: {text}");
}

#[test]
fn each_run_has_its_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("grid.parquet");
    let grid = "schemes = [\"baseline\"]\nrequests = 300\nworkloads = [\"mixed-70-30\", \"random-read\"]\n";
    let text = sweep(&file(folder.path(), grid), &out, &[]);
    let verdicts: Vec<Field> = rows(&out).iter().map(|row| row["steady"].clone()).collect();
    // Without writes no drive settles, and 300 requests erase fewer than 50 blocks.
    assert_eq!(verdicts, ["too_short", "no_write"].map(|name| Field::Str(name.into())));
    let ends: Vec<&str> = text.lines().filter(|line| line.starts_with("  baseline")).collect();
    assert!(ends[0].ends_with("too short") && ends[1].ends_with('-'), "{text}");
    assert!(text.lines().any(|line| line.ends_with("steady")), "{text}");
}

#[test]
fn the_table_has_the_same_bytes_whatever_the_jobs_and_however_it_was_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    // The journals are beside the tables.
    let tables: Vec<PathBuf> = ["whole", "jobs", "killed"].map(|name| folder.path().join(name)).to_vec();
    let path = file(folder.path(), GRID);
    let whole = sweep(&path, &tables[0], &["--jobs", "1"]);
    let jobs = sweep(&path, &tables[1], &["--jobs", "3"]);
    let body = |text: &str| text.split_once("Written to").map(|(body, _)| body.to_owned());
    assert_eq!(body(&whole), body(&jobs));

    let arguments = ["sweep", path.to_str().unwrap(), "--jobs", "1", "--out", tables[2].to_str().unwrap()];
    let mut child = Command::new(env!("CARGO_BIN_EXE_copyback"))
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let journal = tables[2].with_extension("journal");
    // The first line is no cell's.
    let lines = || {
        let text = std::fs::read(&journal).unwrap_or_default();
        text.iter().filter(|byte| **byte == b'\n').count().saturating_sub(1)
    };
    let started = Instant::now();
    while lines() < 2 {
        assert!(started.elapsed() < Duration::from_secs(120), "the sweep does not write its journal");
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let held = lines();
    assert!(!tables[2].exists() && held < 8, "it was not killed midway");
    // A line whose writing was interrupted.
    let mut text = std::fs::read(&journal).unwrap();
    text.extend(b"{\"key\":\"blake3:12");
    std::fs::write(&journal, text).unwrap();
    let resumed = sweep(&path, &tables[2], &["--jobs", "2"]);
    assert!(resumed.contains(&format!("{held} of 8 cells were done before")), "{resumed}");
    let bytes: Vec<Vec<u8>> = tables.iter().map(|table| std::fs::read(table).unwrap()).collect();
    assert!(bytes[0] == bytes[1] && bytes[0] == bytes[2]);
}

#[test]
fn a_changed_file_runs_again_only_what_changed() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.parquet");
    let small = "requests = 500\nworkloads = [\"oltp\", \"mixed-70-30\"]\n";
    sweep(&file(folder.path(), small), &out, &["--quiet"]);
    let again = |text: &str, more: &[&str]| sweep(&file(folder.path(), text), &out, more);
    assert!(again(small, &[]).contains("2 of 2 cells were done before"));
    let longer = small.replace("\"oltp\", ", "\"oltp\", \"random-write\", ");
    assert!(again(&longer, &[]).contains("2 of 3 cells were done before"));
    assert!(again(&format!("{small}[set]\ntrigger.soft = 0.1\n"), &[]).contains("2 cells, 4 runs\n"));
    assert!(again(small, &["--set", "trigger.soft=0.1"]).contains("2 of 2 cells were done before"));
    assert!(again(small, &["--fresh"]).contains("2 cells, 4 runs\n"));
}

#[test]
fn a_grid_of_another_file_is_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("base.toml"), GRID).unwrap();
    let path = file(folder.path(), "grid = \"base.toml\"\nseed = 7\nschemes = [\"baseline\", \"ideal-no-gc\"]\n");
    let text = output_text(&copyback(&["sweep", path.to_str().unwrap(), "--list"]));
    assert!(text.starts_with("grid: 4 cells, 8 runs: baseline, ideal-no-gc\n"), "{text}");
    assert!(text.contains("mixed-70-30 trigger.soft=0.1: small, mixed-70-30, seed 7, 2,000 requests"), "{text}");
}

#[test]
fn a_file_that_is_its_own_grid_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "grid = \"./grid.toml\"\n");
    let output = copyback(&["sweep", path.to_str().unwrap(), "--list"]);
    let text = error_text(&output);
    assert!(code(&output) == 2 && text.contains("the file names itself as its grid"), "{text}");
}

/// A file chooses among the grid's cases, and its settings go over the grid's, key by key.
#[test]
fn cases_and_settings_of_another_file_are_narrowed() {
    let folder = tempfile::tempdir().unwrap();
    let base = "workloads = [\"oltp\", \"mixed-70-30\", \"random-write\"]\nrequests = 300\n\
                [set]\ntrigger.soft = 0.1\nhost.queue_depth = 4\n";
    std::fs::write(folder.path().join("base.toml"), base).unwrap();
    let over = "grid = \"base.toml\"\ncases = [\"random-write\", \"oltp\"]\n[set]\ntrigger.soft = 0.2\n";
    let out = folder.path().join("grid.parquet");
    let numbers = |text: &str| {
        let path = file(folder.path(), text);
        sweep(&path, &out, &["--fresh", "--quiet"])
    };
    let narrowed = numbers(over);
    let alone =
        "workloads = [\"oltp\", \"random-write\"]\nrequests = 300\n[set]\ntrigger.soft = 0.2\nhost.queue_depth = 4\n";
    assert_eq!(narrowed, numbers(alone));
    let vary = over.replace("[set]\ntrigger.soft = 0.2", "[vary]\ntrigger.soft = [0.2]");
    assert!(numbers(&vary).contains("oltp trigger.soft=0.2"));
}

#[test]
fn a_variant_has_settings_of_its_own_in_a_case() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("grid.parquet");
    let grid = |own: &str| {
        format!(
            "schemes = [\"baseline\", \"mine\"]\nworkloads = [\"oltp\", \"mixed-70-30\"]\nrequests = 3000\n\
             [[variant]]\nname = \"mine\"\nof = \"baseline\"\n{own}\n"
        )
    };
    sweep(&file(folder.path(), &grid("[variant.cases.oltp]\ntrigger.soft = 0.1")), &out, &[]);
    let rows = rows(&out);
    let mean = |case: &str, scheme: &str| {
        let text = |value: &str| Field::Str(value.into());
        let row = rows.iter().find(|row| row["case"] == text(case) && row["scheme"] == text(scheme));
        row.expect("the grid has this cell")["response.all.mean_ns"].clone()
    };
    assert_eq!(mean("mixed-70-30", "mine"), mean("mixed-70-30", "baseline"));
    assert_ne!(mean("oltp", "mine"), mean("oltp", "baseline"));
    let wrong = [
        ("[variant.cases.olpt]\ntrigger.soft = 0.1", "did you mean `oltp`?"),
        ("[variant.cases.oltp]\ntrigger.sofd = 0.1", "did you mean"),
        ("cases.oltp = 3", "must be a table of settings"),
    ];
    wrong.into_iter().for_each(|(own, phrase)| refused(folder.path(), &grid(own), &[phrase]));
}

#[test]
fn mistakes_are_shown_where_they_stand() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |text: &str, phrases: &[&str]| refused(folder.path(), text, phrases);
    refused("requets = 3\n", &["grid.toml:1:1", "did you mean `requests`?"]);
    refused("schemes = [\"baseline\",\n \"ideal-no-cg\"]\n", &["grid.toml:2:2", "did you mean `ideal-no-gc`?"]);
    refused("device = \"smal\"\n", &["grid.toml:1:10", "did you mean `small`?"]);
    refused("workloads = [\"oltpp\"]\n", &["grid.toml:1:14", "did you mean `oltp`?"]);
    refused("devices = []\n", &["grid.toml:1:11", "the grid has no cell"]);
    refused("[vary]\ntrigger.soft = []\n", &["grid.toml:2:16", "the grid has no cell"]);
    refused("[vary]\ntrigger.soft = 0.1\n", &["grid.toml:2:16", "must be a list"]);
    refused("[vary]\ntrigger.sofft = [0.1]\n", &["grid.toml:2:9", "did you mean `soft`?"]);
    refused("[vary]\ntrigger.soft = [0.1, \"x\"]\n", &["grid.toml:2:22", "use a share of the blocks"]);
    refused("[set]\ntrigger.soft = 0.1\n[vary]\ntrigger.soft = [0.1]\n", &["grid.toml:2:9", "varied in [vary]"]);
    refused("[[case]]\nworkload = \"oltp\"\n[[case]]\nworkload = \"oltp\"\n", &["grid.toml:4:12", "two cases"]);
    refused("[[case]]\nworkload = \"oltp\"\nnmae = \"x\"\n", &["grid.toml:3:1", "did you mean `name`?"]);
    refused("workload = \"oltp\"\ncases = [\"oltpp\"]\n", &["grid.toml:2:10", "did you mean `oltp`?"]);
    refused("grid = \"bsae.toml\"\n", &["grid.toml:1:8", "same folder"]);
    refused("trace = \"nowhere.csv\"\n", &["grid.toml:1:9", "there is no trace"]);
    refused("[[case]]\ntrace = \"nowhere.csv\"\noptional = true\n", &["the grid has no cell", "--traces DIR"]);
    refused("seed = -1\n", &["grid.toml:1:8", "whole number"]);
    refused("x = [\n", &["grid.toml:1:6", "not TOML"]);
}

#[test]
fn a_cell_that_fails_is_named_and_the_others_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let far = format!("128166372000000000,host,0,Write,{},4096,100\n", 1u64 << 50);
    std::fs::write(folder.path().join("far.csv"), far).unwrap();
    let text = "requests = 200\n[[case]]\nworkload = \"oltp\"\n[[case]]\nname = \"far\"\ntrace = \"far.csv\"\n";
    let path = file(folder.path(), text);
    let out = folder.path().join("out.parquet");
    let output = copyback(&["sweep", path.to_str().unwrap(), "--out", out.to_str().unwrap(), "--jobs", "1"]);
    assert_eq!(code(&output), 2, "{}", output_text(&output));
    assert!(error_text(&output).contains("far: "), "{}", error_text(&output));
    assert!(error_text(&output).contains("workload.beyond_capacity"), "{}", error_text(&output));
    assert!(!out.exists());
    let journal = std::fs::read_to_string(out.with_extension("journal")).unwrap();
    assert_eq!(journal.lines().count(), 2, "a first line, and one cell");
}

#[test]
fn one_thing_and_several_are_not_named_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    for (one, many) in [
        ("device = \"small\"", "devices = [\"atc18\"]"),
        ("scheme = \"pgc\"", "schemes = [\"baseline\"]"),
        ("seed = 3", "seeds = [1, 2]"),
    ] {
        let key = one.split(' ').next().unwrap();
        let says = format!("`{key}` and `{key}s` are both set");
        refused(folder.path(), &format!("{one}\n{many}\n"), &[&says, &format!("remove `{key}`")]);
    }
}

#[test]
fn cells_that_results_cannot_tell_apart_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |text: &str, phrases: &[&str]| refused(folder.path(), text, phrases);
    let twice = "`trigger.soft` is there twice, in two spellings";
    refused("[vary]\ntrigger.soft = [0.1]\n\"trigger.soft\" = [0.2]\n", &["grid.toml:3:1", twice]);
    refused("[set]\ntrigger.soft = 0.1\n\"trigger . soft\" = 0.2\n", &["grid.toml:3:1", twice]);
    refused("[set]\n\" trigger.soft\" = 0.1\n[vary]\ntrigger.soft = [0.1]\n", &["varied in [vary]"]);
    refused("[vary]\nworkload.time_scale = [1, 2, 1.0]\n", &["grid.toml:2:30", "`1` is there twice"]);
    refused("[vary]\ntrigger.soft = [0.1, \"0.1\"]\n", &["grid.toml:2:22", "`0.1` is there twice"]);
    let small = output_text(&copyback(&["devices", "small"]));
    std::fs::write(folder.path().join("small.toml"), small).unwrap();
    refused("devices = [\"small\", \"./small.toml\"]\n", &["grid.toml:1:21", "call two devices `small`"]);
    let same = "[[case]]\nname = \"a\"\nworkload = \"oltp\"\n[[case]]\nname = \"b\"\nworkload = \"oltp\"\n";
    refused(same, &["the cells `a` and `b` are the same"]);
    // Labels have the key as results do.
    let path = file(folder.path(), "[vary]\n\"trigger . soft\" = [0.1]\n");
    let text = output_text(&copyback(&["sweep", path.to_str().unwrap(), "--list"]));
    assert!(text.contains("\n  trigger.soft=0.1: "), "{text}");
    let output = copyback(&["sweep", path.to_str().unwrap(), "--list", "--set", "trigger .soft=0.2"]);
    assert!(code(&output) == 2 && error_text(&output).contains("varies this key"), "{}", error_text(&output));
}

#[test]
fn a_workload_that_settings_define_has_the_name_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let generated = "[[case]]\nset.workload.read_share = 0.5\nset.workload.requests = 400\n\
                     set.workload.arrivals = { kind = \"poisson\", rate = 1000 }\n\
                     set.workload.size = { kind = \"fixed\", mean = \"4 KiB\" }\n";
    let path = file(folder.path(), generated);
    let output = copyback(&["sweep", path.to_str().unwrap(), "--list"]);
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    assert!(output_text(&output).contains("small, grid, seed 1"), "{}", output_text(&output));
    // Keys of a part of a workload define no workload: they would change the recorded trace.
    refused(
        folder.path(),
        "set.workload.requests = 400\n",
        &["grid.toml:1:", "`workload.requests`", "a trace has its own"],
    );
    // Keys that only change the recorded trace are accepted, and its name stays.
    let path = file(folder.path(), "[[case]]\nset.workload.time_scale = 0.5\n");
    assert_eq!(code(&copyback(&["sweep", path.to_str().unwrap(), "--list"])), 0);
}

#[test]
fn an_empty_drive_takes_no_keys_of_another_mode() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[set]\nprecondition = { mode = \"empty\", fill = 0.5 }\n";
    refused(folder.path(), text, &["grid.toml:2:34", "unknown key `fill` in `[precondition]`"]);
    let path = file(folder.path(), "[set]\nprecondition.mode = \"empty\"\n");
    assert_eq!(code(&copyback(&["sweep", path.to_str().unwrap(), "--list"])), 0);
}

#[test]
fn a_table_is_called_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "schemes = [\"baseline\"]\nrequests = 50\n");
    for (name, other) in [("x.csv", "x.parquet"), ("x.d/y.json", "x.d/y.parquet")] {
        std::fs::create_dir_all(folder.path().join("x.d")).unwrap();
        let out = folder.path().join(name);
        let output = copyback(&["sweep", path.to_str().unwrap(), "--quiet", "--out", out.to_str().unwrap()]);
        assert_eq!(code(&output), 2, "{name}");
        let text = error_text(&output).replace(' ', "");
        assert!(text.contains("thetableiswrittenasParquet") && text.contains(other), "{name}: {text}");
        assert!(!out.exists() && !out.with_extension("journal").exists(), "{name}");
    }
    for name in ["x.PARQUET", "y"] {
        let out = folder.path().join(name);
        let arguments = ["sweep", path.to_str().unwrap(), "--quiet", "--out", out.to_str().unwrap()];
        assert_eq!(code(&copyback(&arguments)), 0, "{name}");
    }
}

/// The settings of a file make a workload, as the tables of an experiment do: a generator, a trace beside the file, and
/// several workloads.
#[test]
fn settings_define_a_workload() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("t.csv"), "arrival_us,op,offset_bytes,length_bytes\n0,W,0,4096\n9,R,0,4096\n")
        .unwrap();
    let generator = "requests = 40\nread_share = 0.25\nsize = { kind = \"fixed\", mean = \"16 KiB\" }\n";
    let tables = [
        (format!("[workload]\n{generator}"), "generator"),
        ("[workload]\nname = \"mine\"\ntrace = \"t.csv\"\n".to_owned(), "mine"),
        (format!("[workloads.a]\n{generator}[workloads.b]\n{generator}"), "generator"),
    ];
    for (at, (tables, name)) in tables.iter().enumerate() {
        let set = tables.replace("[workload", "[set.workload");
        let path = folder.path().join("generator.toml");
        std::fs::write(&path, format!("schemes = [\"baseline\"]\nset.precondition.mode = \"empty\"\n{set}")).unwrap();
        let out = folder.path().join(format!("{at}.parquet"));
        sweep(&path, &out, &[]);
        let experiment = folder.path().join("experiment.toml");
        std::fs::write(&experiment, format!("scheme = \"baseline\"\nprecondition.mode = \"empty\"\n{tables}")).unwrap();
        let run = copyback(&["run", "-q", "--json", "-", experiment.to_str().unwrap()]);
        assert_eq!(code(&run), 0, "{}", error_text(&run));
        let run: serde_json::Value = serde_json::from_str(&output_text(&run)).unwrap();
        let text = std::fs::read_to_string(out.with_extension("csv")).unwrap();
        let (names, row) = text.split_once('\n').unwrap();
        let row: Vec<&str> = row.lines().next().unwrap().split(',').collect();
        let of = |column: &str| row[names.split(',').position(|name| name == column).expect(column)];
        assert_eq!((of("case"), of("workload")), (*name, *name), "{text}");
        let report = &run["results"][0]["report"];
        for column in ["reads", "writes"] {
            assert_eq!(of(column), report[column].to_string(), "{tables}: {column}");
        }
    }
}

#[test]
fn schemes_of_the_command_line_stand_in_every_cell_with_settings_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let grid = "schemes = [\"npgc\"]\nworkload = \"mixed-70-30\"\nrequests = 300\nseeds = [1, 2]\n\
                [[variant]]\nname = \"soon\"\nof = \"pgc\"\nset.trigger.soft = 0.07\n";
    let path = file(folder.path(), grid);
    let own = folder.path().join("mine.toml");
    std::fs::write(&own, "name = \"mine\"\n[victim]\npolicy = \"fifo\"\n").unwrap();
    let schemes = format!("--schemes=baseline,late=pgc,again=soon,{}", own.display());
    let table = folder.path().join("own.parquet");
    let sets = ["--set", "late:trigger.soft=0.02", "--set", "again:trigger.stop=0.08"];
    sweep(&path, &table, &[&[schemes.as_str()][..], &sets].concat());
    let rows = rows(&table);
    let text = |row: &BTreeMap<String, Field>, name: &str| match &row[name] {
        Field::Str(text) => text.clone(),
        other => other.to_string(),
    };
    let names: Vec<String> = rows.iter().map(|row| text(row, "scheme")).collect();
    assert_eq!(names, ["baseline", "late", "again", "mine"].repeat(2));
    let config = |at: usize| text(&rows[at], "config").parse::<toml::Table>().unwrap();
    let key = |at: usize, table: &str, key: &str| config(at)[table][key].clone();
    assert_eq!(key(1, "trigger", "soft").as_float(), Some(0.02));
    assert_eq!((key(2, "trigger", "soft").as_float(), key(2, "trigger", "stop").as_float()), (Some(0.07), Some(0.08)));
    assert_ne!(key(0, "trigger", "soft").as_float(), Some(0.02), "a setting of one scheme is another's");
    assert_eq!(key(3, "victim", "policy").as_str(), Some("fifo"));
    // The scheme alone has the same hash.
    let alone = folder.path().join("alone.parquet");
    sweep(&path, &alone, &["--schemes", "baseline"]);
    assert_eq!(text(&self::rows(&alone)[1], "hash"), text(&rows[4], "hash"));
    for (more, says) in [
        (["--schemes=pgc", "--set=late:trigger.soft=3"], "this command has no scheme of this name"),
        (["--schemes=soon=pgc", "--list"], "there is a scheme `soon` already"),
        (["--schemes=pgc,pgc", "--list"], "twice"),
    ] {
        let output = copyback(&[&["sweep", path.to_str().unwrap()][..], &more].concat());
        assert_eq!(code(&output), 2, "{more:?}");
        assert!(error_text(&output).contains(says), "{more:?}: {}", error_text(&output));
    }
}
