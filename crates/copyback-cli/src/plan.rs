//! From the command line to what is to be run: layers found, stacked and resolved, inputs hashed.

use crate::args::Common;
use crate::failure::{self, Failure};
use crate::{files, workloads};
use copyback::config::Axis;
use copyback::config::layers::{Layer, LayerError, Located, Place, suggestion};
use copyback::config::presets::{self, ARRAYS, DEVICES, Preset, SCHEMES};
use copyback::host::config::{HostMode, Target};
use copyback::run::Warmup;
use copyback::run::arrays::Member;
use copyback::run::config::{AXES, Resolved, Stack};
use copyback_workload::standard_input;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

mod fit;
mod overrides;

pub use fit::Share;
use fit::{Fitted, fitted};
use overrides::{load_array, resolve_overrides};

/// Everything that is to be run.
pub struct Plan {
    /// The experiment's name, where it has one.
    pub name: Option<String>,
    /// One run for each scheme.
    pub runs: Vec<Planned>,
    /// Seed of all of them.
    pub seed: u64,
    /// Where they stop.
    pub requests: Option<u64>,
    /// What they leave out first.
    pub warmup: Option<Warmup>,
    /// What they were made from.
    pub inputs: Vec<Input>,
    /// How the drive was sized for the trace, if it was.
    pub fitted: Option<Fitted>,
}

impl Plan {
    /// The requests after which a run stops, those of its warm-up included, where that is known.
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
    /// Its configuration.
    pub resolved: Resolved,
    /// Its drives: one, or those of its array.
    pub members: Vec<Member>,
    /// What the scheme chose, and something that goes over it has otherwise.
    pub overridden: Vec<String>,
    /// Who chose the host's mode, if anybody did.
    pub mode_from: Option<String>,
}

