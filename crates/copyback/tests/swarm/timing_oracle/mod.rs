//! When does each request end, by a simulator that is too simple to be wrong?
//!
//! The oracle keeps plain lists, looks through all of them for what comes next, and shares nothing with the engine: it
//! gets the configuration, where each unit's data lies at first, and the requests, and says when each of them ends, to
//! the nanosecond. It follows what `docs/fidelity.md` and `docs/architecture.md` state. What it does not know it refuses
//! ([`understands`]): dynamic allocation and buffers.
//!
//! On a drive that was new at first, planes collect by themselves and block their dies: the oracle is told which blocks
//! were collected, as victims are the policies' own, and foretells when ([`collection`]). On other drives collection must
//! not have happened, or have taken no time ([`Prediction::counts_for`]).

mod collection;
mod commands;
mod dies;
mod requests;

use collection::{Job, Plane};
use commands::{Channel, Command, Stage};
use copyback::background::gc::trigger::TriggerConfig;
use copyback::background::gc::trigger::watermark::Scope;
use copyback::background::gc::r#yield::YieldConfig;
use copyback::buffer::BufferConfig;
use copyback::config::host::HostMode;
use copyback::config::{PreconditionConfig, RunConfig};
use copyback::controller::compose::ComposeConfig;
use copyback::controller::compose::list::BuilderName;
use copyback::ftl::allocation::AllocationConfig;
use copyback::ftl::frontier::FrontierConfig;
use copyback::ftl::unit::UnitConfig;
use copyback::ftl::unit::block::Destination;
use copyback::ftl::victim::VictimConfig;
use copyback::metrics::report::{GcEvent, Report};
use copyback::workload::Request;
use std::collections::HashMap;

/// Where a unit's data is. Blocks count inside their plane, pages inside their block, slots inside their page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub plane: usize,
    pub block: usize,
    pub page: usize,
    pub slot: usize,
}

impl Place {
    fn is_in_page_of(self, other: Self) -> bool {
        (self.plane, self.block, self.page) == (other.plane, other.block, other.page)
    }
}

/// Whether the oracle knows what a drive with this configuration does, collection apart.
pub fn understands(config: &RunConfig) -> bool {
    matches!(config.allocation, AllocationConfig::Static(_)) && matches!(config.buffer, BufferConfig::None(_))
}

/// Whether it knows how the drive collects, too.
fn knows_collection(config: &RunConfig) -> bool {
    let TriggerConfig::Watermark(trigger) = &config.trigger;
    let UnitConfig::Block(unit) = &config.unit;
    let ComposeConfig::List(compose) = &config.compose;
    config.precondition == PreconditionConfig::Empty
        && matches!(config.yield_, YieldConfig::Never(_))
        && compose.gc.is_empty()
        && !matches!(config.frontier, FrontierConfig::SecondActive(_))
        && !matches!(config.victim, VictimConfig::ReadMatch(_))
        && trigger.scope == Scope::Plane
        && trigger.idle.is_none()
        && unit.destination == Destination::Local
}

/// Whether commands of the host may take other planes along.
fn has_partners(config: &RunConfig) -> bool {
    let ComposeConfig::List(compose) = &config.compose;
    compose.builders.contains(&BuilderName::MultiPlane)
        && config.commands.multi_plane
        && config.geometry.planes_per_die > 1
}

/// What the oracle says.
pub struct Prediction {
    /// When each request ends.
    pub end_ns: Vec<u64>,
    /// Rounds of collection, in the order of their ends.
    pub rounds: Vec<GcEvent>,
    /// Whether collection was foretold, too.
    pub collects: bool,
    /// What was done, as far as the report counts it.
    pub counts: Counts,
    /// Most writes that stood in the queue of one plane.
    queued_max: usize,
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
}

impl Counts {
    /// The same of a drive that counts them itself.
    pub fn of(report: &Report) -> Self {
        let flash = &report.flash;
        Self {
            page_reads: flash.host_page_reads,
            page_programs: flash.host_page_programs,
            multi_plane: flash.multi_plane_commands,
            cached: flash.cached_commands,
        }
    }
}

impl Prediction {
    /// Whether nothing happened that the oracle does not know of. Where it does not collect: no collection, or one without
    /// time that leaves pages what they are to it; and no write had to wait for a page.
    pub fn counts_for(&self, config: &RunConfig, report: &Report) -> bool {
        if self.collects {
            return true;
        }
        let g = &config.geometry;
        let is_uniform = config.timing.read.list().len() == 1 && config.timing.program.list().len() == 1;
        let (no_rounds, whole_pages) = (report.gc.rounds == 0, g.units_per_page() == 1);
        let is_new = config.precondition == PreconditionConfig::Empty;
        let moves_do_not_show =
            no_rounds || (report.gc.die_time_ns == 0 && whole_pages && is_uniform && !has_partners(config));
        // Which blocks a drive with a past opens next is not known, only how far those are filled that are open.
        let has_two_blocks = matches!(config.frontier, FrontierConfig::SecondActive(_));
        let blocks_are_known = !has_partners(config) || (!has_two_blocks && (is_new || !config.commands.same_block));
        // One free block is kept for moves; the others are what queued writes may count on, at least.
        let pages_left = report.min_free_blocks.saturating_sub(1) as usize * g.pages_per_block as usize;
        moves_do_not_show && blocks_are_known && self.queued_max < pages_left
    }
}

