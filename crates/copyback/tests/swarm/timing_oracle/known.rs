//! The oracle's knowledge, its predictions, and their number.

use super::Place;
use copyback::buffer::BufferConfig;
use copyback::dispatch::compose::{BuilderName, ComposeConfig, list};
use copyback::ftl::allocation::AllocationConfig;
use copyback::host::config::HostMode;
use copyback::observe::report::{GcEvent, Report};
use copyback::run::config::RunConfig;
use copyback::tasks::gc::destination::Destination;
use copyback::tasks::gc::granularity::{GranularityConfig, block};
use copyback::tasks::gc::trigger::{Scope, TriggerConfig, watermark};
use std::collections::HashMap;

/// What a drive holds before the first request.
pub struct Preconditioning {
    /// Where each unit's data is.
    pub place_of: HashMap<usize, Place>,
    /// The blocks of each plane.
    pub blocks: Vec<BlocksOfPlane>,
}

/// The blocks of a plane before the first request; no page is begun.
pub struct BlocksOfPlane {
    /// Erased, the next one to be opened first.
    pub free: Vec<usize>,
    /// Being filled, and the next page.
    pub open: [Option<(usize, usize)>; 2],
    /// Which of the open ones is set apart for paired programs.
    pub apart: Option<usize>,
    pub full: Vec<usize>,
}

/// The watermarks of the trigger; [`understands`] refuses every other trigger.
pub fn trigger_of(config: &RunConfig) -> &watermark::Params {
    config.trigger.watermarks()
}

/// The parameters of collections of single blocks; [`understands`] refuses every other granularity.
pub(super) fn granularity_of(config: &RunConfig) -> &block::Params {
    match &config.granularity {
        GranularityConfig::Block(params) => params,
        other => unreachable!("`understands` refuses `{}`", other.name()),
    }
}

/// The builders of commands.
pub(super) fn compose_of(config: &RunConfig) -> &list::Params {
    match &config.compose {
        ComposeConfig::List(params) => params,
    }
}

/// The key of the first setting that the oracle does not know, apart from those of collection.
fn unknown(config: &RunConfig) -> Option<&'static str> {
    let has_task = |task: &str| config.tasks.on().any(|(name, _)| name == task);
    let obstacles = [
        (!matches!(config.allocation, AllocationConfig::Static(_)), "allocation.policy"),
        (!matches!(config.trigger, TriggerConfig::Watermark(_)), "trigger.policy"),
        (!matches!(config.granularity, GranularityConfig::Block(_)), "granularity.policy"),
        (config.mapping.cache().is_some() || config.mapping.log_blocks().is_some(), "mapping.policy"),
        (config.preemption.as_task().is_some(), "preemption.policy"),
        (has_task("scrub"), "tasks.scrub"),
        (has_task("wear"), "tasks.wear"),
        (has_task("plugin"), "tasks.plugin"),
        (config.tasks.delays.is_some(), "tasks.delays"),
        (config.frontier.fill().is_some(), "frontier.fill_limit"),
        (config.admit.distinguishes_tasks(), "admit.policy"),
        (config.frontier.is_in_rows() || config.frontier.opens_twins(), "frontier.policy"),
        (config.frontier.keeps_hot_apart(), "frontier.hot_window"),
        (!matches!(config.buffer, BufferConfig::None(_)), "buffer.policy"),
        (compose_of(config).align != list::Align::None, "compose.align"),
        (!["priority", "fifo"].contains(&config.order.name()), "order.policy"),
    ];
    obstacles.into_iter().find(|(is_unknown, _)| *is_unknown).map(|(_, keys)| keys)
}

/// The key of the first setting with which a drive collects in a way that the oracle does not know.
fn unknown_of_collection(config: &RunConfig) -> Option<&'static str> {
    let trigger = trigger_of(config);
    let obstacles = [
        (!["none", "points", "suspend", "deadline"].contains(&config.preemption.name()), "preemption.policy"),
        (trigger.scope != Scope::Plane, "trigger.policy"),
        (trigger.idle.is_some(), "trigger.idle"),
        (granularity_of(config).destination != Destination::Local, "granularity.policy"),
    ];
    obstacles.into_iter().find(|(is_unknown, _)| *is_unknown).map(|(_, keys)| keys)
}

/// Whether the oracle knows what a drive with this configuration does, collection apart.
pub fn understands(config: &RunConfig) -> bool {
    unknown(config).is_none()
}

/// Whether it knows how the drive collects, too.
pub(super) fn knows_collection(config: &RunConfig) -> bool {
    unknown_of_collection(config).is_none()
}

/// The key of a setting with which the oracle predicts nothing, or only a drive that does not collect.
pub fn obstacle(config: &RunConfig) -> Option<&'static str> {
    unknown(config).or_else(|| unknown_of_collection(config))
}

/// The reason why the oracle cannot predict a drive whose collections share their dies with requests, if there is one.
pub fn obstacle_to_sharing(config: &RunConfig) -> Option<&'static str> {
    if let Some(keys) = obstacle(config) {
        return Some(keys);
    }
    if !config.preemption.lets_host_first() && compose_of(config).gc.is_empty() {
        return Some("preemption.policy");
    }
    match config.host.mode {
        HostMode::Open if config.host.outstanding_max == 1 => Some("host.outstanding_max"),
        HostMode::Closed if config.host.queue_depth == 1 => Some("host.queue_depth"),
        HostMode::Open | HostMode::Closed => None,
    }
}

