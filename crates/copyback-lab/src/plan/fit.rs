//! `--fit`: sizes a drive for a trace.
//!
//! `--fit SHARE` reads the trace once. It sets `geometry.blocks_per_plane` to the smallest number with which the trace
//! addresses at most this share of the capacity. With `workload.layout = "compact"`, the trace's footprint is compared
//! with the capacity, otherwise its highest address. Thresholds that are shares of a plane's blocks scale with it.

use super::{Plan, Planned};
use crate::failure::Failure;
use crate::{format, workloads};
use copyback::run::config::RunConfig;
use copyback_workload::spec::{Footprint as Part, Layout, WorkloadSpec};
use copyback_workload::stats::Footprint;
use copyback_workload::tenants::Tenants;
use std::collections::BTreeMap;

/// The argument of `--fit`.
#[derive(Clone, Copy, Debug)]
pub struct FitShare(f64);

impl std::str::FromStr for FitShare {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let share: f64 = text.parse().map_err(|_| format!("`{text}` is no number; write a share such as 0.9"))?;
        if share > 0.0 && share <= 1.0 {
            return Ok(Self(share));
        }
        let example = match (2.0..=100.0).contains(&share) {
            true => format!("for {share} per cent write {}", share / 100.0),
            false => "write for example 0.9".to_owned(),
        };
        Err(format!("a share is above 0 and at most 1; {example}"))
    }
}

impl std::fmt::Display for FitShare {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A very small number has hundreds of zeros.
        if self.0 < 1e-4 { write!(f, "{:e}", self.0) } else { write!(f, "{}", self.0) }
    }
}

/// Least ratio of addressed to used bytes at which a note suggests packing.
const SPARSE: u64 = 2;

/// A drive that was sized for a trace.
#[derive(Clone, Copy, Debug)]
pub struct Fitted {
    /// The requested share.
    pub share: FitShare,
    /// Bytes that the trace addresses.
    addressed_bytes: u64,
    /// Bytes of these that it reads or writes.
    used_bytes: u64,
    is_estimate: bool,
    /// Blocks of each plane of the fitted drive.
    pub blocks_per_plane: u32,
    /// Blocks of each plane before.
    blocks_before: u32,
    /// Whether several workloads, instead of a trace, determine the addressed bytes.
    is_of_several: bool,
    /// Whether `--requests` ends the run, perhaps before all of these are addressed.
    is_cut: bool,
}

impl Fitted {
    /// The setting with this number of blocks.
    pub fn set(&self) -> String {
        format!("geometry.blocks_per_plane={}", self.blocks_per_plane)
    }

    /// The note on the fitted drive.
    pub fn note(&self, planned: &Planned) -> String {
        let note = format!(
            "Note: --fit {} gave each plane {} blocks: {} {} of the drive's {}{}\n",
            self.share,
            format::count(self.blocks_per_plane.into()),
            match (self.is_of_several, self.is_cut) {
                (true, _) => "the workloads address",
                (false, true) => "the whole trace addresses",
                (false, false) => "the trace addresses",
            },
            format::size(self.addressed_bytes as f64),
            format::size(planned.addressed_bytes() as f64),
            if self.is_cut { "; --requests may end the run before all of that is addressed" } else { "" }
        );
        note + &self.note_of_gaps().unwrap_or_default()
    }

    /// The note that the trace uses few of its addresses.
    pub fn note_of_gaps(&self) -> Option<String> {
        let about = if self.is_estimate { "about " } else { "" };
        let used = format!("{about}{}", format::size(self.used_bytes as f64));
        (self.used_bytes.saturating_mul(SPARSE) <= self.addressed_bytes).then(|| {
            let packed = match self.is_of_several {
                true => "`layout = \"compact\"` in the table of its workload",
                false => "--set workload.layout=compact",
            };
            format!("      It uses {used} of that: with {packed}, a far smaller drive suffices\n")
        })
    }

