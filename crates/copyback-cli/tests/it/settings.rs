//! Does a setting without effect say so, and does an error name what a key belongs to?

use crate::common::*;

fn done(arguments: &[&str]) -> String {
    let output = copyback(arguments);
    assert_eq!(code(&output), 0, "{arguments:?}: {}", error_text(&output));
    output_text(&output)
}

fn refused(arguments: &[&str], says: &[&str]) {
    let output = copyback(arguments);
    let text = error_text(&output);
    assert_eq!(code(&output), 2, "{arguments:?}: {text}");
    for part in says {
        assert!(text.contains(part), "{arguments:?} does not say `{part}`: {text}");
    }
}

/// Settings without effect under policies other than baseline's: the notes on them are in the results, too.
#[test]
fn settings_without_effect_are_in_the_results() {
    let folder = tempfile::tempdir().unwrap();
    let fast = &["mapping.policy=fast", "precondition.mode=sequential"][..];
    let debit = &["admit.policy=debit", "admit.shares.policy=fixed", "preemption.policy=always"][..];
    let rows: &[(&[&str], &[&str], &str)] = &[
        (fast, &[], "trigger.soft=0.2"),
        (fast, &[], "trigger.stop=0.2"),
        (&[], &["--array", "raid-0"], "array.partial=reconstruct"),
        (&[], &["--array", "raid-0"], "array.write_after=own"),
        (&[], &["--array", "raid-1"], "array.write_after=own"),
        (&["admit.policy=qosfc", "preemption.policy=always"], &[], "admit.wear=3.0"),
        (debit, &[], "admit.shares.wear=3.0"),
        (debit, &[], "admit.shares.scrub=3.0"),
        (&["preemption.policy=points", "trigger.hard=0"], &[], "preemption.at_hard=all"),
    ];
    for (sets, options, setting) in rows {
        let key = setting.split('=').next().unwrap();
        let all: Vec<&str> = sets.iter().chain([setting]).flat_map(|set| ["--set", *set]).collect();
        let json = done(&[&["run", "-q", "--requests", "100", "--json", "-"][..], options, &all].concat());
        let document: serde_json::Value = serde_json::from_str(&json).unwrap();
        let notes = document["results"][0]["notes"].as_array().unwrap();
        let note = format!("`{key}` (--set) has no effect: ");
        assert!(notes.iter().any(|said| said.as_str().unwrap().starts_with(&note)), "{setting}: {notes:?}");
    }
    let path = folder.path().join("trace.csv");
    std::fs::write(&path, "arrival_us,op,offset_bytes,length_bytes\n0,W,0,4096\n").unwrap();
    let trace = ["run", "-q", "--set", "precondition.mode=empty", "--trace", path.to_str().unwrap()];
    let text = done(&[&trace[..], &["--set", "workload.event=Q", "--set", "workload.zero_means=write"]].concat());
    for key in ["event", "zero_means"] {
        assert!(text.contains(&format!("Note: `workload.{key}` has no effect: a trace of the format `csv`")), "{text}");
    }
}

