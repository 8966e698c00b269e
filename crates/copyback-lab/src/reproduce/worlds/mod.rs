//! A paper's headlines under draws of the decisions that it leaves open.
//!
//! Each world is a set of the headlines' cells with the world's settings. Cells are journalled and resumed as those of
//! every reproduction. A world that contradicts a printed value (a `calibrated` claim among the headlines) is reported
//! separately.

mod draw;
mod effects;
mod open;
mod record;
mod rule;
mod summary;
#[cfg(test)]
mod tests;

use super::claim::{Claim, Kind};
use super::headlines::Holds;
use super::judge::{self, Measured};
use super::runner::{self, PlannedExperiment};
use super::verdict::Verdict;
use crate::execute::ExecutionOptions;
use crate::failure::Failure;
use crate::format::counted;
use crate::memory;
use crate::progress::{Planning, ProgressSink};
use crate::sweep::file::SweepFile;
use crate::sweep::grid::{self, Overrides};
use crate::sweep::journal::{CellResult, Journal};
use crate::sweep::table::SweepResults;
use copyback::config::layers::Text;
use draw::World;
use open::{Admissible, Decision, Open};
pub use record::{DecisionAbout, Row, SCHEMA, Status, WorldClaim, Worlds};
use std::sync::Arc;
pub use summary::{DecisionShare, HeadlineSummary, RuleSummary, Summary};

/// Memory of a planned world of a paper, as measured.
const WORLD_BYTES: u64 = 100_000;

/// A paper's headlines with the decisions that it leaves open.
pub struct WorldStudy {
    name: String,
    files: Vec<(String, SweepFile)>,
    open: Open,
    overrides: Overrides,
}

impl WorldStudy {
    /// The headlines of `files`, by their stems, under the decisions of `open`, the text of an `open.toml`. Settings of
    /// `overrides` fix decisions.
    ///
    /// # Errors
    /// If the text is wrong, or settings fix all decisions.
    pub fn new(
        name: String,
        files: Vec<(String, SweepFile)>,
        open: &Arc<Text>,
        overrides: Overrides,
    ) -> Result<Self, Failure> {
        let mut open = Open::parse(open)?;
        open.decisions.retain(|decision| !is_fixed(decision, &overrides.sets));
        if open.decisions.is_empty() {
            return Err(Failure::input("--set fixes every open decision").with_help("leave one of them open"));
        }
        Ok(Self { name, files, open, overrides })
    }

    /// The paper, or the name of the sweep file without its ending.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The divisor of the requests of a small world.
    pub fn part(&self) -> u64 {
        self.open.part
    }

    /// The open decisions.
    pub fn decisions(&self) -> Vec<DecisionAbout> {
        self.open.decisions.iter().map(about).collect()
    }

    /// Draws this many worlds, and runs them and the world of this project's decisions. At full size, drives and runs
    /// are those of the headlines; otherwise the open decisions state them.
    ///
    /// # Errors
    /// Those of the decided world's plan, and of the journal. A drawn world that fails is a row that says why.
    pub fn run(
        &self,
        count: usize,
        is_full_size: bool,
        journal: &mut Journal,
        options: &ExecutionOptions,
    ) -> Result<Worlds, Failure> {
        memory::check_descriptions("world", count as u64, WORLD_BYTES, "draw fewer worlds")?;
        let open = &self.open;
        let seed = self.overrides.seed.unwrap_or(1);
        let decided = World { number: 0, seed, values: Vec::new(), sets: Vec::new() };
        let worlds = draw::worlds(&open.decisions, count, seed);
        let all: Vec<&World> = std::iter::once(&decided).chain(&worlds).collect();
        let context = WorldContext { world_study: self, is_small: !is_full_size, options };
        let claims = context.claims()?;
        context.check()?;
        let ran = context.run(&all, journal)?;
        let mut rows = all.iter().zip(ran).map(|(world, ran)| row(world, open, &claims, ran));
        let decided = rows.next().expect("the decided world is the first");
        if decided.status == Status::Impossible {
            let why = decided.why.join("; ");
            let message = format!("the world of this project's decisions did not run: {why}");
            return Err(Failure::input(message).with_help("correct open.toml"));
        }
        let of_kind = |is: fn(&Claim) -> bool| claims.iter().filter(|claim| is(claim)).map(WorldClaim::of).collect();
        Ok(Worlds {
            schema: SCHEMA.into(),
            paper: self.name.clone(),
            seed,
            full_size: is_full_size,
            part: if is_full_size { 1 } else { open.part },
            changes: runner::changes(&self.overrides),
            decisions: self.decisions(),
            headlines: of_kind(is_headline),
            constraints: of_kind(is_constraint),
            decided,
            worlds: rows.collect(),
        })
    }
}

/// Whether settings decide it.
fn is_fixed(decision: &Decision, sets: &[String]) -> bool {
    let key = |set: &str| crate::sweep::file::normalised_key(set.split('=').next().unwrap_or_default());
    let own = decision.keys();
    sets.iter().any(|set| own.contains(&key(set)))
}

