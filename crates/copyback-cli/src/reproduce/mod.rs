//! `copyback reproduce`: do a paper's claims hold in this simulator? Published, measured, verdict; a miss is shown.

mod document;
mod headlines;
#[cfg(test)]
mod pages;
mod show;
mod worlds;

use crate::args::ReproduceArgs;
use crate::columns::Column;
use crate::failure::Failure;
use crate::files::{self, Output};
use crate::package::{self, Package};
use crate::sweep::file::SweepFile;
use crate::sweep::grid::{self, Overrides};
use crate::sweep::journal::{self, CellResult, Journal};
use crate::sweep::table::{self as sweep_table, SweepResults};
use crate::sweep::{self, latencies, notes, seeds};
use claim::Claim;
use copyback::config::layers::Text;
use copyback_lab::reproduce::{claim, count, experiments, judge, verdict};
use copyback_workload::printable::printable;
use count::Counts;
use document::About;
pub use document::CLAIMS;
use headlines::Headlines;
use judge::Measured;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An experiment with its cells.
struct Experiment {
    stem: String,
    file: SweepFile,
    claims: Vec<Claim>,
    cells: Vec<grid::Cell>,
    left_out: Vec<String>,
}

/// An experiment with its results.
struct Done<'a> {
    experiment: &'a Experiment,
    results: Vec<CellResult>,
    measured: Vec<Measured>,
}

impl Done<'_> {
    /// Its claims with their measurements.
    fn claims(&self) -> impl Iterator<Item = (&Claim, &Measured)> {
        self.experiment.claims.iter().zip(&self.measured)
    }

    /// Whether the drives of the cells of a label had settled, with every seed.
    fn is_steady(&self, label: &str) -> bool {
        let cells = self.experiment.cells.iter().zip(&self.results);
        let mut of_label = cells.filter(|(cell, _)| seeds::label_without_seed(cell) == label);
        of_label.all(|(_, result)| result.is_steady())
    }
}

/// Runs the command.
pub fn reproduce(args: &ReproduceArgs, package: Option<&dyn Package>) -> Result<(), Failure> {
    let Reproduced { text, is_printed, .. } = reproduced(args, package)?;
    if is_printed { Ok(()) } else { files::print(&text) }
}

/// A reproduction that is done and written.
pub struct Reproduced {
    /// The paper, or the file.
    pub name: String,
    /// The tables of each experiment.
    pub tables: Vec<Tables>,
    /// The JSON document.
    pub json: String,
    /// The printed text.
    pub text: String,
    /// Whether standard output is taken by the document.
    is_printed: bool,
}

/// The tables of an experiment, as those of a sweep.
pub struct Tables {
    /// The experiment.
    pub experiment: String,
    /// A row for each run.
    pub table: Vec<Column>,
    /// The response times of each run, in bins.
    pub latencies: Vec<Column>,
}

/// Runs the command without printing its text.
pub fn reproduced(args: &ReproduceArgs, package: Option<&dyn Package>) -> Result<Reproduced, Failure> {
    let name = paper_name(args);
    if let Some(count) = args.worlds {
        return worlds::reproduced(&question(&name, args)?, count, args);
    }
    let mut experiments = chosen(args)?;
    let figures = match &args.drawn_into {
        Some(folder) => Some((folder, package::needed(package, "--figures")?)),
        None => None,
    };
    figures.map_or(Ok(()), |(folder, package)| package.check_figures(&name, folder))?;
    let folder = args.out.clone().unwrap_or_else(|| PathBuf::from("reproduction"));
    check_outputs(&name, &folder, &experiments, args)?;
    std::fs::create_dir_all(&folder).map_err(|error| {
        Failure::input(format!("cannot make the folder {}: {error}", folder.display())).with_help("name one: --out DIR")
    })?;
    let mut journal = Journal::open(&journal_of(&name, &folder), &tables_of(&name), args.cells.fresh)?;
    let results = run(&mut experiments, &mut journal, args)?;
    let (mut done, mut tables) = (Vec::new(), Vec::new());
    for (experiment, results) in experiments.iter().zip(results) {
        let results = SweepResults { file: &experiment.file, cells: &experiment.cells, results };
        let measured = experiment.claims.iter().map(|claim| judge::judge(claim, &results)).collect::<Result<_, _>>()?;
        sweep_table::write(&table_of(&name, &folder, experiment, args), &results)?;
        tables.push(Tables {
            experiment: experiment.stem.clone(),
            table: sweep_table::columns(&results),
            latencies: latencies::columns(&results),
        });
        done.push(Done { experiment, results: results.results, measured });
    }
    let (json, text) = match args.headlines {
        true => {
            let document = Headlines::of(&name, args.quick, changes(args), &done);
            let json = serde_json::to_string_pretty(&document);
            let json = json.map_err(|error| Failure::run(format!("cannot write the headlines: {error}")))? + "\n";
            (json, headlines::text(&document))
        }
        false => {
            let about = About { name: &name, is_quick: args.quick, changes: changes(args) };
            (document::document(&about, &done), text(&name, &folder, args, &done))
        }
    };
    files::write_text(&claims_of(&name, &folder, args), &json)?;
    let is_printed = args.json.as_ref().map_or(Ok(false), |path| files::write_text(path, &json))?;
    let text = text + &journal.note().unwrap_or_default();
    let mut reproduced = Reproduced { name, tables, json, text, is_printed };
    if let Some((folder, package)) = figures {
        reproduced.text += &package.draw_figures(folder, &reproduced)?;
    }
    Ok(reproduced)
}

