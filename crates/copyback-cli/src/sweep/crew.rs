//! Cells that other processes run. A cell travels as a description: the command line, the folder that it was given in,
//! and which cell. Its result comes back as its line of the journal, whose check sum says that it came whole.
//!
//! Whoever runs a cell plans the sweep from the same files, and compares the cell's key, a hash of all that its results
//! depend on, with the one that it was given: with another program, sweep file or trace, it refuses.

mod carried;

use super::grid::Cell;
use super::journal::{self, CellResult};
use crate::args::{Cli, Command, SweepArgs};
use crate::diagnostics::with_command;
use crate::failure::Failure;
use crate::memory;
use crate::plan::Plan;
use crate::preconditioned::Preconditioned;
use crate::progress::Audience;
use clap::Parser;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Hears of a cell: its number among those that were given, and what [`cell`] answered or why it never will.
pub type Took<'a> = &'a mut dyn FnMut(usize, Result<&str, String>) -> Result<(), Failure>;

/// Processes that run cells.
pub trait Crew: Send + Sync {
    /// Has [`cell`] called once with each description, in any order, and tells of each answer as it comes. The first
    /// error of `took` ends it.
    ///
    /// # Errors
    /// That of `took`, or where the crew cannot be reached.
    fn run(&self, descriptions: &[String], took: Took<'_>) -> Result<(), Failure>;
}

/// A crew, and the command line that it needs to plan the sweep.
#[derive(Clone)]
pub struct Hired {
    crew: Arc<dyn Crew>,
    words: Vec<String>,
    folder: PathBuf,
}

impl std::fmt::Debug for Hired {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Hired").field("words", &self.words).finish_non_exhaustive()
    }
}

/// What travels to whoever runs a cell.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Description {
    program: String,
    words: Vec<String>,
    folder: PathBuf,
    /// The files that the cell reads, with their hashes.
    files: Vec<(PathBuf, String)>,
    at: usize,
    key: String,
}

/// What comes back.
#[derive(Deserialize, Serialize)]
enum Answer {
    Line(String),
    Failure(Failure),
    /// Files that are not there, or are others there: the crew calls again, with their content.
    Lacking(Vec<(PathBuf, String)>),
}

impl Hired {
    /// A crew for a command line, of which `words` are all behind the program's name.
    pub fn new(crew: Arc<dyn Crew>, words: Vec<String>) -> Result<Self, Failure> {
        let folder = std::env::current_dir()
            .map_err(|error| Failure::input(format!("cannot tell the working folder: {error}")))?;
        Ok(Self { crew, words, folder })
    }

    /// Has the cells run whose places in the grid and keys are given; results are in that order, as `took` returns
    /// them.
    pub fn run(
        &self,
        program: &str,
        cells: &[(usize, &str, &Plan)],
        label: &dyn Fn(usize) -> String,
        took: &mut dyn FnMut(usize, &CellResult) -> Result<CellResult, Failure>,
    ) -> Result<Vec<CellResult>, Failure> {
        let describe = |&(at, key, plan): &(usize, &str, &Plan)| {
            let (program, words, folder) = (program.to_owned(), self.words.clone(), self.folder.clone());
            let files = carried::files(plan, &self.folder);
            serde_json::to_string(&Description { program, words, folder, files, at, key: key.to_owned() })
        };
        let descriptions: Result<Vec<String>, _> = cells.iter().map(describe).collect();
        let descriptions = descriptions.map_err(|_| {
            Failure::input(format!("{} is no UTF-8, and cannot travel", self.folder.display()))
                .with_help("begin the sweep in a folder with another name")
        })?;
        let mut results: Vec<Option<CellResult>> = vec![None; cells.len()];
        self.crew.run(&descriptions, &mut |at, answer| {
            let result = read(answer, cells[at].1).map_err(|failure| failure.of_run(&label(at)))?;
            results[at] = Some(took(at, &result)?);
            Ok(())
        })?;
        let missing = results.iter().filter(|result| result.is_none()).count();
        let all: Option<Vec<CellResult>> = results.into_iter().collect();
        all.ok_or_else(|| {
            Failure::run(format!("{} came back without a result", crate::format::counted(missing as u64, "cell")))
                .with_help("run the same command again to continue: the journal holds the finished cells")
        })
    }
}

