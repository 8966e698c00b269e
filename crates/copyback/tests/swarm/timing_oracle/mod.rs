//! When does each request end, by a simulator that is too simple to be wrong?
//!
//! The oracle keeps plain lists, looks through all of them for what comes next, and shares nothing with the engine: it
//! gets the configuration, where each unit's data lies at first, and the requests, and says when each of them ends, to
//! the nanosecond. It follows what `docs/fidelity.md` and `docs/architecture.md` state. What it does not know it refuses
//! ([`understands`]): dynamic allocation, buffers, and commands of several planes or through the cache register.
//!
//! On a drive that was new at first, planes collect by themselves and block their dies: the oracle is told which blocks
//! were collected, as victims are the policies' own, and foretells when ([`collection`]). On other drives collection must
//! not have happened, or have taken no time ([`Prediction::counts_for`]).

mod collection;

use collection::{Job, Plane};
use copyback::background::gc::trigger::TriggerConfig;
use copyback::background::gc::trigger::watermark::{Scope, When};
use copyback::background::gc::r#yield::YieldConfig;
use copyback::buffer::BufferConfig;
use copyback::config::host::{HostMode, SubpageWrites};
use copyback::config::{PreconditionConfig, RunConfig};
use copyback::controller::admit::AdmitConfig;
use copyback::controller::compose::ComposeConfig;
use copyback::controller::compose::list::BuilderName;
use copyback::controller::order::OrderConfig;
use copyback::controller::order::priority::{First, NextCollection};
use copyback::ftl::allocation::AllocationConfig;
use copyback::ftl::frontier::FrontierConfig;
use copyback::ftl::unit::UnitConfig;
use copyback::ftl::unit::block::Destination;
use copyback::ftl::victim::VictimConfig;
use copyback::metrics::report::{GcEvent, Report};
use copyback::workload::{Op, Request};
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
    let ComposeConfig::List(compose) = &config.compose;
    let has_partners = config.commands.multi_plane && config.geometry.planes_per_die > 1;
    matches!(config.allocation, AllocationConfig::Static(_))
        && matches!(config.buffer, BufferConfig::None(_))
        && compose.builders.iter().all(|builder| *builder == BuilderName::MultiPlane && !has_partners)
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
        && trigger.when == When::Below
        && trigger.stagger == 0
        && !matches!(&config.order, OrderConfig::Priority(p) if p.next_collection != NextCollection::AtOnce)
        && trigger.idle.is_none()
        && unit.destination == Destination::Local
}