/// Whether commands of the host may take other planes along.
fn has_partners(config: &RunConfig) -> bool {
    let compose = compose_of(config);
    compose.builders.contains(&BuilderName::MultiPlane)
        && config.commands.multi_plane
        && config.geometry.planes_per_die > 1
}

/// The oracle's prediction.
pub struct Prediction {
    /// When each request ends.
    pub end_ns: Vec<u64>,
    /// Collections, in the order of their ends.
    pub collections: Vec<GcEvent>,
    /// Whether collection was predicted, too.
    pub collects: bool,
    /// The work, as far as the report counts it.
    pub counts: Counts,
    pub of_kinds: Predicted,
    /// Most writes that stood in the queue of one plane.
    pub(super) queued_max: usize,
}

/// What the oracle's drive did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Of the host.
    pub page_reads: u64,
    /// Of the host.
    pub page_programs: u64,
    /// Commands of several planes.
    pub multi_plane: u64,
    /// Commands that followed another through the cache register.
    pub cached: u64,
    /// Queue polls that took time.
    pub polls: u64,
    /// Commands that went before a collection's next step.
    pub preemptions: u64,
    /// Steps of collections that a read suspended.
    pub suspensions: u64,
    /// Requests that were served with pages that collections moved.
    pub merged_reads: u64,
    pub merged_writes: u64,
    /// Pages of the host that shared a command with a collection's.
    pub reads_paired: u64,
    pub programs_paired: u64,
}

impl Counts {
    /// The counts of a drive's own report.
    pub fn of(report: &Report) -> Self {
        let flash = &report.flash;
        Self {
            page_reads: flash.host_page_reads,
            page_programs: flash.host_page_programs,
            multi_plane: flash.multi_plane_commands,
            cached: flash.cached_commands,
            polls: flash.queue_polls,
            preemptions: flash.preemptions,
            suspensions: flash.suspensions,
            merged_reads: flash.merged_reads,
            merged_writes: flash.merged_writes,
            reads_paired: flash.reads_paired_with_gc,
            programs_paired: flash.programs_paired_with_gc,
        }
    }
}

impl Prediction {
    /// Whether the run had only events that the oracle knows. If the oracle does not know how the drive collects, the
    /// run must have no collections, or only some in zero time that no response time shows, and no write may have
    /// waited for a page.
    pub fn counts_for(&self, config: &RunConfig, report: &Report) -> bool {
        if self.collects {
            return true;
        }
        let g = &config.geometry;
        let is_uniform = config.timing.read.list().len() == 1 && config.timing.program.list().len() == 1;
        let (no_collections, whole_pages) = (report.gc.collections == 0, g.units_per_page() == 1);
        let moves_do_not_show =
            no_collections || (report.gc.die_time_ns == 0 && whole_pages && is_uniform && !has_partners(config));
        // One free block is kept for moves; the others are what queued writes may count on, at least.
        let pages_left = report.min_free_blocks.saturating_sub(1) as usize * g.pages_per_block as usize;
        moves_do_not_show && self.queued_max < pages_left
    }
}

/// The number of predicted events of each kind.
#[derive(Clone, Copy, Debug, Default)]
pub struct Predicted {
    /// Commands of several planes.
    pub multi_plane: u64,
    /// Commands through the cache register.
    pub cached: u64,
    /// Collections.
    pub collections: u64,
    /// Collections that were preempted.
    pub preempted: u64,
    /// Commands that followed another one through the cache register during a collection on the die.
    pub pipelined: u64,
    /// Collections whose commands included requests.
    pub paired: u64,
    /// Requests that were served with moved pages.
    pub merged: u64,
    /// Steps of collections that reads suspended.
    pub suspended: u64,
}

impl Predicted {
    fn list(&self) -> [(&'static str, u64); KINDS] {
        [
            ("commands of several planes", self.multi_plane),
            ("cached commands", self.cached),
            ("collections", self.collections),
            ("preempted collections", self.preempted),
            ("pipelined commands", self.pipelined),
            ("paired collections", self.paired),
            ("merged requests", self.merged),
            ("suspensions", self.suspended),
        ]
    }
}

const KINDS: usize = 8;

/// The sums over many cases: for each kind, the number of cases with any, and the total.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timed {
    cases: u64,
    kinds: [(u64, u64); KINDS],
}

impl Timed {
    /// Adds another predicted case.
    pub fn add(&mut self, predicted: Predicted) {
        self.cases += 1;
        for ((cases, sum), (_, count)) in self.kinds.iter_mut().zip(predicted.list()) {
            *cases += u64::from(count > 0);
            *sum += count;
        }
    }

    /// Adds those of another.
    pub fn merge(&mut self, other: &Self) {
        self.cases += other.cases;
        for ((cases, sum), (more_cases, more)) in self.kinds.iter_mut().zip(&other.kinds) {
            *cases += more_cases;
            *sum += more;
        }
    }

    /// How many cases were predicted.
    pub fn cases(&self) -> u64 {
        self.cases
    }

    /// Whether the oracle has predicted enough of each kind in a short swarm.
    pub fn is_enough(&self) -> bool {
        self.kinds.iter().all(|&(cases, sum)| cases > 5 && sum > 50)
    }
}

impl std::fmt::Display for Timed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} timed to the nanosecond by a naive oracle", self.cases)?;
        let kinds = self.kinds.iter().zip(Predicted::default().list());
        kinds.into_iter().try_for_each(|((cases, sum), (name, _))| write!(f, ", {sum} {name} in {cases}"))
    }
}
