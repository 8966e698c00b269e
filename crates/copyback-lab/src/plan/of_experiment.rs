//! Plans an experiment: its arguments over its file.

use super::chosen::{self, NamedScheme, layer_of_mode, split};
use super::effects::overridden;
use super::experiment::ExperimentFile;
use super::layers::Layers;
use super::load::{DEVICE, SCHEME, load};
use super::overrides::load_array;
use super::refusals::{refuse_endless, refuse_repeated_schemes, refuse_unnamed_drives, refuse_without_effect};
use super::{Experiment, Plan, Planned, argument, planned};
use crate::failure::Failure;
use crate::files::Input;
use crate::policies::Policies;
use crate::{fio, workloads};
use copyback::config::layers::{Layer, Located, WORKLOADS};
use copyback::config::presets::DEVICES;
use copyback::run::Warmup;
use std::path::Path;

/// The plan with the drive that the command line and the experiment describe.
pub(super) fn plan_of_experiment(
    common: &Experiment,
    policies: &Policies,
    default_schemes: &[&str],
) -> Result<Plan, Failure> {
    let (of_all, of_one) = split(&common.settings);
    let common = &Experiment { settings: of_all, ..common.clone() };
    let mut inputs = Vec::new();
    let experiment = experiment_of(common, &mut inputs)?;
    let device = match chosen_device(common, &experiment) {
        Some(device) => {
            let folder = if common.device.is_some() { Path::new("") } else { &experiment.folder };
            Some(load(&DEVICE, &device, folder, &mut inputs)?)
        }
        None => None,
    };
    let array = array_of(common, &experiment, &mut inputs)?;
    let schemes = schemes_of(common, &experiment, (default_schemes, &of_one[..]), &mut inputs)?;
    let job_file = match (&common.fio, &common.fio_args) {
        (Some(path), _) => Some(fio::load(path, &mut inputs)?),
        (None, Some(text)) => Some(fio::load_arguments(text, &mut inputs)?),
        (None, None) => None,
    };
    let (over, proposed) = upper_layers(common, &experiment, job_file.as_ref().map(|file| &file.layer), &mut inputs)?;
    let (jobs, notes) = job_file.map(|file| (file.jobs, file.notes)).unwrap_or_default();
    let seed = common.seed.or(experiment.seed).unwrap_or(1);
    let base = Base { device, array, array_is_last: common.array.is_some(), over, seed, policies };
    let is_alone = schemes.len() == 1;
    let sets = usize::from(!common.settings.is_empty()) + usize::from(common.mode.is_some());
    let planned = schemes.into_iter().map(|scheme| base.planned(scheme, (sets, is_alone), &mut inputs));
    let runs = planned.collect::<Result<Vec<_>, _>>()?;
    refuse_without_effect(&Layer::of_sets(&common.settings)?, &runs)?;
    refuse_unnamed_drives(&runs)?;
    for (_, trace) in runs.first().iter().flat_map(|run| workloads::traces(&run.resolved)) {
        inputs.push(Input::trace(trace.to_path_buf(), workloads::hash_trace(trace)?));
    }
    let requests = common.requests.or(experiment.requests);
    // The warm-up that a workload proposes fits only the whole workload.
    let warmup = common.warmup.or(experiment.warmup).or(proposed.filter(|_| requests.is_none()));
    refuse_endless(warmup, &runs)?;
    Ok(Plan { name: experiment.name, runs, seed, requests, warmup, inputs, jobs, notes, fitted: None })
}

/// The experiment's file; an empty one if there is none.
fn experiment_of(common: &Experiment, inputs: &mut Vec<Input>) -> Result<ExperimentFile, Failure> {
    let Some(path) = &common.file else { return Ok(ExperimentFile::default()) };
    ExperimentFile::read(path, inputs).map_err(|failure| {
        let is_toml = path.extension().is_some_and(|ending| ending == "toml");
        if common.trace.is_some() && !is_toml && path.is_file() { workloads::several_traces() } else { failure }
    })
}

/// The array of the command line, or else of the experiment.
fn array_of(
    common: &Experiment,
    experiment: &ExperimentFile,
    inputs: &mut Vec<Input>,
) -> Result<Option<Layer>, Failure> {
    let (name, folder) = match (&common.array, &experiment.array) {
        (Some(name), _) => (argument(name), Path::new("")),
        (None, Some(name)) => (name.clone(), experiment.folder.as_path()),
        (None, None) => return Ok(None),
    };
    load_array(&name, folder, inputs).map(Some)
}

