//! Linux tracepoints as text, as ftrace (`trace_pipe`), trace-cmd, perf script and Android's atrace print them: a
//! process and a CPU, the time in seconds followed by a colon, the event's name, and its fields.
//!
//! | event | what follows its name |
//! |---|---|
//! | `block_rq_issue` (D) | `major,minor rwbs bytes (command) sector + sectors [process]` |
//! | `block_rq_complete` (C) | `major,minor rwbs (command) sector + sectors [error]` |
//! | `block_bio_queue` (Q) | `major,minor rwbs sector + sectors [process]` |
//! | `ufshcd_command` | `send` (D) or `complete` (C), then `: host: tag: n, DB: n, size: bytes, LBA: block, ...` |
//! | events of the tracer `blk` | no name: `major,minor`, the event's letter, `rwbs sector + sectors [process]` |
//!
//! Priorities and other fields that newer kernels print after the sectors are ignored, as are all other events.

use super::blkparse::{is_flush, note_few, operation, other_action};
use super::cursor::{Cursor, LineError, sectors_to_bytes, shown};
use super::fiu::{linux_device_of, linux_name};
use super::names::Names;
use super::other_commands::{OtherCommands, has_data, is_zone_append};
use super::registry::{FormatRow, lines};
use super::{LineFormat, Parsed, request};
use crate::Op;
use crate::spec::BlockAction;
use crate::units::counted;

/// The format.
pub(crate) const FORMAT: FormatRow =
    FormatRow { options: &["event"], ..lines!("tracepoints", |options| Tracepoints::new(options.event)) };

/// Reads Linux tracepoints.
pub(crate) struct Tracepoints {
    wanted: BlockAction,
    /// Events of each action that moved data, whether wanted or not.
    event_counts: [u64; 3],
    /// UFS hosts, with numbers above Linux' device numbers.
    hosts: Names,
    /// Whether requests were events of the block layer.
    has_block_events: bool,
    ufs_unit: Option<u64>,
    lost_lines: u64,
    /// UFS reads, writes and trims whose size Linux does not print.
    without_size: u64,
    others: OtherCommands,
}

/// The unit of addresses in UFS events: since Linux 5.14 logical blocks, 4 KiB on all UFS devices; before, sectors.
const UFS_BLOCK_BYTES: u64 = 4096;
const SECTOR_BYTES: u64 = 512;

/// The first number of a UFS host: the highest major number of twelve bits, which no Linux device has.
const HOSTS_FROM: u32 = 0xfff << 20;

impl Tracepoints {
    pub(crate) fn new(wanted: BlockAction) -> Self {
        Self {
            wanted,
            event_counts: [0; 3],
            hosts: Names::default(),
            has_block_events: false,
            ufs_unit: None,
            lost_lines: 0,
            without_size: 0,
            others: OtherCommands::default(),
        }
    }

    /// Counts an event that moves data, and makes a request of it if its action is selected.
    fn found(&mut self, action: BlockAction, parsed: Parsed) -> Parsed {
        self.event_counts[action as usize] += 1;
        if action == self.wanted { parsed } else { Parsed::Other }
    }

    /// An event of the block layer, from the text after its name.
    fn block(&mut self, arrival_ns: u64, action: BlockAction, mut at: Cursor<'_>) -> Result<Parsed, LineError> {
        let device = at.word_as(linux_device_of)?;
        self.block_of(arrival_ns, action, device, at)
    }

