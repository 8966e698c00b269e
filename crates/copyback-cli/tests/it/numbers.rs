//! Are printed numbers those of the report, under their own names, and is a number of nothing null or left out?

use crate::common::{code, copyback, error_text, output_text};

fn output(arguments: &[&str]) -> String {
    let output = copyback(arguments);
    assert_eq!(code(&output), 0, "{arguments:?}: {}", error_text(&output));
    output_text(&output)
}

fn json(arguments: &[&str]) -> serde_json::Value {
    serde_json::from_str(&output(&[arguments, &["--json", "-"]].concat())).expect("a JSON document")
}

/// A superpage has several translation pages, and one update may write more than one.
#[test]
fn updates_of_a_map_in_flash_are_those_of_the_report() {
    let map = ["mapping.policy=map-cache", "mapping.superpages=true"].map(|set| ["--set", set]).concat();
    let run = [&["run", "--scheme", "superpage", "--requests", "20000"][..], &map].concat();
    let report = &json(&run)["results"][0]["report"]["map"];
    let [updates, written] = ["updates", "page_programs"].map(|name| report[name].as_u64().expect(name));
    assert!(updates > 1_000 && written > updates, "{report}");
    let text = output(&run).replace(',', "");
    let row = text.lines().find(|line| line.starts_with("  updated ")).expect("a row");
    assert!(row.split_whitespace().any(|word| word == updates.to_string()), "{updates}: {row}");
}

/// Reads of a new drive find no data and take no time: there is no rate.
#[test]
fn a_run_without_time_has_no_rates() {
    let run = ["run", "--set", "precondition.mode=empty", "--workload", "random-read", "--requests", "5", "--closed"];
    let text = output(&run);
    assert!(text.contains("none: no simulated time passed") && !text.contains("0 IOPS"), "{text}");
    let report = &json(&run)["results"][0]["report"];
    assert_eq!((report["simulated_ns"].as_u64(), report["reads"].as_u64()), (Some(0), Some(5)));
    assert!(report["iops"].is_null() && report["bytes_per_s"].is_null(), "{report}");
}

/// Names of a report's numbers that are null, and that are 0, with dots between.
fn nulls_and_zeros(path: &str, value: &serde_json::Value, found: &mut [Vec<String>; 2]) {
    match value {
        serde_json::Value::Object(all) => {
            all.iter().for_each(|(name, own)| nulls_and_zeros(&format!("{path}{name}."), own, found));
        }
        serde_json::Value::Array(all) => {
            let named = all.iter().filter_map(|own| Some((own.get(0)?.as_str()?, own.get(1)?)));
            named.for_each(|(name, own)| nulls_and_zeros(&format!("{path}{name}."), own, found));
        }
        serde_json::Value::Null => found[0].push(path.trim_end_matches('.').to_owned()),
        value if value.as_f64() == Some(0.0) => found[1].push(path.trim_end_matches('.').to_owned()),
        _ => {}
    }
}

/// A mean or a maximum of nothing is null in the document, and no row of the summary; sums and counts are 0.
#[test]
fn times_of_no_request_and_of_no_collection_are_null() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let reads = ["run", "--workload", "random-read", "--requests", "300", "--set", "measure.flash_requests=true"];
    output(&[&reads[..], &["--quiet", "--out", out.to_str().unwrap()]].concat());
    let text = std::fs::read_to_string(out.join("results.json")).unwrap();
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut found = [Vec::new(), Vec::new()];
    nulls_and_zeros("", &document["results"][0]["report"], &mut found);
    let [nulls, zeros] = found;
    let is_time = |name: &&String| name.starts_with("response.") && name.ends_with("_ns");
    // Writes, and requests that collection affects: 12 times each.
    assert_eq!(nulls.iter().filter(is_time).count(), 4 * 12, "{nulls:?}");
    assert_eq!(zeros.iter().find(is_time), None);
    for name in [
        "latency_breakdown.write_mean_ns.flash",
        "flash_requests.program.mean_ns.flash",
        "gc.collection_mean_ns",
        "gc.collection_max_ns",
        "gc.reads_waiting_mean",
        "gc.reads_waiting_max",
        "evictions.planes_in_use_mean",
        "evictions.planes_in_use_max",
    ] {
        assert!(nulls.iter().any(|null| null == name), "{name}: {nulls:?}");
    }
    for name in ["response.write.count", "gc.collections", "gc.die_time_ns", "latency_breakdown.read_mean_ns.gc"] {
        assert!(zeros.iter().any(|zero| zero == name), "{name}: {zeros:?}");
    }
    let rows = crate::common::rows(&out.join("summary.parquet"));
    let names: Vec<String> = rows.iter().map(|row| row["metric"].to_string().trim_matches('"').to_owned()).collect();
    assert!(names.iter().any(|name| name == "response.read.mean_ns"));
    assert_eq!(names.iter().find(|name| nulls.contains(name)), None);
    // The table of a run, and its page, show none.
    let shown = output(&[&reads[..], &["--show", "write.p50,gc.collection_mean"]].concat());
    let values: Vec<&str> = shown.lines().filter(|line| line.contains("write.p50")).collect();
    assert!(values.iter().all(|line| !line.contains(" 0")), "{shown}");
}

