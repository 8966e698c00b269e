//! `copyback reproduce`: do a paper's claims hold in this simulator? Published, measured, verdict; a miss is shown.

mod claim;
mod experiments;
mod verdict;

use crate::args::ReproduceArgs;
use crate::failure::Failure;
use crate::files::{self, Output};
use crate::plan;
use crate::sweep::file::SweepFile;
use crate::sweep::grid::{self, Overrides};
use crate::sweep::journal::{CellResult, Journal};
use crate::sweep::table::{self as sweep_table, Results};
use crate::sweep::{self};
use crate::table::{self, BOLD, Cell, DIM};
use claim::{Claim, Measured};
use serde_json::json;
use std::path::{Path, PathBuf};

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

/// Runs the command.
pub fn reproduce(args: &ReproduceArgs) -> Result<(), Failure> {
    let mut experiments = chosen(args)?;
    let name = paper_name(args);
    let folder = args.out.clone().unwrap_or_else(|| PathBuf::from("reproduction"));
    check_outputs(&name, &folder, &experiments, args)?;
    std::fs::create_dir_all(&folder).map_err(|error| {
        Failure::input(format!("cannot make the folder {}: {error}", folder.display())).with_help("name one: --out DIR")
    })?;
    let mut journal = Journal::open(&journal_of(&name, &folder), &tables_of(&name), args.cells.fresh)?;
    let results = run(&mut experiments, &mut journal, args)?;
    let mut done = Vec::new();
    for (experiment, results) in experiments.iter().zip(results) {
        let results = Results { file: &experiment.file, cells: &experiment.cells, results };
        let measured = experiment.claims.iter().map(|claim| claim.measure(&results)).collect::<Result<_, _>>()?;
        sweep_table::write(&table_of(&name, &folder, experiment, args), &results)?;
        done.push(Done { experiment, results: results.results, measured });
    }
    if let Some(path) = &args.json {
        let json = document(&name, args, &done);
        if files::write_text(path, &json)? {
            return Ok(());
        }
    }
    files::print(&(text(&name, &folder, args, &done) + &journal.note().unwrap_or_default()))
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

/// Refuses outputs that cannot be written, or that would destroy what the experiments read.
fn check_outputs(name: &str, folder: &Path, experiments: &[Experiment], args: &ReproduceArgs) -> Result<(), Failure> {
    let mut outputs = vec![Output::new("the journal", journal_of(name, folder))];
    outputs.extend(experiments.iter().map(|e| Output::new("the table", table_of(name, folder, e, args))));
    if folder.is_dir() {
        outputs.iter().try_for_each(|output| files::check_output(&output.path))?;
    }
    if let Some(json) = &args.json {
        files::check_output(json)?;
        outputs.push(Output::new("--json", json));
    }
    files::refuse_clashes(&outputs, experiments.iter().flat_map(|e| sweep::inputs(&e.file, &e.cells)))
}

fn paper_name(args: &ReproduceArgs) -> String {
    match experiments::find(&args.paper) {
        Some(paper) => paper.name.to_owned(),
        None => {
            Path::new(&args.paper).file_stem().map_or_else(|| "claims".into(), |s| s.to_string_lossy().into_owned())
        }
    }
}

/// The experiments that the command line chooses, their cells made.
fn chosen(args: &ReproduceArgs) -> Result<Vec<Experiment>, Failure> {
    let files = match experiments::find(&args.paper) {
        Some(paper) => paper.files()?,
        None if plan::looks_like_path(&args.paper) => {
            vec![(paper_name(args), sweep::read(Path::new(&args.paper))?)]
        }
        None => return Err(experiments::unknown(&args.paper)),
    };
    let over = Overrides { is_quick: args.quick, ..Overrides::of(&args.cells) };
    let (mut chosen, mut known) = (Vec::new(), Vec::new());
    for (stem, file) in files {
        let mut claims = Claim::of_file(&file)?;
        known.extend(claims.iter().map(|claim| claim.figure.clone()));
        known.push(stem.clone());
        if !experiments::choose(&args.figures, &stem, &mut claims) {
            continue;
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
    let mut results = sweep::run(&all, journal, &args.cells)?.results;
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
    let mut text = format!("{name}: {cells} cells{quick}{other}\n\n{}", claims_table(done));
    for line in misses(done) {
        text.push_str(&line);
    }
    let verdicts: Vec<_> =
        done.iter().flat_map(|d| &d.measured).map(|m| m.outcome.as_ref().ok().map(|o| o.1)).collect();
    let count = |is: &dyn Fn(&str) -> bool| verdicts.iter().flatten().filter(|v| is(v.name())).count();
    text.push_str(&format!(
        "\n{} claims: {} met; {} hold in direction only ({} smaller, {} larger); {} miss; {} not measured\n",
        verdicts.len(),
        count(&|v| v == "met"),
        count(&|v| v == "smaller" || v == "larger"),
        count(&|v| v == "smaller"),
        count(&|v| v == "larger"),
        verdicts.iter().flatten().filter(|verdict| !verdict.direction_holds()).count(),
        verdicts.iter().filter(|verdict| verdict.is_none()).count(),
    ));
    let mut left_out: Vec<&str> = done.iter().flat_map(|d| &d.experiment.left_out).map(String::as_str).collect();
    left_out.sort_unstable();
    left_out.dedup();
    if !left_out.is_empty() {
        text.push_str(&format!("Left out, for the traces are not there (--traces DIR): {}\n", left_out.join(", ")));
    }
    text.push_str(&format!("Tables are in {}; a rerun skips what was done\n", folder.display()));
    text
}

/// What the command line has other than the experiments.
fn changes(args: &ReproduceArgs) -> Vec<String> {
    args.cells.sets.iter().cloned().chain(args.cells.seed.map(|seed| format!("seed {seed}"))).collect()
}

fn claims_table(done: &[Done<'_>]) -> String {
    let bold = |text: &str| Cell::styled(text, BOLD);
    let mut rows = vec![vec![bold("claim"), bold("published"), bold("measured"), bold("verdict")]];
    for done in done {
        for (claim, measured) in done.experiment.claims.iter().zip(&done.measured) {
            let first = Cell::new(format!("{:<6} {}", claim.figure, claim.text));
            let published = Cell::new(claim.shown_published());
            rows.push(match &measured.outcome {
                Ok((effect, verdict)) => {
                    let style = if *verdict == verdict::Verdict::Met { DIM } else { BOLD };
                    vec![first, published, Cell::new(claim.shown(*effect)), Cell::styled(verdict.name(), style)]
                }
                Err(_) => vec![first, published, Cell::new("-"), Cell::styled("not measured", BOLD)],
            });
        }
    }
    table::lay_out(&rows)
}

/// Why claims were not measured.
fn misses(done: &[Done<'_>]) -> Vec<String> {
    let mut lines = Vec::new();
    for done in done {
        for (claim, measured) in done.experiment.claims.iter().zip(&done.measured) {
            if let Err(why) = &measured.outcome {
                lines.push(format!("Not measured: {} {}: {why}\n", claim.figure, claim.text));
            }
        }
    }
    lines
}

/// The JSON document.
fn document(name: &str, args: &ReproduceArgs, done: &[Done<'_>]) -> String {
    let mut claims = Vec::new();
    for done in done {
        for (claim, measured) in done.experiment.claims.iter().zip(&done.measured) {
            let cells: Vec<_> =
                measured.cells.iter().map(|(cell, effect)| json!({ "cell": cell, "effect": effect })).collect();
            let outcome = measured.outcome.as_ref();
            claims.push(json!({
                "experiment": done.experiment.stem,
                "figure": claim.figure,
                "text": claim.text,
                "where": claim.source,
                "metric": claim.metric.value,
                "scheme": claim.scheme,
                "against": claim.against,
                "published": claim.shown_published(),
                "measured": outcome.ok().map(|(effect, _)| claim.shown(*effect)),
                "measured_effect": outcome.ok().map(|(effect, _)| effect),
                "verdict": outcome.ok().map(|(_, verdict)| verdict),
                "direction_holds": outcome.ok().map(|(_, verdict)| verdict.direction_holds()),
                "why_not_measured": outcome.err(),
                "cells": cells,
            }));
        }
    }
    let left_out: Vec<_> = done.iter().flat_map(|done| &done.experiment.left_out).collect();
    let document = json!({
        "schema": "copyback/reproduce/1",
        "program": crate::output::Program::THIS,
        "paper": name,
        "quick": args.quick,
        "changes": changes(args),
        "claims": claims,
        "left_out": left_out,
    });
    format!("{document:#}\n")
}
