//! Messages on misleading inputs and settings: refusals with a remedy, and notes.

use crate::common::*;
use std::path::PathBuf;
use tempfile::TempDir;

/// A trace in a folder of its own.
struct Trace {
    _folder: TempDir,
    path: PathBuf,
}

impl Trace {
    fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let path = folder.path().join("my.trace");
        std::fs::write(&path, text).expect("the file can be written");
        Self { _folder: folder, path }
    }

    fn path(&self) -> &str {
        self.path.to_str().expect("the path is text")
    }
}

/// A command with a mistake: it ends with 2, and its error contains all of these.
fn refused(arguments: &[&str], says: &[&str]) {
    let output = copyback(arguments);
    let text = error_text(&output);
    assert_eq!(code(&output), 2, "{arguments:?}: {text}");
    for part in says {
        assert!(text.contains(part), "{arguments:?} does not say `{part}`: {text}");
    }
}

/// The output of a command that succeeds.
fn done(arguments: &[&str]) -> String {
    let output = copyback(arguments);
    assert_eq!(code(&output), 0, "{arguments:?}: {}", error_text(&output));
    output_text(&output)
}

const REMEDY: &str = "lower `workload.time_scale`";

/// Otherwise the end times of requests would wrap around, and break the order of events.
#[test]
fn arrivals_that_time_cannot_count_are_refused() {
    let late = Trace::new("0 0 0 8 0\n6000000000000000000 0 8 8 0\n");
    let end = Trace::new("0 0 0 8 0\n18446744073709551615 0 8 8 0\n18446744073709551615 0 8 8 1\n");
    let run = |trace: &Trace, set: &str, check: &dyn Fn(&[&str])| {
        let base = ["run", "-q", "--device", "small", "--trace", trace.path(), "--format", "ssdsim", "--set", set];
        check(&base);
    };
    run(&late, "workload.time_scale=1.0", &|line| _ = done(line));
    run(&late, "workload.time_scale=1.5", &|line| _ = done(line));
    run(&end, "workload.loop=1", &|line| {
        refused(line, &["request 1 arrives at 18446744073.709551615 s", "9223372036.854775808 s", REMEDY]);
    });
    run(&late, "workload.time_scale=2", &|line| refused(line, &["request 1 arrives at 12000000000 s", REMEDY]));
    run(&late, "workload.loop=2", &|line| refused(line, &["request 2 arrives at ", REMEDY]));
    // If each request waits for the end of another, its arrival time does not matter.
    run(&end, "host.mode=closed", &|line| _ = done(line));
}

/// Three volumes with the same addresses.
const VOLUMES: &str = "128166372003061629,hm,0,Read,4096,4096,100\n128166372003062629,hm,1,Write,4096,4096,100\n\
                       128166372003063629,hm,7,Write,4096,4096,100\n";

#[test]
fn devices_that_share_addresses_are_noted() {
    let trace = Trace::new(VOLUMES);
    let note = "3 devices share one address space; choose one with --set workload.device=N";
    let remedy = "--set workload.layout=packed";
    for command in [&["run"][..], &["compare", "--schemes", "baseline,pgc"]] {
        let printed = done(&[command, &["-q", "--trace", trace.path()]].concat());
        assert!(printed.contains(&format!("Note: {note}")) && printed.contains(remedy), "{printed}");
        for set in ["workload.device=1", "workload.layout=packed", "workload.first=1"] {
            let printed = done(&[command, &["-q", "--trace", trace.path(), "--set", set]].concat());
            assert!(!printed.contains("share one address space"), "{set}: {printed}");
        }
    }
    // What is compiled in was packed when it was recorded.
    assert!(!done(&["run", "-q", "--requests", "500"]).contains("share one address space"));
}

#[test]
fn passes_are_noted_as_far_as_they_came() {
    let trace = Trace::new(VOLUMES);
    let run = |more: &[&str]| {
        let looped = ["run", "-q", "--trace", trace.path(), "--set", "workload.loop=4", "--set", "workload.device=1"];
        done(&[&looped[..], more].concat())
    };
    let all = run(&[]);
    let counted = "Note: 2 requests of other devices left out\n\
                   Note: played 4 times over; the notes before this one are of the last pass alone\n";
    assert!(all.contains(counted), "{all}");
    let some = run(&["--requests", "2"]);
    assert!(some.contains("Note: played 2 of 4 times over; the notes"), "{some}");
    let first = run(&["--requests", "1"]);
    assert!(!first.contains("played"), "{first}");
    let packed = Trace::new("128166372003061629,hm,0,Read,4096,4096,100\n");
    let alone = done(&["run", "-q", "--trace", packed.path(), "--set", "workload.loop=2"]);
    assert!(alone.contains("Note: played 2 times over\n"), "{alone}");
}

