//! The built program as a user meets it: exit codes, texts, files.

use crate::common::*;
use std::path::Path;
use std::process::Command;

/// A command with a mistake: it ends with 2, and its error contains all of these.
fn refused(arguments: &[&str], says: &[&str]) {
    let output = copyback(arguments);
    let text = error_text(&output);
    assert_eq!(code(&output), 2, "{arguments:?}: {text}");
    for part in says {
        assert!(text.contains(part), "{arguments:?} does not say `{part}`: {text}");
    }
}

/// The JSON without its wall-clock section.
fn without_wall(text: &str) -> String {
    let mut value: serde_json::Value = serde_json::from_str(text).expect("it is JSON");
    assert!(value.as_object_mut().expect("a document").remove("wall").is_some());
    value.to_string()
}

/// A printed configuration contains its scheme's own settings. With another scheme its tables override that one, and a
/// note says so.
#[test]
fn a_printed_configuration_keeps_its_scheme_and_says_where_it_goes_over_another() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.toml");
    std::fs::write(&file, output_text(&copyback(&["run", "--scheme", "pgc", "--print-config"]))).unwrap();
    let run =
        |more: &[&str]| output_text(&copyback(&[&["run", file.to_str().unwrap(), "--requests", "500"], more].concat()));
    let (own, other) = (run(&[]), run(&["--scheme", "ideal-no-gc"]));
    assert!(own.starts_with("scheme `pgc`") && !own.contains("replaces the scheme's"), "{own}");
    assert!(other.contains("mine.toml replaces the scheme's `ideal`"), "{other}");
    std::fs::write(&file, "scheme = \"pgc\"\nschemes = [\"baseline\"]\n").unwrap();
    let both = copyback(&["compare", file.to_str().unwrap()]);
    assert!(code(&both) == 2 && error_text(&both).contains("remove one of the two"), "{}", error_text(&both));
}

#[test]
fn mistakes_are_refused_with_the_place_and_a_suggestion() {
    refused(&["run", "--set", "victim.policy=gredy"], &["victim.policy=gredy", "did you mean `greedy`?"]);
    refused(&["run", "--set", "geometry.block_per_plane=9"], &["did you mean `blocks_per_plane`?"]);
    refused(&["run", "--set", "geometry.channels=0"], &["0 is not possible", "from 1 to 256"]);
    refused(&["run", "--set", "timing.read=75parsecs"], &["unknown unit `parsecs`"]);
    refused(&["run", "--set", "trigger.stop=0.01"], &["below the"]);
    refused(&["run", "--device", "smal"], &["unknown device `smal`", "did you mean `small`?"]);
    refused(&["run", "--scheme", "basline"], &["unknown scheme `basline`", "did you mean `baseline`?"]);
    refused(&["run", "--workload", "hm_0"], &["unknown workload `hm_0`", "did you mean `hm_0-like`?"]);
    refused(&["compare", "--schemes", "baseline,baseline"], &["named twice"]);
    refused(&["schemes", "gredy"], &["did you mean `greedy`?"]);
    refused(&["devices", "hpdc"], &["did you mean `hpdc18"]);
    refused(&["workloads", "oltpp"], &["did you mean `oltp`?"]);
    refused(&["trace", "info", "oltpp"], &["did you mean `oltp`?"]);
    refused(&["rum"], &["unrecognized subcommand"]);
}

/// Physically meaningless settings are refused with the reason, at their place.
#[test]
fn combinations_that_cannot_be_are_refused() {
    let refused = |scheme: &str, sets: &[&str], says: &str| {
        let sets = sets.iter().flat_map(|set| ["--set", set]);
        let arguments: Vec<&str> = ["run", "--scheme", scheme].into_iter().chain(sets).collect();
        self::refused(&arguments, &[says]);
    };
    refused("gc-par", &["geometry.planes_per_die=1"], "needs a second plane in each die");
    refused("gc-par", &["granularity.copyback=true"], "need moves to be reads and");
    refused("gc-par", &["commands.multi_plane=false"], "commands.multi_plane = false");
    refused("gc-par", &["preemption.policy=ideal"], "have no commands that anything could join");
    refused("pgc-merge", &["granularity.copyback=true"], "needs the transfer of a moved page");
    refused("pgc-pipeline", &["preemption.policy=none"], "lets none preempt");
    refused(
        "pgc-pipeline",
        &["commands.cache_read=false", "commands.cache_program=false"],
        "commands.cache_read = false",
    );
    refused("pgc", &["admit.policy=window", "admit.slots=1"], "the only slot of its die's window");
    refused("pgc", &["trigger.hard=1.5"], "no share of `trigger.soft`");
    refused("pgc-idle", &["trigger.idle.stop=0.01"], "no watermark for idle collection");
    refused("baseline", &["trigger.count=pages", "trigger.scope=device"], "pages of a whole device are not counted");
    refused(
        "dynamic-allocation",
        &["granularity.destination=global", "allocation.policy=static-die"],
        "moves of other dies",
    );
}

