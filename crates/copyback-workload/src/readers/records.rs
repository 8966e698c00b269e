//! Binary formats: records with a fixed head, their positions, truncated ends.

use super::cursor::LineError;
use super::lines::read_error;
use super::{BATCH_RECORDS, BadRecords, Flushes, Parsed, Record, RecordReader};
use crate::Error;
use crate::input::ByteStream;
use std::io::{self, BufReader, Read};

/// A format of one fixed-size record after the other, each perhaps with a payload that is skipped.
pub(crate) trait RecordFormat: Send {
    /// The size of a record without its payload.
    fn record_bytes(&self) -> usize;

    /// The size of the header before the first record.
    fn head_bytes(&self) -> u64 {
        0
    }

    /// Reads a record; also returns the number of payload bytes after it.
    fn parse(&mut self, record: &[u8]) -> (Result<Parsed, LineError>, u64);

    /// Notes to the user about the records parsed so far.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// The suggestion if a file has no request at all.
    fn help_if_empty(&self) -> Option<String> {
        None
    }

    /// As [`RecordReader::device_name`].
    fn device_name(&self, _device: u32) -> Option<String> {
        None
    }
}

/// Reads a binary format.
pub(crate) struct BinaryReader<F> {
    file: String,
    stream: BufReader<ByteStream>,
    format: F,
    bad: BadRecords,
    record: Vec<u8>,
    /// The number of bytes of the file's header that were not skipped yet.
    head_left_bytes: u64,
    record_count: u64,
    request_count: u64,
    may_be_empty: bool,
    flushes: Flushes,
}

impl<F: RecordFormat> BinaryReader<F> {
    /// `taken`: the reason why the file is read in this format.
    pub(crate) fn new(file: String, stream: ByteStream, format: F, skip_bad: u64, taken: String) -> Self {
        let record = vec![0; format.record_bytes()];
        let head_left_bytes = format.head_bytes();
        let stream = BufReader::with_capacity(1 << 18, stream);
        let bad = BadRecords::new(skip_bad, taken);
        Self {
            file,
            stream,
            format,
            bad,
            record,
            head_left_bytes,
            record_count: 0,
            request_count: 0,
            may_be_empty: false,
            flushes: Flushes::default(),
        }
    }

    /// A reader of one of several files, which may have no requests.
    pub(crate) fn may_be_empty(self) -> Self {
        Self { may_be_empty: true, ..self }
    }

    /// The format, with its counts.
    pub(crate) fn format(&self) -> &F {
        &self.format
    }

    /// Notes to the user about the records, for all formats.
    pub(crate) fn notes_of_records(&self, notes: &mut Vec<String>) {
        self.bad.notes(notes);
        self.flushes.notes(notes);
    }

    /// Fills the record; returns the number of bytes.
    fn fill(&mut self) -> io::Result<usize> {
        let mut filled = 0;
        while filled < self.record.len() {
            match self.stream.read(&mut self.record[filled..]) {
                Ok(0) => break,
                Ok(read_bytes) => filled += read_bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }

    fn cut_off(&self, have: u64, want: u64) -> Error {
        let place = format!("{}, record {}", self.file, self.record_count);
        self.bad.error(&place, &format!("it ends after {have} of {want} bytes: the file was cut off"))
    }

    fn read_record(&mut self, records: &mut Vec<Record>) -> Result<bool, Error> {
        if self.head_left_bytes > 0 {
            let head = io::copy(&mut self.stream.by_ref().take(self.head_left_bytes), &mut io::sink());
            let passed = head.map_err(|error| read_error(&self.file, 0, &error))?;
            if passed < self.head_left_bytes {
                return Err(self.cut_off(passed, self.head_left_bytes));
            }
            self.head_left_bytes = 0;
        }
        let filled = self.fill().map_err(|error| read_error(&self.file, self.record_count, &error))?;
        if filled == 0 {
            return Ok(false);
        }
        self.record_count += 1;
        if filled < self.record.len() {
            // A truncated end counts as a malformed record.
            return if self.bad.may_skip() {
                Ok(false)
            } else {
                Err(self.cut_off(filled as u64, self.record.len() as u64))
            };
        }
        let (parsed, payload_bytes) = self.format.parse(&self.record);
        let checked = match parsed {
            Ok(Parsed::Request(request)) => self.bad.check(request),
            Ok(Parsed::Other) => Ok(None),
            Ok(Parsed::Flush) => {
                self.flushes.add();
                Ok(None)
            }
            Err(error) => Err(error),
        };
        match checked {
            Ok(Some(request)) => {
                self.request_count += 1;
                records.push(Record { place: self.record_count, request });
            }
            Ok(None) => {}
            Err(_) if self.bad.may_skip() => {}
            Err(error) => {
                return Err(self.bad.error(&format!("{}, record {}", self.file, self.record_count), &error.0));
            }
        }
        if payload_bytes > 0 {
            let passed = io::copy(&mut self.stream.by_ref().take(payload_bytes), &mut io::sink())
                .map_err(|error| read_error(&self.file, self.record_count, &error))?;
            if passed < payload_bytes && !self.bad.may_skip() {
                return Err(self.cut_off(passed, payload_bytes));
            }
        }
        Ok(true)
    }
}

impl<F: RecordFormat> RecordReader for BinaryReader<F> {
    fn read_batch(&mut self, records: &mut Vec<Record>) -> Result<bool, Error> {
        let full = records.len() + BATCH_RECORDS;
        while records.len() < full {
            if !self.read_record(records)? {
                if self.request_count == 0 && !self.may_be_empty {
                    return Err(self.bad.no_requests(&self.file, self.format.help_if_empty()));
                }
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.format.notes();
        self.notes_of_records(&mut notes);
        notes
    }

    fn device_name(&self, device: u32) -> Option<String> {
        self.format.device_name(device)
    }
}

/// Little-endian or big-endian numbers of a record.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a> {
    pub record: &'a [u8],
    pub big_endian: bool,
}

impl Fields<'_> {
    /// The number of `len` bytes at `at`; bytes beyond the record count as zero.
    fn number(self, at: usize, len: usize) -> u64 {
        let bytes = self.record.get(at..at + len).unwrap_or_default();
        let push = |value: u64, byte: &u8| (value << 8) | u64::from(*byte);
        if self.big_endian { bytes.iter().fold(0, push) } else { bytes.iter().rev().fold(0, push) }
    }

    pub(crate) fn u16(self, at: usize) -> u16 {
        self.number(at, 2) as u16
    }

    pub(crate) fn u32(self, at: usize) -> u32 {
        self.number(at, 4) as u32
    }

    pub(crate) fn u64(self, at: usize) -> u64 {
        self.number(at, 8)
    }
}