/// The schemes of the command line, of the experiment, or else the default ones, with the settings of each.
fn schemes_of(
    common: &Experiment,
    experiment: &ExperimentFile,
    (default_schemes, of_one): (&[&str], &[(String, String)]),
    inputs: &mut Vec<Input>,
) -> Result<Vec<(NamedScheme, Layer)>, Failure> {
    let schemes = &common.schemes;
    let named: Vec<Located> = match (schemes.is_empty(), &experiment.schemes) {
        (false, _) => schemes.iter().map(|name| argument(name)).collect(),
        (true, Some(list)) => list.clone(),
        (true, None) => default_schemes.iter().map(|name| argument(name)).collect(),
    };
    let folder = if schemes.is_empty() { experiment.folder.as_path() } else { Path::new("") };
    let all = chosen::chosen(&named, of_one)?;
    refuse_repeated_schemes(all.iter().map(|chosen| (chosen.label.as_str(), &chosen.scheme)))?;
    let loaded = all.into_iter().map(|chosen| {
        let layer = load(&SCHEME, &chosen.scheme, folder, inputs)?;
        Ok::<_, Failure>((chosen, layer))
    });
    loaded.collect()
}

/// What all schemes of a plan have in common.
struct Base<'a> {
    device: Option<Layer>,
    array: Option<Layer>,
    /// Whether the command line names the array, which then overrides the experiment's.
    array_is_last: bool,
    /// Layers above the schemes, lowest first.
    over: Vec<Layer>,
    seed: u64,
    policies: &'a Policies,
}

impl Base<'_> {
    /// The run of a scheme. `sets`: how many of the highest layers are settings of the command line; `is_alone`: there
    /// is no other scheme.
    fn planned(
        &self,
        (chosen, layer): (NamedScheme, Layer),
        (sets, is_alone): (usize, bool),
        inputs: &mut Vec<Input>,
    ) -> Result<Planned, Failure> {
        let over_scheme: Vec<Layer> = self.over.iter().chain(&chosen.own).cloned().collect();
        let overridden = overridden(&layer, &over_scheme);
        let (above, sets) = self.over.split_at(self.over.len() - sets);
        let array_first = self.array.iter().filter(|_| !self.array_is_last);
        let array_last = self.array.iter().filter(|_| self.array_is_last);
        let above = array_first.chain(above).chain(array_last).cloned().collect();
        let sets = Layers::sets_of(sets, &chosen);
        let layers = Layers { device: self.device.clone(), scheme: layer, above, sets, policies: self.policies };
        let NamedScheme { label, word, .. } = chosen;
        planned(&layers, (label, word), overridden, (self.seed, is_alone), inputs)
    }
}

/// The device to start from; `None` if the experiment describes one itself.
fn chosen_device(common: &Experiment, experiment: &ExperimentFile) -> Option<Located> {
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

/// All layers above the scheme, lowest first; and the warm-up that the workload proposes, if no layer above selects
/// another part of the workload.
fn upper_layers(
    common: &Experiment,
    experiment: &ExperimentFile,
    jobs: Option<&Layer>,
    inputs: &mut Vec<Input>,
) -> Result<(Vec<Layer>, Option<Warmup>), Failure> {
    let (mut layers, mut proposed) = (Vec::new(), None);
    let own = |layer: &Layer| {
        layer.has_key("workload", "trace")
            || (layer.has_key("workload", "requests")
                && ["read_share", "read_arrivals"].iter().any(|key| layer.has_key("workload", key)))
            || !layer.names_in(WORKLOADS).is_empty()
    };
    let on_command_line = common.trace.is_some() || common.workload.is_some() || jobs.is_some();
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
    let of_experiment = experiment.layer.as_ref().is_some_and(|layer| !layer.names_in(WORKLOADS).is_empty());
    if on_command_line && of_experiment {
        let message = "the experiment has workloads of its own (`[workloads.*]`), and the command line names others";
        return Err(Failure::input(message)
            .with_help("leave out --workload, --trace, --fio or --fio-args, or the experiment's"));
    }
    layers.extend(experiment.layer.clone());
    if let Some(name) = &common.workload {
        add(&mut layers, &argument(name), Path::new(""))?;
    }
    layers.extend(jobs.cloned());
    if let Some(path) = &common.trace {
        layers.push(workloads::trace_layer(path)?);
    }
    let options = workloads::ReaderOptions {
        format: common.format.as_deref(),
        columns: &common.columns,
        device: None,
        skip_bad: common.skip_bad,
    };
    layers.extend(options.layer()?);
    if !common.settings.is_empty() {
        layers.push(Layer::of_sets(&common.settings)?);
    }
    layers.extend(common.mode.map(layer_of_mode).transpose()?);
    let proposed = proposed.filter(|(at, _)| !layers[at + 1..].iter().any(workloads::cuts));
    Ok((layers, proposed.map(|(_, warmup)| warmup)))
}
