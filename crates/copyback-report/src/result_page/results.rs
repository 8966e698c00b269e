//! The kind of a RESULT of the command line, by its content.

use super::Detail;
use super::conditions::Condition;
use super::findings;
use super::read;
use super::reproductions::{self, ReproductionDocument};
use super::runs::Runs;
use super::sweeps::Sweep;
use copyback_lab::Failure;
use copyback_lab::files::{self, Input};
use copyback_lab::format;
use copyback_lab::tables::TABLES;
use serde_json::{Value, json};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Largest size of a document, far above that of any run: parsed values take many times the memory of their text.
const DOCUMENT_BYTES_MAX: u64 = 64 << 20;

/// The most values of a document, counted by its commas and brackets: each takes some hundred bytes of memory.
const DOCUMENT_VALUES_MAX: usize = 4_000_000;

/// Most runs of a document: each takes at least a thousand bytes of the page.
const RUNS_MAX: usize = 3_000;

/// The help if a name leads to no results.
const RESULTS_HELP: &str = "name a folder of `run --out` or `compare --out`, their JSON, the .parquet of a sweep, or \
                              the folder or the JSON of a reproduction";

/// Results by their kind.
enum Kind {
    Runs(Runs),
    Sweep(Sweep),
    Reproduction(Vec<ReproductionDocument>),
}

/// Results that the user named.
pub struct ReportInput {
    path: PathBuf,
    kind: Kind,
}

impl ReportInput {
    /// Reads what a path leads to.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let kind = if path.is_dir() { of_folder(path)? } else { of_file(path)? };
        Ok(Self { path: path.to_path_buf(), kind })
    }

    /// The files that must not be written over.
    pub fn inputs(&self) -> Vec<Input> {
        let name = self.path.display().to_string();
        let input = |path| Input { role: "result", name, hash: String::new(), path: Some(path) };
        self.path.is_file().then(|| input(self.path.clone())).into_iter().collect()
    }

    /// The folder, if it is one.
    pub fn folder(&self) -> Option<&Path> {
        self.path.is_dir().then_some(&*self.path)
    }

    /// Its kind, in words.
    pub fn summary_line(&self) -> String {
        let shown = self.path.display();
        let count = |number: usize, one: &str, many: &str| format!("{number} {}", if number == 1 { one } else { many });
        match &self.kind {
            Kind::Runs(runs) => format!("{shown}, {}", count(runs.count(), "run", "runs")),
            Kind::Sweep(sweep) => {
                format!(
                    "{shown}, a sweep of {}",
                    count(sweep.about()["rows"].as_u64().unwrap_or(0) as usize, "run", "runs")
                )
            }
            Kind::Reproduction(documents) => {
                let counts: Vec<String> = documents.iter().map(ReproductionDocument::counted).collect();
                format!("{shown}, {}", counts.join(", "))
            }
        }
    }

    /// Its subject, for a title.
    pub fn title(&self) -> String {
        match &self.kind {
            Kind::Runs(runs) => runs.title(),
            Kind::Sweep(sweep) => {
                let name = self.path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
                sweep.title(&name)
            }
            Kind::Reproduction(documents) => {
                let mut papers: Vec<&str> = documents.iter().map(ReproductionDocument::paper).collect();
                papers.dedup();
                format!("Reproduction of {}", papers.join(", "))
            }
        }
    }

    /// The findings, in one or two sentences.
    pub fn found(&self, conditions: &[Condition]) -> String {
        match &self.kind {
            Kind::Runs(runs) => runs.found(conditions),
            Kind::Sweep(sweep) => {
                let found = findings::sentences(&sweep.rows(), None, conditions, &sweep.verdicts());
                let both = [Some(&*found).filter(|text| !text.is_empty()), sweep.note_of_seeds()];
                both.into_iter().flatten().collect::<Vec<_>>().join(" ")
            }
            Kind::Reproduction(documents) => {
                documents.iter().map(|document| document.found.as_str()).collect::<Vec<_>>().join(" ")
            }
        }
    }

    /// Names of its schemes; those of a reproduction are not drawn.
    pub fn schemes(&self) -> Vec<&str> {
        match &self.kind {
            Kind::Runs(runs) => runs.schemes(),
            Kind::Sweep(sweep) => sweep.schemes(),
            Kind::Reproduction(_) => Vec::new(),
        }
    }

    /// Whether it has a number of this name.
    pub fn has_number(&self, name: &str) -> bool {
        match &self.kind {
            Kind::Runs(runs) => runs.has_number(name),
            Kind::Sweep(sweep) => sweep.has_number(name),
            Kind::Reproduction(_) => false,
        }
    }

    /// The data of the page on it.
    pub fn drawn(&self, detail: Detail) -> Result<Value, Failure> {
        let name = self.path.display().to_string();
        Ok(match &self.kind {
            Kind::Runs(runs) => json!({ "name": name, "about": runs.about(), "runs": runs.drawn(detail)? }),
            Kind::Sweep(sweep) => json!({ "name": name, "about": sweep.about(), "sweep": sweep.drawn(detail)? }),
            Kind::Reproduction(documents) => {
                let documents: Vec<&Value> = documents.iter().map(|document| &document.drawn).collect();
                json!({ "name": name, "about": { "kind": "reproduction" }, "reproductions": documents })
            }
        })
    }
}

