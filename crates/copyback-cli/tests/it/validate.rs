//! `copyback validate` as a user meets it: does the shipped simulator pass, and does the command refuse what is wrong?

use crate::common::*;

fn json(arguments: &[&str]) -> serde_json::Value {
    let output = copyback(&[&["validate", "--json", "-"], arguments].concat());
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    serde_json::from_str(&output_text(&output)).expect("it is JSON")
}

fn names(document: &serde_json::Value) -> Vec<&str> {
    document["gates"].as_array().unwrap().iter().map(|gate| gate["name"].as_str().unwrap()).collect()
}

/// `documentation.rs` runs `validate --quick`, and holds its output against the document to the letter.
#[test]
fn the_document_shows_that_every_quick_gate_passes() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/validation.md");
    let document = std::fs::read_to_string(path).expect("the document is there");
    let (_, shown) = document.split_once("```console\n$ copyback validate --quick\n").expect("it shows the command");
    let (text, _) = shown.split_once("```").expect("the fence is closed");
    assert!(!text.lines().any(|line| line == "..."), "the output is shown whole");
    let gates = text.lines().filter(|line| line.ends_with("  pass")).count();
    assert!(gates > 50 && text.ends_with(&format!("\n{gates} of {gates} pass\n")), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
    for group in ["Write amplification", "Waiting", "Bandwidth", "Sustained"] {
        assert!(text.contains(&format!("\n{group}")) || text.starts_with(group), "{group}: {text}");
    }
}

#[test]
fn results_do_not_depend_on_jobs_and_are_repeatable() {
    let arguments = ["validate", "--quick", "--only", "FIFO", "--only", "small", "--seeds", "2", "--json", "-"];
    let one = copyback(&[&arguments[..], &["--jobs", "1"]].concat());
    let two = copyback(&[&arguments[..], &["--jobs", "2"]].concat());
    assert_eq!(output_text(&one), output_text(&two));
    let document: serde_json::Value = serde_json::from_str(&output_text(&one)).unwrap();
    assert_eq!(document["schema"], "copyback/validate/1");
    assert_eq!(document["seeds"], 2);
    let gates = document["gates"].as_array().unwrap();
    assert!(gates.len() >= 4, "{document}");
    for gate in gates {
        for key in ["group", "name", "source", "reason", "verdict"] {
            assert!(gate[key].as_str().is_some_and(|text| !text.is_empty()), "{key}: {gate}");
        }
        for key in ["theory", "simulated", "deviation", "tolerance"] {
            assert!(gate[key].is_f64(), "{key}: {gate}");
        }
    }
}

#[test]
fn a_word_chooses_a_group_or_names() {
    let bandwidth = json(&["--quick", "--only", "bandwidth"]);
    assert!(bandwidth["gates"].as_array().unwrap().iter().all(|gate| gate["group"] == "bandwidth"));
    // The requested gate of a run that serves three gates.
    let one = json(&["--quick", "--only", "m/d/1, load 0.3, p99.9"]);
    assert_eq!(names(&one), ["M/D/1, load 0.3, p99.9"]);
}

/// Two seeds leave so wide an interval that agreement would be luck.
#[test]
fn a_gate_that_does_not_pass_ends_with_1() {
    let output = copyback(&["validate", "--quick", "--only", "M/D/1, load 0.3, p99", "--seeds", "2"]);
    assert_eq!(code(&output), 1, "{}", output_text(&output));
    assert!(
        output_text(&output).contains("NOISY") && output_text(&output).ends_with("1 of 2 pass\n"),
        "{}",
        output_text(&output)
    );
    assert!(
        error_text(&output).contains("1 of 2 gates did not pass: `M/D/1, load 0.3, p99.9`"),
        "{}",
        error_text(&output)
    );
    assert!(error_text(&output).contains("more --seeds"), "{}", error_text(&output));
}

#[test]
fn mistakes_are_refused_with_a_suggestion() {
    for (arguments, says) in [
        (&["validate", "--only", "bandwith"][..], &["no gate has `bandwith`", "did you mean `bandwidth`?"][..]),
        (&["validate", "--only", "gredy"], &["did you mean `greedy`?"]),
        (&["validate", "--device", "smal"], &["unknown device `smal`", "did you mean `small`?"]),
        (&["validate", "--seeds", "1"], &["--seeds"]),
        (&["validate", "--json", "nowhere/x.json"], &["there is no folder"]),
    ] {
        let output = copyback(arguments);
        assert_eq!(code(&output), 2, "{arguments:?}: {}", error_text(&output));
        for part in says {
            assert!(error_text(&output).contains(part), "{arguments:?} does not say `{part}`: {}", error_text(&output));
        }
    }
}

/// A device that differs from the presets in what makes formulas differ: kinds of pages, cycles, small units, pairs.
const MINE: &str = r#"
[geometry]
channels = 2
chips_per_channel = 2
dies_per_chip = 1
planes_per_die = 2
blocks_per_plane = 128
pages_per_block = 48
page_size = "16 KiB"
mapping_unit = "4 KiB"

[timing]
read = ["40 us", "60 us", "80 us"]
program = ["300 us", "500 us", "900 us"]
erase = "3 ms"
channel = "400 MB/s"
command = "300 ns"
cache_busy = "2 us"

[commands]
plane_pairs = true

[capacity]
over_provisioning = 0.2
"#;

#[test]
fn a_device_of_the_users_is_validated() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    std::fs::write(&path, MINE).unwrap();
    let device = path.to_str().unwrap();
    let document = json(&["--quick", "--device", device]);
    let names = names(&document);
    for part in ["greedy, b=192, OP 20 %", "M/D/1, load 0.7, mean", "mine, 2 planes, read, cache", "mine, one die"] {
        assert!(names.iter().any(|name| name.contains(part)), "{part}: {names:?}");
    }
    assert_eq!(document["inputs"][0]["role"], "device");
    // A mistake in it is answered as everywhere.
    std::fs::write(&path, MINE.replace("erase", "eraze")).unwrap();
    let output = copyback(&["validate", "--device", device]);
    assert_eq!(code(&output), 2);
    assert!(
        error_text(&output).contains("mine.toml:") && error_text(&output).contains("did you mean `erase`?"),
        "{}",
        error_text(&output)
    );
}