#[test]
fn a_timeline_is_drawn_where_it_is_wanted() {
    refused(&["run", "--timeline", "x.png"], &["x.png", ".svg or .txt"]);
    refused(&["run", "--timeline", "-", "--timeline-die", "16"], &["16 dies", "from 0 to 15"]);
    refused(&["run", "--timeline", "-", "--timeline-to", "5"], &["needs a unit of time"]);
    refused(&["run", "--timeline-to", "5 ms"], &["--timeline <FILE>"]);
    refused(&["run", "--timeline", "-", "--json", "-"], &["--timeline - and --json -", "give one of them a file"]);
    let window = ["--timeline-from", "1 ms", "--timeline-to", "1 ms"];
    refused(&[&["run", "--timeline", "-"][..], &window].concat(), &["ends before it begins"]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("die.svg");
    let base = ["run", "--requests", "500", "--timeline"];
    let text = output_text(&copyback(&[&base[..], &["-"]].concat()));
    assert!(text.starts_with("die ") && text.contains(" ms, a column is ") && text.contains("\nplane "), "{text}");
    let summary = output_text(&copyback(&[&base[..], &[file.to_str().unwrap()]].concat()));
    assert!(summary.contains("Response times"), "{summary}");
    assert!(std::fs::read_to_string(&file).unwrap().contains("<title>command "));
}

#[test]
fn files_that_are_not_there_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mine.toml"), "").unwrap();
    let missing = folder.path().join("mina.toml");
    refused(&["run", missing.to_str().unwrap()], &["there is no experiment", "did you mean", "mine.toml?"]);
    refused(&["run", "--trace", folder.path().to_str().unwrap()], &["is a folder, not a file"]);
    let nowhere = folder.path().join("none/x.json");
    refused(&["run", "--json", nowhere.to_str().unwrap()], &["there is no folder"]);
    std::fs::write(folder.path().join("thesis.tex"), "").unwrap();
    refused(
        &["run", "--out", folder.path().to_str().unwrap()],
        &["holds files that are no results of an earlier run", "mine.toml"],
    );
}

/// Tests that run as root may write anywhere; a file in the place of a folder stops them, too.
#[test]
fn outputs_that_cannot_be_written_are_refused_before_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let below = file.join("results");
    refused(&["run", "--out", below.to_str().unwrap()], &["is a file"]);
    refused(&["run", "--out", file.to_str().unwrap()], &["is a file, not a folder"]);
    refused(&["run", "--json", below.to_str().unwrap()], &["there is no folder"]);
}

#[test]
fn a_trace_that_does_not_fit_is_refused_before_the_drive_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("far.csv");
    let record = |at: u64| format!("{},host,0,Write,{at},4096,100\n", 128_166_372_000_000_000 + at);
    std::fs::write(&trace, record(0) + &record(1 << 50)).unwrap();
    let trace = trace.to_str().unwrap();
    // A drive that would take minutes to make.
    let arguments = ["run", "--device", "hpdc18-4plane", "--trace", trace];
    let started = std::time::Instant::now();
    refused(&arguments, &["request 2 ", "beyond the capacity", "workload.beyond_capacity", "fold"]);
    assert!(started.elapsed().as_secs() < 10);
    for (choice, says) in [("fold", "folded into it"), ("reject", "rejected")] {
        let set = format!("workload.beyond_capacity={choice}");
        let output = copyback(&["run", "--trace", trace, "--set", &set]);
        assert_eq!(code(&output), 0, "{}", error_text(&output));
        assert!(output_text(&output).contains(says), "{}", output_text(&output));
    }
}

