//! The journal of a sweep: a line for each cell that has ended, so that a stopped sweep continues.
//!
//! The first line names the table of the journal. A file without it, or of another table, is not this journal, and is
//! not changed. Every other line is a JSON object with a cell's key, its results and a check sum. The key is a hash of
//! everything that the results depend on: each scheme's resolved configuration, the trace's bytes, the seed, the number
//! of requests, the warm-up, and the program. A line that was written only in part is removed; an altered line is not
//! used.

mod line;

use super::latencies::Distribution;
use crate::failure::{self, Failure};
use crate::files;
use crate::flat::Number;
use crate::format::{TooFew, is_of_no_request};
use crate::plan::Plan;
use crate::results::run_hash;
use crate::steady;
use copyback::observe::steady::Verdict;
use copyback_workload::printable::printable;
use copyback_workload::temporary::Permission;
use line::LAYOUT;
pub use line::{read_line, write_line};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

/// Bytes of a first line, at most: the names of tables are shorter.
const HEADER_BYTES_MAX: u64 = 4096;

/// Bytes of any line, at most: a run has some ten thousand, and a cell a run for each scheme.
const LINE_BYTES_MAX: u64 = 16 << 20;

/// Results of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunResult {
    /// Its scheme.
    pub scheme: String,
    /// Hash of its configuration, its trace, its seed, its number of requests and its warm-up.
    pub hash: String,
    /// The verdict on its steady state.
    pub steady: Verdict,
    /// Its numbers by name.
    pub numbers: BTreeMap<String, Number>,
    /// Its response times by class of requests.
    pub latencies: BTreeMap<String, Distribution>,
}

impl RunResult {
    /// A number, as [`value_of`] has it.
    pub fn value(&self, name: &str) -> Option<f64> {
        value_of(&self.numbers, name)
    }

    /// A number, as [`shown_of`] has it.
    pub fn shown(&self, name: &str) -> Option<f64> {
        shown_of(&self.numbers, name)
    }

    /// The shortage of a percentile, if there are too few requests for it.
    pub fn too_few(&self, name: &str) -> Option<TooFew> {
        TooFew::of(name, |other| self.value(other))
    }
}

/// A number of a run; `None` if it has none, or if the class of requests is empty.
pub fn value_of(numbers: &BTreeMap<String, Number>, name: &str) -> Option<f64> {
    let number = |name: &str| numbers.get(name)?.as_f64();
    number(name).filter(|_| !is_of_no_request(name, number))
}

/// A number of a run that tables show and conditions judge; `None` also for a percentile of too few requests.
pub fn shown_of(numbers: &BTreeMap<String, Number>, name: &str) -> Option<f64> {
    value_of(numbers, name).filter(|_| TooFew::of(name, |other| value_of(numbers, other)).is_none())
}

/// Results of one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct CellResult {
    /// Its runs in the order of the schemes.
    pub runs: Vec<RunResult>,
    /// The notes on them.
    pub notes: String,
}

impl CellResult {
    /// Whether each run's drive was steady (if its host wrote) and kept up.
    pub fn is_steady(&self) -> bool {
        self.unsettled().next().is_none()
    }

    /// Runs whose drives were not steady although their hosts wrote, or did not keep up.
    pub fn unsettled(&self) -> impl Iterator<Item = &RunResult> {
        self.runs.iter().filter(|run| steady::is_unsettled(run.steady))
    }
}

/// The journal, open for this program alone.
pub struct Journal {
    path: PathBuf,
    /// `None` if the table is no regular file.
    file: Option<Mutex<File>>,
    /// Whether results are added.
    keeps_results: bool,
    done: BTreeMap<String, CellResult>,
    damaged_lines: usize,
}

