//! The warm-up as a user meets it, and a first comparison that is right.

use crate::common::*;
use serde_json::Value;

/// A workload that settles within a second of this machine's time.
const WORKLOAD: &str = r#"
[workload]
requests = 60_000
read_share = 0.2
size = { kind = "fixed", mean = "16 KiB" }
addresses = { kind = "hot-cold", hot_share = 0.9, hot_space = 0.1 }
[geometry]
blocks_per_plane = 40
[capacity]
over_provisioning = 0.5
"#;

fn json(arguments: &[&str]) -> Value {
    let output = copyback(&[arguments, &["--json", "-"]].concat());
    assert_eq!(code(&output), 0, "{arguments:?}: {}", error_text(&output));
    serde_json::from_slice(&output.stdout).expect("it is JSON")
}

fn refused(arguments: &[&str], says: &[&str]) {
    let output = copyback(arguments);
    let text = error_text(&output);
    assert_eq!(code(&output), 2, "{arguments:?}: {text}");
    for part in says {
        assert!(text.contains(part), "{arguments:?} does not say `{part}`: {text}");
    }
}

fn warmup_of(result: &Value) -> u64 {
    result["report"]["warmup"]["requests"].as_u64().expect("there was a warm-up")
}

#[test]
fn the_default_comparison_is_steady_and_what_it_suggests_works() {
    let DefaultComparison { text, document, .. } = default_comparison();
    assert!(!text.contains("Note"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let results = document["results"].as_array().unwrap();
    let schemes: Vec<&str> = results.iter().map(|result| result["scheme"].as_str().unwrap()).collect();
    assert_eq!(schemes, ["baseline", "pgc", "gc-par", "gc-par-pgc", "ideal-no-gc"]);
    for result in results {
        assert_eq!(result["report"]["steady"]["verdict"], "steady", "{}", result["scheme"]);
        assert_eq!(warmup_of(result), 182_585);
        assert_eq!(result["report"]["reads"].as_u64().unwrap() + result["report"]["writes"].as_u64().unwrap(), 182_585);
    }
    // A trace of a few places far beyond the drive: 2,000 overwrites of 64 pages, a terabyte away.
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("mine.csv");
    let record = |i: u64| {
        let at = (1 << 40) + i * 7_919 % 64 * 16_384;
        format!("{},host,0,Write,{at},16384,100\n", 128_166_372_000_000_000 + i * 10_000)
    };
    std::fs::write(&trace, (0..2_000).map(record).collect::<String>()).unwrap();
    let steps: Vec<&str> = text.lines().filter_map(|line| line.trim().strip_prefix("copyback ")).collect();
    assert!(steps.len() >= 4, "{text}");
    for step in steps {
        let words = step.split(" #").next().unwrap_or_default().replace("FILE", trace.to_str().unwrap());
        let mut words: Vec<&str> = words.split_whitespace().collect();
        // Short runs are enough here: the comparison above is long.
        let is_of_trace = words.contains(&"--trace");
        if ["run", "compare"].contains(&words[0]) && !is_of_trace {
            words.extend(["--requests", "5000"]);
        }
        if is_of_trace {
            let erases = json(&words)["results"][0]["report"]["flash"]["block_erases"].as_u64();
            assert!(erases > Some(100), "{words:?}: {erases:?}");
        } else {
            let output = copyback(&words);
            assert_eq!(code(&output), 0, "{words:?}: {}", error_text(&output));
        }
    }
}

#[test]
fn what_is_no_warm_up_is_refused() {
    for text in ["stedy", "10 parsecs", "1.5"] {
        refused(&["run", "--warmup", text], &["`steady`", "10000"]);
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.toml");
    std::fs::write(&file, "requests = 5\nwarmup = \"10 parsecs\"\n").unwrap();
    refused(&["run", file.to_str().unwrap()], &["mine.toml:2:10", "unknown unit `parsecs`"]);
    refused(&["sweep", file.to_str().unwrap()], &["mine.toml:2:10", "unknown unit `parsecs`"]);
    std::fs::write(&file, "warmup = -3\n").unwrap();
    refused(&["run", file.to_str().unwrap()], &["mine.toml:1:10", "`-3` is no warm-up"]);
    let too_long = ["run", "--workload", "mixed-70-30", "--set", "workload.requests=100"];
    refused(&[&too_long[..], &["--warmup", "100"]].concat(), &["within the warm-up of 100", "workload.requests=200"]);
    refused(
        &[&too_long[..], &["--warmup", "steady"]].concat(),
        &[
            "before the drive was steady",
            "5 rounds",
            "--set workload.requests=4266700, take a smaller drive, remove --warmup and begin with a steady drive",
            "precondition.mode=steady-state), or set the length",
        ],
    );
    refused(
        &[&too_long[..], &["--warmup", "steady", "--set", "precondition.mode=steady-state"]].concat(),
        &["take a smaller drive, remove --warmup: this drive is steady from the start \
           (precondition.mode=steady-state)"],
    );
    // Three passes write 2.34 rounds, and twenty are wanted: nine times as many.
    let thrice = ["run", "-q", "--workload", "random-write", "--set", "workload.requests=20000"];
    let named = ["--warmup", "steady", "--set", "workload.loop=3"];
    refused(
        &[&thrice[..], &named].concat(),
        &["extend the workload: --set workload.loop=1 --set workload.requests=540000,"],
    );
    refused(&[&too_long[..], &["--warmup", "250"]].concat(), &["workload.requests=300"]);
    refused(
        &[&too_long[..], &["--warmup", "250", "--set", "workload.loop=2"]].concat(),
        &["workload.loop=1 --set workload.requests=400"],
    );
    // A limit of the host is refused only if no drive could hold as many requests.
    for key in ["outstanding_max", "queue_depth"] {
        let set = format!("host.{key}=65537");
        refused(&["run", "--set", &set], &[&set, "65536 pages of requests at once", "a number from 1 to 65536"]);
    }
}

/// Only writes settle a drive. Without writes the warm-up would never end, so that the program refuses it before the
/// run.
#[test]
fn a_drive_without_writes_is_not_awaited() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.toml");
    let says = ["the workload writes nothing", "--warmup 1000", "--warmup 10s"];
    for kinds in ["read_share = 1.0", "read_share = 0.5\ntrim_share = 0.5"] {
        // So many requests would be awaited for ever.
        let sizes = "size = { kind = \"fixed\", mean = \"4 KiB\" }";
        let workload = format!("[workload]\nrequests = 1_000_000_000_000\n{kinds}\n{sizes}\n");
        std::fs::write(&file, workload).unwrap();
        let steady = ["--warmup", "steady", "--requests", "5"];
        for command in ["run", "compare"] {
            refused(&[&[command, file.to_str().unwrap()], &steady[..]].concat(), &says);
        }
        let grid = folder.path().join("grid.toml");
        std::fs::write(&grid, "schemes = [\"baseline\"]\nworkload = \"mine.toml\"\n").unwrap();
        refused(&["sweep", grid.to_str().unwrap(), "--warmup", "steady", "--list"], &says);
        let counted = ["run", file.to_str().unwrap(), "--warmup", "10", "--requests", "5", "--quiet"];
        assert_eq!(warmup_of(&json(&counted)["results"][0]), 10, "{kinds}");
    }
}

/// Without a warm-up nothing changes. A shortened default workload does not have the warm-up that the workload
/// proposes.
#[test]
fn none_is_none_and_a_part_of_a_workload_has_none() {
    let base = ["run", "--requests", "3000"];
    let plain = json(&base);
    let none = json(&[&base[..], &["--warmup", "0"]].concat());
    assert_eq!(none["results"].to_string(), plain["results"].to_string());
    assert!(plain["warmup"].is_null() && plain["results"][0]["report"].get("warmup").is_none());
    let config = |more: &[&str]| output_text(&copyback(&[&["run", "--print-config"], more].concat()));
    assert!(config(&[]).contains("\nwarmup = 182585\n"));
    for cut in ["workload.loop=1", "workload.first=9", "workload.device=0"] {
        assert!(!config(&["--set", cut]).contains("warmup"), "{cut}");
    }
    assert!(!config(&["--requests", "9"]).contains("warmup"));
    assert!(config(&["--set", "workload.time_scale=2"]).contains("warmup"));
    assert!(config(&["--requests", "9", "--warmup", "2s"]).contains("warmup = \"2 s\"\n"));
    // A recording is described as it is, however often runs play it.
    assert_eq!(json_of(&["trace", "info", "oltp", "--json"])["requests"], 182_585);
}

fn json_of(arguments: &[&str]) -> Value {
    serde_json::from_slice(&copyback(arguments).stdout).expect("it is JSON")
}

#[test]
fn a_printed_configuration_keeps_its_warm_up() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.toml");
    let asked = ["run", "--requests", "2000", "--warmup", "1500"];
    std::fs::write(&file, output_text(&copyback(&[&asked[..], &["--print-config"]].concat()))).unwrap();
    let (first, again) = (json(&asked), json(&["run", file.to_str().unwrap()]));
    // The file has every key, and settings of its user that have no effect have notes.
    let without_notes = |document: &Value| {
        let mut results = document["results"].clone();
        results[0].as_object_mut().expect("a run").remove("notes");
        results
    };
    assert_eq!(without_notes(&first), without_notes(&again));
    assert_eq!((warmup_of(&again["results"][0]), &again["warmup"]), (1500, &1500.into()));
}

/// Schemes of a comparison leave out the same requests: those until the last of them has settled.
#[test]
fn schemes_leave_out_the_same_requests_whatever_their_number_of_jobs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.toml");
    std::fs::write(&file, WORKLOAD).unwrap();
    let file = file.to_str().unwrap();
    let schemes = ["baseline", "random", "ideal-no-gc"];
    for warmup in ["steady", "700 ms"] {
        let of_one = |scheme: &&str| {
            warmup_of(&json(&["run", file, "--scheme", scheme, "--warmup", warmup, "--requests", "3000"])["results"][0])
        };
        let own: Vec<u64> = schemes.iter().map(of_one).collect();
        assert!(own.iter().any(|end| *end != own[0]), "{warmup}: nothing is tested: {own:?}");
        let compare = |jobs: &str| {
            let names = schemes.join(",");
            let what = ["compare", file, "--schemes", &names, "--warmup", warmup, "--requests", "3000", "--jobs", jobs];
            json(&what)["results"].clone()
        };
        let both = compare("1");
        assert_eq!(both, compare("3"), "{warmup}");
        for result in both.as_array().unwrap() {
            assert_eq!(Some(warmup_of(result)), own.iter().max().copied(), "{warmup} {}", result["scheme"]);
            let matched = |class: &str| result["matched"][class]["count"].as_u64().unwrap();
            assert!(matched("all") > 0 && matched("all") <= 3_000, "{warmup}");
        }
    }
}