/// Limits that a run does not reach. A job of fio gets no such notes: it becomes keys that its user did not write.
#[test]
fn limits_that_a_run_does_not_reach_are_in_the_results() {
    let notes = |words: &[&str]| {
        let json = done(&[&["run", "-q", "--set", "precondition.mode=empty", "--json", "-"], words].concat());
        let document: serde_json::Value = serde_json::from_str(&json).unwrap();
        document["results"][0]["notes"].to_string()
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("two.toml");
    std::fs::write(
        &path,
        "[workloads.a]\nrequests = 20\nread_share = 0.0\nsize = { kind = \"fixed\", mean = \"4 KiB\" }\n\
          share = 0.5\nstop = \"1 h\"\npasses = 2\n\
          [workloads.b]\nrequests = 20\nread_share = 0.0\nsize = { kind = \"fixed\", mean = \"4 KiB\" }\nshare = 0.5\n",
    )
    .unwrap();
    let found = notes(&[path.to_str().unwrap()]);
    for key in ["stop", "passes"] {
        let note = format!("workload `a`: `workloads.a.{key}` has no effect: its requests ended before");
        assert!(found.contains(&note) && !found.contains("workload `b`"), "{key}: {found}");
    }
    let fio = notes(&["--fio-args", "--name=a --rw=randwrite --bs=4k --size=64k --runtime=100"]);
    assert!(!fio.contains("has no effect"), "{fio}");
    let limits = notes(&["--workload", "random-write", "--requests", "9", "--closed", "--set", "host.queue_depth=10"]);
    assert!(limits.contains("`host.queue_depth` has no effect: the largest number"), "{limits}");
}

/// Each of several workloads may have a loop of its own, like each job of fio.
#[test]
fn the_hosts_loop_is_noted_if_each_workload_has_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let notes = |words: &[&str]| {
        let json = done(&[&["run", "-q", "--json", "-"], words].concat());
        let document: serde_json::Value = serde_json::from_str(&json).unwrap();
        let notes = document["results"][0]["notes"].as_array().unwrap().clone();
        notes.iter().map(|note| note.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let says = |notes: &[String], key: &str| {
        let places = ["--set", "--open", "--closed"];
        let is_said =
            |place: &&str| notes.iter().any(|note| note.starts_with(&format!("`{key}` ({place}) has no effect")));
        places.iter().any(is_said)
    };
    let depth = ["--set", "host.queue_depth=4"];
    let fio = ["--fio-args", "--name=a --rw=randread --bs=4k --size=1m"];
    let closed = notes(&[&fio[..], &["--closed"], &depth].concat());
    assert!(says(&closed, "host.mode") && says(&closed, "host.queue_depth"), "{closed:?}");
    assert!(!notes(&fio).iter().any(|note| note.contains("host.")), "nothing is set");
    // The default, too, if the user asks for it; in fio's words, and under the option that was typed.
    let expected = "`host.mode` (--open) has no effect: each job determines when its requests begin (`rate`)";
    let open = notes(&[&fio[..], &["--open"]].concat());
    assert!(open.iter().any(|note| note == expected), "{open:?}");
    let open = notes(&[&fio[..], &["--set", "host.mode=open", "--set", "host.queue_depth=32"]].concat());
    assert!(says(&open, "host.mode") && says(&open, "host.queue_depth"), "{open:?}");
    // Of these, `a` takes the host's loop, and `b` its queue depth.
    let file = folder.path().join("two.toml").to_str().unwrap().to_owned();
    let common = "requests = 20\nread_share = 0.5\nsize = { kind = \"fixed\", mean = \"4 KiB\" }\n";
    let arrivals = "arrivals = { kind = \"poisson\", rate = 900.0 }\n";
    let text = |a: &str, b: &str| format!("[workloads.a]\n{common}{arrivals}{a}[workloads.b]\n{common}{b}");
    for (a, b, is_mode_noted, is_depth_noted) in [
        ("", "", false, false),
        ("mode = \"open\"\n", "", true, false),
        ("mode = \"paced\"\nqueue_depth = 2\n", "queue_depth = 3\n", true, true),
        ("mode = \"open\"\n", "queue_depth = 3\n", true, true),
    ] {
        std::fs::write(&file, text(a, b)).unwrap();
        let notes = notes(&[&["-w", &file, "--closed"][..], &depth].concat());
        let is = (says(&notes, "host.mode"), says(&notes, "host.queue_depth"));
        assert_eq!(is, (is_mode_noted, is_depth_noted), "{a}, {b}: {notes:?}");
    }
}

/// Messages name the option that the user typed, not the setting that it changes.
#[test]
fn the_options_of_the_hosts_loop_are_named() {
    let ran = copyback(&["run", "-w", "mixed-70-30", "--open"]);
    let text = error_text(&ran);
    assert_eq!(code(&ran), 2, "{text}");
    assert!(text.contains("an open loop needs arrival times") && text.contains("--> --open:1:1"), "{text}");
    assert!(!text.contains("--set"), "{text}");
}

/// A workload that only `--set` mentions is a mistyped name, if another one has a similar name.
#[test]
fn a_mistyped_workload_is_corrected() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("one.toml").to_str().unwrap().to_owned();
    let table = "requests = 20\nread_share = 0.5\nsize = { kind = \"fixed\", mean = \"4 KiB\" }\n";
    std::fs::write(&file, format!("[workloads.background]\n{table}[workloads.big]\n{table}")).unwrap();
    for (set, says) in [
        ("workloads.backgroud.share=1", "help: did you mean `background`?"),
        ("workloads.backgroud.requests=5", "help: did you mean `background`?"),
        ("workloads.other.share=1", "help: set `trace = "),
    ] {
        let ran = copyback(&["run", "-w", &file, "--set", set]);
        let text = error_text(&ran);
        assert!(code(&ran) == 2 && text.contains(says), "{set}: {text}");
    }
    // Its value is wrong, not its name.
    let text = error_text(&copyback(&["run", "-w", &file, "--set", "workloads.big.read_share=7"]));
    assert!(text.contains("workloads.big.read_share") && !text.contains("`background`"), "{text}");
}

/// A key of a policy that a later layer replaces.
#[test]
fn keys_of_a_replaced_policy_are_noted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("own.toml").to_str().unwrap().to_owned();
    let small = output_text(&copyback(&["devices", "small"]));
    let run = |keys: &str, set: &str| {
        std::fs::write(&path, format!("{small}\n[frontier]\npolicy = \"single\"\n{keys}\n")).unwrap();
        done(&["run", "-q", "--requests", "100", "--device", &path, "--set", set])
    };
    let text = run("fill_limit = \"1 ms\"", "frontier.policy=second-active");
    let note = format!(
        "Note (baseline): `frontier.fill_limit = \"1 ms\"` ({path}) has no effect: it belongs to \
         `frontier.policy = \"single\"`, and --set chooses \"second-active\""
    );
    assert!(text.contains(&note), "{text}");
    assert!(!run("fill_limit = \"1 ms\"", "frontier.policy=single").contains("belongs to"));
    assert!(!run("", "frontier.policy=second-active").contains("belongs to"));
}

