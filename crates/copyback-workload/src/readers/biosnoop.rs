//! The text that biosnoop prints, of BCC and of libbpf-tools:
//! `TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)`, with `QUE(ms)` before the latency under its option `-Q`.
//!
//! A line is printed when a request completes, and its time is that of the completion; the latency counts from when the
//! request was issued to the device. A request therefore arrives at `TIME - LAT`, as the device saw it; the time that
//! it queued before is not its device's. A process' name may have blanks, so a line is read from its end.

use super::blkparse::operation;
use super::cursor::{Cursor, LineError, sectors_to_bytes, shown};
use super::names::Names;
use super::{LineFormat, Parsed, request};

/// Columns behind the process' name, where no header says otherwise.
const COLUMNS: &[&[u8]] = &[b"PID", b"DISK", b"T", b"SECTOR", b"BYTES", b"LAT(ms)"];

/// Added to all times: the first request was issued before its completion, at which times begin. Only differences of
/// times matter, and no request takes a day.
const SHIFT_NS: u64 = 86_400_000_000_000;

/// Reads biosnoop's text.
pub(crate) struct Biosnoop {
    columns: Vec<Vec<u8>>,
    disks: Names,
}

impl Default for Biosnoop {
    fn default() -> Self {
        Self { columns: COLUMNS.iter().map(|column| column.to_vec()).collect(), disks: Names::default() }
    }
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

impl Biosnoop {
    /// Takes the columns from a header.
    fn header(&mut self, line: &[u8]) -> Result<Parsed, LineError> {
        let columns = words(line).skip_while(|word| *word != b"COMM").skip(1);
        self.columns = columns.map(<[u8]>::to_vec).collect();
        match COLUMNS.iter().find(|wanted| !self.columns.iter().any(|column| column == *wanted)) {
            Some(missing) => {
                let missing = shown(missing);
                *self = Self::default();
                Err(LineError(format!(
                    "its header has no column `{missing}`: record with biosnoop of BCC or libbpf-tools"
                )))
            }
            None => Ok(Parsed::Other),
        }
    }

    /// The word of a column; `values` are those behind the process' name.
    fn word<'a>(&self, values: &[&'a [u8]], column: &[u8]) -> &'a [u8] {
        let at = self.columns.iter().position(|known| known == column);
        at.and_then(|at| values.get(at)).copied().unwrap_or_default()
    }
}

/// A number that takes a whole word.
fn whole<T>(word: &[u8], read: impl Fn(&mut Cursor<'_>) -> Result<T, LineError>, column: &str) -> Result<T, LineError> {
    let mut at = Cursor::new(word);
    let value = read(&mut at).ok().filter(|_| at.rest.is_empty());
    value.ok_or_else(|| LineError(format!("expected a number under {column}, not `{}`", shown(word))))
}

impl LineFormat for Biosnoop {
    fn parse(&mut self, line: &[u8]) -> Result<Parsed, LineError> {
        if line.starts_with(b"TIME(s)") {
            return self.header(line);
        }
        if line.starts_with(b"Tracing ") {
            return Ok(Parsed::Other);
        }
        let words: Vec<&[u8]> = words(line).collect();
        let count = self.columns.len();
        // Before the other columns stand the time and the process' name, of a word or more.
        let values = words.len().checked_sub(count).filter(|before| *before >= 2).map(|before| &words[before..]);
        let values = values.ok_or_else(|| {
            LineError(format!("it has {} columns, and biosnoop prints {} or more", words.len(), count + 2))
        })?;
        let time_ns = whole(words[0], |at| at.decimal(9, "a time"), "TIME(s)")?;
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
        let disk = self.disks.index_of(self.word(values, b"DISK"));
        let disk = u32::try_from(disk).map_err(|_| LineError("more than 2^32 disks".to_owned()))?;
        Ok(request(arrival_ns, op, offset_bytes, len_bytes, disk))
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = vec!["arrival = time less latency: requests are printed when they complete".to_owned()];
        if self.disks.list().len() > 1 {
            notes.extend(super::fio::named_devices(self.disks.list()));
        }
        notes
    }
}

impl Biosnoop {
    /// Flushes and what else moves no data have other letters, but no others than the block layer's.
    fn without_data(&self, values: &[&[u8]]) -> Result<Parsed, LineError> {
        let kind = self.word(values, b"T");
        let is_kind = kind.len() <= 8 && kind.iter().all(u8::is_ascii_uppercase);
        let wrong = || LineError(format!("expected R, W or D under T, not `{}`", shown(kind)));
        is_kind.then_some(Parsed::Other).ok_or_else(wrong)
    }
}
