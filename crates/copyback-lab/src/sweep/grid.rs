//! Makes the cells of a sweep file: each has one device, one case, one choice of varied values, one seed, and all
//! schemes.

use super::file::{self, Case, Setting, Source, SweepFile};
use super::journal;
use crate::failure::Failure;
use crate::files;
use crate::format::counted;
use crate::memory;
use crate::plan::{self, CellChoice, ChosenWorkload, FitShare, NamedSet, Plan};
use crate::policies::Policies;
use crate::progress::{Planning, ProgressSink};
use crate::workloads;
use copyback::config::layers::{Layer, LayerError, Located};
use copyback::run::Warmup;
use copyback_workload::printable::printable;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Arguments that replace parts of a sweep file.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// Requests after which runs stop, instead of those of the file.
    pub requests: Option<u64>,
    /// The warm-up of runs, instead of that of the file.
    pub warmup: Option<Warmup>,
    /// Take the file's shorter runs.
    pub is_quick: bool,
    /// Divide the file's requests and warm-up by this.
    pub part: Option<u64>,
    /// Folder that relative traces are looked for in.
    pub traces: Option<PathBuf>,
    /// Settings over those of the file.
    pub sets: Vec<String>,
    /// Policies of the calling program, which settings may name.
    pub policies: Policies,
    /// The share of its drive that the trace of each cell is to take.
    pub fit: Option<FitShare>,
    /// The seed, instead of the file's.
    pub seed: Option<u64>,
    /// Receives the progress of planning.
    pub sink: ProgressSink,
}

/// One cell of the grid.
pub struct Cell {
    /// Its name among the cells.
    pub label: String,
    /// Its case.
    pub case: String,
    /// Its device.
    pub device: String,
    /// The workload.
    pub workload: String,
    /// Values of the varied keys, in the file's order.
    pub varied: Vec<toml::Value>,
    /// Its runs, one for each scheme.
    pub plan: Plan,
}

/// The cells of a file, and the missing traces.
pub struct Grid {
    /// Cells.
    pub cells: Vec<Cell>,
    /// Traces that are not there.
    pub left_out: Vec<String>,
}

/// The default divisor of shorter runs.
const QUICK_PART: u64 = 10;

/// Makes the cells, every configuration resolved and checked.
pub fn cells(file: &SweepFile, over: &Overrides) -> Result<Grid, Failure> {
    refuse_sets_that_vary(file, over)?;
    refuse_blocks_beside_fit(file, over)?;
    let mut planning = Planning::new(&over.sink, "cells", refuse_too_many(file, over)?);
    let mut grid = Grid { cells: Vec::new(), left_out: Vec::new() };
    let mut known = plan::KnownTraces::default();
    let seeds = over.seed.map_or_else(|| file.seeds.clone(), |seed| vec![seed]);
    for device in &file.devices {
        for case in &file.cases {
            // A case with its own device makes no cell for the other devices.
            if case.device.is_some() && !std::ptr::eq(device, &file.devices[0]) {
                continue;
            }
            let Some(workload) = workload(case, file, over)? else {
                let Source::Trace { path, .. } = &case.source else { unreachable!("only traces are left out") };
                grid.left_out.push(path.value.clone());
                continue;
            };
            let device = case.device.as_ref().unwrap_or(device);
            for varied in combinations(file) {
                for &seed in &seeds {
                    let point = GridPoint { device, case, workload: &workload, varied: &varied, seed };
                    grid.cells.push(cell(file, &point, over, &mut known)?);
                    planning.step();
                }
            }
        }
    }
    refuse_alike(&grid.cells, over)?;
    grid.left_out.sort();
    grid.left_out.dedup();
    Ok(grid)
}

/// Most runs of a grid: each has its configuration in memory, and few machines do this many in a year.
const RUNS_MAX: usize = 1_000_000;

/// Memory of a planned run, as measured.
const RUN_BYTES: u64 = 51_200;