fn about(decision: &Decision) -> DecisionAbout {
    let (admissible, choices) = match &decision.admissible {
        Admissible::Range(range) => {
            let factors = if range.is_log { ", by factors" } else { "" };
            (format!("{} to {}{factors}", range.shown(range.least), range.shown(range.most)), Vec::new())
        }
        Admissible::Choices(choices) => {
            let names: Vec<String> = choices.iter().map(|(name, _)| name.clone()).collect();
            (names.join("; "), names)
        }
    };
    DecisionAbout {
        name: decision.name.clone(),
        admissible,
        choices,
        decided: decision.decided.clone(),
        sentence: decision.sentence.clone(),
        source: decision.source.clone(),
    }
}

fn is_headline(claim: &Claim) -> bool {
    claim.quote.is_some() && claim.kind == Kind::Claim
}

fn is_constraint(claim: &Claim) -> bool {
    claim.kind == Kind::Calibrated
}

/// Settings of a world by what they apply to: `trigger.soft=4` to all, `pgc:trigger.soft=4` to a scheme,
/// `cello@workload.footprint=0.1` to a case.
#[derive(Default)]
struct Sets {
    of_all: Vec<String>,
    /// Each with its scheme.
    of_schemes: Vec<(String, String)>,
    /// Each with its case.
    of_cases: Vec<(String, String)>,
}

impl Sets {
    fn of<'a>(all: impl Iterator<Item = &'a String>) -> Self {
        let mut sets = Self::default();
        for set in all {
            let (key, value) = set.split_once('=').unwrap_or((set, ""));
            match (key.split_once('@'), key.split_once(':')) {
                (Some((case, key)), _) => sets.of_cases.push((case.to_owned(), format!("{key}={value}"))),
                (None, Some((scheme, key))) => sets.of_schemes.push((scheme.to_owned(), format!("{key}={value}"))),
                (None, None) => sets.of_all.push(set.clone()),
            }
        }
        sets
    }
}

/// The result of a world: the measurements of each file's claims, or the reason why it did not run.
type Ran = Result<Vec<(Claim, Measured)>, String>;

/// The inputs of worlds.
struct WorldContext<'a> {
    world_study: &'a WorldStudy,
    /// Whether worlds run smaller drives and shorter runs, as the open decisions state.
    is_small: bool,
    options: &'a ExecutionOptions,
}

