//! Does docs/output.md describe every column and every key that the program writes, and nothing else?
//!
//! Runs that have every part of a report among them are written to folders, and what is found there is compared with
//! the tables of the page, both ways.

use crate::common::{code, copyback, error_text};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// An array with a window, bandwidth by intervals, and times of flash requests.
const ARRAY: &str = r#"
device = "small"
workload = "mixed-70-30"
requests = 300
warmup = 100

[array]
level = "raid-5"
drives = 3

[measure]
bandwidth = "10 ms"
window = "50 ms"
bin = "10 ms"
flash_requests = true
"#;

/// The runs, each with a folder of its own. Together they have all parts of a report and all tables.
const RUNS: &[&[&str]] = &[
    &["compare", "array.toml", "--schemes", "uncoordinated,ggc-reactive-inclusive", "--out-requests", "--out-commands"],
    &["run", "array.toml", "--scheme", "ggc-reactive-inclusive", "--microscope", "drawn.svg"],
    &["run", "several.toml", "--out-requests"],
    // Long enough for a verdict on its steady state.
    &["run", "--requests", "3000", "--set", "mapping.policy=dftl"],
    &["run", "--requests", "300", "--set", "mapping.policy=fast", "--set", "precondition.mode=sequential"],
    &["run", "--requests", "300", "--scheme", "autossd", "--set", "tasks.scrub.start=100"],
    &[
        "run",
        "--requests",
        "300",
        "--scheme",
        "rain",
        "--set",
        "capacity.logical=640 MiB",
        "--set",
        "geometry.blocks_per_plane=171",
        "--set",
        "frontier.fill_limit=1 ms",
    ],
];

/// Two workloads that share a drive.
const SEVERAL: &str = r#"
device = "small"

[workloads.reader]
requests = 200
read_share = 1.0
size = { kind = "fixed", mean = "4 KiB" }

[workloads.writer]
requests = 100
read_share = 0.0
size = { kind = "fixed", mean = "4 KiB" }
"#;

const SWEEP: &str = "schemes = [\"baseline\", \"pgc\"]\nrequests = 300\n[vary]\ntrigger.soft = [0.05, 0.1]\n";

/// A row of a table of the page: what it names, and the column beside it.
type Named = BTreeMap<String, String>;

/// The tables of the page, by the text of the heading of the second or third rank above each.
struct Page(Vec<(String, String, Named)>);

impl Page {
    fn read() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/output.md");
        let text = std::fs::read_to_string(path).expect("the page is there");
        let (mut chapter, mut sections) = (String::new(), Vec::new());
        for line in text.lines() {
            if let Some(title) = line.strip_prefix("## ") {
                title.clone_into(&mut chapter);
                sections.push((chapter.clone(), String::new(), Named::new()));
            } else if let Some(title) = line.strip_prefix("### ") {
                sections.push((chapter.clone(), title.trim_matches('`').to_owned(), Named::new()));
            }
            let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
            let name = cells[0].strip_prefix('`').and_then(|name| name.strip_suffix('`'));
            if let (true, Some(name), Some((_, _, named))) = (line.starts_with('|'), name, sections.last_mut()) {
                let twin = named.insert(name.to_owned(), (*cells.get(1).expect("a column beside it")).to_owned());
                assert!(twin.is_none(), "`{name}` is described twice");
            }
        }
        Self(sections)
    }

    /// All names of a chapter.
    fn chapter(&self, title: &str) -> Named {
        let of = self.0.iter().filter(|(chapter, _, _)| chapter == title);
        let all: Named = of.flat_map(|(_, _, named)| named.clone()).collect();
        assert!(!all.is_empty(), "there is no chapter {title}");
        all
    }

    /// The columns of a table.
    fn table(&self, file: &str) -> BTreeSet<String> {
        let found = self.0.iter().find(|(_, section, _)| section == file);
        found.unwrap_or_else(|| panic!("there is no section on {file}")).2.keys().cloned().collect()
    }
}