impl Planned {
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
        let mut text = format!("# Scheme {}, every default filled in: `copyback run` takes this file.\n", self.scheme);
        if let Some(name) = &plan.name {
            text.push_str(&format!("name = {}\n", toml::Value::from(name.as_str())));
        }
        // A scheme of a file is told by its tables alone: the file may be elsewhere then.
        if presets::find(SCHEMES, &self.scheme).is_some() && self.overridden.is_empty() {
            text.push_str(&format!("scheme = \"{}\"\n", self.scheme));
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

/// Axes on which layers over a scheme choose another policy than it does: its name alone would mislead.
fn overridden(scheme: &Layer, over: &[Layer]) -> Vec<String> {
    let of_axis = |axis: &Axis| {
        let (own, last) =
            (scheme.policy(axis.name)?, over.iter().rev().find(|layer| layer.policy(axis.name).is_some())?);
        let policy = last.policy(axis.name).filter(|policy| *policy != own)?;
        Some(format!("`{}` is `{policy}`, for {} has it so, and not the scheme's `{own}`", axis.name, last.text().name))
    };
    AXES.iter().filter_map(of_axis).collect()
}

/// A text or a trace that went in.
#[derive(Clone, Debug, Serialize)]
pub struct Input {
    /// What it was used as.
    pub role: &'static str,
    /// Its name or path.
    pub name: String,
    /// Hash of its bytes.
    pub hash: String,
    /// The file that it was read from, if it was one: no output may be the same.
    #[serde(skip)]
    pub path: Option<PathBuf>,
}

impl Input {
    /// A text.
    pub fn text(role: &'static str, name: String, path: Option<PathBuf>, text: &str) -> Self {
        Self { role, name, hash: files::hash_bytes(text.as_bytes()), path }
    }

    /// A trace with its hash.
    pub fn trace(path: PathBuf, hash: String) -> Self {
        let name = path.display().to_string();
        // What comes from standard input is no file that an output could replace.
        Self { role: "trace", name, hash, path: Some(path).filter(|path| !standard_input::is_named(path)) }
    }
}

/// A kind of preset.
struct Kind {
    role: &'static str,
    flag: &'static str,
    presets: &'static [Preset],
}

const DEVICE: Kind = Kind { role: "device", flag: "--device", presets: DEVICES };
const SCHEME: Kind = Kind { role: "scheme", flag: "--scheme", presets: SCHEMES };
const ARRAY: Kind = Kind { role: "array", flag: "--array", presets: ARRAYS };

/// An experiment file, taken apart.
#[derive(Default)]
struct Experiment {
    name: Option<String>,
    device: Option<Located>,
    array: Option<Located>,
    schemes: Option<Vec<Located>>,
    workload: Option<Located>,
    seed: Option<u64>,
    requests: Option<u64>,
    warmup: Option<Warmup>,
    layer: Option<Layer>,
    folder: PathBuf,
}

/// Makes the plan. `schemes` are those of the command line, `default_schemes` those where nobody names any.
pub fn plan(common: &Common, schemes: &[String], default_schemes: &[&str]) -> Result<Plan, Failure> {
    let plan = plan_as_said(common, schemes, default_schemes)?;
    let Some(share) = common.fit else { return Ok(plan) };
    if Layer::of_sets(&common.sets)?.has_key("geometry", "blocks_per_plane") {
        return Err(Failure::input("--fit chooses `geometry.blocks_per_plane`, which --set sets, too")
            .with_help("leave one of them out"));
    }
    let fitted = fitted(&plan, share)?;
    let mut common = common.clone();
    common.sets.push(fitted.set());
    let plan = plan_as_said(&common, schemes, default_schemes).map_err(|failure| fitted.refused(failure))?;
    Ok(Plan { fitted: Some(fitted), ..plan })
}

/// The plan with the drive that the command line and the experiment describe.
fn plan_as_said(common: &Common, schemes: &[String], default_schemes: &[&str]) -> Result<Plan, Failure> {
    let mut inputs = Vec::new();
    let experiment = match &common.experiment {
        Some(path) => Experiment::read(path, &mut inputs)?,
        None => Experiment::default(),
    };
    let mut below = Vec::new();
    if let Some(device) = chosen_device(common, &experiment) {
        let folder = if common.device.is_some() { Path::new("") } else { &experiment.folder };
        below.push(load(&DEVICE, &device, folder, &mut inputs)?);
    }
    let array = match &common.array {
        Some(name) => Some((argument(name), Path::new(""))),
        None => experiment.array.clone().map(|name| (name, experiment.folder.as_path())),
    };
    let array_layer = match array {
        Some((name, folder)) => Some(load_array(&name, folder, &mut inputs)?),
        None => None,
    };
    let named = match (schemes.is_empty(), &experiment.schemes) {
        (false, _) => schemes.iter().map(|name| argument(name)).collect(),
        (true, Some(list)) => list.clone(),
        (true, None) => default_schemes.iter().map(|name| argument(name)).collect(),
    };
    let scheme_folder = if schemes.is_empty() { experiment.folder.as_path() } else { Path::new("") };
    let labels: Vec<String> = named.iter().map(|scheme| label(&scheme.value)).collect();
    refuse_twice(labels.iter().map(String::as_str).zip(&named))?;
    let mut loaded = Vec::new();
    for scheme in &named {
        loaded.push((label(&scheme.value), load(&SCHEME, scheme, scheme_folder, &mut inputs)?));
    }
    let (over, proposed) = upper_layers(common, &experiment, &mut inputs)?;
    let seed = common.seed.or(experiment.seed).unwrap_or(1);
    let mut runs = Vec::new();
    let is_alone = loaded.len() == 1;
    for (scheme, layer) in loaded {
        let overridden = overridden(&layer, &over);
        let is_set = usize::from(!common.sets.is_empty());
        let (above, sets) = over.split_at(over.len() - is_set);
        // What the command line names goes over the experiment's own.
        let array_last = array_layer.iter().filter(|_| common.array.is_some());
        let array_first = array_layer.iter().filter(|_| common.array.is_none());
        let above = array_first.chain(above).chain(array_last).cloned().collect();
        let layers = Layers { device: below.first().cloned(), scheme: layer, above, sets: sets.to_vec() };
        let stack = layers.stack();
        let resolved = stack.resolve().map_err(|error| of_scheme(error, &scheme, is_alone))?;
        let members = layers.members(&resolved.run, stack.place_of("array.override"), seed, &mut inputs)?;
        if let Some(trace) = &resolved.workload.trace {
            workloads::check_trace(trace, stack.place_of("workload.trace"))?;
        }
        let mode_from = stack.place_of_leaf("host.mode").map(|place| place.text.name.clone());
        runs.push(Planned { scheme, resolved, members, overridden, mode_from });
    }
    refuse_without_effect(&Layer::of_sets(&common.sets)?, &runs)?;
    refuse_unnamed_drives(&runs)?;
    if let Some(trace) = runs.first().and_then(|run| run.resolved.workload.trace.clone()) {
        let hash = workloads::hash_trace(&trace)?;
        inputs.push(Input::trace(trace, hash));
    }
    let requests = common.requests.or(experiment.requests);
    // What a workload proposes belongs to the whole of it.
    let warmup = common.warmup.or(experiment.warmup).or(proposed.filter(|_| requests.is_none()));
    refuse_endless(warmup, &runs)?;
    Ok(Plan { name: experiment.name, runs, seed, requests, warmup, inputs, fitted: None })
}

/// Refuses a warm-up that would last until the workload ends: a drive that nobody writes to does not settle.
fn refuse_endless(warmup: Option<Warmup>, runs: &[Planned]) -> Result<(), Failure> {
    let is_endless = warmup == Some(Warmup::Steady) && runs.iter().any(|run| run.resolved.workload.writes_nothing());
    if !is_endless {
        return Ok(());
    }
    Err(Failure::input("the warm-up `steady` would not end: the workload writes nothing, and no drive settles by that")
        .with_help(failure::SAY_HOW_LONG))
}

/// Refuses that requests name drives where the workload names none: all would go to the first.
fn refuse_unnamed_drives(runs: &[Planned]) -> Result<(), Failure> {
    let unnamed = |planned: &&Planned| {
        let (run, workload) = (&planned.resolved.run, &planned.resolved.workload);
        run.host.target == Target::Drive && workload.trace.is_none() && !workload.draws_drives()
    };
    if !runs.iter().any(|planned| unnamed(&planned)) {
        return Ok(());
    }
    Err(Failure::input("`host.target`: the workload names no drives, and all requests would go to the first")
        .with_help("leave it out, or take a workload whose addresses are drawn per drive, such as hpc-w-skew-like"))
}

/// Settings that say something of one mode of the host alone.
const OF_ONE_MODE: &[(&str, &str, HostMode)] = &[
    ("host", "queue_depth", HostMode::Closed),
    ("host", "outstanding_max", HostMode::Open),
    ("workload", "time_scale", HostMode::Open),
];

/// Refuses what the command line sets and no run looks at. Files may say both: presets and printed configurations do.
fn refuse_without_effect(sets: &Layer, runs: &[Planned]) -> Result<(), Failure> {
    for (table, key, mode) in OF_ONE_MODE {
        let Some(place) = sets.place_in(table, key) else { continue };
        if runs.iter().any(|planned| planned.resolved.run.host.mode == *mode) {
            continue;
        }
        let has_times = runs.iter().any(|planned| planned.resolved.workload.has_times());
        let (is, help) = match mode {
            HostMode::Closed => ("open: requests arrive when the workload says", "closed"),
            HostMode::Open => ("closed: a request arrives when another ends", "open"),
        };
        let help = match (mode, has_times) {
            (HostMode::Open, false) => "remove it: the workload has no arrival times".to_owned(),
            _ => format!("remove it, or add --{help}"),
        };
        let error = LayerError::new(format!("`{table}.{key}` has no effect, for the host's loop is {is}"));
        return Err(error.with_help(help).at(Some(place)).into());
    }
    Ok(())
}

/// One choice of everything, as a cell of a sweep makes it. Paths are relative to `folder`.
pub struct Choice<'a> {
    /// The device.
    pub device: &'a Located,
    /// The schemes.
    pub schemes: Vec<ChosenScheme<'a>>,
    /// The workload.
    pub workload: &'a ChosenWorkload,
    /// Folder of the file that chooses.
    pub folder: &'a Path,
    /// Settings over all of it, as `--set` takes them.
    pub sets: Vec<String>,
    /// Seed of all runs.
    pub seed: u64,
    /// Where they stop.
    pub requests: Option<u64>,
    /// What they leave out first.
    pub warmup: Option<Warmup>,
}

/// A scheme of a comparison, as it is or with settings of its own.
pub struct ChosenScheme<'a> {
    /// What results call it.
    pub label: String,
    /// The preset or file.
    pub scheme: &'a Located,
    /// Settings of this scheme alone, over all others.
    pub sets: Vec<String>,
}

