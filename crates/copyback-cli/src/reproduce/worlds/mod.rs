//! `--worlds N`: a paper's headlines under N draws of the decisions that it leaves open.
//!
//! Each world is a set of headlines' cells with the world's settings. Cells are journalled and resumed as those of
//! every reproduction. A world that contradicts a printed value (a `calibrated` claim among the headlines) is reported
//! apart.

mod curve;
mod draw;
mod effects;
#[cfg(test)]
mod markdown;
mod open;
mod record;
mod rule;
mod show;
mod summary;
mod tables;
#[cfg(test)]
mod tests;

use super::claim::{Claim, Kind};
use super::headlines::Holds;
use super::judge::{self, Measured};
use super::verdict::Verdict;
use super::{Experiment, Reproduced};
use crate::args::ReproduceArgs;
use crate::failure::Failure;
use crate::files::{self, Output};
use crate::sweep::file::SweepFile;
use crate::sweep::grid::{self, Overrides};
use crate::sweep::journal::{CellResult, Journal};
use crate::sweep::table::SweepResults;
#[cfg(test)]
pub use curve::draw as curve;
use draw::World;
#[cfg(test)]
pub use markdown::{shares_of, tables as markdown};
use open::{Admissible, Decision, Open};
pub use record::{DecisionAbout, Worlds};
use record::{Row, SCHEMA, Status, WorldClaim};
use std::path::{Path, PathBuf};
pub use summary::Summary;

/// A paper's headlines with what it leaves open.
pub struct Question {
    /// Its name in results.
    pub name: String,
    /// Files with headlines, by their stems.
    pub files: Vec<(String, SweepFile)>,
    /// The text of `open.toml`.
    pub open: std::sync::Arc<copyback::config::layers::Text>,
}

/// Runs the worlds.
pub fn reproduced(question: &Question, count: u32, args: &ReproduceArgs) -> Result<Reproduced, Failure> {
    let Question { name, files: asked, open } = question;
    let mut open = Open::parse(open)?;
    open.decisions.retain(|decision| !is_fixed(decision, &args.cells.sets));
    if open.decisions.is_empty() {
        return Err(Failure::input("--set fixes every open decision").with_help("leave one of them open"));
    }
    let folder = args.out.clone().unwrap_or_else(|| PathBuf::from("reproduction"));
    let places = Places::of(name, &folder, args);
    places.check(args)?;
    std::fs::create_dir_all(&folder).map_err(|error| {
        Failure::input(format!("cannot make the folder {}: {error}", folder.display())).with_help("name one: --out DIR")
    })?;
    let mut journal = Journal::open(&places.journal, &format!("{name}-worlds.parquet"), args.cells.fresh)?;
    let seed = args.cells.seed.unwrap_or(1);
    let decided = World { number: 0, seed, values: Vec::new(), sets: Vec::new() };
    let worlds = draw::worlds(&open.decisions, count as usize, seed);
    let all: Vec<&World> = std::iter::once(&decided).chain(&worlds).collect();
    let context = WorldContext { asked, open: &open, args };
    let claims = context.claims()?;
    let ran = context.run(&all, &mut journal)?;
    let mut rows = all.iter().zip(ran).map(|(world, ran)| row(world, &open, &claims, ran));
    let decided = rows.next().expect("the decided world is the first");
    if decided.status == Status::Impossible {
        let why = decided.why.join("; ");
        return Err(Failure::input(format!("the decided world cannot be: {why}")).with_help("correct open.toml"));
    }
    let of_kind = |is: fn(&Claim) -> bool| claims.iter().filter(|claim| is(claim)).map(WorldClaim::of).collect();
    let document = Worlds {
        schema: SCHEMA.into(),
        paper: name.clone(),
        seed,
        full_size: args.full_size,
        part: if args.full_size { 1 } else { open.part },
        changes: super::changes(args),
        decisions: open.decisions.iter().map(about).collect(),
        headlines: of_kind(is_headline),
        constraints: of_kind(is_constraint),
        decided,
        worlds: rows.collect(),
    };
    let summary = Summary::of(&document);
    let json = json(&document, &summary)?;
    tables::write(&places.table, &document)?;
    files::write_text(&places.document, &json)?;
    files::write_text(&places.curve, &curve::draw(&document, &summary))?;
    let is_printed = args.json.as_ref().map_or(Ok(false), |path| files::write_text(path, &json))?;
    let shown = folder.display().to_string();
    let text = show::text(&document, &summary)
        + &format!(
            "\nTables and the picture are in {}; a rerun skips what was done\n",
            copyback_workload::printable::printable(&shown)
        )
        + &journal.note().unwrap_or_default();
    Ok(Reproduced { name: name.clone(), tables: Vec::new(), json, text, is_printed })
}