/// A key of another policy is refused with the policies that have it.
#[test]
fn a_key_of_another_policy_names_its_policies() {
    for (table, policy, key, has) in [
        ("frontier", "row", "fill_limit", "\"single\", \"split\""),
        ("victim", "greedy", "window", "\"windowed"),
        ("precondition", "empty", "overwrites", "\"random\""),
        ("admit.shares", "fixed", "gc_p", "\"feedback\""),
    ] {
        let tag = if table == "precondition" { "mode" } else { "policy" };
        let sets = [format!("{table}.{tag}={policy}"), format!("{table}.{key}=1")];
        let mut words = vec!["run"];
        if table == "admit.shares" {
            words.extend(["--set", "admit.policy=debit"]);
        }
        words.extend(sets.iter().flat_map(|set| ["--set", set.as_str()]));
        let unknown = format!("unknown key `{key}` in `[{table}]`, whose `{tag}` is \"{policy}\"");
        refused(&words, &[&unknown, &format!("a choice that has this key: {has}"), "--set:1:"]);
    }
}

/// A count of blocks beside a share of `trigger.soft`.
#[test]
fn the_hard_watermark_is_a_share_or_a_count() {
    let run = |hard: &str| copyback(&["run", "-S", "pgc", "--print-config", "--set", "trigger.soft=10", "--set", hard]);
    for (set, printed_as) in [("trigger.hard=3", "hard = 3\n"), ("trigger.hard=0.3", "hard = 0.3\n")] {
        let output = run(set);
        assert_eq!(code(&output), 0, "{}", error_text(&output));
        assert!(output_text(&output).contains(printed_as), "{}", output_text(&output));
    }
    let words = |hard: &'static str| ["run", "-S", "pgc", "--set", "trigger.soft=10", "--set", hard];
    refused(
        &words("trigger.hard=11"),
        &["11 blocks are more than the 10 of `trigger.soft`", "a number of blocks up to 10"],
    );
    refused(&words("trigger.hard=1.5"), &["1.5 is no share of `trigger.soft`", "a share from 0.0 to 1.0"]);
}

