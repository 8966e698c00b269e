//! `copyback sweep`: a grid of devices, schemes, workloads, settings and seeds, into one table.

mod answer;
pub mod crew;
pub mod file;
pub mod grid;
pub mod journal;
pub mod latencies;
pub mod notes;
pub mod objective;
pub mod quantity;
mod screen;
pub mod seeds;
pub mod table;
pub mod text;
pub mod variant;
mod workload;

use crate::args::{CellArgs, SweepArgs};
use crate::columns::Column;
use crate::execute::{self, How};
use crate::failure::Failure;
use crate::files::{self, Input, Output};
use crate::flat;
use crate::format::counted;
use crate::latex;
use crate::memory;
use crate::notes::notes_of_runs;
use crate::overload;
use crate::plan::{self, Fitted, Plan};
use crate::preconditioned::{self, Preconditioned};
use crate::progress::{Audience, Bars};
use copyback::config::layers::{LayerError, Located, Text};
use copyback::run::Warmup;
use copyback_lab::policies;
use copyback_workload::printable::printable;
use crew::Hired;
use file::SweepFile;
use grid::{Cell, Grid, Overrides};
use journal::{CellResult, Journal, RunResult};
use latencies::Distribution;
use objective::{Columns, Objective};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use table::Results;

/// Runs the command.
pub fn sweep(args: &SweepArgs, crew: Option<&Hired>) -> Result<(), Failure> {
    if args.list {
        return files::print(&listed(args)?);
    }
    let swept = swept(args, crew)?;
    if swept.is_printed { Ok(()) } else { files::print(&swept.text) }
}

/// The cells, for `--list`.
pub fn listed(args: &SweepArgs) -> Result<String, Failure> {
    let (file, grid) = planned(args)?;
    Ok(list(&file, &grid))
}

/// A sweep that is done and written.
pub struct Swept {
    /// What the program prints of it.
    pub text: String,
    file: SweepFile,
    cells: Vec<Cell>,
    results: Vec<CellResult>,
    /// The table that was printed, for LaTeX.
    pub latex: String,
    /// Whether standard output is taken by its table.
    is_printed: bool,
}

impl Swept {
    /// The columns of its table, a row for each run.
    pub fn columns(self) -> (Vec<Column>, Vec<Column>) {
        let Self { file, cells, results, .. } = self;
        let results = Results { file: &file, cells: &cells, results };
        (table::columns(&results), latencies::columns(&results))
    }
}

/// The cells that a command line asks for.
fn planned(args: &SweepArgs) -> Result<(SweepFile, Grid), Failure> {
    let (policies, mut sets) = policies::named(&args.cells.policies)?;
    sets.extend_from_slice(&args.cells.sets);
    let (sets, of_one) = plan::split(&sets);
    let file = read(&args.file)?.with_schemes(&args.schemes, of_one)?;
    let over = Overrides { requests: args.requests, sets, policies, ..Overrides::of(&args.cells) };
    let grid = grid::cells(&file, &over)?;
    if grid.cells.is_empty() {
        return Err(grid::nothing_left(&grid.left_out));
    }
    Ok((file, grid))
}