/// Refuses a grid that is too large, before any of it is made. Returns the number of its cells, with those of missing
/// traces.
fn refuse_too_many(file: &SweepFile, over: &Overrides) -> Result<usize, Failure> {
    let own_device = file.cases.iter().filter(|case| case.device.is_some()).count();
    let rows = file.devices.len().checked_mul(file.cases.len() - own_device).and_then(|n| n.checked_add(own_device));
    let seeds = if over.seed.is_some() { 1 } else { file.seeds.len() };
    let lengths = file.vary.iter().map(|vary| vary.settings.len()).chain([seeds]);
    let cells = lengths.fold(rows, |cells, length| cells.and_then(|cells| cells.checked_mul(length)));
    let runs = cells.and_then(|cells| cells.checked_mul(file.schemes.len()));
    if let (Some(cells), Some(runs)) = (cells, runs.filter(|runs| *runs <= RUNS_MAX)) {
        memory::check_descriptions("run", runs as u64, RUN_BYTES, "make several sweeps of it")?;
        return Ok(cells);
    }
    let many = runs.map_or_else(|| "more runs than can be counted".to_owned(), |runs| counted(runs as u64, "run"));
    let schemes = counted(file.schemes.len() as u64, "scheme");
    let message = format!(
        "`{}` spans {many} with {schemes}, and {} are possible",
        file.name,
        crate::format::count(RUNS_MAX as u64)
    );
    Err(Failure::input(message)
        .with_help("vary fewer keys at a time, name fewer schemes, or make several sweeps of it"))
}

/// Refuses two cells with one name, and equal cells, which would count double. Cells that are equal only because of the
/// caller's settings are run once.
fn refuse_alike(cells: &[Cell], over: &Overrides) -> Result<(), Failure> {
    let is_file_unchanged = over.sets.is_empty()
        && over.fit.is_none()
        && over.seed.is_none()
        && over.warmup.is_none()
        && over.requests.is_none();
    let (mut labels, mut keys) = (BTreeSet::new(), BTreeMap::new());
    for cell in cells {
        if !labels.insert(&cell.label) {
            let error = LayerError::new(format!("two cells are called `{}`", cell.label));
            return Err(error.with_help("name its device, case and values each once").into());
        }
        if !is_file_unchanged || over.is_quick {
            continue;
        }
        if let Some(other) = keys.insert(journal::key(&cell.plan, ""), &cell.label) {
            let message = format!("the cells `{other}` and `{}` are the same, and would count double", cell.label);
            return Err(LayerError::new(message).with_help("leave one of them out").into());
        }
    }
    Ok(())
}

/// Refuses a setting for a key that the file varies: its cells would be equal.
fn refuse_sets_that_vary(file: &SweepFile, over: &Overrides) -> Result<(), Failure> {
    for set in &over.sets {
        let key = file::normalised_key(set.split('=').next().unwrap_or_default());
        if file.vary.iter().any(|vary| vary.key == key) {
            let error = LayerError::new(format!("--set {set}: `{}` varies this key", file.name));
            return Err(error.with_help("leave --set out, or the key out of the file's [vary]").into());
        }
    }
    Ok(())
}

/// Blocks of a plane that `--fit` chooses cannot be chosen elsewhere, too.
fn refuse_blocks_beside_fit(file: &SweepFile, over: &Overrides) -> Result<(), Failure> {
    if over.fit.is_none() {
        return Ok(());
    }
    let help = "leave one of them out";
    if Layer::of_sets(&over.sets)?.has_key("geometry", "blocks_per_plane") {
        return Err(Failure::input(format!("--fit chooses `{BLOCKS}`, which --set sets, too")).with_help(help));
    }
    let varied = file.vary.iter().flat_map(|vary| vary.settings.first()).map(|(_, setting)| setting);
    let of_cases = file.cases.iter().flat_map(|case| &case.settings);
    let mut all = file.settings.iter().chain(of_cases).chain(varied).chain(file.variant_settings());
    let Some(own) = all.find(|setting| setting.key == BLOCKS) else { return Ok(()) };
    let error = LayerError::new(format!("--fit chooses `{BLOCKS}`, which the file chooses here, too"));
    Err(error.with_help(help).at(Some(own.key_place.clone())).into())
}

