//! Is a drawing of nothing refused, or noted?

use crate::common::*;
use std::path::Path;

/// A drawing of a time at which nothing runs. When the run is over, it is refused with the time at which the run ends,
/// and the other outputs are written; in a pause of the run there is a note.
#[test]
fn an_empty_drawing_is_refused_or_noted() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("t.csv"), "arrival_us,op,offset_bytes,length_bytes\n0,W,0,16384\n500000,W,0,16384\n").unwrap();
    let trace = path("t.csv");
    let run = ["run", "-q", "--set", "precondition.mode=empty", "--trace", &trace];
    let [json, drawing, perfetto] = [path("run.json"), path("x.svg"), path("x.perfetto-trace")];
    let options = [("--timeline", "--timeline-from", &drawing), ("--perfetto", "--perfetto-from", &perfetto)];
    for (option, from, drawing) in options {
        let output = copyback(&[&run[..], &[option, drawing, from, "10 s", "--json", &json]].concat());
        let text = error_text(&output);
        assert_eq!(code(&output), 2, "{text}");
        for part in [option, "nothing runs from 10 s on: the run ends at 500", "help: name an earlier time"] {
            assert!(text.contains(part), "no `{part}` in {text}");
        }
        assert!(!Path::new(drawing).exists());
        std::fs::remove_file(&json).expect("the results are written");
        let output = copyback(&[&run[..], &[option, drawing, from, "100 ms"]].concat());
        let note = format!("Note: {option}: no flash command runs from 100 ms to ");
        assert!(output_text(&output).contains(&note), "{}{}", output_text(&output), error_text(&output));
        std::fs::remove_file(drawing).expect("it is drawn");
        let output = copyback(&[&run[..], &[option, drawing, from, "500 ms"]].concat());
        assert!(code(&output) == 0 && !output_text(&output).contains("no flash command"), "{}", output_text(&output));
        std::fs::remove_file(drawing).expect("it is drawn");
    }
    // A window that extends beyond the run is drawn, and noted.
    let output = copyback(&[&run[..], &["--timeline", &drawing, "--timeline-to", "20 s"]].concat());
    let text = output_text(&output);
    let note = text.lines().find(|line| line.contains("--timeline-to: the run ends at 50")).unwrap_or_default();
    assert!(note.ends_with("ms, before 20 s; the rest of the drawing is empty"), "{text}{}", error_text(&output));
    std::fs::remove_file(&drawing).expect("it is drawn");
    let die = copyback(&[&run[..], &["--timeline", &drawing, "--timeline-die", "15"]].concat());
    assert!(
        output_text(&die).contains("--timeline: no flash command of the drawn dies runs from 0 ns to 10 ms"),
        "{}",
        output_text(&die)
    );
}

/// Without a time, a drawing shows a die that works, however late the first request comes.
#[test]
fn a_drawing_without_a_time_shows_work() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, drawing) = (folder.path().join("t.csv"), folder.path().join("x.txt"));
    std::fs::write(&trace, "fio version 3 iolog\n0 /dev/x add\n0 /dev/x open\n700000 /dev/x write 0 16384\n").unwrap();
    let [trace, path] = [&trace, &drawing].map(|path| path.to_str().unwrap());
    let output = copyback(&["run", "-q", "--trace", trace, "--timeline", path]);
    assert!(code(&output) == 0 && !output_text(&output).contains("no flash command"), "{}", error_text(&output));
    let text = std::fs::read_to_string(&drawing).expect("it is drawn");
    assert!(text.contains("700"), "it begins with the first command, at 700 ms: {text}");
    // If a run begins with a single read, the drawing shows a later part, in which a die works.
    let writes: String = (0..400).map(|at| format!("{},W,{},16384\n", 60_000 + at, at * 16_384)).collect();
    let sparse = folder.path().join("s.csv");
    std::fs::write(&sparse, format!("arrival_us,op,offset_bytes,length_bytes\n0,R,0,4096\n{writes}")).unwrap();
    let output = copyback(&["run", "-q", "--trace", sparse.to_str().unwrap(), "--timeline", path]);
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    let text = std::fs::read_to_string(&drawing).expect("it is drawn");
    assert!(text.contains("60 to 70 ms"), "it begins with the writes: {text}");
    // A time that the user names is drawn, whatever runs then.
    let output = copyback(&["run", "-q", "--trace", trace, "--timeline", path, "--timeline-from", "0 ms"]);
    let note = "no flash command runs from 0 ns to 10 ms; the run lasts from 0 ns to 700.";
    assert!(output_text(&output).contains(note), "{}", output_text(&output));
}

