//! Plans of the cells of sweeps.

use super::effects::overridden;
use super::fit::{FitShare, Footprints};
use super::layers::Layers;
use super::load::{DEVICE, SCHEME, load};
use super::overrides::resolve_overrides;
use super::refusals::{refuse_endless, refuse_repeated_schemes, refuse_unnamed_drives};
use super::{Plan, fit_drive, planned};
use crate::failure::Failure;
use crate::files::Input;
use crate::fio::Jobs;
use crate::policies::Policies;
use crate::workloads;
use copyback::config::layers::{Layer, LayerError, Located, TextSpan};
use copyback::run::Warmup;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// All choices of a cell of a sweep. Paths are relative to `folder`.
#[derive(Clone)]
pub struct CellChoice<'a> {
    /// The device.
    pub device: &'a Located,
    /// The schemes.
    pub schemes: Vec<ChosenScheme<'a>>,
    /// The workload.
    pub workload: &'a ChosenWorkload,
    /// Folder of the file that makes the choices.
    pub folder: &'a Path,
    /// Settings that override the choices above; later ones replace earlier ones.
    pub sets: Vec<NamedSet>,
    /// Policies of the calling program that settings may name.
    pub policies: &'a Policies,
    /// The share of the drive that the workload's trace is to take; the drive is scaled to it.
    pub fit: Option<FitShare>,
    /// Seed of all runs.
    pub seed: u64,
    /// The number of requests after which runs stop; requests of a warm-up are not counted.
    pub requests: Option<u64>,
    /// The warm-up that results exclude.
    pub warmup: Option<Warmup>,
}

/// A scheme of a comparison, as it is or with settings of its own.
#[derive(Clone)]
pub struct ChosenScheme<'a> {
    /// Its name in results.
    pub label: String,
    /// The preset or file.
    pub scheme: &'a Located,
    /// Settings of this scheme alone, over all others.
    pub sets: Vec<NamedSet>,
}

/// A setting as `--set` takes it, and the name of its source in notes.
#[derive(Clone, Debug)]
pub struct NamedSet {
    /// The table of the file that has it, or `--set`.
    pub name: String,
    /// The setting.
    pub argument: String,
}

impl NamedSet {
    /// A setting of the command line.
    pub fn of_command_line(argument: String) -> Self {
        Self { name: "--set".to_owned(), argument }
    }

    fn layer(all: &[Self]) -> Result<Layer, LayerError> {
        let is_replaced = |set: &Self, later: &Self| {
            later.name != set.name && replaces_share_of_reads(&later.argument, &set.argument)
        };
        let in_force =
            all.iter().enumerate().filter(|(at, set)| !all[at + 1..].iter().any(|later| is_replaced(set, later)));
        Layer::of_named_sets(in_force.map(|(_, set)| (set.name.as_str(), set.argument.as_str())))
    }
}

/// Keys that determine a workload's share of reads: a workload has one of them.
const READS_KEYS: [&str; 2] = ["read_share", "read_arrivals"];

/// Whether a setting determines a workload's share of reads by another key than an earlier setting does.
pub fn replaces_share_of_reads(later: &str, before: &str) -> bool {
    let both = table_and_key(later).zip(table_and_key(before));
    both.is_some_and(|((table, key), (table_before, before))| table == table_before && key != before)
}

/// The table of a workload and the key, if the setting determines the share of reads.
fn table_and_key(argument: &str) -> Option<(&str, &str)> {
    let path = argument.split('=').next().unwrap_or_default().trim();
    let start = READS_KEYS.iter().find_map(|key| path.find(&format!(".{key}")))?;
    let key = path[start + 1..].split('.').next().unwrap_or_default();
    Some((&path[..start], key))
}

/// A workload by its name, or a trace.
pub enum ChosenWorkload {
    /// Settings define it; results call it by this name.
    Settings(String),
    /// A preset or a TOML file.
    Named(Located),
    /// A trace, and the place of its name.
    Trace(PathBuf, Option<TextSpan>),
}

/// Measures of traces: each trace is read once for all cells that replay it.
#[derive(Default)]
pub struct KnownTraces {
    hashes: BTreeMap<PathBuf, String>,
    footprints: Footprints,
}

