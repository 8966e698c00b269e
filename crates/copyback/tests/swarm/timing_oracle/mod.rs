//! When does each request end, by a simulator that is too simple to be wrong?
//!
//! The oracle keeps plain lists, searches all of them for the next event, and shares nothing with the engine. It gets
//! the configuration, the initial place of each unit's data, and the requests. It predicts when each request ends, to
//! the nanosecond. It implements `docs/fidelity.md` and `docs/architecture.md`. It refuses features that it does not
//! know ([`understands`]), for example dynamic allocation and buffers.
//!
//! Planes collect independently. The oracle gets the collected blocks, because policies choose them. It predicts when
//! they are collected ([`collection`]), and whether collections block their dies, are preempted ([`preemption`]), or
//! include host requests ([`pairing`], [`moved_page_service`]). If it does not know the kind of collections, none may
//! have happened, or they must have taken no time ([`Prediction::counts_for`]).

mod collection;
mod commands;
mod dies;
mod known;
mod moved_page_service;
mod open_blocks;
mod pairing;
mod preemption;
mod requests;
mod suspension;

use collection::{Job, Plane};
use commands::{Channel, Command, Stage};
use copyback::host::config::HostMode;
use copyback::observe::report::GcEvent;
use copyback::run::config::RunConfig;
use copyback::workload::Request;
pub use known::{
    BlocksOfPlane, Counts, Preconditioning, Predicted, Prediction, Timed, obstacle, obstacle_to_sharing, understands,
};
use preemption::PreemptionPoint;
use std::collections::HashMap;

/// Where a unit's data is. Blocks count inside their plane, pages inside their block, offsets inside their page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub plane: usize,
    pub block: usize,
    pub page: usize,
    pub offset: usize,
}

impl Place {
    fn is_in_page_of(self, other: Self) -> bool {
        (self.plane, self.block, self.page) == (other.plane, other.block, other.page)
    }
}

/// What a request needs of one die.
struct Txn {
    request: usize,
    is_read: bool,
    units: Vec<usize>,
    plane: usize,
    sequence: usize,
    /// Number of reads that have to end before this write begins.
    waits_for: usize,
    /// The write that waits for this read.
    successor: Option<usize>,
    /// When its request arrived.
    arrival_ns: u64,
    is_urgent: bool,
}

/// Times may alternate from page to page of a block.
fn time_of(times_ns: &[u64], page: usize) -> u64 {
    times_ns[page % times_ns.len()]
}

#[derive(Default)]
struct Die {
    /// Commands under way, in the order of their issue.
    commands: Vec<Command>,
    reads: Vec<usize>,
    writes: Vec<usize>,
    /// Transactions that wait for a slot of the window.
    outside: Vec<usize>,
    /// Slots in use.
    inside: usize,
    waiting_jobs: Vec<Job>,
    /// The job that has the die.
    reserved_by: Option<Job>,
    point: PreemptionPoint,
    /// Time to choose the victim; it delays the job's first queue poll.
    choice_ns: u64,
    /// A write of high priority precedes the next job.
    defers: bool,
    /// A transaction is about to enter its queue.
    is_arriving: bool,
    /// The next sequence number when its job began: earlier transactions have smaller ones.
    came_before_collection: usize,
    /// The same for the last job that ended.
    waited_before: usize,
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
    began_ns: Vec<u64>,
    txns: Vec<Txn>,
    sequences: usize,
    dies: Vec<Die>,
    channels: Vec<Channel>,
    /// Dies that changed, in that order.
    changed: Vec<usize>,
    /// Where each unit's newest data is.
    place_of: HashMap<usize, Place>,
    /// Blocks of the pages that were bound for the next program.
    bound: Vec<(usize, usize)>,
    /// The newest write or trim of each unit that took effect.
    newest: HashMap<usize, usize>,
    planes: Vec<Plane>,
    /// The drive's own collections, without those that have begun here.
    given: Vec<GcEvent>,
    result: Prediction,
}

/// Predicts when each request ends. It uses two facts of `collections`, which are the drive's own: the victim of each,
/// and that there was a victim when it began.
pub fn predict(
    config: &RunConfig,
    preconditioning: Preconditioning,
    requests: &[Request],
    collections: &[GcEvent],
) -> Prediction {
    let g = &config.geometry;
    let dies = g.channels * g.chips_per_channel * g.dies_per_chip;
    let collects = known::knows_collection(config);
    let mut oracle = Oracle {
        config,
        now_ns: 0,
        requests,
        next: 0,
        open: vec![0; requests.len()],
        under_way: 0,
        began_ns: vec![0; requests.len()],
        txns: Vec::new(),
        sequences: 0,
        dies: (0..dies).map(|_| Die::default()).collect(),
        channels: (0..g.channels).map(|_| Channel::default()).collect(),
        changed: Vec::new(),
        place_of: preconditioning.place_of,
        bound: Vec::new(),
        newest: HashMap::new(),
        planes: preconditioning.blocks.into_iter().map(|blocks| Plane::new(config, collects, blocks)).collect(),
        given: collections.to_vec(),
        result: Prediction {
            end_ns: vec![u64::MAX; requests.len()],
            collections: Vec::new(),
            collects,
            counts: Counts::default(),
            of_kinds: Predicted::default(),
            queued_max: 0,
        },
    };
    oracle.dispatch();
    while oracle.step() {
        oracle.dispatch();
    }
    let (counts, collections) = (oracle.result.counts, oracle.result.collections.len() as u64);
    let predicted = &mut oracle.result.of_kinds;
    (predicted.collections, predicted.multi_plane, predicted.cached) = (collections, counts.multi_plane, counts.cached);
    predicted.merged = counts.merged_reads + counts.merged_writes;
    predicted.suspended = counts.suspensions;
    oracle.result
}

impl Oracle<'_> {
    /// The next event: arrivals before dies before channels at equal times, and lower numbers first.
    fn step(&mut self) -> bool {
        let mut events = Vec::new();
        if self.config.host.mode == HostMode::Open && self.next < self.requests.len() {
            let arrival_ns = self.requests[self.next].arrival_ns;
            if arrival_ns > self.now_ns {
                events.push((arrival_ns, 0, 0));
            }
        }
        for (number, die) in self.dies.iter().enumerate() {
            if let PreemptionPoint::Polling(end_ns) = die.point {
                events.push((end_ns, 1, number));
            }
            if let Some(end_ns) = self.stop_with_transfer_ns(number) {
                events.push((end_ns, 1, number));
            }
            for command in &die.commands {
                if let Stage::Array(end_ns) | Stage::Stopping { ready_ns: end_ns, .. } = command.stage {
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
            1 if matches!(self.dies[number].point, PreemptionPoint::Polling(_)) => self.open_point(number),
            1 if self.has_stopped(number) => {}
            1 => self.array_ends(number),
            _ if std::mem::take(&mut self.channels[number].is_held) => self.grant(number),
            _ => self.transfer_ends(number),
        }
        true
    }

    /// Requests begin and dies take commands until nothing more happens at this moment.
    fn dispatch(&mut self) {
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
