//! The binary records that blktrace collects, of either byte order: 48 bytes (magic, sequence u32; time, sector u64;
//! bytes, action, pid, device, cpu u32; error, payload length u16), then the payload.

use super::blkparse::{note_few, other_action};
use super::cursor::{LineError, sectors_to_bytes};
use super::records::{Fields, RecordFormat};
use super::registry::{Content, FormatRow, open_records};
use super::{Parsed, request};
use crate::Op;
use crate::spec::BlockAction;
use crate::units::counted;

/// The format.
pub(crate) const FORMAT: FormatRow = FormatRow {
    options: &["event"],
    help_if_late: Some(
        "blktrace writes one file for each CPU: give their base name, BASE for BASE.blktrace.0 and so on, and they are \
         merged by time, or merge them with `blkparse -i BASE -d FILE`; or raise `workload.reorder_window`, the records \
         held for sorting",
    ),
    ..FormatRow::new(
        "blktrace",
        Content::Known {
            recognises: Blktrace::recognises,
            why: "whose magic number it begins with",
            open: |opening| {
                let format = Blktrace::new(opening.options.event, opening.head);
                open_records(opening, format)
            },
        },
    )
};

/// The upper three bytes of every record's magic number; the lowest is the version.
const MAGIC: u32 = 0x6561_7400;
const VERSION: u32 = 7;

/// Categories, in the upper half of the action.
const CATEGORY_WRITE: u32 = 1 << 17;
const CATEGORY_READ: u32 = 1 << 16;
const CATEGORY_FLUSH: u32 = 1 << 18;
const CATEGORY_PASSED_THROUGH: u32 = 1 << 25;
const CATEGORY_NOTIFY: u32 = 1 << 26;
const CATEGORY_DISCARD: u32 = 1 << 29;

/// Reads blktrace.
pub(crate) struct Blktrace {
    wanted: BlockAction,
    big_endian: bool,
    event_counts: [u64; 3],
    /// Passed-through commands with data.
    passed_through: u64,
}

impl Blktrace {
    /// A reader for records in the byte order of the first record; little-endian if that has neither order.
    pub(crate) fn new(wanted: BlockAction, head: &[u8]) -> Self {
        Self { wanted, big_endian: has_magic(head, true), event_counts: [0; 3], passed_through: 0 }
    }

    /// Events of each action that moved data.
    pub(crate) fn event_counts(&self) -> &[u64; 3] {
        &self.event_counts
    }

    /// The note on this number of passed-through commands.
    pub(crate) fn note_passed_through(count: u64) -> Option<String> {
        let commands = counted(count, "passed-through command");
        (count > 0).then(|| format!("{commands} left out: such commands are no reads, writes or trims"))
    }

    /// Passed-through commands of the selected action with data.
    pub(crate) fn passed_through(&self) -> u64 {
        self.passed_through
    }

    pub(crate) fn recognises(head: &[u8]) -> bool {
        has_magic(head, false) || has_magic(head, true)
    }
}

fn has_magic(head: &[u8], big_endian: bool) -> bool {
    head.len() >= 48 && Fields { record: head, big_endian }.u32(0) == MAGIC | VERSION
}

impl RecordFormat for Blktrace {
    fn record_bytes(&self) -> usize {
        48
    }

    fn parse(&mut self, record: &[u8]) -> (Result<Parsed, LineError>, u64) {
        let fields = Fields { record, big_endian: self.big_endian };
        let magic = fields.u32(0);
        if magic != MAGIC | VERSION {
            return (Err(LineError(format!("its magic number is {magic:#010x}, not {:#010x}", MAGIC | VERSION))), 0);
        }
        let payload_bytes = u64::from(fields.u16(46));
        let action = fields.u32(28);
        let kind = match action & 0xffff {
            1 => BlockAction::Queued,
            7 => BlockAction::Issued,
            8 => BlockAction::Completed,
            _ => return (Ok(Parsed::Other), payload_bytes),
        };
        let op = if action & CATEGORY_DISCARD != 0 {
            Op::Trim
        } else if action & CATEGORY_WRITE != 0 {
            Op::Write
        } else {
            Op::Read
        };
        let len_bytes = u64::from(fields.u32(24));
        let moves_blocks = action & (CATEGORY_READ | CATEGORY_WRITE | CATEGORY_DISCARD) != 0;
        // Flushes have no bytes, passed-through commands no meaningful sector.
        let is_flush = action & CATEGORY_FLUSH != 0 && len_bytes == 0 && kind == self.wanted;
        if is_flush && action & (CATEGORY_PASSED_THROUGH | CATEGORY_NOTIFY) == 0 {
            return (Ok(Parsed::Flush), payload_bytes);
        }
        if action & CATEGORY_PASSED_THROUGH != 0 && action & CATEGORY_NOTIFY == 0 && len_bytes > 0 {
            self.passed_through += u64::from(kind == self.wanted);
        }
        if !moves_blocks || action & (CATEGORY_PASSED_THROUGH | CATEGORY_NOTIFY) != 0 || len_bytes == 0 {
            return (Ok(Parsed::Other), payload_bytes);
        }
        self.event_counts[kind as usize] += 1;
        if kind != self.wanted {
            return (Ok(Parsed::Other), payload_bytes);
        }
        let parsed = sectors_to_bytes(fields.u64(16))
            .map(|offset_bytes| request(fields.u64(8), op, offset_bytes, len_bytes, fields.u32(36)));
        (parsed, payload_bytes)
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = vec![
            format!("took the `{}` events of the block layer for requests", self.wanted),
            "blktrace writes one file for each CPU: this is one CPU's share, unless they were merged; their base name takes \
             all of them (BASE for BASE.blktrace.0 and so on)"
                .to_owned(),
        ];
        notes.extend(note_few(self.wanted, &self.event_counts));
        notes.extend(Self::note_passed_through(self.passed_through));
        notes
    }

    fn help_if_empty(&self) -> Option<String> {
        other_action(self.wanted, &self.event_counts)
    }

    fn device_name(&self, device: u32) -> Option<String> {
        Some(super::fiu::linux_name(device))
    }
}
