//! Arrays as a user meets them.

use crate::common::*;
use serde_json::Value;

fn json(arguments: &[&str]) -> Value {
    let output = copyback(&[arguments, &["--quiet", "--json", "-"]].concat());
    assert_eq!(code(&output), 0, "{arguments:?}: {}", error_text(&output));
    let mut document: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    document["results"][0].take()
}

fn refused(arguments: &[&str], says: &[&str]) {
    let output = copyback(arguments);
    let text = error_text(&output).split_whitespace().collect::<Vec<_>>().join(" ");
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

/// One drive behind a volume has the report of the drive alone; with a second one, each has a report of its own.
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

/// Drives that a file overrides have another device, scheme or seed; and the printed configuration runs again.
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
    // A drive of 64 GiB takes long to fill, which this test does not need.
    let empty = ["--set", "precondition.mode=empty"];
    let result = json(&[&["run", path], &empty[..]].concat());
    assert_eq!(numbers(&result, "seed")[1], 99);
    let array = &result["report"]["array"];
    assert!(array["drives"][0]["orders"].is_object() && array["drives"][1]["orders"].is_null(), "{array}");
    assert!(array["volume"]["redundant_writes"].as_u64().unwrap() > 100, "{array}");
    assert!(result["report"]["bandwidth"]["cv"].as_f64().unwrap() > 0.0);
    let printed_config = output_text(&copyback(&[&["run", path, "--print-config"], &empty[..]].concat()));
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
    refused(
        &with(&["--array", "raid-5", "--set", "array.rebuild=\"1 GB/s\""]),
        &["there is no failed drive to rebuild"],
    );
    refused(&with(&["--array", "raid-0", "--set", "array.stripe_unit=\"4 KiB\""]), &["no whole mapping units"]);
    refused(&with(&["--array", "raid-0", "--set", "array.strip_unit=\"4 KiB\""]), &["stripe_unit"]);
    refused(&with(&["--set", "host.target=drive"]), &["there is no array"]);
    refused(&with(&["--array", "raid-5", "--set", "host.target=drive"]), &["would break the redundancy of raid-5"]);
    let timeless = ["--array", "raid-0", "-S", "ggc-reactive-inclusive", "--set", "preemption.policy=ideal"];
    refused(&with(&timeless), &["need no coordination"]);
}

#[test]
fn what_an_array_cannot_use_is_refused() {
    let with = |set: &'static str| [RUN, &["--array", "raid-5", "--set", set]].concat();
    refused(&with("array.stripe_unit=1 GiB"), &["`array.stripe_unit`", "are more than", "of drive 0", "use at most"]);
    refused(&with("array.delay=1000000 h"), &["`array.delay`", "at most 1 s"]);
    refused(&with("measure.bandwidth=0 ns"), &["`measure.bandwidth`", "without length"]);
    refused(&with("array.level=5"), &["`array.level`", "5 is not the name of a choice"]);
    let polls = ["-S", "ggc-proactive-idle", "--array", "raid-0", "--set", "coordination.idle_poll=999 ns"];
    refused(&[RUN, &polls].concat(), &["`coordination.idle_poll`", "1 us or more"]);
    // A file without the table makes no array, whatever else sets a key of it.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("none.toml");
    std::fs::write(&file, "name = \"x\"\n").unwrap();
    let none = ["--array", file.to_str().unwrap(), "--set", "array.drives=2"];
    refused(&[RUN, &none].concat(), &["describes no array", "[array]"]);
}