/// A workload by its name, or a trace.
pub enum ChosenWorkload {
    /// A preset or a TOML file.
    Named(Located),
    /// A trace, and where it is named.
    Trace(PathBuf, Option<Place>),
}

/// Hashes of traces that are known already.
pub type TraceHashes = BTreeMap<PathBuf, String>;

/// An error of one of several schemes says which: the others may have taken the same settings.
fn of_scheme(mut error: LayerError, scheme: &str, is_alone: bool) -> LayerError {
    if !is_alone {
        error.message = format!("with scheme `{scheme}`: {}", error.message);
    }
    error
}

/// Makes the plan of one choice.
pub fn plan_choice(choice: &Choice<'_>, hashes: &mut TraceHashes) -> Result<Plan, Failure> {
    let mut inputs = Vec::new();
    let device = load(&DEVICE, choice.device, choice.folder, &mut inputs)?;
    refuse_twice(choice.schemes.iter().map(|chosen| (chosen.label.as_str(), chosen.scheme)))?;
    let (workload, proposed) = match choice.workload {
        ChosenWorkload::Named(name) => {
            let loaded = workloads::load(name, choice.folder, &mut inputs)?;
            (loaded.layer, loaded.warmup)
        }
        ChosenWorkload::Trace(path, place) => (workloads::trace_layer(path).map_err(|f| f.at(place.clone()))?, None),
    };
    let mut sets = Layer::of_sets(&choice.sets)?;
    resolve_overrides(&mut sets, choice.folder);
    let is_whole = choice.requests.is_none() && !workloads::cuts(&sets);
    let warmup = choice.warmup.or(proposed.filter(|_| is_whole));
    let mut runs = Vec::new();
    for chosen in &choice.schemes {
        let layer = load(&SCHEME, chosen.scheme, choice.folder, &mut inputs)?;
        let overridden = overridden(&layer, std::slice::from_ref(&sets));
        let mut own = Layer::of_sets(&chosen.sets)?;
        resolve_overrides(&mut own, choice.folder);
        let sets = vec![sets.clone(), own];
        let layers = Layers { device: Some(device.clone()), scheme: layer, above: vec![workload.clone()], sets };
        let stack = layers.stack();
        let is_alone = choice.schemes.len() == 1;
        let resolved = stack.resolve().map_err(|error| of_scheme(error, &chosen.label, is_alone))?;
        let members = layers.members(&resolved.run, stack.place_of("array.override"), choice.seed, &mut inputs)?;
        if let Some(trace) = &resolved.workload.trace {
            workloads::check_trace(trace, stack.place_of("workload.trace"))?;
        }
        let mode_from = stack.place_of_leaf("host.mode").map(|place| place.text.name.clone());
        runs.push(Planned { scheme: chosen.label.clone(), resolved, members, overridden, mode_from });
    }
    if let Some(trace) = runs.first().and_then(|run| run.resolved.workload.trace.clone()) {
        let hash = match hashes.get(&trace) {
            Some(hash) => hash.clone(),
            None => workloads::hash_trace(&trace)?,
        };
        hashes.insert(trace.clone(), hash.clone());
        inputs.push(Input::trace(trace, hash));
    }
    refuse_endless(warmup, &runs)?;
    Ok(Plan { name: None, runs, seed: choice.seed, requests: choice.requests, warmup, inputs, fitted: None })
}