/// Makes the plan of one choice.
pub fn fitted_plan_of_cell(choice: &CellChoice<'_>, known: &mut KnownTraces) -> Result<Plan, Failure> {
    let KnownTraces { hashes, footprints } = known;
    let plan = plan_of_cell(choice, hashes)?;
    let Some(share) = choice.fit else { return Ok(plan) };
    fit_drive(&plan, share, footprints, |set| {
        let mut choice = choice.clone();
        choice.sets.push(NamedSet::of_command_line(set));
        plan_of_cell(&choice, hashes)
    })
}

/// The plan with the drive that the choices describe.
fn plan_of_cell(choice: &CellChoice<'_>, hashes: &mut BTreeMap<PathBuf, String>) -> Result<Plan, Failure> {
    let mut inputs = Vec::new();
    let device = load(&DEVICE, choice.device, choice.folder, &mut inputs)?;
    refuse_repeated_schemes(choice.schemes.iter().map(|chosen| (chosen.label.as_str(), chosen.scheme)))?;
    let (workload, proposed) = match choice.workload {
        ChosenWorkload::Named(name) => {
            let loaded = workloads::load(name, choice.folder, &mut inputs)?;
            (Some(loaded.layer), loaded.warmup)
        }
        ChosenWorkload::Trace(path, place) => {
            (Some(workloads::trace_layer(path).map_err(|f| f.at(place.clone()))?), None)
        }
        ChosenWorkload::Settings(_) => (None, None),
    };
    let mut sets = NamedSet::layer(&choice.sets)?;
    resolve_overrides(&mut sets, choice.folder);
    let is_whole = choice.requests.is_none() && !workloads::cuts(&sets);
    let warmup = choice.warmup.or(proposed.filter(|_| is_whole));
    let mut runs = Vec::new();
    for chosen in &choice.schemes {
        let layer = load(&SCHEME, chosen.scheme, choice.folder, &mut inputs)?;
        let overridden = overridden(&layer, std::slice::from_ref(&sets));
        let mut own = NamedSet::layer(&chosen.sets)?;
        resolve_overrides(&mut own, choice.folder);
        let sets = vec![sets.clone(), own];
        let (device, above) = (Some(device.clone()), workload.iter().cloned().collect());
        let layers = Layers { device, scheme: layer, above, sets, policies: choice.policies };
        let names = (chosen.label.clone(), chosen.label.clone());
        runs.push(planned(&layers, names, overridden, (choice.seed, choice.schemes.len() == 1), &mut inputs)?);
    }
    for (_, trace) in runs.first().iter().flat_map(|run| workloads::traces(&run.resolved)) {
        let hash = match hashes.get(trace) {
            Some(hash) => hash.clone(),
            None => workloads::hash_trace(trace)?,
        };
        hashes.insert(trace.to_path_buf(), hash.clone());
        inputs.push(Input::trace(trace.to_path_buf(), hash));
    }
    refuse_endless(warmup, &runs)?;
    refuse_unnamed_drives(&runs)?;
    let (seed, requests, jobs, notes) = (choice.seed, choice.requests, Jobs::default(), Vec::new());
    Ok(Plan { name: None, runs, seed, requests, warmup, inputs, jobs, notes, fitted: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(sets: &[(&str, &str)]) -> Layer {
        let set = |(name, argument): &(&str, &str)| NamedSet { name: (*name).into(), argument: (*argument).into() };
        NamedSet::layer(&sets.iter().map(set).collect::<Vec<_>>()).expect("settings")
    }

    /// A later source replaces `read_share` by `read_arrivals`, and the other way round. Of one source, both keys stay.
    #[test]
    fn a_later_source_says_how_many_requests_read() {
        let share = ("case", "workload.read_share=0.3");
        let arrivals = ("--set", "workload.read_arrivals.kind=\"poisson\"");
        let keys = |sets: &[_]| ["read_share", "read_arrivals"].map(|key| layer(sets).has_key("workload", key));
        assert_eq!(keys(&[share, arrivals]), [false, true]);
        assert_eq!(keys(&[arrivals, share]), [true, false]);
        assert_eq!(keys(&[share, ("case", arrivals.1)]), [true, true]);
        assert_eq!(keys(&[("case", "workloads.a.read_share=0.3"), arrivals]), [false, true]);
        assert!(layer(&[("case", "workloads.a.read_share=0.3"), arrivals]).has_key("workloads", "a"));
    }
}
