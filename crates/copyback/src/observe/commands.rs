//! The log of flash commands: their source, and the times in which each resource was in use.
//!
//! The log receives the same events as the ONFI protocol checker (commands, transfers, array times) and stores them. A
//! run keeps one only on request: [`crate::run::Options::keep_commands`].

use crate::flash::Carries;
use crate::flash::command::{FlashOp, Source};
use crate::flash::geometry::Geometry;
use crate::sim::index::{DieId, PageId, PlaneId, RequestId};

/// A time in which a command had the channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Its first nanosecond.
    pub start_ns: u64,
    /// The first nanosecond after it.
    pub end_ns: u64,
    /// What went over the channel. Data of a read leaves plane by plane, in the order of the command's parts.
    pub carries: Carries,
}

/// One plane's part in a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartRecord {
    /// The plane, counted over the drive.
    pub plane: u32,
    /// The block, counted over its plane.
    pub block: u32,
    /// The page, counted over its block: 0 for an erase, the destination for a copyback.
    pub page: u32,
    /// The host request of the data, by its number in the order of arrival, from 0; of several that share the page, the
    /// first. None for background work and for evictions of a write buffer.
    pub request: Option<u64>,
    /// For whom the flash works here; in a command of several planes not necessarily for the same.
    pub source: Source,
}

/// One command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandRecord {
    /// The drive, if there are several.
    pub drive: u32,
    /// Its number in the order of issue, from 0, on its drive.
    pub number: u64,
    /// The die, counted over the drive.
    pub die: u32,
    /// The operation.
    pub op: FlashOp,
    /// Its planes, the one that the command was made for first.
    pub parts: Vec<PartRecord>,
    /// When the die took it.
    pub issued_ns: u64,
    /// When it had the channel, in order.
    pub transfers: Vec<Transfer>,
    /// The array's time for it: start and end. Equal if the run ended before.
    pub array_ns: (u64, u64),
}

impl CommandRecord {
    /// The time at which the die completed it: the end of its last transfer or array time.
    pub fn end_ns(&self) -> u64 {
        let transferred_ns = self.transfers.last().map_or(0, |transfer| transfer.end_ns);
        self.issued_ns.max(self.array_ns.1).max(transferred_ns)
    }

    /// When data of its part `at` left, for a read.
    pub fn leaves(&self, at: usize) -> Option<Transfer> {
        let mut leaving = self.transfers.iter().filter(|t| matches!(t.carries, Carries::DataOut { .. }));
        leaving.nth(at).copied()
    }
}

/// Which commands are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandFilter {
    /// Those that end after this time,
    pub from_ns: u64,
    /// are issued before this one,
    pub to_ns: u64,
    /// and are of this die, counted over the drive; of any if none is named.
    pub die: Option<u32>,
    /// At most this many of a drive.
    pub most: usize,
}

impl Default for CommandFilter {
    /// All of them.
    fn default() -> Self {
        Self { from_ns: 0, to_ns: u64::MAX, die: None, most: usize::MAX }
    }
}

/// A command at its issue, for the log.
pub(crate) struct Issued<'a> {
    pub die: DieId,
    /// Which of the die's two current commands it is.
    pub at: usize,
    pub op: FlashOp,
    pub now_ns: u64,
    /// Plane, page, request and source of each part.
    pub parts: &'a [(PlaneId, PageId, RequestId, Source)],
}

/// The log of one drive.
pub struct CommandLog {
    drive: u32,
    filter: CommandFilter,
    geometry: Geometry,
    next_number: u64,
    /// Each die's commands, executing, or completed and not replaced yet.
    under_way: Vec<[Option<CommandRecord>; 2]>,
    kept: Vec<CommandRecord>,
    /// The numbers of the outstanding requests, by their entries.
    request_numbers: Vec<u64>,
}

impl CommandLog {
    /// An empty log of the drive of this number.
    pub(crate) fn new(drive: u32, filter: CommandFilter, geometry: &Geometry) -> Self {
        Self {
            drive,
            filter,
            geometry: geometry.clone(),
            next_number: 0,
            under_way: vec![[None, None]; geometry.dies as usize],
            kept: Vec::new(),
            request_numbers: Vec::new(),
        }
    }

    /// A request began.
    pub(crate) fn on_request(&mut self, id: RequestId, number: u64) {
        if id.at() >= self.request_numbers.len() {
            self.request_numbers.resize(id.at() + 1, 0);
        }
        self.request_numbers[id.at()] = number;
    }

    /// A command was issued: whatever was in its place has ended.
    pub(crate) fn on_command(&mut self, issued: &Issued<'_>) {
        let number = self.next_number;
        self.next_number += 1;
        let parts = issued.parts.iter().map(|&(plane, page, request, source)| {
            let (block, offset) = self.geometry.block_and_offset(page);
            PartRecord {
                plane: plane.0,
                block: self.geometry.block_offset(block),
                page: offset,
                request: request.is_some().then(|| self.request_numbers[request.at()]),
                source,
            }
        });
        let record = CommandRecord {
            drive: self.drive,
            number,
            die: issued.die.0,
            op: issued.op,
            parts: parts.collect(),
            issued_ns: issued.now_ns,
            transfers: Vec::new(),
            array_ns: (issued.now_ns, issued.now_ns),
        };
        let before = self.under_way[issued.die.at()][issued.at].replace(record);
        self.keep(before);
    }

    /// A command has the channel.
    pub(crate) fn on_transfer(&mut self, die: DieId, at: usize, transfer: Transfer) {
        if let Some(record) = &mut self.under_way[die.at()][at] {
            record.transfers.push(transfer);
        }
    }

    /// The array works for a command.
    pub(crate) fn on_array(&mut self, die: DieId, at: usize, start_ns: u64, end_ns: u64) {
        if let Some(record) = &mut self.under_way[die.at()][at] {
            record.array_ns = (start_ns, end_ns);
        }
    }

    fn keep(&mut self, record: Option<CommandRecord>) {
        let CommandFilter { from_ns, to_ns, die, most } = self.filter;
        if self.kept.len() >= most {
            return;
        }
        let is_kept =
            |r: &CommandRecord| r.end_ns() > from_ns && r.issued_ns < to_ns && die.is_none_or(|die| die == r.die);
        self.kept.extend(record.filter(is_kept));
    }

    /// The commands in the order of their issue.
    pub(crate) fn finish(mut self) -> Vec<CommandRecord> {
        for [first, second] in std::mem::take(&mut self.under_way) {
            self.keep(first);
            self.keep(second);
        }
        self.kept.sort_by_key(|record| record.number);
        self.kept
    }
}