    /// The note on the drives of several plans.
    pub fn note_of_all<'a>(plans: impl Iterator<Item = &'a Plan>) -> Option<String> {
        let all: Vec<(Self, &Planned)> = plans.filter_map(|plan| Some((plan.fitted?, plan.runs.first()?))).collect();
        let blocks = || all.iter().map(|(fitted, _)| fitted.blocks_per_plane);
        let (least, most) = (blocks().min()?, blocks().max()?);
        if least == most && all.iter().all(|(fitted, _)| fitted.addressed_bytes == all[0].0.addressed_bytes) {
            return Some(all[0].0.note(all[0].1));
        }
        let blocks = match least == most {
            true => format::count(least.into()),
            false => format!("{} to {}", format::count(least.into()), format::count(most.into())),
        };
        let share = all[0].0.share;
        let note = format!(
            "Note: --fit {share} gave each plane {blocks} blocks, so that each cell's trace addresses that share of \
             its drive\n"
        );
        let gaps = all.iter().find_map(|(fitted, _)| fitted.note_of_gaps()).unwrap_or_default();
        Some(note + &gaps.replacen("It uses", "One trace uses", 1).replacen("of that", "of what it addresses", 1))
    }

    /// The error if no drive has this size, with the help. `plan`: the plan before the drive was sized.
    pub fn refused(&self, failure: Failure, plan: &Plan) -> Failure {
        let addressed = format::size(self.addressed_bytes as f64);
        let blocks = format::counted(self.blocks_per_plane.into(), "block");
        let more = if self.blocks_per_plane == u32::MAX { " or more" } else { "" };
        let what = format!(
            "--fit {} for {} {addressed} makes {blocks}{more} in a plane",
            self.share,
            if self.is_of_several { "workloads that address" } else { "a trace that addresses" }
        );
        let share = self.possible_share(plan);
        let is_compact = plan.runs.iter().all(|run| run.resolved.workload.layout == Some(Layout::Compact));
        let closer = if is_compact { MORE_PLANES } else { CLOSER };
        let help = match (self.blocks_per_plane < self.blocks_before, share) {
            (true, share) => {
                let such = share.map(|share| format!(", for example to {share}")).unwrap_or_default();
                let fewer = fewer_planes(plan).map(|set| format!(" (--set {set}=1)")).unwrap_or_default();
                format!(
                    "lower the share of --fit{such}, which makes the drive larger; or take a drive with fewer \
                     planes{fewer}"
                )
            }
            (false, Some(share)) => format!("raise the share of --fit, for example to {share}, or {closer}"),
            (false, None) => format!("no share makes it small enough: {closer}"),
        };
        // The user did not type the number of blocks, so show no line.
        failure.of_run(&what).not_at_line(&self.set()).with_help(help)
    }

    /// The possible share that is nearest to the requested one, in two digits.
    fn possible_share(&self, plan: &Plan) -> Option<FitShare> {
        let is_possible = |blocks: u32| plan.runs.iter().all(|planned| is_possible(planned, blocks));
        let blocks_with = |share: FitShare| {
            let fitted = Self { share, ..*self };
            plan.runs.iter().map(|planned| least_blocks(planned, &fitted)).max().unwrap_or(0)
        };
        let share_with = |blocks: u32, round: fn(f64) -> f64| {
            let addressed = plan.runs.iter().filter_map(|planned| addressed_with(planned, blocks)).min()?;
            let share = two_digits(self.addressed_bytes as f64 / addressed as f64, round)?;
            (share.0 <= 1.0 && is_possible(blocks_with(share))).then_some(share)
        };
        if self.blocks_per_plane < self.blocks_before {
            return (self.blocks_per_plane + 1..=self.blocks_before)
                .filter(|blocks| is_possible(*blocks))
                .find_map(|blocks| share_with(blocks, f64::floor));
        }
        // Binary search between a number of blocks that is possible and one that is not.
        let (mut least, mut most) = (self.blocks_before, self.blocks_per_plane);
        while most - least > 1 {
            let middle = least + (most - least) / 2;
            if is_possible(middle) { least = middle } else { most = middle }
        }
        share_with(least, f64::ceil)
    }
}

/// The first count of the geometry above 1: setting it to 1 reduces the planes.
fn fewer_planes(plan: &Plan) -> Option<&'static str> {
    let geometry = &plan.runs.first()?.resolved.run.geometry;
    let counts = [
        ("geometry.channels", geometry.channels),
        ("geometry.chips_per_channel", geometry.chips_per_channel),
        ("geometry.dies_per_chip", geometry.dies_per_chip),
        ("geometry.planes_per_die", geometry.planes_per_die),
    ];
    counts.into_iter().find(|(_, count)| *count > 1).map(|(key, _)| key)
}

/// The help to make a drive smaller without a higher share.
const CLOSER: &str = "pack the used addresses (--set workload.layout=compact), or take a \
                      device with more planes";

/// The help if the addresses are packed.
const MORE_PLANES: &str = "take a device with more planes";

/// A share that is easily typed.
fn two_digits(share: f64, round: fn(f64) -> f64) -> Option<FitShare> {
    let exponent = share.log10().floor() - 1.0;
    let digits = round(share / 10_f64.powf(exponent));
    // Parsed from its text, the share is exactly the number that is shown; a product may differ in its last bit.
    format!("{digits}e{exponent}").parse().ok().map(FitShare)
}

/// Whether a run is possible on a drive with this many blocks in each plane.
fn is_possible(planned: &Planned, blocks: u32) -> bool {
    let with_blocks = |config: &RunConfig| {
        let mut config = config.clone();
        config.geometry.blocks_per_plane = blocks;
        config.check().is_ok()
    };
    with_blocks(&planned.resolved.run) && planned.members.iter().all(|member| with_blocks(&member.config))
}

/// The footprints of traces that were measured already, by how they are read.
pub type Footprints = BTreeMap<String, Footprint>;

