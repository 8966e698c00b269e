//! Cells that other processes run. A cell is sent as a description: the sweep, the working folder, and the number of
//! the cell. Its result comes back as its line of the journal, which has a check sum.
//!
//! The worker plans the sweep from the same files. It compares the cell's key, a hash of all that the results depend
//! on, with the key of the description. With another program, sweep file or trace, it refuses.

mod sent_traces;

use super::grid::Cell;
use super::journal::{self, CellResult};
use super::{Sweep, run_cell};
use crate::execute::ExecutionOptions;
use crate::failure::Failure;
use crate::memory;
use crate::plan::{FitShare, Plan};
use crate::preconditioned::Preconditioned;
use copyback::run::Warmup;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Receives the answer of [`cell`], or the reason why there is none, with the number of the description.
pub type OnAnswer<'a> = &'a mut dyn FnMut(usize, Result<&str, String>) -> Result<(), Failure>;

/// Processes that run cells.
pub trait Cluster: Send + Sync {
    /// Calls [`cell`] with each description, in any order, and passes each answer on as it comes. An answer that files
    /// are lacking is not passed on: `cell` is called again, with their content. The first error of `on_answer` ends
    /// it.
    ///
    /// # Errors
    /// The error of `on_answer`, or an error if the cluster cannot be reached.
    fn run(&self, descriptions: &[String], on_answer: OnAnswer<'_>) -> Result<(), Failure>;
}

/// A cluster, and the sweep that its processes plan.
#[derive(Clone)]
pub struct RemoteSweep {
    cluster: Arc<dyn Cluster>,
    sweep: Description,
    folder: PathBuf,
}

impl std::fmt::Debug for RemoteSweep {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("RemoteSweep").field("sweep", &self.sweep).finish_non_exhaustive()
    }
}

/// A sweep as it is sent.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
struct Description {
    file: PathBuf,
    schemes: Vec<String>,
    settings: Vec<String>,
    fit: Option<String>,
    seed: Option<u64>,
    requests: Option<u64>,
    warmup: Option<String>,
    traces: Option<PathBuf>,
}

impl Description {
    fn of(sweep: &Sweep) -> Self {
        let Sweep { file, schemes, settings, policies: _, fit, seed, requests, warmup, traces } = sweep.clone();
        let (fit, warmup) = (fit.map(|share| share.to_string()), warmup.map(|warmup| warmup.to_string()));
        Self { file, schemes, settings, fit, seed, requests, warmup, traces }
    }

    /// The sweep of a working folder.
    fn in_folder(&self, folder: &Path) -> Result<Sweep, Failure> {
        let Self { file, schemes, settings, fit, seed, requests, warmup, traces } = self.clone();
        let fit: Option<FitShare> = fit.map(|text| text.parse()).transpose().map_err(Failure::input)?;
        let warmup: Option<Warmup> = warmup.map(|text| text.parse()).transpose().map_err(Failure::input)?;
        let (file, traces) = (folder.join(file), traces.map(|traces| folder.join(traces)));
        Ok(Sweep { file, schemes, settings, policies: Vec::new(), fit, seed, requests, warmup, traces })
    }
}

/// The description that a worker receives.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct CellDescription {
    program: String,
    sweep: Description,
    folder: PathBuf,
    /// The files that the cell reads, with their hashes.
    files: Vec<(PathBuf, String)>,
    at: usize,
    key: String,
}

/// The answer of a worker.
#[derive(Deserialize, Serialize)]
enum Answer {
    Line(String),
    Failure(Failure),
    /// Files that the worker lacks, or has with other content: the cluster calls again, with their content.
    Lacking(Vec<(PathBuf, String)>),
}

impl RemoteSweep {
    /// A cluster for a sweep, whose paths are relative to this process's working folder.
    ///
    /// # Errors
    /// If the sweep has policies of this process; or if the working folder is unknown.
    pub fn new(cluster: Arc<dyn Cluster>, sweep: &Sweep) -> Result<Self, Failure> {
        if !sweep.policies.is_empty() {
            return Err(Failure::input("policies of this process are not on the workers of a cluster")
                .with_help("leave the cluster or the policies out"));
        }
        let folder = std::env::current_dir()
            .map_err(|error| Failure::input(format!("cannot tell the working folder: {error}")))?;
        Ok(Self { cluster, sweep: Description::of(sweep), folder })
    }

