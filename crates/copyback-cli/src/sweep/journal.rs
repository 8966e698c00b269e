//! The journal of a sweep: a line for each cell that is done, so that a sweep that was stopped goes on where it was.
//!
//! A line is a JSON object with the cell's key and its results. The key is a hash of everything that the results depend
//! on: each scheme's resolved configuration, the trace's bytes, the seed, the number of requests, and the program. A line
//! whose writing was cut short is taken back.

use crate::failure::Failure;
use crate::files;
use crate::flat::Number;
use crate::plan::Plan;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Layout of the lines: part of the key.
const LAYOUT: &str = "copyback/journal/1";

/// Results of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunResult {
    /// Its scheme.
    pub scheme: String,
    /// Hash of its configuration, its trace, its seed and its number of requests.
    pub hash: String,
    /// Its numbers by name.
    pub numbers: BTreeMap<String, Number>,
}

/// Results of one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct CellResult {
    /// Its runs in the order of the schemes.
    pub runs: Vec<RunResult>,
    /// What users should know about them.
    pub notes: String,
}

/// The journal, open for this program alone.
pub struct Journal {
    path: PathBuf,
    file: Mutex<File>,
    done: BTreeMap<String, CellResult>,
    /// Lines that could not be read.
    pub unreadable_lines: usize,
}

impl Journal {
    /// Opens a journal, or begins one. `is_fresh` forgets what is in it.
    pub fn open(path: &Path, is_fresh: bool) -> Result<Self, Failure> {
        let failed =
            |error: std::io::Error| Failure::run(format!("cannot use the journal {}: {error}", path.display()));
        let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let mut file = options.map_err(failed)?;
        if file.try_lock().is_err() {
            return Err(Failure::input(format!("another sweep is writing {}", path.display()))
                .with_help("wait for it, or name another output: --out FILE"));
        }
        let mut text = Vec::new();
        if is_fresh {
            file.set_len(0).map_err(failed)?;
        } else {
            file.read_to_end(&mut text).map_err(failed)?;
        }
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        file.set_len(whole as u64).map_err(failed)?;
        file.seek(std::io::SeekFrom::End(0)).map_err(failed)?;
        let (mut done, mut unreadable_lines) = (BTreeMap::new(), 0);
        for line in text[..whole].split_inclusive(|byte| *byte == b'\n') {
            match read_line(line) {
                Some((key, result)) => drop(done.insert(key, result)),
                None => unreadable_lines += 1,
            }
        }
        Ok(Self { path: path.to_path_buf(), file: Mutex::new(file), done, unreadable_lines })
    }

    /// The results of a cell that was done before.
    pub fn find(&self, key: &str) -> Option<&CellResult> {
        self.done.get(key)
    }

    /// Appends a cell. What is returned was read back from the line, so that a cell looks the same whether its sweep was
    /// stopped or not.
    pub fn append(&self, key: &str, label: &str, result: &CellResult) -> Result<CellResult, Failure> {
        let failed =
            |error: std::io::Error| Failure::run(format!("cannot write the journal {}: {error}", self.path.display()));
        let line = write_line(key, label, result);
        let mut file = self.file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        file.write_all(line.as_bytes()).and_then(|()| file.flush()).map_err(failed)?;
        let (_, read) = read_line(line.as_bytes()).expect("the line was written by this program");
        Ok(read)
    }

    /// Remembers a cell that was appended, for another sweep with the same journal.
    pub fn remember(&mut self, key: String, result: CellResult) {
        self.done.insert(key, result);
    }
}

/// Whole numbers are numbers. Others are texts, in which no digit is lost on the way.
fn write_line(key: &str, label: &str, result: &CellResult) -> String {
    let number = |number: &Number| match number {
        Number::U64(value) => json!(value),
        Number::F64(value) => json!(format!("{value:?}")),
        Number::None => Value::Null,
    };
    let run = |run: &RunResult| {
        let numbers: Map<String, Value> = run.numbers.iter().map(|(name, n)| (name.clone(), number(n))).collect();
        json!({ "scheme": run.scheme, "hash": run.hash, "numbers": numbers })
    };
    let runs: Vec<Value> = result.runs.iter().map(run).collect();
    format!("{}\n", json!({ "key": key, "cell": label, "runs": runs, "notes": result.notes }))
}

