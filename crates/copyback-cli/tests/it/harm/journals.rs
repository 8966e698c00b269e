//! A journal is used if it belongs to this table and is intact; any other file in its place belongs to the user.

use super::*;

fn sweep(place: &Place, more: &[&str]) -> Output {
    place.file("grid.toml", SWEEP);
    place.run(&with(&["sweep", "grid.toml", "--quiet", "--jobs", "1", "--out", "grid.parquet"], more))
}

fn swept(place: &Place, more: &[&str]) -> String {
    let output = sweep(place, more);
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    output_text(&output)
}

#[test]
fn a_file_that_is_no_journal_of_this_table_is_left_alone() {
    let place = Place::new();
    let old = r#"{"cell":"oltp","key":"blake3:0","notes":"","runs":[]}"#;
    place.file("other.toml", SWEEP);
    place.done(&["sweep", "other.toml", "--quiet"]);
    let other = place.read("other.journal");
    let later = other.replacen("copyback/journal/2", "copyback/journal/9", 1);
    for (text, why) in [
        ("Dear diary,\n", "is no journal"),
        ("no end of a line", "is no journal"),
        ("\n", "is no journal"),
        (&format!("{old}\n"), "is a journal of an earlier version"),
        (&other, "is the journal of another table, other.parquet"),
        // The first line has its check sum, too.
        (&other.replacen("other.parquet", "grid.parquet", 1), "is no journal"),
        (&later, "is no journal"),
    ] {
        place.file("grid.journal", text);
        for more in [&[][..], &["--fresh"]] {
            let output = sweep(&place, more);
            assert_eq!(code(&output), 2, "{text}: {}", output_text(&output));
            for part in [why, "grid.journal", "name another output (--out)", "left as it is"] {
                assert!(error_text(&output).contains(part), "{text}: no `{part}` in {}", error_text(&output));
            }
            assert_eq!(place.read("grid.journal"), text);
            assert!(!place.path("grid.parquet").exists());
        }
    }
    std::fs::remove_file(place.path("grid.journal")).unwrap();
    place.pipe("grid.journal");
    let output = sweep(&place, &[]);
    assert!(code(&output) == 2 && error_text(&output).contains("is no ordinary file"), "{}", error_text(&output));
}

/// `reproduce` names its journal itself.
#[test]
fn a_reproduction_leaves_such_files_alone_too() {
    let place = Place::new();
    place.file("claims.toml", CLAIMS);
    std::fs::create_dir(place.path("reproduction")).unwrap();
    place.file("reproduction/claims.journal", "mine\n");
    for more in [&[][..], &["--fresh"]] {
        place.refused(&with(&["reproduce", "./claims.toml", "--quiet"], more), &["claims.journal", "is no journal"]);
        assert_eq!(place.read("reproduction/claims.journal"), "mine\n");
        assert_eq!(names_in(&place.path("reproduction")), ["claims.journal"]);
    }
}

/// The program was killed while it wrote the journal's first line, after any number of bytes.
#[test]
fn a_journal_whose_first_line_was_cut_short_is_begun_again() {
    let place = Place::new();
    swept(&place, &[]);
    let (whole, table) = (place.read("grid.journal"), place.bytes("grid.parquet"));
    let first = whole.split_inclusive('\n').next().unwrap();
    assert!(first.contains("copyback/journal/2") && first.contains("grid.parquet") && first.contains("copyback 0."));
    for end in [0, 1, 20, first.len() - 1, first.len()] {
        place.file("grid.journal", &first[..end]);
        swept(&place, &[]);
        assert_eq!(place.bytes("grid.parquet"), table);
        assert_eq!(place.read("grid.journal"), whole, "cut after {end} bytes");
    }
    assert!(swept(&place, &[]).contains("2 of 2 cells were done before"));
    assert!(!swept(&place, &["--fresh"]).contains("done before"));
    assert_eq!(place.read("grid.journal"), whole);
}

#[test]
fn a_changed_journal_changes_no_result() {
    let place = Place::new();
    swept(&place, &[]);
    let (whole, table) = (place.read("grid.journal"), place.bytes("grid.parquet"));
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    assert_eq!(lines.len(), 3);
    // A digit of a result, still JSON.
    let at = lines[1].find("\"host.requests\"").or_else(|| lines[1].find("_ns\":")).expect("the line has numbers");
    let at = at + lines[1][at..].find(|letter: char| letter.is_ascii_digit()).unwrap();
    let digit = if &lines[1][at..=at] == "7" { "8" } else { "7" };
    let changed = format!("{}{digit}{}", &lines[1][..at], &lines[1][at + 1..]);
    assert!(serde_json::from_str::<serde_json::Value>(&changed).is_ok());
    let swapped = lines[1].replacen("\"key\":\"blake3:", "\"key\":\"blake3;", 1);
    for line in [changed.as_str(), &swapped, "no journal\n"] {
        place.file("grid.journal", format!("{}{line}{}", lines[0], lines[2]));
        let text = swept(&place, &[]);
        assert!(text.contains("1 of 2 cells was done before"), "{text}");
        assert!(text.contains("1 line of grid.journal was altered and is not used"), "{text}");
        assert_eq!(place.bytes("grid.parquet"), table, "{line}");
    }
    place.file("claims.toml", CLAIMS);
    let reproduce = ["reproduce", "./claims.toml", "--quiet"];
    let before = place.done(&reproduce);
    let journal = place.read("reproduction/claims.journal");
    place
        .file("reproduction/claims.journal", journal.replacen("\"scheme\":\"baseline\"", "\"scheme\":\"Baseline\"", 1));
    let after = place.done(&reproduce);
    assert!(
        after.starts_with(&before) && after.contains("1 line of reproduction/claims.journal was altered"),
        "{after}"
    );
}