#[test]
fn damaged_traces_are_refused_with_their_line_and_may_be_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mixed.csv");
    let good = "128166372003061629,hm,1,Read,4096,4096,100\n";
    std::fs::write(&path, format!("{good}{good}5 0 100 8 1\n{good}{good}")).unwrap();
    let trace = path.to_str().unwrap();
    refused(&["trace", "info", trace], &["mixed.csv, line 3", "--skip-bad 1"]);
    refused(&["run", "--trace", trace], &["mixed.csv, line 3", "--skip-bad 1"]);
    let output = copyback(&["trace", "info", trace, "--skip-bad", "1"]);
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    std::fs::write(&path, "\n\n").unwrap();
    refused(&["trace", "info", trace], &["only blank lines"]);
    std::fs::write(&path, "").unwrap();
    refused(&["trace", "info", trace], &["it is empty"]);
    let typo = folder.path().join("mixd.csv");
    refused(&["run", "--trace", typo.to_str().unwrap()], &["did you mean", "mixed.csv?"]);
}

#[test]
fn a_trace_is_not_converted_onto_itself() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.csv");
    let text = "128166372003061629,hm,1,Read,4096,4096,100\n";
    std::fs::write(&path, text).unwrap();
    let trace = path.to_str().unwrap();
    refused(&["trace", "convert", trace, trace], &["would be overwritten"]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn a_rate_says_what_it_counts_and_over_which_time() {
    let line = |more: &[&str], name: &str| {
        let output = copyback(&[&["run", "--quiet", "--requests", "200"], more].concat());
        let text = output_text(&output);
        text.lines().find(|line| line.trim_start().starts_with(name)).map(str::to_owned).expect("a line of the run")
    };
    assert!(line(&[], "throughput").ends_with(": the reads and writes above, over the simulated time"));
    assert!(line(&[], "simulated time").ends_with(", first arrival to last completion"));
    let warmup = ["--warmup", "100"];
    assert!(line(&warmup, "simulated time").ends_with(", end of the warm-up to last completion"));
}

#[test]
fn a_run_says_how_it_went_over_time() {
    let text = output_text(&copyback(&["run", "--requests", "20000"]));
    assert!(text.contains("Over time") && text.contains("outstanding        free blocks"), "{text}");
    // The user need not know the built-in trace's format.
    assert!(!text.contains("Note: format"), "{text}");
    let fresh = output_text(&copyback(&["run", "--requests", "1000", "--set", "precondition.mode=empty"]));
    assert!(!fresh.contains("no GC during GC"), "{fresh}");
}

#[test]
fn next_steps_keep_what_the_user_chose() {
    let sets = ["--set", "precondition.mode=empty", "--set", "buffer.size=64 KiB", "--set", "buffer.policy=lru"];
    let arguments = ["compare", "--device", "bench-64g", "--workload", "random-write", "--requests", "500"];
    let text = output_text(&copyback(&[&arguments[..], &sets].concat()));
    assert!(text.contains("run --device bench-64g --workload random-write --set precondition.mode=empty"), "{text}");
    assert!(
        text.contains("--set 'buffer.size=64 KiB' --set buffer.policy=lru --requests 500 --scheme baseline"),
        "{text}"
    );
}

#[cfg(unix)]
#[test]
fn a_trace_in_the_place_of_an_experiment_is_recognised() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hm_0.csv");
    for text in [&b"128166385295514663,hm,0,Write,9056014336,2048,2833\n"[..], b"\x28\xb5\x2f\xfd\xff"] {
        std::fs::write(&path, text).unwrap();
        refused(&["compare", path.to_str().unwrap()], &["a trace is given as `--trace"]);
    }
}

#[test]
fn a_pipe_is_refused_as_a_trace() {
    refused(&["run", "--trace", "/dev/null"], &["no ordinary file", "write it to a file first"]);
    refused(&["trace", "info", "/dev/null"], &["no ordinary file"]);
}

