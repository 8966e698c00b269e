//! Sweeps: grids of devices, schemes, workloads, settings and seeds.
//!
//! A [`Sweep`] names a sweep file, and replacements for parts of it. Its plan is a grid of cells, each with its own
//! plan. Cells run in parallel, or on a [`remote_cells::Cluster`] of other processes. A [`journal::Journal`] keeps
//! their results, so that a stopped sweep can continue. [`objective::Objective`] selects rows of the results.

pub mod file;
pub mod grid;
pub mod journal;
pub mod latencies;
pub mod notes;
pub mod objective;
pub mod quantity;
pub mod remote_cells;
pub mod seeds;
pub mod table;
pub mod text;
pub mod variant;
mod workload;

use crate::execute::{self, ExecutionOptions};
use crate::failure::Failure;
use crate::files::{self, Input};
use crate::flat;
use crate::memory;
use crate::notes::notes_of_runs;
use crate::overload;
use crate::plan::{self, FitShare, Plan};
use crate::policies::{self, SuppliedPolicy};
use crate::preconditioned::{self, Preconditioned};
use crate::progress::{Bar, Bars, ProgressSink};
use copyback::config::layers::{LayerError, Located, Text};
use copyback::run::Warmup;
use file::SweepFile;
use grid::{Cell, Grid, Overrides};
use journal::{CellResult, Journal, RunResult};
use latencies::Distribution;
use remote_cells::RemoteSweep;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A sweep file, and replacements for parts of it in every cell.
#[derive(Clone, Debug, Default)]
pub struct Sweep {
    /// The TOML file.
    pub file: PathBuf,
    /// Schemes instead of the file's: names, TOML files, or `NAME=SCHEME`; the file's if it is empty.
    pub schemes: Vec<String>,
    /// Settings over those of the file: `table.key=value`, or of one scheme `SCHEME:table.key=value`.
    pub settings: Vec<String>,
    /// Policies of the calling program, which replace those of the schemes.
    pub policies: Vec<SuppliedPolicy>,
    /// The share of the drive that each cell's trace is to take; the drive is scaled to it.
    pub fit: Option<FitShare>,
    /// The seed, instead of the file's.
    pub seed: Option<u64>,
    /// Requests that are measured in each run.
    pub requests: Option<u64>,
    /// The warm-up, which is excluded from all results.
    pub warmup: Option<Warmup>,
    /// The folder of recorded traces; the file's own without it.
    pub traces: Option<PathBuf>,
}

/// A sweep whose cells are planned and checked.
pub struct PlannedSweep {
    /// The sweep file, with the schemes of the sweep.
    pub file: SweepFile,
    /// The cells, and the traces that are missing.
    pub grid: Grid,
}

impl Sweep {
    /// Reads the file and plans every cell. Nothing is simulated.
    ///
    /// # Errors
    /// If the file or a setting is wrong, or no cell is left because all traces are missing.
    pub fn plan(&self) -> Result<PlannedSweep, Failure> {
        self.plan_with_progress(&ProgressSink::Discard)
    }

    /// The same, and shows how far it is: a large grid takes minutes.
    ///
    /// # Errors
    /// Those of [`Self::plan`].
    pub fn plan_with_progress(&self, sink: &ProgressSink) -> Result<PlannedSweep, Failure> {
        plan::refuse_repeated_keys(&self.settings)?;
        let (policies, mut settings) = policies::named(&self.policies)?;
        settings.extend_from_slice(&self.settings);
        let (sets, of_one) = plan::split(&settings);
        let file = read(&self.file)?.with_schemes(&self.schemes, of_one)?.named_after(&self.policies);
        let over = Overrides {
            requests: self.requests,
            warmup: self.warmup,
            traces: self.traces.clone(),
            sets,
            policies,
            fit: self.fit,
            seed: self.seed,
            sink: sink.clone(),
            ..Overrides::default()
        };
        let grid = grid::cells(&file, &over)?;
        if grid.cells.is_empty() {
            return Err(grid::nothing_left(&grid.left_out));
        }
        Ok(PlannedSweep { file, grid })
    }
}

impl PlannedSweep {
    /// Runs the cells, as [`run`] does.
    ///
    /// # Errors
    /// Those of [`run`].
    pub fn run(
        &self,
        journal: &mut Journal,
        options: &ExecutionOptions,
        cluster: Option<&RemoteSweep>,
        check: Check<'_>,
    ) -> Result<Done, Failure> {
        run(&self.grid.cells, journal, options, cluster, check)
    }
}

