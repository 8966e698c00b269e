//! A timeline: the commands that use a die over time.
//!
//! A timeline is made from the log of commands: a row for each channel of some dies, and one for each of their planes,
//! each with what happened there and when. [`text`] draws it for terminals, tests and documents; `copyback-report`
//! draws it as SVG.

pub mod text;

use super::commands::{CommandRecord, PartRecord};
use crate::flash::Carries;
use crate::flash::command::{FlashOp, Source};
use crate::flash::geometry::Geometry;
use crate::flash::source::Account;
use crate::sim::index::{DieId, PlaneId};
use copyback_workload::units::format_duration_ns;

/// A die of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DriveDie {
    /// The drive: 0 if there is one.
    pub drive: u32,
    /// The die, counted over the drive.
    pub die: u32,
}

/// The use of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Use {
    /// A plane's register holds data that waits for the channel or the array.
    Held,
    /// Command cycles without data.
    Cycles,
    /// Data on its way into a register.
    DataIn,
    /// Data on its way out.
    DataOut,
    /// The channel is taken by another die.
    OtherDie,
    /// The array works.
    Array,
    /// A request is outstanding: see [`MarkedRequest`].
    Request,
}

/// A time in which a place is in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bar {
    /// Its first nanosecond.
    pub start_ns: u64,
    /// The first nanosecond after it.
    pub end_ns: u64,
    /// The use.
    pub in_use: Use,
    /// The source of the command.
    pub source: Source,
    /// The number of the request that it serves, if it serves one.
    pub request: Option<u64>,
    /// A few characters: see [`LEGEND`].
    pub label: String,
    /// All that is known of the command.
    pub detail: String,
}

/// A place and its bars, in the order of the commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The place: `channel 0`, `plane 1`; indices count over the drive. With several drives, the drive precedes it.
    pub name: String,
    /// When it was in use.
    pub bars: Vec<Bar>,
}

/// A window of time of one or more dies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeline {
    /// The dies.
    pub dies: Vec<DriveDie>,
    /// Whether there are several drives, so that names of dies and rows begin with the drive.
    pub names_drives: bool,
    /// Its begin.
    pub from_ns: u64,
    /// Its end.
    pub to_ns: u64,
    /// Their channels, then their planes; the drawn request precedes them.
    pub rows: Vec<Row>,
    /// The request that it is about, if it is about one.
    pub mark: Option<MarkedRequest>,
}

/// A request that a drawing is about: its arrival is the zero of the axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkedRequest {
    /// Its number.
    pub request: u64,
    /// `read` or `write`.
    pub op: &'static str,
    /// When it arrives.
    pub arrival_ns: u64,
    /// When it ends.
    pub end_ns: u64,
}

impl MarkedRequest {
    /// Its name: the operation and the request.
    fn name(&self) -> String {
        format!("{} {}", self.op, self.request)
    }

    /// The words for it: its kind, its arrival, and its duration.
    pub fn description(&self, arrival: &str, takes: &str) -> String {
        format!("{} arrives at {arrival} and takes {takes}", self.name())
    }
}

/// The axis of a drawing: all of its times are in one unit.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    /// The zero: the run's start, or the arrival of the request that a drawing is about.
    pub zero_ns: u64,
    /// The unit of all times.
    pub unit: &'static str,
    unit_ns: f64,
}

impl Axis {
    /// Round times, from the shortest: 1, 2, 5, 10 ns, and so on.
    pub fn round_steps_ns() -> impl Iterator<Item = u64> {
        (0..19).flat_map(|power| [1, 2, 5].map(|digit| digit * 10u64.pow(power)))
    }

    /// The axis of a timeline whose ticks are `tick_ns` apart. Its unit is the largest one that is at most ten times
    /// `tick_ns`, or at most the duration of the marked request.
    pub fn new(timeline: &Timeline, tick_ns: u64) -> Self {
        let units = [("s", 1e9), ("ms", 1e6), ("us", 1e3)];
        let takes_ns = timeline.mark.map_or(0, |mark| mark.end_ns - mark.arrival_ns);
        let fits = |&(_, unit_ns): &(&str, f64)| tick_ns as f64 >= unit_ns / 10.0 || takes_ns as f64 >= unit_ns;
        let (unit, unit_ns) = units.into_iter().find(fits).unwrap_or(("ns", 1.0));
        Self { zero_ns: timeline.mark.map_or(0, |mark| mark.arrival_ns), unit, unit_ns }
    }

