//! Plans runs from the user's choices: layers are found, stacked and resolved, inputs are hashed.

use crate::failure::Failure;
use crate::files::Input;
use crate::fio::Jobs;
use crate::policies::{self, SuppliedPolicy};
use crate::workloads;
use copyback::config::layers::{Layer, LayerError, Located, Text};
use copyback::config::presets::{self, SCHEMES};
use copyback::host::config::HostMode;
use copyback::run::Warmup;
use copyback::run::arrays::Member;
use copyback::run::config::{Resolved, Stack};
use std::path::PathBuf;
use std::sync::Arc;

mod cell;
mod chosen;
mod effects;
mod experiment;
mod fit;
mod jobs;
mod layers;
mod load;
mod of_experiment;
mod overrides;
mod refusals;

pub use cell::{
    CellChoice, ChosenScheme, ChosenWorkload, KnownTraces, NamedSet, fitted_plan_of_cell, replaces_share_of_reads,
};
pub use chosen::{
    named_scheme, of_scheme as set_of_scheme, option_of_mode, refuse_repeated_keys, refuse_sets_of_others, split,
};
use effects::without_effect;
use fit::fitted;
pub use fit::{FitShare, Fitted, Footprints};
use layers::Layers;
pub use load::{label, load_device, of_presets, on_default_device};
use of_experiment::plan_of_experiment;

/// The default schemes of a comparison: blocking GC, schemes in which requests preempt or join GC, and the ideal.
pub const DEFAULT_SCHEMES: &[&str] = &["baseline", "pgc", "gc-par", "gc-par-pgc", "ideal-no-gc"];

/// Runs to execute, each with its configuration.
pub struct Plan {
    /// The experiment's name, if it has one.
    pub name: Option<String>,
    /// One run for each scheme.
    pub runs: Vec<Planned>,
    /// Seed of all of them.
    pub seed: u64,
    /// The number of requests after which runs stop; requests of a warm-up are not counted.
    pub requests: Option<u64>,
    /// The warm-up that results exclude.
    pub warmup: Option<Warmup>,
    /// The files that were read.
    pub inputs: Vec<Input>,
    /// The jobs of a job file of fio, in its order; empty without such a file.
    pub jobs: Jobs,
    /// Notes on how the choices were understood.
    pub notes: Vec<String>,
    /// How the drive was sized for the trace, if it was.
    pub fitted: Option<Fitted>,
}

impl Plan {
    /// The requests after which a run stops, including its warm-up, if that is known.
    pub fn requests_in_all(&self) -> Option<u64> {
        match (self.requests, self.warmup) {
            (Some(requests), Some(warmup)) => Some(requests.saturating_add(warmup.requests()?)),
            (requests, _) => requests,
        }
    }
}

/// One run.
pub struct Planned {
    /// The scheme's name.
    pub scheme: String,
    /// How a command line names it.
    pub word: String,
    /// Its configuration.
    pub resolved: Resolved,
    /// Its drives: one, or those of its array.
    pub members: Vec<Member>,
    /// Choices of the scheme that an upper layer changed.
    pub overridden: Vec<String>,
    /// Settings without effect on the run.
    pub without_effect: Vec<String>,
    /// The text that chose the host's mode, if one did.
    pub mode_from: Option<Arc<Text>>,
    /// All settings with the texts that made them.
    pub stack: Stack,
}

impl Planned {
    /// Notes on the configuration: other policies than the scheme's, and settings without effect.
    pub fn notes(&self) -> impl Iterator<Item = &String> {
        self.overridden.iter().chain(&self.without_effect)
    }

    /// Removes notes that a setting had no effect on the run, if the user did not make the setting.
    pub fn retain_notes_of_user(&self, notes: &mut Vec<String>) {
        notes.retain(|note| effects::is_of_user(note, &self.stack));
    }

    /// Bytes that its requests can address.
    pub fn capacity_bytes(&self) -> u64 {
        self.resolved.run.capacity_bytes(&self.members)
    }

    /// Bytes that a request can address: those of the volume, or of the drive that it names.
    pub fn addressed_bytes(&self) -> u64 {
        // A generator that draws a drive for each request divides the bytes of all.
        match self.resolved.workload.draws_drives() {
            true => self.capacity_bytes(),
            false => self.resolved.run.addressed_bytes(&self.members),
        }
    }

    /// The whole configuration as an experiment that can be run again.
    pub fn config_text(&self, plan: &Plan) -> String {
        let mut text = format!("# Scheme {}, its defaults filled in: `copyback run` takes this file.\n", self.scheme);
        if let Some(name) = &plan.name {
            text.push_str(&format!("name = {}\n", toml::Value::from(name.as_str())));
        }
        // A scheme of a file is written as its tables: the file may have moved when they are read.
        let named = self.word.split_once('=').map_or(&*self.word, |(_, of)| of);
        let is_renamed = named != self.word;
        if presets::find(SCHEMES, named).is_some() && (is_renamed || self.overridden.is_empty()) {
            text.push_str(&format!("scheme = \"{}\"\n", self.word));
        }
        text.push_str(&format!("seed = {}\n", plan.seed));
        if let Some(requests) = plan.requests {
            text.push_str(&format!("requests = {requests}\n"));
        }
        if let Some(warmup) = plan.warmup {
            text.push_str(&format!("warmup = {}\n", warmup.to_toml()));
        }
        format!("{text}\n{}", self.resolved.to_toml())
    }
}