/// The result that an answer holds.
fn read(answer: Result<&str, String>, key: &str) -> Result<CellResult, Failure> {
    let text = answer.map_err(Failure::run)?;
    match serde_json::from_str(text) {
        Ok(Answer::Line(line)) => match journal::read_line(line.as_bytes()) {
            Some((own, result)) if own == key => Ok(result),
            _ => Err(Failure::run("its result was damaged in transfer")),
        },
        Ok(Answer::Failure(failure)) => Err(failure),
        Ok(Answer::Lacking(files)) => {
            let paths: Vec<String> = files.iter().map(|(path, _)| path.display().to_string()).collect();
            Err(Failure::run(format!("its worker lacks {}", paths.join(", "))))
        }
        Err(error) => Err(Failure::run(format!("its answer cannot be read: {error}"))),
    }
}

/// Runs the cell of a description, and answers with its result or its failure: what [`Crew`] calls, in whichever
/// process. Content of files is `sent` with its hash once an answer has said that it is lacking; it is kept in `folder`
/// for as long as the process lives.
pub fn cell(description: &str, sent: &[(String, &[u8])], folder: &Path) -> String {
    let answer = ran(description, sent, folder).map_err(with_command).unwrap_or_else(Answer::Failure);
    serde_json::to_string(&answer).expect("texts are JSON")
}

fn ran(description: &str, sent: &[(String, &[u8])], kept_in: &Path) -> Result<Answer, Failure> {
    let program = journal::program();
    let value: serde_json::Value = serde_json::from_str(description)
        .map_err(|error| Failure::input(format!("the description of a cell cannot be read: {error}")))?;
    // Before the rest, which another version may spell otherwise.
    let asked = value["program"].as_str().unwrap_or_default();
    if asked != program {
        let message = format!("the worker has another build of copyback ({program}) than the client ({asked})");
        return Err(Failure::input(message).with_help("install the same wheel where workers run, and restart them"));
    }
    let description: Description = serde_json::from_value(value)
        .map_err(|error| Failure::input(format!("the description of a cell cannot be read: {error}")))?;
    let _reading = match carried::present(&description.files, sent, kept_in)? {
        Ok(reading) => reading,
        Err(lacking) => return Ok(Answer::Lacking(lacking)),
    };
    let (cells, at) = (planned(&description)?, description.at);
    let cell = &cells[at];
    memory::check_cells(std::iter::once(&cell.plan), 1)?;
    let drives = Preconditioned::of([&cell.plan]);
    let result = super::one(&cell.plan, 1, &drives, Audience::Nobody)?;
    Ok(Answer::Line(journal::write_line(&description.key, &cell.label, &result)))
}

/// A sweep that this process has planned, and what it was planned from.
type Planned = (Vec<String>, PathBuf, Arc<Vec<Cell>>);

/// The sweep that this process planned last: its next cell is likely one of the same.
static LAST: Mutex<Option<Planned>> = Mutex::new(None);

/// The cells of a description's sweep, of which its own has the key that it says.
fn planned(description: &Description) -> Result<Arc<Vec<Cell>>, Failure> {
    let Description { program, words, folder, at, key, .. } = description;
    let is_same = |cells: &[Cell]| cells.get(*at).is_some_and(|cell| journal::key(&cell.plan, program) == *key);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((own_words, own_folder, cells)) = &*last
        && (own_words, own_folder) == (words, folder)
        && is_same(cells)
    {
        return Ok(cells.clone());
    }
    let cells = Arc::new(super::planned(&args(words, folder)?)?.1.cells);
    if !is_same(&cells) {
        let message = format!("the worker's folder {} differs from the client's", folder.display());
        return Err(Failure::input(message).with_help(
            "put the sweep file, and all files that it names, in a folder that workers share with the \
                        client",
        ));
    }
    *last = Some((words.clone(), folder.clone(), cells.clone()));
    Ok(cells)
}