impl Journal {
    /// Opens the journal of a table, or begins one. `is_fresh` discards its content.
    pub fn open(path: &Path, table: &str, is_fresh: bool) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| unusable(path, &error);
        if std::fs::metadata(path).is_ok_and(|data| !data.is_file()) {
            return Err(not_ours(path, "is no ordinary file"));
        }
        let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let mut file = options.map_err(failed)?;
        lock(&file, path)?;
        let text = begun(&mut file, path, table)?;
        if is_fresh {
            file.set_len(text.len() as u64).map_err(failed)?;
        }
        file.seek(SeekFrom::Start(text.len() as u64)).map_err(failed)?;
        let Lines { done, damaged_lines, whole_bytes } = read_lines(&file, path)?;
        file.set_len(text.len() as u64 + whole_bytes).map_err(failed)?;
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        Ok(Self { path: path.to_path_buf(), file: Some(Mutex::new(file)), keeps_results: true, done, damaged_lines })
    }

    /// The same, but earlier results are neither used nor changed, and nothing is added. It shows that its table is one
    /// of a sweep, and that this program writes it.
    pub fn without_results(path: &Path, table: &str) -> Result<Self, Failure> {
        Ok(Self { done: BTreeMap::new(), keeps_results: false, ..Self::open(path, table, false)? })
    }

    /// No journal: nothing was done before, and nothing is kept.
    pub fn none() -> Self {
        Self { path: PathBuf::new(), file: None, keeps_results: false, done: BTreeMap::new(), damaged_lines: 0 }
    }

    /// The note for the user on it.
    pub fn note(&self) -> Option<String> {
        let (lines, path) = (self.damaged_lines, self.path.display());
        let are = if lines == 1 { "line of {} was altered and is" } else { "lines of {} were altered and are" };
        let are = are.replace("{}", &printable(&path.to_string()));
        (lines > 0).then(|| format!("Note: {lines} {are} not used; --fresh begins a new journal\n"))
    }

    /// The results of a cell that was done before.
    pub fn find(&self, key: &str) -> Option<&CellResult> {
        self.done.get(key)
    }

    /// Appends a cell. The returned results were read back from the line, so that a cell has the same results whether
    /// its sweep was stopped or not.
    pub fn append(&self, key: &str, label: &str, result: &CellResult) -> Result<CellResult, Failure> {
        let failed = |error: std::io::Error| Failure::of_disk(&self.path, &error);
        let line = line::write_line(key, label, result);
        Permission::check().map_err(failed)?;
        let is_written = self.keeps_results && line.len() as u64 <= LINE_BYTES_MAX;
        // A cell of thousands of schemes is run again rather than read.
        if let Some(file) = self.file.as_ref().filter(|_| is_written) {
            let mut file = file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            file.write_all(line.as_bytes()).and_then(|()| file.flush()).map_err(failed)?;
        }
        let (_, read) = line::read_line(line.as_bytes()).expect("the line was written by this program");
        Ok(read)
    }

    /// Remembers a cell that was appended, for another sweep with the same journal.
    pub fn remember(&mut self, key: String, result: CellResult) {
        self.done.insert(key, result);
    }
}

/// Whether a file is the journal of a table, of any layout with a header. An empty file, or another file, does not show
/// that a sweep wrote the table.
pub fn is_of(path: &Path, table: &str) -> bool {
    let mut text = Vec::new();
    let is_file = std::fs::metadata(path).is_ok_and(|data| data.is_file());
    let file = if is_file { File::open(path).ok() } else { None };
    let Some(Ok(_)) = file.map(|file| file.take(HEADER_BYTES_MAX).read_to_end(&mut text)) else { return false };
    let first_line = text.split_inclusive(|byte| *byte == b'\n').next().and_then(line::read_header);
    first_line.is_some_and(|(_, named)| named == table)
}

/// The lines of a journal after the first.
struct Lines {
    done: BTreeMap<String, CellResult>,
    damaged_lines: usize,
    /// Bytes of the lines that have an end.
    whole_bytes: u64,
}

/// Reads a journal line by line: of any file, at most one line is in memory beside the results.
fn read_lines(file: &File, path: &Path) -> Result<Lines, Failure> {
    let (mut lines, mut reader) =
        (Lines { done: BTreeMap::new(), damaged_lines: 0, whole_bytes: 0 }, BufReader::new(file));
    for number in 2.. {
        let mut line = Vec::new();
        let read = Read::by_ref(&mut reader).take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
        read.map_err(|error| unusable(path, &error))?;
        if line.len() as u64 == LINE_BYTES_MAX && !line.ends_with(b"\n") {
            let place = format!("{}:{number}", path.display());
            return Err(Failure::input(format!("{place}: a line of a journal has {LINE_BYTES_MAX} bytes at most"))
                .with_help("no sweep wrote this line: --fresh begins a new journal"));
        }
        if !line.ends_with(b"\n") {
            break;
        }
        lines.whole_bytes += line.len() as u64;
        match line::read_line(&line) {
            Some((key, result)) => drop(lines.done.insert(key, result)),
            None => lines.damaged_lines += 1,
        }
    }
    Ok(lines)
}

fn lock(file: &File, path: &Path) -> Result<(), Failure> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(Failure::input(format!("another sweep is writing {}", path.display()))
            .with_help("wait for it, or name another output: --out")),
        Err(TryLockError::Error(error)) => Err(Failure::input(format!("cannot lock {}: {error}", path.display()))
            .with_help("name an output on a file system that has locks: --out")),
    }
}