/// The built-in trace's page agrees with the program's output.
#[test]
fn the_built_in_traces_page_agrees_with_the_program() {
    let page = include_str!("../../../../traces/README.md").split_whitespace().collect::<Vec<_>>().join(" ");
    let info = copyback(&["trace", "info", "oltp", "--json"]);
    let info: serde_json::Value = serde_json::from_str(&output_text(&info)).unwrap();
    let number = |path: &str| info.pointer(path).and_then(serde_json::Value::as_f64).unwrap();
    assert_eq!(number("/requests"), 182_585.0);
    for fact in [
        format!("182,585 requests, {:.1} % of them reads", number("/read_percent")),
        format!("reads of {:.1} KiB", number("/reads/mean_bytes") / 1024.0),
        format!("writes of {:.1} KiB on average", number("/writes/mean_bytes") / 1024.0),
        format!("{:.0} MiB touched", number("/footprint_bytes") / f64::from(1 << 20)),
        format!("every page written {:.1} times", number("/overwrite_ratio")),
        format!("4,{:03.0} requests a second", number("/requests_per_s") - 4000.0),
        format!("over {:.1} s", number("/duration_ns") / 1e9),
        format!("at least {:.0} MiB", number("/end_bytes") / f64::from(1 << 20)),
    ] {
        assert!(page.contains(&fact), "the page does not say `{fact}`");
    }
}

#[test]
fn an_experiment_with_a_mistake_shows_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    std::fs::write(&path, "device = \"small\"\n\n[trigger]\nsofft = 0.1\n").unwrap();
    refused(&["run", path.to_str().unwrap()], &["mine.toml:4:1", "sofft = 0.1", "did you mean `soft`?"]);
    std::fs::write(&path, "device = \"smal\"\n").unwrap();
    refused(&["run", path.to_str().unwrap()], &["mine.toml:1:10", "did you mean `small`?"]);
    std::fs::write(&path, "requests = 0\n").unwrap();
    refused(&["run", path.to_str().unwrap()], &["mine.toml:1:12", "zero leaves nothing to run"]);
    std::fs::write(&path, "sede = 3\n").unwrap();
    refused(&["run", path.to_str().unwrap()], &["mine.toml:1:1", "did you mean `seed`?"]);
}

#[test]
fn the_printed_configuration_is_an_experiment_that_prints_itself() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("resolved.toml");
    let arguments = ["run", "--device", "atc18", "--scheme", "fifo", "--workload", "random-write", "--print-config"];
    let first = output_text(&copyback(&arguments));
    std::fs::write(&path, &first).unwrap();
    let again = copyback(&["run", path.to_str().unwrap(), "--print-config"]);
    let body = |text: &str| text.split_once('\n').map(|(_, body)| body.to_owned());
    assert_eq!(body(&output_text(&again)), body(&first), "{}", error_text(&again));
}

#[test]
fn lists_name_everything() {
    assert!(output_text(&copyback(&["schemes"])).contains("dynamic-allocation"));
    assert!(output_text(&copyback(&["schemes", "greedy"])).contains("fewest valid units"));
    assert!(output_text(&copyback(&["schemes", "baseline"])).contains("[preemption]\npolicy = \"none\""));
    assert!(output_text(&copyback(&["devices"])).contains("tpds20-4plane"));
    assert!(output_text(&copyback(&["workloads"])).contains("hm_0-like"));
}

#[test]
fn the_built_in_trace_is_what_its_description_says() {
    let text = output_text(&copyback(&["trace", "info", "oltp"]));
    assert!(text.contains("182,585") && text.contains("Gaps between arrivals"), "{text}");
}

#[test]
fn a_workload_survives_conversion() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.parquet");
    let path = path.to_str().unwrap();
    let output = copyback(&["trace", "convert", "oltp", path, "--requests", "1000"]);
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    let info = output_text(&copyback(&["trace", "info", path, "--json"]));
    let info: serde_json::Value = serde_json::from_str(&info).unwrap();
    assert_eq!(info["requests"], 1000);
    refused(&["trace", "convert", "oltp", "cut.xyz"], &["does not say in which format", "--to csv"]);
    // A table as text, and back, with nothing lost; without `--to` the name means MSR's format.
    let [table, again] = ["cut.csv", "again.parquet"].map(|name| folder.path().join(name));
    let [table, again] = [&table, &again].map(|path| path.to_str().unwrap());
    let told = output_text(&copyback(&["trace", "convert", path, table, "--to", "csv"]));
    assert!(told.contains("1,000 requests as csv"), "{told}");
    assert!(output_text(&copyback(&["trace", "convert", table, again])).contains("1,000 requests as parquet"));
    assert_eq!(std::fs::read(again).unwrap(), std::fs::read(path).unwrap());
    assert!(output_text(&copyback(&["trace", "convert", path, table])).contains("1,000 requests as msr"));
}