/// The key that `--fit` chooses.
const BLOCKS: &str = "geometry.blocks_per_plane";

/// The position of one cell in the grid.
struct GridPoint<'a> {
    device: &'a Located,
    case: &'a Case,
    workload: &'a ChosenWorkload,
    varied: &'a [usize],
    seed: u64,
}

/// Indices of values of each varied key, the last key changing fastest.
fn combinations(file: &SweepFile) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for vary in &file.vary {
        let longer = |before: &Vec<usize>, at: usize| before.iter().copied().chain([at]).collect::<Vec<_>>();
        all = all.iter().flat_map(|before| (0..vary.settings.len()).map(move |at| longer(before, at))).collect();
    }
    all
}

/// The source of a case's requests; `None` if its optional trace is missing.
fn workload(case: &Case, file: &SweepFile, over: &Overrides) -> Result<Option<ChosenWorkload>, Failure> {
    match &case.source {
        Source::Settings(name) => Ok(Some(ChosenWorkload::Settings(name.clone()))),
        Source::Workload(name) => Ok(Some(ChosenWorkload::Named(name.clone()))),
        Source::Trace { path, is_optional } => {
            let folder = over.traces.as_deref().unwrap_or(&file.folder);
            let found = if path.value.contains(':') { PathBuf::from(&path.value) } else { folder.join(&path.value) };
            if *is_optional && !found.exists() {
                return Ok(None);
            }
            Ok(Some(ChosenWorkload::Trace(found, path.place.clone())))
        }
    }
}

fn cell(
    file: &SweepFile,
    point: &GridPoint<'_>,
    over: &Overrides,
    known: &mut plan::KnownTraces,
) -> Result<Cell, Failure> {
    let GridPoint { device, case, workload, varied, seed } = *point;
    let values = || file.vary.iter().zip(varied).map(|(vary, &at)| (&vary.key, &vary.settings[at]));
    let (tables, settings) = settings_of(file, point);
    let of_tables = settings.iter().zip(tables).map(|(setting, table)| setting.of_table(table));
    let sets = of_tables.chain(over.sets.iter().cloned().map(NamedSet::of_command_line)).collect();
    let own = file.variant_settings();
    let varied_values: Vec<(&String, toml::Value)> = values().map(|(key, (value, _))| (key, value.clone())).collect();
    let label = label(file, point, &varied_values);
    let is_alone = file.vary.is_empty() && [&file.devices.len(), &file.cases.len(), &file.seeds.len()] == [&1; 3];
    let choice = CellChoice {
        device,
        schemes: file.schemes.iter().map(|scheme| file.chosen_scheme(scheme, &case.name)).collect(),
        workload,
        folder: &file.folder,
        sets,
        policies: &over.policies,
        fit: over.fit,
        seed,
        requests: requests(file, case, over),
        warmup: warmup(file, case, over),
    };
    let plan = plan::fitted_plan_of_cell(&choice, known).map_err(|failure| {
        // Move an error from the argument of a setting to the setting's place in the file.
        let all = || settings.iter().copied().chain(own.clone());
        let failure = failure.moved(|place| all().find_map(|setting| setting.place_of(place)));
        // The error may concern this cell only: name it.
        if is_alone { failure } else { failure.of_run(&label) }
    })?;
    refuse_unnamed(case, &settings, &plan)?;
    let named = |workload: &ChosenWorkload| match workload {
        ChosenWorkload::Settings(name) => name.clone(),
        ChosenWorkload::Named(name) => name.value.clone(),
        ChosenWorkload::Trace(path, _) => {
            path.file_name().map_or_else(String::new, |f| printable(&f.to_string_lossy()).into_owned())
        }
    };
    Ok(Cell {
        label,
        case: case.name.clone(),
        device: device_name(device),
        workload: named(workload),
        varied: varied_values.into_iter().map(|(_, value)| value).collect(),
        plan,
    })
}