    /// The number at a time of the run.
    pub fn label(&self, ns: u64) -> String {
        self.number(ns as f64 - self.zero_ns as f64)
    }

    /// A length of time, with its unit.
    pub fn length(&self, ns: u64) -> String {
        format!("{} {}", self.number(ns as f64), self.unit)
    }

    /// A time of the run and a later one, with their unit.
    fn span(&self, from_ns: u64, to_ns: u64) -> String {
        format!("{} to {} {}", self.label(from_ns), self.label(to_ns), self.unit)
    }

    fn number(&self, ns: f64) -> String {
        // No minus sign before a rounded zero.
        format!("{}", (ns / self.unit_ns * 1e3).round() / 1e3 + 0.0)
    }
}

/// The texts of labels.
pub const LEGEND: &[(&str, &str)] = &[
    ("R W C E", "garbage collection reads, programs or copies back the page at this offset of its block, or erases"),
    ("r w", "the host reads or writes, for the request of this number; without a number, a buffer evicts"),
    ("R/scrub", "another background task"),
];

impl Timeline {
    /// The timeline of dies of the only drive from `from_ns` to `to_ns`, or to the end of the last command. Transfers
    /// of other dies of a channel are shown as far as the log has them.
    ///
    /// # Panics
    /// When the drive has no such die.
    pub fn new(
        commands: &[CommandRecord],
        geometry: &Geometry,
        dies: &[u32],
        from_ns: u64,
        to_ns: Option<u64>,
    ) -> Self {
        let dies: Vec<DriveDie> = dies.iter().map(|&die| DriveDie { drive: 0, die }).collect();
        Self::of_drives(commands, std::slice::from_ref(geometry), &dies, from_ns, to_ns)
    }

    /// The same of dies of several drives, whose flash has these geometries. Each die has rows of its own.
    ///
    /// # Panics
    /// When there is no such drive, or it has no such die, or a command names planes of another die. The geometries
    /// must be those of the flash: the translation layer of a drive with rows of planes has fewer planes.
    pub fn of_drives(
        commands: &[CommandRecord],
        geometries: &[Geometry],
        dies: &[DriveDie],
        from_ns: u64,
        to_ns: Option<u64>,
    ) -> Self {
        for &DriveDie { drive, die } in dies {
            let count = geometries[drive as usize].dies;
            assert!(die < count, "the drive has {count} dies, counted from 0, and no die {die}");
        }
        let geometry = |drive: u32| &geometries[drive as usize];
        for command in commands {
            let DriveDie { drive, die } = die_of(command);
            let is_of_die = |plane: u32| geometry(drive).die_of(PlaneId(plane)) == DieId(die);
            assert!(
                command.parts.iter().all(|part| is_of_die(part.plane)),
                "the geometry is not the flash's: {command:?}"
            );
        }
        let channel_of = |of: DriveDie| (of.drive, geometry(of.drive).channel_of(DieId(of.die)));
        let mut channels: Vec<_> = dies.iter().map(|&of| channel_of(of)).collect();
        channels.dedup();
        let names_drives = geometries.len() > 1;
        let row = |drive: u32, name: String, mut bars: Vec<Bar>| {
            if !names_drives {
                return Row { name, bars };
            }
            bars.iter_mut().for_each(|bar| bar.detail = format!("drive {drive}, {}", bar.detail));
            Row { name: format!("drive {drive} {name}"), bars }
        };
        let mut rows = Vec::new();
        for channel in channels {
            let on_channel = |command: &&CommandRecord| channel_of(die_of(command)) == channel;
            let transfers = commands.iter().filter(on_channel).flat_map(|command| transfers_of(command, dies));
            rows.push(row(channel.0, format!("channel {}", channel.1.0), transfers.collect()));
        }
        for (drive, plane) in dies.iter().flat_map(|&DriveDie { drive, die }| {
            geometry(drive).planes_of(DieId(die)).map(move |plane| (drive, plane.0))
        }) {
            let of_drive = commands.iter().filter(|command| command.drive == drive);
            let parts = of_drive.flat_map(|command| part_of(command, plane));
            rows.push(row(drive, format!("plane {plane}"), parts.collect()));
        }
        for row in &mut rows {
            row.bars.retain(|bar| {
                bar.end_ns > from_ns && to_ns.is_none_or(|to_ns| bar.start_ns < to_ns) && bar.start_ns < bar.end_ns
            });
        }
        let last_ns = rows.iter().flat_map(|row| &row.bars).map(|bar| bar.end_ns).max();
        let to_ns = to_ns.or(last_ns).unwrap_or(from_ns).max(from_ns);
        Self { dies: dies.to_vec(), names_drives, from_ns, to_ns, rows, mark: None }
    }