#[test]
fn results_do_not_depend_on_jobs_or_on_where_they_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let base = ["compare", "--requests", "5000", "--json", "-"];
    let one = copyback(&[&base[..], &["--jobs", "1"]].concat());
    assert_eq!(code(&one), 0, "{}", error_text(&one));
    let four = copyback(&[&base[..], &["--jobs", "4", "--out", out.to_str().unwrap()]].concat());
    assert_eq!(without_wall(&output_text(&one)), without_wall(&output_text(&four)));
    for name in ["results.json", "summary.parquet", "gc_events.parquet", "config-baseline.toml"] {
        assert!(out.join(name).is_file(), "{name}");
    }
    assert!(!Path::new(&out.join("requests.parquet")).exists());
    // Results may be replaced by results. What is printed does not depend on them either.
    let text = copyback(&base[..3]);
    let again = copyback(&[&base[..3], &["--out", out.to_str().unwrap(), "--out-requests"]].concat());
    assert_eq!(code(&again), 0, "{}", error_text(&again));
    assert!(out.join("requests.parquet").is_file());
    assert_eq!(output_text(&again), output_text(&text));
    assert_eq!(error_text(&again), error_text(&text));
}

#[test]
fn a_comparison_ends_by_saying_what_to_try_next() {
    let output = copyback(&["compare", "--requests", "5000"]);
    let text = output_text(&output);
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    assert!(text.contains("ideal-no-gc") && text.contains("Try next:"), "{text}");
    assert!(text.lines().take_while(|line| !line.starts_with("Try")).all(|line| line.chars().count() <= 120), "{text}");
}

/// A configuration may be a megabyte long, but the error about it has only a few lines.
#[test]
fn errors_are_short_whatever_the_file_holds() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("mine.toml");
    let long = "x".repeat((1 << 20) - 200);
    let lines = "x\n".repeat((1 << 19) - 200);
    for (text, says) in [
        (format!("[trigger]\npolicy = \"{long}\"\n"), "mine.toml:2:10: `trigger.policy` cannot be `xxx"),
        (format!("[trigger]\n{long} = 1\n"), "mine.toml:2:1: unknown key `xxx"),
        (format!("[host]\nqueue_depth = \"{long}\"\n"), "mine.toml:2:15: `host.queue_depth`: invalid type"),
        (format!("[host]\nqueue_depth = \"\"\"{lines}\"\"\"\n"), "mine.toml:2:15: `host.queue_depth`: invalid type"),
        (format!("{long} = 1\n"), "mine.toml:1:1: unknown table or key `xxx"),
        (format!("device = \"{long}\"\n"), "mine.toml:1:10: unknown device `xxx"),
        (format!("warmup = \"{long}\"\n"), "mine.toml:1:10: `warmup`: `xxx"),
        (format!("warmup = {long}\n"), "mine.toml:1:10: this is not TOML"),
    ] {
        std::fs::write(&path, &text).expect("the file can be written");
        let output = copyback(&["run", path.to_str().expect("the path is text")]);
        let said = error_text(&output);
        assert!(code(&output) == 2 && output.stderr.len() < 3_000, "{says}: {} bytes", output.stderr.len());
        assert!(said.contains(says), "no `{says}` in: {said}");
    }
}

