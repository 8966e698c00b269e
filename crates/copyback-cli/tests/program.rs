//! The built program as a user meets it: exit codes, texts, files.

use std::path::Path;
use std::process::{Command, Output};

fn copyback(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_copyback"));
    command.args(arguments).env("NO_COLOR", "1").env("RUST_BACKTRACE", "0");
    command.output().expect("the program starts")
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("the program ends by itself")
}

/// What was said on standard error, in one line: the reporter wraps where the terminal ends.
fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).replace('│', " ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A command with a mistake: it ends with 2 and says all of these.
fn refused(arguments: &[&str], says: &[&str]) {
    let output = copyback(arguments);
    let text = said(&output);
    assert_eq!(code(&output), 2, "{arguments:?}: {text}");
    for part in says {
        assert!(text.contains(part), "{arguments:?} does not say `{part}`: {text}");
    }
}

/// The JSON without its wall-clock section.
fn without_wall(text: &str) -> String {
    let mut value: serde_json::Value = serde_json::from_str(text).expect("it is JSON");
    assert!(value.as_object_mut().expect("a document").remove("wall").is_some());
    value.to_string()
}

#[test]
fn mistakes_are_refused_with_the_place_and_a_suggestion() {
    refused(&["run", "--set", "victim.policy=gredy"], &["victim.policy=gredy", "did you mean `greedy`?"]);
    refused(&["run", "--set", "geometry.block_per_plane=9"], &["did you mean `blocks_per_plane`?"]);
    refused(&["run", "--set", "geometry.channels=0"], &["0 is not possible", "from 1 to 256"]);
    refused(&["run", "--set", "timing.read=75parsecs"], &["unknown unit `parsecs`"]);
    refused(&["run", "--set", "trigger.stop=0.01"], &["below the"]);
    refused(&["run", "--device", "smal"], &["unknown device `smal`", "did you mean `small`?"]);
    refused(&["run", "--scheme", "basline"], &["unknown scheme `basline`", "did you mean `baseline`?"]);
    refused(&["run", "--workload", "hm_0"], &["unknown workload `hm_0`", "did you mean `hm_0-like`?"]);
    refused(&["compare", "--schemes", "baseline,baseline"], &["named twice"]);
    refused(&["schemes", "gredy"], &["did you mean `greedy`?"]);
    refused(&["devices", "hpdc"], &["did you mean `hpdc18"]);
    refused(&["workloads", "oltpp"], &["did you mean `oltp`?"]);
    refused(&["trace", "info", "oltpp"], &["did you mean `oltp`?"]);
    refused(&["rum"], &["unrecognized subcommand"]);
}

#[test]
fn files_that_are_not_there_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mine.toml"), "").unwrap();
    let missing = folder.path().join("mina.toml");
    refused(&["run", missing.to_str().unwrap()], &["there is no experiment", "did you mean", "mine.toml?"]);
    refused(&["run", "--trace", folder.path().to_str().unwrap()], &["is a folder, not a file"]);
    let nowhere = folder.path().join("none/x.json");
    refused(&["run", "--json", nowhere.to_str().unwrap()], &["there is no folder"]);
    std::fs::write(folder.path().join("thesis.tex"), "").unwrap();
    refused(&["run", "--out", folder.path().to_str().unwrap()], &["holds files that are no results", "mine.toml"]);
}

#[test]
fn an_experiment_with_a_mistake_shows_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    std::fs::write(&path, "device = \"small\"\n\n[trigger]\nsofft = 0.1\n").unwrap();
    refused(&["run", path.to_str().unwrap()], &["mine.toml:4:1", "sofft = 0.1", "did you mean `soft`?"]);
    std::fs::write(&path, "device = \"smal\"\n").unwrap();
    refused(&["run", path.to_str().unwrap()], &["mine.toml:1:10", "did you mean `small`?"]);
}

#[test]
fn the_printed_configuration_is_an_experiment_that_prints_itself() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("resolved.toml");
    let arguments = ["run", "--device", "atc18", "--scheme", "fifo", "--workload", "random-write", "--print-config"];
    let first = printed(&copyback(&arguments));
    std::fs::write(&path, &first).unwrap();
    let again = copyback(&["run", path.to_str().unwrap(), "--print-config"]);
    let body = |text: &str| text.split_once('\n').map(|(_, body)| body.to_owned());
    assert_eq!(body(&printed(&again)), body(&first), "{}", said(&again));
}

#[test]
fn lists_name_everything() {
    assert!(printed(&copyback(&["schemes"])).contains("dynamic-allocation"));
    assert!(printed(&copyback(&["schemes", "greedy"])).contains("fewest valid units"));
    assert!(printed(&copyback(&["schemes", "baseline"])).contains("[yield]\npolicy = \"never\""));
    assert!(printed(&copyback(&["devices"])).contains("tpds20-4plane"));
    assert!(printed(&copyback(&["workloads"])).contains("hm_0-like"));
}

#[test]
fn the_built_in_trace_is_what_its_description_says() {
    let text = printed(&copyback(&["trace", "info", "oltp"]));
    assert!(text.contains("182,585") && text.contains("Gaps between arrivals"), "{text}");
}

#[test]
fn a_workload_survives_conversion() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.parquet");
    let path = path.to_str().unwrap();
    let output = copyback(&["trace", "convert", "oltp", path, "--requests", "1000"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let info = printed(&copyback(&["trace", "info", path, "--json"]));
    let info: serde_json::Value = serde_json::from_str(&info).unwrap();
    assert_eq!(info["requests"], 1000);
    refused(&["trace", "convert", "oltp", "cut.xyz"], &["does not say in which format"]);
}

#[test]
fn results_do_not_depend_on_jobs_or_on_where_they_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let base = ["compare", "--requests", "20000", "--json", "-"];
    let one = copyback(&[&base[..], &["--jobs", "1"]].concat());
    assert_eq!(code(&one), 0, "{}", said(&one));
    let four = copyback(&[&base[..], &["--jobs", "4", "--out", out.to_str().unwrap()]].concat());
    assert_eq!(without_wall(&printed(&one)), without_wall(&printed(&four)));
    for name in ["results.json", "summary.parquet", "gc_events.parquet", "config-baseline.toml"] {
        assert!(out.join(name).is_file(), "{name}");
    }
    assert!(!Path::new(&out.join("requests.parquet")).exists());
    // Results may be replaced by results.
    let again = copyback(&[&base[..], &["--out", out.to_str().unwrap(), "--out-requests"]].concat());
    assert_eq!(code(&again), 0, "{}", said(&again));
    assert!(out.join("requests.parquet").is_file());
}

#[test]
fn a_comparison_ends_by_saying_what_to_try_next() {
    let output = copyback(&["compare", "--requests", "20000"]);
    let text = printed(&output);
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert!(text.contains("ideal-no-gc") && text.contains("Try next:"), "{text}");
    assert!(text.lines().take_while(|line| !line.starts_with("Try")).all(|line| line.chars().count() <= 120), "{text}");
}

#[test]
fn columns_without_a_meaning_say_why() {
    let set = "workload.requests=1000";
    let output = copyback(&["compare", "--workload", "random-write", "--set", set]);
    assert!(printed(&output).contains("no reads"), "{}{}", printed(&output), said(&output));
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    use std::process::Stdio;
    let mut child = Command::new(env!("CARGO_BIN_EXE_copyback"))
        .arg("workloads")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((code(&output), said(&output).as_str()), (0, ""));
}
