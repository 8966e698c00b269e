//! Commands on the channel and in the array. One plane has one part of a command.
//!
//! A die has one command, or two if the second follows through the cache register: then one has the channel and the
//! other the array, or waits for it.

use super::known::compose_of;
use super::{Oracle, Place, time_of};
use copyback::dispatch::compose::list::BuilderName;
use copyback::dispatch::order::OrderConfig;
use copyback::dispatch::order::priority::First;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Read,
    Program,
    /// Ends in the array like a program, and has no data on the channel.
    Copyback,
    Erase,
}

/// One plane's part.
pub(super) struct PlanePart {
    /// Read: how many units leave the die.
    pub units: usize,
    /// The transactions that end with it; none if it is only the collection's.
    pub txns: Vec<usize>,
}

/// A command of a die.
pub(super) struct Command {
    pub kind: Kind,
    /// The place of the page that a step of the collection reads.
    pub page: Option<Place>,
    /// Whether it is a step of the die's collection.
    pub is_step: bool,
    pub parts: Vec<PlanePart>,
    /// Reads of the collection: the planes of the reads that joined.
    pub partner_planes: Vec<usize>,
    /// Whether its other pages stay in their registers ([`Stage::Kept`]) while the collection continues.
    pub was_kept: bool,
    pub array_ns: u64,
    /// When the array began, or resumes, its present part.
    pub begun_ns: u64,
    /// Blocks that a program or an erase changes, by plane.
    pub changes: Vec<(usize, usize)>,
    pub suspensions: u32,
    /// Whether it stops as soon as the array begins it.
    pub stops: bool,
    pub stage: Stage,
}

