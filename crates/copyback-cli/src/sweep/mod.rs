//! `copyback sweep`: a grid of devices, schemes, workloads, settings and seeds, into one table.

mod answer;
mod call;
mod screen;

use crate::args::SweepArgs;
use crate::columns::Column;
use crate::execute::{self, ExecutionOptions};
use crate::failure::Failure;
use crate::files::{self, Output};
use crate::format::counted;
use crate::plan::{Fitted, Plan};
pub use call::SweepCall;
use copyback::run::Warmup;
use copyback_lab::advice::begins_settled;
pub use copyback_lab::sweep::{
    PlannedSweep, file, grid, inputs, journal, latencies, notes, objective, quantity, remote_cells, seeds, table,
};
use copyback_workload::printable::printable;
use file::SweepFile;
use grid::{Cell, Grid};
use journal::{CellResult, Journal};
use objective::{Columns, Objective};
use remote_cells::{Cluster, RemoteSweep};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use table::SweepResults;

/// Runs the command. `cluster`: connects to the processes that run the cells.
pub fn sweep(args: SweepArgs, cluster: impl FnOnce(&str) -> Result<Arc<dyn Cluster>, Failure>) -> Result<(), Failure> {
    let (is_list, dask) = (args.list, args.dask.clone());
    let call = args.into_call();
    if is_list {
        return files::print(&listed(&call)?);
    }
    let swept = swept(&call, dask.as_deref().map(cluster).transpose()?)?;
    if swept.is_stdout_taken { Ok(()) } else { files::print(&swept.text) }
}

/// The cells, for `--list`.
pub fn listed(call: &SweepCall) -> Result<String, Failure> {
    let PlannedSweep { file, grid } = call.sweep.plan_with_progress(&call.sink)?;
    Ok(list(&file, &grid))
}

/// A sweep that has ended, and whose files are written.
pub struct Swept {
    /// The printed text.
    pub text: String,
    file: SweepFile,
    cells: Vec<Cell>,
    results: Vec<CellResult>,
    /// The table that was printed, for LaTeX.
    pub latex: String,
    /// Whether its table or its LaTeX went to standard output, so that the text is not printed there.
    is_stdout_taken: bool,
}

impl Swept {
    /// The columns of its table, a row for each run, and those of its table of response times.
    pub fn columns(self) -> (Vec<Column>, Vec<Column>) {
        let Self { file, cells, results, .. } = self;
        let results = SweepResults { file: &file, cells: &cells, results: &results };
        (table::columns(&results), latencies::columns(&results))
    }
}

/// Runs a sweep, and writes its files. The caller prints the text. A cluster runs cells instead of this process.
pub fn swept(call: &SweepCall, cluster: Option<Arc<dyn Cluster>>) -> Result<Swept, Failure> {
    let cluster = cluster.map(|cluster| RemoteSweep::new(cluster, &call.sweep)).transpose()?;
    let objective = Objective::parse(&call.objective)?;
    let planned = call.sweep.plan_with_progress(&call.sink)?;
    let PlannedSweep { file, grid } = &planned;
    if let Some(objective) = &objective {
        objective.check_names(&Columns::usual(file, &grid.cells)?)?;
    }
    let to = Outputs::of(call, file, &grid.cells)?;
    if objective.is_some() && files::is_standard_output(&to.table) {
        let message = "standard output takes the table or the answer to --where, --min, --max and --show, not both";
        return Err(Failure::input(message).with_help("name a file for the table: --out FILE.parquet"));
    }
    let mut journal = match &to.journal {
        // Another call may have other policies of these names.
        Some(path) if !call.sweep.policies.is_empty() => Journal::without_results(path, &name_of(&to.table))?,
        Some(path) => Journal::open(path, &name_of(&to.table), call.fresh)?,
        None => Journal::none(),
    };
    let check = |_: usize, result: &CellResult| {
        let columns = Columns::of(file, &grid.cells, std::iter::once(result));
        objective.as_ref().map_or(Ok(()), |objective| objective.check(&columns)).map_err(Failure::from)
    };
    let jobs = call.jobs.map_or_else(execute::cores, |jobs| jobs as usize);
    let options = ExecutionOptions { jobs, sink: call.sink.clone(), ..ExecutionOptions::default() };
    let done = planned.run(&mut journal, &options, cluster.as_ref(), &check)?;
    let results = SweepResults { file, cells: &grid.cells, results: &done.results };
    to.write(&results)?;
    let mut text = heading(file, grid, &done.skipped);
    let (body, latex) = body(objective.as_ref(), &results)?;
    let is_taken = call.latex.as_deref().map_or(Ok(false), |path| files::write_text(path, &latex))?;
    text.push_str(&body);
    text.push_str(&notes(file, &journal, grid, &results));
    text.push_str(&to.note(!call.sweep.policies.is_empty()));
    let is_stdout_taken = is_taken || files::is_standard_output(&to.table);
    let PlannedSweep { file, grid } = planned;
    Ok(Swept { text, file, cells: grid.cells, results: done.results, latex, is_stdout_taken })
}