/// What the oracle says.
pub struct Prediction {
    /// When each request ends.
    pub end_ns: Vec<u64>,
    pub page_reads: u64,
    pub page_programs: u64,
    /// Rounds of collection, in the order of their ends.
    pub rounds: Vec<GcEvent>,
    /// Whether collection was foretold, too.
    pub collects: bool,
    /// Most writes that stood in the queue of one plane.
    queued_max: usize,
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
        let moves_do_not_show = no_rounds || (report.gc.die_time_ns == 0 && whole_pages && is_uniform);
        let pages_are_known = is_uniform || (no_rounds && config.precondition == PreconditionConfig::Empty);
        // One free block is kept for moves; the others are what queued writes may count on, at least.
        let pages_left = report.min_free_blocks.saturating_sub(1) as usize * g.pages_per_block as usize;
        moves_do_not_show && pages_are_known && self.queued_max < pages_left
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

#[derive(Clone, Copy, PartialEq)]
enum CommandKind {
    Read,
    Program,
    /// Ends in the array like a program, and has no data on the channel.
    Copyback,
    Erase,
}

/// A command of a die.
struct Command {
    /// The transactions that end with it; none where it is a step of the die's job.
    txns: Vec<usize>,
    /// Whether it is a step of the die's job.
    is_step: bool,
    kind: CommandKind,
    array_ns: u64,
    /// The transfer that it makes or waits for.
    stage: Stage,
    transfer_ns: u64,
    /// A program's data.
    data_ns: u64,
    /// A read's data.
    out_ns: u64,
}

impl Command {
    fn new() -> Self {
        let (txns, is_step, kind, stage) = (Vec::new(), false, CommandKind::Erase, Stage::In);
        Self { txns, is_step, kind, array_ns: 0, stage, transfer_ns: 0, data_ns: 0, out_ns: 0 }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Stage {
    /// Command cycles, and a program's data.
    In,
    /// In the array until then.
    Array(u64),
    /// A read's data.
    Out,
}

/// For whom a page is programmed.
#[derive(Clone, Copy, PartialEq)]
enum Stream {
    Host,
    Move,
}

/// Times may alternate from page to page of a block.
fn time_of(times_ns: &[u64], page: usize) -> u64 {
    times_ns[page % times_ns.len()]
}

#[derive(Default)]
struct Die {
    command: Option<Command>,
    reads: Vec<usize>,
    writes: Vec<usize>,
    /// In front of the window.
    outside: Vec<usize>,
    inside: usize,
    waiting_jobs: Vec<Job>,
    /// The job that has the die.
    lease: Option<Job>,
}

/// The die whose transfer is under way and its end; dies that wait.
#[derive(Default)]
struct Channel {
    transfer: Option<(usize, u64)>,
    waiting: Vec<usize>,
    /// Whether nobody has it before the dies were looked at, at this moment.
    is_held: bool,
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

/// Says when each request ends. `place_of` is where the drive's data lies at first; of the `rounds` of collection only which
/// block each took is looked at, and that there was one to take when it began.
pub fn predict(
    config: &RunConfig,
    place_of: HashMap<usize, Place>,
    requests: &[Request],
    rounds: &[GcEvent],
) -> Prediction {
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
        place_of,
        newest: HashMap::new(),
        planes: (0..dies * g.planes_per_die).map(|_| Plane::new(config, collects)).collect(),
        given: rounds.to_vec(),
        result: Prediction {
            end_ns: vec![u64::MAX; requests.len()],
            page_reads: 0,
            page_programs: 0,
            rounds: Vec::new(),
            collects,
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
    // ---- time ---------------------------------------------------------------------------------------------------

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
            if let Some(Command { stage: Stage::Array(end_ns), .. }) = die.command {
                events.push((end_ns, 1, number));
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

    // ---- requests -------------------------------------------------------------------------------------------------

    fn begin_next(&mut self) -> bool {
        let host = &self.config.host;
        let Some(request) = self.requests.get(self.next) else { return false };
        let (limit, arrival_ns) = match host.mode {
            HostMode::Open => (host.outstanding_max, request.arrival_ns),
            HostMode::Closed => (host.queue_depth, 0),
        };
        if self.under_way >= limit as usize || arrival_ns > self.now_ns {
            return false;
        }
        self.next += 1;
        self.under_way += 1;
        self.cut(self.next - 1);
        true
    }

    /// A request becomes parts of one logical page each.
    fn cut(&mut self, number: usize) {
        let request = &self.requests[number];
        let unit_bytes = self.config.geometry.unit_bytes();
        let per_page = self.config.geometry.units_per_page() as usize;
        let (start, end) = (request.offset_bytes, request.offset_bytes + request.len_bytes);
        // While it is being cut it cannot end.
        self.open[number] = 1;
        if request.op == Op::Trim {
            let sequence = self.sequences;
            self.sequences += 1;
            for unit in start.div_ceil(unit_bytes)..end / unit_bytes {
                self.place_of.remove(&(unit as usize));
                self.newest.insert(unit as usize, sequence);
            }
        } else {
            let units: Vec<usize> = (start / unit_bytes..end.div_ceil(unit_bytes)).map(|u| u as usize).collect();
            for piece in units.chunk_by(|a, b| a / per_page == b / per_page) {
                if request.op == Op::Read {
                    self.read(number, piece);
                } else {
                    self.write(number, piece, start, end);
                }
            }
        }
        self.part_ends(number);
    }

    /// Units that lie in one physical page are read together; those without data need nothing.
    fn read(&mut self, number: usize, piece: &[usize]) {
        let found: Vec<(usize, Place)> = piece.iter().filter_map(|u| Some((*u, *self.place_of.get(u)?))).collect();
        for group in found.chunk_by(|(a, at_a), (b, at_b)| a + 1 == *b && at_a.is_in_page_of(*at_b)) {
            let txn = self.add(number, true, group.iter().map(|(unit, _)| *unit).collect());
            self.submit(txn);
        }
    }

    fn write(&mut self, number: usize, piece: &[usize], start: u64, end: u64) {
        let txn = self.add(number, false, piece.to_vec());
        let unit_bytes = self.config.geometry.unit_bytes();
        let is_partial = |&unit: &usize| {
            let first = unit as u64 * unit_bytes;
            start > first || end < first + unit_bytes
        };
        let has_data = |unit: &usize| self.place_of.contains_key(unit);
        let merges = self.config.host.subpage_writes == SubpageWrites::ReadModifyWrite;
        let rest: Vec<usize> = piece.iter().copied().filter(|u| merges && is_partial(u) && has_data(u)).collect();
        self.txns[txn].waits_for = rest.len();
        if rest.is_empty() {
            self.submit(txn);
        }
        for unit in rest {
            let read = self.add(number, true, vec![unit]);
            self.open[number] -= 1;
            self.txns[read].successor = Some(txn);
            self.submit(read);
        }
    }

    fn part_ends(&mut self, request: usize) {
        self.open[request] -= 1;
        if self.open[request] == 0 {
            self.result.end_ns[request] = self.now_ns;
            self.under_way -= 1;
        }
    }

    // ---- transactions ---------------------------------------------------------------------------------------------

    fn add(&mut self, request: usize, is_read: bool, units: Vec<usize>) -> usize {
        let plane = self.plane_of(units[0]);
        let sequence = self.sequences;
        self.sequences += 1;
        self.open[request] += 1;
        self.txns.push(Txn { request, is_read, units, plane, sequence, waits_for: 0, successor: None });
        self.txns.len() - 1
    }

    /// Static allocation: the logical page's number is written with digits for channel, chip, die and plane, the first
    /// letter of the order being the last digit.
    fn plane_of(&self, unit: usize) -> usize {
        let AllocationConfig::Static(params) = &self.config.allocation else { unreachable!("it is understood") };
        let g = &self.config.geometry;
        let counts = HashMap::from([
            ('C', g.channels as usize),
            ('W', g.chips_per_channel as usize),
            ('D', g.dies_per_chip as usize),
            ('P', g.planes_per_die as usize),
        ]);
        let mut rest = unit / g.units_per_page() as usize;
        let mut digits = HashMap::new();
        for letter in params.order.chars() {
            digits.insert(letter, rest % counts[&letter]);
            rest /= counts[&letter];
        }
        ((digits[&'C'] * counts[&'W'] + digits[&'W']) * counts[&'D'] + digits[&'D']) * counts[&'P'] + digits[&'P']
    }

    fn die_of(&self, txn: usize) -> usize {
        self.txns[txn].plane / self.config.geometry.planes_per_die as usize
    }

    /// Into its die's queue, if there is a page for it and the window has a slot.
    fn submit(&mut self, txn: usize) {
        let die = self.die_of(txn);
        if self.dies[die].outside.is_empty() {
            self.admit(txn);
        } else {
            self.dies[die].outside.push(txn);
        }
    }

    pub(super) fn admit(&mut self, txn: usize) {
        let (die, plane) = (self.die_of(txn), self.txns[txn].plane);
        if !self.txns[txn].is_read && self.room(plane) == 0 {
            self.planes[plane].waiting.push(txn);
            self.collect_for_space(plane);
            return;
        }
        if !self.has_slot(die) {
            self.dies[die].outside.push(txn);
            return;
        }
        self.dies[die].inside += 1;
        if self.txns[txn].is_read {
            self.dies[die].reads.push(txn);
        } else {
            self.dies[die].writes.push(txn);
            self.planes[plane].promised += 1;
            self.result.queued_max = self.result.queued_max.max(self.planes[plane].promised);
        }
        self.change(die);
    }

    fn has_slot(&self, die: usize) -> bool {
        match &self.config.admit {
            AdmitConfig::All(_) => true,
            AdmitConfig::Window(window) => self.dies[die].inside < window.slots as usize,
        }
    }

    fn txn_ends(&mut self, txn: usize) {
        if let Some(write) = self.txns[txn].successor {
            self.txns[write].waits_for -= 1;
            if self.txns[write].waits_for == 0 {
                self.submit(write);
            }
        } else {
            self.part_ends(self.txns[txn].request);
        }
        self.free_slot(self.die_of(txn));
    }

    /// Waiting jobs get a free slot first.
    fn free_slot(&mut self, die: usize) {
        self.dies[die].inside -= 1;
        if self.dies[die].waiting_jobs.is_empty() || self.dies[die].lease.is_some() {
            self.fill_window(die);
        }
    }

    fn fill_window(&mut self, die: usize) {
        while self.has_slot(die) && !self.dies[die].outside.is_empty() {
            let first = self.dies[die].outside.remove(0);
            self.admit(first);
        }
    }

    // ---- dies -----------------------------------------------------------------------------------------------------

    /// A die that has nothing to do takes the next command; whether another decision may follow.
    fn take_command(&mut self, number: usize) -> bool {
        let die = &self.dies[number];
        if die.command.is_some() {
            return false;
        }
        if die.lease.is_some() {
            self.take_step(number);
            return true;
        }
        let came = |queue: &[usize]| queue.first().map(|&txn| self.txns[txn].sequence);
        let job = die.waiting_jobs.first().filter(|_| self.has_slot(number)).map(|job| job.sequence);
        let heads = [job, came(&die.reads), came(&die.writes)];
        let in_turn = match &self.config.order {
            OrderConfig::Fifo(_) => {
                let first = heads.iter().flatten().min();
                [0, 1, 2].into_iter().find(|&class| heads[class].is_some() && heads[class].as_ref() == first)
            }
            OrderConfig::Priority(p) => {
                let classes = if p.first == First::GcReadWrite { [0, 1, 2] } else { [1, 2, 0] };
                classes.into_iter().find(|&class| heads[class].is_some())
            }
        };
        match in_turn {
            None => return false,
            Some(0) => self.begin_job(number),
            Some(1) => self.issue_read(number),
            Some(_) => self.issue_write(number),
        }
        true
    }

    fn transfer_ns(&self, units: usize) -> u64 {
        let bytes = units as u128 * u128::from(self.config.geometry.unit_bytes());
        (bytes * 1_000_000_000).div_ceil(u128::from(self.config.timing.channel.bytes_per_s)) as u64
    }

    fn issue_read(&mut self, die: usize) {
        let txn = self.dies[die].reads.remove(0);
        // What was trimmed meanwhile at its beginning is not read; what lies in another page is read by itself.
        let mut units = self.txns[txn].units.clone();
        while !units.is_empty() && !self.place_of.contains_key(&units[0]) {
            units.remove(0);
        }
        let Some(first) = units.first() else {
            self.txn_ends(txn);
            return;
        };
        let place = self.place_of[first];
        let is_there = |unit: &&usize| self.place_of.get(unit).is_some_and(|p| p.is_in_page_of(place));
        let together = units.iter().take_while(is_there).count();
        let rest = units.split_off(together);
        if !rest.is_empty() {
            let other = self.add(self.txns[txn].request, true, rest);
            if let Some(write) = self.txns[txn].successor {
                self.open[self.txns[txn].request] -= 1;
                self.txns[other].successor = Some(write);
                self.txns[write].waits_for += 1;
            }
            self.dies[die].inside += 1;
            self.dies[die].reads.push(other);
        }
        self.result.page_reads += 1;
        self.start_read(die, vec![txn], false, place.page, units.len());
    }

    /// Reads units of the page at this offset of its block.
    fn start_read(&mut self, die: usize, txns: Vec<usize>, is_step: bool, page: usize, units: usize) {
        let array_ns = time_of(&self.config.timing.read.list(), page);
        let out_ns = self.transfer_ns(units);
        self.start(die, Command { txns, is_step, kind: CommandKind::Read, array_ns, out_ns, ..Command::new() });
    }

    /// Programs the page at this offset of its block.
    fn start_program(&mut self, die: usize, txns: Vec<usize>, is_step: bool, page: usize) {
        let array_ns = time_of(&self.config.timing.program.list(), page);
        let data_ns = self.transfer_ns(self.config.geometry.units_per_page() as usize);
        self.start(die, Command { txns, is_step, kind: CommandKind::Program, array_ns, data_ns, ..Command::new() });
    }

    fn start(&mut self, die: usize, mut command: Command) {
        command.transfer_ns = self.config.timing.command.0 + command.data_ns;
        let needs_channel = command.transfer_ns > 0;
        self.dies[die].command = Some(command);
        if needs_channel {
            self.want_channel(die);
        } else {
            self.start_array(die);
        }
    }

    /// A program takes the first write and those for the same plane behind it that still fit into the page.
    fn issue_write(&mut self, die: usize) {
        let ComposeConfig::List(compose) = &self.config.compose;
        let room = self.config.geometry.units_per_page() as usize;
        let first = self.dies[die].writes.remove(0);
        let plane = self.txns[first].plane;
        let mut txns = vec![first];
        let mut used = self.txns[first].units.len();
        while used < room {
            let mut seen = self.dies[die].writes.iter().take(compose.scan_max as usize);
            let Some(at) = seen.position(|&w| self.txns[w].plane == plane) else { break };
            let follower = self.dies[die].writes[at];
            used += self.txns[follower].units.len();
            if used > room {
                break;
            }
            self.dies[die].writes.remove(at);
            txns.push(follower);
        }
        self.planes[plane].promised -= txns.len();
        self.result.page_programs += 1;
        let mut units = Vec::new();
        for txn in txns.iter().map(|&txn| &self.txns[txn]) {
            units.extend(txn.units.iter().map(|&unit| (unit, txn.sequence)));
        }
        let (block, page) = self.planes[plane].next_page(Stream::Host);
        for (slot, (unit, sequence)) in units.into_iter().enumerate() {
            // What a newer write or a trim has overtaken takes its place, and is stale there.
            let newest = self.newest.entry(unit).or_insert(sequence);
            if *newest <= sequence {
                *newest = sequence;
                self.place_of.insert(unit, Place { plane, block, page, slot });
            }
        }
        self.start_program(die, txns, false, page);
        self.page_was_taken(plane);
    }

    fn start_array(&mut self, die: usize) {
        let now_ns = self.now_ns;
        let command = self.dies[die].command.as_mut().expect("a command is under way");
        command.stage = Stage::Array(now_ns + command.array_ns);
    }

    fn array_ends(&mut self, die: usize) {
        let command = self.dies[die].command.as_mut().expect("a command is under way");
        if command.kind == CommandKind::Read {
            (command.stage, command.transfer_ns) = (Stage::Out, command.out_ns);
            self.want_channel(die);
        } else {
            self.command_ends(die);
        }
    }

    fn command_ends(&mut self, die: usize) {
        let command = self.dies[die].command.take().expect("a command is under way");
        if command.is_step && command.kind != CommandKind::Erase {
            // Nobody else may have the die: the job goes on at once.
            self.take_step(die);
            return;
        }
        if command.is_step {
            self.end_job(die);
        }
        for txn in command.txns {
            self.txn_ends(txn);
        }
        self.change(die);
    }

    // ---- channels -------------------------------------------------------------------------------------------------

    fn want_channel(&mut self, die: usize) {
        let dies_on_channel = self.config.geometry.chips_per_channel * self.config.geometry.dies_per_chip;
        let channel = die / dies_on_channel as usize;
        let c = &self.channels[channel];
        if let Some((other, end_ns)) = c.transfer
            && (end_ns, c.waiting.is_empty()) == (self.now_ns, true)
            && self.dies[other].command.as_ref().is_some_and(|command| command.stage == Stage::In)
        {
            // The transfer ends at this very moment, and its array's time begins whoever has the channel next: who asks
            // first has it, before more urgent ones that ask later in this moment.
            self.transfer_ends(channel);
        }
        self.channels[channel].waiting.push(die);
        self.grant(channel);
    }

    /// One transfer at a time: cycles without data first, then first come first served; where collection goes first, its
    /// transfers do, too.
    fn grant(&mut self, channel: usize) {
        let gc_first = matches!(&self.config.order, OrderConfig::Priority(p) if p.first == First::GcReadWrite);
        let is_urgent = |die: &usize| gc_first && self.dies[*die].lease.is_some();
        let c = &mut self.channels[channel];
        let is_cycles = |die: &usize| {
            let command = self.dies[*die].command.as_ref();
            command.is_some_and(|c| c.stage == Stage::In && c.kind != CommandKind::Program)
        };
        if c.transfer.is_none() && !c.waiting.is_empty() && !c.is_held {
            let first = c.waiting.iter().position(is_cycles).or_else(|| c.waiting.iter().position(is_urgent));
            let die = c.waiting.remove(first.unwrap_or(0));
            let command = self.dies[die].command.as_ref().expect("a command is under way");
            c.transfer = Some((die, self.now_ns + command.transfer_ns));
        }
    }

    fn transfer_ends(&mut self, channel: usize) {
        let (die, _) = self.channels[channel].transfer.take().expect("a transfer is under way");
        let command = self.dies[die].command.as_ref().expect("a command is under way");
        if command.stage == Stage::Out {
            self.command_ends(die);
            // The die may send the cycles of its next command: it is looked at before another one has the channel.
            let has_cycles = self.config.timing.command.0 > 0;
            let is_wanted = !self.channels[channel].waiting.is_empty();
            self.channels[channel].is_held = has_cycles && is_wanted && self.changed.contains(&die);
        } else {
            self.start_array(die);
        }
        self.grant(channel);
    }
}
