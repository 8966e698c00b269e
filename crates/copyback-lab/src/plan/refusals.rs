//! Refuses choices that exclude each other, before a run.

use super::effects::{self, ModeSetting, OF_ONE_MODE};
use super::{Experiment, Planned};
use crate::advice;
use crate::failure::Failure;
use copyback::config::layers::{Layer, LayerError, Located};
use copyback::host::config::{HostMode, Target};
use copyback::run::Warmup;
use copyback::run::config::Resolved;
use std::collections::BTreeSet;

/// Refuses impossible numbers, and more than one source of the workload.
pub(super) fn refuse_impossible(chosen: &Experiment) -> Result<(), Failure> {
    let Experiment { workload, trace, fio, fio_args, seed, requests, .. } = chosen;
    let sources = [
        ("workload", workload.is_some()),
        ("trace", trace.is_some()),
        ("fio", fio.is_some()),
        ("fio_args", fio_args.is_some()),
    ];
    let named: Vec<&str> = sources.iter().filter(|(_, is_set)| *is_set).map(|(name, _)| *name).collect();
    if let [first, second, ..] = named[..] {
        let message = format!("`{first}` and `{second}` exclude each other: an experiment has one workload");
        return Err(Failure::input(message).with_help("leave one of them out"));
    }
    if let Some(seed) = seed.filter(|seed| i64::try_from(*seed).is_err()) {
        return Err(Failure::of_argument("seed", &seed.to_string(), format!("`seed` is {seed}, which is too large"))
            .with_help(format!("use a whole number up to {}", i64::MAX)));
    }
    if *requests == Some(0) {
        return Err(Failure::of_argument("requests", "0", "`requests` is 0, and a run measures at least one request")
            .with_help("use 1 or more"));
    }
    Ok(())
}

/// Refuses a warm-up that would last until the workload ends: without writes, a drive does not become steady.
pub(super) fn refuse_endless(warmup: Option<Warmup>, runs: &[Planned]) -> Result<(), Failure> {
    let is_endless = warmup == Some(Warmup::Steady) && runs.iter().any(|run| writes_nothing(&run.resolved));
    if !is_endless {
        return Ok(());
    }
    Err(Failure::input(
        "the warm-up `steady` would not end: the workload writes nothing, and a drive becomes steady \
                        only by writes",
    )
    .with_help(advice::SAY_HOW_LONG))
}

/// Whether none of its workloads writes.
fn writes_nothing(resolved: &Resolved) -> bool {
    match resolved.tenants.is_empty() {
        true => resolved.workload.writes_nothing(),
        false => resolved.tenants.values().all(|tenant| tenant.spec.writes_nothing()),
    }
}

/// Refuses `host.target = "drive"` if the workload names no drives: all requests would go to the first drive.
pub(super) fn refuse_unnamed_drives(runs: &[Planned]) -> Result<(), Failure> {
    let unnamed = |planned: &&Planned| {
        let (run, workload) = (&planned.resolved.run, &planned.resolved.workload);
        run.host.target == Target::Drive && workload.trace.is_none() && !workload.draws_drives()
    };
    if !runs.iter().any(|planned| unnamed(&planned)) {
        return Ok(());
    }
    Err(Failure::input("`host.target`: the workload names no drives, and all requests would go to the first")
        .with_help("remove it, or use a workload whose addresses are drawn per drive, such as hpc-w-skew-like"))
}

/// Refuses settings of the command line that no run uses. In files they are allowed: presets and printed configurations
/// have settings for both loops.
pub(super) fn refuse_without_effect(sets: &Layer, runs: &[Planned]) -> Result<(), Failure> {
    for ModeSetting { table, key, mode, .. } in OF_ONE_MODE {
        let Some(place) = sets.place_in(table, key) else { continue };
        // Each of several workloads has a loop of its own, for which the host's settings are defaults.
        let is_several = |planned: &Planned| !planned.resolved.tenants.is_empty();
        if runs.iter().any(|planned| planned.resolved.run.host.mode == *mode || is_several(planned)) {
            continue;
        }
        let has_times = runs.iter().any(|planned| planned.resolved.workload.has_times());
        let (is, help) = match mode {
            HostMode::Closed => (effects::loop_of(HostMode::Open), "closed"),
            HostMode::Open => (effects::loop_of(HostMode::Closed), "open"),
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

/// Refuses two schemes with one label: their results would look alike.
pub(super) fn refuse_repeated_schemes<'a>(
    schemes: impl Iterator<Item = (&'a str, &'a Located)>,
) -> Result<(), Failure> {
    let mut seen = BTreeSet::new();
    for (label, scheme) in schemes {
        if !seen.insert(label) {
            let error = LayerError::new(format!("scheme `{label}` is named twice"));
            return Err(error.with_help("name each scheme once").at(scheme.place.clone()).into());
        }
    }
    Ok(())
}
