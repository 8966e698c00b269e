//! The text that biosnoop prints, of BCC and of libbpf-tools:
//! `TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)`. Its option `-Q` adds `QUE(ms)` before the latency, `-P` a column `P`
//! with a letter for the pattern of accesses, and `-t` a time of day at the front.
//!
//! A line is printed when a request completes, with the time of the completion. The latency counts from the issue to
//! the device. A request therefore arrives at `TIME - LAT`: the time in queues of the host before that is excluded. A
//! process' name may have blanks, so a line is read from its end. The column DISK is empty if the kernel names no disk.

use super::blkparse::{is_flush, operation};
use super::cursor::{Cursor, LineError, sectors_to_bytes, shown};
use super::names::Names;
use super::registry::{FormatRow, lines};
use super::time_of_day::Clock;
use super::{LineFormat, Parsed, request};
use crate::units::counted;

/// The format.
pub(crate) const FORMAT: FormatRow = lines!("biosnoop", |_| Biosnoop::default());

/// Columns after the process' name, if no header says otherwise.
const COLUMNS: &[&[u8]] = &[b"PID", b"DISK", b"T", b"SECTOR", b"BYTES", b"LAT(ms)"];

/// The column of the disk's name, and the name of a disk that the kernel does not name.
const DISK: &[u8] = b"DISK";
const NO_DISK: &[u8] = b"?";

/// Added to all times: times begin at the first completion, and the first request was issued before that. Only
/// differences of times matter, and no request takes a day.
pub(super) const SHIFT_NS: u64 = 86_400_000_000_000;

/// The column of the pattern of accesses, and its letters: sequential, random, unknown. biosnoop leaves no blank
/// between a long size and this letter.
const PATTERN: &[u8] = b"P";
const PATTERNS: &[u8] = b"SR?";

/// Reads biosnoop's text.
pub(crate) struct Biosnoop {
    /// The position of the time before the process' name, and whether it is a time of day.
    time: (usize, TimeKind),
    /// Columns before the process' name.
    before_name: usize,
    columns: Vec<Vec<u8>>,
    disks: Names,
    /// Requests without a disk.
    without_disk: u64,
    had_header: bool,
    clock: Clock,
    without_data: RequestsWithoutData,
}

/// Requests that are neither reads, writes, trims nor flushes.
#[derive(Default)]
pub(super) struct RequestsWithoutData(u64);

impl RequestsWithoutData {
    /// Reads a request with these letters of the block layer (`kind`), and counts it unless it is a flush; `None` if
    /// `kind` has other characters.
    pub(super) fn parsed(&mut self, kind: &[u8]) -> Option<Parsed> {
        if kind.len() > 8 || !kind.iter().all(u8::is_ascii_uppercase) {
            return None;
        }
        if is_flush(kind) {
            return Some(Parsed::Flush);
        }
        self.0 += 1;
        Some(Parsed::Other)
    }

    /// How many were left out, if any.
    pub(super) fn note(&self) -> Option<String> {
        let count = || counted(self.0, "request");
        (self.0 > 0).then(|| format!("{} without data left out: no reads, writes, trims or flushes", count()))
    }
}

/// Whether the time before the process' name counts seconds, or is a time of day.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TimeKind {
    Seconds,
    OfDay,
}

impl Default for Biosnoop {
    fn default() -> Self {
        Self {
            time: (0, TimeKind::Seconds),
            before_name: 1,
            columns: COLUMNS.iter().map(|column| column.to_vec()).collect(),
            disks: Names::default(),
            without_disk: 0,
            had_header: false,
            clock: Clock::default(),
            without_data: RequestsWithoutData::default(),
        }
    }
}

pub(super) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

impl Biosnoop {
    /// Takes the columns from a header.
    fn header(&mut self, line: &[u8]) -> Result<Parsed, LineError> {
        let all: Vec<&[u8]> = words(line).collect();
        let name_at = all.iter().position(|word| *word == b"COMM").unwrap_or(all.len());
        let (before, behind) = (&all[..name_at], all.get(name_at + 1..).unwrap_or_default());
        // A count of seconds is finer than a time of day.
        let seconds = before.iter().position(|word| *word == b"TIME(s)").map(|at| (at, TimeKind::Seconds));
        let of_day = before.iter().position(|word| word.starts_with(b"TIME")).map(|at| (at, TimeKind::OfDay));
        let lacks = |column: &&&[u8]| !behind.contains(column);
        let missing = COLUMNS.iter().find(lacks).copied();
        match (missing, seconds.or(of_day)) {
            (None, Some(time)) => {
                self.time = time;
                self.before_name = before.len();
                self.columns = behind.iter().map(|column| column.to_vec()).collect();
                self.had_header = true;
                Ok(Parsed::Other)
            }
            (missing, _) => Err(LineError(format!(
                "its header has no column `{}`: record with biosnoop of BCC or libbpf-tools",
                shown(missing.unwrap_or(b"TIME(s)"))
            ))),
        }
    }