/// Keys that the notes of a run call without effect.
fn without_effect(words: &[&str]) -> Vec<String> {
    let json = done(&[&["run", "-q", "--json", "-", "--set", "precondition.mode=empty"], words].concat());
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    let notes = document["results"][0]["notes"].as_array().unwrap().clone();
    let key = |note: &serde_json::Value| {
        let (key, _) = note.as_str().unwrap().split_once(" has no effect")?;
        Some(key.trim_start_matches('`').split('`').next().unwrap().to_owned())
    };
    notes.iter().filter_map(key).collect()
}

/// Whether a setting has an effect depends on the run: on its limit of requests, its requests and its policies.
#[test]
fn settings_that_a_run_does_not_come_to_are_noted() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let load = "[workload]\nrequests = 300\nread_share = 0.5\nsize = { kind = 'fixed', mean = '4 KiB' }\n";
    let (load, reads) = (path("w.toml", load), path("r.toml", &load.replace("0.5", "1.0")));
    let trace = path("t.csv", "arrival_us,op,offset_bytes,length_bytes\n0,W,0,4096\n50,R,0,4096\n");
    let array =
        |more: &str| format!("[array]\nlevel = 'raid-0'\ndrives = 2\n[[array.override]]\ndrives = [0]\n{more}\n");
    let alone = path("a.toml", &array("coordinated = false"));
    let (load, reads, trace, alone) =
        (&["-w", &load][..], &["-w", &reads][..], &["--trace", &trace][..], &["-a", &alone][..]);
    let buffer = &["--set", "buffer.policy=lru", "--set", "buffer.latency=5 us"][..];
    let rows: &[(&[&[&str]], &[&str])] = &[
        (&[load, &["--set", "workload.loop=3", "--requests", "200"]], &["workload.loop"]),
        (&[load, &["--set", "workload.loop=3", "--requests", "300"]], &["workload.loop"]),
        (&[load, &["--set", "workload.loop=3", "--requests", "301"]], &[]),
        (&[load, &["--set", "workload.first=250", "--requests", "200"]], &["workload.first"]),
        (&[load, &["--set", "workload.first=200", "--requests", "200"]], &["workload.first"]),
        (&[load, &["--set", "workload.first=200", "--requests", "201"]], &[]),
        // Half of the second pass is played, and the first pass ended at `workload.first`.
        (&[load, &["--set", "workload.first=100", "--set", "workload.loop=3", "--requests", "150"]], &[]),
        (&[load, &["--set", "workload.repeat_after=100 MiB"]], &["workload.repeat_after"]),
        (&[load, &["--set", "workload.repeat_after=64 KiB"]], &[]),
        (&[trace, &["--set", "workload.operations.X=read"]], &["workload.operations.X"]),
        (&[trace, &["--set", "workload.operations.W=write"]], &["workload.operations.W"]),
        (&[trace, &["--set", "workload.operations.W=trim"]], &[]),
        (&[reads, buffer], &["buffer.latency"]),
        (&[load, buffer], &[]),
        (&[load, alone], &["array.override.coordinated"]),
        (&[load, alone, &["-S", "ggc-reactive-inclusive"]], &[]),
        (&[load, &["-S", "ideal-no-gc", "--set", "granularity.destination=global"]], &["granularity.destination"]),
        (&[load, &["-S", "baseline", "--set", "granularity.destination=global"]], &[]),
    ];
    for (words, expected) in rows {
        assert_eq!(without_effect(&words.concat()), *expected, "{words:?}");
    }
}