/// A command line of another folder.
fn args(words: &[String], folder: &Path) -> Result<SweepArgs, Failure> {
    let words = std::iter::once("copyback").chain(words.iter().map(String::as_str));
    match Cli::try_parse_from(words).map(|cli| cli.command) {
        Ok(Command::Sweep(mut args)) => {
            args.file = folder.join(&args.file);
            args.cells.traces = args.cells.traces.map(|traces| folder.join(traces));
            Ok(args)
        }
        Ok(_) => Err(Failure::input("the description of a cell is of no sweep")),
        Err(wrong) => Err(Failure::input(wrong.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A crew that sees none of the client's traces: they are away while a cell runs.
    struct Far {
        traces: Vec<PathBuf>,
        kept_in: PathBuf,
    }

    impl Crew for Far {
        fn run(&self, descriptions: &[String], took: Took<'_>) -> Result<(), Failure> {
            let content: Vec<Vec<u8>> = self.traces.iter().map(|path| fs::read(path).expect("a trace")).collect();
            self.traces.iter().for_each(|path| fs::remove_file(path).expect("it is away"));
            for (at, description) in descriptions.iter().enumerate() {
                let first: Answer = serde_json::from_str(&cell(description, &[], &self.kept_in)).expect("an answer");
                let Answer::Lacking(files) = first else { panic!("the traces are there") };
                let paths: Vec<&PathBuf> = files.iter().map(|(path, _)| path).collect();
                assert_eq!(paths, self.traces.iter().collect::<Vec<_>>(), "all files of the base name");
                let sent = files.iter().zip(&content).map(|((_, hash), content)| (hash.clone(), &content[..]));
                let sent: Vec<(String, &[u8])> = sent.collect();
                took(at, Ok(&cell(description, &sent, &self.kept_in)))?;
            }
            for (path, content) in self.traces.iter().zip(&content) {
                fs::write(path, content).expect("it is back");
            }
            Ok(())
        }
    }

    /// The files of each CPU travel like any trace, under the base name that the sweep has.
    #[test]
    fn all_files_of_a_recording_are_sent_where_they_are_lacking() {
        let folder = tempfile::tempdir().unwrap();
        let event = |time_ns: u64, sector: u64| {
            let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
            let (time, sector) = (time_ns.to_le_bytes().to_vec(), sector.to_le_bytes().to_vec());
            [words(&[0x6561_7407, 1]), time, sector, words(&[4096, (1 << 17) | 7, 77, 259 << 20, 0, 0])].concat()
        };
        let traces: Vec<PathBuf> = (0..2).map(|cpu| folder.path().join(format!("big.blktrace.{cpu}"))).collect();
        traces.iter().zip(0..).for_each(|(path, cpu)| fs::write(path, event(1000 * cpu, 8 * cpu)).unwrap());
        let file = folder.path().join("grid.toml");
        fs::write(&file, "schemes = [\"baseline\"]\ndevice = \"small\"\ntrace = \"big\"\n").unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let words =
            |out: &str| ["sweep", &path("grid.toml"), "--quiet", "--out", &path(out)].map(str::to_owned).to_vec();
        let sweep = |out: &str, crew: Option<Arc<dyn Crew>>| {
            let sweep = args(&words(out), folder.path()).unwrap();
            let crew = crew.map(|crew| Hired::new(crew, words(out)).unwrap());
            super::super::swept(&sweep, crew.as_ref()).unwrap_or_else(|failure| panic!("{failure:?}"));
            fs::read(path(out)).unwrap()
        };
        let here = sweep("here.parquet", None);
        let far = Far { traces, kept_in: folder.path().to_path_buf() };
        assert_eq!(sweep("there.parquet", Some(Arc::new(far))), here, "the same bytes");
    }
}