    /// Marks a request: it has a row, its commands are marked, and times count from its arrival.
    pub fn about(mut self, mark: MarkedRequest) -> Self {
        let bar = Bar {
            start_ns: mark.arrival_ns,
            end_ns: mark.end_ns,
            in_use: Use::Request,
            source: Source::HOST,
            request: Some(mark.request),
            label: mark.name(),
            detail: mark.description(&rounded(mark.arrival_ns), &rounded(mark.end_ns - mark.arrival_ns)),
        };
        self.rows.insert(0, Row { name: "request".into(), bars: vec![bar] });
        self.mark = Some(mark);
        self
    }

    /// The dies as a title names them.
    pub fn title(&self) -> String {
        if self.names_drives {
            let of_drive = |dies: &[DriveDie]| format!("drive {} {}", dies[0].drive, named(dies));
            let drives: Vec<String> = self.dies.chunk_by(|a, b| a.drive == b.drive).map(of_drive).collect();
            return drives.join("; ");
        }
        named(&self.dies)
    }

    /// The part of the window from the first command of the dies to their last one, which drawings show; all of it if
    /// there is none.
    pub fn in_use_ns(&self) -> (u64, u64) {
        let bars = || self.rows.iter().flat_map(|row| &row.bars).filter(|bar| bar.in_use != Use::OtherDie);
        let first_ns = bars().map(|bar| bar.start_ns).min().unwrap_or(self.from_ns).max(self.from_ns);
        let last_ns = bars().map(|bar| bar.end_ns).max().unwrap_or(self.to_ns).min(self.to_ns);
        (first_ns, last_ns)
    }

    /// The parts of the window before and after what is drawn, in which nothing happens; none if there are none.
    pub fn idle(&self, (first_ns, last_ns): (u64, u64), axis: &Axis) -> Option<String> {
        let parts = [(self.from_ns, first_ns), (last_ns, self.to_ns)];
        let idle: Vec<String> = parts
            .into_iter()
            // Not if both ends have the same label.
            .filter(|(from_ns, to_ns)| from_ns < to_ns && axis.label(*from_ns) != axis.label(*to_ns))
            .map(|(from_ns, to_ns)| axis.span(from_ns, to_ns))
            .collect();
        (!idle.is_empty()).then(|| format!("idle: {}", idle.join(", ")))
    }

    /// The shortest array time that is shown.
    fn shortest_array_ns(&self) -> Option<u64> {
        let bars = self.rows.iter().flat_map(|row| &row.bars);
        bars.filter(|bar| bar.in_use == Use::Array).map(|bar| bar.end_ns - bar.start_ns).min()
    }
}

/// A time with three decimals, in the largest unit that is not longer than the time.
fn rounded(ns: u64) -> String {
    let units = [("s", 1e9), ("ms", 1e6), ("us", 1e3)];
    let (unit, unit_ns) = units.into_iter().find(|(_, unit_ns)| ns as f64 >= *unit_ns).unwrap_or(("ns", 1.0));
    format!("{} {unit}", (ns as f64 / unit_ns * 1e3).round() / 1e3)
}

/// Dies of one drive by their numbers.
fn named(dies: &[DriveDie]) -> String {
    let names: Vec<String> = dies.iter().map(|of| of.die.to_string()).collect();
    format!("{} {}", if names.len() == 1 { "die" } else { "dies" }, names.join(", "))
}