    /// An event of the block layer, from the text after the device.
    fn block_of(
        &mut self,
        arrival_ns: u64,
        action: BlockAction,
        device: u32,
        mut at: Cursor<'_>,
    ) -> Result<Parsed, LineError> {
        let rwbs = at.word();
        if rwbs.is_empty() || rwbs.len() > 10 || !rwbs.iter().all(u8::is_ascii_uppercase) {
            return Err(LineError(format!("expected letters such as WS, not `{}`", shown(rwbs))));
        }
        let is_counted = action == self.wanted && is_flush(rwbs);
        let without_data = || if is_counted { Parsed::Flush } else { Parsed::Other };
        let Some(op) = operation(rwbs) else {
            if action == self.wanted && !is_flush(rwbs) && has_data(at.rest) {
                self.others.add(rwbs);
            }
            return Ok(without_data());
        };
        // Bytes and a command in parentheses precede the sector, if present.
        if let Some(end) = at.rest.iter().position(|byte| *byte == b')') {
            let is_before = at.rest.iter().position(|byte| *byte == b'+').is_none_or(|plus| end < plus);
            if is_before {
                at.rest = &at.rest[end + 1..];
            }
        }
        let sector = at.word_as(|word| word.uint("a sector"))?;
        // A completion without data: its error follows at once.
        if at.rest.trim_ascii_start().starts_with(b"[") {
            return Ok(without_data());
        }
        at.word_as(|word| word.byte(b'+', "`+`"))?;
        let sectors = at.word_as(|word| word.uint("a number of sectors"))?;
        // A flush has no sector, and prints the highest number.
        if sectors == 0 {
            return Ok(without_data());
        }
        let parsed = request(arrival_ns, op, sectors_to_bytes(sector)?, sectors_to_bytes(sectors)?, device);
        self.has_block_events |= action == self.wanted;
        if action == self.wanted && is_zone_append(rwbs) {
            self.others.add_zone_append();
        }
        Ok(self.found(action, parsed))
    }

    /// An event of a UFS host, from the text after its name.
    fn ufs(&mut self, arrival_ns: u64, at: Cursor<'_>) -> Result<Parsed, LineError> {
        let text = at.rest.trim_ascii_start();
        let kind = &text[..text.iter().position(|byte| *byte == b':').unwrap_or(text.len())];
        let (action, unit) = match kind {
            b"send" => (BlockAction::Issued, SECTOR_BYTES),
            b"send_req" => (BlockAction::Issued, UFS_BLOCK_BYTES),
            b"complete" => (BlockAction::Completed, SECTOR_BYTES),
            b"complete_rsp" => (BlockAction::Completed, UFS_BLOCK_BYTES),
            _ => return Ok(Parsed::Other),
        };
        let field = |name: &str| field(text, name);
        let opcode = field("opcode: ").ok_or_else(|| lacks("opcode"))?;
        let op = match Cursor::hex(opcode, "an opcode")? {
            0x08 | 0x28 | 0x88 | 0xa8 => Op::Read,
            0x0a | 0x2a | 0x8a | 0xaa => Op::Write,
            0x42 => Op::Trim,
            // SYNCHRONIZE CACHE (10) and (16).
            0x35 | 0x91 if action == self.wanted => return Ok(Parsed::Flush),
            _ => return Ok(Parsed::Other),
        };
        let number = |name: &'static str, key: &str| {
            let text = field(key).ok_or_else(|| lacks(name))?;
            if text.starts_with(b"0x") || text.starts_with(b"0X") {
                return Cursor::hex(text, name);
            }
            let mut at = Cursor::new(text);
            let number = at.uint(name)?;
            at.end()?;
            Ok(number)
        };
        let size = field("size: ").ok_or_else(|| lacks("size"))?;
        // Commands with unknown data have no size here, or -1.
        if size.starts_with(b"-") || matches!(size, b"0" | b"0x0") {
            self.without_size += u64::from(action == self.wanted);
            return Ok(Parsed::Other);
        }
        let (len_bytes, block) = (number("a size", "size: ")?, number("an LBA", "LBA: ")?);
        let unit = *self.ufs_unit.get_or_insert(unit);
        let offset_bytes = block.checked_mul(unit);
        let offset_bytes =
            offset_bytes.ok_or_else(|| LineError(format!("block {block} does not lie below 2^64 bytes")))?;
        // The host's name may have colons, and ends before the tag.
        let head = text[kind.len()..].strip_prefix(b":").unwrap_or_default();
        let host_len = memchr::memmem::find(head, b": tag: ").ok_or_else(|| lacks("tag"))?;
        let host = self.hosts.device_of(head[..host_len].trim_ascii())?;
        let device = HOSTS_FROM.checked_add(host).ok_or_else(|| LineError("more than 2^20 hosts".to_owned()))?;
        Ok(self.found(action, request(arrival_ns, op, offset_bytes, len_bytes, device)))
    }
}