/// An error in an override names the override.
#[test]
fn overrides_are_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("array.toml");
    let says = |own: &str, says: &[&str]| {
        std::fs::write(&path, format!("[array]\nlevel = \"raid-5\"\ndrives = 4\n[[array.override]]\n{own}\n")).unwrap();
        let array = ["--array", path.to_str().unwrap(), "-S", "ggc-reactive-inclusive"];
        refused(&[RUN, &array].concat(), says);
    };
    says("drives = [1]\nseeds = 3", &["unknown key `seeds` in `[[array.override]]`", "did you mean `seed`?"]);
    says("seed = 3", &["`drives` is missing in `[[array.override]]`"]);
    says("drives = [1]\nscheme = \"nope\"", &["unknown scheme `nope`", "array.toml"]);
    std::fs::write(folder.path().join("other.toml"), "[measure]\nbandwidth = \"1 s\"\n").unwrap();
    says("drives = [1]\nscheme = \"other.toml\"", &["the scheme of a drive has a table `[measure]`"]);
    says("drives = [1]\nscheme = \"ideal-no-gc\"", &["drive 1", "`coordinated = false`"]);
    says("drives = [1]\nscheme = \"uncoordinated\"", &["coordination `uncoordinated`", "coordinated = false"]);
}

/// The command line's array overrides that of an experiment.
#[test]
fn an_array_of_the_command_line_goes_first() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("experiment.toml");
    std::fs::write(&path, "device = \"small\"\n[array]\nlevel = \"raid-5\"\ndrives = 4\n").unwrap();
    let path = path.to_str().unwrap();
    let level = |more: &[&str]| run(&[&[path], more].concat())["report"]["array"]["level"].take();
    assert_eq!([level(&[]), level(&["--array", "raid-10"])], ["raid-5", "raid-10"]);
}

/// The path of an override's device is relative to the file that names it. A sweep runs its cells again if the content
/// of the device's file has changed.
#[test]
fn a_device_of_an_override_is_an_input() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let device = output_text(&copyback(&["devices", "small"]));
    let over = "[[set.array.override]]\ndrives = [1]\ndevice = \"other.toml\"\n";
    let text = format!(
        "device = \"small\"\nschemes = [\"baseline\"]\nworkloads = [\"mixed-70-30\"]\nrequests = 300\n\
         [set]\narray.level = \"raid-5\"\narray.drives = 4\n{over}"
    );
    std::fs::write(file("grid.toml"), text).unwrap();
    let swept = |device: &str| {
        std::fs::write(file("other.toml"), device).unwrap();
        let (grid, table) = (file("grid.toml"), file("grid.parquet"));
        let output = copyback(&["sweep", "--quiet", "--out", table.to_str().unwrap(), grid.to_str().unwrap()]);
        assert_eq!(code(&output), 0, "{}", error_text(&output));
        output_text(&output)
    };
    let first = swept(&device);
    assert!(swept(&device).contains("done before"));
    let slower = device.replacen("read = \"60 us\"", "read = \"600 us\"", 1);
    assert!(slower != device, "{device}");
    let second = swept(&slower);
    let table = |text: &str| text.lines().find(|line| line.contains("baseline")).map(str::to_owned);
    assert!(!second.contains("done before") && table(&first) != table(&second), "{first}\n{second}");
    // An experiment elsewhere finds it beside itself, too; and so does what it prints of itself, wherever that is.
    let experiment = over.replace("set.", "");
    std::fs::write(file("one.toml"), format!("device = \"small\"\n[array]\ndrives = 4\n{experiment}")).unwrap();
    let printed_config =
        output_text(&copyback(&[RUN, &[file("one.toml").to_str().unwrap(), "--print-config"]].concat()));
    std::fs::create_dir(file("sub")).unwrap();
    std::fs::write(file("sub").join("again.toml"), printed_config).unwrap();
    json(&["run", file("sub").join("again.toml").to_str().unwrap()]);
}

/// A drive that cannot be coordinated is left out, and the others are coordinated; a note reports units of two sizes.
#[test]
fn a_drive_that_is_left_out_may_have_any_scheme() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("array.toml");
    let run_of = |own: &str| {
        let text = format!("[array]\ndrives = 2\n[[array.override]]\ndrives = [1]\n{own}\n");
        std::fs::write(&path, text).unwrap();
        let array = ["--array", path.to_str().unwrap(), "-S", "ggc-reactive-inclusive"];
        let output = copyback(&[RUN, &array].concat());
        assert_eq!(code(&output), 0, "{}", error_text(&output));
        output_text(&output) + &error_text(&output)
    };
    let left_out = run_of("scheme = \"ideal-no-gc\"\ncoordinated = false");
    assert!(left_out.contains("(each of") && !left_out.contains("drives have mapping units of"), "{left_out}");
    let device =
        output_text(&copyback(&["devices", "small"])).replacen("page_size = \"16 KiB\"", "page_size = \"8 KiB\"", 1);
    std::fs::write(folder.path().join("other.toml"), device).unwrap();
    let other = run_of("device = \"other.toml\"");
    assert!(other.contains("drives of several kinds") && other.contains("mapping units of"), "{other}");
}

