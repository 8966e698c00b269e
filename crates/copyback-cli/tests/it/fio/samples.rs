//! Are the sampled rates and the percentiles of the JSON filled as fio fills them?

use super::{fio, written};
use crate::common::{code, copyback, error_text};
use serde_json::Value;

const JOBS: &str = "[global]\nioengine=IO\niodepth=4\nbs=4k\nsize=16m\ntime_based\nruntime=1s\n\
                    percentile_list=50:99.999\n[a]\nrw=randrw\nrate_iops=1000,500\n[b]\nrw=randread\nrate_iops=300\n";

/// Figures of an operation: of its bandwidth and of its requests, the samples, and the percentiles of both times.
fn figures(document: &Value, job: usize, op: &str) -> ([f64; 4], [f64; 4], [u64; 2], [Vec<String>; 2]) {
    let own = &document["jobs"][job][op];
    let number = |name: &str| own[name].as_f64().unwrap_or_else(|| panic!("no {name}"));
    let keys = |times: &str| {
        let list = own[times]["percentile"].as_object();
        list.map(|list| list.keys().cloned().collect()).unwrap_or_default()
    };
    (
        ["bw_min", "bw_max", "bw_mean", "bw_agg"].map(number),
        ["iops_min", "iops_max", "iops_mean", "iops"].map(number),
        ["bw_samples", "iops_samples"].map(|name| own[name].as_u64().unwrap()),
        ["clat_ns", "lat_ns"].map(keys),
    )
}

#[test]
fn samples_and_percentiles_are_fios() {
    let folder = tempfile::tempdir().unwrap();
    for more in ["", "group_reporting\n", "lat_percentiles=1\nclat_percentiles=0\n"] {
        let text = JOBS.replacen("[a]\n", &format!("{more}[a]\n"), 1);
        let json = folder.path().join("own.json");
        let file = written(folder.path(), &text.replace("=IO", "=libaio"));
        let ran = copyback(&["run", "--fio", &file, "--fio-json", json.to_str().unwrap(), "--quiet"]);
        assert_eq!(code(&ran), 0, "{}", error_text(&ran));
        let own: Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
        let is_grouped = more.contains("group");
        // The run takes a second, two intervals. For a group, fio adds up the samples and the rates.
        let (_, [least, most, mean, iops], samples, percentiles) = figures(&own, 0, "read");
        let (rate, count) = if is_grouped { (1300.0, 4) } else { (1000.0, 2) };
        assert_eq!(samples, [count; 2], "{more}");
        assert!([least, most, mean, iops].iter().all(|own| (own / rate - 1.0).abs() < 0.01), "{least} {most} {mean}");
        assert_eq!(percentiles[usize::from(more.contains("lat_"))], ["50.000000", "99.999000"], "{more}");
        let file = written(folder.path(), &text.replace("=IO", "=null"));
        let Some(output) = fio(folder.path(), &["--output-format=json", "--output=fio.json", &file]) else { return };
        assert!(output.status.success(), "{output:?}");
        let theirs: Value = serde_json::from_slice(&std::fs::read(folder.path().join("fio.json")).unwrap()).unwrap();
        let jobs: &[(usize, &str)] =
            if is_grouped { &[(0, "read"), (0, "write")] } else { &[(0, "read"), (0, "write"), (1, "read")] };
        for &(job, op) in jobs {
            let keys = [&own, &theirs].map(|document| figures(document, job, op).3);
            assert_eq!(keys[0], keys[1], "{more}{job} {op}");
            // fio runs in real time, and how well it keeps its rates depends on the machine: what has to be true of
            // both are the relations between the figures.
            for document in [&own, &theirs] {
                let ([slow, fast, bandwidth, share], [least, most, mean, _], samples, _) = figures(document, job, op);
                let all = format!("{more}{job} {op}: {}", document["jobs"][job][op]);
                assert!(slow <= bandwidth && bandwidth <= fast && least <= mean && mean <= most, "{all}");
                // Requests are of 4 KiB; fio cuts both rates to whole numbers.
                assert!((bandwidth - 4.0 * mean).abs() <= 4.0 + 0.02 * bandwidth, "{all}");
                assert!(samples[0] == samples[1] && (0.0..=100.0).contains(&share), "{all}");
            }
        }
    }
}

/// A workload without a job has the samples, too: one request each millisecond, for a second.
#[test]
fn a_single_workload_has_samples() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("own.json");
    let load = ["workload.arrivals.kind=fixed", "workload.arrivals.rate=1000", "workload.read_share=0.0"];
    let size = ["workload.size.kind=fixed", "workload.size.mean=4 KiB"];
    let sets: Vec<&str> = load.iter().chain(&size).flat_map(|set| ["--set", *set]).collect();
    let run =
        ["run", "--quiet", "--workload", "random-write", "--requests", "1002", "--fio-json", json.to_str().unwrap()];
    let ran = copyback(&[&run[..], &sets].concat());
    assert_eq!(code(&ran), 0, "{}", error_text(&ran));
    let own: Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    let ([slow, fast, bandwidth, share], [least, most, mean, _], samples, _) = figures(&own, 0, "write");
    assert_eq!(samples, [2, 2], "{}", own["jobs"][0]["write"]);
    assert!([least, most, mean].iter().all(|rate| (rate / 1000.0 - 1.0).abs() < 0.01), "{least} {most} {mean}");
    assert!([slow, fast, bandwidth].iter().all(|kib| (kib / 4000.0 - 1.0).abs() < 0.01), "{slow} {fast} {bandwidth}");
    assert!(share > 99.0, "{share}");
    assert_eq!(figures(&own, 0, "read").2, [0, 0], "nothing was read");
}
