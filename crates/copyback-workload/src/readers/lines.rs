//! Text formats: lines without copies, their positions, malformed lines, truncated ends.

use super::{BATCH_RECORDS, BadRecords, Flushes, LineFormat, Parsed, Record, RecordReader};
use crate::Error;
use crate::input::ByteStream;
use crate::units::counted;
use memchr::memchr;
use std::io::{self, Read};

/// The longest line of a text trace; a file with longer lines is of another kind.
const LINE_BYTES_MAX: usize = 1 << 20;

const BUFFER_BYTES: usize = 1 << 18;

/// Splits a stream into lines, reusing one buffer.
pub(crate) struct Lines {
    stream: ByteStream,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    ended: bool,
    line_count: u64,
    /// Whether the last returned line ended in a newline.
    terminated: bool,
}

impl Lines {
    pub(crate) fn new(stream: ByteStream) -> Self {
        let buffer = vec![0; BUFFER_BYTES];
        Self { stream, buffer, start: 0, end: 0, ended: false, line_count: 0, terminated: true }
    }

    /// The next line's bounds in the buffer, without newline and carriage return.
    fn next_line(&mut self) -> io::Result<Option<(usize, usize)>> {
        let mut searched = self.start;
        loop {
            if let Some(at) = memchr(b'\n', &self.buffer[searched..self.end]) {
                let line = (self.start, searched + at);
                self.start = searched + at + 1;
                self.terminated = true;
                return Ok(Some(self.trimmed(line)));
            }
            searched = self.end - self.start;
            if !self.ended {
                self.fill()?;
                searched += self.start;
                continue;
            }
            if self.start == self.end {
                return Ok(None);
            }
            let line = (self.start, self.end);
            self.start = self.end;
            self.terminated = false;
            return Ok(Some(self.trimmed(line)));
        }
    }

    fn trimmed(&mut self, (mut start, mut end): (usize, usize)) -> (usize, usize) {
        if self.line_count == 0 && self.buffer[start..end].starts_with(&[0xef, 0xbb, 0xbf]) {
            start += 3;
        }
        self.line_count += 1;
        if end > start && self.buffer[end - 1] == b'\r' {
            end -= 1;
        }
        (start, end)
    }

    /// Moves the rest to the start of the buffer, and reads more after it.
    fn fill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.end == self.buffer.len() {
            if self.buffer.len() >= LINE_BYTES_MAX {
                let message = format!("line {} is longer than 1 MiB: this is no text trace", self.line_count + 1);
                return Err(io::Error::new(io::ErrorKind::InvalidData, message));
            }
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        let read_bytes = loop {
            match self.stream.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => break result?,
            }
        };
        self.end += read_bytes;
        self.ended = read_bytes == 0;
        Ok(())
    }
}

/// Whether a line is blank or begins like a comment. [`LineFormat::is_row`] may still take it for a row.
pub(crate) fn is_blank_or_comment(line: &[u8]) -> bool {
    match line.iter().find(|byte| !byte.is_ascii_whitespace()) {
        None | Some(b'#' | b';') => true,
        Some(b'/') => line.trim_ascii_start().starts_with(b"//"),
        Some(_) => false,
    }
}

/// Reads a text format.
pub(crate) struct LineReader<F> {
    file: String,
    lines: Lines,
    format: F,
    bad: BadRecords,
    request_count: u64,
    padding_lines: u64,
    flushes: Flushes,
}

impl<F: LineFormat> LineReader<F> {
    /// `taken`: the reason why the file is read in this format.
    pub(crate) fn new(file: String, stream: ByteStream, format: F, skip_bad: u64, taken: String) -> Self {
        Self {
            file,
            lines: Lines::new(stream),
            format,
            bad: BadRecords::new(skip_bad, taken),
            request_count: 0,
            padding_lines: 0,
            flushes: Flushes::default(),
        }
    }

    /// Reads one line; `None` at the end.
    #[inline]
    fn read_line(&mut self, records: &mut Vec<Record>) -> Result<Option<()>, Error> {
        let next = self.lines.next_line();
        let Some((start, end)) = next.map_err(|error| read_error(&self.file, self.lines.line_count, &error))? else {
            return Ok(None);
        };
        let line = &self.lines.buffer[start..end];
        // Nearly all lines are requests, which begin with a digit or a letter: only other lines need further checks.
        if !line.first().is_some_and(u8::is_ascii_alphanumeric)
            && is_blank_or_comment(line)
            && !self.format.is_row(line)
        {
            return Ok(Some(()));
        }
        let parsed = match self.format.parse(line) {
            Ok(Parsed::Request(request)) => self.bad.check(request),
            Ok(Parsed::Other) => Ok(None),
            Ok(Parsed::Flush) => {
                self.flushes.add();
                Ok(None)
            }
            Err(error) => Err(error),
        };
        match parsed {
            Ok(Some(request)) => records.push(Record { place: self.lines.line_count, request }),
            Ok(None) => {}
            Err(error) => self.malformed(start, end, &error.0)?,
        }
        Ok(Some(()))
    }