fn journal_of(name: &str, folder: &Path) -> PathBuf {
    folder.join(format!("{name}.journal"))
}

/// How the journal names what it belongs to.
fn tables_of(name: &str) -> String {
    format!("{name}-*.parquet")
}

fn table_of(name: &str, folder: &Path, experiment: &Experiment, args: &ReproduceArgs) -> PathBuf {
    let quick = if args.quick { "-quick" } else { "" };
    folder.join(format!("{name}-{}{quick}.parquet", experiment.stem))
}

/// The path of the document beside the tables, for `copyback report`.
fn claims_of(name: &str, folder: &Path, args: &ReproduceArgs) -> PathBuf {
    let quick = if args.quick { "-quick" } else { "" };
    let ending = if args.headlines { headlines::HEADLINES } else { document::CLAIMS };
    folder.join(format!("{name}{quick}{ending}"))
}

/// Refuses outputs that cannot be written, or that would destroy what the experiments read.
fn check_outputs(name: &str, folder: &Path, experiments: &[Experiment], args: &ReproduceArgs) -> Result<(), Failure> {
    let mut outputs = vec![Output::new("the journal", journal_of(name, folder))];
    outputs.extend(experiments.iter().map(|e| Output::new("the table", table_of(name, folder, e, args))));
    outputs.push(Output::new("the claims", claims_of(name, folder, args)));
    if folder.is_dir() {
        outputs.iter().try_for_each(|output| files::check_output(&output.path))?;
    }
    if let Some(json) = &args.json {
        files::check_output(json)?;
        outputs.push(Output::new("--json", json));
    }
    files::refuse_clashes(&outputs, experiments.iter().flat_map(|e| sweep::inputs(&e.file, &e.cells)))?;
    refuse_unknown_tables(name, folder, experiments, args)
}

/// Refuses to replace tables that the user did not name, unless the journal shows that a reproduction wrote them.
fn refuse_unknown_tables(
    name: &str,
    folder: &Path,
    experiments: &[Experiment],
    args: &ReproduceArgs,
) -> Result<(), Failure> {
    if journal::is_of(&journal_of(name, folder), &tables_of(name)) {
        return Ok(());
    }
    let help = "name another folder (--out DIR), or move that file away";
    let tables = experiments.iter().map(|e| table_of(name, folder, e, args));
    tables.chain([claims_of(name, folder, args)]).try_for_each(|path| sweep::refuse_unwritten(&path, help))
}

fn paper_name(args: &ReproduceArgs) -> String {
    match experiments::find(&args.paper) {
        Some(paper) => paper.name.to_owned(),
        None => {
            Path::new(&args.paper).file_stem().map_or_else(|| "claims".into(), |s| s.to_string_lossy().into_owned())
        }
    }
}

/// The files that the command line names: a paper's experiments, or its headlines, or a file of the user's own.
fn files_of(args: &ReproduceArgs) -> Result<Vec<(String, SweepFile)>, Failure> {
    match experiments::find(&args.paper) {
        Some(paper) if args.headlines || args.worlds.is_some() => Ok(vec![paper.headlines()?]),
        Some(paper) => Ok(paper.files()?),
        None if files::looks_like_path(&args.paper) => {
            Ok(vec![(paper_name(args), sweep::read(Path::new(&args.paper))?)])
        }
        None => Err(experiments::unknown(&args.paper)),
    }
}

/// The headlines and the open decisions: those of a paper, or of a file of the user's own with `open.toml` beside it.
fn question(name: &str, args: &ReproduceArgs) -> Result<worlds::Question, Failure> {
    let files = files_of(args)?;
    let open = match experiments::find(&args.paper) {
        Some(paper) => paper.open(),
        None => {
            let path = Path::new(&args.paper).with_file_name("open.toml");
            if files::looks_like_path(&args.paper) && !path.exists() {
                let message = format!("--worlds reads open decisions from {}, which is not there", path.display());
                let help = "write it next to the file, with a table [[open]] for each decision";
                return Err(Failure::input(message).with_help(help));
            }
            let text = files::read_text("table of open decisions", &path)?;
            Arc::new(Text::new(path.display().to_string(), text))
        }
    };
    Ok(worlds::Question { name: name.to_owned(), files, open })
}

