//! Input that is too large, or duplicated, is refused before it takes memory or time.

use super::*;

/// Every command that reads a configuration; `IN` represents its name.
const READERS: &[&[&str]] = &[
    &["run", "IN"],
    &["run", "--device", "IN"],
    &["run", "--scheme", "IN"],
    &["run", "--workload", "IN"],
    &["compare", "--schemes", "baseline,IN"],
    &["sweep", "IN", "--list"],
    &["reproduce", "IN"],
    &["validate", "--device", "IN"],
];

fn reading<'a>(reader: &[&'a str], input: &'a str) -> Vec<String> {
    reader.iter().map(|word| word.replace("IN", input)).collect()
}

fn refused(place: &Place, reader: &[&str], input: &str) {
    let words = reading(reader, input);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let started = Instant::now();
    place.refused(&words, &["has more than 1048576 bytes", input]);
    assert!(started.elapsed() < PATIENCE);
}

#[test]
fn configurations_have_a_mebibyte_at_most() {
    let place = Place::new();
    let text = |bytes: usize| format!("#{}\n", "x".repeat(bytes - 2));
    place.file("most.toml", text(1 << 20));
    place.done(&with(&RUN, &["most.toml"]));
    place.file("more.toml", text((1 << 20) + 1));
    for reader in READERS {
        refused(&place, reader, "./more.toml");
    }
    place.file("convert.toml", text((1 << 20) + 1));
    place.refused(&["trace", "info", "convert.toml"], &["has more than 1048576 bytes"]);
    place.file("grid.toml", "grid = \"more.toml\"\n");
    place.refused(&["sweep", "grid.toml"], &["grid.toml:1:8", "has more than 1048576 bytes"]);
}

#[test]
fn endless_inputs_are_read_up_to_a_limit() {
    let place = Place::new();
    for reader in READERS {
        refused(&place, reader, "/dev/zero");
    }
    let pipe = place.pipe("pipe.toml");
    for reader in READERS {
        let endless = {
            let pipe = pipe.clone();
            std::thread::spawn(move || {
                let mut file = std::fs::OpenOptions::new().write(true).open(pipe).unwrap();
                while std::io::Write::write_all(&mut file, &[b'#'; 4096]).is_ok() {}
            })
        };
        refused(&place, reader, "./pipe.toml");
        endless.join().unwrap();
    }
    // A pipe that ends is a file like any other.
    let shell = place.shell("echo 'requests = 10' | \"$copyback\" run --quiet /dev/stdin --json -");
    assert!(output_text(&shell).contains("\"requests\": 10"), "{}", error_text(&shell));
}

fn grid(place: &Place, text: &str, says: &[&str]) {
    place.file("grid.toml", text);
    place.refused(&["sweep", "grid.toml", "--list"], says);
}

/// Numbers of a list.
fn list(count: usize) -> String {
    let numbers: Vec<String> = (1..=count).map(|number| number.to_string()).collect();
    format!("[{}]", numbers.join(","))
}

/// Each scheme of a cell is a run with a configuration of its own.
#[test]
fn a_grid_has_a_million_runs_at_most() {
    let place = Place::new();
    let cells = |seeds, depths| format!("seeds = {}\n[vary]\nhost.queue_depth = {}\n", list(seeds), list(depths));
    let says = |schemes| format!("`grid` spans 1,001,000 runs with {schemes}, and 1,000,000 are possible");
    grid(
        &place,
        &format!("scheme = \"baseline\"\n{}", cells(1001, 1000)),
        &[&says("1 scheme"), "vary fewer keys at a time, name fewer schemes"],
    );
    grid(&place, &cells(1001, 500), &[&says("2 schemes")]);
    let four = "schemes = [\"baseline\", \"pgc\", \"gc-par\", \"ideal-no-gc\"]\n";
    grid(&place, &format!("{four}{}", cells(1001, 250)), &[&says("4 schemes")]);
    // 10,000 to the power of 5 would not fit a number of 64 bits, nor its list the memory.
    let keys = ["a", "b", "c", "d", "e"].map(|key| format!("host.{key} = {}\n", list(10_000)));
    grid(
        &place,
        &format!("[vary]\n{}", keys.concat().replace("10000]", "10000,10001]")),
        &["more runs than can be counted"],
    );
    let text = cells(1001, 500).replacen("[vary]", &format!("{CLAIMS}[vary]"), 1);
    place.file("claims.toml", text);
    place.refused(&["reproduce", "./claims.toml"], &["`claims` spans 1,001,000 runs with 2 schemes"]);
}

#[test]
fn twins_are_refused_where_they_stand() {
    let place = Place::new();
    grid(&place, "seeds = [1, 2, 1]\n", &["grid.toml:1:16", "`seeds` has 1 twice", "name each number once"]);
    grid(&place, "devices = [\"small\", \"small\"]\n", &["grid.toml:1:21", "device `small` is there twice"]);
    grid(&place, "[vary]\ntrigger.soft = [0.1, 0.10]\n", &["grid.toml:2:22", "`0.1` is there twice"]);
    place.file("base.toml", "seeds = [5, 5]\n");
    grid(&place, "grid = \"base.toml\"\n", &["base.toml:1:13", "`seeds` has 5 twice"]);
}