/// The die of a command.
pub fn die_of(command: &CommandRecord) -> DriveDie {
    DriveDie { drive: command.drive, die: command.die }
}

/// A command's time on the channel, from the view of `dies`.
fn transfers_of(command: &CommandRecord, dies: &[DriveDie]) -> Vec<Bar> {
    let mut leaving = 0;
    let bar = |transfer: &super::commands::Transfer| {
        let (in_use, at) = match transfer.carries {
            Carries::Cycles => (Use::Cycles, 0),
            Carries::DataIn => (Use::DataIn, 0),
            Carries::DataOut { .. } => {
                leaving += 1;
                (Use::DataOut, leaving - 1)
            }
        };
        let part = &command.parts[at];
        let in_use = if dies.contains(&die_of(command)) { in_use } else { Use::OtherDie };
        bar(command, part, in_use, (transfer.start_ns, transfer.end_ns))
    };
    command.transfers.iter().map(bar).collect()
}

/// A command's time on one plane: in parts, each of which may be missing, except the array's.
fn part_of(command: &CommandRecord, plane: u32) -> Vec<Bar> {
    let Some(at) = command.parts.iter().position(|part| part.plane == plane) else { return Vec::new() };
    let part = &command.parts[at];
    let array_ns = command.array_ns();
    let mut bars = Vec::new();
    let mut add = |in_use, times_ns| bars.push(bar(command, part, in_use, times_ns));
    match command.op {
        FlashOp::Read => {
            if let Some(leaving) = command.leaves(at) {
                add(Use::Held, (array_ns.1, leaving.start_ns));
                add(Use::DataOut, (leaving.start_ns, leaving.end_ns));
            }
        }
        FlashOp::Program => {
            if let Some(loading) = command.transfers.first() {
                add(Use::DataIn, (loading.start_ns, loading.end_ns));
                add(Use::Held, (loading.end_ns, array_ns.0));
            }
        }
        FlashOp::Erase | FlashOp::Copyback => {}
    }
    command.array_times_ns.iter().for_each(|&time_ns| add(Use::Array, time_ns));
    bars
}

fn bar(command: &CommandRecord, part: &PartRecord, in_use: Use, (start_ns, end_ns): (u64, u64)) -> Bar {
    let (source, request) = (part.source, part.request);
    Bar { start_ns, end_ns, in_use, source, request, label: label(command.op, part), detail: detail(command, part) }
}

fn label(op: FlashOp, part: &PartRecord) -> String {
    let letter = match op {
        FlashOp::Read => 'R',
        FlashOp::Program => 'W',
        FlashOp::Erase => 'E',
        FlashOp::Copyback => 'C',
    };
    match part.source.account() {
        Account::Host => {
            format!("{}{}", letter.to_ascii_lowercase(), part.request.map_or_else(String::new, |n| n.to_string()))
        }
        Account::Gc if op == FlashOp::Erase => letter.to_string(),
        Account::Gc => format!("{letter}{}", part.page),
        _ => format!("{letter}/{}", part.source.name()),
    }
}

fn detail(command: &CommandRecord, part: &PartRecord) -> String {
    let op = op_word(command.op);
    let page = if command.op == FlashOp::Erase { String::new() } else { format!(" page {}", part.page) };
    let request = part.request.map_or_else(String::new, |number| format!(", request {number}"));
    let planes =
        if command.parts.len() > 1 { format!(", one of {} planes", command.parts.len()) } else { String::new() };
    format!(
        "command {}: {op} for {}{request}, plane {} block {}{page}{planes}, issued at {}, array {} to {}, done at {}",
        command.number,
        part.source.name(),
        part.plane,
        part.block,
        format_duration_ns(command.issued_ns),
        format_duration_ns(command.array_ns().0),
        format_duration_ns(command.array_ns().1),
        format_duration_ns(command.end_ns()),
    )
}

/// The operation of a command, for drawings.
pub fn op_word(op: FlashOp) -> &'static str {
    match op {
        FlashOp::Read => "read",
        FlashOp::Program => "program",
        FlashOp::Erase => "erase",
        FlashOp::Copyback => "copyback",
    }
}
