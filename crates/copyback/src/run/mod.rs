//! One run from configuration to report.

pub mod arrays;
mod combinations;
pub mod config;
mod layered;
mod log_blocks;
pub mod memory;
mod outcome;
pub mod overload;
pub mod policies;
pub mod precondition;
pub mod preconditioning;
mod redundancy;
pub mod simulation;
mod sizes;
mod tasks;
pub mod warmup;

use crate::buffer;
use crate::config::plugins::Fault;
use crate::config::{Device, KeyError};
use crate::ftl::FtlConfig;
use crate::ftl::core::{Counts, Ftl, PackedFtl};
use crate::observe::commands::CommandFilter;
use crate::observe::microscope::Focus;
use crate::observe::report::{Outcome, Report};
use crate::run::config::RunConfig;
use crate::run::precondition::PreconditionConfig;
use crate::sim::invariant::Invariant;
use copyback_workload::RequestSource;
use copyback_workload::tenants::OpenedTenant;
use copyback_workload::units::exact_time;
pub use preconditioning::Work;
use simulation::{Setup, Simulation};
use std::any::Any;

pub use crate::host::TRANSACTIONS_MAX;
pub use outcome::of as outcome_of;
pub use warmup::Warmup;

/// The options of a run beyond its configuration.
#[derive(Clone, Debug)]
pub struct Options {
    /// Seed of all random streams.
    pub seed: u64,
    /// Stop after this many requests; requests of a warm-up are not counted.
    pub requests: Option<u64>,
    /// The part that is simulated first, and not measured.
    pub warmup: Option<Warmup>,
    /// Check every invariant, and versions of all data, while running.
    pub check: bool,
    /// Keep a record of every collection.
    pub keep_gc_events: bool,
    /// Keep a record of every request.
    pub keep_requests: bool,
    /// Keep a record of these flash commands.
    pub keep_commands: Option<CommandFilter>,
    /// Keep rates of reads, writes and trims over intervals of 500 ms.
    pub keep_rates: bool,
    /// Keep the response time of every request, to match it with another run's; eight bytes each.
    pub keep_responses: bool,
    /// Record an array in detail for a time window; nothing without an array.
    pub microscope: Option<Focus>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seed: 1,
            requests: None,
            warmup: None,
            check: false,
            keep_gc_events: false,
            keep_requests: false,
            keep_commands: None,
            keep_rates: false,
            keep_responses: false,
            microscope: None,
        }
    }
}

/// How far a run is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Simulated time.
    pub now_ns: u64,
    /// Requests done.
    pub requests_done: u64,
    /// Flash page reads and programs done, for the host and for collection.
    pub page_operations: u64,
}