impl Command {
    fn new(kind: Kind, is_step: bool, parts: Vec<PlanePart>, array_ns: u64) -> Self {
        let (page, partner_planes) = (None, Vec::new());
        let (begun_ns, changes, suspensions, stops) = (0, Vec::new(), 0, false);
        let (was_kept, stage) = (false, Stage::In);
        Self {
            kind,
            page,
            is_step,
            parts,
            partner_planes,
            was_kept,
            array_ns,
            begun_ns,
            changes,
            suspensions,
            stops,
            stage,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Stage {
    /// Has or wants the channel for cycles, and for a program's data.
    In,
    /// A program that waits, loaded, for the array.
    Loaded,
    /// In the array until then.
    Array(u64),
    /// The array stops until then.
    Stopping { ready_ns: u64, left_ns: u64 },
    /// Suspended, with this much array time left: the die takes reads.
    Stopped { left_ns: u64 },
    /// A read that waits, its register full, for the data of the one before to leave.
    Full,
    /// Has or wants the channel for the data of this part.
    Out(usize),
    /// A read of the collection whose other pages, from this part on, wait in their registers until the collection's
    /// program is loaded.
    Kept(usize),
}

/// What a die could take now.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Takes {
    Anything,
    /// Through the cache register.
    Read,
    Program,
    Nothing,
}

/// A channel: the die with the current transfer and the transfer's end, and the dies that wait.
#[derive(Default)]
pub(super) struct Channel {
    pub transfer: Option<(usize, u64)>,
    waiting: Vec<usize>,
    /// Whether no die may use it until the dies have been visited at this moment.
    pub is_held: bool,
}

impl Channel {
    /// Whether no die waits.
    pub fn is_unwanted(&self) -> bool {
        self.waiting.is_empty()
    }
}

impl Oracle<'_> {
    /// A second command enters a die only through the cache register, after a host command of the same kind: a program
    /// after one in the array, a read after one whose data is leaving. During a collection on the die, `pipeline`
    /// allows it.
    pub(super) fn takes(&self, die: usize) -> Takes {
        let compose = compose_of(self.config);
        let has_cache = match self.dies[die].reserved_by {
            Some(_) => self.pipelines(),
            None => compose.builders.contains(&BuilderName::Cache),
        };
        let commands = &self.config.commands;
        match &self.dies[die].commands[..] {
            [] => Takes::Anything,
            [one] if has_cache && !one.is_step => match (one.kind, one.stage) {
                (Kind::Program, Stage::Array(_)) if commands.cache_program => Takes::Program,
                // If the last of its data has left at this very moment, the die is about to be free.
                (Kind::Read, Stage::Out(_)) if commands.cache_read && !self.has_left(die) => Takes::Read,
                _ => Takes::Nothing,
            },
            _ => Takes::Nothing,
        }
    }

    fn has_left(&self, die: usize) -> bool {
        let is_last = self.dies[die].commands.iter().any(|c| c.stage == Stage::Out(c.parts.len() - 1));
        is_last && self.channels[self.channel_of(die)].transfer == Some((die, self.now_ns))
    }

    pub(super) fn channel_of(&self, die: usize) -> usize {
        die / (self.config.geometry.chips_per_channel * self.config.geometry.dies_per_chip) as usize
    }

    // ---- a die's commands -----------------------------------------------------------------------------------------

    /// Reads a page, and others at its offset of their blocks.
    pub(super) fn start_read(&mut self, die: usize, is_step: bool, place: Place, parts: Vec<PlanePart>) {
        let array_ns = time_of(&self.config.timing.read.list(), place.page);
        let page = is_step.then_some(place);
        self.start(die, Command { page, ..Command::new(Kind::Read, is_step, parts, array_ns) });
    }

    /// Programs of pages at this offset.
    pub(super) fn start_program(&mut self, die: usize, is_step: bool, page: usize, parts: Vec<PlanePart>) {
        let array_ns = time_of(&self.config.timing.program.list(), page);
        self.start(die, Command::new(Kind::Program, is_step, parts, array_ns));
    }

    pub(super) fn start_copyback(&mut self, die: usize, page: usize) {
        let timing = &self.config.timing;
        let array_ns = time_of(&timing.read.list(), page) + time_of(&timing.program.list(), page);
        let parts = vec![PlanePart { units: 0, txns: Vec::new() }];
        self.start(die, Command::new(Kind::Copyback, true, parts, array_ns));
    }

    pub(super) fn start_erase(&mut self, die: usize) {
        let array_ns = self.config.timing.erase.0;
        let parts = vec![PlanePart { units: 0, txns: Vec::new() }];
        self.start(die, Command::new(Kind::Erase, true, parts, array_ns));
    }

    fn start(&mut self, die: usize, mut command: Command) {
        let bound = std::mem::take(&mut self.bound);
        if command.kind != Kind::Read {
            command.changes = bound;
        }
        let follows =
            self.dies[die].commands.iter().any(|c| !matches!(c.stage, Stage::Kept(_) | Stage::Stopped { .. }));
        let is_read = command.kind == Kind::Read;
        let transfer_ns = self.transfer_ns(&command);
        self.result.counts.multi_plane += u64::from(command.parts.len() > 1);
        self.result.counts.cached += u64::from(follows);
        self.result.of_kinds.pipelined += u64::from(follows && self.dies[die].reserved_by.is_some());
        self.dies[die].commands.push(command);
        let at = self.dies[die].commands.len() - 1;
        if follows && is_read {
            // Its cycles go beside the data that leaves.
            self.start_array(die, at, transfer_ns + self.config.timing.cache_busy.0);
        } else if transfer_ns > 0 {
            self.want_channel(die);
        } else {
            self.start_array(die, at, 0);
        }
    }

    fn start_array(&mut self, die: usize, at: usize, after_ns: u64) {
        let start_ns = self.now_ns + after_ns;
        let command = &mut self.dies[die].commands[at];
        command.begun_ns = start_ns;
        command.stage = Stage::Array(start_ns + command.array_ns);
        self.stop_if_asked(die, at);
    }

    /// The command of a die that is in its array.
    fn in_array(&self, die: usize) -> Option<usize> {
        self.dies[die].commands.iter().position(|command| matches!(command.stage, Stage::Array(_)))
    }

    fn at_stage(&self, die: usize, stage: Stage) -> Option<usize> {
        self.dies[die].commands.iter().position(|command| command.stage == stage)
    }

    pub(super) fn array_ends(&mut self, die: usize) {
        let at = self.in_array(die).expect("a command is in the array");
        let is_leaving = self.dies[die].commands.iter().any(|c| matches!(c.stage, Stage::Out(_)));
        let command = &mut self.dies[die].commands[at];
        if command.kind == Kind::Read && is_leaving {
            command.stage = Stage::Full;
        } else if command.kind == Kind::Read {
            command.stage = Stage::Out(0);
            self.want_channel(die);
            self.change(die);
        } else {
            let command = self.dies[die].commands.remove(at);
            if let Some(loaded) = self.at_stage(die, Stage::Loaded) {
                self.start_array(die, loaded, 0);
            }
            for part in &command.parts {
                self.part_of_command_ends(part);
            }
            self.command_ends(die, &command);
        }
    }

    fn part_of_command_ends(&mut self, part: &PlanePart) {
        for &txn in &part.txns {
            self.txn_ends(txn);
        }
    }

    fn command_ends(&mut self, die: usize, command: &Command) {
        let is_free = self.dies[die].commands.is_empty();
        if command.is_step && command.kind == Kind::Erase {
            self.end_job(die);
        } else if command.is_step && self.steps_follow_at_once() && !(is_free && command.was_kept) {
            // No other work may use the die: the job continues at once, unless a page that was kept is still leaving.
            if is_free {
                self.take_step(die);
            }
            return;
        }
        self.change(die);
    }

    // ---- channels -------------------------------------------------------------------------------------------------

    /// The time of some units on the channel.
    pub(super) fn data_ns(&self, units: usize) -> u64 {
        let bytes = units as u128 * u128::from(self.config.geometry.unit_bytes());
        (bytes * 1_000_000_000).div_ceil(u128::from(self.config.timing.channel.bytes_per_s)) as u64
    }

    /// The transfer that a command makes or needs: cycles for each plane, with whole pages for a program; or the units
    /// that a read requests of one plane.
    fn transfer_ns(&self, command: &Command) -> u64 {
        match (command.stage, command.kind) {
            (Stage::Out(part), _) => self.data_ns(command.parts[part].units),
            (_, Kind::Program) => {
                let page_ns = self.data_ns(self.config.geometry.units_per_page() as usize);
                command.parts.len() as u64 * (self.config.timing.command.0 + page_ns)
            }
            _ => command.parts.len() as u64 * self.config.timing.command.0,
        }
    }

    /// The command of a die that has or wants the channel.
    fn on_channel(&self, die: usize) -> &Command {
        let is_there = |command: &&Command| matches!(command.stage, Stage::In | Stage::Out(_));
        self.dies[die].commands.iter().find(is_there).expect("a command is on the channel")
    }

    /// Whether an event may follow the end of a die's transfer: data of a read has arrived, or a program is loaded and
    /// another may follow.
    pub(super) fn has_event_after_transfer(&self, die: usize) -> bool {
        let compose = compose_of(self.config);
        let has_cache = compose.builders.contains(&BuilderName::Cache) || self.pipelines();
        let command = self.on_channel(die);
        let is_load = command.kind == Kind::Program && command.stage == Stage::In;
        let is_kept = self.dies[die].commands.iter().any(|c| matches!(c.stage, Stage::Kept(_)));
        let is_followed = (has_cache && self.config.commands.cache_program) || is_kept;
        matches!(command.stage, Stage::Out(_)) || (is_load && is_followed)
    }

    fn want_channel(&mut self, die: usize) {
        let channel = self.channel_of(die);
        let c = &self.channels[channel];
        if let Some((other, end_ns)) = c.transfer
            && (end_ns, c.waiting.is_empty()) == (self.now_ns, true)
            && !self.has_event_after_transfer(other)
        {
            // The transfer ends at this very moment, and no event but the end of its array time follows. The first die
            // that asks gets the channel, before more urgent transfers that are requested later in this moment.
            self.transfer_ends(channel);
        }
        self.channels[channel].waiting.push(die);
        if self.channels[channel].waiting.len() == 1 {
            self.grant(channel);
        }
    }

    /// One transfer at a time: cycles without data first, then first come, first served. If collection goes first, its
    /// transfers do, too.
    pub(super) fn grant(&mut self, channel: usize) {
        let gc_first = matches!(&self.config.order, OrderConfig::Priority(p) if p.first == First::GcReadWrite);
        let c = &self.channels[channel];
        if c.transfer.is_some() || c.waiting.is_empty() || c.is_held {
            return;
        }
        let is_cycles = |&die: &usize| {
            let command = self.on_channel(die);
            command.stage == Stage::In && command.kind != Kind::Program
        };
        let is_urgent = |&die: &usize| {
            // Pages that were kept are the host's.
            let command = self.on_channel(die);
            gc_first && command.is_step && !(command.was_kept && matches!(command.stage, Stage::Out(_)))
        };
        let first = c.waiting.iter().position(is_cycles).or_else(|| c.waiting.iter().position(is_urgent)).unwrap_or(0);
        let die = c.waiting[first];
        let end_ns = self.now_ns + self.transfer_ns(self.on_channel(die));
        self.channels[channel].waiting.remove(first);
        self.channels[channel].transfer = Some((die, end_ns));
    }

    pub(super) fn transfer_ends(&mut self, channel: usize) {
        let (die, _) = self.channels[channel].transfer.take().expect("a transfer is under way");
        let has_event_after_transfer = self.has_event_after_transfer(die);
        let at = self.dies[die].commands.iter().position(|c| matches!(c.stage, Stage::In | Stage::Out(_)));
        let at = at.expect("a command is on the channel");
        match self.dies[die].commands[at].stage {
            Stage::Out(part) => self.data_arrives(channel, die, at, part),
            _ if self.in_array(die).is_some() => self.dies[die].commands[at].stage = Stage::Loaded,
            _ => {
                self.start_array(die, at, 0);
                let kept = |c: &Command| if let Stage::Kept(part) = c.stage { Some(part) } else { None };
                let mut commands = self.dies[die].commands.iter().enumerate();
                if let Some((at, part)) = commands.find_map(|(at, c)| Some((at, kept(c)?))) {
                    self.dies[die].commands[at].stage = Stage::Out(part);
                    self.want_channel(die);
                }
                if has_event_after_transfer {
                    self.change(die);
                }
            }
        }
        if has_event_after_transfer {
            // The die may send the cycles of its next command: it is visited before another die has the channel. A die
            // whose next page already waits to leave sends none.
            let c = &self.channels[channel];
            let is_wanted = c.transfer.is_none() && !c.waiting.is_empty() && !c.waiting.contains(&die);
            let has_cycles = self.config.timing.command.0 > 0;
            self.channels[channel].is_held = has_cycles && is_wanted && self.changed.contains(&die);
        }
        self.grant(channel);
    }

    /// A read's data of one plane is there. Those of the other planes follow without another die between.
    fn data_arrives(&mut self, channel: usize, die: usize, at: usize, part: usize) {
        let command = &mut self.dies[die].commands[at];
        let moved = command.page.filter(|_| part == 0);
        if part + 1 < command.parts.len() {
            let may_be_kept = moved.is_some() && self.keeps_partners();
            let command = &mut self.dies[die].commands[at];
            command.stage = if may_be_kept { Stage::Kept(part + 1) } else { Stage::Out(part + 1) };
            command.was_kept |= may_be_kept;
            let served = std::mem::take(&mut command.parts[part].txns);
            if !may_be_kept {
                let end_ns = self.now_ns + self.transfer_ns(&self.dies[die].commands[at]);
                self.channels[channel].transfer = Some((die, end_ns));
            }
            if let Some(page) = moved {
                self.serve_reads_of(die, page);
            }
            self.part_of_command_ends(&PlanePart { units: 0, txns: served });
            if may_be_kept && !self.program_before_partners(die, at) {
                let command = &mut self.dies[die].commands[at];
                (command.stage, command.was_kept) = (Stage::Out(part + 1), false);
                let end_ns = self.now_ns + self.transfer_ns(&self.dies[die].commands[at]);
                self.channels[channel].transfer = Some((die, end_ns));
            }
            return;
        }
        let command = self.dies[die].commands.remove(at);
        if let Some(page) = moved {
            self.serve_reads_of(die, page);
        }
        if let Some(full) = self.at_stage(die, Stage::Full) {
            self.dies[die].commands[full].stage = Stage::Out(0);
            self.want_channel(die);
        }
        self.part_of_command_ends(&command.parts[part]);
        self.command_ends(die, &command);
    }
}