/// The document with its summary.
fn json(document: &Worlds, summary: &Summary) -> Result<String, Failure> {
    let failed = |error: serde_json::Error| Failure::run(format!("cannot write the document: {error}"));
    let mut value = serde_json::to_value(document).map_err(failed)?;
    value["summary"] = serde_json::to_value(summary).map_err(failed)?;
    Ok(format!("{value:#}\n"))
}

/// Whether the command line decides it.
fn is_fixed(decision: &Decision, sets: &[String]) -> bool {
    let key = |set: &str| crate::sweep::file::normalised_key(set.split('=').next().unwrap_or_default());
    let fixed: Vec<String> = sets.iter().map(|set| key(set)).collect();
    match &decision.admissible {
        Admissible::Range(range) => range.keys.iter().any(|own| fixed.contains(own)),
        Admissible::Choices(choices) => choices.iter().flat_map(|(_, sets)| sets).any(|set| fixed.contains(&key(set))),
    }
}

/// What a file of open decisions says of them, and the part of the requests that a world runs.
#[cfg(test)]
pub fn open_decisions(text: &std::sync::Arc<copyback::config::layers::Text>) -> (u64, Vec<DecisionAbout>) {
    let open = Open::parse(text).unwrap_or_else(|error| panic!("{}: {error}", text.name));
    (open.part, open.decisions.iter().map(about).collect())
}