/// Why a run ended without a report.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The configuration makes no sense.
    #[error(transparent)]
    Config(#[from] KeyError),
    /// The workload cannot be read.
    #[error("{0}")]
    Workload(copyback_workload::Error),
    /// A request does not fit its target: the drive, or the volume of an array.
    #[error(
        "request {index} ({op} of {len_bytes} bytes at byte {offset_bytes}) ends beyond the {capacity_bytes} bytes of \
         its target (a drive or a volume)"
    )]
    BeyondCapacity {
        /// Its number, from 0.
        index: u64,
        /// Its operation.
        op: &'static str,
        /// Its first byte.
        offset_bytes: u64,
        /// Its length.
        len_bytes: u64,
        /// The capacity of the drive or volume.
        capacity_bytes: u64,
    },
    /// A request names a drive that the run has not.
    #[error("request {index} is for device {device}, but the run has {drives} drives, numbered from 0")]
    NoSuchDrive {
        /// Its number, from 0.
        index: u64,
        /// The number of the drive that it names.
        device: u32,
        /// The number of drives of the run.
        drives: usize,
    },
    /// A request arrives so late that later times cannot be represented.
    #[error(
        "request {index} arrives at {}, beyond the {} (292 years) that a run may last",
        time(.arrival_ns),
        time(&simulation::ARRIVAL_MAX_NS)
    )]
    TooLate {
        /// Its number, from 0.
        index: u64,
        /// When it arrives.
        arrival_ns: u64,
    },
    /// The workload holds no request.
    #[error("the workload holds no request")]
    Empty,
    /// A caller stopped it: see [`stop`].
    #[error("the run was stopped")]
    Stopped,
    /// A supplied policy gave an invalid answer.
    #[error("{0}")]
    Plugin(Fault),
    /// The workload ended before the warm-up did: nothing is left to be measured.
    #[error("{0}")]
    WarmupUnfinished(warmup::Unfinished),
    /// Requests wait for collections that are never admitted.
    #[error(
        "the run cannot end: {} at {} for collections, which have no share of the slots \
         (`admit.shares.gc = 0`) and no guard (`admit.guard = 0`)",
        waiting(.requests),
        time(.at_ns)
    )]
    CollectionKeptOut {
        /// How many wait.
        requests: u64,
        /// Simulated time.
        at_ns: u64,
    },
    /// An invariant broke: a defect of the simulator or of a policy.
    #[error("invariant broken{}: {what}", at(.at_ns))]
    Invariant {
        /// The invariant, if it has a name.
        invariant: Option<Invariant>,
        /// Its name, and how it is broken.
        what: String,
        /// Simulated time, if the clock was running.
        at_ns: Option<u64>,
    },
}

fn waiting(requests: &u64) -> String {
    let verb = if *requests == 1 { "waits" } else { "wait" };
    format!("{} {verb}", copyback_workload::units::counted(*requests, "request"))
}

fn time(ns: &u64) -> String {
    exact_time(*ns)
}

fn at(at_ns: &Option<u64>) -> String {
    at_ns.map_or_else(String::new, |ns| format!(" at {}", exact_time(ns)))
}

/// A preconditioned drive, made once and cloned for every scheme of a comparison.
#[derive(Clone)]
pub struct Image {
    /// What it depends on ([`image_key`]).
    key: String,
    ftl: Ftl,
    preconditioning: Counts,
}

impl Image {
    /// Write amplification of the preconditioning, and host units written by it.
    pub fn preconditioning(&self) -> Counts {
        self.preconditioning
    }
}

impl Image {
    /// The drive in some 40 % of its memory, to be kept for later runs.
    pub fn pack(self) -> PackedImage {
        PackedImage { key: self.key, ftl: self.ftl.pack(), preconditioning: self.preconditioning }
    }
}

/// A preconditioned drive that takes some 40 % of the memory ([`Image::pack`]).
pub struct PackedImage {
    key: String,
    ftl: PackedFtl,
    preconditioning: Counts,
}

impl PackedImage {
    /// A drive for a run.
    pub fn unpack(&self) -> Image {
        Image { key: self.key.clone(), ftl: self.ftl.unpack(), preconditioning: self.preconditioning }
    }
}

/// Makes a drive and preconditions it. Configurations with the same [`image_key`] may share one image.
pub fn precondition(config: &RunConfig, seed: u64) -> Result<Image, RunError> {
    precondition_with_progress(config, seed, &mut |_| {})
}

/// As [`precondition()`]; `progress` receives the completed work and an estimate of the rest, some ten times a second.
pub fn precondition_with_progress(
    config: &RunConfig,
    seed: u64,
    progress: &mut dyn FnMut(Work),
) -> Result<Image, RunError> {
    config.check()?;
    let ftl = guarded(|| preconditioning::preconditioned_with_progress(config, seed, progress).map_err(RunError::from))
        .map_err(|broken| broken.at(None))??;
    Ok(Image { key: image_key(config), preconditioning: ftl.counts(), ftl })
}