#[test]
fn a_sweep_takes_it_from_its_file_its_cases_or_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let text = "requests = 500\nwarmup = 300\nschemes = [\"baseline\"]\n[[case]]\nworkload = \"oltp\"\n\
                [[case]]\nworkload = \"mixed-70-30\"\nwarmup = \"steady\"\n";
    std::fs::write(at("grid.toml"), text).unwrap();
    let list = |more: &[&str]| output_text(&copyback(&[&["sweep", &at("grid.toml"), "--list"], more].concat()));
    assert!(list(&[]).contains("500 requests after a warm-up of 300\n"), "{}", list(&[]));
    assert!(list(&[]).contains("after a warm-up of steady\n"), "{}", list(&[]));
    assert_eq!(list(&["--warmup", "2s"]).matches("after a warm-up of 2 s\n").count(), 2);
    // The warm-up is part of the identity of a cell: with another warm-up it is another cell.
    let sweep = |warmup: &str| {
        let out = at("grid.parquet");
        let output = copyback(&["sweep", &at("grid.toml"), "--out", &out, "--warmup", warmup]);
        assert_eq!(code(&output), 0, "{}", error_text(&output));
        output_text(&output)
    };
    assert!(!sweep("100").contains("done before"));
    assert!(sweep("100").contains("2 of 2 cells were done before"));
    assert!(!sweep("200").contains("done before"));
}