    /// Runs cells, each with its number in the grid and its key. Results are in that order, as `on_result` returns
    /// them.
    pub fn run(
        &self,
        program: &str,
        cells: &[(usize, &str, &Plan)],
        label: &dyn Fn(usize) -> String,
        on_result: &mut dyn FnMut(usize, &CellResult) -> Result<CellResult, Failure>,
    ) -> Result<Vec<CellResult>, Failure> {
        let describe = |&(at, key, plan): &(usize, &str, &Plan)| {
            let (program, sweep, folder) = (program.to_owned(), self.sweep.clone(), self.folder.clone());
            let files = sent_traces::files(plan, &self.folder);
            serde_json::to_string(&CellDescription { program, sweep, folder, files, at, key: key.to_owned() })
        };
        let descriptions: Result<Vec<String>, _> = cells.iter().map(describe).collect();
        let descriptions = descriptions.map_err(|_| {
            Failure::input(format!("a path of the sweep in {} is no UTF-8, and cannot be sent", self.folder.display()))
                .with_help("rename the folder or the file")
        })?;
        let mut results: Vec<Option<CellResult>> = vec![None; cells.len()];
        self.cluster.run(&descriptions, &mut |at, answer| {
            let result = read(answer, cells[at].1).map_err(|failure| failure.of_run(&label(at)))?;
            results[at] = Some(on_result(at, &result)?);
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

/// Runs the cell of a description, and returns its result or its failure as text: a [`Cluster`] calls this in any
/// process. If an answer says that files are lacking, the next call has their content and hashes in `sent`. The content
/// is kept in `folder` for as long as the process lives.
pub fn cell(description: &str, sent: &[(String, &[u8])], folder: &Path) -> String {
    let answer = ran(description, sent, folder).unwrap_or_else(Answer::Failure);
    serde_json::to_string(&answer).expect("texts are JSON")
}

fn ran(description: &str, sent: &[(String, &[u8])], kept_in: &Path) -> Result<Answer, Failure> {
    let program = journal::program();
    let value: serde_json::Value = serde_json::from_str(description)
        .map_err(|error| Failure::input(format!("the description of a cell cannot be read: {error}")))?;
    // Before the rest, whose layout depends on the version.
    let client = value["program"].as_str().unwrap_or_default();
    if client != program {
        let message = format!("the worker has another build of copyback ({program}) than the client ({client})");
        return Err(Failure::input(message).with_help("install the same wheel where workers run, and restart them"));
    }
    let description: CellDescription = serde_json::from_value(value)
        .map_err(|error| Failure::input(format!("the description of a cell cannot be read: {error}")))?;
    let _reading = match sent_traces::present(&description.files, sent, kept_in)? {
        Ok(reading) => reading,
        Err(lacking) => return Ok(Answer::Lacking(lacking)),
    };
    let (cells, at) = (planned(&description)?, description.at);
    let cell = &cells[at];
    memory::check_cells(std::iter::once(&cell.plan), 1)?;
    let drives = Preconditioned::of([&cell.plan], memory::for_kept_drives());
    let options = ExecutionOptions { jobs: 1, ..ExecutionOptions::default() };
    let result = run_cell(&cell.plan, &options, &drives)?;
    Ok(Answer::Line(journal::write_line(&description.key, &cell.label, &result)))
}

/// A sweep that this process has planned, and what it was planned from.
type Planned = (Description, PathBuf, Arc<Vec<Cell>>);

/// The sweep that this process planned last: its next cell likely belongs to the same sweep.
static LAST: Mutex<Option<Planned>> = Mutex::new(None);

/// The cells of a description's sweep, if the described cell has the described key.
fn planned(description: &CellDescription) -> Result<Arc<Vec<Cell>>, Failure> {
    let CellDescription { program, sweep, folder, at, key, .. } = description;
    let is_same = |cells: &[Cell]| cells.get(*at).is_some_and(|cell| journal::key(&cell.plan, program) == *key);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((own_sweep, own_folder, cells)) = &*last
        && (own_sweep, own_folder) == (sweep, folder)
        && is_same(cells)
    {
        return Ok(cells.clone());
    }
    let cells = Arc::new(sweep.in_folder(folder)?.plan()?.grid.cells);
    if !is_same(&cells) {
        let message = format!("the worker's folder {} differs from the client's", folder.display());
        return Err(Failure::input(message).with_help(
            "put the sweep file, and all files that it names, in a folder that workers share with the client",
        ));
    }
    *last = Some((sweep.clone(), folder.clone(), cells.clone()));
    Ok(cells)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A cluster without access to the client's traces: they are moved away while a cell runs.
    struct Far {
        traces: Vec<PathBuf>,
        kept_in: PathBuf,
    }

    impl Cluster for Far {
        fn run(&self, descriptions: &[String], on_answer: OnAnswer<'_>) -> Result<(), Failure> {
            let content: Vec<Vec<u8>> = self.traces.iter().map(|path| fs::read(path).expect("a trace")).collect();
            self.traces.iter().for_each(|path| fs::remove_file(path).expect("it is away"));
            for (at, description) in descriptions.iter().enumerate() {
                let first: Answer = serde_json::from_str(&cell(description, &[], &self.kept_in)).expect("an answer");
                let Answer::Lacking(files) = first else { panic!("the traces are there") };
                let paths: Vec<&PathBuf> = files.iter().map(|(path, _)| path).collect();
                assert_eq!(paths, self.traces.iter().collect::<Vec<_>>(), "all files of the base name");
                let sent = files.iter().zip(&content).map(|((_, hash), content)| (hash.clone(), &content[..]));
                let sent: Vec<(String, &[u8])> = sent.collect();
                on_answer(at, Ok(&cell(description, &sent, &self.kept_in)))?;
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
        let sweep = Sweep { file, ..Sweep::default() };
        let run = |cluster: Option<RemoteSweep>| {
            let (planned, mut journal) = (sweep.plan().unwrap(), journal::Journal::none());
            let done = planned.run(&mut journal, &ExecutionOptions::default(), cluster.as_ref(), &|_, _| Ok(()));
            done.unwrap_or_else(|failure| panic!("{failure:?}")).results
        };
        let here = run(None);
        let far = Far { traces, kept_in: folder.path().to_path_buf() };
        assert_eq!(run(Some(RemoteSweep::new(Arc::new(far), &sweep).unwrap())), here, "the same results");
    }
}