const IDEAL: &[&str] = &["preemption.policy=ideal"];
const IDEAL_AND_WEAR: &[&str] = &["preemption.policy=ideal", "tasks.wear.threshold=2"];
const COPYBACK: &str = "commands.copyback=true";
const SUSPENDING: &[&str] = &["preemption.policy=suspend", "commands.suspend.latency=20 us"];

/// Settings of tasks that are off, of requests that collections do not make, and of overwrites that are counted.
#[test]
fn settings_of_what_a_run_lacks_are_noted() {
    let rows: &[(&str, &[&str], &[&str])] = &[
        ("tasks.delays.gc=['5 us', '5 us']", &[], &["tasks.delays.gc"]),
        ("tasks.delays.gc=['5 us', '5 us']", &["preemption.policy=always"], &[]),
        ("tasks.delays.scrub=['5 us', '5 us']", &[], &["tasks.delays.scrub"]),
        ("tasks.delays.wear=['5 us', '5 us']", &[], &["tasks.delays.wear"]),
        ("precondition.steady=0.2", &["precondition.mode=random"], &[]),
        (
            "precondition.steady=0.2",
            &["precondition.mode=random", "precondition.overwrites=1"],
            &["precondition.steady"],
        ),
        (
            "precondition.footprint=0.5",
            &["precondition.mode=random", "precondition.overwrites=0"],
            &["precondition.footprint"],
        ),
        // Relocations of tasks take time and use commands, also if collections do not.
        ("order.first=read-write-gc", IDEAL, &["order.first"]),
        ("order.first=read-write-gc", IDEAL_AND_WEAR, &[]),
        ("order.next_collection=after-waiting", IDEAL, &["order.next_collection"]),
        ("order.next_collection=after-waiting", IDEAL_AND_WEAR, &[]),
        ("granularity.copyback=true", &["preemption.policy=ideal", COPYBACK], &["granularity.copyback"]),
        ("granularity.copyback=true", &["preemption.policy=ideal", "tasks.wear.threshold=2", COPYBACK], &[]),
        (
            "granularity.copyback=true",
            &["preemption.policy=ideal", "tasks.delays.mode=serial", COPYBACK],
            &["granularity.copyback"],
        ),
        ("granularity.destination=global", IDEAL_AND_WEAR, &["granularity.destination"]),
        ("granularity.pairs=invalid-pages", &["granularity.policy=paired"], &[]),
        (
            "granularity.pairs=invalid-pages",
            &["granularity.policy=paired", "preemption.policy=ideal"],
            &["granularity.pairs"],
        ),
        (
            "granularity.partner=own-greedy",
            &["granularity.policy=paired", "geometry.planes_per_die=1"],
            &["granularity.partner"],
        ),
        (
            "granularity.partner=own-greedy",
            &["granularity.policy=paired", "commands.multi_plane=false", "compose.builders=[]"],
            &["granularity.partner"],
        ),
        ("preemption.min_left=2 ms", SUSPENDING, &[]),
        ("preemption.min_left=3 s", SUSPENDING, &["commands.suspend.latency", "preemption.min_left"]),
    ];
    for (set, others, expected) in rows {
        let mut words = vec!["-w", "mixed-70-30", "--requests", "100", "--set", set];
        words.extend(others.iter().flat_map(|other| ["--set", other]));
        assert_eq!(without_effect(&words), *expected, "{set} {others:?}");
    }
}

/// A file whose name begins as presets are shown is the user's all the same.
#[test]
fn files_named_like_presets_have_their_notes() {
    let folder = tempfile::tempdir().unwrap();
    let device = "geometry = { channels = 2, chips_per_channel = 1, dies_per_chip = 1, planes_per_die = 1, \
                  blocks_per_plane = 24, pages_per_block = 8, page_size = \"16 KiB\" }\n\
                  timing = { read = \"60 us\", program = \"400 us\", erase = \"2.5 ms\", channel = \"800 MB/s\" }\n\
                  capacity = { over_provisioning = 0.5 }\npreemption = { policy = \"none\" }\n";
    for name in ["d.toml", "device d.toml", "device small"] {
        let path = folder.path().join(name);
        std::fs::write(&path, device).unwrap();
        let words = ["run", "-q", "--json", "-", "--requests", "100", "-S", "pgc", "-w", "mixed-70-30", "-d", name];
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_copyback"));
        let output = program.args(words).current_dir(folder.path()).output().expect("the program starts");
        assert_eq!(code(&output), 0, "{}", error_text(&output));
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let notes = document["results"][0]["notes"].to_string();
        assert!(notes.contains("`[preemption]` of") && notes.contains("has no effect"), "{name}: {notes}");
    }
}