/// What an image depends on: two configurations with equal keys have the same drive. If preconditioning collects
/// nothing, the trigger is not part of the key.
pub fn image_key(config: &RunConfig) -> String {
    // Destructured, so that a new field of either must state whether a drive depends on it.
    let FtlConfig { device, mapping, allocation, frontier, victim, redundancy, free_order } = config.ftl();
    let Device { geometry, timing: _, capacity, commands: _ } = device;
    let collects = !matches!(config.precondition, PreconditionConfig::Empty {} | PreconditionConfig::Aged { .. });
    let collecting = collects.then(|| (&config.trigger, preconditioning::Pads::of(config)));
    let of_ftl = (geometry, capacity, mapping, allocation, frontier, victim, redundancy.has_parity(), free_order);
    format!("{of_ftl:?} {collecting:?} {:?}", config.precondition)
}

/// Drives of a run, each with its preconditioned image, as [`RunConfig::members`] lists them.
pub type Drives<'a> = Vec<(&'a RunConfig, Image)>;

/// Runs a workload on a drive. `progress` is called now and then, a few times a second.
///
/// # Errors
/// If the workload cannot be read or ends before the warm-up, a request does not fit the drive, or an invariant broke.
///
/// # Panics
/// If the image is of a configuration with another [`image_key`].
pub fn simulate(
    config: &RunConfig,
    image: Image,
    source: Box<dyn RequestSource + Send>,
    options: &Options,
    progress: &mut dyn FnMut(Progress),
) -> Result<Outcome, RunError> {
    simulate_drives(config, vec![(config, image)], source, options, progress)
}

/// Runs a workload on all drives of an array, or on the only drive. The host, the array and the measurement are
/// configured by `config`; each drive is configured by its own configuration.
///
/// # Errors
/// As those of [`simulate`].
///
/// # Panics
/// As [`simulate`], and if the drives are not those of the array.
pub fn simulate_drives(
    config: &RunConfig,
    drives: Drives<'_>,
    source: Box<dyn RequestSource + Send>,
    options: &Options,
    progress: &mut dyn FnMut(Progress),
) -> Result<Outcome, RunError> {
    simulate_streams(config, drives, RequestStreams::One(source), options, progress)
}

/// The requests to the drives of a run.
pub enum RequestStreams {
    /// One workload.
    One(Box<dyn RequestSource + Send>),
    /// Several, which share the drives' addresses and time.
    Several(Vec<OpenedTenant>),
}

impl RequestStreams {
    /// The source of a single workload and no streams, or an empty source and the streams of several workloads.
    fn parts(self) -> (Box<dyn RequestSource + Send>, Option<Vec<OpenedTenant>>) {
        match self {
            Self::One(source) => (source, None),
            Self::Several(streams) => (Box::new(Vec::new().into_iter()), Some(streams)),
        }
    }
}

