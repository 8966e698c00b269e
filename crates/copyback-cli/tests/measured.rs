//! What `[measure]` adds to a run's results, in print and in files.

mod common;

use common::{code, copyback, printed, said};
use std::path::{Path, PathBuf};

/// A trace: a write of 128 KiB at time 0, then reads of these sizes of it, 10 ms apart. MSR's times are tenths of
/// microseconds.
fn trace(folder: &Path, reads_kib: &[u64]) -> PathBuf {
    let line = |at: u64, op: &str, kib: u64| format!("{},host,0,{op},0,{},0\n", 100_000_000_000 + at, kib * 1024);
    let reads = (1..).zip(reads_kib).map(|(at, &kib)| line(at * 100_000, "Read", kib));
    let text: String = std::iter::once(line(0, "Write", 128)).chain(reads).collect();
    let path = folder.join("reads.csv");
    std::fs::write(&path, text).expect("the folder can be written");
    path
}

fn run(trace: &Path, more: &[&str]) -> String {
    let output = copyback(&[&["run", "--quiet", "--trace", trace.to_str().expect("a text")], more].concat());
    assert_eq!(code(&output), 0, "{}", said(&output));
    printed(&output)
}

#[test]
fn small_reads_have_a_row_where_other_reads_are_larger() {
    let folder = tempfile::tempdir().unwrap();
    let row = |trace: &Path, more: &[&str]| {
        let text = run(trace, more);
        let row = text.lines().find(|line| line.starts_with("  reads up to "))?;
        Some(row.split_whitespace().take(6).collect::<Vec<_>>().join(" "))
    };
    let mixed = trace(folder.path(), &[4, 64, 65, 128]);
    assert!(row(&mixed, &[]).expect("a row").starts_with("reads up to 64 KiB 2"));
    let limit = |max: &'static str| [["--set"], [max]].concat();
    assert!(row(&mixed, &limit("measure.small_read_max=4 KiB")).expect("a row").starts_with("reads up to 4 KiB 1"));
    assert_eq!(row(&mixed, &limit("measure.small_read_max=1 KiB")), None);
    assert_eq!(row(&mixed, &limit("measure.small_read_max=1 MiB")), None);
}
