//! The table of commands has all commands of the flash with their times.

use crate::common::{code, copyback, error_text, output_text};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A row: words and numbers by column.
struct CommandRow {
    words: BTreeMap<String, String>,
    numbers: BTreeMap<String, u64>,
}

impl CommandRow {
    fn is(&self, op: &str, source: &str) -> bool {
        self.words["op"] == op && self.words["source"] == source
    }
}

fn command_rows(path: &Path) -> Vec<CommandRow> {
    let reader = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
    let row = |row: parquet::record::Row| {
        let mut told = CommandRow { words: BTreeMap::new(), numbers: BTreeMap::new() };
        for (name, field) in row.get_column_iter() {
            match field {
                Field::Str(word) => drop(told.words.insert(name.clone(), word.clone())),
                Field::ULong(number) => drop(told.numbers.insert(name.clone(), *number)),
                Field::Null => {}
                other => panic!("{name}: {other:?}"),
            }
        }
        told
    };
    reader.get_row_iter(None).unwrap().map(|each| row(each.unwrap())).collect()
}

/// A run's report, and its commands.
fn run(arguments: &[&str]) -> (Value, Vec<CommandRow>) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let base = ["run", "--quiet", "--json", "-", "--workload", "mixed-70-30"];
    let output = copyback(&[&base[..], arguments, &["--out", out.to_str().unwrap(), "--out-commands"]].concat());
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    let document: Value = serde_json::from_str(&output_text(&output)).unwrap();
    (document["results"][0]["report"].clone(), command_rows(&out.join("commands.parquet")))
}

/// The counters count independently, when commands are issued. Only the last nanosecond of a warm-up may belong to both
/// parts.
fn check_counts(report: &Value, commands: &[CommandRow]) {
    for (counter, op, source) in [
        ("host_page_reads", "read", "host"),
        ("host_page_programs", "program", "host"),
        ("gc_page_reads", "read", "GC"),
        ("gc_page_programs", "program", "GC"),
    ] {
        let counted = report["flash"][counter].as_u64().unwrap();
        let rows = commands.iter().filter(|row| row.is(op, source)).count() as u64;
        assert!(counted > 0, "{counter}: nothing is tested");
        assert_eq!(rows, counted, "{counter}");
    }
    let erases = commands.iter().filter(|row| row.words["op"] == "erase").count() as u64;
    assert_eq!(erases, report["flash"]["block_erases"].as_u64().unwrap());
}

#[test]
fn commands_are_those_that_the_report_counts() {
    let (report, commands) = run(&["--requests", "4000"]);
    check_counts(&report, &commands);
    let mut busy_until_ns = BTreeMap::new();
    let mut last = None;
    for row in &commands {
        let at = |name: &str| row.numbers[name];
        let times_ns = [at("issued_ns"), at("array_start_ns"), at("array_end_ns"), at("end_ns")];
        assert!(times_ns.is_sorted() && times_ns[0] < times_ns[3], "{times_ns:?}");
        // An array does one thing at a time; the planes of one command do it together.
        if last != Some(at("command")) {
            let until_ns = busy_until_ns.insert(at("die"), times_ns[2]).unwrap_or(0);
            assert!(until_ns <= times_ns[1], "die {} works twice at {} ns", at("die"), times_ns[1]);
        }
        last = Some(at("command"));
    }
    let shape = |row: &CommandRow, what: &str, per: u64, of: &str| assert_eq!(row.numbers[what], row.numbers[of] / per);
    let geometry = config(&["--requests", "4000"]);
    for row in &commands {
        shape(row, "plane", geometry.blocks_per_plane, "block");
        shape(row, "die", geometry.planes_per_die, "plane");
        shape(row, "channel", geometry.dies_per_channel, "die");
    }
    // Rows of the host may name their request; other rows name none.
    let requests: BTreeSet<u64> = commands.iter().filter_map(|row| row.numbers.get("request").copied()).collect();
    assert!(requests.len() > 1000 && requests.iter().all(|request| *request < 4000));
    assert!(commands.iter().all(|row| row.words["source"] == "host" || !row.numbers.contains_key("request")));
}

struct Shape {
    blocks_per_plane: u64,
    planes_per_die: u64,
    dies_per_channel: u64,
}

/// The shape of the drive, from its configuration.
fn config(arguments: &[&str]) -> Shape {
    let text = output_text(&copyback(&[&["run", "--print-config"][..], arguments].concat()));
    let config: toml::Table = text.parse().unwrap();
    let number = |name: &str| config["geometry"][name].as_integer().unwrap() as u64;
    Shape {
        blocks_per_plane: number("blocks_per_plane"),
        planes_per_die: number("planes_per_die"),
        dies_per_channel: number("chips_per_channel") * number("dies_per_chip"),
    }
}

#[test]
fn a_warm_up_is_left_out() {
    let (report, commands) = run(&["--requests", "3000", "--warmup", "1000"]);
    let begin_ns = report["warmup"]["end_ns"].as_u64().unwrap();
    assert!(begin_ns > 0 && commands.iter().all(|row| row.numbers["issued_ns"] >= begin_ns));
    assert!(commands[0].numbers["command"] > 0, "those of the warm-up are counted");
    check_counts(&report, &commands);
}

#[test]
fn each_drive_of_an_array_has_its_own() {
    let (report, commands) = run(&["--requests", "3000", "--array", "raid-0", "--set", "array.drives=3"]);
    check_counts(&report, &commands);
    let drives = report["array"]["drives"].as_array().unwrap();
    assert_eq!(drives.len(), 3);
    for drive in drives {
        let own = commands.iter().filter(|row| row.numbers["drive"] == drive["drive"].as_u64().unwrap());
        let erases = own.filter(|row| row.words["op"] == "erase").count() as u64;
        assert_eq!(erases, drive["erases"].as_u64().unwrap(), "{drive}");
        assert!(erases > 0, "nothing is tested");
    }
}