/// The settings of a cell that the file has, and the table of each.
fn settings_of<'a>(file: &'a SweepFile, point: &GridPoint<'a>) -> (Vec<&'static str>, Vec<&'a Setting>) {
    let of_file = file.settings.iter().map(|setting| ("[set]", setting));
    let of_case = point.case.settings.iter().map(|setting| ("[[case]]", setting));
    let of_vary = file.vary.iter().zip(point.varied).map(|(vary, &at)| ("[vary]", &vary.settings[at].1));
    of_file.chain(of_case).chain(of_vary).unzip()
}

/// Refuses settings that change the default workload: results would still carry its name, loop and warm-up.
fn refuse_unnamed(case: &Case, settings: &[&Setting], plan: &Plan) -> Result<(), Failure> {
    let is_default = matches!(&case.source, Source::Workload(name) if name.place.is_none());
    let is_recorded = |run: &plan::Planned| run.resolved.workload.trace.as_deref().is_some_and(workloads::is_built_in);
    let own = settings.iter().find(|setting| setting.key.starts_with("workload."));
    let (true, Some(own)) = (is_default && !plan.runs.iter().all(is_recorded), own) else { return Ok(()) };
    let message = format!("`{}` is set, and the workload that it changes has no name", own.key);
    let help = "name a workload: `workload = \"mixed-70-30\"`, say, or a TOML file of your own";
    Err(LayerError::new(message).with_help(help).at(Some(own.key_place.clone())).into())
}

fn requests(file: &SweepFile, case: &Case, over: &Overrides) -> Option<u64> {
    let whole = case.requests.or(file.requests);
    let quick = case.quick_requests.or(file.quick_requests).or_else(|| whole.map(|n| n.div_ceil(QUICK_PART)));
    let part = over.part.map_or(whole, |part| whole.map(|n| n.div_ceil(part)));
    over.requests.or(if over.is_quick { quick } else { part })
}

fn warmup(file: &SweepFile, case: &Case, over: &Overrides) -> Option<Warmup> {
    let whole = case.warmup.or(file.warmup);
    let part = if over.is_quick { Some(QUICK_PART) } else { over.part };
    over.warmup.or(part.map_or(whole, |part| whole.map(|warmup| warmup.divided_by(part))))
}

/// The name of a device in results.
pub fn device_name(device: &Located) -> String {
    let file = Path::new(&device.value).file_stem().filter(|_| files::looks_like_path(&device.value));
    let name = file.map_or_else(|| device.value.clone(), |stem| stem.to_string_lossy().into_owned());
    printable(&name).into_owned()
}

/// The name of a cell: the choices that differ between cells.
fn label(file: &SweepFile, point: &GridPoint<'_>, values: &[(&String, toml::Value)]) -> String {
    let mut parts = Vec::new();
    if file.devices.len() > 1 || point.case.device.is_some() {
        parts.push(device_name(point.device));
    }
    if file.cases.len() > 1 || (file.vary.is_empty() && parts.is_empty()) {
        parts.push(point.case.name.clone());
    }
    for (key, value) in values {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        // Keep the prefix of `workload.seed`: `seed` means the run's seed.
        let name = key.strip_prefix("workload.").filter(|name| *name != "seed").unwrap_or(key);
        parts.push(format!("{name}={text}"));
    }
    if file.seeds.len() > 1 {
        parts.push(format!("seed={}", point.seed));
    }
    parts.join(" ")
}

/// The error if the grid has no cell, because all its traces are missing.
pub fn nothing_left(left_out: &[String]) -> Failure {
    let traces = left_out.join(", ");
    let error = LayerError::new(format!("the grid has no cell: its traces are missing ({traces})"));
    error.with_help("give their folder: --traces DIR").into()
}
