//! Arrays as a user meets them.

mod common;

use common::*;
use serde_json::Value;

fn json(arguments: &[&str]) -> Value {
    let output = copyback(&[arguments, &["--quiet", "--json", "-"]].concat());
    assert_eq!(code(&output), 0, "{arguments:?}: {}", said(&output));
    let mut document: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    document["results"][0].take()
}

fn refused(arguments: &[&str], says: &[&str]) {
    let output = copyback(arguments);
    let text = said(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(code(&output), 2, "{arguments:?}: {text}");
    for part in says {
        assert!(text.contains(part), "{arguments:?} does not say `{part}`: {text}");
    }
}

const RUN: &[&str] = &["run", "--workload", "mixed-70-30", "--requests", "3000"];

fn run(more: &[&str]) -> Value {
    json(&[RUN, more].concat())
}

fn numbers(result: &Value, of_drive: &str) -> Vec<u64> {
    let drives = result["report"]["array"]["drives"].as_array().expect("it is an array");
    drives.iter().map(|drive| drive[of_drive].as_u64().expect("a number")).collect()
}

/// One drive behind a volume has the report of the drive alone; with another one each has its own.
#[test]
fn the_first_drive_is_the_drive_alone() {
    let alone = run(&[]);
    let mut one = run(&["--array", "raid-0", "--set", "array.drives=1"]);
    assert_eq!(numbers(&one, "seed"), [1]);
    one["report"].as_object_mut().unwrap().remove("array");
    assert_eq!(one["report"], alone["report"]);
    let two = run(&["--array", "raid-0", "--set", "array.drives=2", "--seed", "7"]);
    let seeds = numbers(&two, "seed");
    assert!(seeds[0] == 7 && seeds[1] != 7, "{seeds:?}");
    let written = numbers(&two, "units_written");
    assert_eq!(written.iter().sum::<u64>(), two["report"]["flash"]["host_units"].as_u64().unwrap());
}

/// Drives that a file says something else of have another device, scheme, seed; and what is printed of it runs again.
#[test]
fn drives_may_differ() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("array.toml");
    let text = "device = \"small\"\nscheme = \"ggc-reactive-inclusive\"\nworkload = \"mixed-70-30\"\nrequests = 3000\n\
                [array]\nlevel = \"raid-5\"\ndrives = 3\n[measure]\nbandwidth = \"10 ms\"\n\
                [[array.override]]\ndrives = [1]\nseed = 99\ncoordinated = false\n\
                [[array.override]]\ndrives = [2]\ndevice = \"bench-64g\"\nscheme = \"pgc\"\n";
    std::fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap();
    // A drive of 64 GiB takes long to be filled; that is not what is asked here.
    let empty = ["--set", "precondition.mode=empty"];
    let result = json(&[&["run", path], &empty[..]].concat());
    assert_eq!(numbers(&result, "seed")[1], 99);
    let array = &result["report"]["array"];
    assert!(array["drives"][0]["told"].is_object() && array["drives"][1]["told"].is_null(), "{array}");
    assert!(array["volume"]["redundant_writes"].as_u64().unwrap() > 100, "{array}");
    assert!(result["report"]["bandwidth"]["cv"].as_f64().unwrap() > 0.0);
    let printed_config = printed(&copyback(&[&["run", path, "--print-config"], &empty[..]].concat()));
    let again = folder.path().join("again.toml");
    std::fs::write(&again, printed_config).unwrap();
    let again = json(&["run", again.to_str().unwrap()]);
    assert_eq!(again["report"], result["report"]);
}

#[test]
fn what_makes_no_array_is_refused() {
    let with = |more: &[&'static str]| [RUN, more].concat();
    refused(&with(&["--array", "raid-7"]), &["unknown array `raid-7`", "raid-"]);
    refused(&with(&["--array", "raid-5", "--set", "array.drives=2"]), &["2 drives make no raid-5", "from 3 to 64"]);
    refused(&with(&["--array", "raid-10", "--set", "array.drives=5"]), &["an even number"]);
    refused(&with(&["--array", "raid-0", "--set", "array.failed=[1]"]), &["does not survive"]);
    refused(&with(&["--array", "raid-5", "--set", "array.failed=[9]"]), &["there is no drive 9", "0 to 7"]);
    refused(&with(&["--array", "raid-5", "--set", "array.rebuild=\"1 GB/s\""]), &["no drive has failed"]);
    refused(&with(&["--array", "raid-0", "--set", "array.stripe_unit=\"4 KiB\""]), &["no whole mapping units"]);
    refused(&with(&["--array", "raid-0", "--set", "array.strip_unit=\"4 KiB\""]), &["stripe_unit"]);
    refused(&with(&["--set", "host.target=drive"]), &["there is no array"]);
    refused(&with(&["--array", "raid-5", "--set", "host.target=drive"]), &["would leave raid-5 behind"]);
    let timeless = ["--array", "raid-0", "-S", "ggc-reactive-inclusive", "--set", "preemption.policy=ideal"];
    refused(&with(&timeless), &["need not be coordinated"]);
}

/// Requests name drives where the workload says so, and everybody hears of the one that has most.
#[test]
fn a_skewed_workload_names_drives() {
    let result = json(&["run", "--workload", "hpc-w-skew-like", "--requests", "3000", "--array", "raid-0"]);
    let written = numbers(&result, "units_written");
    assert!(written[0] > 3 * written[1..].iter().sum::<u64>() / 7, "{written:?}");
    assert_eq!(result["config"]["host"]["target"], "drive");
}

/// A failed drive is rebuilt onto an empty one.
#[test]
fn a_rebuild_ends() {
    let sets = [
        "array.drives=3",
        "array.failed=[2]",
        "array.rebuild=400 MB/s",
        "geometry.channels=1",
        "geometry.chips_per_channel=1",
        "geometry.blocks_per_plane=24",
        "host.queue_depth=2",
    ];
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
    let run = ["run", "--workload", "mixed-70-30", "--requests", "20000", "--array", "raid-5"];
    let result = json(&[&run[..], &sets].concat());
    let volume = &result["report"]["array"]["volume"];
    assert!(
        volume["rebuilt_at_ns"].as_u64().unwrap() > 0 && volume["units_rebuilt"].as_u64().unwrap() > 500,
        "{volume}"
    );
    assert!(volume["degraded_reads"].as_u64().unwrap() > 10, "{volume}");
}

#[test]
fn a_run_prints_the_array_and_its_drives() {
    let output = copyback(&[RUN, &["--quiet", "--array", "raid-6", "-S", "ggc-reactive-selective"]].concat());
    let text = printed(&output);
    assert_eq!(code(&output), 0, "{}", said(&output));
    for part in ["raid-6 of", "over 8 drives", "\nArray\n", "rounds", "writes of stripes", "  7 "] {
        assert!(text.contains(part), "`{part}` is not in\n{text}");
    }
}

/// Tables of drives and of intervals are in a folder where there is something to tell.
#[test]
fn a_folder_has_a_table_of_drives() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let written = |more: &[&str]| {
        let arguments = [RUN, &["--quiet", "--out", out.to_str().unwrap()], more].concat();
        let output = copyback(&arguments);
        assert_eq!(code(&output), 0, "{}", said(&output));
        ["drives.parquet", "bandwidth.parquet"].map(|name| out.join(name).exists())
    };
    assert_eq!(written(&["--array", "raid-0", "--set", "array.drives=2"]), [true, false]);
    assert_eq!(written(&["--set", "measure.bandwidth=10 ms"]), [false, true]);
    assert_eq!(written(&[]), [false, false]);
}
