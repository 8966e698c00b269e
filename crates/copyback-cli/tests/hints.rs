//! What the program says of inputs and settings that would mislead: refusals with a remedy, and notes.

mod common;

use common::*;
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

/// A command with a mistake: it ends with 2 and says all of these.
fn refused(arguments: &[&str], says: &[&str]) {
    let output = copyback(arguments);
    let text = said(&output);
    assert_eq!(code(&output), 2, "{arguments:?}: {text}");
    for part in says {
        assert!(text.contains(part), "{arguments:?} does not say `{part}`: {text}");
    }
}

/// What a command prints that goes well.
fn done(arguments: &[&str]) -> String {
    let output = copyback(arguments);
    assert_eq!(code(&output), 0, "{arguments:?}: {}", said(&output));
    printed(&output)
}

const REMEDY: &str = "lower `workload.time_scale`";

/// Times of ends wrapped around and broke the order of events.
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
        refused(line, &["request 1 arrives at 18446744073709551615 ns", "9223372036854775808 ns", REMEDY]);
    });
    run(&late, "workload.time_scale=2", &|line| {
        refused(line, &["request 1 arrives at 12000000000000000000 ns", REMEDY])
    });
    run(&late, "workload.loop=2", &|line| refused(line, &["request 2 arrives at ", REMEDY]));
    // Where each request waits for another's end, nobody asks when it arrives.
    run(&end, "host.mode=closed", &|line| _ = done(line));
}

/// Three volumes whose addresses are the same.
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