/// Does what the command line says but for the text. `crew`: who runs cells instead of this process.
pub fn swept(args: &SweepArgs, crew: Option<&Hired>) -> Result<Swept, Failure> {
    if let (Some(address), None) = (&args.dask, crew) {
        let message =
            format!("--dask {address}: Dask is reached through the Python package, which this program is not");
        return Err(Failure::input(message).with_help("pip install '.[dask]', then the same command"));
    }
    let objective = Objective::parse(&args.objective)?;
    let (file, grid) = planned(args)?;
    if let Some(objective) = &objective {
        objective.check_names(&Columns::usual(&file, &grid.cells)?)?;
    }
    let to = Outputs::of(args, &file, &grid.cells)?;
    if objective.is_some() && files::is_standard_output(&to.table) {
        let message = "standard output takes the table or the answer to --where, --min, --max and --show, not both";
        return Err(Failure::input(message).with_help("name a file for the table: --out FILE.parquet"));
    }
    let mut journal = match &to.journal {
        Some(path) => Journal::open(path, &name_of(&to.table), args.cells.fresh)?,
        None => Journal::none(),
    };
    let check = |_: usize, result: &CellResult| {
        let columns = Columns::of(&file, &grid.cells, std::iter::once(result));
        objective.as_ref().map_or(Ok(()), |objective| objective.check(&columns)).map_err(Failure::from)
    };
    let done = run(&grid.cells, &mut journal, &args.cells, crew, &check)?;
    let results = Results { file: &file, cells: &grid.cells, results: done.results };
    to.write(&results)?;
    let mut text = heading(&file, &grid, &done.skipped);
    let (body, latex) = body(objective.as_ref(), &results)?;
    let is_taken = args.latex.as_deref().map_or(Ok(false), |path| files::write_text(path, &latex))?;
    text.push_str(&body);
    text.push_str(&notes(&file, &journal, &grid, &results));
    text.push_str(&to.note());
    let (results, is_printed) = (results.results, is_taken || files::is_standard_output(&to.table));
    Ok(Swept { text, file, cells: grid.cells, results, latex, is_printed })
}

/// The answer to what was asked, or else the table; and that of its rows for LaTeX.
fn body(objective: Option<&Objective>, results: &Results<'_>) -> Result<(String, String), Failure> {
    if let Some(objective) = objective {
        let (text, rows) = answer::text(objective, results)?;
        return Ok((text, latex::of_cells(rows, 1)));
    }
    let terminal_columns = crate::table::terminal_columns(crate::table::PAGE);
    let text = screen::table(results, terminal_columns) + &screen::note_of_seeds(results);
    Ok((text, latex::of_cells(screen::rows(results), 2)))
}

/// Where a sweep writes to.
struct Outputs {
    table: PathBuf,
    text: PathBuf,
    latencies: PathBuf,
    /// None where the table is no file that one could stand beside; then no other table does, either.
    journal: Option<PathBuf>,
}

impl Outputs {
    /// Those of a command line. Refuses what cannot be written, or would destroy something.
    fn of(args: &SweepArgs, file: &SweepFile, cells: &[Cell]) -> Result<Self, Failure> {
        let named = || PathBuf::from(format!("{}.parquet", file_stem(&args.file)));
        let table = args.out.clone().unwrap_or_else(named);
        let journal = journal_of(&table)?;
        let (text, latencies) = (table::text_beside(&table), latencies::path_beside(&table));
        check_outputs(&table, journal.as_deref(), args.latex.as_deref(), file, cells)?;
        refuse_other_format(&table)?;
        if args.out.is_none() {
            refuse_unknown_table(&table, &table, journal.as_deref())?;
        }
        // Nobody has named this one.
        if !latencies::is_of_a_sweep(&latencies) {
            refuse_unknown_table(&latencies, &table, journal.as_deref())?;
        }
        // A trace may well have this name: no journal says that it may go.
        if journal.is_some() && text.exists() && !table::is_text_of_a_sweep(&text) {
            let message = format!("{} exists, and was not written by a sweep", text.display());
            return Err(
                Failure::input(message).with_help("name another table with --out; its text is written next to it")
            );
        }
        Ok(Self { table, text, latencies, journal })
    }

    fn write(&self, results: &Results<'_>) -> Result<(), Failure> {
        table::write(&self.table, results)?;
        if self.journal.is_some() {
            table::write_text(&self.text, results)?;
            latencies::write(&self.latencies, results)?;
        }
        Ok(())
    }

    /// What was written where.
    fn note(&self) -> String {
        let shown = |path: &Path| printable(&path.display().to_string()).into_owned();
        let [table, text, latencies] = [&self.table, &self.text, &self.latencies].map(|path| shown(path));
        match self.journal.as_deref().map(shown) {
            Some(journal) => {
                format!("\nWritten to {table}, {text} and {latencies}; a rerun skips what {journal} holds\n")
            }
            None => format!("\nWritten to {table}, without a journal\n"),
        }
    }
}

