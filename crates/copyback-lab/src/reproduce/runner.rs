//! Running reproductions: the experiments of a paper, or of a file with claims, and the verdicts of their claims.

use super::claim::Claim;
use super::experiments;
use super::judge::{self, Measured};
use super::worlds::WorldStudy;
use crate::execute::ExecutionOptions;
use crate::failure::Failure;
use crate::files;
use crate::plan;
use crate::sweep::file::SweepFile;
use crate::sweep::grid::{self, Cell, Overrides};
use crate::sweep::journal::{CellResult, Journal};
use crate::sweep::table::SweepResults;
use crate::sweep::{self, seeds};
use copyback::config::layers::Text;
use std::path::Path;
use std::sync::Arc;

/// A paper, or a file with claims, to reproduce.
#[derive(Clone, Debug, Default)]
pub struct Reproduction {
    /// A paper of [`experiments::PAPERS`], or the path of a sweep file with claims.
    pub paper: String,
    /// Figures or experiments; all of them if it is empty.
    pub figures: Vec<String>,
    /// Whether the paper's headlines are run instead of its figures.
    pub headlines: bool,
    /// Arguments that replace parts of the experiments.
    pub overrides: Overrides,
}

impl Reproduction {
    /// The paper, or the name of the file without its ending.
    pub fn name(&self) -> String {
        match experiments::find(&self.paper) {
            Some(paper) => paper.name.to_owned(),
            None => {
                Path::new(&self.paper).file_stem().map_or_else(|| "claims".into(), |s| s.to_string_lossy().into_owned())
            }
        }
    }

    /// Reads the experiments, and plans their cells. Nothing is simulated.
    ///
    /// # Errors
    /// If the paper, a figure, a file or a setting is wrong.
    pub fn plan(&self) -> Result<Vec<PlannedExperiment>, Failure> {
        let (mut planned, mut known) = (Vec::new(), Vec::new());
        let (of_all, of_one) = plan::split(&self.overrides.sets);
        let overrides = Overrides { sets: of_all, ..self.overrides.clone() };
        let files = self.files(self.headlines)?;
        let labels: Vec<String> = files.iter().flat_map(|(_, file)| file.labels()).collect();
        plan::refuse_sets_of_others(&of_one, labels.iter().map(String::as_str))?;
        for (stem, file) in files {
            let mut claims = Claim::of_file(&file)?;
            if claims.is_empty() {
                let error = Failure::input(format!("{stem} states no claim"));
                return Err(error.with_help("add a [[claim]], or run the file with `copyback sweep`"));
            }
            known.extend(claims.iter().map(|claim| claim.figure.clone()));
            known.push(stem.clone());
            if !experiments::choose(&self.figures, &stem, &mut claims) {
                continue;
            }
            if self.headlines && claims.iter().all(|claim| claim.quote.is_none()) {
                let error = Failure::input(format!("no claim of {stem} is a headline"));
                return Err(error.with_help("give a [[claim]] the paper's sentence: quote = \"...\""));
            }
            // A figure may lack a scheme that others have.
            let labels = file.labels();
            let own = of_one.iter().filter(|(scheme, _)| labels.contains(scheme)).cloned().collect();
            let file = file.with_schemes(&[], own)?;
            let grid = grid::cells(&file, &overrides)?;
            planned.push(PlannedExperiment { stem, file, claims, cells: grid.cells, left_out: grid.left_out });
        }
        experiments::refuse_unknown(&self.figures, &self.name(), known)?;
        Ok(planned)
    }

    /// The headlines with the decisions that the paper leaves open; for a file of the user's own, `open.toml` beside it
    /// lists them.
    ///
    /// # Errors
    /// If a file is missing or wrong, or settings fix all decisions.
    pub fn world_study(&self) -> Result<WorldStudy, Failure> {
        let files = self.files(true)?;
        let open = match experiments::find(&self.paper) {
            Some(paper) => paper.open(),
            None => {
                let path = Path::new(&self.paper).with_file_name("open.toml");
                if files::looks_like_path(&self.paper) && !path.exists() {
                    let message = format!("--worlds reads open decisions from {}, which is not there", path.display());
                    let help = "write it next to the file, with a table [[open]] for each decision";
                    return Err(Failure::input(message).with_help(help));
                }
                let text = files::read_text("table of open decisions", &path)?;
                Arc::new(Text::new(path.display().to_string(), text))
            }
        };
        WorldStudy::new(self.name(), files, &open, self.overrides.clone())
    }

    /// A paper's experiments, or its headlines, or a file of the user's own; each by its stem.
    fn files(&self, is_headlines: bool) -> Result<Vec<(String, SweepFile)>, Failure> {
        match experiments::find(&self.paper) {
            Some(paper) if is_headlines => Ok(vec![paper.headlines()?]),
            Some(paper) => Ok(paper.files()?),
            None if files::looks_like_path(&self.paper) => {
                Ok(vec![(self.name(), sweep::read(Path::new(&self.paper))?)])
            }
            None => Err(experiments::unknown(&self.paper)),
        }
    }
}

/// The overrides that change what experiments show, in words.
pub fn changes(overrides: &Overrides) -> Vec<String> {
    let warmup = overrides.warmup.map(|warmup| format!("a warm-up of {warmup}"));
    let fit = overrides.fit.map(|share| format!("--fit {share}"));
    let seed = overrides.seed.map(|seed| format!("seed {seed}"));
    overrides.sets.iter().cloned().chain(fit).chain(seed).chain(warmup).collect()
}