/// What a request needs of one die.
struct Txn {
    request: usize,
    is_read: bool,
    units: Vec<usize>,
    plane: usize,
    sequence: usize,
    /// Reads that have to end before this write begins.
    waits_for: usize,
    /// The write that waits for this read.
    successor: Option<usize>,
}

/// Times may alternate from page to page of a block.
fn time_of(times_ns: &[u64], page: usize) -> u64 {
    times_ns[page % times_ns.len()]
}

#[derive(Default)]
struct Die {
    /// Those under way, in the order of their issue.
    commands: Vec<Command>,
    reads: Vec<usize>,
    writes: Vec<usize>,
    /// In front of the window.
    outside: Vec<usize>,
    inside: usize,
    waiting_jobs: Vec<Job>,
    /// The job that has the die.
    lease: Option<Job>,
}

struct Oracle<'a> {
    config: &'a RunConfig,
    now_ns: u64,
    requests: &'a [Request],
    /// The next request that has not begun.
    next: usize,
    /// Parts of each request that have not ended.
    open: Vec<usize>,
    under_way: usize,
    txns: Vec<Txn>,
    sequences: usize,
    dies: Vec<Die>,
    channels: Vec<Channel>,
    /// Dies for which something changed, in that order.
    changed: Vec<usize>,
    /// Where each unit's newest data is.
    place_of: HashMap<usize, Place>,
    /// The newest write or trim of each unit that took effect.
    newest: HashMap<usize, usize>,
    planes: Vec<Plane>,
    /// Rounds of collection that are to come, as the drive has had them.
    given: Vec<GcEvent>,
    result: Prediction,
}

/// What a drive holds before the first request.
pub struct Past {
    /// Where each unit's data is.
    pub place_of: HashMap<usize, Place>,
    /// Of each plane, how many pages of the block are programmed that takes host data.
    pub programmed: Vec<usize>,
}

/// Says when each request ends. Of the `rounds` of collection only which block each took is looked at, and that there was
/// one to take when it began.
pub fn predict(config: &RunConfig, past: Past, requests: &[Request], rounds: &[GcEvent]) -> Prediction {
    let g = &config.geometry;
    let dies = g.channels * g.chips_per_channel * g.dies_per_chip;
    let collects = knows_collection(config);
    let mut oracle = Oracle {
        config,
        now_ns: 0,
        requests,
        next: 0,
        open: vec![0; requests.len()],
        under_way: 0,
        txns: Vec::new(),
        sequences: 0,
        dies: (0..dies).map(|_| Die::default()).collect(),
        channels: (0..g.channels).map(|_| Channel::default()).collect(),
        changed: Vec::new(),
        place_of: past.place_of,
        newest: HashMap::new(),
        planes: past.programmed.into_iter().map(|programmed| Plane::new(config, collects, programmed)).collect(),
        given: rounds.to_vec(),
        result: Prediction {
            end_ns: vec![u64::MAX; requests.len()],
            rounds: Vec::new(),
            collects,
            counts: Counts::default(),
            queued_max: 0,
        },
    };
    oracle.settle();
    while oracle.step() {
        oracle.settle();
    }
    oracle.result
}

impl Oracle<'_> {
    /// What comes next: an arrival before dies before channels where times are equal, and lower numbers first.
    fn step(&mut self) -> bool {
        let mut events = Vec::new();
        if self.config.host.mode == HostMode::Open && self.next < self.requests.len() {
            let arrival_ns = self.requests[self.next].arrival_ns;
            if arrival_ns > self.now_ns {
                events.push((arrival_ns, 0, 0));
            }
        }
        for (number, die) in self.dies.iter().enumerate() {
            for command in &die.commands {
                if let Stage::Array(end_ns) = command.stage {
                    events.push((end_ns, 1, number));
                }
            }
        }
        for (number, channel) in self.channels.iter().enumerate() {
            if let Some((_, end_ns)) = channel.transfer {
                events.push((end_ns, 2, number));
            } else if channel.is_held {
                events.push((self.now_ns, 2, number));
            }
        }
        let Some(&(time_ns, kind, number)) = events.iter().min() else { return false };
        self.now_ns = time_ns;
        match kind {
            0 => {}
            1 => self.array_ends(number),
            _ if std::mem::take(&mut self.channels[number].is_held) => self.grant(number),
            _ => self.transfer_ends(number),
        }
        true
    }

    /// Requests begin and dies take commands until nothing more happens at this moment.
    fn settle(&mut self) {
        loop {
            while self.begin_next() {}
            if self.changed.is_empty() {
                return;
            }
            while !self.changed.is_empty() {
                let die = self.changed.remove(0);
                while self.take_command(die) {}
            }
        }
    }

    fn change(&mut self, die: usize) {
        if !self.changed.contains(&die) {
            self.changed.push(die);
        }
    }
}