/// A preset's own settings are no mistake of its user.
#[test]
fn settings_of_presets_are_not_noted() {
    // The preset `oltp` plays its trace twice; its `loop` has no effect on 100 requests, and gets no note.
    assert!(without_effect(&["-w", "oltp", "--requests", "100"]).is_empty());
    let preset = ["-d", "ispass11", "-w", "mixed-70-30", "--requests", "100"];
    assert!(without_effect(&preset).is_empty());
    let set = ["--set", "host.subpage_writes=overwrite"];
    assert_eq!(without_effect(&[&preset[..], &set].concat()), ["host.subpage_writes"]);
}

/// The notes of a run.
fn notes(words: &[&str]) -> String {
    let output = copyback(&[&["run", "-q", "--requests", "50", "-w", "mixed-70-30"][..], words].concat());
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    output_text(&output)
}

/// The later of two settings of one key replaces the earlier one: a note names both. A sweep and `trace` refuse them.
#[test]
fn a_key_that_is_set_twice_is_noted() {
    let twice = |sets: [&str; 2]| notes(&["--set", sets[0], "--set", sets[1]]);
    for (sets, key) in [
        (["trigger.soft=3", "trigger.soft=5"], "trigger.soft"),
        (["workload.arrivals={kind=\"poisson\",rate=5}", "workload.arrivals.rate=6"], "workload.arrivals.rate"),
        (["baseline:trigger.soft=3", "baseline:trigger.soft=5"], "baseline:trigger.soft"),
    ] {
        let expected = format!("`{key}` is set twice: `--set {}` replaces `--set {}`", sets[1], sets[0]);
        assert!(twice(sets).contains(&expected), "{}", twice(sets));
    }
    let both = notes(&["--closed", "--set", "host.mode=open"]);
    let expected = "`host.mode` is set twice: `--closed` replaces `--set host.mode=open`";
    assert!(both.contains(expected), "{both}");
    assert!(!twice(["trigger.soft=5", "trigger.hard=3"]).contains("set twice"));
    assert!(!twice(["trigger.soft=3", "baseline:trigger.soft=5"]).contains("set twice"));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.toml");
    std::fs::write(&file, "schemes = [\"baseline\"]\nworkload = \"mixed-70-30\"\nrequests = 9\n").unwrap();
    let sets = ["--set", "workload.requests=3", "--set", "workload.requests=5"];
    for words in [&["sweep", file.to_str().unwrap()][..], &["trace", "info", "mixed-70-30"]] {
        let output = copyback(&[words, &sets].concat());
        assert_eq!(code(&output), 2, "{}", output_text(&output));
        assert!(error_text(&output).contains("`workload.requests` is set twice"), "{}", error_text(&output));
    }
}

/// In a closed loop a request begins when another ends, whatever arrival times the user sets.
#[test]
fn arrivals_of_a_closed_loop_are_noted() {
    for arrivals in [
        "{kind=\"poisson\",rate=5,start=\"3 s\"}",
        "{kind=\"fixed\",rate=5}",
        "{kind=\"on-off\",burst=\"1 ms\",burst_rate=1000,rate=5}",
    ] {
        let set = format!("workload.arrivals={arrivals}");
        let text = notes(&["--closed", "--set", &set]);
        let expected = "`workload.arrivals` (--set) has no effect, for the workload's loop is closed";
        assert!(text.contains(expected), "{text}");
        assert!(!notes(&["--set", &set]).contains("workload.arrivals"));
    }
    assert!(!notes(&["--closed"]).contains("arrivals"));
}