impl WorldContext<'_> {
    /// The headlines and constraints, in the order of the files.
    fn claims(&self) -> Result<Vec<Claim>, Failure> {
        let mut claims = Vec::new();
        for (_, file) in &self.world_study.files {
            claims.extend(claims_of_worlds(file)?);
        }
        if !claims.iter().any(is_headline) {
            let error = Failure::input("no claim of the file is a headline");
            return Err(error.with_help("give a [[claim]] the paper's sentence: quote = \"...\""));
        }
        Ok(claims)
    }

    /// Refuses decisions that no draw makes possible. Their impossible worlds would look like a property of the paper.
    fn check(&self) -> Result<(), Failure> {
        let WorldStudy { open, overrides, .. } = self.world_study;
        let seed = overrides.seed.unwrap_or(1);
        let world = |sets: Vec<String>| World { number: 1, seed, values: Vec::new(), sets };
        // Settings of the caller may make every world impossible.
        self.experiments(&world(Vec::new()))?;
        for decision in &open.decisions {
            let tried = decision.admissible.bounds().into_iter().map(|sets| self.experiments(&world(sets)));
            if let Ok(failures) = tried.map(|made| made.err().ok_or(())).collect::<Result<Vec<_>, ()>>()
                && let Some(first) = failures.first()
            {
                let message = format!("no value of the decision `{}` is possible: {}", decision.name, first.message());
                return Err(Failure::input(message).with_help("correct its keys, or its values, in open.toml"));
            }
        }
        if !self.is_small || overrides.is_quick || overrides.requests.is_some() {
            return Ok(());
        }
        let whole = Self { is_small: false, ..*self }.experiments(&world(Vec::new()))?;
        let cells = whole.iter().flat_map(|experiment| &experiment.cells);
        match cells.filter_map(|cell| cell.plan.requests).min() {
            Some(requests) if open.part > requests => {
                let message =
                    format!("`part` of open.toml is {}, but a run has {}", open.part, counted(requests, "request"));
                Err(Failure::input(message).with_help(format!("use at most {requests}")))
            }
            _ => Ok(()),
        }
    }

    /// The experiments of a world, with their cells.
    fn experiments(&self, world: &World) -> Result<Vec<PlannedExperiment>, Failure> {
        let WorldStudy { files, open, overrides, .. } = self.world_study;
        let mut over = Overrides { seed: Some(world.seed), sink: ProgressSink::Discard, ..overrides.clone() };
        let of_drive: &[String] = if self.is_small { &open.sets } else { &[] };
        let sets = Sets::of(of_drive.iter().chain(&world.sets).chain(&over.sets));
        over.part = self.is_small.then_some(open.part);
        over.sets = sets.of_all;
        let mut experiments = Vec::new();
        for (stem, file) in files {
            let mut file = file.clone().with_schemes(&[], sets.of_schemes.clone())?;
            for (case, set) in &sets.of_cases {
                file.add_to_case(case, set)?;
            }
            let mut claims = claims_of_worlds(&file)?;
            // A shorter run has fewer of the events that a claim requires, in proportion.
            let required = claims.iter_mut().filter_map(|claim| claim.test.as_mut().ok()?.requires_at_least.as_mut());
            required.for_each(|least| *least /= over.part.unwrap_or(1) as f64);
            let grid = grid::cells(&file, &over)?;
            let stem = stem.clone();
            experiments.push(PlannedExperiment { stem, file, claims, cells: grid.cells, left_out: grid.left_out });
        }
        Ok(experiments)
    }

    /// Runs all worlds together. If one fails, each is run by itself, so that the others are not lost.
    fn run(&self, worlds: &[&World], journal: &mut Journal) -> Result<Vec<Ran>, Failure> {
        let made = || {
            let mut planning = Planning::new(&self.options.sink, "worlds", worlds.len());
            worlds.iter().map(move |world| {
                planning.step();
                self.experiments(world)
            })
        };
        let mut whole: Vec<Result<Vec<PlannedExperiment>, Failure>> = made().collect();
        if let Some(Err(_)) = whole.first() {
            return Err(whole.remove(0).err().expect("it is an error"));
        }
        let mut flat = Vec::new();
        let mut counts = Vec::new();
        for made in whole {
            counts.push(made.map(|experiments| {
                let count = experiments.len();
                flat.extend(experiments);
                count
            }));
        }
        match runner::run(&mut flat, journal, self.options) {
            Ok(results) => {
                let mut done = flat.into_iter().zip(results);
                let of = |count: Result<usize, Failure>| match count {
                    Ok(count) => judged(done.by_ref().take(count).collect()).map(Ok),
                    Err(failure) => Ok(Err(failure.message().to_owned())),
                };
                counts.into_iter().map(of).collect()
            }
            Err(Failure::Run(_)) => made().map(|made| self.run_one(made, journal)).collect(),
            Err(failure) => Err(failure),
        }
    }

    fn run_one(&self, made: Result<Vec<PlannedExperiment>, Failure>, journal: &mut Journal) -> Result<Ran, Failure> {
        let ran = made.and_then(|mut experiments| {
            let results = runner::run(&mut experiments, journal, self.options)?;
            judged(experiments.into_iter().zip(results).collect())
        });
        match ran {
            Ok(measured) => Ok(Ok(measured)),
            Err(Failure::PipeClosed) => Err(Failure::PipeClosed),
            Err(failure) => Ok(Err(failure.message().to_owned())),
        }
    }
}

/// The claims that are judged in worlds: headlines and constraints.
fn claims_of_worlds(file: &SweepFile) -> Result<Vec<Claim>, Failure> {
    let mut claims = Claim::of_file(file)?;
    claims.retain(|claim| is_headline(claim) || is_constraint(claim));
    Ok(claims)
}

fn judged(done: Vec<(PlannedExperiment, Vec<CellResult>)>) -> Result<Vec<(Claim, Measured)>, Failure> {
    let mut all = Vec::new();
    for (PlannedExperiment { file, claims, cells, .. }, results) in done {
        let results = SweepResults { file: &file, cells: &cells, results: &results };
        for claim in claims {
            let measured = judge::judge(&claim, &results)?;
            all.push((claim, measured));
        }
    }
    Ok(all)
}

/// The row of a world.
fn row(world: &World, open: &Open, claims: &[Claim], ran: Ran) -> Row {
    let is_decided = world.number == 0;
    let decided = |decision: &Decision| decision.decided.clone();
    let values = match is_decided {
        true => open.decisions.iter().map(decided).collect(),
        false => world.values.iter().map(|value| value.shown.clone()).collect(),
    };
    let numbers = match is_decided {
        true => vec![None; open.decisions.len()],
        false => world.values.iter().map(|value| Some(value.number)).collect(),
    };
    let mut row = Row {
        world: world.number,
        seed: world.seed,
        values,
        numbers,
        status: Status::Consistent,
        why: Vec::new(),
        effects: Vec::new(),
        holds: Vec::new(),
    };
    let measured = match ran {
        Ok(measured) => measured,
        Err(why) => {
            let headlines = claims.iter().filter(|claim| is_headline(claim)).count();
            row.status = Status::Impossible;
            row.why = vec![why];
            row.effects = vec![None; headlines];
            row.holds = vec![Holds::Unknown; headlines];
            return row;
        }
    };
    for (claim, measured) in &measured {
        if is_headline(claim) {
            row.effects.push(measured.effect.filter(|effect| effect.is_finite()));
            row.holds.push(Holds::of(&measured.outcome));
        } else if measured.outcome != Ok(Verdict::Met) {
            row.status = Status::Inconsistent;
            row.why.push(format!("{} {}", claim.figure, claim.text));
        }
    }
    row
}