/// Addresses of requests that name drives are folded into the drive.
#[test]
fn addresses_are_folded_into_the_drive_that_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace.csv");
    let line = |drive: u32, offset: u64| format!("12816637200306162{drive},usr,{drive},Write,{offset},4096,1000\n");
    std::fs::write(&trace, line(0, 0) + &line(1, 838_860_800) + &line(2, 99_999_997_952)).unwrap();
    let named = ["run", "--trace", trace.to_str().unwrap(), "--array", "raid-0", "--set", "host.target=drive"];
    refused(&named, &["workload.beyond_capacity"]);
    let result = json(&[&named[..], &["--set", "workload.beyond_capacity=fold"]].concat());
    assert_eq!(numbers(&result, "units_written")[..4], [1, 1, 1, 0]);
    let drawn = ["run", "--workload", "mixed-70-30", "--requests", "300", "--array", "raid-0"];
    refused(&[&drawn[..], &["--set", "host.target=drive"]].concat(), &["names no drives"]);
}

/// Requests name drives if the workload says so, and a note reports the drive with most of them.
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
    let text = output_text(&output);
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    for part in ["raid-6 of", "over 8 drives", "\nArray\n", "rounds", "writes of stripes", "  7 "] {
        assert!(text.contains(part), "`{part}` is not in\n{text}");
    }
}

/// Tables of drives and of intervals are in a folder if they have rows.
#[test]
fn a_folder_has_a_table_of_drives() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let written = |more: &[&str]| {
        let arguments = [RUN, &["--quiet", "--out", out.to_str().unwrap()], more].concat();
        let output = copyback(&arguments);
        assert_eq!(code(&output), 0, "{}", error_text(&output));
        ["drives.parquet", "bandwidth.parquet"].map(|name| out.join(name).exists())
    };
    assert_eq!(written(&["--array", "raid-0", "--set", "array.drives=2"]), [true, false]);
    assert_eq!(written(&["--set", "measure.bandwidth=10 ms"]), [false, true]);
    assert_eq!(written(&[]), [false, false]);
}

/// Numbers of the first million intervals say so in the document, too.
#[test]
fn a_measurement_of_more_intervals_than_are_kept_is_noted() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("r.json");
    let notes = |every: &str| {
        let set = format!("measure.bandwidth={every}");
        let run =
            ["run", "-q", "--requests", "100", "-w", "mixed-70-30", "--json", json.to_str().unwrap(), "--set", &set];
        let output = copyback(&run);
        assert_eq!(code(&output), 0, "{}", error_text(&output));
        let document: serde_json::Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
        document["results"][0]["notes"].to_string()
    };
    assert!(notes("1 ns").contains("`measure.bandwidth`: its numbers are of the first 1 ms of "), "{}", notes("1 ns"));
    assert!(!notes("1 ms").contains("measure.bandwidth"));
}

/// Stripe units of one drive only round its capacity down.
#[test]
fn a_stripe_unit_that_changes_nothing_is_noted() {
    let note = "`array.stripe_unit` (--set) has no effect: the array has one drive";
    let ran = |drives: &str| {
        let sets = ["array.level=raid-0", drives, "array.stripe_unit=64 KiB"].map(|set| ["--set", set]).concat();
        output_text(&copyback(&[&["run", "-q", "--requests", "50"][..], &sets].concat()))
    };
    assert!(ran("array.drives=1").contains(note), "{}", ran("array.drives=1"));
    assert!(!ran("array.drives=2").contains("`array.stripe_unit`"), "{}", ran("array.drives=2"));
}