/// An experiment: the choices and settings of a command line or a program. Each has the default of
/// `copyback compare --help`.
#[derive(Clone, Debug, Default)]
pub struct Experiment {
    /// A TOML file with `device`, `scheme`, `workload` and any tables of the configuration.
    pub file: Option<PathBuf>,
    /// The device: a preset's name or a TOML file.
    pub device: Option<String>,
    /// The array of such drives: a preset's name or a TOML file; one drive without it.
    pub array: Option<String>,
    /// The schemes: names, TOML files, or `NAME=SCHEME`. The others are compared with the first.
    pub schemes: Vec<String>,
    /// The workload: a preset's name or a TOML file.
    pub workload: Option<String>,
    /// A trace file that is the workload.
    pub trace: Option<PathBuf>,
    /// A job file of fio that is the workload.
    pub fio: Option<PathBuf>,
    /// The command line of fio that is the workload.
    pub fio_args: Option<String>,
    /// The trace's format; recognised from its content without it.
    pub format: Option<String>,
    /// The columns of a trace that is a table without a header, in their order.
    pub columns: Vec<String>,
    /// The most malformed records of the trace to skip.
    pub skip_bad: Option<u64>,
    /// The share of the drive that the trace or the jobs are to take; the drive is scaled to it.
    pub fit: Option<FitShare>,
    /// Settings that override the choices above: `table.key=value`, or of one scheme `SCHEME:table.key=value`.
    pub settings: Vec<String>,
    /// The host's loop, which overrides the settings; without it, the loop that settings and files choose.
    pub mode: Option<HostMode>,
    /// Policies of the calling program, which replace those of the schemes. `settings` override their settings.
    pub policies: Vec<SuppliedPolicy>,
    /// The seed of every random stream; 1 without it.
    pub seed: Option<u64>,
    /// Requests to measure, after the warm-up; all requests of the workload without it.
    pub requests: Option<u64>,
    /// The warm-up: simulated first, and excluded from all results.
    pub warmup: Option<Warmup>,
}

/// Makes the plan. `default_schemes` apply if the experiment names none.
///
/// # Errors
/// If a choice is wrong, or choices do not fit together.
pub fn plan(chosen: &Experiment, default_schemes: &[&str]) -> Result<Plan, Failure> {
    refusals::refuse_impossible(chosen)?;
    let (policies, mut settings) = policies::named(&chosen.policies)?;
    settings.extend_from_slice(&chosen.settings);
    let user_settings = &chosen.settings;
    let chosen = &Experiment { settings, ..chosen.clone() };
    let plan = plan_of_experiment(chosen, &policies, default_schemes)?;
    let plan = Plan {
        notes: plan.notes.into_iter().chain(chosen::notes_on_repeated_keys(user_settings, chosen.mode)?).collect(),
        ..plan
    };
    let Some(share) = chosen.fit else {
        jobs::check(&plan)?;
        return Ok(plan);
    };
    if Layer::of_sets(&split(&chosen.settings).0)?.has_key("geometry", "blocks_per_plane") {
        return Err(Failure::input("--fit chooses `geometry.blocks_per_plane`, which --set sets, too")
            .with_help("leave one of them out"));
    }
    let replan = |set: String| {
        let mut chosen = chosen.clone();
        chosen.settings.push(set);
        plan_of_experiment(&chosen, &policies, default_schemes)
    };
    let sized = fit_drive(&plan, share, &mut Footprints::default(), replan)?;
    jobs::check(&sized)?;
    Ok(Plan { notes: plan.notes, ..sized })
}

/// Sizes the drive of a plan for its trace. `replan` makes the plan again, with the setting of the sized drive.
fn fit_drive(
    plan: &Plan,
    share: FitShare,
    known: &mut Footprints,
    replan: impl FnOnce(String) -> Result<Plan, Failure>,
) -> Result<Plan, Failure> {
    let fitted = fitted(plan, share, known)?;
    let sized = replan(fitted.set()).map_err(|failure| fitted.refused(failure, plan))?;
    Ok(Plan { fitted: Some(fitted), ..sized })
}

/// The run of layers, checked.
fn planned(
    layers: &Layers<'_>,
    (scheme, word): (String, String),
    overridden: Vec<String>,
    (seed, is_alone): (u64, bool),
    inputs: &mut Vec<Input>,
) -> Result<Planned, Failure> {
    let stack = layers.stack();
    let resolved = layers.resolve(&stack).map_err(|error| of_scheme(error, &scheme, is_alone))?;
    let members = layers.members(&resolved.run, stack.place_of("array.override"), seed, inputs)?;
    for (key, trace) in workloads::traces(&resolved) {
        workloads::check_trace(trace, stack.place_of(&key))?;
    }
    let mode_from = stack.place_of_leaf("host.mode").map(|place| place.text);
    let without_effect = without_effect(&stack, layers.device.as_ref(), &layers.scheme, &resolved);
    Ok(Planned { scheme, word, resolved, members, overridden, without_effect, mode_from, stack })
}

/// Names the scheme in an error of one of several: the others may have accepted the same settings.
fn of_scheme(mut error: LayerError, scheme: &str, is_alone: bool) -> LayerError {
    if !is_alone {
        error.message = format!("with scheme `{scheme}`: {}", error.message);
    }
    error
}

/// A name that the command line has.
pub fn argument(name: &str) -> Located {
    Located { value: name.to_owned(), place: None }
}
