//! A folder of results that a run did not finish may be written to again, wherever the run ended.

use super::*;
use std::os::unix::process::ExitStatusExt;

const MARKER: &str = ".copyback.json";

fn run(place: &Place) -> Output {
    place.run(&with(&RUN, &["--out", "out"]))
}

fn finished(place: &Place, what: &str) -> Vec<String> {
    let output = run(place);
    assert_eq!(code(&output), 0, "{what}: {}", error_text(&output));
    names_in(&place.path("out"))
}

/// Refuses a folder for a file in it. Lines that are too long are broken behind a hyphen.
fn refused_for(place: &Place, name: &str) {
    let output = run(place);
    let text = error_text(&output).replace("- ", "-");
    assert!(code(&output) == 2 && text.contains(&format!("such as {name}")), "{name}: {text}");
}

/// Each state that a kill can leave, from the empty folder to the last file.
#[test]
fn a_rerun_is_accepted_from_every_stage() {
    let place = Place::new();
    let whole = finished(&place, "new");
    assert!(whole.contains(&"results.json".to_owned()) && whole.contains(&MARKER.to_owned()), "{whole:?}");
    let keep = place.path("kept");
    std::fs::rename(place.path("out"), &keep).unwrap();
    // Killed when it had made the marker, or had made it longer.
    for text in ["", "\n\n"] {
        std::fs::create_dir(place.path("out")).unwrap();
        place.file("out/.copyback.json", text);
        assert_eq!(finished(&place, "a blank marker"), whole);
        std::fs::remove_dir_all(place.path("out")).unwrap();
    }
    let order = ["summary.parquet", "latency_histograms.parquet", "time_series.parquet", "gc_events.parquet"];
    let order = order.iter().copied().chain(["config-baseline.toml", "results.json"]);
    let stages: Vec<Vec<&str>> = std::iter::once(vec![])
        .chain((0..=6).map(|count| std::iter::once(MARKER).chain(order.clone().take(count)).collect()))
        .collect();
    for stage in stages {
        for unfinished in [None, Some(".copyback-Ab01yZ.tmp")].into_iter().take(1 + stage.len()) {
            std::fs::create_dir(place.path("out")).unwrap();
            for name in &stage {
                std::fs::copy(keep.join(name), place.path("out").join(name)).unwrap();
            }
            if let Some(name) = unfinished {
                place.file(&format!("out/{name}"), "half of a tab");
            }
            let what = format!("{stage:?} and {unfinished:?}");
            assert_eq!(finished(&place, &what), whole, "{what}");
            std::fs::remove_dir_all(place.path("out")).unwrap();
        }
    }
}

/// Long enough for the folder to change under it.
const SHORT: &[&str] = &["--requests", "100000"];

/// Whether a run has locked the folder and continues.
fn is_locked(place: &Place) -> bool {
    let marker = std::fs::File::open(place.path("out").join(MARKER)).unwrap();
    matches!(marker.try_lock(), Err(std::fs::TryLockError::WouldBlock))
}

/// A pipe in the place of a result blocks the program there until it is killed.
#[test]
fn a_rerun_is_accepted_after_a_kill() {
    let place = Place::new();
    let whole = finished(&place, "new");
    for held in ["summary.parquet", "time_series.parquet", "config-baseline.toml", "results.json"] {
        let written =
            |name: &str| std::fs::metadata(place.path("out").join(name)).and_then(|data| data.modified()).ok();
        let (before, document) = (written("summary.parquet"), place.path("out/results.json"));
        // The program has removed the document, or rewritten the summary, which it does before it writes `held`.
        let began = || match held {
            "summary.parquet" => !document.exists(),
            _ => written("summary.parquet").is_some_and(|now| Some(now) != before),
        };
        let mut child = place.start(&[&["run", "--quiet", "--out", "out"], SHORT].concat());
        wait_until("a lock", || is_locked(&place));
        std::fs::remove_file(place.path("out").join(held)).unwrap();
        place.pipe(&format!("out/{held}"));
        wait_until(held, began);
        child.kill().unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(9), "{held}: it was still writing");
        std::fs::remove_file(place.path("out").join(held)).unwrap();
        assert_eq!(finished(&place, held), whole, "{held}");
    }
}