/// Simulates drives as [`simulate_drives`] does, with one workload or several.
///
/// # Errors
/// As those of [`simulate`].
///
/// # Panics
/// As [`simulate_drives`].
pub fn simulate_streams(
    config: &RunConfig,
    drives: Drives<'_>,
    streams: RequestStreams,
    options: &Options,
    progress: &mut dyn FnMut(Progress),
) -> Result<Outcome, RunError> {
    let (mut source, streams) = streams.parts();
    let preconditioning = drives.iter().fold(Counts::default(), |sum, (_, image)| sum.and(&image.preconditioning));
    let mut simulation = while_made(|| new_simulation(config, drives, &mut *source, streams, options))?;
    let ran = guarded(|| simulation.run(progress));
    ran.map_err(|broken| broken.at(Some(simulation.now_ns())))??;
    let end_ns = simulation.now_ns();
    let warmup_end_ns = simulation.start_of_measures().now_ns;
    let postponed = simulation.postponed_share();
    let of_tenants = simulation.tenant_notes();
    let of_partial_updates = config.host.note_of_partial_updates(simulation.has_partial_updates());
    let was_idle = simulation.was_buffer_idle();
    let was_full = simulation.has_filled_buffer();
    let of_scans = config.compose.notes_of_scans([simulation.longest_search(), simulation.peak_transactions()]);
    // After a warm-up, it is not known which limits the warm-up reached.
    let is_known = simulation.start_of_measures().requests == 0;
    let peak = simulation.peak_outstanding();
    let of_limits = config.host.note_of_limits(peak, !simulation.has_tenants()).filter(|_| is_known);
    let mut outcome = outcome::of(simulation, preconditioning);
    outcome.notes.extend(note_of_postponed(postponed));
    if let (Some(array), Some(own)) = (&config.array, outcome.report.array.as_ref().filter(|_| is_known)) {
        outcome.notes.extend(array.notes_without_effect(&own.volume));
    }
    outcome.notes.splice(0..0, source.notes().into_iter().chain(of_tenants));
    outcome.notes.extend(config.notes_of_merges());
    outcome.notes.extend(config.notes_of_sizes());
    outcome.notes.extend(config.note_of_shares(&outcome.series));
    outcome.notes.extend(config.measure.notes(end_ns, warmup_end_ns));
    outcome.notes.extend(note_of_buffer(config, &outcome.report));
    outcome.notes.extend(note_of_idle_time(config, was_idle));
    outcome.notes.extend(notes_of_full_buffer(config, was_full).into_iter().chain(of_scans));
    let response = &outcome.report.response;
    let of_small_reads = config.measure.note_of_small_reads(response.read.count, response.small_read.count);
    outcome.notes.extend(of_small_reads.into_iter().chain(of_partial_updates).chain(of_limits));
    Ok(outcome)
}

/// Least share of programs after the end of the host that a note reports.
const POSTPONED_MIN: f64 = 0.05;

/// The note that collections were deferred beyond the last request.
fn note_of_postponed(share: f64) -> Option<String> {
    (share > POSTPONED_MIN).then(|| {
        format!(
            "programs after the last request: {:.1} % of the programs before it; drives had postponed this work; write \
             amplification excludes it, erases include it, and its share is smaller in a longer run",
            100.0 * share
        )
    })
}

/// The note that no request had the buffer's latency: reads of units without data do not have it.
fn note_of_buffer(config: &RunConfig, report: &Report) -> Option<String> {
    let usual_ns = buffer::lru::Params::default().latency.0;
    let is_set = config.buffer.latency_ns().is_some_and(|latency_ns| latency_ns != usual_ns);
    let is_paid = report.units_written > 0 || report.units_read > report.unwritten_units_read;
    (is_set && !is_paid)
        .then(|| "`buffer.latency` has no effect: no request wrote, and no read found written data".to_owned())
}

/// Notes that no buffer was ever full.
fn notes_of_full_buffer(config: &RunConfig, was_full: bool) -> Vec<String> {
    let is_set = [("size", !config.buffer.has_default_size()), ("low_water", config.buffer.low_water() < 1.0)];
    let unused = is_set.into_iter().filter(|(_, is_set)| *is_set && !was_full);
    unused.map(|(key, _)| format!("`buffer.{key}` has no effect: no buffer was ever full")).collect()
}

/// The note that no drive with a buffer was idle for `buffer.idle_after`.
fn note_of_idle_time(config: &RunConfig, was_idle: bool) -> Option<String> {
    let after = config.buffer.idle_after().filter(|_| !was_idle)?;
    let after = exact_time(after.0);
    Some(format!("`buffer.idle_after` has no effect: no drive was without a request for {after}"))
}

/// Runs a workload until its warm-up ends, and returns the number of the first request that would be measured. In a
/// comparison with different numbers, the largest is the warm-up of all schemes.
///
/// # Errors
/// As those of [`simulate`].
pub fn warmup_end(
    config: &RunConfig,
    drives: Drives<'_>,
    source: Box<dyn RequestSource + Send>,
    options: &Options,
    progress: &mut dyn FnMut(Progress),
) -> Result<u64, RunError> {
    warmup_end_of(config, drives, RequestStreams::One(source), options, progress)
}