/// The answer to the objective, or the table; and its rows for LaTeX.
fn body(objective: Option<&Objective>, results: &SweepResults<'_>) -> Result<(String, String), Failure> {
    if let Some(objective) = objective {
        let (text, rows) = answer::text(objective, results)?;
        return Ok((text, crate::table::latex(rows, 1)));
    }
    let terminal_columns = crate::table::terminal_columns(crate::table::PAGE);
    let text = screen::table(results, terminal_columns) + &screen::note_of_seeds(results);
    Ok((text, crate::table::latex(screen::rows(results), 2)))
}

/// The files of a sweep.
struct Outputs {
    table: PathBuf,
    text: PathBuf,
    latencies: PathBuf,
    /// `None` if the table is no regular file; then no other table is written, either.
    journal: Option<PathBuf>,
}

impl Outputs {
    /// Those of a call. Refuses what cannot be written, or would destroy something.
    fn of(call: &SweepCall, file: &SweepFile, cells: &[Cell]) -> Result<Self, Failure> {
        let named = || PathBuf::from(format!("{}.parquet", file::default_name(&call.sweep.file)));
        let table = call.out.clone().unwrap_or_else(named);
        let journal = journal_of(&table)?;
        let (text, latencies) = (table::text_beside(&table), latencies::path_beside(&table));
        check_outputs(&table, journal.as_deref(), call.latex.as_deref(), file, cells)?;
        refuse_other_format(&table)?;
        if journal.is_some() {
            [&text, &latencies].into_iter().try_for_each(|path| files::check_companion(path))?;
        }
        if call.out.is_none() {
            refuse_unknown_table(&table, &table, journal.as_deref())?;
        }
        // The user has not named this file.
        if !latencies::is_of_a_sweep(&latencies) {
            refuse_unknown_table(&latencies, &table, journal.as_deref())?;
        }
        // A trace may have this name, and the journal does not list it.
        if journal.is_some() && text.exists() && !table::is_text_of_a_sweep(&text) {
            let message = format!("{} exists, and was not written by a sweep", text.display());
            return Err(
                Failure::input(message).with_help("name another table with --out; its text is written next to it")
            );
        }
        Ok(Self { table, text, latencies, journal })
    }

    fn write(&self, results: &SweepResults<'_>) -> Result<(), Failure> {
        table::write(&self.table, results)?;
        if self.journal.is_some() {
            table::write_text(&self.text, results)?;
            latencies::write(&self.latencies, results)?;
        }
        Ok(())
    }

    /// The note that names the files.
    fn note(&self, has_policies: bool) -> String {
        let shown = |path: &Path| printable(&path.display().to_string()).into_owned();
        let [table, text, latencies] = [&self.table, &self.text, &self.latencies].map(|path| shown(path));
        match self.journal.as_deref().map(shown) {
            Some(_) if has_policies => {
                let why = "a rerun runs all cells again, because policies of the calling program may have changed";
                format!("\nWritten to {table}, {text} and {latencies}; {why}\n")
            }
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
    // If the table itself is called .csv, `refuse_other_format` refuses it with a better message.
    let text = Some(table::text_beside(out)).filter(|text| journal.is_some() && text != out);
    outputs.extend(text.map(|text| Output::new("the table as text", text)));
    outputs.extend(journal.map(|_| Output::new("the table of response times", latencies::path_beside(out))));
    outputs.extend(latex.map(|path| Output::new("--latex", path)));
    files::refuse_clashes(&outputs, inputs(file, cells))?;
    files::refuse_other_endings(&outputs)
}

/// Refuses an existing file that the user has not named, unless the journal of the table shows that a sweep wrote it.
fn refuse_unknown_table(file: &Path, table: &Path, journal: Option<&Path>) -> Result<(), Failure> {
    match journal {
        Some(path) if !journal::is_of(path, &name_of(table)) => {
            refuse_unlisted(file, "say where the table goes: --out FILE")
        }
        _ => Ok(()),
    }
}

/// Refuses to replace an existing file that no journal lists.
pub fn refuse_unlisted(table: &Path, help: &str) -> Result<(), Failure> {
    if !table.exists() {
        return Ok(());
    }
    let message = format!("{} exists, and no journal next to it shows that a sweep wrote it", table.display());
    Err(Failure::input(message).with_help(help))
}

/// The journal's path, next to the table; `None` if the table is no regular file.
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

/// Refuses a file whose name has the ending of another format.
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

/// The notes for the user.
fn notes(file: &SweepFile, journal: &Journal, grid: &Grid, results: &SweepResults<'_>) -> String {
    let mut text = file.note_idle_variants().unwrap_or_default();
    text += &Fitted::note_of_all(grid.cells.iter().map(|cell| &cell.plan)).unwrap_or_default();
    let cells = || results.cells.iter().map(|cell| cell.label.as_str()).zip(results.results);
    text.push_str(&notes::of_cells(cells()).concat());
    let begin_steady = |plan: &Plan| plan.runs.iter().all(|run| begins_settled(&run.resolved.run));
    let is_warm = grid.cells.iter().all(|cell| cell.plan.warmup == Some(Warmup::Steady) || begin_steady(&cell.plan));
    let of_seeds = notes::of_equal_seeds(results).or_else(|| notes::of_seeds_on_traces(results));
    text.push_str(&of_seeds.unwrap_or_default());
    text.push_str(&notes::of_steadiness(cells(), is_warm).unwrap_or_default());
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