/// All that a sweep reads.
pub fn inputs<'a>(file: &'a SweepFile, cells: &'a [Cell]) -> impl Iterator<Item = &'a Input> {
    file.inputs.iter().chain(cells.iter().flat_map(|cell| &cell.plan.inputs))
}

/// Reads a sweep file.
pub fn read(path: &Path) -> Result<SweepFile, Failure> {
    let inputs = std::cell::RefCell::new(Vec::new());
    let text_of = |path: &Path| -> Result<Arc<Text>, Failure> {
        let (name, text) = (path.display().to_string(), files::read_text("sweep", path)?);
        inputs.borrow_mut().push(Input::text("sweep", name.clone(), Some(path.to_path_buf()), &text));
        Ok(Arc::new(Text::new(name, text)))
    };
    let folder = files::folder_of(path);
    let neighbour = |name: &Located| {
        let own = std::fs::canonicalize(path);
        if own.is_ok_and(|own| std::fs::canonicalize(folder.join(&name.value)).is_ok_and(|named| named == own)) {
            let error = LayerError::new("the file names itself as its grid");
            return Err(error.with_help("name another sweep file, or remove `grid`").at(name.place.clone()));
        }
        let found = text_of(&folder.join(&name.value));
        let missing = |failure: Failure| LayerError::new(format!("the grid cannot be used: {}", failure.message()));
        found.map_err(|failure| {
            missing(failure).with_help("name a sweep file of the same folder").at(name.place.clone())
        })
    };
    let folder = if folder == Path::new(".") { Path::new("") } else { folder };
    let file = SweepFile::parse(&text_of(path)?, &file::default_name(path), folder, &neighbour)?;
    Ok(SweepFile { inputs: inputs.into_inner(), ..file })
}

/// The results of cells.
pub struct Done {
    /// Results, in the order of the cells.
    pub results: Vec<CellResult>,
    /// How many cells the journal held already, and how many there are.
    pub skipped: (usize, usize),
}

/// Checks the result of a cell at once, so that a mistake ends a sweep before the other cells have run.
pub type Check<'a> = &'a (dyn Fn(usize, &CellResult) -> Result<(), Failure> + Sync);

/// Runs the cells that the journal does not hold, and appends each to the journal as it ends. Of `options` the sweep
/// uses `jobs`, `sink` and `check`. A cluster runs cells instead of this process.
///
/// # Errors
/// The error of the first cell that failed, that of `check`, or one if the journal cannot be written.
pub fn run(
    cells: &[Cell],
    journal: &mut Journal,
    options: &ExecutionOptions,
    cluster: Option<&RemoteSweep>,
    check: Check<'_>,
) -> Result<Done, Failure> {
    let program = journal::program();
    let keys: Vec<String> = cells.iter().map(|cell| journal::key(&cell.plan, &program)).collect();
    let mut to_do = pending(&keys, journal, check)?;
    sort_by_drives(cells, &mut to_do);
    if cluster.is_none() {
        memory::check_cells(to_do.iter().map(|&at| &cells[at].plan), options.jobs)?;
    }
    let skipped = keys.iter().filter(|key| journal.find(key).is_some()).count();
    let bars = Bars::new(&options.sink, std::iter::once("cells"));
    let bar = bars.add("cells", Some(to_do.len() as u64));
    let recorder =
        Recorder { cells, keys: &keys, to_do: &to_do, journal, check, bars, bar, ended: AtomicUsize::new(0) };
    let new = match cluster {
        Some(cluster) => run_on_cluster(cluster, &recorder, &program)?,
        None => run_here(&recorder, options)?,
    };
    drop(recorder);
    for (at, result) in to_do.into_iter().zip(new) {
        journal.remember(keys[at].clone(), result);
    }
    let results = keys.iter().map(|key| journal.find(key).expect("every cell is done").clone()).collect();
    Ok(Done { results, skipped: (skipped, cells.len()) })
}

/// The cells that the journal lacks; equal cells once. Checks the results that it has.
fn pending(keys: &[String], journal: &Journal, check: Check<'_>) -> Result<Vec<usize>, Failure> {
    let mut to_do: BTreeMap<&String, usize> = BTreeMap::new();
    for (at, key) in keys.iter().enumerate() {
        match journal.find(key) {
            Some(result) => check(at, result)?,
            None => _ = to_do.entry(key).or_insert(at),
        }
    }
    Ok(to_do.into_values().collect())
}

