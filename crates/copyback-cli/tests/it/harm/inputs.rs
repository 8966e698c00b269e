//! An output that is an input of the same command, under whichever name, is refused, and so are two outputs in one
//! file.

use super::*;

const DEVICE: &str = "device = \"small\"\n";
const TRACE: &str = "128166372003061629,hm,0,Read,4096,4096,100\n128166372003062629,hm,0,Write,4096,4096,100\n";

/// The names of a file: its own, a symbolic link and a hard link.
fn names(place: &Place, name: &str) -> [String; 4] {
    let (soft, hard) = (format!("soft-{name}"), format!("hard-{name}"));
    place.link(&soft, name);
    std::fs::hard_link(place.path(name), place.path(&hard)).expect("the file system has hard links");
    let whole = place.path(name).to_str().expect("the path is text").to_owned();
    [format!("./{name}"), soft, hard, whole]
}

/// Refuses `arguments` with each of a file's names in the place of `OUT`; the file stays unchanged.
fn kept(place: &Place, name: &str, arguments: &[&str]) {
    let before = place.bytes(name);
    let outputs = names(place, name);
    let all = place.names();
    for output in &outputs {
        let words: Vec<&str> =
            arguments.iter().map(|word| if *word == "OUT" { output.as_str() } else { *word }).collect();
        place.refused(&words, &["would be overwritten", name, "name another file"]);
        assert_eq!(place.bytes(name), before, "{words:?}");
        assert_eq!(place.names(), all, "{words:?}");
    }
    std::fs::remove_file(place.path(&outputs[1])).unwrap();
    std::fs::remove_file(place.path(&outputs[2])).unwrap();
}

#[test]
fn a_runs_inputs_are_kept() {
    let place = Place::new();
    place.file("my.toml", DEVICE);
    kept(&place, "my.toml", &["run", "my.toml", "--json", "OUT"]);
    kept(&place, "my.toml", &["compare", "my.toml", "--json", "OUT"]);
    place.file("die.svg", DEVICE);
    kept(&place, "die.svg", &["run", "die.svg", "--timeline", "die.svg"]);
    place.file("trace.csv", TRACE);
    kept(&place, "trace.csv", &["run", "--trace", "trace.csv", "--json", "OUT"]);
    place.file("my.toml", "[workload]\ntrace = \"trace.csv\"\n");
    kept(&place, "trace.csv", &["run", "my.toml", "--json", "OUT"]);
    let preset = |kind: &str, name: &str, file: &str| place.file(file, place.done(&[kind, name]));
    preset("devices", "small", "device.toml");
    preset("schemes", "pgc", "scheme.toml");
    preset("workloads", "random-write", "load.toml");
    kept(&place, "device.toml", &["run", "--device", "device.toml", "--json", "OUT"]);
    kept(&place, "scheme.toml", &["compare", "--schemes", "baseline,scheme.toml", "--json", "OUT"]);
    kept(&place, "load.toml", &["run", "--workload", "load.toml", "--json", "OUT"]);
    kept(&place, "device.toml", &["validate", "--device", "device.toml", "--json", "OUT"]);
    kept(&place, "load.toml", &["trace", "convert", "load.toml", "OUT", "--to", "msr"]);
    kept(&place, "trace.csv", &["trace", "convert", "trace.csv", "OUT", "--to", "msr"]);
    place.file("load.toml", "[workload]\ntrace = \"trace.csv\"\n");
    kept(&place, "trace.csv", &["trace", "convert", "load.toml", "OUT", "--to", "msr"]);
}

#[test]
fn a_sweeps_inputs_are_kept() {
    let place = Place::new();
    place.file("device.toml", place.done(&["devices", "small"]));
    place.file("trace.csv", TRACE);
    place.file("base.toml", format!("{SWEEP}device = \"./device.toml\"\ntrace = \"trace.csv\"\n"));
    place.file("my.toml", "grid = \"base.toml\"\n");
    for name in ["my.toml", "base.toml", "device.toml", "trace.csv"] {
        kept(&place, name, &["sweep", "my.toml", "--out", "OUT"]);
    }
    // The journal's name is the program's choice.
    std::fs::copy(place.path("my.toml"), place.path("my.journal")).unwrap();
    place.refused(&["sweep", "my.journal", "--out", "my.parquet"], &["the journal my.journal would be overwritten"]);
    place.file("mine.parquet", "");
    place.file("mine.toml", "trace = \"mine.parquet\"\n");
    place.refused(&["sweep", "mine.toml"], &["mine.parquet"]);
    assert_eq!(place.read("mine.parquet"), "");
    place.file("claims.toml", CLAIMS);
    kept(&place, "claims.toml", &["reproduce", "./claims.toml", "--json", "OUT"]);
    assert!(!place.path("reproduction").exists(), "nothing was begun");
}

/// A resolved configuration is an experiment, and users may name its folder for the next results.
#[test]
fn a_configuration_in_the_folder_of_results_is_kept() {
    let place = Place::new();
    place.done(&with(&RUN, &["--out", "out"]));
    let before = place.bytes("out/config-baseline.toml");
    let again = ["run", "--quiet", "out/config-baseline.toml", "--out", "out"];
    place.refused(&again, &["would be overwritten", "the experiment out/config-baseline.toml"]);
    assert_eq!(place.bytes("out/config-baseline.toml"), before);
    place.done(&["run", "--quiet", "out/config-baseline.toml", "--out", "other"]);
}

#[test]
fn two_outputs_in_one_file_are_refused() {
    let place = Place::new();
    place.link("b.txt", "a.txt");
    for (timeline, json) in [("a.txt", "a.txt"), ("b.txt", "a.txt"), ("./a.txt", "b.txt")] {
        let outputs = ["--timeline", timeline, "--json", json];
        place.refused(&with(&RUN, &outputs), &["--timeline", "--json", "are one file"]);
    }
    assert_eq!(place.names(), ["b.txt"]);
    place.link("stdout", "/dev/stdout");
    place.refused(&with(&RUN, &["--timeline", "-", "--json", "stdout"]), &["would both write to standard output"]);
    place.done(&with(&RUN, &["--out", "out"]));
    place.refused(&with(&RUN, &["--out", "out", "--json", "out/results.json"]), &["--json", "--out", "are one file"]);
    let inside = ["holds only the results of a run", "name a file elsewhere"];
    place.refused(&with(&RUN, &["--out", "out", "--timeline", "out/die.svg"]), &inside);
    // Nothing is lost in the null device.
    place.link("null.txt", "/dev/null");
    place.link("null", "/dev/null");
    place.done(&with(&RUN, &["--timeline", "null.txt", "--json", "null"]));
}

/// The shell has opened the file already, and the summary goes into it.
#[test]
fn what_the_shell_sends_standard_output_to_is_no_other_output_and_no_input() {
    let place = Place::new();
    let run = format!("\"$copyback\" {}", RUN.join(" "));
    let output = place.shell(&format!("{run} --json results.json > results.json"));
    assert!(
        code(&output) == 2 && error_text(&output).contains("standard output and --json results.json are one file"),
        "{}",
        error_text(&output)
    );
    place.file("my.toml", DEVICE);
    let output = place.shell(&format!("{run} my.toml >> my.toml"));
    assert!(
        code(&output) == 2 && error_text(&output).contains("standard output would be overwritten"),
        "{}",
        error_text(&output)
    );
    assert_eq!(place.read("my.toml"), DEVICE);
    place.link("stdout", "/dev/stdout");
    let output = place.shell(&format!("{run} my.toml --json stdout > results.json"));
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    assert!(place.read("results.json").ends_with("}\n"));
}
