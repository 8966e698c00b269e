//! A folder of results that a run did not finish may be written to again, wherever the run ended.

use super::*;
use std::os::unix::process::ExitStatusExt;

const MARKER: &str = ".copyback.json";

fn run(place: &Place) -> Output {
    place.run(&with(&RUN, &["--out", "out"]))
}

fn finished(place: &Place, what: &str) -> Vec<String> {
    let output = run(place);
    assert_eq!(code(&output), 0, "{what}: {}", said(&output));
    names_in(&place.path("out"))
}

/// Each state that a kill can leave, from the empty folder to the last file.
#[test]
fn a_rerun_is_accepted_from_every_stage() {
    let place = Place::new();
    let whole = finished(&place, "new");
    assert!(whole.contains(&"results.json".to_owned()) && whole.contains(&MARKER.to_owned()), "{whole:?}");
    let keep = place.path("kept");
    std::fs::rename(place.path("out"), &keep).unwrap();
    let order = ["summary.parquet", "latency_histograms.parquet", "time_series.parquet", "gc_events.parquet"];
    let order = order.iter().copied().chain(["config-baseline.toml", "results.json"]);
    let stages: Vec<Vec<&str>> = std::iter::once(vec![])
        .chain((0..=6).map(|count| std::iter::once(MARKER).chain(order.clone().take(count)).collect()))
        .collect();
    for stage in stages {
        for unfinished in [None, Some(".copyback-Ab01yZ")] {
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

/// A pipe in the place of a result holds the program there until it is killed.
#[test]
fn a_rerun_is_accepted_after_a_kill() {
    let place = Place::new();
    let whole = finished(&place, "new");
    for held in ["summary.parquet", "time_series.parquet", "config-baseline.toml", "results.json"] {
        std::fs::remove_file(place.path("out").join(held)).unwrap();
        place.pipe(&format!("out/{held}"));
        let marker = std::fs::metadata(place.path("out").join(MARKER)).unwrap();
        let began = || {
            use std::os::unix::fs::MetadataExt;
            let now = std::fs::metadata(place.path("out").join(MARKER));
            // What is known to be written before it is there again.
            now.is_ok_and(|now| now.ino() != marker.ino())
                && (held == "summary.parquet" || place.path("out/summary.parquet").is_file())
        };
        let mut child = place.start(&with(&RUN, &["--out", "out"]));
        wait_until(held, began);
        child.kill().unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(9), "{held}: it was still writing");
        std::fs::remove_file(place.path("out").join(held)).unwrap();
        assert_eq!(finished(&place, held), whole, "{held}");
    }
}

/// Without the marker nothing is ours, and with it only what runs write: it may come from anywhere.
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
    assert!(code(&output) == 2 && said(&output).contains("such as precious"), "{}", said(&output));
    std::fs::remove_file(place.path("out/precious")).unwrap();
    for text in ["", "{}", "mine"] {
        place.file("out/.copyback.json", text);
        let output = run(&place);
        assert!(code(&output) == 2 && said(&output).contains("such as .copyback.json"), "{text}: {}", said(&output));
    }
    assert_eq!(names_in(&place.path("out")), whole);
}

/// Somebody keeps the large table elsewhere.
#[test]
fn a_link_in_the_folder_stays() {
    let place = Place::new();
    let whole = finished(&place, "new");
    std::fs::rename(place.path("out/summary.parquet"), place.path("elsewhere")).unwrap();
    let table = place.bytes("elsewhere");
    place.file("elsewhere", "old");
    place.link("out/summary.parquet", "../elsewhere");
    assert_eq!(finished(&place, "a link"), whole);
    assert!(place.path("out/summary.parquet").is_symlink());
    assert_eq!(place.bytes("elsewhere"), table);
}