/// The text after `name` in a line, up to a comma or a blank.
fn field<'a>(line: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let at = memchr::memmem::find(line, name.as_bytes())? + name.len();
    let rest = &line[at..];
    let len = rest.iter().position(|byte| matches!(byte, b',' | b' ')).unwrap_or(rest.len());
    Some(&rest[..len])
}

#[cold]
fn lacks(what: &str) -> LineError {
    LineError(format!("the event of a UFS host has no {what}"))
}

/// The time of an event, and the text after the time; `None` for a line without a time.
fn timed(line: &[u8]) -> Option<(&[u8], Cursor<'_>)> {
    let mut at = Cursor::new(line);
    loop {
        let word = at.word();
        if word.is_empty() {
            return None;
        }
        let Some(time) = word.strip_suffix(b":") else { continue };
        let digits = time.iter().filter(|byte| byte.is_ascii_digit()).count();
        let points = time.iter().filter(|byte| **byte == b'.').count();
        // A process' name may end in a colon, too; a time is a number with decimals.
        if points == 1 && digits + 1 == time.len() && time[0] != b'.' {
            return Some((time, at));
        }
    }
}

/// Whether a line may be between events: trace-cmd's version, number of CPUs and empty CPUs, stacks of perf and ftrace.
fn is_between(line: &[u8]) -> bool {
    let text = line.trim_ascii();
    // A program's own code may lie at any address.
    let is_address = |word: &[u8]| (1..=16).contains(&word.len()) && word.iter().all(u8::is_ascii_hexdigit);
    let is_assignment = |name: &[u8]| {
        let behind = text.strip_prefix(name).map(<[u8]>::trim_ascii_start);
        behind
            .and_then(|rest| rest.strip_prefix(b"="))
            .is_some_and(|rest| rest.trim_ascii().iter().all(u8::is_ascii_digit))
    };
    let is_stack = line.first().is_some_and(u8::is_ascii_whitespace) && is_address(Cursor::new(text).word());
    // trace-cmd's line for a CPU that recorded nothing.
    let is_empty_cpu = text.starts_with(b"CPU ") && text.ends_with(b" is empty");
    // Frames of ftrace's option `stacktrace`.
    let is_stack = is_stack || text.starts_with(b"=>");
    is_stack || is_empty_cpu || is_assignment(b"cpus") || is_assignment(b"version")
}

/// Whether a line says that events were lost: `CPU:3 [LOST 12 EVENTS]`, `CPU:3 [12 EVENTS DROPPED]`.
fn says_lost(line: &[u8]) -> bool {
    let text = line.trim_ascii();
    text.starts_with(b"CPU:") && (text.ends_with(b"EVENTS]") || text.ends_with(b"DROPPED]"))
}

impl LineFormat for Tracepoints {
    fn parse(&mut self, line: &[u8]) -> Result<Parsed, LineError> {
        if says_lost(line) {
            self.lost_lines += 1;
            return Ok(Parsed::Other);
        }
        let Some((time, mut at)) = timed(line) else {
            if is_between(line) {
                return Ok(Parsed::Other);
            }
            return Err(LineError(format!("expected an event with its time in seconds at `{}`", shown(line))));
        };
        let arrival_ns = Cursor::new(time).decimal(9, "a time in seconds")?;
        // perf may print a count between the time and the event's name.
        let ahead = at.word_ahead();
        if !ahead.is_empty() && ahead.iter().all(u8::is_ascii_digit) {
            at.word();
        }
        if at.word_ahead().first().is_some_and(u8::is_ascii_digit) {
            return self.of_tracer(arrival_ns, at);
        }
        // ftrace's option `stacktrace` prints `<stack trace>`, and frames behind it.
        if matches!(at.rest.trim_ascii(), b"<stack trace>" | b"<stack trace >" | b"<user stack trace>") {
            return Ok(Parsed::Other);
        }
        let name = at.word();
        let name = name.strip_suffix(b":").ok_or_else(|| {
            LineError(format!("expected an event's name with a colon behind its time, not `{}`", shown(name)))
        })?;
        // perf puts the system's name in front.
        match name.rsplit(|byte| *byte == b':').next().unwrap_or_default() {
            b"block_rq_issue" => self.block(arrival_ns, BlockAction::Issued, at),
            b"block_rq_complete" => self.block(arrival_ns, BlockAction::Completed, at),
            b"block_bio_queue" => self.block(arrival_ns, BlockAction::Queued, at),
            b"ufshcd_command" | b"ufsfeature_command" => self.ufs(arrival_ns, at),
            _ => Ok(Parsed::Other),
        }
    }