/// The first line of a table's journal, which is written if the file is new. A file of another program is refused, and
/// not changed.
fn begun(file: &mut File, path: &Path, table: &str) -> Result<Vec<u8>, Failure> {
    let failed = |error: std::io::Error| unusable(path, &error);
    let mut text = Vec::new();
    Read::by_ref(file).take(HEADER_BYTES_MAX).read_to_end(&mut text).map_err(failed)?;
    let own = line::header(table);
    // A process that was killed while it began the journal left a part of its first line.
    if text.len() < own.len() && own.as_bytes().starts_with(&text) {
        file.rewind().and_then(|()| file.write_all(own.as_bytes())).map_err(failed)?;
        return Ok(own.into_bytes());
    }
    text.truncate(text.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1));
    match line::read_header(&text) {
        Some((layout, named)) if layout == LAYOUT && named == table => Ok(text),
        Some((layout, _)) if layout != LAYOUT => {
            Err(not_ours(path, &format!("is a journal of another layout, {layout}")))
        }
        Some((_, named)) => Err(not_ours(path, &format!("is the journal of another table, {named}"))),
        None if line::is_of_first_layout(&text) => Err(not_ours(path, "is a journal of an earlier version")),
        None => Err(not_ours(path, "exists and is no journal")),
    }
}

fn unusable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::input(format!("cannot use the journal {}: {error}", path.display())).with_help(failure::remedy(error))
}

fn not_ours(path: &Path, why: &str) -> Failure {
    let failure = Failure::input(format!("{} would be the journal, but it {why}", path.display()));
    failure.with_help("name another output (--out), or move that file away; it is left as it is, also with --fresh")
}

/// A cell's key. The schemes count together: requests are matched with the first.
pub fn key(plan: &Plan, program: &str) -> String {
    let runs: Vec<String> =
        plan.runs.iter().enumerate().map(|(at, run)| format!("{} {}", run.scheme, run_hash(plan, at))).collect();
    files::hash_bytes(format!("{LAYOUT}\n{program}\n{}", runs.join("\n")).as_bytes())
}

/// This program: its version, and a hash of its file, because a program may change during development without a new
/// version.
pub fn program() -> String {
    static PROGRAM: OnceLock<String> = OnceLock::new();
    let make = || {
        let file = own_library().or_else(|| std::env::current_exe().ok());
        let hash = file.and_then(|path| files::hash_file(&path).ok());
        format!("{} {}", env!("CARGO_PKG_VERSION"), hash.unwrap_or_default())
    };
    PROGRAM.get_or_init(make).clone()
}

/// The shared library with this code, if that is the Python package: the program is then the interpreter.
#[cfg(unix)]
fn own_library() -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    // SAFETY: an all-zero `Dl_info` is valid; the call fills it if it returns other than 0, and the name that it
    // points to lives as long as the library, whose code runs here.
    let path = unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(program as *const libc::c_void, &raw mut info) == 0 || info.dli_fname.is_null() {
            return None;
        }
        PathBuf::from(std::ffi::OsStr::from_bytes(std::ffi::CStr::from_ptr(info.dli_fname).to_bytes()))
    };
    path.extension().is_some_and(|ending| ending == "so" || ending == "dylib").then_some(path)
}

/// On other systems, the hash is that of the interpreter.
#[cfg(not(unix))]
fn own_library() -> Option<PathBuf> {
    None
}

#[cfg(test)]
mod tests {
    use super::line::write_line;
    use super::*;

    pub fn result(mean_ns: f64) -> CellResult {
        let numbers = [
            ("gc.collections".to_owned(), Number::U64(u64::MAX)),
            ("mean_ns".to_owned(), Number::F64(mean_ns)),
            ("wa".to_owned(), Number::None),
        ];
        let latencies = [("read".to_owned(), Distribution::of_text("7.3 4").expect("two bins"))].into();
        let steady = if mean_ns < 1.0 { Verdict::Steady } else { Verdict::NotYet };
        let run = RunResult { scheme: "s".into(), hash: "h".into(), steady, numbers: numbers.into(), latencies };
        CellResult { runs: vec![run], notes: "a note\n".into() }
    }

    #[test]
    fn a_line_that_was_cut_short_is_taken_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j");
        let journal = Journal::open(&path, "t", false).unwrap();
        journal.append("one", "1", &result(1.0)).unwrap();
        assert!(Journal::open(&path, "t", false).is_err(), "two programs would write at once");
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        let second = write_line("two", "2", &result(2.0));
        for cut in 1..second.len() {
            std::fs::write(&path, [&whole[..], &second.as_bytes()[..cut]].concat()).unwrap();
            let journal = Journal::open(&path, "t", false).unwrap();
            let is_whole = cut == second.len();
            assert_eq!((journal.find("one").is_some(), journal.find("two").is_some()), (true, is_whole));
            assert_eq!(std::fs::read(&path).unwrap(), whole, "what is appended begins a line");
        }
        std::fs::write(&path, [&whole[..], b"no journal\n", second.as_bytes()].concat()).unwrap();
        let journal = Journal::open(&path, "t", false).unwrap();
        assert_eq!((journal.damaged_lines, journal.done.len()), (1, 2));
        drop(journal);
        assert!(Journal::open(&path, "t", true).unwrap().done.is_empty());
    }
}
