//! `--microscope`: a time window of an array, drawn and as a table.

use crate::common::{code, copyback, error_text, output_text};
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::path::Path;

const ARRAY: &[&str] = &["run", "-q", "--array", "raid-0", "--set", "array.drives=4", "--requests", "1500"];

fn with(more: &[&str]) -> Vec<String> {
    ARRAY.iter().chain(more).map(|&text| text.to_owned()).collect()
}

fn run(more: &[&str]) -> String {
    let arguments = with(more);
    let output = copyback(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    output_text(&output)
}

fn refused(arguments: &[&str], says: &[&str]) {
    let output = copyback(arguments);
    let text = error_text(&output);
    assert_eq!(code(&output), 2, "{arguments:?}: {text}");
    says.iter().for_each(|part| assert!(text.contains(part), "{arguments:?} does not say `{part}`: {text}"));
}

/// Between two requests ten seconds apart nothing happens: the drawing is empty, and a note says so.
#[test]
fn a_window_in_a_pause_is_noted() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("t.csv"), "arrival_us,op,offset_bytes,length_bytes\n0,W,0,4096\n10000000,W,4096,4096\n")
        .unwrap();
    let (trace, drawing) = (path("t.csv"), path("m.svg"));
    let noted = |from: &str| {
        let words = ["run", "-q", "--trace", &trace, "--array", "raid-0", "--microscope", &drawing];
        let output = copyback(&[&words[..], &["--microscope-from", from, "--microscope-for", "1 s"]].concat());
        assert_eq!(code(&output), 0, "{}", error_text(&output));
        output_text(&output).contains("no request is outstanding and no drive collects in the window")
    };
    assert!(noted("5s") && !noted("0s"));
}

#[test]
fn what_cannot_be_seen_is_refused() {
    let of_array = |more: &[&'static str]| [ARRAY, &["--microscope", "-"], more].concat();
    refused(&["run", "--microscope", "x.svg"], &["is of one drive", "--array raid-0"]);
    refused(&[ARRAY, &["--microscope", "x.png"]].concat(), &["x.png", ".svg or .txt"]);
    refused(&[ARRAY, &["--microscope-for", "5 ms"]].concat(), &["--microscope <FILE>"]);
    refused(&[ARRAY, &["--microscope-drives", "2"]].concat(), &["--microscope <FILE>"]);
    refused(&of_array(&["--microscope-drives", "5"]), &["the array has 4 drives", "from 0 to 4"]);
    refused(&of_array(&["--microscope-for", "0 s"]), &["the time is zero", "300 ms"]);
    refused(&of_array(&["--microscope-for", "5"]), &["needs a unit of time"]);
    refused(&of_array(&["--timeline", "-"]), &["--timeline - and --microscope -", "give one of them a file"]);
    refused(&["compare", "--microscope", "-"], &["unexpected argument"]);
}

#[test]
fn it_is_drawn_in_characters_and_in_pixels() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("array.svg");
    let text = run(&["--microscope", "-", "--microscope-for", "50 ms"]);
    assert!(text.starts_with("baseline, oltp, raid-0 of 4 drives\n0 ns to 50 ms, a column is 500 us\n"), "{text}");
    assert!(text.contains("\ndrive 1 GC") && !text.contains("drive 2") && !text.contains("rounds"), "{text}");
    let scheme = ["--scheme", "ggc-reactive-inclusive", "--microscope-drives", "4"];
    let summary = run(&[&scheme[..], &["--microscope", file.to_str().unwrap()]].concat());
    assert!(summary.contains("Response times"), "{summary}");
    let drawn = std::fs::read_to_string(&file).unwrap();
    assert!(drawn.starts_with("<svg ") && drawn.ends_with("</svg>\n") && drawn.contains("volume, rounds"), "{drawn}");
    assert!(drawn.contains("drive 3, GC") && drawn.contains(">ggc-reactive-inclusive, oltp, raid-0 of 4 drives<"));
    // A single drive with coordinated elements is an array of one.
    let alone = ["run", "-q", "--requests", "300", "--microscope", "-", "--scheme", "ggc-reactive-inclusive"];
    let output = copyback(&alone);
    assert!(output_text(&output).starts_with("ggc-reactive-inclusive, oltp, one drive\n"), "{}", error_text(&output));
}

#[test]
fn a_window_after_the_run_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("array.txt");
    refused(
        &[ARRAY, &["--microscope", file.to_str().unwrap(), "--microscope-from", "1 h"]].concat(),
        &["nothing runs from 3600 s on: the run ends at", "--microscope-from; nothing was drawn"],
    );
    assert!(!file.exists());
}

/// The rows of a table, a text a cell.
fn table(path: &Path) -> Vec<Vec<String>> {
    let reader = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
    let cells = |row: parquet::record::Row| row.get_column_iter().map(|(_, value)| value.to_string()).collect();
    reader.get_row_iter(None).unwrap().map(|row| cells(row.unwrap())).collect()
}

#[test]
fn the_table_has_what_is_seen_and_the_results_are_the_same_without() {
    let folder = tempfile::tempdir().unwrap();
    let (out, plain) = (folder.path().join("out"), folder.path().join("plain"));
    let look = ["--microscope", "-", "--microscope-from", "120 ms", "--microscope-for", "40 ms"];
    let scheme = ["--scheme", "ggc-reactive-inclusive", "--out"];
    run(&[&scheme[..], &[out.to_str().unwrap()], &look].concat());
    run(&[&scheme[..], &[plain.to_str().unwrap()]].concat());
    let document = |folder: &Path| {
        let text = std::fs::read_to_string(folder.join("results.json")).unwrap();
        let mut document: serde_json::Value = serde_json::from_str(&text).unwrap();
        document.as_object_mut().unwrap().remove("wall");
        document
    };
    assert_eq!(document(&out), document(&plain));
    assert!(!plain.join("microscope.parquet").exists());
    let rows = table(&out.join("microscope.parquet"));
    let number = |text: &String| text.parse::<u64>().expect("a number");
    for row in &rows {
        let [scheme, kind, drive, op, dies, start, end, value] = &row[..] else { panic!("{row:?}") };
        assert_eq!(scheme, "\"ggc-reactive-inclusive\"");
        assert_eq!(number(end) - number(start), number(value));
        assert!(number(start) < 160_000_000 && number(end) >= 120_000_000, "{row:?}");
        assert_eq!(drive == "null", kind == "\"request\"", "{row:?}");
        assert_eq!(dies != "null", kind == "\"collecting\"", "{row:?}");
        assert_eq!(op == "\"gc\"", ["\"collecting\"", "\"round\""].contains(&kind.as_str()), "{row:?}");
    }
    let of = |kind: &str, op: &str| rows.iter().filter(|row| row[1] == kind && row[3] == op).count();
    for (kind, op) in
        [("request", "read"), ("request", "write"), ("part", "write"), ("collecting", "gc"), ("round", "gc")]
    {
        assert!(of(&format!("\"{kind}\""), &format!("\"{op}\"")) > 0, "no {kind}, {op}");
    }
    // A rerun without it leaves none behind.
    run(&[&scheme[..], &[out.to_str().unwrap()]].concat());
    assert!(!out.join("microscope.parquet").exists());
}