    fn help_if_empty(&self) -> Option<String> {
        let record =
            "record block_rq_issue (`perf record -e block:block_rq_issue`, `trace-cmd record -e block_rq_issue`)";
        Some(other_action(self.wanted, &self.event_counts).unwrap_or_else(|| record.to_owned()))
    }

    fn is_certain(&self) -> bool {
        self.event_counts.iter().any(|count| *count > 0)
    }

    /// Whether a line is an event of the block layer, or any event after a CPU in brackets.
    fn is_own(&self, line: &[u8]) -> bool {
        let Some((time, mut at)) = timed(line) else { return false };
        let head = &line[..line.len() - at.rest.len() - time.len()];
        let name = at.word();
        let has_cpu = head.split(u8::is_ascii_whitespace).any(|word| {
            let number = word.strip_prefix(b"[").and_then(|word| word.strip_suffix(b"]"));
            number.is_some_and(|number| !number.is_empty() && number.iter().all(u8::is_ascii_digit))
        });
        let system_and_name = name.rsplit(|byte| *byte == b':').nth(1).unwrap_or_default();
        name.ends_with(b":") && (has_cpu || system_and_name.starts_with(b"block_"))
    }

    fn device_name(&self, device: u32) -> Option<String> {
        match device.checked_sub(HOSTS_FROM).and_then(|host| self.hosts.name_of(host)) {
            Some(host) => Some(host),
            None => Some(linux_name(device)),
        }
    }

    fn notes(&self) -> Vec<String> {
        let of_hosts = match self.wanted {
            BlockAction::Completed => "took the commands that UFS hosts completed for requests",
            _ => "took the commands that UFS hosts sent for requests",
        };
        let of_block = format!("took the `{}` events of the block layer for requests", self.wanted);
        let has_ufs_commands = self.ufs_unit.is_some();
        let mut notes = Vec::new();
        notes.extend((self.has_block_events || !has_ufs_commands).then_some(of_block));
        notes.extend(has_ufs_commands.then(|| of_hosts.to_owned()));
        notes.extend(note_few(self.wanted, &self.event_counts));
        self.others.notes(&mut notes);
        if let Some(unit) = self.ufs_unit {
            let kernel = if unit == SECTOR_BYTES { "before" } else { "since" };
            notes.push(format!("UFS addresses were read in units of {unit} bytes, as Linux prints them {kernel} 5.14"));
        }
        if self.without_size > 0 {
            let count = counted(self.without_size, "UFS command");
            notes.push(format!(
                "{count} left out: Linux prints no size for such a command (-1 for READ (16) and WRITE (16) of zoned \
                 drives); record block_rq_issue to include it"
            ));
        }
        if self.lost_lines > 0 {
            notes.push(format!("the recording lost events in {}", counted(self.lost_lines, "place")));
        }
        notes
    }
}

impl Tracepoints {
    /// A line of the tracer `blk`, from its device. Lines in blkparse's form have a CPU, a sequence number, a time and
    /// a process before the event's letter.
    fn of_tracer(&mut self, arrival_ns: u64, mut at: Cursor<'_>) -> Result<Parsed, LineError> {
        let device = at.word_as(linux_device_of)?;
        let mut action = at.word();
        for _ in 0..4 {
            if !action.first().is_some_and(u8::is_ascii_digit) {
                break;
            }
            action = at.word();
        }
        match BlockAction::ALL.iter().find(|known| known.word().as_bytes() == action) {
            Some(action) => self.block_of(arrival_ns, *action, device, at),
            None if !action.is_empty() && action.len() <= 3 && action.iter().all(u8::is_ascii_alphabetic) => {
                Ok(Parsed::Other)
            }
            None => Err(LineError(format!("expected an event's letters, not `{}`", shown(action)))),
        }
    }
}
