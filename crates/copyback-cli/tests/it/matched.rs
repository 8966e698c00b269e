//! The matched response times are those of the first scheme's affected requests, counted by hand. Tables show them only
//! on request, beside those of each scheme's own affected requests.

use crate::common::{code, copyback, error_text, output_text};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use std::collections::{BTreeMap, BTreeSet};

/// A row of `--out-requests`.
struct RequestRow {
    is_read: bool,
    is_affected: bool,
    response_ns: u64,
}

/// The table of requests: by scheme, by number.
fn requests(path: &std::path::Path) -> BTreeMap<String, BTreeMap<u64, RequestRow>> {
    let reader = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
    let mut rows: BTreeMap<String, BTreeMap<u64, RequestRow>> = BTreeMap::new();
    for row in reader.get_row_iter(None).unwrap() {
        let row = row.unwrap();
        let at =
            |name: &str| row.get_column_iter().position(|(column, _)| column == name).expect("the column is there");
        let number = |name: &str| row.get_ulong(at(name)).unwrap();
        let one = RequestRow {
            is_read: row.get_string(at("op")).unwrap() == "read",
            is_affected: number("gc_affected") == 1,
            response_ns: number("response_ns"),
        };
        rows.entry(row.get_string(at("scheme")).unwrap().clone()).or_default().insert(number("index"), one);
    }
    rows
}

#[test]
fn the_first_schemes_affected_requests_are_compared_with_every_scheme() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let arguments = ["compare", "--schemes", "baseline,dynamic-allocation", "--requests", "20000", "--json", "-"];
    let output = copyback(&[&arguments[..], &["--out", out.to_str().unwrap(), "--out-requests"]].concat());
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    let results: serde_json::Value = serde_json::from_str(&output_text(&output)).unwrap();
    let rows = requests(&out.join("requests.parquet"));
    let affected = |scheme: &str| rows[scheme].iter().filter(|(_, r)| r.is_affected).map(|(i, _)| *i);
    let first: BTreeSet<u64> = affected("baseline").collect();
    assert!(first != affected("dynamic-allocation").collect(), "the sets are the same: nothing is tested");
    for (at, scheme) in ["baseline", "dynamic-allocation"].into_iter().enumerate() {
        for class in ["all", "read", "write"] {
            let chosen = first.iter().map(|index| &rows[scheme][index]);
            let chosen = chosen.filter(|r| class == "all" || r.is_read == (class == "read"));
            let times: Vec<u64> = chosen.map(|r| r.response_ns).collect();
            assert!(!times.is_empty(), "{class}: nothing is tested");
            let matched = &results["results"][at]["matched"][class];
            assert_eq!(matched["count"].as_u64().unwrap(), times.len() as u64, "{scheme} {class}");
            assert_eq!(matched["max_ns"].as_u64(), times.iter().max().copied(), "{scheme} {class}");
            // Both are one division of the same exact sum; the JSON reader may miss the last bit.
            let mean = times.iter().sum::<u64>() as f64 / times.len() as f64;
            assert!((matched["mean_ns"].as_f64().unwrap() / mean - 1.0).abs() < 1e-15, "{scheme} {class}");
        }
    }
    // The first scheme's matched values are its reported ones.
    let own = &results["results"][0];
    for (class, reported) in [("all", "gc_affected"), ("read", "gc_affected_read"), ("write", "gc_affected_write")] {
        assert_eq!(own["matched"][class], own["report"]["response"][reported]);
    }
}

/// A scheme and its twin, which draws differently among blocks that are equally good for collection: its collections
/// come at other moments.
const TWINS: &[&str] =
    &["compare", "--schemes", "baseline,twin=baseline", "--set", "twin:victim.tie_blocks=4", "--requests", "20000"];

/// The changes in per cent in a table.
fn changes(text: &str) -> Vec<f64> {
    let lines = text.lines().take_while(|line| !line.starts_with("Note"));
    let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    let parsed = words.windows(2).filter(|pair| pair[1] == "%").map(|pair| pair[0].parse());
    parsed.collect::<Result<_, _>>().expect("a change is a number")
}

/// The requests that the first scheme happened to serve slowly are 27 % faster under its twin, although the twin is not
/// better. No table shows that without matched values.
#[test]
fn a_twin_gains_nothing_in_the_usual_table() {
    let output = copyback(TWINS);
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    let text = output_text(&output);
    assert!(!text.contains("GC-affected") && !text.contains("matched"), "{text}");
    let changes = changes(&text);
    assert!(changes.len() >= 6 && changes.iter().all(|change| *change > -5.0), "{changes:?} in {text}");
}

