//! fio's iolog. Version 2: `file action [offset length]`, with `wait` lines in microseconds. Version 3: a time in
//! microseconds since the start, then the same fields, without `wait` lines.

use super::cursor::{Cursor, shown, to_ns};
use super::names::{NAMES_MAX, Names};
use super::registry::{FormatRow, lines};
use super::{LineError, LineFormat, Parsed, request};
use crate::Op;
use crate::units::counted;

/// The format.
pub(crate) const FORMAT: FormatRow = FormatRow { has_addresses_of_files: true, ..lines!("fio", |_| Fio::default()) };

/// The first line of each version.
const HEADER_START: &[u8] = b"fio version ";

/// Reads fio's iolog.
#[derive(Default)]
pub(crate) struct Fio {
    version: u64,
    files: Names,
    /// The current time, in version 2.
    waited_ns: u64,
    waits: u64,
}

impl Fio {
    fn header(&mut self, line: &[u8]) -> Result<Parsed, LineError> {
        let mut at = Cursor::new(&line[HEADER_START.len()..]);
        self.version = at.uint("a version")?;
        if at.rest.trim_ascii() != b"iolog" || !matches!(self.version, 2 | 3) {
            return Err(LineError(format!(
                "expected `fio version 2 iolog` or `fio version 3 iolog`, not `{}`",
                shown(line)
            )));
        }
        Ok(Parsed::Other)
    }
}

impl LineFormat for Fio {
    fn counts_from_start(&self) -> bool {
        true
    }

    fn parse(&mut self, line: &[u8]) -> Result<Parsed, LineError> {
        if line.starts_with(HEADER_START) {
            return self.header(line);
        }
        let mut at = Cursor::new(line);
        let arrival_ns = match self.version {
            0 => return Err(LineError("expected the first line to be `fio version 2 iolog` or 3".to_owned())),
            3 => to_ns(at.word_as(|word| word.uint("a time in microseconds"))?, 1000)?,
            _ => self.waited_ns,
        };
        let file = at.word();
        let op = match at.word() {
            b"read" => Op::Read,
            b"write" => Op::Write,
            b"trim" => Op::Trim,
            b"wait" if self.version == 2 => {
                let wait_ns = to_ns(at.word_as(|word| word.uint("a wait in microseconds"))?, 1000)?;
                let sum = self.waited_ns.checked_add(wait_ns);
                self.waited_ns = sum.ok_or_else(|| LineError("the waits add up to more than 2^64 ns".to_owned()))?;
                self.waits += 1;
                return Ok(Parsed::Other);
            }
            b"sync" | b"datasync" => return Ok(Parsed::Flush),
            b"add" | b"open" | b"close" => return Ok(Parsed::Other),
            other => {
                return Err(LineError(format!(
                    "expected an action (read, write, trim, wait, sync, datasync, add, open or close), not `{}`",
                    shown(other)
                )));
            }
        };
        let offset_bytes = at.word_as(|word| word.uint("a byte offset"))?;
        let len_bytes = at.word_as(|word| word.uint("a length in bytes"))?;
        at.end()?;
        let device = self.files.device_of(file)?;
        Ok(request(arrival_ns, op, offset_bytes, len_bytes, device))
    }

    fn is_certain(&self) -> bool {
        self.version > 0
    }

    fn device_name(&self, device: u32) -> Option<String> {
        self.files.name_of(device)
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = vec![format!("fio iolog version {}", self.version)];
        if self.version == 2 && self.waits == 0 {
            notes.push(
                "the iolog has no waits: all requests arrive at time zero; replay it in a closed loop".to_owned(),
            );
        }
        if self.waits > 0 {
            notes.push(NOTE_OF_WAITS.to_owned());
        }
        notes.extend(named_devices(self.files.list().iter().map(Vec::as_slice)));
        notes
    }
}

/// The note on waits in version 2.
pub(crate) const NOTE_OF_WAITS: &str = "waits are microseconds since the wait before, as fio's manual says; fio 3.42 itself \
                                        takes them as milliseconds since the start";

/// Which device number each file got.
pub(crate) fn named_devices<'a>(files: impl ExactSizeIterator<Item = &'a [u8]>) -> Vec<String> {
    let more = files.len().saturating_sub(NAMES_MAX);
    let first = files.take(NAMES_MAX).enumerate();
    let mut notes: Vec<String> = first.map(|(index, name)| format!("device {index} is `{}`", shown(name))).collect();
    if more > 0 {
        notes.push(format!("… and {}", counted(more as u64, "more device")));
    }
    notes
}