/// Of 32 blocks of 4 KiB, a request of 64 KiB at the 17th ends with the last: those at the later 15 are moved.
#[test]
fn requests_that_are_moved_are_counted() {
    let size = "workload.size={kind=\"fixed\",mean=\"64 KiB\"}";
    let base = ["run", "-q", "--requests", "32", "-w", "random-write", "--set", size];
    let small = "workload.footprint=\"128 KiB\"";
    let said_of = |addresses: &str, more: &[&str]| {
        let addresses = format!("workload.addresses={addresses}");
        let output = copyback(&[&base[..], &["--set", small, "--set", &addresses], more].concat());
        assert_eq!(code(&output), 0, "{}", error_text(&output));
        output_text(&output)
    };
    let once = said_of("{kind=\"once\"}", &["--set", "workload.align=\"4 KiB\""]);
    assert!(once.contains("15 requests moved to the end of `footprint`"), "{once}");
    let listed = said_of("{kind=\"listed\",blocks=[0,204799]}", &["--set", "workload.align=\"4 KiB\""]);
    assert!(listed.contains("16 requests moved to the end of `footprint`"), "{listed}");
    let fits = said_of("{kind=\"once\"}", &["--set", "workload.align=\"64 KiB\""]);
    assert!(!fits.contains("moved to the end"), "{fits}");
}

/// A workload that waits for another has no request if the run ends first; a drive that always has requests is never
/// idle.
#[test]
fn settings_that_are_never_reached_are_noted() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("two.toml");
    let of = |name: &str, more: &str| {
        format!(
            "[workloads.{name}]\nshare = 0.5\nrequests = 300\n{more}\nsize = {{ kind = \"fixed\", mean = \"4 KiB\" }}\n\
             arrivals = {{ kind = \"fixed\", rate = 4000 }}\n"
        )
    };
    let reader = of("reader", "read_share = 1.0\ntrim_before_write = true\nafter = [\"writer\"]");
    std::fs::write(&file, reader + &of("writer", "read_share = 0.0")).unwrap();
    let idle = ["--set", "buffer.policy=lru", "--set", "buffer.idle_after=\"10 s\""];
    let words = ["run", file.to_str().unwrap(), "-q", "--requests", "100"];
    let output = copyback(&[&words[..], &idle].concat());
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    let text = output_text(&output);
    for part in [
        "workload `reader`: the run ended before its first request",
        "`workloads.reader.trim_before_write`",
        "`buffer.idle_after` has no effect: no drive was without a request for 10 s",
    ] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
}

/// An error of a built-in trace names the trace, and not the file that it is unpacked to.
#[test]
fn errors_of_built_in_traces_name_the_trace() {
    refused(
        &["run", "-q", "--requests", "9", "--set", "workload.columns.op=x"],
        &["the trace `oltp`: it has no column `x`"],
    );
}

/// Notes on a sweep name the file's table that has the setting, and `--set` only for settings of the command line.
#[test]
fn notes_on_a_sweep_name_the_source_of_the_setting() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.toml");
    let text = "schemes = [\"baseline\"]\nworkload = \"mixed-70-30\"\nrequests = 9\n\
                [set]\ncommands.suspend.latency = \"20 us\"\n";
    std::fs::write(&file, text).unwrap();
    let out = folder.path().join("s.parquet");
    let sweep = ["sweep", file.to_str().unwrap(), "-q", "--out", out.to_str().unwrap()];
    let of_file = done(&sweep);
    assert!(of_file.contains("`commands.suspend.latency` ([set]) has no effect"), "{of_file}");
    let of_both = done(&[&sweep[..], &["--set", "commands.suspend.latency=30 us"]].concat());
    assert!(of_both.contains("`commands.suspend.latency` (--set) has no effect"), "{of_both}");
}