/// Drawings of a time window of the run take their commands from the same log.
#[test]
fn a_drawing_beside_the_table_is_the_drawing_alone() {
    let folder = tempfile::tempdir().unwrap();
    let [alone, beside] = ["alone.txt", "beside.txt"].map(|name| folder.path().join(name));
    let base = ["run", "--quiet", "--requests", "500", "--timeline-to", "2 ms", "--timeline"];
    assert_eq!(code(&copyback(&[&base[..], &[alone.to_str().unwrap()]].concat())), 0);
    let out = folder.path().join("out");
    let table = [beside.to_str().unwrap(), "--out-commands", "--out", out.to_str().unwrap()];
    assert_eq!(code(&copyback(&[&base[..], &table].concat())), 0);
    assert_eq!(std::fs::read_to_string(alone).unwrap(), std::fs::read_to_string(beside).unwrap());
    assert!(command_rows(&out.join("commands.parquet")).iter().any(|row| row.numbers["issued_ns"] > 2_000_000));
}

#[test]
fn a_drawing_is_of_the_die_that_works_most() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    // One unit is read again and again: only its die works.
    let trace = folder.path().join("one.csv");
    let reads: String = (0..50).map(|at| format!("{},read,81920,16384\n", at * 100)).collect();
    std::fs::write(&trace, format!("arrival_us,op,offset_bytes,length_bytes\n{reads}")).unwrap();
    let arguments = ["run", "--trace", trace.to_str().unwrap(), "--out-commands", "--out", out.to_str().unwrap()];
    let output = copyback(&[&arguments[..], &["--timeline", "-"]].concat());
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    let dies: BTreeSet<u64> =
        command_rows(&out.join("commands.parquet")).iter().map(|row| row.numbers["die"]).collect();
    let [die] = dies.into_iter().collect::<Vec<_>>()[..] else { panic!("one die is read") };
    assert_ne!(die, 0, "nothing is tested");
    let text = output_text(&output);
    let header = text.lines().next().unwrap_or_default();
    assert!(header.starts_with(&format!("die {die}, ")) && header.matches(" ms").count() == 2, "{text}");
}

#[test]
fn around_a_request_its_arrival_is_the_zero_of_an_axis_in_one_unit() {
    let folder = tempfile::tempdir().unwrap();
    let [out, svg, text] = ["out", "x.svg", "x.txt"].map(|name| folder.path().join(name));
    let base = ["run", "--quiet", "--requests", "2000", "--workload", "mixed-70-30", "--timeline-around", "worst-read"];
    let files = ["--out-requests", "--out", out.to_str().unwrap(), "--timeline", svg.to_str().unwrap()];
    assert_eq!(code(&copyback(&[&base[..], &files].concat())), 0);
    assert_eq!(code(&copyback(&[&base[..], &["--timeline", text.to_str().unwrap()]].concat())), 0);
    let requests = command_rows(&out.join("requests.parquet"));
    let reads = requests.iter().filter(|row| row.words["op"] == "read");
    let key = |row: &&CommandRow| (row.numbers["response_ns"], std::cmp::Reverse(row.numbers["index"]));
    let slowest = &reads.max_by_key(key).unwrap().numbers;
    let drawing = std::fs::read_to_string(svg).unwrap();
    let titled = |name: &str| drawing.contains(&format!("{name} {}", slowest["index"]));
    assert!(titled("read") && drawing.contains("outlined: what serves it; times count from its arrival"), "{drawing}");
    // The line of the arrival goes through the zero of the axis, and labels have no units.
    let place = |line: &str, name: &str| {
        line.split(&format!("{name}=\"")).nth(1).unwrap().split('"').next().unwrap().to_owned()
    };
    let arrival = drawing.lines().find(|line| line.contains("stroke=\"black\" stroke-width=\"1.5\"/>")).unwrap();
    let zero = drawing.lines().find(|line| line.ends_with(">0</text>")).expect("a tick is zero");
    assert_eq!(place(arrival, "x1"), place(zero, "x1"));
    let ticks = drawing.lines().filter(|line| line.contains("stroke=\"#cccccc\"/><text"));
    let labels: Vec<f64> =
        ticks.map(|tick| tick.rsplit('>').nth(1).unwrap().trim_end_matches("</text").parse().unwrap()).collect();
    assert!(labels.len() > 1 && labels.is_sorted() && labels.contains(&0.0), "{labels:?}");
    let outlined = drawing.lines().filter(|line| line.contains("stroke=\"black\" stroke-width=\"2\"")).count();
    let own = format!("for host, request {},", slowest["index"]);
    assert_eq!(outlined, 1 + drawing.lines().filter(|line| line.contains(&own)).count());
    assert!(outlined > 1, "nothing that serves it is marked");
    let text = std::fs::read_to_string(text).unwrap();
    let told = format!("read {} arrives at ", slowest["index"]);
    assert!(text.contains(&told) && text.contains("; times count from its arrival"), "{text}");
    let row = text.lines().find(|line| line.starts_with("request ")).unwrap();
    let axis = text.lines().find(|line| line.split_whitespace().any(|label| label == "0")).unwrap();
    assert_eq!(row.find("read").unwrap(), axis.split(" 0 ").next().unwrap().len() + 1, "{text}");
}