fn about(decision: &Decision) -> DecisionAbout {
    let (admissible, choices) = match &decision.admissible {
        Admissible::Range(range) => {
            let factors = if range.is_log { ", by factors" } else { "" };
            (format!("{} to {}{factors}", range.shown(range.least), range.shown(range.most)), Vec::new())
        }
        Admissible::Choices(choices) => {
            let names: Vec<String> = choices.iter().map(|(name, _)| name.clone()).collect();
            (names.join(", "), names)
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

/// The output paths.
struct Places {
    journal: PathBuf,
    table: PathBuf,
    document: PathBuf,
    curve: PathBuf,
}

impl Places {
    fn of(name: &str, folder: &Path, args: &ReproduceArgs) -> Self {
        let full = if args.full_size { "-full-size" } else { "" };
        let place = |ending: &str| folder.join(format!("{name}-worlds{full}.{ending}"));
        Self {
            journal: folder.join(format!("{name}-worlds.journal")),
            table: place("parquet"),
            document: place("json"),
            curve: place("svg"),
        }
    }

    /// Refuses outputs that cannot be written, and files that no reproduction wrote.
    fn check(&self, args: &ReproduceArgs) -> Result<(), Failure> {
        let own = [
            Output::new("the journal", &self.journal),
            Output::new("the table", &self.table),
            Output::new("the table as text", self.table.with_extension("csv")),
            Output::new("the document", &self.document),
            Output::new("the picture", &self.curve),
        ];
        let mut outputs = Vec::new();
        for output in own {
            if output.path.parent().is_some_and(Path::is_dir) {
                files::check_output(&output.path)?;
            }
            outputs.push(output);
        }
        if let Some(json) = &args.json {
            files::check_output(json)?;
            outputs.push(Output::new("--json", json));
        }
        files::refuse_clashes(&outputs, std::iter::empty())?;
        if self.journal.exists() {
            return Ok(());
        }
        let help = "name another folder (--out DIR), or move that file away";
        [&self.table, &self.document, &self.curve]
            .into_iter()
            .try_for_each(|path| crate::sweep::refuse_unwritten(path, help))
    }
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
    asked: &'a [(String, SweepFile)],
    open: &'a Open,
    args: &'a ReproduceArgs,
}

impl WorldContext<'_> {
    /// The headlines and constraints, in the order of the files.
    fn claims(&self) -> Result<Vec<Claim>, Failure> {
        let mut claims = Vec::new();
        for (_, file) in self.asked {
            claims.extend(asked_of(file)?);
        }
        if !claims.iter().any(is_headline) {
            let error = Failure::input("no claim of the file is a headline");
            return Err(error.with_help("give a [[claim]] the paper's sentence: quote = \"...\""));
        }
        Ok(claims)
    }

    /// The experiments of a world, with their cells.
    fn experiments(&self, world: &World) -> Result<Vec<Experiment>, Failure> {
        let mut over = Overrides { seed: Some(world.seed), ..self.args.cells.overrides() };
        let is_small = !self.args.full_size;
        let of_drive: &[String] = if is_small { &self.open.sets } else { &[] };
        let sets = Sets::of(of_drive.iter().chain(&world.sets).chain(&over.sets));
        over.part = is_small.then_some(self.open.part);
        over.sets = sets.of_all;
        let mut experiments = Vec::new();
        for (stem, file) in self.asked {
            let mut file = file.clone().with_schemes(&[], sets.of_schemes.clone())?;
            for (case, set) in &sets.of_cases {
                file.add_to_case(case, set)?;
            }
            let mut claims = asked_of(&file)?;
            // A part of the run has a part of the events that a claim requires.
            let required = claims.iter_mut().filter_map(|claim| claim.test.as_mut().ok()?.requires_at_least.as_mut());
            required.for_each(|least| *least /= over.part.unwrap_or(1) as f64);
            let grid = grid::cells(&file, &over)?;
            let stem = stem.clone();
            experiments.push(Experiment { stem, file, claims, cells: grid.cells, left_out: grid.left_out });
        }
        Ok(experiments)
    }

    /// Runs all worlds together. If one fails, each is run by itself, so that the others are not lost.
    fn run(&self, worlds: &[&World], journal: &mut Journal) -> Result<Vec<Ran>, Failure> {
        let made = || worlds.iter().map(|world| self.experiments(world));
        let mut whole: Vec<Result<Vec<Experiment>, Failure>> = made().collect();
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
        match super::run(&mut flat, journal, self.args) {
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

    fn run_one(&self, made: Result<Vec<Experiment>, Failure>, journal: &mut Journal) -> Result<Ran, Failure> {
        let ran = made.and_then(|mut experiments| {
            let results = super::run(&mut experiments, journal, self.args)?;
            judged(experiments.into_iter().zip(results).collect())
        });
        match ran {
            Ok(measured) => Ok(Ok(measured)),
            Err(Failure::PipeClosed) => Err(Failure::PipeClosed),
            Err(failure) => Ok(Err(failure.message().to_owned())),
        }
    }
}

/// The claims that worlds ask: headlines and constraints.
fn asked_of(file: &SweepFile) -> Result<Vec<Claim>, Failure> {
    let mut claims = Claim::of_file(file)?;
    claims.retain(|claim| is_headline(claim) || is_constraint(claim));
    Ok(claims)
}

fn judged(done: Vec<(Experiment, Vec<CellResult>)>) -> Result<Vec<(Claim, Measured)>, Failure> {
    let mut all = Vec::new();
    for (Experiment { file, claims, cells, .. }, results) in done {
        let results = SweepResults { file: &file, cells: &cells, results };
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