/// The device `small` as a file, with a closed loop as the device `bench-64g` has it.
fn closed_device(trace: &Trace) -> String {
    let path = trace.path.with_file_name("closed.toml");
    let text = output_text(&copyback(&["devices", "small"])) + "\n[host]\nmode = \"closed\"\nqueue_depth = 8\n";
    std::fs::write(&path, text).expect("the file can be written");
    path.to_str().expect("the path is text").to_owned()
}

#[test]
fn arrival_times_that_are_not_used_are_noted() {
    let trace = Trace::new("0 0 0 8 0\n1000 0 8 8 1\n");
    let closed = closed_device(&trace);
    let base = ["-q", "--trace", trace.path(), "--format", "ssdsim", "--device", &closed];
    for command in [&["run"][..], &["compare", "--schemes", "baseline,pgc"]] {
        let text = done(&[command, &base].concat());
        let note = "closed.toml): the workload's arrival times are not used; --open";
        assert!(text.contains(note) && text.matches("are not used").count() == 1, "{text}");
        // A user who sets the mode gets no note.
        for (mode, option) in [("host.mode=open", "--open"), ("host.mode=closed", "--closed")] {
            let printed = |more: &[&str]| {
                let text = done(&[command, &base, more].concat());
                assert!(!text.contains("are not used"), "{more:?}: {text}");
                let text = text.lines().filter(|line| !line.contains("Simulated in")).collect::<String>();
                // The next steps repeat what was typed.
                text.replace(&format!("--set {mode}"), option)
            };
            assert_eq!(printed(&["--set", mode]), printed(&[option]));
        }
        assert_ne!(done(&[command, &base, &["--open"]].concat()), done(&[command, &base, &["--closed"]].concat()));
    }
    let generated = ["run", "-q", "--device", &closed, "--workload", "random-write", "--requests", "100"];
    assert!(!done(&generated).contains("are not used"));
}