/// What is between two texts, after the first.
fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    text.split_once(before).and_then(|(_, rest)| rest.split_once(after)).map_or("", |(inner, _)| inner)
}

/// Drives of an array have dies of the same number: each has rows of its own, which name it.
#[test]
fn a_drawing_of_an_array_has_rows_of_each_drive() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.svg");
    let drawn = |more: &[&str]| {
        let run = ["run", "-q", "-a", "raid-5", "--requests", "400", "--timeline", file.to_str().unwrap()];
        let output = copyback(&[&run[..], more].concat());
        assert_eq!(code(&output), 0, "{}", error_text(&output));
        std::fs::read_to_string(&file).unwrap()
    };
    for picture in [drawn(&["--timeline-around", "worst-write"]), drawn(&["--timeline-die", "12"])] {
        // Names of rows by their place, and the boxes of arrays beside them.
        let mut rows: std::collections::BTreeMap<i64, (String, Vec<[f64; 2]>)> = Default::default();
        let number = |line: &str, name: &str| between(line, &format!(" {name}=\""), "\"").parse::<f64>().unwrap();
        for line in picture.lines().filter(|line| line.starts_with("<text x=\"4\"") && line.contains(">drive ")) {
            let row = line.split('>').nth(1).unwrap().trim_end_matches("</text").to_owned();
            rows.insert((number(line, "y") - 18.0) as i64, (row, Vec::new()));
        }
        for line in picture.lines().filter(|line| line.starts_with("<g><title>drive ")) {
            let rect = line.split("<rect").nth(1).unwrap();
            let (name, boxes) = rows.get_mut(&(number(rect, "y") as i64)).expect("a box is in a row");
            let drive = between(line, "<title>drive ", ",");
            assert!(name.starts_with(&format!("drive {drive} ")), "{line} is in the row {name}");
            if rect.contains("fill-opacity=\"1\"") {
                boxes.push([number(rect, "x"), number(rect, "width")]);
            }
        }
        for (name, boxes) in rows.values_mut() {
            boxes.sort_by(|a, b| a[0].total_cmp(&b[0]));
            let overlap = boxes.windows(2).find(|pair| pair[0][0] + pair[0][1] > pair[1][0] + 0.02);
            assert_eq!(overlap, None, "an array of {name} works twice at once");
        }
        assert!(rows.values().any(|(_, boxes)| !boxes.is_empty()), "nothing is drawn");
        let drives =
            rows.values().map(|(name, _)| between(name, "drive ", " ")).collect::<std::collections::BTreeSet<_>>();
        assert!(drives.len() > 1, "one drive has served it");
    }
}

/// A picture that no viewer opens is refused before it is made.
#[test]
fn a_picture_has_a_stated_number_of_commands() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.svg");
    let dies: Vec<String> = (0..16).flat_map(|die| ["--timeline-die".to_owned(), die.to_string()]).collect();
    let mut run = vec!["run", "-q", "--requests", "9000", "--timeline-to", "100 s", "--timeline"];
    run.push(file.to_str().unwrap());
    run.extend(dies.iter().map(String::as_str));
    let output = copyback(&run);
    assert_eq!(code(&output), 2, "{}", output_text(&output));
    let text = error_text(&output);
    for part in ["more than 10000 commands in the window", "--timeline-from", "--timeline-die", ".txt"] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
    assert!(!file.exists());
}