/// Refuses outputs that cannot be written, or that would destroy what the sweep reads.
fn check_outputs(
    out: &Path,
    journal: Option<&Path>,
    latex: Option<&Path>,
    file: &SweepFile,
    cells: &[Cell],
) -> Result<(), Failure> {
    latex.map_or(Ok(()), files::check_output)?;
    let mut outputs = vec![Output::new("the table", out)];
    outputs.extend(journal.map(|journal| Output::new("the journal", journal)));
    // A table that is called .csv is refused for that.
    let text = Some(table::text_beside(out)).filter(|text| journal.is_some() && text != out);
    outputs.extend(text.map(|text| Output::new("the table as text", text)));
    outputs.extend(journal.map(|_| Output::new("the table of response times", latencies::path_beside(out))));
    outputs.extend(latex.map(|path| Output::new("--latex", path)));
    files::refuse_clashes(&outputs, inputs(file, cells))
}

/// All that a sweep reads.
pub fn inputs<'a>(file: &'a SweepFile, cells: &'a [Cell]) -> impl Iterator<Item = &'a Input> {
    file.inputs.iter().chain(cells.iter().flat_map(|cell| &cell.plan.inputs))
}

/// Refuses a file that is there and that nobody named, unless the journal of the table says that a sweep wrote it.
fn refuse_unknown_table(file: &Path, table: &Path, journal: Option<&Path>) -> Result<(), Failure> {
    match journal {
        Some(path) if !journal::is_of(path, &name_of(table)) => {
            refuse_unwritten(file, "say where the table goes: --out FILE")
        }
        _ => Ok(()),
    }
}

/// Refuses what stands in the place of a table that no journal knows of.
pub fn refuse_unwritten(table: &Path, help: &str) -> Result<(), Failure> {
    if !table.exists() {
        return Ok(());
    }
    let message = format!("{} exists, and no journal next to it shows that a sweep wrote it", table.display());
    Err(Failure::input(message).with_help(help))
}

/// Reads a sweep file.
pub fn read(path: &Path) -> Result<SweepFile, Failure> {
    let inputs = std::cell::RefCell::new(Vec::new());
    let text_of = |path: &Path| -> Result<Arc<Text>, Failure> {
        let (name, text) = (path.display().to_string(), files::read_text("sweep", path)?);
        inputs.borrow_mut().push(Input::text("sweep", name.clone(), Some(path.to_path_buf()), &text));
        Ok(Arc::new(Text { name, text }))
    };
    let folder = files::folder_of(path);
    let neighbour = |name: &Located| {
        let found = text_of(&folder.join(&name.value));
        let missing = |failure: Failure| LayerError::new(format!("the grid cannot be used: {}", failure.message()));
        found.map_err(|failure| {
            missing(failure).with_help("name a sweep file of the same folder").at(name.place.clone())
        })
    };
    let folder = if folder == Path::new(".") { Path::new("") } else { folder };
    let file = SweepFile::parse(&text_of(path)?, &file_stem(path), folder, &neighbour)?;
    Ok(SweepFile { inputs: inputs.into_inner(), ..file })
}

fn file_stem(path: &Path) -> String {
    path.file_stem().map_or_else(|| "sweep".to_owned(), |stem| stem.to_string_lossy().into_owned())
}

/// The journal stands beside the table; where that is no file, there is none.
fn journal_of(out: &Path) -> Result<Option<PathBuf>, Failure> {
    files::check_output(out)?;
    if !files::is_file(out) {
        return Ok(None);
    }
    if out.file_name().is_none() || out.extension().is_some_and(|ending| ending == "journal") {
        return Err(Failure::input(format!("{} cannot be the table's name", out.display()))
            .with_help("name a file that ends with .parquet"));
    }
    Ok(Some(out.with_extension("journal")))
}