/// Sorts cells so that cells with the same drives run one after another, and each drive is freed early.
fn sort_by_drives(cells: &[Cell], to_do: &mut [usize]) {
    to_do.sort_unstable();
    let mut first_of: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    let drives = to_do.iter().map(|&at| *first_of.entry(preconditioned::keys(&cells[at].plan)).or_insert(at));
    let mut sorted: Vec<(usize, usize)> = drives.zip(to_do.iter().copied()).collect();
    sorted.sort_unstable();
    for (entry, (_, at)) in to_do.iter_mut().zip(sorted) {
        *entry = at;
    }
}

/// Records the results of cells: journal, check, progress.
struct Recorder<'a> {
    cells: &'a [Cell],
    keys: &'a [String],
    /// Numbers of the cells that are run.
    to_do: &'a [usize],
    journal: &'a Journal,
    check: Check<'a>,
    bar: Bar,
    bars: Bars,
    ended: AtomicUsize,
}

impl Recorder<'_> {
    /// A cell that is run, by its number in `to_do`.
    fn cell(&self, at: usize) -> &Cell {
        &self.cells[self.to_do[at]]
    }

    /// Records the result of a cell, and returns it as the journal has it. `at`: its number in `to_do`.
    fn record(&self, at: usize, result: &CellResult) -> Result<CellResult, Failure> {
        let label = &self.cell(at).label;
        let result = self.journal.append(&self.keys[self.to_do[at]], label, result)?;
        (self.check)(self.to_do[at], &result)?;
        self.bar.step(label);
        let ended = self.ended.fetch_add(1, Ordering::Relaxed) + 1;
        self.bars.log(&format!("{ended}/{} {label}", self.to_do.len()));
        Ok(result)
    }
}

/// Runs cells in this process.
fn run_here(recorder: &Recorder<'_>, options: &ExecutionOptions) -> Result<Vec<CellResult>, Failure> {
    let count = recorder.to_do.len();
    let drives = Preconditioned::of((0..count).map(|at| &recorder.cell(at).plan), memory::for_kept_drives());
    let jobs = (options.jobs / count.max(1)).max(1);
    execute::in_parallel(options.jobs, count, |at| {
        let cell = recorder.cell(at);
        let sink = recorder.bars.sink_of_part();
        let options = ExecutionOptions { jobs, sink, check: options.check, ..ExecutionOptions::default() };
        let result = run_cell(&cell.plan, &options, &drives).map_err(|failure| failure.of_run(&cell.label));
        result.and_then(|result| recorder.record(at, &result))
    })
}

/// Runs cells on a cluster.
fn run_on_cluster(cluster: &RemoteSweep, recorder: &Recorder<'_>, program: &str) -> Result<Vec<CellResult>, Failure> {
    let cells: Vec<_> =
        recorder.to_do.iter().map(|&at| (at, recorder.keys[at].as_str(), &recorder.cells[at].plan)).collect();
    let label = |at| recorder.cell(at).label.clone();
    cluster.run(program, &cells, &label, &mut |at, result| recorder.record(at, result))
}

/// Runs one cell: all schemes from the same preconditioned drive.
fn run_cell(plan: &Plan, options: &ExecutionOptions, drives: &Preconditioned) -> Result<CellResult, Failure> {
    let finished = execute::execute_from(drives, plan, options)?;
    let mut runs = Vec::new();
    for (at, (planned, done)) in plan.runs.iter().zip(&finished).enumerate() {
        let mut numbers = flat::numbers(&done.outcome.report)?;
        if let Some(matched) = &done.matched {
            numbers.extend(flat::numbers(matched)?.into_iter().map(|(name, n)| (format!("matched.{name}"), n)));
        }
        let numbers = numbers.into_iter().collect();
        let kept = done.outcome.histograms.iter().filter(|(class, _)| latencies::CLASSES.contains(class));
        let latencies = kept.map(|(class, histogram)| ((*class).to_owned(), Distribution::of(histogram))).collect();
        let (scheme, hash) = (planned.scheme.clone(), crate::results::run_hash(plan, at));
        runs.push(RunResult { scheme, hash, steady: done.outcome.report.steady.verdict, numbers, latencies });
    }
    // Overload comes first: it affects results more than any other note.
    let overload = overload::note(plan, &finished, true).unwrap_or_default();
    Ok(CellResult { runs, notes: overload + &notes_of_runs(plan, &finished) })
}