/// The result of [`warmup_end`], for one workload or several.
///
/// # Errors
/// As those of [`simulate`].
pub fn warmup_end_of(
    config: &RunConfig,
    drives: Drives<'_>,
    streams: RequestStreams,
    options: &Options,
    progress: &mut dyn FnMut(Progress),
) -> Result<u64, RunError> {
    let (mut source, streams) = streams.parts();
    let mut simulation = while_made(|| new_simulation(config, drives, &mut *source, streams, options))?;
    let ran = guarded(|| simulation.run_warmup(progress));
    ran.map_err(|broken| broken.at(Some(simulation.now_ns())))?
}

/// Checks a configuration and its drives, and makes their simulation with all options.
fn new_simulation<'a>(
    config: &RunConfig,
    drives: Drives<'_>,
    source: &'a mut dyn RequestSource,
    streams: Option<Vec<OpenedTenant>>,
    options: &Options,
) -> Result<Simulation<'a>, RunError> {
    config.check()?;
    for (drive, image) in &drives {
        assert_eq!(image.key, image_key(drive), "the image is that of another drive");
    }
    config.check_drives(drives.iter().map(|(drive, _)| *drive))?;
    let setup = Setup {
        host: config.host.clone(),
        source,
        requests: options.requests,
        check: options.check,
        keep_gc_events: options.keep_gc_events,
        keep_requests: options.keep_requests,
    };
    let ftls = drives.into_iter().map(|(drive, image)| (drive, image.ftl)).collect();
    let mut simulation = Simulation::new(ftls, setup);
    if let Some(array) = config.array_or_alone() {
        simulation.form_array(&array, &config.coordination);
    }
    if let Some(filter) = options.keep_commands {
        simulation.keep_commands(filter);
    }
    simulation.measure(&config.measure);
    simulation.collector.keep(options.keep_responses, options.keep_rates);
    streams.into_iter().for_each(|streams| simulation.set_workloads(streams));
    options.warmup.iter().for_each(|warmup| simulation.warm_up(*warmup));
    options.microscope.iter().for_each(|focus| simulation.record_window(*focus));
    Ok(simulation)
}

/// The payload with which [`stop`] unwinds.
struct Stopped;

/// Ends a run from a progress callback, or from a source of its requests: the run returns [`RunError::Stopped`]. Only
/// these may call it.
pub fn stop() -> ! {
    // No panic: no defect is reported.
    std::panic::resume_unwind(Box::new(Stopped))
}

/// Whether what was caught by `catch_unwind` comes from [`stop`].
pub fn is_stop(caught: &(dyn Any + Send)) -> bool {
    caught.is::<Stopped>()
}

/// Why a run unwound.
enum Broken {
    /// The message of a panic.
    Panic(String),
    Stopped,
    Plugin(Fault),
}

impl Broken {
    fn at(self, at_ns: Option<u64>) -> RunError {
        match self {
            Self::Panic(what) => RunError::Invariant { invariant: Invariant::named_in(&what), what, at_ns },
            Self::Stopped => RunError::Stopped,
            Self::Plugin(fault) => RunError::Plugin(fault),
        }
    }
}

/// Converts a stop, or a mistake of a supplied policy, to an error while the run is made. Other panics go on.
fn while_made<T>(work: impl FnOnce() -> Result<T, RunError>) -> Result<T, RunError> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        if is_stop(&*panic) {
            return Err(RunError::Stopped);
        }
        match panic.downcast_ref::<Fault>() {
            Some(fault) => Err(RunError::Plugin(fault.clone())),
            None => std::panic::resume_unwind(panic),
        }
    })
}

/// Catches a broken invariant, which the engine reports by a panic.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Broken> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).map_err(|panic| {
        if is_stop(&*panic) {
            return Broken::Stopped;
        }
        if let Some(fault) = panic.downcast_ref::<Fault>() {
            return Broken::Plugin(fault.clone());
        }
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()));
        Broken::Panic(text.unwrap_or_else(|| "one without a name".to_owned()))
    })
}