/// Suggested commands are about the same requests: they repeat each option that chose them.
#[test]
fn suggestions_keep_the_input() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let trace = folder.path().join("a trace.csv");
    let record = |i: u64| format!("{},hm,0,Write,{},4096,100\n", 128_166_372_003_061_629 + i * 1_000, i % 50 * 4_096);
    std::fs::write(&trace, (0..500).map(record).collect::<String>() + "bad\n").expect("the file can be written");
    let trace = trace.to_str().expect("the path is text");
    let of_trace = ["--trace", trace, "--format", "msr", "--skip-bad", "3", "--warmup", "10"];
    let limits = ["--seed", "7", "--requests", "100"];
    let steps = |arguments: &[&str]| -> Vec<String> {
        let output = copyback(&[&["compare", "--schemes", "baseline,ideal-no-gc"], arguments].concat());
        let text = output_text(&output);
        let steps = text.lines().filter_map(|line| line.trim().strip_prefix("copyback "));
        let steps: Vec<String> = steps.filter(|step| !step.starts_with("schemes")).map(str::to_owned).collect();
        assert!(!steps.is_empty(), "{arguments:?}: {text}{}", error_text(&output));
        steps
    };
    for step in steps(&[&of_trace[..], &limits].concat()) {
        for words in [&of_trace[2..4], &of_trace[4..6], &of_trace[6..], &limits[..2], &limits[2..]] {
            assert!(step.contains(&words.join(" ")), "{words:?} are not in: {step}");
        }
        assert!(step.contains(&format!("--trace '{trace}'")), "{step}");
    }
    // The default drive and workload stay the defaults.
    let (with, without) = (steps(&limits), steps(&limits[2..]));
    assert_eq!(with.len(), 4, "{with:?}");
    assert!(with.iter().all(|step| step.contains("--seed 7 --requests 100")), "{with:?}");
    assert!(without.iter().all(|step| step.contains(" --requests 100") && !step.contains("--seed")), "{without:?}");
}

#[test]
fn columns_without_a_meaning_say_why() {
    let set = "workload.requests=1000";
    let output = copyback(&["compare", "--workload", "random-write", "--set", set]);
    assert!(output_text(&output).contains("no reads"), "{}{}", output_text(&output), error_text(&output));
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    use std::process::Stdio;
    let mut child = Command::new(env!("CARGO_BIN_EXE_copyback"))
        .arg("workloads")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((code(&output), error_text(&output).as_str()), (0, ""));
}

/// What the program prints of a device and of a scheme is a file that it takes.
#[test]
fn printed_presets_are_files() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let kept = |name: &str, arguments: &[&str]| {
        let path = folder.path().join(name);
        std::fs::write(&path, output_text(&copyback(arguments))).expect("the file can be written");
        path.to_str().expect("the path is text").to_owned()
    };
    let device = kept("device.toml", &["devices", "hpdc18"]);
    let scheme = kept("scheme.toml", &["schemes", "dynamic-allocation"]);
    let of = |device: &str, scheme: &str| {
        let output = copyback(&["run", "--device", device, "--scheme", scheme, "--print-config"]);
        assert_eq!(code(&output), 0, "{}", error_text(&output));
        output_text(&output)
    };
    let same = |text: &str| text.lines().filter(|line| !line.contains("scheme")).collect::<Vec<_>>().join("\n");
    assert_eq!(same(&of(&device, "baseline")), same(&of("hpdc18", "baseline")));
    // A printed scheme sets every axis, even those that a preset leaves to the device.
    of("small", &scheme);
}

/// Some schemes have the name of a policy, whose page is printed below them.
#[test]
fn every_printed_scheme_is_a_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("printed.toml");
    for scheme in copyback::config::presets::SCHEMES {
        std::fs::write(&path, output_text(&copyback(&["schemes", scheme.name]))).expect("the file can be written");
        let file = path.to_str().expect("the path is text");
        // The default device has no room for parity.
        let roomy = ["--set", "capacity.over_provisioning=1.0"];
        let more = if scheme.text.contains("[redundancy]") { &roomy[..] } else { &[] };
        let run = ["run", "--scheme", file, "--requests", "10", "--print-config"];
        let output = copyback(&[&run[..], more].concat());
        assert_eq!(code(&output), 0, "{}: {}", scheme.name, error_text(&output));
    }
}