/// Whether a name of the page matches a path. `<class>` is each name that the page calls a class; another word in angle
/// brackets is any one member.
fn stands_for(name: &str, path: &str, described: &Named) -> bool {
    if let Some(field) = name.strip_prefix("<class>.") {
        let class = path.rsplit_once('.').filter(|(_, last)| *last == field).map(|(class, _)| class);
        let is_class = |class: &str| {
            let as_class = |(name, unit): (&String, &String)| unit == "class" && stands_for(name, class, described);
            described.iter().any(as_class)
        };
        return class.is_some_and(is_class);
    }
    let (names, parts): (Vec<&str>, Vec<&str>) = (name.split('.').collect(), path.split('.').collect());
    names.len() == parts.len() && names.iter().zip(&parts).all(|(name, part)| name.starts_with('<') || name == part)
}

/// Compares paths with the names that describe them; both ways.
fn compare(what: &str, paths: &BTreeSet<String>, described: &Named) {
    let is_known = |path: &&String| described.keys().any(|name| stands_for(name, path, described));
    let unknown: Vec<&String> = paths.iter().filter(|path| !is_known(path)).collect();
    assert!(unknown.is_empty(), "{what}: docs/output.md does not describe {unknown:?}");
    let is_there = |name: &&String| paths.iter().any(|path| stands_for(name, path, described));
    let missing: Vec<&String> = described.keys().filter(|name| !is_there(name)).collect();
    assert!(missing.is_empty(), "{what}: docs/output.md describes what no run writes: {missing:?}");
}

/// Keys of a document, as paths. Pairs of a name and a value are values, and configurations are not looked into.
fn paths(path: &str, value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (name, inner) in members {
                let inner_path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                found.insert(inner_path.clone());
                if inner_path != "results[].config" {
                    paths(&inner_path, inner, found);
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|member| paths(&format!("{path}[]"), member, found)),
        _ => {}
    }
}

fn open(path: &Path) -> SerializedFileReader<std::fs::File> {
    SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap()
}

fn columns(path: &Path) -> BTreeSet<String> {
    let metadata = open(path).metadata().file_metadata().schema_descr().columns().to_vec();
    metadata.iter().map(|column| column.name().to_owned()).collect()
}

/// Keys and values of a table's file.
fn about(path: &Path) -> BTreeMap<String, String> {
    let pairs = open(path).metadata().file_metadata().key_value_metadata().cloned().unwrap_or_default();
    pairs.into_iter().map(|pair| (pair.key, pair.value.unwrap_or_default())).collect()
}

/// Runs one of [`RUNS`] in a folder, into another one in it.
fn run(folder: &Path, at: usize) -> std::path::PathBuf {
    let out = folder.join(format!("out-{at}"));
    let inside = |word: &&str| match *word {
        "array.toml" | "several.toml" | "drawn.svg" => folder.join(word).to_str().unwrap().to_owned(),
        other => other.to_owned(),
    };
    let mut arguments: Vec<String> = RUNS[at].iter().map(inside).collect();
    arguments.extend(["--quiet", "--out", out.to_str().unwrap()].map(str::to_owned));
    let output = copyback(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(code(&output), 0, "{arguments:?}: {}", error_text(&output));
    out
}

#[test]
fn the_page_describes_what_runs_write() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("array.toml"), ARRAY).unwrap();
    std::fs::write(folder.path().join("several.toml"), SEVERAL).unwrap();
    let page = Page::read();
    let (mut files, mut found) = (BTreeSet::new(), BTreeSet::new());
    for at in 0..RUNS.len() {
        let out = run(folder.path(), at);
        let document: Value = serde_json::from_slice(&std::fs::read(out.join("results.json")).unwrap()).unwrap();
        paths("", &document, &mut found);
        for file in std::fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path()) {
            let name = file.file_name().unwrap().to_str().unwrap().to_owned();
            if name.ends_with(".parquet") {
                let mut described = page.table(&name);
                if name == "requests.parquet" && document["results"][0]["report"]["workloads"].is_null() {
                    assert!(described.remove("workload"), "whose a request is has a column where there are several");
                }
                assert_eq!(columns(&file), described, "columns of {name}");
                check_about(&file, &document);
            }
            files.insert(if name.starts_with("config-") { "config-SCHEME.toml".to_owned() } else { name });
        }
    }
    let described = page.0.iter().find(|(chapter, _, _)| chapter == "Which files there are").expect("a table of files");
    let described = described.2.keys().filter(|name| !name.starts_with("copyback.")).cloned().collect();
    assert_eq!(files, described, "files of --out");
    compare_document(&page, found);
}