/// Without the marker no file belongs to the program. With it, only files that runs write do: the marker may come from
/// anywhere.
#[test]
fn a_marker_gives_no_power_over_other_files() {
    let place = Place::new();
    let whole = finished(&place, "new");
    place.file("precious", "mine");
    let marker = place.read("out/.copyback.json");
    let names = ["../precious", "config-/../../precious.toml", "config-../precious", "precious"];
    let listed: String = names.iter().map(|name| format!("\"{name}\", ")).collect();
    place.file("out/.copyback.json", marker.replacen("\"files\": [", &format!("\"files\": [{listed}"), 1));
    assert_eq!(finished(&place, "names that no run gives"), whole);
    assert_eq!(place.read("precious"), "mine");
    place.file("out/precious", "mine");
    let output = run(&place);
    assert!(code(&output) == 2 && error_text(&output).contains("such as precious"), "{}", error_text(&output));
    std::fs::remove_file(place.path("out/precious")).unwrap();
    for (text, first) in [("", "config-baseline.toml"), ("{}", ".copyback.json"), ("mine", ".copyback.json")] {
        place.file("out/.copyback.json", text);
        refused_for(&place, first);
        assert_eq!(place.read("out/.copyback.json"), text);
    }
    assert_eq!(names_in(&place.path("out")), whole);
}

/// The user did not name the target of a link in the folder, and it is kept: whether the link is there before the run,
/// or appears during it.
#[test]
fn what_a_link_in_the_folder_leads_to_is_kept() {
    let place = Place::new();
    let whole = finished(&place, "new");
    place.file("elsewhere", "mine");
    for name in ["summary.parquet", "config-baseline.toml", "results.json"] {
        std::fs::remove_file(place.path("out").join(name)).unwrap();
        place.link(&format!("out/{name}"), "../elsewhere");
        let says = [name, "is a link", "move it away, or name another folder"];
        place.refused(&with(&RUN, &["--out", "out"]), &says);
        std::fs::remove_file(place.path("out").join(name)).unwrap();
        place.link(&format!("out/{name}"), "nowhere");
        place.refused(&with(&RUN, &["--out", "out"]), &says);
        std::fs::remove_file(place.path("out").join(name)).unwrap();
        place.pipe(&format!("out/{name}"));
        place.refused(&with(&RUN, &["--out", "out"]), &[name, "is no ordinary file"]);
        std::fs::remove_file(place.path("out").join(name)).unwrap();
        assert_eq!(finished(&place, name), whole);
    }
    let mut child = place.start(&[&["run", "--quiet", "--out", "out"], SHORT].concat());
    wait_until("a lock", || is_locked(&place));
    std::fs::remove_file(place.path("out/summary.parquet")).unwrap();
    place.link("out/summary.parquet", "../elsewhere");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(!place.path("out/summary.parquet").is_symlink());
    assert_eq!(place.read("elsewhere"), "mine");
    // A folder that the user names by a link is the one that he means.
    place.link("named", "out");
    place.done(&with(&RUN, &["--out", "named"]));
    assert_eq!(names_in(&place.path("out")), whole);
}

/// No other program uses the names of the program's temporary files; without the marker such a file belongs to the
/// user, too.
#[test]
fn a_file_that_is_called_nearly_as_a_temporary_one_is_kept() {
    let place = Place::new();
    for is_marked in [false, true] {
        for name in [".copyback-config", ".copyback-Ab01yZ", ".copyback-config.tmp.d", ".copyback-my-own.tmp"] {
            std::fs::create_dir_all(place.path("out")).unwrap();
            place.file(&format!("out/{name}"), "mine");
            refused_for(&place, name);
            assert_eq!(place.read(&format!("out/{name}")), "mine");
            std::fs::remove_file(place.path("out").join(name)).unwrap();
        }
        if !is_marked {
            place.file("out/.copyback-Ab01yZ.tmp", "mine");
            refused_for(&place, ".copyback-Ab01yZ.tmp");
            assert_eq!(place.read("out/.copyback-Ab01yZ.tmp"), "mine");
            std::fs::remove_file(place.path("out/.copyback-Ab01yZ.tmp")).unwrap();
            finished(&place, "an empty folder");
        }
    }
}