/// An experiment with its cells.
pub struct PlannedExperiment {
    /// Its name: that of its file, without the ending.
    pub stem: String,
    /// The file.
    pub file: SweepFile,
    /// The claims to judge.
    pub claims: Vec<Claim>,
    /// The cells to run.
    pub cells: Vec<Cell>,
    /// Traces that are missing, whose cells are left out.
    pub left_out: Vec<String>,
}

/// An experiment with its results.
pub struct JudgedExperiment {
    /// The experiment.
    pub plan: PlannedExperiment,
    /// The results, in the order of the cells.
    pub results: Vec<CellResult>,
    measured: Vec<Measured>,
}

impl JudgedExperiment {
    /// Its claims with their measurements.
    pub fn claims(&self) -> impl Iterator<Item = (&Claim, &Measured)> {
        self.plan.claims.iter().zip(&self.measured)
    }

    /// The results as those of a sweep.
    pub fn table(&self) -> SweepResults<'_> {
        SweepResults { file: &self.plan.file, cells: &self.plan.cells, results: &self.results }
    }

    /// Whether the drives of the cells of a label were steady, with every seed.
    pub fn is_steady(&self, label: &str) -> bool {
        let cells = self.plan.cells.iter().zip(&self.results);
        let mut of_label = cells.filter(|(cell, _)| seeds::label_without_seed(cell) == label);
        of_label.all(|(_, result)| result.is_steady())
    }
}

/// Runs experiments, and judges their claims. Of `options` it uses `jobs`, `sink` and `check`.
///
/// # Errors
/// The error of the first cell that failed, or of a claim about numbers that its runs do not have.
pub fn judged(
    mut experiments: Vec<PlannedExperiment>,
    journal: &mut Journal,
    options: &ExecutionOptions,
) -> Result<Vec<JudgedExperiment>, Failure> {
    let results = run(&mut experiments, journal, options)?;
    let judged = experiments.into_iter().zip(results).map(|(plan, results)| {
        let table = SweepResults { file: &plan.file, cells: &plan.cells, results: &results };
        let measured = plan.claims.iter().map(|claim| judge::judge(claim, &table)).collect::<Result<_, _>>()?;
        Ok(JudgedExperiment { plan, results, measured })
    });
    judged.collect()
}

/// Runs the cells of all experiments together, and returns the results of each experiment. Shared cells run once.
pub(super) fn run(
    experiments: &mut [PlannedExperiment],
    journal: &mut Journal,
    options: &ExecutionOptions,
) -> Result<Vec<Vec<CellResult>>, Failure> {
    let counts: Vec<usize> = experiments.iter().map(|experiment| experiment.cells.len()).collect();
    let mut all: Vec<Cell> = experiments.iter_mut().flat_map(|e| std::mem::take(&mut e.cells)).collect();
    let begin_of = |at: usize| counts[..at].iter().sum::<usize>();
    let begins: Vec<usize> = (0..counts.len()).map(begin_of).collect();
    let claims: Vec<&[Claim]> = experiments.iter().map(|experiment| experiment.claims.as_slice()).collect();
    let check = |cell: usize, result: &CellResult| -> Result<(), Failure> {
        let own = begins.iter().zip(&counts).zip(&claims).filter(|((begin, count), _)| **begin == cell && **count > 0);
        own.flat_map(|(_, claims)| *claims).try_for_each(|claim| judge::check(claim, result))?;
        Ok(())
    };
    let mut results = sweep::run(&all, journal, options, None, &check)?.results;
    let mut parted = Vec::new();
    for (experiment, count) in experiments.iter_mut().zip(counts) {
        experiment.cells = all.drain(..count).collect();
        parted.push(results.drain(..count).collect());
    }
    Ok(parted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(set: &str) -> Result<Vec<PlannedExperiment>, Failure> {
        let overrides = Overrides { sets: vec![set.to_owned()], ..Overrides::default() };
        Reproduction { paper: "ispass11".into(), headlines: true, overrides, ..Reproduction::default() }.plan()
    }

    /// Some cells of the headlines have no such scheme.
    #[test]
    fn a_setting_of_one_scheme_is_for_the_cells_that_have_it() {
        let planned = planned("pgc-pipeline:preemption.fence=all").expect("a scheme of the headlines");
        let fences = |label: &str| {
            let all = planned.iter().flat_map(|experiment| &experiment.cells).flat_map(|cell| &cell.plan.runs);
            let of_label = all.filter(|run| run.scheme == label);
            of_label.map(|run| format!("{:?}", run.resolved.run.preemption)).collect::<Vec<_>>()
        };
        assert!(!fences("pgc-pipeline").is_empty() && fences("pgc-pipeline").iter().all(|text| text.contains("All")));
        assert!(!fences("pgc").is_empty() && fences("pgc").iter().all(|text| !text.contains("fence: All")));
    }

    #[test]
    fn a_setting_of_a_scheme_that_no_experiment_has_is_refused() {
        let error = planned("pcg:preemption.fence=all").err().expect("there is no such scheme");
        assert!(error.to_string().contains("no scheme of this name"), "{error}");
    }
}