/// A table names its seed, and each run's hash and configuration.
fn check_about(file: &Path, document: &Value) {
    let about = about(file);
    assert_eq!(about["copyback.seed"], document["seed"].to_string());
    assert_eq!(about["copyback.version"], document["program"]["version"].as_str().unwrap());
    for result in document["results"].as_array().unwrap() {
        let scheme = result["scheme"].as_str().unwrap();
        assert_eq!(about[&format!("copyback.hash.{scheme}")], result["hash"].as_str().unwrap());
        assert!(about[&format!("copyback.config.{scheme}")].contains("seed = 1\n"));
    }
}

/// The parts of a document are described in their sections.
fn compare_document(page: &Page, found: BTreeSet<String>) {
    let mut parts: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for path in found {
        let (part, path) = if let Some(path) = path.strip_prefix("results[].report.") {
            ("report", path)
        } else if let Some(path) = path.strip_prefix("results[].matched.") {
            parts.entry("report").or_default().insert(format!("matched.{path}"));
            continue;
        } else if let Some(path) = path.strip_prefix("results[].window[].") {
            ("window", path)
        } else {
            ("document", path.as_str())
        };
        parts.entry(part).or_default().insert(path.to_owned());
    }
    compare("the report", &parts["report"], &page.chapter("The report"));
    compare("the document", &parts["document"], &page.chapter("The JSON document"));
    parts.get_mut("window").expect("a window").insert("scheme".into());
    assert_eq!(parts["window"], page.table("window.parquet"), "bins of the document");
}

/// A claim with seeds and a null control, so that lists have members.
const CLAIMS: &str = "schemes = [\"baseline\", \"pgc\", \"earlier\"]\nrequests = 300\nseeds = [1, 2]\n\
                      null = \"earlier\"\n[[variant]]\nname = \"earlier\"\nof = \"baseline\"\nset.trigger.soft = 0.04\n\
                      [[claim]]\nfigure = \"1\"\ntext = \"reads\"\nwhere = \"here\"\n\
                      metric = \"response.read.mean_ns\"\nscheme = \"pgc\"\nagainst = \"baseline\"\npublished = -50\n";

#[test]
fn the_page_describes_the_document_of_a_reproduction() {
    let folder = tempfile::tempdir().unwrap();
    let [file, out, json] = ["claims.toml", "out", "claims.json"].map(|name| folder.path().join(name));
    std::fs::write(&file, CLAIMS).unwrap();
    let arguments = ["reproduce", file.to_str().unwrap(), "--quiet", "--out", out.to_str().unwrap()];
    let output = copyback(&[&arguments[..], &["--json", json.to_str().unwrap()]].concat());
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    let document: Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    let mut found = BTreeSet::new();
    paths("", &document, &mut found);
    compare("a reproduction", &found, &Page::read().chapter("The JSON of a reproduction"));
}

/// What a headline and a constraint are made of, and two open decisions.
const HEADLINES: &str = "schemes = [\"baseline\", \"pgc\", \"earlier\"]\nrequests = 300\nseeds = [1, 2]\n\
                         null = \"earlier\"\n[[variant]]\nname = \"earlier\"\nof = \"baseline\"\n\
                         set.trigger.soft = 0.04\n\
                         [[claim]]\nfigure = \"1\"\ntext = \"reads\"\nwhere = \"here\"\nquote = \"faster\"\n\
                         metric = \"response.read.mean_ns\"\nscheme = \"pgc\"\nagainst = \"baseline\"\n\
                         published = 50\norigin = \"trace\"\ncause = \"another trace\"\n\
                         [[claim]]\nfigure = \"2\"\ntext = \"reads\"\nwhere = \"here\"\nquote = \"there are\"\n\
                         kind = \"calibrated\"\nmetric = \"reads\"\nscheme = \"pgc\"\nmeasure = \"figure\"\n\
                         unit = \"reads\"\nat_least = 1\n";
const OPEN: &str = "[[open]]\nname = \"order\"\nkey = \"order.first\"\nvalues = [\"read\", \"gc-read-write\"]\n\
                    decided = \"read\"\nsentence = \"not stated\"\nwhere = \"here\"\n\
                    [[open]]\nname = \"pace\"\nkey = \"workload.time_scale\"\nrange = [0.5, 2.0]\n\
                    decided = 1\nsentence = \"not stated\"\nwhere = \"here\"\n";

