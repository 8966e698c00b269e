//! `copyback reproduce`: judges a paper's claims: published effect, measured effect, verdict.

mod document;
mod headlines;
mod show;
mod worlds;

use crate::args::ReproduceArgs;
use crate::failure::Failure;
use crate::files::{self, Output};
use crate::package::{self, Package};
use crate::reproduced::{Reproduced, Tables};
use crate::sweep::grid::Overrides;
use crate::sweep::journal::{self, Journal};
use crate::sweep::table as sweep_table;
use crate::sweep::{self, latencies, notes};
use copyback_lab::reproduce::runner::{self, JudgedExperiment, PlannedExperiment, Reproduction};
use copyback_lab::reproduce::{claim, count, details, judge, verdict};
use copyback_workload::printable::printable;
use count::Counts;
use document::About;
use headlines::Headlines;
use std::path::{Path, PathBuf};

impl ReproduceArgs {
    /// What the arguments ask to reproduce.
    fn reproduction(&self) -> Reproduction {
        Reproduction {
            paper: self.paper.clone(),
            figures: self.figures.clone(),
            headlines: self.headlines,
            overrides: Overrides { is_quick: self.quick, ..self.cells.overrides() },
        }
    }
}

/// Runs the command.
pub fn reproduce(args: &ReproduceArgs, package: Option<&dyn Package>) -> Result<(), Failure> {
    let Reproduced { text, is_stdout_taken, .. } = reproduced(args, package)?;
    if is_stdout_taken { Ok(()) } else { files::print(&text) }
}

/// Runs the command without printing its text.
pub fn reproduced(args: &ReproduceArgs, package: Option<&dyn Package>) -> Result<Reproduced, Failure> {
    let reproduction = args.reproduction();
    if let Some(count) = args.worlds {
        return worlds::reproduced(&reproduction.world_study()?, count, args);
    }
    let name = reproduction.name();
    let experiments = reproduction.plan()?;
    let figures = match &args.drawn_into {
        Some(folder) => Some((folder, package::needed(package, "--figures")?)),
        None => None,
    };
    figures.map_or(Ok(()), |(folder, package)| package.check_figures(&name, folder))?;
    let folder = args.out.clone().unwrap_or_else(|| PathBuf::from("reproduction"));
    check_outputs(&name, &folder, &experiments, args)?;
    make_folder(&folder)?;
    let mut journal = Journal::open(&journal_of(&name, &folder), &tables_of(&name), args.cells.fresh)?;
    let done = runner::judged(experiments, &mut journal, &args.cells.execution_options())?;
    let mut tables = Vec::new();
    for experiment in &done {
        let results = experiment.table();
        sweep_table::write(&table_of(&name, &folder, &experiment.plan, args), &results)?;
        tables.push(Tables {
            experiment: experiment.plan.stem.clone(),
            table: sweep_table::columns(&results),
            latencies: latencies::columns(&results),
        });
    }
    let changes = runner::changes(&reproduction.overrides);
    let (json, text) = match args.headlines {
        true => {
            let document = Headlines::of(&name, args.quick, changes, &done);
            let json = serde_json::to_string_pretty(&document);
            let json = json.map_err(|error| Failure::run(format!("cannot write the headlines: {error}")))? + "\n";
            (json, headlines::text(&document) + &notes_of(&done))
        }
        false => {
            let about = About { name: &name, is_quick: args.quick, changes };
            (document::document(&about, &done), text(&about, &folder, &done))
        }
    };
    files::write_text(&claims_of(&name, &folder, args), &json)?;
    let is_stdout_taken = args.json.as_ref().map_or(Ok(false), |path| files::write_text(path, &json))?;
    let text = text + &journal.note().unwrap_or_default();
    let mut reproduced = Reproduced { name, tables, json, text, is_stdout_taken };
    if let Some((folder, package)) = figures {
        reproduced.text += &package.draw_figures(folder, &reproduced)?;
    }
    Ok(reproduced)
}

/// Makes the folder of the outputs.
fn make_folder(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| {
        Failure::input(format!("cannot make the folder {}: {error}", folder.display())).with_help("name one: --out DIR")
    })
}

fn journal_of(name: &str, folder: &Path) -> PathBuf {
    folder.join(format!("{name}.journal"))
}