/// The experiments that the command line chooses, their cells made.
fn chosen(args: &ReproduceArgs) -> Result<Vec<Experiment>, Failure> {
    let files = files_of(args)?;
    let over = Overrides { is_quick: args.quick, ..args.cells.overrides() };
    let (mut chosen, mut known) = (Vec::new(), Vec::new());
    for (stem, file) in files {
        let mut claims = Claim::of_file(&file)?;
        known.extend(claims.iter().map(|claim| claim.figure.clone()));
        known.push(stem.clone());
        if !experiments::choose(&args.figures, &stem, &mut claims) {
            continue;
        }
        if args.headlines && claims.iter().all(|claim| claim.quote.is_none()) {
            let error = Failure::input(format!("no claim of {stem} is a headline"));
            return Err(error.with_help("give a [[claim]] the paper's sentence: quote = \"...\""));
        }
        let grid = grid::cells(&file, &over)?;
        chosen.push(Experiment { stem, file, claims, cells: grid.cells, left_out: grid.left_out });
    }
    experiments::refuse_unknown(&args.figures, &paper_name(args), known)?;
    Ok(chosen)
}

/// Runs the cells of all experiments together, and hands them back to each. Cells that several share are run once.
fn run(
    experiments: &mut [Experiment],
    journal: &mut Journal,
    args: &ReproduceArgs,
) -> Result<Vec<Vec<CellResult>>, Failure> {
    let counts: Vec<usize> = experiments.iter().map(|experiment| experiment.cells.len()).collect();
    let mut all: Vec<grid::Cell> = experiments.iter_mut().flat_map(|e| std::mem::take(&mut e.cells)).collect();
    let begin_of = |at: usize| counts[..at].iter().sum::<usize>();
    let begins: Vec<usize> = (0..counts.len()).map(begin_of).collect();
    let claims: Vec<&[Claim]> = experiments.iter().map(|experiment| experiment.claims.as_slice()).collect();
    let check = |cell: usize, result: &CellResult| -> Result<(), Failure> {
        let own = begins.iter().zip(&counts).zip(&claims).filter(|((begin, count), _)| **begin == cell && **count > 0);
        own.flat_map(|(_, claims)| *claims).try_for_each(|claim| judge::check(claim, result))?;
        Ok(())
    };
    let mut results = sweep::run(&all, journal, &args.cells.how(), None, &check)?.results;
    let mut parted = Vec::new();
    for (experiment, count) in experiments.iter_mut().zip(counts) {
        experiment.cells = all.drain(..count).collect();
        parted.push(results.drain(..count).collect());
    }
    Ok(parted)
}

fn text(name: &str, folder: &Path, args: &ReproduceArgs, done: &[Done<'_>]) -> String {
    let quick = if args.quick { ", quick: fewer requests than the results in the documents" } else { "" };
    let cells: usize = done.iter().map(|done| done.results.len()).sum();
    let other = if changes(args).is_empty() { String::new() } else { format!(", with {}", changes(args).join(", ")) };
    let mut text = format!(
        "{name}: {}{quick}{other}\n\n{}",
        crate::format::counted(cells as u64, "cell"),
        show::claims_table(done)
    );
    text.push_str(&show::silences(done));
    text.push_str(&format!("\n{}", Counts::of(done.iter().flat_map(Done::claims)).text()));
    let cells = || {
        let both = done.iter().flat_map(|done| done.experiment.cells.iter().zip(&done.results));
        both.map(|(cell, result)| (cell.label.as_str(), result))
    };
    for line in notes::of_cells(cells()) {
        text.push_str(&line);
    }
    text.push_str(&notes::of_steadiness(cells(), false).unwrap_or_default());
    let mut left_out: Vec<&str> = done.iter().flat_map(|d| &d.experiment.left_out).map(String::as_str).collect();
    left_out.sort_unstable();
    left_out.dedup();
    if !left_out.is_empty() {
        text.push_str(&format!("Left out, for the traces are not there (--traces DIR): {}\n", left_out.join(", ")));
    }
    let folder = folder.display().to_string();
    text.push_str(&format!("Tables are in {}; a rerun skips what was done\n", printable(&folder)));
    text
}

/// The options by which the command line changes the experiments.
fn changes(args: &ReproduceArgs) -> Vec<String> {
    let warmup = args.cells.warmup.map(|warmup| format!("a warm-up of {warmup}"));
    let fit = args.cells.fit.map(|share| format!("--fit {share}"));
    let seed = args.cells.seed.map(|seed| format!("seed {seed}"));
    args.cells.sets.iter().cloned().chain(fit).chain(seed).chain(warmup).collect()
}
