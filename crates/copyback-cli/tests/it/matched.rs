//! Are the matched response times those of the first scheme's affected requests, counted by hand?

use crate::common::{code, copyback, printed, said};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use std::collections::{BTreeMap, BTreeSet};

/// One request as `--out-requests` tells it.
struct Told {
    is_read: bool,
    is_affected: bool,
    response_ns: u64,
}

/// The table of requests: by scheme, by number.
fn requests(path: &std::path::Path) -> BTreeMap<String, BTreeMap<u64, Told>> {
    let reader = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
    let mut told: BTreeMap<String, BTreeMap<u64, Told>> = BTreeMap::new();
    for row in reader.get_row_iter(None).unwrap() {
        let row = row.unwrap();
        let at =
            |name: &str| row.get_column_iter().position(|(column, _)| column == name).expect("the column is there");
        let number = |name: &str| row.get_ulong(at(name)).unwrap();
        let one = Told {
            is_read: row.get_string(at("op")).unwrap() == "read",
            is_affected: number("gc_affected") == 1,
            response_ns: number("response_ns"),
        };
        told.entry(row.get_string(at("scheme")).unwrap().clone()).or_default().insert(number("index"), one);
    }
    told
}

#[test]
fn the_first_schemes_affected_requests_are_compared_with_every_scheme() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let arguments = ["compare", "--schemes", "baseline,dynamic-allocation", "--requests", "20000", "--json", "-"];
    let output = copyback(&[&arguments[..], &["--out", out.to_str().unwrap(), "--out-requests"]].concat());
    assert_eq!(code(&output), 0, "{}", said(&output));
    let results: serde_json::Value = serde_json::from_str(&printed(&output)).unwrap();
    let told = requests(&out.join("requests.parquet"));
    let affected = |scheme: &str| told[scheme].iter().filter(|(_, r)| r.is_affected).map(|(i, _)| *i);
    let first: BTreeSet<u64> = affected("baseline").collect();
    assert!(first != affected("dynamic-allocation").collect(), "the sets are the same: nothing is tested");
    for (at, scheme) in ["baseline", "dynamic-allocation"].into_iter().enumerate() {
        for class in ["all", "read", "write"] {
            let chosen = first.iter().map(|index| &told[scheme][index]);
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
    // What the first scheme says of its own set is what it reports anyway.
    let own = &results["results"][0];
    for (class, reported) in [("all", "gc_affected"), ("read", "gc_affected_read"), ("write", "gc_affected_write")] {
        assert_eq!(own["matched"][class], own["report"]["response"][reported]);
    }
}