/// The pattern of the tables' names, by which a journal knows whether it belongs to them.
fn tables_of(name: &str) -> String {
    format!("{name}-*.parquet")
}

fn table_of(name: &str, folder: &Path, experiment: &PlannedExperiment, args: &ReproduceArgs) -> PathBuf {
    let quick = if args.quick { "-quick" } else { "" };
    folder.join(format!("{name}-{}{quick}.parquet", experiment.stem))
}

/// The path of the document beside the tables, for `copyback report`.
fn claims_of(name: &str, folder: &Path, args: &ReproduceArgs) -> PathBuf {
    let quick = if args.quick { "-quick" } else { "" };
    let ending = if args.headlines { copyback_lab::reproduce::HEADLINES } else { copyback_lab::reproduce::CLAIMS };
    folder.join(format!("{name}{quick}{ending}"))
}

/// Refuses outputs that cannot be written, or that would destroy what the experiments read.
fn check_outputs(
    name: &str,
    folder: &Path,
    experiments: &[PlannedExperiment],
    args: &ReproduceArgs,
) -> Result<(), Failure> {
    let mut outputs = vec![Output::new("the journal", journal_of(name, folder))];
    outputs.extend(experiments.iter().map(|e| Output::new("the table", table_of(name, folder, e, args))));
    outputs.push(Output::new("the claims", claims_of(name, folder, args)));
    files::check_in_folder(folder, outputs.iter().map(|output| &*output.path))?;
    if let Some(json) = &args.json {
        files::check_output(json)?;
        outputs.push(Output::new("--json", json));
    }
    files::refuse_clashes(&outputs, experiments.iter().flat_map(|e| sweep::inputs(&e.file, &e.cells)))?;
    files::refuse_other_endings(&outputs)?;
    refuse_unknown_tables(name, folder, experiments, args)
}

/// Refuses to replace tables that the user did not name, unless the journal shows that a reproduction wrote them.
fn refuse_unknown_tables(
    name: &str,
    folder: &Path,
    experiments: &[PlannedExperiment],
    args: &ReproduceArgs,
) -> Result<(), Failure> {
    if journal::is_of(&journal_of(name, folder), &tables_of(name)) {
        return Ok(());
    }
    let help = "name another folder (--out DIR), or move that file away";
    let tables = experiments.iter().map(|e| table_of(name, folder, e, args));
    tables.chain([claims_of(name, folder, args)]).try_for_each(|path| sweep::refuse_unlisted(&path, help))
}

fn text(about: &About<'_>, folder: &Path, done: &[JudgedExperiment]) -> String {
    let About { name, is_quick, changes } = about;
    let quick = if *is_quick { ", quick: fewer requests than the results in docs/reproduction" } else { "" };
    let cells: usize = done.iter().map(|done| done.results.len()).sum();
    let other = if changes.is_empty() { String::new() } else { format!(", with {}", changes.join(", ")) };
    let mut text = format!(
        "{name}: {}{quick}{other}\n\n{}",
        crate::format::counted(cells as u64, "cell"),
        show::claims_table(done)
    );
    text.push_str(&show::missing_verdicts(done));
    text.push_str(&format!("\n{}", Counts::of(done.iter().flat_map(JudgedExperiment::claims)).text()));
    text.push_str(&notes_of(done));
    let mut left_out: Vec<&str> = done.iter().flat_map(|d| &d.plan.left_out).map(String::as_str).collect();
    left_out.sort_unstable();
    left_out.dedup();
    if !left_out.is_empty() {
        text.push_str(&format!("Left out, because the traces are missing (--traces DIR): {}\n", left_out.join(", ")));
    }
    let folder = folder.display().to_string();
    text.push_str(&format!("Tables are in {}; a rerun skips what was done\n", printable(&folder)));
    text
}

/// Notes for the user on the runs.
fn notes_of(done: &[JudgedExperiment]) -> String {
    let cells = || {
        let both = done.iter().flat_map(|done| done.plan.cells.iter().zip(&done.results));
        both.map(|(cell, result)| (cell.label.as_str(), result))
    };
    notes::of_cells(cells()).into_iter().chain(notes::of_steadiness(cells(), false)).collect()
}
