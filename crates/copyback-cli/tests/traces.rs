//! Traces that users bring: from standard input, with columns of their own, and onto drives that do not fit them.

mod common;

use common::*;
use std::io::Write;
use std::process::{Command, Stdio};

const TABLE: &str = "ts,rw,lba,size\n0,W,0,8192\n9,R,0,512\n";

const COLUMNS: [&str; 4] = ["arrival_us=ts", "op=rw", "offset_bytes=lba", "length_bytes=size"];

/// The program, with a text on its standard input.
fn piped(arguments: &[&str], text: &str) -> std::process::Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_copyback"));
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

/// A file of this content, and its path.
fn file(name: &str, content: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

#[test]
fn a_trace_comes_from_standard_input() {
    let msr = "10,a,0,Write,0,8192,1\n20,a,0,Read,0,4096,1\n";
    let info = printed(&piped(&["trace", "info", "-"], msr));
    assert!(info.contains("format `msr`") && info.contains("requests    2"), "{info}");
    let run = printed(&piped(&["compare", "--trace", "-", "--schemes", "baseline,ideal-no-gc"], msr));
    assert!(run.contains("2 requests of -"), "{run}");
    let wrong = piped(&["trace", "info", "-"], &format!("{msr}nonsense\n"));
    assert!(code(&wrong) == 2 && said(&wrong).contains("standard input, line 3"), "{}", said(&wrong));
}

#[test]
fn columns_are_named_on_the_command_line_or_in_a_file() {
    let (folder, path) = file("mine.csv", TABLE);
    let settings = COLUMNS.map(|setting| format!("workload.columns.{setting}"));
    let mut arguments = vec!["run", "--trace", &path];
    settings.iter().for_each(|setting| arguments.extend(["--set", setting]));
    let run = printed(&copyback(&arguments));
    assert!(run.contains("format `csv`"), "{run}");
    let columns = COLUMNS.map(|setting| setting.replace('=', " = \"") + "\"").join("\n");
    let workload = folder.path().join("mine.toml");
    std::fs::write(&workload, format!("[workload]\ntrace = \"mine.csv\"\n[workload.columns]\n{columns}\n")).unwrap();
    let info = printed(&copyback(&["trace", "info", workload.to_str().unwrap()]));
    assert!(info.contains("9.00 us"), "the times are in microseconds: {info}");
    let wrong = copyback(&["run", "--trace", &path, "--set", "workload.columns.offset=lba"]);
    assert!(code(&wrong) == 2 && said(&wrong).contains("did you mean `offset_bytes`?"), "{}", said(&wrong));
}