/// Sizes the drives of a plan.
pub fn fitted(plan: &Plan, share: FitShare, known: &mut Footprints) -> Result<Fitted, Failure> {
    let Some(first) = plan.runs.first() else { return Err(Failure::input("--fit: there is nothing to run")) };
    plan.runs.iter().try_for_each(refuse_unscalable)?;
    let is_of_several = !first.resolved.tenants.is_empty();
    let Footprint { is_estimate, bytes: used_bytes, end_bytes: addressed_bytes } = match is_of_several {
        true => measured_of_several(&first.resolved.tenants, plan.seed, known)?,
        false => measured(&first.resolved.workload, plan.seed, known)?,
    };
    let blocks_before = first.resolved.run.geometry.blocks_per_plane;
    let mut fitted = Fitted {
        share,
        addressed_bytes,
        used_bytes,
        is_estimate,
        blocks_per_plane: 0,
        blocks_before,
        is_of_several,
        is_cut: plan.requests.is_some(),
    };
    // All runs are on drives of one size, or they could not be compared.
    for planned in &plan.runs {
        fitted.blocks_per_plane = fitted.blocks_per_plane.max(least_blocks(planned, &fitted));
    }
    Ok(fitted)
}

/// Refuses workloads without a size that a drive could be fitted to.
fn refuse_unscalable(planned: &Planned) -> Result<(), Failure> {
    let run = &planned.resolved.run;
    if planned.resolved.tenants.is_empty() && planned.resolved.workload.trace.is_none() {
        return Err(Failure::input("--fit sizes a drive for a trace, and this workload is generated for the drive")
            .with_help("remove --fit, or name a trace; `workload.footprint` is the addressed share"));
    }
    if let Some(logical) = run.capacity.logical {
        return Err(Failure::input(format!(
            "--fit sizes the drive, and `capacity.logical` has set its capacity to {logical}"
        ))
        .with_help("remove one of them: --set capacity.over_provisioning=0.15 makes the capacity a share"));
    }
    if planned.members.iter().any(|member| member.config.geometry != run.geometry) {
        return Err(Failure::input("--fit sizes equal drives, and the drives of this array differ")
            .with_help("remove --fit, or the array's overrides"));
    }
    Ok(())
}

/// The footprint of several workloads: the highest end of their regions in bytes, and of their traces.
fn measured_of_several(tenants: &Tenants, seed: u64, known: &mut Footprints) -> Result<Footprint, Failure> {
    let mut end_bytes = 0;
    for tenant in tenants.values() {
        let start = match tenant.settings.region_start {
            None => Some(0),
            Some(Part::Size(bytes)) => Some(bytes.0),
            Some(_) => None,
        };
        let size = match (tenant.settings.region_size, &tenant.spec.trace) {
            (Some(Part::Size(bytes)), _) => Some(bytes.0),
            (None, Some(_)) => Some(measured(&tenant.spec, seed, known)?.end_bytes),
            _ => None,
        };
        if let (Some(start), Some(size)) = (start, size) {
            end_bytes = start.saturating_add(size).max(end_bytes);
        }
    }
    if end_bytes == 0 {
        return Err(Failure::input(
            "--fit sizes a drive for addresses in bytes, and these workloads address shares of the drive",
        )
        .with_help("leave --fit out, or give a job size=BYTES (a workload `region_size`)"));
    }
    Ok(Footprint { is_estimate: false, bytes: end_bytes, end_bytes })
}

/// The footprint of a trace in its layout: up to the end of its addresses, and how much of that it uses.
fn measured(workload: &WorkloadSpec, seed: u64, known: &mut Footprints) -> Result<Footprint, Failure> {
    // Every pass has the same addresses.
    let once = WorkloadSpec { passes: None, ..workload.clone() };
    // The seed draws which requests of a trace are urgent, and no address.
    let key = format!("{once:?}");
    if let Some(footprint) = known.get(&key) {
        return Ok(*footprint);
    }
    let mut opened = workloads::open_source(&once, seed, u64::MAX)?;
    let footprint = Footprint::measure(&mut opened.source)?;
    known.insert(key, footprint);
    Ok(footprint)
}

/// The fewest blocks of a plane with which a drive is large enough. Capacity grows evenly with them, but for roundings.
fn least_blocks(planned: &Planned, fitted: &Fitted) -> u32 {
    let wanted_bytes = fitted.addressed_bytes as f64 / fitted.share.0;
    let per_block = planned.addressed_bytes() as f64 / f64::from(fitted.blocks_before);
    let estimate = (wanted_bytes / per_block).ceil().clamp(1.0, f64::from(u32::MAX));
    let mut blocks = estimate as u32;
    let is_enough = |blocks: u32| addressed_with(planned, blocks).map(|bytes| bytes as f64 >= wanted_bytes);
    while is_enough(blocks) == Some(false) {
        blocks += 1;
    }
    while is_enough(blocks - 1) == Some(true) {
        blocks -= 1;
    }
    blocks
}

/// Addressable bytes with this many blocks in each plane; `None` if no drive can have as many or as few.
fn addressed_with(planned: &Planned, blocks: u32) -> Option<u64> {
    let mut run = planned.resolved.run.clone();
    run.geometry.blocks_per_plane = blocks;
    run.geometry.check().ok()?;
    let mut members = planned.members.clone();
    members.iter_mut().for_each(|member| member.config.geometry.blocks_per_plane = blocks);
    Some(run.addressed_bytes(&members))
}
