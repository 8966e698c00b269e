//! Does every table say whether the drives behind its numbers had settled?

use crate::common::{code, copyback, error_text, output_text};

/// 300 requests erase fewer than 50 blocks; reads alone move no data.
#[test]
fn a_comparison_has_a_column_of_verdicts() {
    for (workload, verdict) in [("mixed-70-30", "too short"), ("random-read", "-")] {
        let arguments = ["compare", "--workload", workload, "--requests", "300", "--schemes", "baseline,pgc"];
        let output = copyback(&[&arguments[..], &["--quiet"]].concat());
        assert_eq!(code(&output), 0, "{}", error_text(&output));
        let text = output_text(&output);
        let mut lines = text.lines().skip_while(|line| !line.contains("erases") || !line.contains("steady"));
        let heading = lines.next().unwrap_or_else(|| panic!("no heading `steady`: {text}"));
        // Headings and values end in the same column.
        let end = heading.find("steady").expect("a column") + "steady".len();
        for scheme in ["baseline", "pgc"] {
            let line = lines.find(|line| line.starts_with(scheme)).expect("a line of the scheme");
            let cell: String = line.chars().take(end).collect();
            assert!(cell.ends_with(&format!(" {verdict}")), "{workload}: `{cell}` in {text}");
        }
    }
}

/// 3,000 requests write a sixth of the spare space: nothing moves, but the ages of blocks have not turned over.
#[test]
fn a_run_that_writes_less_than_the_spare_space_is_not_called_steady() {
    let output = copyback(&["compare", "-q", "--schemes", "baseline", "--requests", "3000"]);
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    let text = output_text(&output);
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.lines().any(|line| line.starts_with("baseline") && line.ends_with("too short")), "{text}");
    assert!(flat.contains("too short to tell: the host wrote ") && flat.contains(" of the spare space"), "{text}");
    assert!(flat.contains(" (--requests) to "), "{text}");
}

/// Each of four planes programs 16 KiB in 400 us, and all of them at most 10,000 pages a second; two channels of 800
/// MB/s carry at most 97,656 pages a second. Whatever write amplification does, a table must not call such a run
/// steady.
#[test]
fn a_run_that_cannot_keep_up_is_not_called_steady() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let device = "geometry = { channels = 2, chips_per_channel = 1, dies_per_chip = 1, planes_per_die = 2, \
                  blocks_per_plane = 24, pages_per_block = 8, page_size = \"16 KiB\" }\n\
                  timing = { read = \"60 us\", program = \"400 us\", erase = \"2.5 ms\", channel = \"800 MB/s\" }\n\
                  capacity = { over_provisioning = 0.5 }\n";
    std::fs::write(path("d.toml"), device).unwrap();
    for (read_share, rate, is_overloaded) in
        [(0.0, 40_000.0, true), (1.0, 400_000.0, true), (0.0, 100.0, false), (1.0, 1_000.0, false)]
    {
        let load = format!(
            "[workload]\nrequests = 4000\nread_share = {read_share:?}\nsize = {{ kind = 'fixed', mean = '16 KiB' }}\n\
             arrivals = {{ kind = 'poisson', rate = {rate:?} }}\n"
        );
        std::fs::write(path("w.toml"), load).unwrap();
        let json = path("out.json");
        let (d, w) = (path("d.toml"), path("w.toml"));
        let words = ["compare", "-q", "--schemes", "baseline,pgc", "-d", &d, "-w", &w, "--json", &json];
        let output = copyback(&words);
        assert_eq!(code(&output), 0, "{}", error_text(&output));
        let text = output_text(&output);
        assert_eq!(text.contains("cannot keep up under `baseline`, `pgc`"), is_overloaded, "{text}");
        let row = text.lines().filter(|line| line.starts_with("pgc") && line.contains("overloaded")).count();
        assert_eq!(row == 1, is_overloaded, "{text}");
        let document: serde_json::Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
        for result in document["results"].as_array().expect("two runs") {
            let verdict = result["report"]["steady"]["verdict"].as_str().expect("a verdict");
            assert_eq!(verdict == "overloaded", is_overloaded, "{read_share} {rate}: {verdict}");
        }
    }
}

