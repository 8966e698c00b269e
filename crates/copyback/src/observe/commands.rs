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
    /// The source of this part; parts of one command may have different sources.
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
    /// Its planes; the first is the plane that the command was made for.
    pub parts: Vec<PartRecord>,
    /// When the die took it.
    pub issued_ns: u64,
    /// When it had the channel, in order.
    pub transfers: Vec<Transfer>,
    /// The times in which the array worked for it, in order: start and end of each. Invariant: not empty; the only one
    /// has no duration if the run ended before the array began.
    pub array_times_ns: Vec<(u64, u64)>,
}

impl CommandRecord {
    /// The array's time for it, from the first start to the last end.
    pub fn array_ns(&self) -> (u64, u64) {
        let times = &self.array_times_ns;
        (times.first().map_or(self.issued_ns, |time| time.0), times.last().map_or(self.issued_ns, |time| time.1))
    }

    /// The time at which the die completed it: the end of its last transfer or array time.
    pub fn end_ns(&self) -> u64 {
        let transferred_ns = self.transfers.last().map_or(0, |transfer| transfer.end_ns);
        self.issued_ns.max(self.array_ns().1).max(transferred_ns)
    }

    /// Whether the die works on it in a time window: it ends after the begin, and is issued before the end.
    pub fn is_within(&self, [from_ns, to_ns]: [u64; 2]) -> bool {
        self.end_ns() > from_ns && self.issued_ns < to_ns
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
    /// The begin and the end of time windows. A command of any of them is kept. A window that ends at 0 is none.
    pub windows: [[u64; 2]; WINDOWS],
    /// The die, counted over the drive; `None` for all.
    pub die: Option<u32>,
    /// Most commands of a drive in each window.
    pub most: [usize; WINDOWS],
}

/// Time windows of a filter: two of drawings, and one to find out when a drive works at all.
pub const WINDOWS: usize = 3;

impl Default for CommandFilter {
    /// All of them.
    fn default() -> Self {
        Self { windows: [[0, u64::MAX], [0, 0], [0, 0]], die: None, most: [usize::MAX; WINDOWS] }
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
    /// The number of kept commands in each window of the filter.
    kept_in: [usize; WINDOWS],
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
            kept_in: [0; WINDOWS],
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
        let before = self.under_way[issued.die.at()][issued.at].take();
        self.keep(before);
        if !self.may_keep(issued.die, issued.now_ns) {
            return;
        }
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
            array_times_ns: vec![(issued.now_ns, issued.now_ns)],
        };
        self.under_way[issued.die.at()][issued.at] = Some(record);
    }

    /// Whether the filter can keep a command that is issued now: a window has not ended, and is not full.
    fn may_keep(&self, die: DieId, now_ns: u64) -> bool {
        let CommandFilter { windows, die: only, most } = self.filter;
        let windows = windows.into_iter().zip(self.kept_in.into_iter().zip(most));
        let mut open = windows.filter(|&([_, to_ns], (kept, most))| now_ns < to_ns && kept < most);
        only.is_none_or(|only| only == die.0) && open.next().is_some()
    }

    /// A command has the channel.
    pub(crate) fn on_transfer(&mut self, die: DieId, at: usize, transfer: Transfer) {
        if let Some(record) = &mut self.under_way[die.at()][at] {
            record.transfers.push(transfer);
        }
    }

    /// The array works for a command, from `start_ns` on. A time with the same start corrects the end.
    pub(crate) fn on_array(&mut self, die: DieId, at: usize, start_ns: u64, end_ns: u64) {
        if let Some(record) = &mut self.under_way[die.at()][at] {
            let begun = |&(from_ns, to_ns): &(u64, u64)| from_ns < to_ns && from_ns != start_ns;
            record.array_times_ns.retain(begun);
            record.array_times_ns.push((start_ns, end_ns));
        }
    }

    fn keep(&mut self, record: Option<CommandRecord>) {
        let Some(record) = record else { return };
        let mut is_kept = false;
        let windows = self.filter.windows.into_iter().zip(self.filter.most);
        for ((window, most), kept) in windows.zip(&mut self.kept_in) {
            if *kept < most && record.is_within(window) {
                *kept += 1;
                is_kept = true;
            }
        }
        if is_kept {
            self.kept.push(record);
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::config::RunConfig;

    /// A command outside of all windows is counted, but not kept.
    #[test]
    fn no_record_is_made_after_the_last_window() {
        let text = r#"
            capacity = { over_provisioning = 0.5 }
            timing = { read = "50 us", program = "500 us", erase = "3 ms", channel = "100 MB/s" }
            geometry.channels = 1
            geometry.chips_per_channel = 1
            geometry.dies_per_chip = 1
            geometry.planes_per_die = 1
            geometry.blocks_per_plane = 8
            geometry.pages_per_block = 4
            geometry.page_size = "4 KiB"
        "#;
        let config: RunConfig = crate::config::from_toml(text).expect("a configuration");
        let filter =
            CommandFilter { windows: [[50, 100], [0, 20], [0, 0]], most: [2; WINDOWS], ..CommandFilter::default() };
        let mut log = CommandLog::new(0, filter, &Geometry::new(&config.device()));
        let mut issue = |now_ns| {
            let parts = [(PlaneId(0), PageId(0), RequestId::NONE, Source::GC)];
            log.on_command(&Issued { die: DieId(0), at: 0, op: FlashOp::Read, now_ns, parts: &parts });
            log.on_array(DieId(0), 0, now_ns, now_ns + 5);
            log.under_way[0][0].is_some()
        };
        // The first window is full after two commands, at 80 ns, before its end.
        assert_eq!([5, 30, 60, 70, 80, 110].map(&mut issue), [true, true, true, true, false, false]);
        let numbers: Vec<u64> = log.finish().iter().map(|record| record.number).collect();
        assert_eq!(numbers, [0, 2, 3]);
    }
}