/// They are refused like generators' settings beside a trace.
#[test]
fn limits_of_the_other_loop_are_refused() {
    let trace = Trace::new("0 0 0 8 0\n1000 0 8 8 1\n");
    let closed = closed_device(&trace);
    let base = ["run", "-q", "--trace", trace.path(), "--format", "ssdsim"];
    let with = |more: &[&'static str]| [&base[..], more].concat();
    refused(&with(&["--set", "host.queue_depth=4"]), &["--set:1:18", "has no effect", "add --closed"]);
    done(&with(&["--set", "host.queue_depth=4", "--set", "host.mode=closed"]));
    done(&with(&["--set", "host.outstanding_max=4", "--set", "workload.time_scale=2"]));
    for set in ["host.outstanding_max=4", "workload.time_scale=2"] {
        let line = with(&["--set", set, "--set", "host.mode=closed"]);
        refused(&line, &[set, "has no effect", "closed: a request arrives when another ends", "add --open"]);
    }
    let timeless =
        ["compare", "-q", "--workload", "random-write", "--requests", "50", "--set", "workload.time_scale=2"];
    refused(&timeless, &["`workload.time_scale` has no effect", "the workload has no arrival times"]);
    // A device's own depth stays if the loop is open, and so do the settings of a printed configuration.
    done(&[&base[..], &["--device", &closed, "--set", "host.mode=open"]].concat());
    let whole = done(&[&base[..], &["--print-config"]].concat());
    assert!(whole.contains("queue_depth = 32") && whole.contains("outstanding_max = "), "{whole}");
    let path = trace.path.with_file_name("whole.toml");
    std::fs::write(&path, whole).expect("the file can be written");
    done(&["run", "-q", path.to_str().expect("the path is text")]);
}

/// Writes of 4 KiB over 400 MiB, one every `gap_ns`.
fn writes(requests: u64, gap_ns: u64) -> Trace {
    let scattered =
        |at: u64| (at + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let line = |at: u64| format!("{} 0 {} 8 0\n", at * gap_ns, (scattered(at) >> 32) % 100_000 * 8);
    Trace::new(&(0..requests).map(line).collect::<String>())
}

/// The note does not depend on write amplification, which may be steady while requests pile up.
#[test]
fn a_drive_that_cannot_keep_up_is_noted_with_what_helps() {
    let run = |trace: &Trace, more: &[&str]| {
        done(&[&["run", "-q", "--trace", trace.path(), "--format", "ssdsim"][..], more].concat())
    };
    let note = "cannot keep up under `baseline`";
    let fast = run(&writes(20_000, 20_000), &[]);
    assert!(fast.contains(note), "{fast}");
    assert!(fast.contains("--set workload.time_scale=") && !fast.contains("workload.loop"), "{fast}");
    // Twice as many requests, arriving more slowly: the run lasts less than twice as long as the arrivals, but requests
    // pile up.
    let piling = run(&writes(40_000, 60_000), &[]);
    assert!(
        piling.contains("overloaded: requests arrive faster than the drive serves them")
            && !piling.contains("steady by the rule")
            && piling.contains(note)
            && piling.contains("--set workload.time_scale=4"),
        "{piling}"
    );
    let scaled = run(&writes(20_000, 20_000), &["--set", "workload.time_scale=11"]);
    assert!(!scaled.contains("cannot keep up"), "{scaled}");
    let at_once = run(&writes(3_000, 0), &[]);
    assert!(at_once.contains(note) && at_once.contains("--set host.mode=closed"), "{at_once}");
    assert!(!at_once.contains("workload.loop") && !at_once.contains("workload.time_scale"), "{at_once}");
    let closed = run(&writes(3_000, 0), &["--set", "host.mode=closed"]);
    assert!(!closed.contains("cannot keep up"), "{closed}");
    assert!(!run(&writes(60, 0), &[]).contains("cannot keep up"), "a few requests at once are no load");
}

/// If collections reserve no die, they use at most as many dies as there are victims (`preemption.victims`).
#[test]
fn a_drive_whose_collections_leave_dies_idle_is_noted_with_more_of_them_side_by_side() {
    let run = |trace: &Trace, victims: u32| {
        let victims = format!("preemption.victims={victims}");
        let base =
            ["run", "-q", "--scheme", "strict", "--trace", trace.path(), "--format", "ssdsim", "--set", &victims];
        done(&base)
    };
    let fast = writes(6_000, 20_000);
    let few = run(&fast, 1);
    assert!(few.contains("cannot keep up under `strict`"), "{few}");
    let advice = "--set preemption.victims=4; or let requests arrive more slowly, --set workload.time_scale=";
    assert!(few.contains("Dies are idle for ") && few.contains(advice), "{few}");
    assert!(run(&fast, 12).contains("--set preemption.victims=16; or"), "no more victims than dies");
    assert!(!run(&fast, 16).contains("preemption.victims"), "each die has one");
    // Three bursts with a pause after each: the backlog does not grow over the run, but writes wait for seconds.
    let lines = std::fs::read_to_string(fast.path()).expect("the trace is there");
    let late = |line: &str, burst: u64| {
        let (time_ns, rest) = line.split_once(' ').expect("a time");
        format!("{} {rest}\n", time_ns.parse::<u64>().expect("a time") + burst * 8_000_000_000)
    };
    let bursts: String = (0..3).flat_map(|burst| lines.lines().map(move |line| late(line, burst))).collect();
    let bursts = Trace::new(&bursts);
    let few = run(&bursts, 1);
    assert!(few.contains(" and waited for collections under `strict`") && !few.contains("cannot keep up"), "{few}");
    assert!(few.contains("--set preemption.victims=4\n"), "{few}");
    assert!(!run(&bursts, 16).contains("preemption.victims"), "each die has one");
    // In a closed loop no request waits for long, but most of the wait is still for collections.
    let closed = |victims: &str| {
        let set = format!("preemption.victims={victims}");
        let base = ["run", "-q", "--scheme", "strict", "--trace", fast.path(), "--format", "ssdsim"];
        done(&[&base[..], &["--closed", "--set", "host.queue_depth=4", "--set", &set]].concat())
    };
    let few = closed("1");
    assert!(few.contains("ms and waited for collections") && few.contains("victims=4\n"), "{few}");
    assert!(!closed("16").contains("preemption.victims"), "each die has one");
}

/// The drive has space for its data, but not for their parity. Each size that the error advises is enough.
#[test]
fn a_drive_without_room_for_parity_is_refused_with_what_parity_takes() {
    let run = |sets: &[&str]| {
        let base = ["run", "-q", "--scheme", "rain", "--requests", "100"];
        let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
        copyback(&[&base[..], &sets].concat())
    };
    let help = "4/3 of the flash: set `capacity.logical` to \"600 MiB\" (at most \"736 MiB\"), or keep \"800 MiB\" and \
                set `geometry.blocks_per_plane` to 171 (at least 140)";
    let output = run(&[]);
    assert_eq!(code(&output), 2);
    assert!(error_text(&output).contains(help), "{}", error_text(&output));
    let whole = r#"capacity.logical="800 MiB""#;
    for (sets, is_enough) in [
        (&[r#"capacity.logical="600 MiB""#][..], true),
        (&[r#"capacity.logical="736 MiB""#], true),
        (&[r#"capacity.logical="744 MiB""#], false),
        (&[whole, "geometry.blocks_per_plane=171"], true),
        (&[whole, "geometry.blocks_per_plane=140"], true),
        (&[whole, "geometry.blocks_per_plane=139"], false),
    ] {
        let output = run(sets);
        assert_eq!(code(&output) == 0, is_enough, "{sets:?}: {}", error_text(&output));
    }
}

/// The user's settings cause it, and no defect of the simulator.
#[test]
fn a_run_whose_collection_is_never_let_in_says_so() {
    let base =
        ["run", "-q", "--scheme", "autossd-static", "--requests", "30000", "--set", "admit.shares.gc=0", "--set"];
    let output = copyback(&[&base[..], &["admit.guard=0"]].concat());
    let text = error_text(&output);
    assert_eq!(code(&output), 1, "{text}");
    for part in ["requests wait at ", "`admit.shares.gc = 0`", "`admit.guard = 0`", "--set admit.guard=1"] {
        assert!(text.contains(part), "{text}");
    }
    assert!(!text.contains("defect") && !text.contains("panicked"), "{text}");
    done(&[&base[..], &["admit.guard=1"]].concat());
}

/// Notes on differences between schemes other than their schedule.
#[test]
fn what_would_mislead_a_comparison_of_tasks_is_noted() {
    let compare = |more: &[&str]| done(&[&["compare", "-q", "--requests", "2000"][..], more].concat());
    let small = ["--schemes", "autossd,rain", "--set", r#"capacity.logical="560 MiB""#];
    let note = "a write completes in DRAM under `rain` and in flash under `autossd`";
    assert!(compare(&small).contains(note));
    let alike = [&small[..], &["--set", r#"frontier.fill_limit="1 ms""#]].concat();
    assert!(!compare(&alike).contains("completes in DRAM"));
    let shares = ["--schemes", "autossd-static", "--set", "admit.shares.gc=90", "--set", "admit.shares.scrub=20"];
    let note = "shares of all tasks together (`admit.shares`) reach 110 % of the slots";
    assert!(!compare(&shares).contains("shares of all tasks"), "scrubbing is off");
    assert!(compare(&[&shares[..], &["--set", "tasks.scrub.start=100000"]].concat()).contains(note));
}

/// Reads alone cause erases: none of them is a collection.
#[test]
fn erases_without_a_collection_are_noted() {
    let line = |at: u64| format!("{} 0 {} 8 1\n", at * 100_000, at % 16 * 8);
    let reads = Trace::new(&(0..4_000).map(line).collect::<String>());
    let trace = ["--trace", reads.path(), "--format", "ssdsim", "--set", "precondition.mode=sequential"];
    let base = [&["run", "-q", "--scheme", "strict"][..], &trace].concat();
    let scrub = ["tasks.scrub.start=200", "tasks.scrub.stop=150", "tasks.scrub.first_max=0"];
    let sets: Vec<&str> = scrub.iter().flat_map(|set| ["--set", set]).collect();
    let text = done(&[&base[..], &sets].concat());
    assert!(text.contains("Note: no collection in `strict`: scrubbing or wear levelling made all "), "{text}");
    let rows = [
        "\nTasks\n  scrubbed  ",
        "highest read count at the end ",
        "(begins above 200)",
        "of them by background tasks other than GC",
    ];
    rows.iter().for_each(|row| assert!(text.contains(row), "`{row}`: {text}"));
    assert!(text.lines().any(|line| line.starts_with("  page reads ") && line.contains(", GC 0, other ")), "{text}");
    assert!(!done(&base).contains("\nTasks\n"), "no task is on, and nobody knows shares");
    let shares = done(&["run", "-q", "--scheme", "autossd-static", "--requests", "30000"]);
    let share = shares.lines().find(|line| line.starts_with("  share of GC  ")).expect("a row");
    assert!(share.contains("mean 20.0 % of the slots, highest 20.0 %; at work for "), "{share}");
}

/// Cells of the first line that begins with this.
fn cells(text: &str, name: &str) -> Vec<String> {
    let line = text.lines().find(|line| line.trim_start().starts_with(name)).unwrap_or_default();
    line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect()
}

/// Of 500 requests, half a one is beyond the 99.9th percentile: a table that showed it would show their maximum.
#[test]
fn percentiles_of_too_few_requests_are_not_shown() {
    let trace = writes(500, 100_000);
    let base = ["-q", "--trace", trace.path(), "--format", "ssdsim"];
    let run = done(&[&["run"], &base[..]].concat());
    // The table is split without a terminal: the name precedes each part.
    let (near, far) = run.split_once("Response times").and_then(|(_, times)| times.split_once("\n\n")).expect("two");
    let (near, far) = (cells(near, "all"), cells(far, "all"));
    let all = [&near[..], &far[1..]].concat();
    assert_eq!(all.len(), 11, "{run}");
    assert!(all[5] != "-" && all[6..10].iter().all(|cell| cell == "-") && all[10] != "-", "{all:?}");
    let comparison = done(&[&["compare", "--schemes", "baseline,pgc"], &base[..]].concat());
    let (reads, writes) = comparison.split_once("\n\n").and_then(|(_, rest)| rest.split_once("\n\n")).expect("tables");
    let (reads, writes) = (cells(reads, "baseline"), cells(writes, "baseline"));
    assert_eq!(reads[1..5], ["no reads"; 4], "{comparison}");
    assert!(writes[1..3].iter().all(|cell| cell != "-") && writes[3..5].iter().all(|cell| cell == "-"), "{comparison}");
    let json = done(&[&["run", "--json", "-"], &base[..]].concat());
    let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    let write = &json["results"][0]["report"]["response"]["write"];
    assert!(write["p99_99_ns"].as_u64() > Some(0), "the JSON has what it had: {write}");
}

#[test]
fn too_few_generated_requests_are_noted() {
    let run = |requests| {
        let few = ["--set", "workload.requests=300", "--requests", requests, "--warmup", "0", "--quiet"];
        done(&[&["run", "--device", "small", "--workload", "random-read"], &few[..]].concat())
    };
    let note = "the workload generates 300 requests, but 500 are requested; set `workload.requests` for more";
    assert!(run("500").contains(note), "{}", run("500"));
    assert!(!run("300").contains("the workload generates"));
}

/// Writes of 4 KiB on a drive that maps 16 KiB, on one that maps 4 KiB, and on one with pages that writes fill. Writes
/// of a whole unit are noted if they are not aligned.
#[test]
fn writes_smaller_than_units_or_pages_are_noted() {
    let run = |sets: &[&str]| {
        let base = ["run", "-q", "--workload", "random-write", "--requests", "3000"];
        done(&[&base[..], &sets.iter().flat_map(|set| ["--set", set]).collect::<Vec<_>>()].concat())
    };
    let units = "Note: writes bring 4.00 KiB on average, and rewrite whole mapping units of 16.0 KiB: 4.0 times";
    let padding = "Note: pages of `baseline` are padded, up to ";
    let text = run(&[]);
    assert!(text.contains(units) && !text.contains(padding), "{text}");
    let whole = |align| format!("workload.align={align}");
    let [aligned, unaligned] = ["16KiB", "4KiB"].map(|align| run(&["workload.size.mean=16KiB", &whole(align)]));
    assert!(
        unaligned
            .contains("Note: writes bring 16.0 KiB on average, and rewrite whole mapping units of 16.0 KiB: 1.8 times"),
        "{unaligned}"
    );
    assert!(!aligned.contains("rewrite whole mapping units"), "{aligned}");
    let text = run(&["geometry.mapping_unit=4 KiB"]);
    assert!(!text.contains(units) && text.contains(padding), "{text}");
    assert!(text.contains("or a buffer that fills pages (`buffer.policy = \"lru\"`) makes them wait"), "{text}");
    let text = run(&["geometry.mapping_unit=4 KiB", "frontier.fill_limit=100 ms"]);
    assert!(!text.contains(units) && !text.contains(padding), "{text}");
    let text = run(&["geometry.mapping_unit=4 KiB", "buffer.policy=lru"]);
    assert!(!text.contains(units) && !text.contains(padding), "{text}");
}

/// A setting that `baseline` does not look at, and what makes a run look at it: options, and further settings.
const UNUSED_SETTINGS: &[(&str, &[&str], &[&str])] = &[
    ("trigger.report=0.5", &["--array", "raid-0"], &["coordination.policy=ggc-reactive-inclusive"]),
    ("trigger.last_resort=1", &["--array", "raid-0"], &["coordination.policy=ggc-reactive-inclusive"]),
    ("compose.gc_scan_max=7", &[], &["compose.gc=['gc+host']"]),
    ("compose.gc_scan=1 us", &[], &["compose.gc=['gc+host']"]),
    ("timing.cache_busy=3 us", &[], &["compose.builders=['cache']"]),
];

/// Settings that a run does not use, each with its place and the reason; a printed configuration, which sets all keys,
/// has none.
#[test]
fn settings_without_effect_are_noted() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let small = output_text(&copyback(&["devices", "small"]));
    std::fs::write(path("own.toml"), format!("{small}\n[order]\npolicy = \"fifo\"\n")).unwrap();
    std::fs::write(path("loop.toml"), "workload = \"random-write\"\n[host]\nmode = \"closed\"\noutstanding_max = 5\n")
        .unwrap();
    let run = |more: &[&str]| done(&[&["run", "-q", "--requests", "1000"][..], more].concat());
    let own = path("own.toml");
    let text = run(&["--device", &own]);
    let note = format!("Note (baseline): `[order]` of {own} (`fifo`) has no effect: the scheme overrides the device");
    assert!(text.contains(&note), "{text}");
    assert!(!run(&["--device", &own, "--set", "order.policy=fifo"]).contains("`[order]`"));
    let hard = "Note (baseline): `trigger.hard` (--set) has no effect: below it the host no longer preempts";
    assert!(run(&["--set", "trigger.hard=0.1"]).contains(hard));
    assert!(!run(&["--set", "trigger.hard=0.1", "--scheme", "pgc"]).contains("`trigger.hard`"));
    for (setting, over, used) in UNUSED_SETTINGS {
        let key = setting.split_once('=').expect("a key and a value").0;
        let note = format!("Note (baseline): `{key}` (--set) has no effect: ");
        assert!(run(&["--set", setting]).contains(&note), "{setting}");
        let sets: Vec<&str> = used.iter().flat_map(|set| ["--set", set]).chain(["--set", setting]).collect();
        let text = run(&[&["--device", "small"], *over, &sets[..]].concat());
        assert!(!text.contains("has no effect"), "{setting}: {text}");
    }
    // A preset's own key is noted if the user's policy has no such key. Without a policy of the user, it gets no note.
    let nvme = ["-d", "tlc-nvme", "--set", "geometry.blocks_per_plane=100", "--set", "precondition.mode=empty"];
    let row = ["--set", "frontier.policy=row", "--set", "granularity.policy=aligned"];
    let text = run(&[&nvme[..], &row].concat());
    assert!(
        text.contains("`frontier.fill_limit = \"100 ms\"` (device tlc-nvme) has no effect: it belongs to"),
        "{text}"
    );
    assert!(!run(&nvme).contains("fill_limit"));
    let text = run(&[&path("loop.toml")]);
    assert!(text.contains("loop.toml) has no effect, for the host's loop is closed: a request arrives when"), "{text}");
    std::fs::write(path("printed.toml"), output_text(&copyback(&["run", "--print-config"]))).unwrap();
    assert!(!run(&[&path("printed.toml")]).contains("has no effect"));
}

/// 6 blocks of a plane are few blocks of a drive. A note comes if compared schemes count a watermark in different
/// scopes, and if a watermark counts fewer blocks than the drive has planes.
#[test]
fn counts_of_blocks_in_another_scope_are_noted() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("my.toml");
    let my = file.to_str().unwrap();
    let load = "device = \"small\"\nworkload = \"random-write\"\nrequests = 200\nprecondition.mode = \"empty\"\n";
    std::fs::write(&file, format!("{load}[trigger]\nsoft = 6\n")).unwrap();
    let noted = |more: &[&str]| {
        let text = done(more);
        text.lines().filter(|line| line.contains("blocks of the drive")).map(str::to_owned).collect::<Vec<_>>()
    };
    // A drive of 32 planes of 128 blocks.
    let compared = |more: &[&str]| noted(&[&["compare", my, "--schemes", "baseline,autossd"][..], more].concat());
    let different = |count: &str| {
        format!(
            "Note: `trigger.{count}` counts blocks of a plane under `baseline`, and blocks of the drive under \
             `autossd`; set a share, which suits all of them"
        )
    };
    let few = |of: &str| {
        format!(
            "Note{of}: `trigger.soft = 6` counts blocks of the drive, which has 32 planes: writes wait for space before \
             collection starts; for 6 blocks of each plane, set the share 0.0468"
        )
    };
    assert_eq!(compared(&[]), [few(" (autossd)"), different("soft = 6")]);
    assert_eq!(compared(&["--set", "trigger.stop=16"])[1..], [different("soft = 6"), different("stop = 16")]);
    let own_watermarks = ["trigger.soft=0.0468", "trigger.scope=plane", "autossd:trigger.soft=200"];
    for set in own_watermarks {
        assert_eq!(compared(&["--set", set]), [""; 0], "{set}");
    }
    assert_eq!(noted(&["run", "-q", my, "--scheme", "autossd"]), [few("")]);
    // Log blocks are merged, and have no watermark.
    let scopes = ["compare", my, "--schemes", "baseline,wide=baseline", "--set", "wide:trigger.scope=device"];
    assert_eq!(noted(&scopes).len(), 2);
    assert_eq!(noted(&[&scopes[..], &["--set", "mapping.policy=fast"]].concat()), [""; 0]);
    let of_one_scope = ["compare", my, "--schemes", "autossd,qosfc", "--set", "trigger.soft=200"];
    assert_eq!(noted(&of_one_scope), [""; 0]);
}

/// A workload's own limit that it never reaches is noted; the host's default is no setting of the user.
#[test]
fn a_queue_depth_that_is_never_reached_is_noted() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("two.toml");
    let load = "read_share = 1.0\nrequests = 40\nmode = \"closed\"\nsize = { kind = \"fixed\", mean = \"4 KiB\" }\n";
    let noted = |depth: &str| {
        let text = format!("device = \"small\"\n[workloads.a]\n{load}{depth}\n[workloads.b]\n{load}");
        std::fs::write(&file, text).unwrap();
        let ran = copyback(&["run", file.to_str().unwrap(), "--quiet"]);
        assert_eq!(code(&ran), 0, "{}", error_text(&ran));
        output_text(&ran).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let note = "`workloads.a.queue_depth` has no effect: the largest number of its outstanding requests was ";
    let of_more = noted("queue_depth = 64");
    assert!(of_more.contains(&format!("workload `a`: {note}40")) && !of_more.contains("workload `b`: `"), "{of_more}");
    for reached in ["queue_depth = 40", "queue_depth = 8", ""] {
        assert!(!noted(reached).contains(note), "{reached}: {}", noted(reached));
    }
}

/// A comparison on another drive, array or load is one of more than schemes, and the remedy of an overload is for the
/// scheme that has it.
#[test]
fn a_comparison_of_different_runs_says_so() {
    let compare = |set: &str| {
        let words = ["compare", "-q", "--schemes", "baseline,b=baseline", "--requests", "3000", "--warmup", "0"];
        let output = copyback(&[&words[..], &["--set", set]].concat());
        output_text(&output) + &error_text(&output)
    };
    for (set, what) in [
        ("b:timing.erase=5 ms", "a different drive than `baseline`"),
        ("b:array.partial=reconstruct", "a different array than `baseline`"),
        ("b:workload.time_scale=0.5", "a different load than `baseline`"),
    ] {
        let text = compare(set);
        assert!(text.contains(what), "{set}: {text}");
    }
    let text = compare("b:workload.time_scale=0.5");
    assert!(text.contains("--set b:workload.time_scale=2"), "{text}");
}