/// The verdict of a run with these files, and the figures by which it was judged.
fn judged(device: &str, workloads: &str, trace: Option<&str>) -> (String, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (d, w) = (path("d.toml", device), path("w.toml", workloads));
    let t = trace.map(|trace| path("t.csv", trace));
    let source = t.as_deref().map_or(["-w", &w], |trace| ["--trace", trace]);
    let output = copyback(&[&["run", "-q", "-d", &d, "--json", "-", "--requests", "5000"], &source[..]].concat());
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let steady = &document["results"][0]["report"]["steady"];
    let figures = steady["figures"].as_array().expect("a list");
    let names = figures.iter().map(|figure| figure["name"].as_str().expect("a name").to_owned()).collect();
    (steady["verdict"].as_str().expect("a verdict").to_owned(), names)
}

const SMALL: &str = "geometry = { channels = 2, chips_per_channel = 1, dies_per_chip = 1, planes_per_die = 2, \
                     blocks_per_plane = 24, pages_per_block = 8, page_size = \"16 KiB\" }\n\
                     timing = { read = \"60 us\", program = \"400 us\", erase = \"2.5 ms\", channel = \"800 MB/s\" }\n\
                     capacity = { over_provisioning = 0.5 }\n";

/// Closed workloads that start one after the other have ever more requests outstanding, and none arrives by itself: the
/// drive is not overloaded, and its throughput is judged as that of one closed workload.
#[test]
fn closed_workloads_are_not_overloaded_and_judged_by_throughput() {
    let load = |mode: &str| {
        let one = |at: usize| {
            format!(
                "[workloads.w{at}]\nmode = '{mode}'\nqueue_depth = 16\nstart = '{} ms'\nrequests = 20000\nread_share = 0.0\n\
                 size = {{ kind = 'fixed', mean = '16 KiB' }}\naddresses = {{ kind = 'uniform' }}\n",
                1000 * at
            )
        };
        (0..6).map(one).collect::<String>()
    };
    let (verdict, figures) = judged(SMALL, &load("closed"), None);
    assert_ne!(verdict, "overloaded");
    assert_eq!(figures, ["write amplification", "throughput"]);
    let single = "[workload]\nrequests = 5000\nread_share = 0.0\nsize = { kind = 'fixed', mean = '16 KiB' }\n\
                  addresses = { kind = 'uniform' }\n";
    let (_, of_one) = judged(&format!("{SMALL}host = {{ mode = \"closed\" }}\n"), single, None);
    assert_eq!(of_one, figures);
}

/// A request of more pages than a drive can hold transactions keeps later parts of itself waiting. If it ends long
/// before the next one arrives, the drive keeps up.
#[test]
fn one_large_request_at_a_time_is_no_overload() {
    let device = "geometry = { channels = 2, chips_per_channel = 1, dies_per_chip = 1, planes_per_die = 2, \
                  blocks_per_plane = 1024, pages_per_block = 32, page_size = \"4 KiB\" }\n\
                  timing = { read = \"6 us\", program = \"10 us\", erase = \"100 us\", channel = \"3 GB/s\" }\n\
                  capacity = { over_provisioning = 0.5 }\nprecondition = { mode = \"empty\" }\n";
    let bytes = 70_000 * 4096;
    let rows: String = (0..6).map(|at| format!("{},W,0,{bytes}\n", 60_000_000 * at)).collect();
    let (verdict, _) = judged(device, "", Some(&format!("arrival_us,op,offset_bytes,length_bytes\n{rows}")));
    assert_ne!(verdict, "overloaded");
}

/// The verdicts of `baseline` and `pgc` on 10,000 writes that arrive at this rate, the first of them as a warm-up. The
/// drive [`SMALL`] serves some 900 of them a second.
fn verdicts_at(rate: f64, warmup: u64, settings: &[&str]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let load = format!(
        "[workload]\nrequests = 10000\nread_share = 0.0\nsize = {{ kind = 'fixed', mean = '16 KiB' }}\naddresses = \
         {{ kind = 'uniform' }}\narrivals = {{ kind = 'poisson', rate = {rate:?} }}\n"
    );
    let (d, w, warmup) = (path("d.toml", SMALL), path("w.toml", &load), warmup.to_string());
    let words = ["compare", "-q", "-d", &d, "-w", &w, "--schemes", "baseline,pgc", "--warmup", &warmup, "--json", "-"];
    let output = copyback(&[&words[..], settings].concat());
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let results = document["results"].as_array().expect("two runs");
    results.iter().map(|of| of["report"]["steady"]["verdict"].as_str().expect("a verdict").to_owned()).collect()
}