/// Starts a run into a folder that knows nothing of its scheme, and waits until it has begun.
fn start(place: &Place, requests: &[&str]) -> Child {
    let child = place.start(&[&["run", "--quiet", "--out", "out"], requests].concat());
    let marker = place.path("out").join(MARKER);
    wait_until("a marker", || std::fs::read_to_string(&marker).is_ok_and(|text| text.contains("config-baseline.toml")));
    child
}

const ENDLESS: &[&str] = &["--set", "workload.loop=1000000"];

/// Stops a run that has begun, changes what is on the disk, and lets the run go on to its end.
fn changed_during_a_run(place: &Place, change: impl FnOnce()) -> Option<i32> {
    let mut child = start(place, SHORT);
    let send = |signal| {
        // SAFETY: the child was not waited for, so that the id is its own.
        assert_eq!(unsafe { libc::kill(child.id() as libc::pid_t, signal) }, 0);
    };
    send(libc::SIGSTOP);
    assert!(is_locked(place), "it ended before it was stopped");
    change();
    send(libc::SIGCONT);
    child.wait().unwrap().code()
}

#[test]
fn a_folder_is_taken_before_the_run_and_by_one_run_alone() {
    let place = Place::new();
    let mut child = start(&place, ENDLESS);
    assert!(!place.path("out/summary.parquet").exists(), "it has only begun");
    let marker = place.bytes("out/.copyback.json");
    place.refused(&with(&RUN, &["--out", "out"]), &["another run is writing to out", "name another folder: --out"]);
    assert_eq!(place.bytes("out/.copyback.json"), marker);
    child.kill().unwrap();
    child.wait().unwrap();
    // A killed run releases the folder.
    finished(&place, "after a kill");
}

/// Files that the user puts into a folder of that name during the run do not enter the run's folder.
#[test]
fn a_folder_that_is_another_one_when_results_are_written_is_looked_at_again() {
    let place = Place::new();
    let ended = changed_during_a_run(&place, || {
        std::fs::rename(place.path("out"), place.path("moved")).unwrap();
        std::fs::create_dir(place.path("out")).unwrap();
        place.file("out/summary.parquet", "mine");
    });
    assert_eq!(ended, Some(2));
    assert_eq!(names_in(&place.path("out")), ["summary.parquet"]);
    assert_eq!(place.read("out/summary.parquet"), "mine");
}

/// The error comes before the run, also for a result that this run would not write.
#[test]
fn a_folder_in_the_place_of_a_result_is_told_before_the_run() {
    let place = Place::new();
    place.done(&with(&RUN, &["--scheme", "pgc", "--out", "out"]));
    let whole = names_in(&place.path("out"));
    for name in ["config-pgc.toml", "summary.parquet", "results.json"] {
        let kept = place.bytes(&format!("out/{name}"));
        std::fs::remove_file(place.path("out").join(name)).unwrap();
        std::fs::create_dir(place.path("out").join(name)).unwrap();
        let says = [name, "is a folder", "move it away, or name another folder"];
        // So many requests that it would not end in time.
        place.refused(&["run", "--quiet", "--set", "workload.loop=1000000", "--out", "out"], &says);
        assert_eq!(names_in(&place.path("out")), whole, "the results of the earlier run are as they were");
        std::fs::remove_dir(place.path("out").join(name)).unwrap();
        place.file(&format!("out/{name}"), kept);
    }
}

/// If the document is there, all results are: the program removes it before the others. A result that cannot be removed
/// stops the run there.
#[test]
fn the_document_is_removed_first() {
    let place = Place::new();
    place.done(&with(&RUN, &["--scheme", "pgc", "--out", "out"]));
    let ended = changed_during_a_run(&place, || {
        std::fs::remove_file(place.path("out/config-pgc.toml")).unwrap();
        std::fs::create_dir(place.path("out/config-pgc.toml")).unwrap();
    });
    assert_eq!(ended, Some(1));
    assert!(!place.path("out/results.json").exists() && place.path("out/summary.parquet").exists());
}
