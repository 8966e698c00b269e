//! What `[measure]` adds to a run's results, in print and in files.

use crate::common::{code, copyback, error_text, output_text};
use parquet::file::reader::{FileReader, SerializedFileReader};
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
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    output_text(&output)
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
    // If no read is small, or all are, the row is left out, unless the user has chosen the size.
    assert_eq!(row(&mixed, &limit("measure.small_read_max=1 KiB")).expect("a row"), "reads up to 1 KiB 0");
    assert!(row(&mixed, &limit("measure.small_read_max=1 MiB")).expect("a row").starts_with("reads up to 1 MiB 4"));
    for alike in [&[4, 4], &[65, 128]] {
        assert_eq!(row(&trace(folder.path(), alike), &[]), None);
    }
}

/// The table of the window, a text a cell.
fn table(path: &Path) -> Vec<Vec<(String, String)>> {
    let reader = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
    let cells = |row: parquet::record::Row| {
        row.get_column_iter().map(|(name, value)| (name.clone(), value.to_string())).collect::<Vec<_>>()
    };
    reader.get_row_iter(None).unwrap().map(|row| cells(row.unwrap())).collect()
}

/// Reads end shortly after 10, 20, 30 and 40 ms: the window has the second and the third.
#[test]
fn a_window_is_in_the_document_and_a_table_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let (reads, out) = (trace(folder.path(), &[4, 4, 4, 4]), folder.path().join("out"));
    let to_files = ["--out", out.to_str().unwrap(), "--json", "-"];
    let window = ["--set", "measure.window_start=15 ms", "--set", "measure.window=20 ms", "--set", "measure.bin=10 ms"];
    let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("a document");
    let document = json(&run(&reads, &[&to_files[..], &window].concat()));
    let bins = document["results"][0]["window"].as_array().expect("the window").clone();
    let number = |bin: &serde_json::Value, name: &str| bin[name].as_u64().expect("a number");
    let rows: Vec<_> = bins.iter().map(|bin| (number(bin, "start_ns"), number(bin, "small_reads_done"))).collect();
    assert_eq!(rows, [(15_000_000, 1), (25_000_000, 1)]);
    let table = table(&out.join("window.parquet"));
    assert_eq!(table.len(), bins.len());
    for (row, bin) in table.iter().zip(&bins) {
        let columns = bin.as_object().expect("a bin");
        assert_eq!(row.len(), columns.len() + 1, "the scheme, and the same columns");
        for (name, value) in row.iter().filter(|(name, _)| name != "scheme") {
            assert_eq!(value, &bin[name.as_str()].to_string(), "{name}");
        }
    }
    // A rerun without one leaves none behind.
    let without = json(&run(&reads, &to_files));
    assert!(without["results"][0].get("window").is_none());
    assert!(!out.join("window.parquet").exists() && out.join("time_series.parquet").exists());
}

#[test]
fn a_window_that_cannot_be_is_refused_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.toml");
    let refused = |text: &str, says: &[&str]| {
        std::fs::write(&file, text).unwrap();
        let output = copyback(&["run", file.to_str().unwrap()]);
        let said = error_text(&output);
        assert_eq!(code(&output), 2, "{said}");
        says.iter().for_each(|part| assert!(said.contains(part), "{text} does not say `{part}`: {said}"));
    };
    let fine = "[measure]\nwindow = \"10 s\"\nbin = \"1 us\"\n";
    refused(fine, &["mine.toml:3:7", "`measure.bin`", "10000000 bins of 1 us, more than 1000000", "use longer bins"]);
    refused("[measure]\nwindow_start = \"1 h\"\n", &["mine.toml:2:16", "no window that could start", "\"10 s\""]);
    refused("[measure]\nwindow = \"1 ms\"\n", &["`measure.bin`", "bins of 100 ms do not fill a window of 1 ms"]);
    refused("[measure]\nbins = 3\n", &["mine.toml:2:1", "unknown key `bins`", "did you mean `bin`?"]);
}
