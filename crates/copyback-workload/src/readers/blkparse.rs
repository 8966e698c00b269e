//! The text that blkparse prints by default, and the form of SNIA's YCSB/RocksDB traces (`ssdtrace`): `major,minor cpu
//! sequence seconds pid action rwbs sector + sectors [name]`.
//!
//! Events that move no data have no `+ sectors`: flushes, and completions of requests whose data went with another.

use super::cursor::{Cursor, LineError, sectors_to_bytes, shown};
use super::fiu::{linux_device_of, linux_name};
use super::other_commands::{OtherCommands, has_data, is_zone_append};
use super::registry::{FormatRow, lines};
use super::{LineFormat, Parsed, request};
use crate::Op;
use crate::spec::BlockAction;

/// The format.
pub(crate) const FORMAT: FormatRow =
    FormatRow { options: &["event"], ..lines!("blkparse", |options| Blkparse::new(options.event)) };

/// Reads blkparse's text.
pub(crate) struct Blkparse {
    wanted: BlockAction,
    /// Counts of events of each action that moved data, for the error if the selected action never occurs.
    event_counts: [u64; 3],
    in_summary: bool,
    others: OtherCommands,
}

impl Blkparse {
    pub(crate) fn new(wanted: BlockAction) -> Self {
        Self { wanted, event_counts: [0; 3], in_summary: false, others: OtherCommands::default() }
    }
}

/// If an action has this many times fewer events than another, it is unlikely to be the host's requests.
const FEW: u64 = 2;

/// The note if a trace has far more events of another action: the block layer merged most requests, or the recording
/// lost or omitted events.
pub(crate) fn note_few(wanted: BlockAction, event_counts: &[u64; 3]) -> Option<String> {
    let count = event_counts[wanted as usize];
    let (other, more) = BlockAction::ALL.iter().zip(event_counts).max_by_key(|(_, count)| **count)?;
    (FEW * count <= *more && *other != wanted && count > 0).then(|| {
        format!(
            "only {count} `{wanted}` events move data, beside {more} `{other}` events: requests were merged, or events \
             are missing; --set workload.event={other} takes the others"
        )
    })
}

/// The setting to suggest if a trace has events, but none of the selected action.
pub(crate) fn other_action(wanted: BlockAction, event_counts: &[u64; 3]) -> Option<String> {
    let (other, count) =
        BlockAction::ALL.iter().zip(event_counts).filter(|(action, _)| **action != wanted).max_by_key(|x| x.1)?;
    (*count > 0)
        .then(|| format!("no `{wanted}` event moves data, but {count} `{other}` do: --set workload.event={other}"))
}

/// Whether an `rwbs` word requests a flush before anything else.
pub(crate) fn is_flush(rwbs: &[u8]) -> bool {
    rwbs.first() == Some(&b'F')
}

/// The operation of an `rwbs` word; `None` if it moves no data.
pub(crate) fn operation(rwbs: &[u8]) -> Option<Op> {
    if is_zone_append(rwbs) {
        return Some(Op::Write);
    }
    // A leading F is a flush before the request itself; discards and secure erases carry a D.
    let kind = rwbs.iter().find(|letter| **letter != b'F')?;
    match kind {
        b'D' => Some(Op::Trim),
        b'R' => Some(Op::Read),
        b'W' => Some(Op::Write),
        _ => None,
    }
}

impl Blkparse {
    /// The meaning of a line without data: a flush, counted once, or nothing.
    fn without_data(&self, action: usize, rwbs: &[u8]) -> Parsed {
        let is_counted = BlockAction::ALL[action] == self.wanted;
        if is_counted && is_flush(rwbs) { Parsed::Flush } else { Parsed::Other }
    }

    /// Counts a command with data that is no read, write or trim. Returns the meaning of its line.
    fn other(&mut self, action: usize, rwbs: &[u8], text: &[u8]) -> Parsed {
        let parsed = self.without_data(action, rwbs);
        if BlockAction::ALL[action] == self.wanted && !is_flush(rwbs) && has_data(text) {
            self.others.add(rwbs);
        }
        parsed
    }
}

impl LineFormat for Blkparse {
    fn parse(&mut self, line: &[u8]) -> Result<Parsed, LineError> {
        // Tables of totals follow the events.
        if line.starts_with(b"CPU") || line.starts_with(b"Total (") {
            self.in_summary = true;
        }
        if self.in_summary {
            return Ok(Parsed::Other);
        }
        let mut at = Cursor::new(line);
        let device = at.word_as(linux_device_of)?;
        at.word_as(|word| word.uint("a CPU"))?;
        at.word_as(|word| word.uint("a sequence number"))?;
        let arrival_ns = at.word_as(|word| word.decimal(9, "a time in seconds"))?;
        at.word_as(|word| word.uint("a process id"))?;
        let action = at.word();
        let Some(action) = BlockAction::ALL.iter().position(|known| known.word().as_bytes() == action) else {
            if action.is_empty() || action.len() > 3 || !action.is_ascii() {
                return Err(LineError(format!("expected an event's letters, not `{}`", shown(action))));
            }
            return Ok(Parsed::Other);
        };
        let rwbs = at.word();
        let without_data = self.without_data(action, rwbs);
        let Some(op) = operation(rwbs) else { return Ok(self.other(action, rwbs, at.rest)) };
        // Passed-through commands have a command in parentheses, perhaps after a number of bytes, and no sector.
        if !at.rest.trim_ascii_start().first().is_some_and(u8::is_ascii_digit) {
            return Ok(without_data);
        }
        let text = at.rest;
        let sector = at.word_as(|word| word.uint("a sector"))?;
        if at.rest.trim_ascii_start().starts_with(b"(") {
            return Ok(self.other(action, rwbs, text));
        }
        // Without data: the error code of a completion or the process' name follows at once.
        if at.rest.trim_ascii_start().starts_with(b"[") {
            return Ok(without_data);
        }
        at.word_as(|word| word.byte(b'+', "`+`"))?;
        let sectors = at.word_as(|word| word.uint("a number of sectors"))?;
        self.event_counts[action] += 1;
        if BlockAction::ALL[action] != self.wanted {
            return Ok(Parsed::Other);
        }
        if is_zone_append(rwbs) {
            self.others.add_zone_append();
        }
        Ok(request(arrival_ns, op, sectors_to_bytes(sector)?, sectors_to_bytes(sectors)?, device))
    }

    fn is_certain(&self) -> bool {
        self.event_counts.iter().any(|count| *count > 0)
    }

    fn device_name(&self, device: u32) -> Option<String> {
        Some(linux_name(device))
    }

    fn notes(&self) -> Vec<String> {
        let taken = format!("took the `{}` events of the block layer for requests", self.wanted);
        let mut notes: Vec<String> = std::iter::once(taken).chain(note_few(self.wanted, &self.event_counts)).collect();
        self.others.notes(&mut notes);
        notes
    }

    fn help_if_empty(&self) -> Option<String> {
        other_action(self.wanted, &self.event_counts)
    }
}