fn read_line(line: &[u8]) -> Option<(String, CellResult)> {
    let value: Value = serde_json::from_slice(line).ok()?;
    let number = |value: &Value| match value {
        Value::Null => Some(Number::None),
        Value::Number(number) => number.as_u64().map(Number::U64),
        Value::String(text) => text.parse().ok().map(Number::F64),
        _ => None,
    };
    let run = |run: &Value| {
        let numbers = run["numbers"].as_object()?.iter().map(|(name, value)| Some((name.clone(), number(value)?)));
        Some(RunResult {
            scheme: run["scheme"].as_str()?.to_owned(),
            hash: run["hash"].as_str()?.to_owned(),
            numbers: numbers.collect::<Option<_>>()?,
        })
    };
    let runs = value["runs"].as_array()?.iter().map(run).collect::<Option<_>>()?;
    let notes = value["notes"].as_str()?.to_owned();
    Some((value["key"].as_str()?.to_owned(), CellResult { runs, notes }))
}

/// Hash of what one run's results depend on but for the program. A trace counts with its bytes, not with its path.
pub fn run_hash(plan: &Plan, at: usize) -> String {
    let mut resolved = plan.runs[at].resolved.clone();
    resolved.workload.trace = None;
    let trace = plan.inputs.iter().find(|input| input.role == "trace").map_or("", |input| &input.hash);
    let parts = format!("{}\n{trace}\n{}\n{:?} {:?}", resolved.to_toml(), plan.seed, plan.requests, plan.warmup);
    files::hash_bytes(parts.as_bytes())
}

/// A cell's key. The schemes count together: requests are matched with the first.
pub fn key(plan: &Plan, program: &str) -> String {
    let runs: Vec<String> =
        plan.runs.iter().enumerate().map(|(at, run)| format!("{} {}", run.scheme, run_hash(plan, at))).collect();
    files::hash_bytes(format!("{LAYOUT}\n{program}\n{}", runs.join("\n")).as_bytes())
}

/// This program: its version, and a hash of its file, because a program under development changes under one version.
pub fn program() -> String {
    let file = std::env::current_exe().ok().and_then(|path| files::hash_file(&path).ok());
    format!("{} {}", env!("CARGO_PKG_VERSION"), file.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(mean_ns: f64) -> CellResult {
        let numbers = [
            ("gc.rounds".to_owned(), Number::U64(u64::MAX)),
            ("mean_ns".to_owned(), Number::F64(mean_ns)),
            ("wa".to_owned(), Number::None),
        ];
        let run = RunResult { scheme: "s".into(), hash: "h".into(), numbers: numbers.into() };
        CellResult { runs: vec![run], notes: "a note\n".into() }
    }

    #[test]
    fn a_line_is_read_back_to_the_last_bit() {
        for mean_ns in [0.1 + 0.2, 1e300, 5e-324, 123_456_789.123_456_79, 4.0] {
            let line = write_line("k", "cell", &result(mean_ns));
            assert_eq!(read_line(line.as_bytes()), Some(("k".to_owned(), result(mean_ns))));
        }
    }

    #[test]
    fn a_line_that_was_cut_short_is_taken_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j");
        let journal = Journal::open(&path, false).unwrap();
        journal.append("one", "1", &result(1.0)).unwrap();
        assert!(Journal::open(&path, false).is_err(), "two programs would write at once");
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        let second = write_line("two", "2", &result(2.0));
        for cut in 1..second.len() {
            std::fs::write(&path, [&whole[..], &second.as_bytes()[..cut]].concat()).unwrap();
            let journal = Journal::open(&path, false).unwrap();
            let is_whole = cut == second.len();
            assert_eq!((journal.find("one").is_some(), journal.find("two").is_some()), (true, is_whole));
            assert_eq!(std::fs::read(&path).unwrap(), whole, "what is appended begins a line");
        }
        std::fs::write(&path, [&whole[..], b"no journal\n", second.as_bytes()].concat()).unwrap();
        let journal = Journal::open(&path, false).unwrap();
        assert_eq!((journal.unreadable_lines, journal.done.len()), (1, 2));
        drop(journal);
        assert!(Journal::open(&path, true).unwrap().done.is_empty());
    }
}