/// A file with the name of a result is the user's, unless a run wrote it.
#[test]
fn only_files_of_an_earlier_run_are_replaced() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().to_str().expect("the path is text");
    let run = |scheme: &'static str| ["run", "--requests", "200", "--scheme", scheme, "--out", out];
    let holds = |name: &str| folder.path().join(name).is_file();
    for name in ["config-hand.toml", "requests.parquet", "results.json"] {
        std::fs::write(folder.path().join(name), "mine").expect("the file can be written");
        refused(&run("hios"), &["no results of an earlier run", name, "empty or a new folder"]);
        std::fs::remove_file(folder.path().join(name)).expect("the file is still there");
    }
    for scheme in ["hios", "baseline"] {
        let output = copyback(&run(scheme));
        assert_eq!(code(&output), 0, "{}", error_text(&output));
    }
    assert!(holds("config-baseline.toml") && !holds("config-hios.toml"));
    std::fs::write(folder.path().join("config-hios.toml"), "mine").expect("the file can be written");
    refused(&run("baseline"), &["no results of an earlier run", "config-hios.toml"]);
}

#[test]
fn a_comparison_that_cannot_be_judged_says_so_and_what_helps() {
    let says = |more: &[&str], says: &str| {
        let output = copyback(&[&["compare", "--schemes", "baseline,pgc"], more].concat());
        let text = output_text(&output);
        assert!(text.contains(says), "{more:?}: {text}{}", error_text(&output));
        text
    };
    let limit = "Remove or raise the limit of 500 requests (--requests), and warm the drive up: --warmup steady";
    let text = says(&["--requests", "500"], limit);
    assert!(text.contains("Note: `baseline`, `pgc` are not judged: the run must erase 50 blocks"), "{text}");
    assert!(!text.contains("workload.loop"), "{text}");
    let short = ["--workload", "random-write", "--set", "workload.requests=100"];
    // A pass writes 100 units, and the drive has 51,200: ten times that takes 5,120 passes.
    says(&short, "with --warmup steady --set workload.requests=512000\n");
    says(
        &[&short[..], &["--set", "workload.loop=5"]].concat(),
        "--set workload.loop=1 --set workload.requests=512000\n",
    );
    // A limit that equals the workload's number of requests limits nothing.
    says(&[&short[..], &["--requests", "100"]].concat(), "with --warmup steady --set workload.requests=512000\n");
    // A drive that begins settled need not be overwritten ten times; 100 requests leave its buffer half empty.
    let settled = ["--set", "precondition.mode=steady-state"];
    says(&[&short[..], &settled].concat(), "The drive is steady from the start: extend the workload");
    let text =
        says(&[&short[..], &settled, &["--requests", "50"]].concat(), "Remove or raise the limit of 50 requests");
    assert!(!text.contains("--warmup steady"), "{text}");
    let buffer = ["--set", "buffer.policy=lru", "--set", "buffer.size=4 MiB"];
    let text = says(&[&short[..], &settled, &buffer].concat(), "free blocks or a buffer still absorb the writes");
    // The spare space of 224 MiB is written once in 14,336 requests, which each rewrite a mapping unit of 16 KiB.
    assert!(text.contains("writes the spare space, for example with --set workload.requests=14400\n"), "{text}");
    let tiny = ["--workload", "mixed-70-30", "--set", "workload.first=20000", "--set", "workload.read_share=0.999"];
    says(&tiny, "writes too little for this drive to become steady");
    let reads = ["--workload", "random-read", "--set", "workload.requests=500"];
    says(&reads, "Note: no request writes, so no scheme collects");
}

/// The output of `trace info` on a trace's devices agrees with itself and with a run of the trace.
#[test]
fn a_device_of_a_trace_is_chosen_as_the_hint_says() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("two.csv");
    let record = |device: u32| format!("12816637200306162{device},hm,{device},Write,4096,4096,100\n");
    std::fs::write(&path, record(0) + &record(1) + &record(1)).expect("the file can be written");
    let trace = path.to_str().expect("the path is text");
    let text = output_text(&copyback(&["trace", "info", trace]));
    let choice = "2: 1 (66.7 %), 0 (33.3 %); choose one with --device 1 here, with --set workload.device=1 in `run`";
    assert!(text.contains(choice), "{text}");
    let info = output_text(&copyback(&["trace", "info", trace, "--device", "1", "--json"]));
    assert!(info.contains("\"requests\": 2"), "{info}");
    let chosen = copyback(&["run", "--trace", trace, "--set", "workload.device=1", "--json", "-"]);
    assert!(output_text(&chosen).contains("\"writes\": 2"), "{}", error_text(&chosen));
}