#[test]
fn matched_requests_are_shown_beside_each_schemes_own_and_with_what_the_selection_does() {
    let output = copyback(&[TWINS, &["--show", "matched"]].concat());
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    let text = output_text(&output);
    let heading: Vec<&str> = text.lines().nth(2).expect("a heading").split_whitespace().collect();
    assert_eq!(heading, ["scheme", "matched.read.mean", "own.read.mean", "matched.write.mean", "own.write.mean"]);
    let changes = changes(&text);
    let (matched, own) = (changes[0], changes[1]);
    assert!(matched < -15.0 && own.abs() < 5.0, "{changes:?}: nothing is tested");
    for says in ["matched: the 2,031 reads and 7,861 writes that GC affects under `baseline`", "seem to gain", "own: "]
    {
        assert!(text.contains(says), "`{says}` in {text}");
    }
    // One word of them has its own beside it, too; and one scheme has none to match with.
    let one = output_text(&copyback(&[TWINS, &["--show", "matched.write.p99"]].concat()));
    assert!(one.contains("matched.write.p99  own.write.p99"), "{one}");
    // No width separates the two, and a table for LaTeX says what the selection does.
    let latex = tempfile::tempdir().unwrap();
    let path = latex.path().join("t.tex");
    let many = [TWINS, &["--show", "wa,erases,iops,matched,read.p99", "--latex", path.to_str().unwrap()]].concat();
    let text = output_text(&copyback(&many));
    for pair in ["matched.read.mean  own.read.mean", "matched.write.mean  own.write.mean"] {
        assert!(text.contains(pair), "`{pair}` in {text}");
    }
    assert!(std::fs::read_to_string(&path).unwrap().starts_with("% matched: "));
    let swapped = copyback(&[TWINS, &["--show", "read.matched.p99"]].concat());
    assert!(error_text(&swapped).contains("did you mean `matched.read.p99`?"), "{}", error_text(&swapped));
    let alone = copyback(&["compare", "--schemes", "baseline", "--show", "matched"]);
    assert_eq!(code(&alone), 2);
    assert!(error_text(&alone).contains("name several schemes"), "{}", error_text(&alone));
}

#[test]
fn a_sweep_shows_matched_requests_where_they_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("twins.toml"), folder.path().join("twins.parquet"));
    std::fs::write(&file, "schemes = [\"baseline\", \"pgc\"]\nworkloads = [\"oltp\"]\nrequests = 2000\n").unwrap();
    let arguments = ["sweep", file.to_str().unwrap(), "--quiet", "--out", out.to_str().unwrap()];
    let usual = output_text(&copyback(&arguments));
    assert!(!usual.contains("matched") && !usual.contains("GC-affected") && !usual.contains("of first"), "{usual}");
    for asked in [["--where", "matched.read.mean < 1000 s"], ["--min", "matched.read.mean"]] {
        let answer = output_text(&copyback(&[&arguments[..], &asked].concat()));
        let beside = answer.contains("matched.read.mean  own.read.mean") && answer.contains("seem to gain");
        assert!(beside, "{asked:?}: {answer}");
    }
    let shown = output_text(&copyback(&[&arguments[..], &["--show", "matched"]].concat()));
    for says in
        ["matched.read.mean", "own.read.mean", "own.write.mean", "under the first scheme of a cell", "seem to gain"]
    {
        assert!(shown.contains(says), "`{says}` in {shown}");
    }
}

/// Runs of several workloads keep no response time for each request: zeros would look measured.
#[test]
fn requests_of_several_workloads_are_not_matched() {
    let folder = tempfile::tempdir().unwrap();
    let job = folder.path().join("two.fio");
    std::fs::write(&job, "[global]\nfilename=/dev/d\nbs=4k\nsize=1m\n[w]\nrw=randwrite\n[r]\nrw=randread\n").unwrap();
    let compare = ["compare", "--quiet", "--fio", job.to_str().unwrap(), "--schemes", "baseline,pgc"];
    let refused = copyback(&[&compare[..], &["--show", "matched"]].concat());
    assert_eq!(code(&refused), 2, "{}", output_text(&refused));
    assert!(error_text(&refused).contains("several workloads are not matched"), "{}", error_text(&refused));
    let output = copyback(&[&compare[..], &["--json", "-"]].concat());
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    let document: serde_json::Value = serde_json::from_str(&output_text(&output)).unwrap();
    assert!(document["results"][1].get("matched").is_none_or(serde_json::Value::is_null));
}