fn argument(name: &str) -> Located {
    Located { value: name.to_owned(), place: None }
}

/// The device to start from; none where the experiment describes one itself.
fn chosen_device(common: &Common, experiment: &Experiment) -> Option<Located> {
    if let Some(name) = &common.device {
        return Some(argument(name));
    }
    let describes = |layer: &Layer| ["geometry", "timing", "capacity"].iter().all(|table| layer.has(table));
    match &experiment.device {
        Some(device) => Some(device.clone()),
        None if experiment.layer.as_ref().is_some_and(describes) => None,
        None => Some(argument(DEVICES[0].name)),
    }
}

/// Everything above the scheme, lowest first; and the warm-up that the workload proposes, where nothing cuts it.
fn upper_layers(
    common: &Common,
    experiment: &Experiment,
    inputs: &mut Vec<Input>,
) -> Result<(Vec<Layer>, Option<Warmup>), Failure> {
    let (mut layers, mut proposed) = (Vec::new(), None);
    let own = |layer: &Layer| {
        layer.has_key("workload", "trace")
            || (layer.has_key("workload", "requests")
                && ["read_share", "read_arrivals"].iter().any(|key| layer.has_key("workload", key)))
    };
    let on_command_line = common.trace.is_some() || common.workload.is_some();
    let mut add = |layers: &mut Vec<Layer>, name: &Located, folder: &Path| -> Result<(), Failure> {
        let loaded = workloads::load(name, folder, inputs)?;
        proposed = loaded.warmup.map(|warmup| (layers.len(), warmup));
        layers.push(loaded.layer);
        Ok(())
    };
    if !on_command_line {
        match &experiment.workload {
            Some(name) => add(&mut layers, name, &experiment.folder)?,
            None if experiment.layer.as_ref().is_some_and(own) => {}
            None => add(&mut layers, &argument(workloads::DEFAULT), Path::new(""))?,
        }
    }
    layers.extend(experiment.layer.clone());
    if let Some(name) = &common.workload {
        add(&mut layers, &argument(name), Path::new(""))?;
    }
    if let Some(path) = &common.trace {
        layers.push(workloads::trace_layer(path)?);
    }
    layers.extend(workloads::option_layer(common.format.as_deref(), None, common.skip_bad)?);
    if !common.sets.is_empty() {
        layers.push(Layer::of_sets(&common.sets)?);
    }
    let proposed = proposed.filter(|(at, _)| !layers[at + 1..].iter().any(workloads::cuts));
    Ok((layers, proposed.map(|(_, warmup)| warmup)))
}