fn refused(path: &Path, why: &str) -> Failure {
    Failure::input(format!("{} {why}", path.display())).with_help(RESULTS_HELP)
}

fn of_folder(folder: &Path) -> Result<Kind, Failure> {
    let document = folder.join("results.json");
    if document.is_file() {
        return of_document(&document, Some(folder));
    }
    let entries = std::fs::read_dir(folder)
        .map_err(|error| Failure::input(format!("cannot read the folder {}: {error}", folder.display())))?;
    let mut claims: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    claims.retain(|path| reproductions::has_document_name(path));
    claims.sort();
    let mut documents = Vec::new();
    for path in claims {
        match of_document(&path, None)? {
            Kind::Reproduction(found) => documents.extend(found),
            _ => return Err(refused(&path, "is no document of a reproduction")),
        }
    }
    if documents.is_empty() {
        return Err(refused(folder, "holds no results: neither results.json nor documents of a reproduction"));
    }
    Ok(Kind::Reproduction(documents))
}

fn of_file(path: &Path) -> Result<Kind, Failure> {
    files::check_file("result", path)?;
    // Detected by content, because a table may have any name.
    let mut begin = [0; 4];
    let read = File::open(path).and_then(|mut file| file.read(&mut begin));
    let count = read.map_err(|error| refused(path, &format!("cannot be read: {error}")))?;
    match &begin[..count] {
        b"PAR1" => of_table(path),
        [b'{', ..] => of_document(path, None),
        _ if path.extension().is_some_and(|extension| extension == "json") => of_document(path, None),
        _ => Err(refused(path, "is neither JSON nor a Parquet table of results")),
    }
}

fn of_table(path: &Path) -> Result<Kind, Failure> {
    match read::kind_of(path)? {
        (name, true) if name == "sweep" => Ok(Kind::Sweep(Sweep::read(path)?)),
        (name, true) => Err(Failure::input(format!("{} is a second table of a sweep, `{name}`", path.display()))
            .with_help("name the sweep's main table; this one is read with it")),
        (name, false) if TABLES.iter().any(|table| table.name == name) => {
            Err(Failure::input(format!("{} is one table of results, `{name}`", path.display()))
                .with_help("name its folder, that of --out"))
        }
        (_, false) => Err(refused(path, "is a Parquet file, but no table of results")),
    }
}

fn of_document(path: &Path, folder: Option<&Path>) -> Result<Kind, Failure> {
    let failed = |error: &dyn std::fmt::Display| refused(path, &format!("cannot be read: {error}"));
    let bytes = std::fs::metadata(path).map_err(|error| failed(&error))?.len();
    if bytes > DOCUMENT_BYTES_MAX {
        let most = format::size(DOCUMENT_BYTES_MAX as f64);
        return Err(refused(path, &format!("is larger than any document of results: more than {most}")));
    }
    let text = std::fs::read_to_string(path).map_err(|error| failed(&error))?;
    if values_of(&text) > DOCUMENT_VALUES_MAX {
        let most = format::count(DOCUMENT_VALUES_MAX as u64);
        return Err(refused(path, &format!("holds more values than any document of results: more than {most}")));
    }
    let document: Value = serde_json::from_str(&text).map_err(|error| failed(&error))?;
    drop(text);
    if document["results"].as_array().is_some_and(|runs| runs.len() > RUNS_MAX) {
        let most = format::count(RUNS_MAX as u64);
        return Err(refused(path, &format!("holds more runs than a page has room for: more than {most}")));
    }
    let schema = document["schema"].as_str().unwrap_or_default().to_owned();
    let has_runs = document["results"].as_array().is_some_and(|runs| !runs.is_empty());
    match schema.as_str() {
        "copyback/run/1" | "copyback/compare/1" if !has_runs => Err(refused(path, "has no results of runs")),
        "copyback/run/1" | "copyback/compare/1" => Ok(Kind::Runs(Runs::read(document, folder)?)),
        "" => Err(refused(path, "is no document of copyback: it has no `schema`")),
        other => match ReproductionDocument::read(&document) {
            Some(read) => Ok(Kind::Reproduction(vec![read.map_err(|error| failed(&error))?])),
            None => Err(refused(path, &format!("is a document of the kind `{other}`, which has no page"))),
        },
    }
}

/// How many values a text of JSON holds at most.
fn values_of(text: &str) -> usize {
    let (mut count, mut is_text, mut is_escaped) = (1, false, false);
    for byte in text.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_text,
            b'"' => is_text = !is_text,
            b',' | b'[' | b'{' if !is_text => count += 1,
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_fewer_values_are_counted_than_there_are() {
        fn count(value: &Value) -> usize {
            1 + match value {
                Value::Array(items) => items.iter().map(count).sum(),
                Value::Object(members) => members.values().map(count).sum(),
                _ => 0,
            }
        }
        for text in ["1", "[]", "[1,2]", "{\"a,[\\\"{\":[1,{\"b\":null}],\"c\":\"\\\\\"}", "[[],[[]],{}]"] {
            let value: Value = serde_json::from_str(text).expect("it is JSON");
            let (counted, is) = (values_of(text), count(&value));
            assert!((is..=is + 4).contains(&counted), "{text}: {counted}, {is}");
        }
    }
}