/// Refuses a file whose name promises something else than what will be in it.
fn refuse_other_format(out: &Path) -> Result<(), Failure> {
    if !files::is_file(out) || out.extension().is_none_or(|ending| ending.eq_ignore_ascii_case("parquet")) {
        return Ok(());
    }
    let message = format!("--out {}: the table is written as Parquet, but its name has another ending", out.display());
    let help = format!("name it {}: a .csv is written next to it", out.with_extension("parquet").display());
    Err(Failure::input(message).with_help(help))
}

/// How a journal names its table: without the folder, which may be moved.
fn name_of(table: &Path) -> String {
    table.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// Results, in the order of the cells.
pub struct Done {
    /// Results.
    pub results: Vec<CellResult>,
    /// How many cells the journal held already, and how many there are.
    pub skipped: (usize, usize),
}

/// What is asked of a cell's result as soon as it is there: a mistake that it shows is told before the others have run.
pub type Check<'a> = &'a (dyn Fn(usize, &CellResult) -> Result<(), Failure> + Sync);

/// Runs the cells that the journal does not hold, and writes each down as it ends.
pub fn run(
    cells: &[Cell],
    journal: &mut Journal,
    args: &CellArgs,
    crew: Option<&Hired>,
    check: Check<'_>,
) -> Result<Done, Failure> {
    let jobs = args.jobs.map_or_else(execute::cores, |jobs| jobs as usize);
    let program = journal::program();
    let keys: Vec<String> = cells.iter().map(|cell| journal::key(&cell.plan, &program)).collect();
    // Two cells may be the same: they are run once.
    let mut to_do: BTreeMap<&String, usize> = BTreeMap::new();
    for (at, key) in keys.iter().enumerate() {
        match journal.find(key) {
            Some(result) => check(at, result)?,
            None => _ = to_do.entry(key).or_insert(at),
        }
    }
    let mut to_do: Vec<usize> = to_do.into_values().collect();
    // Cells that start from the same drives follow each other, so that no drive is kept for longer than it is used.
    let mut first_of: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    to_do.sort_unstable();
    for &at in &to_do {
        first_of.entry(preconditioned::keys(&cells[at].plan)).or_insert(at);
    }
    to_do.sort_by_cached_key(|&at| (first_of[&preconditioned::keys(&cells[at].plan)], at));
    if crew.is_none() {
        memory::check_cells(to_do.iter().map(|&at| &cells[at].plan), jobs)?;
    }
    let drives = Preconditioned::of(to_do.iter().map(|&at| &cells[at].plan));
    let skipped = cells.len() - keys.iter().filter(|key| journal.find(key).is_none()).count();
    let jobs_of_cell = (jobs / to_do.len().max(1)).max(1);
    let bars = Bars::new(&args.hearing.audience(), std::iter::once("cells"));
    let bar = bars.add("cells", Some(to_do.len() as u64));
    let (ended, has_failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let took = |at: usize, result: &CellResult| {
        let label = &cells[to_do[at]].label;
        let result = journal.append(&keys[to_do[at]], label, result)?;
        check(to_do[at], &result)?;
        bar.step(label);
        bars.tell(&format!("{}/{} {label}", ended.fetch_add(1, Ordering::Relaxed) + 1, to_do.len()));
        Ok(result)
    };
    let here = || {
        execute::in_parallel(jobs, to_do.len(), |at| {
            let cell = &cells[to_do[at]];
            if has_failed.load(Ordering::Relaxed) {
                // A cell before this one has failed, and its error is the one that is told.
                return Err(Failure::run("not begun").of_run(&cell.label));
            }
            let result = one(&cell.plan, jobs_of_cell, &drives, bars.audience_of_part()).map_err(|failure| {
                has_failed.store(true, Ordering::Relaxed);
                failure.of_run(&cell.label)
            })?;
            took(at, &result).inspect_err(|_| has_failed.store(true, Ordering::Relaxed))
        })
    };
    let new = match crew {
        Some(crew) => {
            let asked: Vec<_> = to_do.iter().map(|&at| (at, keys[at].as_str(), &cells[at].plan)).collect();
            crew.run(&program, &asked, &|at| cells[to_do[at]].label.clone(), &mut |at, result| took(at, result))?
        }
        None => here()?,
    };
    drop(bar);
    for (at, result) in to_do.into_iter().zip(new) {
        journal.remember(keys[at].clone(), result);
    }
    let results = keys.iter().map(|key| journal.find(key).expect("every cell is done").clone()).collect();
    Ok(Done { results, skipped: (skipped, cells.len()) })
}

/// Runs one cell: all schemes from the same preconditioned drive.
fn one(plan: &Plan, jobs: usize, drives: &Preconditioned, audience: Audience) -> Result<CellResult, Failure> {
    let how = How {
        jobs,
        audience,
        check: false,
        keep_gc_events: false,
        keep_rates: false,
        keep_requests: false,
        keep_commands: None,
        microscope: None,
    };
    let finished = execute::execute_from(drives, plan, &how)?;
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
    // That a drive cannot keep up says more of the results than anything else.
    let overload = overload::note(plan, &finished).unwrap_or_default();
    Ok(CellResult { runs, notes: overload + &notes_of_runs(plan, &finished) })
}

fn heading(file: &SweepFile, grid: &Grid, (skipped, all): &(usize, usize)) -> String {
    let description = file.description.as_ref().map(|text| format!(", {text}")).unwrap_or_default();
    let runs = grid.cells.len() * file.schemes.len();
    let held = if *skipped > 0 {
        let were = if *skipped == 1 { "was" } else { "were" };
        format!("; {skipped} of {} {were} done before", counted(*all as u64, "cell"))
    } else {
        String::new()
    };
    let (cells, runs) = (counted(grid.cells.len() as u64, "cell"), counted(runs as u64, "run"));
    format!("{}{description}: {cells}, {runs}{held}\n\n", file.name)
}

/// What users should know.
fn notes(file: &SweepFile, journal: &Journal, grid: &Grid, results: &Results<'_>) -> String {
    let mut text = file.note_idle_variants().unwrap_or_default();
    text += &Fitted::note_of_all(grid.cells.iter().map(|cell| &cell.plan)).unwrap_or_default();
    let cells = || results.cells.iter().map(|cell| cell.label.as_str()).zip(&results.results);
    text.push_str(&notes::of_cells(cells()).concat());
    let warms_up = grid.cells.iter().all(|cell| cell.plan.warmup == Some(Warmup::Steady));
    let of_seeds = notes::of_equal_seeds(results).or_else(|| notes::of_seeds_on_traces(results));
    text.push_str(&of_seeds.unwrap_or_default());
    text.push_str(&notes::of_steadiness(cells(), warms_up).unwrap_or_default());
    if !grid.left_out.is_empty() {
        text.push_str(&format!("Note: skipped, because the trace is missing: {}\n", grid.left_out.join(", ")));
    }
    text.push_str(&journal.note().unwrap_or_default());
    if text.is_empty() { text } else { format!("\n{text}") }
}

/// A line for each cell.
fn list(file: &SweepFile, grid: &Grid) -> String {
    let schemes: Vec<&str> = file.schemes.iter().map(|scheme| scheme.value.as_str()).collect();
    let runs = grid.cells.len() * schemes.len();
    let (cells, runs) = (counted(grid.cells.len() as u64, "cell"), counted(runs as u64, "run"));
    let mut text = format!("{}: {cells}, {runs}: {}\n", file.name, schemes.join(", "));
    for cell in &grid.cells {
        let requests = cell.plan.requests.map_or_else(|| "all requests".to_owned(), |most| counted(most, "request"));
        let Cell { label, device, workload, .. } = cell;
        let warmup = cell.plan.warmup.map(|warmup| format!(" after a warm-up of {warmup}")).unwrap_or_default();
        text.push_str(&format!("  {label}: {device}, {workload}, seed {}, {requests}{warmup}\n", cell.plan.seed));
    }
    text
}