#[test]
fn the_page_describes_the_documents_of_headlines_and_worlds() {
    let folder = tempfile::tempdir().unwrap();
    let [file, out, json] = ["claims.toml", "out", "claims.json"].map(|name| folder.path().join(name));
    std::fs::write(&file, HEADLINES).unwrap();
    std::fs::write(folder.path().join("open.toml"), OPEN).unwrap();
    let documents = [(&["--headlines"][..], "The JSON of headlines"), (&["--worlds", "4"][..], "The JSON of worlds")];
    for (options, chapter) in documents {
        let arguments = ["reproduce", file.to_str().unwrap(), "--quiet", "--out", out.to_str().unwrap()];
        let output = copyback(&[&arguments[..], options, &["--json", json.to_str().unwrap()]].concat());
        assert_eq!(code(&output), 0, "{}", error_text(&output));
        let mut document: Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
        // Their members are those of `headlines` and of `worlds`.
        for alike in ["constraints", "decided"] {
            if let Some(value) = document.get_mut(alike) {
                *value = Value::Null;
            }
        }
        let mut found = BTreeSet::new();
        paths("", &document, &mut found);
        compare(chapter, &found, &Page::read().chapter(chapter));
    }
}

#[test]
fn the_page_describes_the_tables_of_a_sweep() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("NAME.toml"), folder.path().join("NAME.parquet"));
    std::fs::write(&file, SWEEP).unwrap();
    let arguments = ["sweep", file.to_str().unwrap(), "--quiet", "--out", out.to_str().unwrap()];
    let output = copyback(&arguments);
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    let page = Page::read();
    let report = page.chapter("The report");
    let is_of_report = |name: &String| {
        // In pairs of a name and a value the name is last.
        let above = name.rsplit_once('.').map_or("", |(above, _)| above);
        report.keys().any(|known| stands_for(known, name, &report) || stands_for(known, above, &report))
    };
    let (described, found) = (page.table("NAME.parquet"), columns(&out));
    let is_other = |name: &&String| !described.contains(*name) && *name != "trigger.soft" && !is_of_report(name);
    assert_eq!(found.iter().filter(is_other).collect::<Vec<_>>(), Vec::<&String>::new(), "not described");
    assert!(described.is_subset(&found), "no sweep writes {:?}", described.difference(&found));
    compare_text(&page, &out);
    let mut latencies = page.table("NAME-latencies.parquet");
    latencies.insert("trigger.soft".into());
    assert_eq!(columns(&folder.path().join("NAME-latencies.parquet")), latencies);
    for table in [out, folder.path().join("NAME-latencies.parquet")] {
        assert_eq!(about(&table)["copyback.sweep"], "NAME");
    }
}

/// Records of a text with values between commas, some of them quoted.
fn records(text: &str) -> Vec<Vec<String>> {
    let (mut records, mut record, mut value, mut is_quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => value.extend(letters.next()),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => record.push(std::mem::take(&mut value)),
            '\n' if !is_quoted => {
                record.push(std::mem::take(&mut value));
                records.push(std::mem::take(&mut record));
            }
            letter => value.push(letter),
        }
    }
    assert!(record.is_empty() && value.is_empty(), "the last line has no end");
    records
}

/// The table as text has the names and values of the other, in its order; the page says so.
fn compare_text(page: &Page, table: &Path) {
    assert!(page.table("NAME.csv").is_empty(), "its columns are those of the other");
    let mut records = records(&std::fs::read_to_string(table.with_extension("csv")).unwrap()).into_iter();
    let reader = open(table);
    let schema = reader.metadata().file_metadata().schema_descr().columns().to_vec();
    let names: Vec<String> = schema.iter().map(|column| column.name().to_owned()).collect();
    assert_eq!(records.next(), Some(names));
    for row in reader.get_row_iter(None).unwrap() {
        let record = records.next().expect("a record for each row");
        let row = row.unwrap();
        assert_eq!(row.get_column_iter().count(), record.len());
        for ((name, field), text) in row.get_column_iter().zip(&record) {
            match field {
                Field::Null => assert!(text.is_empty(), "{name}: {text}"),
                Field::Str(value) => assert_eq!(text, value, "{name}"),
                Field::ULong(value) => assert_eq!(text, &value.to_string(), "{name}"),
                Field::Double(value) => assert_eq!(text.parse(), Ok(*value), "{name}"),
                other => panic!("{name}: {other:?}"),
            }
        }
    }
    assert!(records.next().is_none(), "a record too many");
}