    /// The words of a line after the process' name, one for each column. An empty column DISK has the word `?`.
    fn values<'a>(&self, words: &mut Vec<&'a [u8]>) -> Result<Vec<&'a [u8]>, LineError> {
        self.split_pattern(words);
        let count = self.columns.len();
        let all = self.last(words, count);
        if all.as_ref().is_ok_and(|values| self.is_row(values)) {
            return all;
        }
        let disk = self.columns.iter().position(|column| column == DISK).unwrap_or(0);
        let without_disk = self.last(words, count - 1).map(|mut values| {
            values.insert(disk, NO_DISK);
            values
        });
        match without_disk {
            Ok(values) if self.is_row(&values) && self.had_header => Ok(values),
            Ok(values) if self.is_row(&values) => Err(LineError(
                "its column DISK is empty, which is read only behind a header: keep the line `TIME(s) COMM PID ...`"
                    .to_owned(),
            )),
            _ => all,
        }
    }

    /// Whether values are those of a row: a process' number, and letters of the block layer.
    fn is_row(&self, values: &[&[u8]]) -> bool {
        let (pid, kind) = (self.word(values, b"PID"), self.word(values, b"T"));
        let is_kind = !kind.is_empty() && kind.iter().all(u8::is_ascii_uppercase);
        !pid.is_empty() && pid.iter().all(u8::is_ascii_digit) && is_kind
    }

    /// Splits a long size from the pattern's letter behind it.
    fn split_pattern(&self, words: &mut Vec<&[u8]>) {
        let count = self.columns.len();
        if let Some(pattern) = self.columns.iter().rposition(|column| column == PATTERN) {
            let at = (words.len() + pattern).checked_sub(count);
            if let Some((at, word)) = at.and_then(|at| Some((at, *words.get(at)?)))
                && let [size @ .., letter] = word
                && !size.is_empty()
                && PATTERNS.contains(letter)
            {
                words[at] = size;
                words.insert(at + 1, &word[size.len()..]);
            }
        }
    }

    /// The last words of a line. The time and the process' name, of one or more words, precede them.
    fn last<'a>(&self, words: &[&'a [u8]], count: usize) -> Result<Vec<&'a [u8]>, LineError> {
        let before = words.len().checked_sub(count).filter(|before| *before > self.before_name);
        let before = before.ok_or_else(|| {
            let wanted = count + self.before_name + 1;
            LineError(format!("it has {}, and biosnoop prints {wanted} or more", counted(words.len() as u64, "column")))
        })?;
        Ok(words[before..].to_vec())
    }

    /// The word of a column; `values` are the words after the process' name.
    fn word<'a>(&self, values: &[&'a [u8]], column: &[u8]) -> &'a [u8] {
        let at = self.columns.iter().position(|known| known == column);
        at.and_then(|at| values.get(at)).copied().unwrap_or_default()
    }
}

/// A number that takes a whole word.
pub(super) fn whole<T>(
    word: &[u8],
    read: impl Fn(&mut Cursor<'_>) -> Result<T, LineError>,
    column: &str,
) -> Result<T, LineError> {
    let mut at = Cursor::new(word);
    let value = read(&mut at).ok().filter(|_| at.rest.is_empty());
    value.ok_or_else(|| LineError(format!("expected a number under {column}, not `{}`", shown(word))))
}

impl LineFormat for Biosnoop {
    fn parse(&mut self, line: &[u8]) -> Result<Parsed, LineError> {
        if line.trim_ascii_start().starts_with(b"TIME") {
            return self.header(line);
        }
        if line.starts_with(b"Tracing ") {
            return Ok(Parsed::Other);
        }
        let mut words: Vec<&[u8]> = words(line).collect();
        let values = &self.values(&mut words)?[..];
        let (time_at, kind) = self.time;
        let time_ns = match kind {
            TimeKind::Seconds => whole(words[time_at], |at| at.decimal(9, "a time"), "TIME(s)")?,
            TimeKind::OfDay => self.clock.ns(words[time_at]).ok_or_else(|| {
                LineError(format!("expected a time of day under TIME, not `{}`", shown(words[time_at])))
            })?,
        };
        let latency_ns = whole(self.word(values, b"LAT(ms)"), |at| at.decimal(6, "a latency"), "LAT(ms)")?;
        whole(self.word(values, b"PID"), |at| at.uint("a process"), "PID")?;
        let Some(op) = operation(self.word(values, b"T")) else { return self.without_data(values) };
        let len_bytes = whole(self.word(values, b"BYTES"), |at| at.uint("bytes"), "BYTES")?;
        // A flush has no sector either.
        let offset_bytes = match len_bytes {
            0 => 0,
            _ => sectors_to_bytes(whole(self.word(values, b"SECTOR"), |at| at.uint("a sector"), "SECTOR")?)?,
        };
        let arrival_ns = time_ns.checked_add(SHIFT_NS).and_then(|time_ns| time_ns.checked_sub(latency_ns));
        let arrival_ns =
            arrival_ns.ok_or_else(|| LineError("its latency or time is longer than a trace".to_owned()))?;
        let disk = self.word(values, DISK);
        self.without_disk += u64::from(disk == NO_DISK);
        let disk = self.disks.device_of(disk)?;
        Ok(request(arrival_ns, op, offset_bytes, len_bytes, disk))
    }

    fn is_certain(&self) -> bool {
        self.had_header
    }

    fn device_name(&self, device: u32) -> Option<String> {
        self.disks.name_of(device)
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = vec!["arrival = time less latency: requests are printed when they complete".to_owned()];
        if self.disks.list().len() > 1 {
            notes.extend(super::fio::named_devices(self.disks.list().iter().map(Vec::as_slice)));
        }
        if self.without_disk > 0 {
            let requests = counted(self.without_disk, "request");
            notes.push(format!("{requests} without a disk: biosnoop printed no name, so the device is `?`"));
        }
        notes.extend(self.clock.note());
        notes.extend(self.without_data.note());
        notes
    }
}

impl Biosnoop {
    /// Flushes and other requests that move no data have other letters, but only the block layer's.
    fn without_data(&mut self, values: &[&[u8]]) -> Result<Parsed, LineError> {
        let kind = self.word(values, b"T");
        let parsed = self.without_data.parsed(kind);
        parsed.ok_or_else(|| LineError(format!("expected R, W or D under T, not `{}`", shown(kind))))
    }
}