/// After any warm-up, its backlog hides no overload, and a load just below the capacity is not called an overload.
#[test]
fn a_load_has_one_verdict_after_any_warmup() {
    for warmup in [0, 4_000, 8_000] {
        assert_eq!(verdicts_at(700.0, warmup, &[]), ["steady"; 2], "700 a second, {warmup}");
        assert_eq!(verdicts_at(1_200.0, warmup, &[]), ["overloaded"; 2], "1,200 a second, {warmup}");
    }
    // Requests that wait outside of the drive are outstanding, too.
    let limited = ["--set", "host.outstanding_max=32"];
    assert_eq!(verdicts_at(1_200.0, 8_000, &limited), ["overloaded"; 2]);
}

/// The verdict on [`SMALL`] and random writes that arrive at these times, in us, after a warm-up.
fn verdict_of_arrivals(arrivals_us: impl Iterator<Item = u64>, warmup: &str) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let (d, t) = (folder.path().join("d.toml"), folder.path().join("t.csv"));
    std::fs::write(&d, SMALL).unwrap();
    // 512 pages of 16 KiB, in an order without a pattern.
    let rows: String = arrivals_us
        .zip(1u64..)
        .map(|(at, i)| format!("{at},W,{},16384\n", (i * i * i + 7 * i) % 509 * 16384))
        .collect();
    std::fs::write(&t, format!("arrival_us,op,offset_bytes,length_bytes\n{rows}")).unwrap();
    let (d, t) = (d.to_str().unwrap(), t.to_str().unwrap());
    let json = folder.path().join("out.json");
    let words = ["run", "-q", "-d", d, "--trace", t, "--warmup", warmup, "--json", json.to_str().unwrap()];
    let output = copyback(&words);
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    let document: serde_json::Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    let verdict = document["results"][0]["report"]["steady"]["verdict"].as_str().expect("a verdict").to_owned();
    (verdict, output_text(&output))
}

/// 4,000 writes arrive within a second; the drive works them off while the measured ones arrive, at 400 a second.
#[test]
fn a_drive_that_works_off_a_backlog_is_not_steady() {
    let arrivals = || (0..4_000).map(|i| 250 * i).chain((0..4_000).map(|i| 1_000_000 + 2_500 * i));
    let (verdict, text) = verdict_of_arrivals(arrivals(), "4000");
    assert_eq!(verdict, "not_yet", "{text}");
    assert!(text.contains("works off a backlog of outstanding requests"), "{text}");
    // 3,000 requests later, it has done so.
    assert_eq!(verdict_of_arrivals(arrivals(), "7000").0, "steady");
}

/// Bursts of 300 writes every second: the drive serves each before the next one.
#[test]
fn bursts_that_are_served_are_no_overload() {
    let arrivals = (0..6_000).map(|i| 1_000_000 * (i / 300) + 10 * (i % 300));
    for warmup in ["0", "3000", "5500"] {
        assert_ne!(verdict_of_arrivals(arrivals.clone(), warmup).0, "overloaded", "{warmup}");
    }
}

#[test]
fn a_reproduction_counts_the_cells_that_are_not_steady() {
    let folder = tempfile::tempdir().unwrap();
    let claims = "schemes = [\"baseline\", \"pgc\"]\nrequests = 300\nworkloads = [\"mixed-70-30\", \"random-read\"]\n\
                  [[claim]]\nfigure = \"1\"\ntext = \"reads\"\nwhere = \"here\"\nmetric = \"response.read.mean_ns\"\n\
                  scheme = \"pgc\"\nagainst = \"baseline\"\ndirection = \"lower\"\n";
    let (file, json) = (folder.path().join("claims.toml"), folder.path().join("claims.json"));
    std::fs::write(&file, claims).unwrap();
    let out = folder.path().join("reproduction");
    let arguments = ["reproduce", file.to_str().unwrap(), "--quiet", "--out", out.to_str().unwrap()];
    let output = copyback(&[&arguments[..], &["--json", json.to_str().unwrap()]].concat());
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    let text = output_text(&output);
    let says = "Note: 2 of 4 runs are not yet steady, or too short to tell: `baseline`, `pgc` in mixed-70-30\n";
    assert!(text.contains(says), "{text}");
    let document: serde_json::Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    let cells = document["claims"][0]["cells"].as_array().expect("the cells of the claim");
    let steady: Vec<(&str, bool)> =
        cells.iter().map(|cell| (cell["cell"].as_str().unwrap(), cell["is_steady"].as_bool().unwrap())).collect();
    assert_eq!(steady, [("mixed-70-30", false), ("random-read", true)]);
}