#[test]
fn requests_beyond_the_footprint_are_told_of_with_what_is_left_of_them() {
    let run = ["run", "--workload", "random-write", "--set", "workload.size.mean=\"8 GiB\"", "--requests", "2"];
    let text = output(&run);
    let note = text.lines().find(|line| line.contains("shortened to the footprint")).expect("a note");
    // Two of 8 GiB, on a drive of 800 MiB.
    for says in ["2 writes", "of 800 MiB", "`workload.size` or `workload.write_size`", "1.56 GiB instead of 16.0 GiB"] {
        assert!(note.contains(says), "`{says}` in {note}");
    }
}

const TWO: &str = "device = \"small\"\n[workloads.reader]\nrequests = 600\nread_share = 1.0\n\
    size = { kind = \"fixed\", mean = \"4 KiB\" }\narrivals = { kind = \"poisson\", rate = 2000 }\n\
    [workloads.writer]\nrequests = 600\nread_share = 0.0\nsize = { kind = \"fixed\", mean = \"4 KiB\" }\n\
    arrivals = { kind = \"poisson\", rate = 2000 }\n";

/// Whether a line of the text has these words one after the other.
fn has_heading(text: &str, words: &[&str]) -> bool {
    text.lines().any(|line| {
        let found: Vec<&str> = line.split_whitespace().collect();
        found.windows(words.len()).any(|window| window == words)
    })
}

#[test]
fn results_of_each_of_several_workloads_have_the_columns_that_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("two.toml");
    std::fs::write(&file, TWO).unwrap();
    let file = file.to_str().unwrap();
    let each = |text: &str| {
        let begin = text.find("Each workload").expect("a section of each");
        text[begin..].split("\n\n").next().expect("its lines").to_owned()
    };
    // The usual columns have the median.
    let usual = each(&output(&["run", file]));
    assert!(usual.contains("p50") && usual.contains("p99.9") && usual.contains("GC part"), "{usual}");
    let chosen = each(&output(&["run", file, "--show", "p90,max"]));
    assert!(has_heading(&chosen, &["p90", "max", "p90", "max"]) && !chosen.contains("p99"), "{chosen}");
    let report = &json(&["run", file])["results"][0]["report"];
    let p50_ns = report["workloads"]["reader"]["response"]["read"]["p50_ns"].as_f64().expect("a median");
    assert!(p50_ns > 0.0);
    // A comparison shows its own words of each.
    let compared = ["compare", file, "--schemes", "baseline,pgc", "--show", "read.p50,write.p99,flash.block_erases"];
    let text = output(&compared);
    for (workload, words) in
        [("reader", ["reader", "read.p50", "write.p99"]), ("writer", ["writer", "read.p50", "write.p99"])]
    {
        let heading = text.lines().find(|line| line.starts_with(workload)).expect("a table of each workload");
        assert_eq!(heading.split_whitespace().collect::<Vec<_>>(), words, "{text}");
    }
}

/// Work that a scheme postpones for the host is not in write amplification, but beside it.
#[test]
fn what_is_programmed_after_the_last_request_is_told_by_itself() {
    let run = ["run", "--scheme", "pgc", "--workload", "random-write", "--requests", "5000", "--closed"];
    let report = &json(&run)["results"][0]["report"];
    let (amplification, flash) = (&report["write_amplification"], &report["flash"]);
    let number = |of: &serde_json::Value, name: &str| of[name].as_f64().expect("a number");
    let behind = number(amplification, "after_last_request");
    assert!(behind > 0.0, "nothing is tested");
    let programmed: f64 =
        ["host_units", "gc_units", "other_units", "padding_units"].iter().map(|name| number(flash, name)).sum();
    let all = programmed / number(report, "units_written");
    assert!((number(amplification, "total") + behind - all).abs() < 1e-9, "{amplification}, {all} in all");
    let text = output(&run);
    let says = format!("{behind:.3}, programmed after the last request: not in the total");
    assert!(text.lines().any(|line| line.trim_start().starts_with("after the end") && line.ends_with(&says)), "{text}");
}