impl Experiment {
    fn read(path: &Path, inputs: &mut Vec<Input>) -> Result<Self, Failure> {
        let name = path.display().to_string();
        // Somebody who leaves `--trace` out gives his trace as the experiment.
        let is_toml = path.extension().is_some_and(|ending| ending == "toml");
        let or_trace = |failure: Failure| match is_toml || !path.is_file() {
            true => failure,
            false => failure.with_help(format!("an experiment is a TOML file; a trace is given as `--trace {name}`")),
        };
        let text = files::read_text("experiment", path).map_err(or_trace)?;
        inputs.push(Input::text("experiment", name.clone(), Some(path.to_path_buf()), &text));
        let mut layer = Layer::parse(name.clone(), text).map_err(|error| or_trace(error.into()))?;
        let folder = files::folder_of(path).to_path_buf();
        let folder = if folder == Path::new(".") { PathBuf::new() } else { folder };
        layer.resolve_path("workload.trace", &folder);
        resolve_overrides(&mut layer, &folder);
        let workload = if layer.is_text("workload") { layer.take_text("workload")? } else { None };
        let preset = layer.take_text("workload.preset")?;
        let scheme = layer.take_text("scheme")?.map(|scheme| vec![scheme]);
        let schemes = layer.take_texts("schemes")?;
        if let (Some(one), Some(_)) = (&scheme, &schemes) {
            let error = LayerError::new("`scheme` and `schemes` are both there, and an experiment takes one of them")
                .with_help("remove one of the two");
            return Err(error.at(one[0].place.clone()).into());
        }
        let requests_place = layer.place_of("requests");
        let experiment = Self {
            name: layer.take_text("name")?.map(|name| name.value),
            device: layer.take_text("device")?,
            array: if layer.is_text("array") { layer.take_text("array")? } else { None },
            schemes: schemes.or(scheme),
            workload: workload.or(preset),
            seed: layer.take_number("seed")?,
            requests: layer.take_number("requests")?,
            warmup: Warmup::take_from(&mut layer)?,
            layer: None,
            folder,
        };
        if experiment.requests == Some(0) {
            let error = LayerError::new("`requests`: zero leaves nothing to run");
            return Err(error.with_help("set 1 or more, or remove it").at(requests_place).into());
        }
        for about in ["description", "source"] {
            layer.take_text(about)?;
        }
        Ok(Self { layer: Some(layer), ..experiment })
    }
}

