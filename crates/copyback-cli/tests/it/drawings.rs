//! Is a drawing of nothing refused, or noted?

use crate::common::*;
use std::path::Path;

/// A drawing of a time at which nothing runs. When the run is over, it is refused with the time at which the run ends,
/// and the other outputs are written; in a pause of the run there is a note.
#[test]
fn a_drawing_of_nothing_is_no_success() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("t.csv"), "arrival_us,op,offset_bytes,length_bytes\n0,W,0,16384\n500000,W,0,16384\n").unwrap();
    let trace = path("t.csv");
    let run = ["run", "-q", "--set", "precondition.mode=empty", "--trace", &trace];
    let [json, drawing] = [path("run.json"), path("x.svg")];
    for (option, from) in [("--timeline", "--timeline-from"), ("--perfetto", "--perfetto-from")] {
        let output = copyback(&[&run[..], &[option, &drawing, from, "10 s", "--json", &json]].concat());
        let text = said(&output);
        assert_eq!(code(&output), 2, "{text}");
        for part in [option, "nothing runs from 10 s on: the run ends at 500", "help: name an earlier time"] {
            assert!(text.contains(part), "no `{part}` in {text}");
        }
        assert!(!Path::new(&drawing).exists());
        std::fs::remove_file(&json).expect("the results are written");
        let output = copyback(&[&run[..], &[option, &drawing, from, "100 ms"]].concat());
        let note = format!("Note: {option}: no flash command runs from 100 ms to ");
        assert!(printed(&output).contains(&note), "{}{}", printed(&output), said(&output));
        std::fs::remove_file(&drawing).expect("it is drawn");
        let output = copyback(&[&run[..], &[option, &drawing, from, "500 ms"]].concat());
        assert!(code(&output) == 0 && !printed(&output).contains("no flash command"), "{}", printed(&output));
        std::fs::remove_file(&drawing).expect("it is drawn");
    }
    // A window that extends beyond the run is drawn, and noted.
    let output = copyback(&[&run[..], &["--timeline", &drawing, "--timeline-to", "20 s"]].concat());
    let text = printed(&output);
    let note = text.lines().find(|line| line.contains("--timeline-to: the run ends at 50")).unwrap_or_default();
    assert!(note.ends_with("ms, before 20 s; the rest of the drawing is empty"), "{text}{}", said(&output));
    std::fs::remove_file(&drawing).expect("it is drawn");
    let die = copyback(&[&run[..], &["--timeline", &drawing, "--timeline-die", "15"]].concat());
    assert!(
        printed(&die).contains("--timeline: no flash command of the drawn dies runs from 0 ns to 10 ms"),
        "{}",
        printed(&die)
    );
}
