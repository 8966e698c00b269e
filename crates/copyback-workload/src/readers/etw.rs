//! Microsoft production servers: Windows disk events as text, after a header that names each event's fields.
//!
//! `DiskRead` and `DiskWrite` lines are written when a request completes, so it arrived `ElapsedTime` earlier.

use super::cursor::{Cursor, to_ns};
use super::registry::{FormatRow, lines};
use super::{LineError, LineFormat, Parsed, request};
use crate::Op;
use crate::units::counted;

/// The format.
pub(crate) const FORMAT: FormatRow = lines!("etw", |_| Etw::default());

/// Reads the text export of Windows disk events.
#[derive(Default)]
pub(crate) struct Etw {
    in_header: bool,
    /// Whether the header's first line was read.
    had_header: bool,
    begun_before: u64,
}

/// Whether a line is an event without data, the system's version, or a line of a header. An event has its name, a whole
/// number of microseconds, and, if no header identifies the file, a process with its number in parentheses.
fn is_other_event(name: &[u8], rest: &[u8], had_header: bool) -> bool {
    if name.starts_with(b"OS Version") {
        return true;
    }
    let is_name = name.first().is_some_and(u8::is_ascii_alphabetic)
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'/' | b' '));
    let mut at = Cursor::new(rest);
    let time = at.field().trim_ascii();
    let is_time = !time.is_empty() && time.iter().all(u8::is_ascii_digit) || time == b"TimeStamp";
    is_name && is_time && (had_header || at.rest.contains(&b'('))
}

impl LineFormat for Etw {
    fn parse(&mut self, line: &[u8]) -> Result<Parsed, LineError> {
        let line = line.trim_ascii();
        if line == b"BeginHeader" {
            self.in_header = true;
            self.had_header = true;
            return Ok(Parsed::Other);
        }
        if self.in_header {
            self.in_header = line != b"EndHeader";
            return Ok(Parsed::Other);
        }
        let mut at = Cursor::new(line);
        let event = at.field().trim_ascii();
        let op = match event {
            b"DiskRead" => Op::Read,
            b"DiskWrite" => Op::Write,
            _ if is_other_event(event, at.rest, self.had_header) => return Ok(Parsed::Other),
            _ => return Err(LineError(format!("expected an event's name at `{}`", super::cursor::shown(line)))),
        };
        let mut time = Cursor::new(at.field().trim_ascii());
        // Copies whose header was cut off may still have its lines.
        if time.rest == b"TimeStamp" {
            return Ok(Parsed::Other);
        }
        let completion_us = time.uint("a time in microseconds")?;
        time.end()?;
        for _ in 0..3 {
            at.field();
        }
        let offset_bytes = Cursor::hex(at.field(), "a byte offset")?;
        let len_bytes = Cursor::hex(at.field(), "a size")?;
        let elapsed_us = Cursor::new(at.field()).word_as(|word| word.uint("an elapsed time in microseconds"))?;
        let disk = Cursor::new(at.field()).word_as(|word| word.uint32("a disk number"))?;
        // A request that began before the trace arrives at the trace's start.
        let arrival_us = completion_us.saturating_sub(elapsed_us);
        self.begun_before += u64::from(elapsed_us > completion_us);
        Ok(request(to_ns(arrival_us, 1000)?, op, offset_bytes, len_bytes, disk))
    }

    fn is_certain(&self) -> bool {
        self.had_header
    }

    fn notes(&self) -> Vec<String> {
        let mut notes =
            vec!["arrival = an event's time less its elapsed time: events are logged at completion".to_owned()];
        if self.begun_before > 0 {
            let begun = counted(self.begun_before, "request");
            notes.push(format!("{begun} began before the trace did: its start is taken as the arrival"));
        }
        notes
    }
}