/// The layers of a run.
struct Layers {
    device: Option<Layer>,
    scheme: Layer,
    above: Vec<Layer>,
    /// What goes over everything, also over what a drive of an array has otherwise.
    sets: Vec<Layer>,
}

impl Layers {
    /// All layers; `otherwise`: what a drive has otherwise, which goes over all that is said of the others, so that a
    /// configuration that says everything leaves it its own.
    fn all(&self, otherwise: impl IntoIterator<Item = Layer>) -> impl Iterator<Item = Layer> {
        let below = self.device.iter().chain([&self.scheme]).chain(&self.above).cloned();
        below.chain(otherwise).chain(self.sets.iter().cloned())
    }

    /// Those of a run.
    fn stack(&self) -> Stack {
        let mut stack = Stack::new();
        self.all([]).for_each(|layer| stack.push(layer));
        stack
    }

    /// Those of a drive that is another one. Whether it is told when to collect is its array's.
    fn of_drive(&self, otherwise: impl IntoIterator<Item = Layer>) -> Stack {
        let mut stack = Stack::new();
        self.all(otherwise).for_each(|layer| stack.push(layer.without("coordination")));
        stack
    }
}

/// What a scheme is called in results: its preset's name, or its file's without the ending.
pub fn label(name: &str) -> String {
    match presets::find(SCHEMES, name) {
        Some(preset) => preset.name.to_owned(),
        None => Path::new(name).file_stem().map_or_else(|| name.to_owned(), |stem| stem.to_string_lossy().into_owned()),
    }
}

/// Refuses two schemes of one label: nobody could tell their results apart.
fn refuse_twice<'a>(schemes: impl Iterator<Item = (&'a str, &'a Located)>) -> Result<(), Failure> {
    let mut seen = BTreeSet::new();
    for (label, scheme) in schemes {
        if !seen.insert(label) {
            let error = LayerError::new(format!("scheme `{label}` is named twice"));
            return Err(error.with_help("name each scheme once").at(scheme.place.clone()).into());
        }
    }
    Ok(())
}

/// The layer of a device that the command line names.
pub fn load_device(name: &str, inputs: &mut Vec<Input>) -> Result<Layer, Failure> {
    load(&DEVICE, &argument(name), Path::new(""), inputs)
}

/// Loads a preset, or a file where the name is one.
fn load(kind: &Kind, name: &Located, folder: &Path, inputs: &mut Vec<Input>) -> Result<Layer, Failure> {
    let (shown, text, path) = match presets::find(kind.presets, &name.value) {
        Some(preset) => (format!("{} {}", kind.role, preset.name), preset.text.to_owned(), None),
        None => {
            let path = folder.join(&name.value);
            if !looks_like_path(&name.value) && !path.exists() {
                let known = kind.presets.iter().map(|preset| preset.name);
                let help = suggestion(&name.value, &format!("{}s", kind.role), known);
                let error = LayerError::new(format!("unknown {} `{}`", kind.role, name.value));
                let help = format!("{help}; {} also takes a TOML file", kind.flag);
                return Err(error.with_help(help).at(name.place.clone()).into());
            }
            (path.display().to_string(), files::read_text(kind.role, &path)?, Some(path))
        }
    };
    inputs.push(Input::text(kind.role, name.value.clone(), path, &text));
    let mut layer = Layer::parse(shown, text)?;
    forget_descriptions(&mut layer)?;
    Ok(layer)
}

/// Takes out what a preset says about itself.
pub fn forget_descriptions(layer: &mut Layer) -> Result<(), Failure> {
    for key in ["name", "description", "source"] {
        layer.take_text(key)?;
    }
    Ok(())
}

/// Whether a name is meant as a file.
pub fn looks_like_path(name: &str) -> bool {
    name.contains(['/', '\\']) || name.ends_with(".toml")
}