/// No more of a file is read than a line may have: a user's file may exceed the memory.
#[test]
fn a_line_of_a_journal_has_16_mebibytes_at_most() {
    let place = Place::new();
    swept(&place, &[]);
    let (whole, table) = (place.read("grid.journal"), place.bytes("grid.parquet"));
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let long = |bytes: usize| format!("{}{}{}\n{}", lines[0], lines[1], "x".repeat(bytes - 1), lines[2]);
    place.file("grid.journal", long(16 << 20));
    let text = swept(&place, &[]);
    assert!(text.contains("2 of 2 cells") && text.contains("1 line of grid.journal was altered"), "{text}");
    place.file("grid.journal", long((16 << 20) + 1));
    // Four gibibytes of nothing, without the end of a line.
    let endless = place.file("endless", &whole);
    std::fs::OpenOptions::new().append(true).open(&endless).unwrap().set_len(1 << 32).unwrap();
    for (name, place_of_line) in [("grid.journal", "grid.journal:3"), ("endless", "grid.journal:4")] {
        std::fs::rename(place.path(name), place.path("grid.journal")).unwrap();
        let bytes = std::fs::metadata(place.path("grid.journal")).unwrap().len();
        let says = [place_of_line, "has 16777216 bytes at most", "--fresh begins a new journal"];
        place.refused(&["sweep", "grid.toml", "--quiet", "--out", "grid.parquet"], &says);
        assert_eq!(std::fs::metadata(place.path("grid.journal")).unwrap().len(), bytes, "it is left as it is");
    }
    swept(&place, &["--fresh"]);
    assert_eq!((place.read("grid.journal"), place.bytes("grid.parquet")), (whole, table));
}

/// A table that the user did not name and that no journal lists belongs to the user.
#[test]
fn a_table_that_no_sweep_wrote_is_not_replaced_unasked() {
    let place = Place::new();
    place.file("grid.toml", SWEEP);
    place.file("grid.parquet", "mine");
    place.refused(&["sweep", "grid.toml"], &["grid.parquet exists", "--out FILE"]);
    assert_eq!(place.read("grid.parquet"), "mine");
    assert_eq!(place.names(), ["grid.parquet", "grid.toml"]);
    // A file in the journal's place is no journal yet.
    for text in ["", "mine\n", "{\"journal\":"] {
        place.file("grid.journal", text);
        place.refused(&["sweep", "grid.toml"], &["grid.parquet exists", "--out FILE"]);
        assert_eq!((place.read("grid.parquet").as_str(), place.read("grid.journal").as_str()), ("mine", text));
    }
    std::fs::remove_file(place.path("grid.journal")).unwrap();
    swept(&place, &[]);
    place.done(&["sweep", "grid.toml", "--quiet"]);
}

/// The table as text has a name that a trace of the same experiment may well have.
#[test]
fn a_text_that_no_sweep_wrote_is_not_replaced() {
    let place = Place::new();
    place.file("grid.toml", SWEEP);
    swept(&place, &[]);
    let text = place.bytes("grid.csv");
    for mine in ["", "cell,case\nmine,1\n"] {
        place.file("grid.csv", mine);
        let says = ["grid.csv exists, and was not written by a sweep", "name another table"];
        place.refused(&["sweep", "grid.toml", "--quiet"], &says);
        place.refused(&["sweep", "grid.toml", "--quiet", "--fresh", "--out", "grid.parquet"], &says);
        assert_eq!(place.read("grid.csv"), mine);
    }
    // It is an input, too.
    place.file("grid.csv", "1,a,0,Write,0,4096,1\n");
    place.file("traced.toml", "trace = \"grid.csv\"\n");
    place.refused(&["sweep", "traced.toml", "--quiet", "--out", "grid.parquet"], &["grid.csv"]);
    std::fs::remove_file(place.path("grid.csv")).unwrap();
    place.done(&["sweep", "grid.toml", "--quiet"]);
    assert_eq!(place.bytes("grid.csv"), text);
    // If the table is no regular file, no other file is written beside it.
    let before = place.names();
    place.done(&["sweep", "grid.toml", "--quiet", "--out", "/dev/null"]);
    assert_eq!(place.names(), before);
}

/// `reproduce` chooses the names of its tables itself: the user cannot have meant them.
#[test]
fn a_table_that_no_reproduction_wrote_is_not_replaced() {
    let place = Place::new();
    place.file("claims.toml", CLAIMS);
    std::fs::create_dir(place.path("reproduction")).unwrap();
    let table = "reproduction/claims-claims.parquet";
    place.file(table, "mine");
    let reproduce = ["reproduce", "./claims.toml", "--quiet"];
    for journal in [None, Some(""), Some("{\"journal\":")] {
        journal.into_iter().for_each(|text| drop(place.file("reproduction/claims.journal", text)));
        for more in [&[][..], &["--fresh"]] {
            place.refused(&with(&reproduce, more), &["claims-claims.parquet exists", "--out DIR"]);
            assert_eq!(place.read(table), "mine");
            let left = names_in(&place.path("reproduction"));
            assert_eq!(left.len(), 1 + usize::from(journal.is_some()), "{left:?}");
        }
    }
    std::fs::remove_file(place.path(table)).unwrap();
    // It replaces tables that it wrote itself; tables of `--quick` share the journal.
    for more in [&[][..], &[], &["--quick"], &["--fresh"]] {
        place.done(&with(&reproduce, more));
    }
}