    #[cold]
    fn malformed(&mut self, start: usize, end: usize, message: &str) -> Result<(), Error> {
        // Archives and crashed writers pad files with zeros; these hold no request, but a note states them.
        if self.lines.buffer[start..end].iter().all(|byte| *byte == 0) {
            self.padding_lines += 1;
            return Ok(());
        }
        if self.bad.may_skip() {
            return Ok(());
        }
        let place = format!("{}, line {}", self.file, self.lines.line_count);
        if !self.lines.terminated && self.request_count > 0 {
            let message = format!("the file ends in the middle of this line ({message}): it was cut off");
            return Err(self.bad.error(&place, &message));
        }
        // A header of a table with other column names, before rows that look like some format.
        if self.request_count == 0
            && let Some(help) = super::unknown_table::help_with_header(&self.lines.buffer[start..end])
        {
            return Err(self.bad.error(&place, message).with_help(help));
        }
        let other = super::detect::format_of_line(&self.lines.buffer[start..end]);
        match other.filter(|_| self.request_count > 0) {
            Some(format) => {
                let message = format!("{message}; the line looks like format `{format}`, unlike those before it");
                Err(self.bad.error(&place, &message))
            }
            // Before the first request, nothing shows whether the format, the columns or only this line is wrong.
            None if self.request_count == 0 && self.bad.allows_none() => {
                Err(self.bad.error(&place, message).with_help(
                    "no request was read before it; if the file has another format or other columns, name them: \
                 `--format`, `--columns`; `skip_bad = 1` (`--skip-bad 1`) leaves out one damaged line",
                ))
            }
            None => Err(self.bad.error(&place, message)),
        }
    }
}

/// The error of the disk or of a compressed stream. `after`: the lines or records before it; 0 if no reader counted
/// them, because the format was still being detected.
pub(crate) fn read_error(file: &str, after: u64, error: &io::Error) -> Error {
    let place = if after == 0 { String::new() } else { format!(", after line or record {after}") };
    if error.kind() == io::ErrorKind::UnexpectedEof {
        return Error::new(format!("{file}: the compressed data end too early{place}"))
            .with_help("the file was cut off: copy or download it again");
    }
    Error::new(format!("{file}{place}: {error}"))
}

impl<F: LineFormat> RecordReader for LineReader<F> {
    fn read_batch(&mut self, records: &mut Vec<Record>) -> Result<bool, Error> {
        let before = records.len();
        while records.len() < before + BATCH_RECORDS {
            let read = self.read_line(records);
            if !matches!(read, Ok(Some(()))) {
                self.request_count += (records.len() - before) as u64;
                read?;
                if self.request_count == 0 {
                    return Err(self.bad.no_requests(&self.file, self.format.help_if_empty()));
                }
                return Ok(false);
            }
            // The first request counts at once: error messages depend on whether there was one.
            if self.request_count == 0 && records.len() > before {
                self.request_count = 1;
            }
        }
        self.request_count += (records.len() - before) as u64;
        Ok(true)
    }

    fn counts_from_start(&self) -> bool {
        self.format.counts_from_start()
    }

    fn device_name(&self, device: u32) -> Option<String> {
        self.format.device_name(device)
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.format.notes();
        self.bad.notes(&mut notes);
        self.flushes.notes(&mut notes);
        if self.padding_lines > 0 {
            let padding = counted(self.padding_lines, "line");
            notes.push(format!("{padding} of zero bytes left out: padding"));
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_named_only_if_lines_were_counted() {
        let cut = io::Error::from(io::ErrorKind::UnexpectedEof);
        let said = |after: u64, error: &io::Error| read_error("a.gz", after, error).to_string();
        assert!(said(0, &cut).starts_with("a.gz: the compressed data end too early"), "{}", said(0, &cut));
        assert!(said(7, &cut).contains("too early, after line or record 7"), "{}", said(7, &cut));
        let bad = io::Error::other("bad block");
        assert!(said(0, &bad).starts_with("a.gz: bad block") && said(7, &bad).contains("record 7: bad block"));
    }
}
