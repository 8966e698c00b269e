//! A trace as a source of requests: detects its format, sorts its times, and counts them from zero.

use crate::input::{self, SharedNotes};
use crate::readers::blktrace::Blktrace;
use crate::readers::detect::{Detected, HEAD_BYTES, detect};
use crate::readers::lines::read_error;
use crate::readers::merged::Merged;
use crate::readers::records::BinaryReader;
use crate::readers::registry::{Content, Opening};
use crate::readers::{AS_SKIP_BAD_ALLOWS, BATCH_RECORDS, ReaderOptions, Record, RecordReader, foreign, parquet};
use crate::spec::{Format, WorkloadSpec};
use crate::units::counted;
use crate::{Error, Request, RequestSource, per_cpu, standard_input};
use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};
use std::io::{Read, Seek};
use std::path::Path;

/// Bytes of a sector.
const SECTOR_BYTES: u128 = 512;

/// A trace that returns requests in the order of their arrival. Times count from the first request, or from the
/// recording's start in formats that count from there: fio's, the project's own, and tables with the comment
/// `csv::COUNTS_FROM_START`.
pub(crate) struct TraceSource {
    file: String,
    reader: Box<dyn RecordReader>,
    format: Format,
    shared_notes: SharedNotes,
    batch: Vec<Record>,
    batch_at: usize,
    /// Records held for sorting, which were in order in the file.
    held: VecDeque<Record>,
    /// Records held for sorting, which followed a later record in the file, by arrival and position.
    late: BinaryHeap<Reverse<Late>>,
    window_records: usize,
    /// Whether the workload sets the window.
    is_window_set: bool,
    /// Malformed records that the workload allows.
    skip_bad: u64,
    ended: bool,
    sorted_count: u64,
    /// Requests and bytes of the records read so far.
    read_count: u64,
    read_bytes: u128,
    last_arrival_ns: Option<u64>,
    /// Time that is subtracted from every arrival; set at the first request.
    origin_ns: Option<u64>,
}

impl TraceSource {
    /// Opens a trace.
    pub(crate) fn open(path: &Path, options: &ReaderOptions, window_records: Option<usize>) -> Result<Self, Error> {
        let shared_notes = SharedNotes::default();
        let file = match standard_input::is_named(path) {
            true => standard_input::SHOWN.to_owned(),
            false => path.display().to_string(),
        };
        let (format, reader) = open_reader(path, &file, options, &shared_notes)?;
        let counts_from_start = reader.counts_from_start();
        Ok(Self {
            file,
            reader,
            format,
            shared_notes,
            batch: Vec::with_capacity(2 * BATCH_RECORDS),
            batch_at: 0,
            held: VecDeque::new(),
            late: BinaryHeap::new(),
            window_records: window_records.unwrap_or(format.row().reorder_window),
            is_window_set: window_records.is_some(),
            skip_bad: options.skip_bad,
            ended: false,
            sorted_count: 0,
            read_count: 0,
            read_bytes: 0,
            last_arrival_ns: None,
            origin_ns: counts_from_start.then_some(0),
        })
    }

    /// Notes reader options that the trace's format does not use.
    pub(crate) fn note_unused(&mut self, spec: &WorkloadSpec) {
        let format = self.format;
        let options = [
            ("event", spec.event.is_some(), "events of the block layer"),
            ("zero_means", spec.zero_means.is_some(), "operations as 0 and 1"),
            ("columns", spec.columns.is_some(), "named columns"),
            ("operations", spec.operations.is_some(), "operations whose meaning can be set"),
        ];
        let unused = options.into_iter().filter(|(key, is_set, _)| *is_set && !format.row().options.contains(key));
        let mut notes = self.shared_notes.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        notes.extend(unused.map(|(key, _, has)| {
            format!("`workload.{key}` has no effect: a trace of the format `{format}` has no {has}")
        }));
    }

    /// The note on requests that are shorter than a sector on average: their lengths probably count sectors.
    fn note_tiny(&self) -> Option<String> {
        let is_tiny = self.read_count > 0 && self.read_bytes < u128::from(self.read_count) * SECTOR_BYTES;
        let help = match self.format {
            Format::Csv | Format::Parquet => {
                "if the lengths count sectors or KiB, name their column `length_sectors` or `length_kib` \
                 (`--columns`, `workload.columns`)"
            }
            _ => "check the unit of its lengths",
        };
        is_tiny.then(|| {
            let mean = self.read_bytes as f64 / self.read_count as f64;
            format!("the mean request has {mean:.0} bytes, less than a sector of {SECTOR_BYTES}: {help}")
        })
    }

    /// The format that was detected or set.
    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// The next record of the file, in the file's order.
    #[inline]
    fn next_in_file(&mut self) -> Result<Option<Record>, Error> {
        while self.batch_at == self.batch.len() {
            if self.ended {
                return Ok(None);
            }
            self.batch.clear();
            self.batch_at = 0;
            self.ended = !self.reader.read_batch(&mut self.batch)?;
        }
        self.batch_at += 1;
        Ok(Some(self.batch[self.batch_at - 1]))
    }

    /// Holds a record for sorting.
    #[inline]
    fn hold(&mut self, record: Record) -> Result<(), Error> {
        let arrival_ns = record.request.arrival_ns;
        if self.last_arrival_ns.is_some_and(|last_ns| arrival_ns < last_ns) {
            return Err(self.runs_backwards(record));
        }
        self.read_count += 1;
        self.read_bytes += u128::from(record.request.len_bytes);
        if self.held.back().is_none_or(|back| back.request.arrival_ns <= arrival_ns) {
            self.held.push_back(record);
        } else {
            self.late.push(Reverse(Late(record)));
            self.sorted_count += 1;
        }
        Ok(())
    }

    /// The earliest record that is held; of equal records, the first in the file.
    #[inline]
    fn release(&mut self) -> Option<Record> {
        let Some(Reverse(Late(late))) = self.late.peek() else { return self.held.pop_front() };
        if self.held.front().is_some_and(|front| order(front) < order(late)) {
            return self.held.pop_front();
        }
        self.late.pop().map(|Reverse(Late(record))| record)
    }

    #[cold]
    fn runs_backwards(&self, record: Record) -> Error {
        let back_ns = self.last_arrival_ns.unwrap_or(0) - record.request.arrival_ns;
        let back = crate::units::format_duration_ns(back_ns);
        let (file, place) = (&self.file, record.place);
        let window = counted(self.window_records as u64, "record");
        let message = format!(
            "{file}, line or record {place}: its time is {back} before that of an earlier request, which is no longer \
             among the {window} held for sorting"
        );
        let usual = "sort the trace, or raise `workload.reorder_window`, the records held for sorting";
        Error::new(message).with_help(self.format.row().help_if_late.unwrap_or(usual))
    }
}

/// A record in a heap, in the order in which records are returned.
struct Late(Record);

fn order(record: &Record) -> (u64, u64) {
    (record.request.arrival_ns, record.place)
}

impl Ord for Late {
    fn cmp(&self, other: &Self) -> Ordering {
        order(&self.0).cmp(&order(&other.0))
    }
}

impl PartialOrd for Late {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Late {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Late {}

impl RequestSource for TraceSource {
    #[inline]
    fn next_request(&mut self) -> Result<Option<Request>, Error> {
        while self.held.len() + self.late.len() < self.window_records {
            match self.next_in_file()? {
                Some(record) => self.hold(record)?,
                None => break,
            }
        }
        let Some(Record { mut request, .. }) = self.release() else { return Ok(None) };
        self.last_arrival_ns = Some(request.arrival_ns);
        request.arrival_ns -= *self.origin_ns.get_or_insert(request.arrival_ns);
        Ok(Some(request))
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = vec![format!("format `{}`", self.format)];
        notes.extend(self.shared_notes.lock().unwrap_or_else(std::sync::PoisonError::into_inner).iter().cloned());
        notes.extend(self.reader.notes());
        if self.skip_bad > 0 && !notes.iter().any(|note| note.contains(AS_SKIP_BAD_ALLOWS)) {
            notes.push("`workload.skip_bad` has no effect: no record that was read is malformed".to_owned());
        }
        if self.sorted_count > 0 {
            let [late, window] = [self.sorted_count, self.window_records as u64].map(|count| counted(count, "record"));
            notes.push(format!("sorted {late} that came late, within {window}"));
        } else if self.is_window_set {
            notes.push("`workload.reorder_window` has no effect: the records are in order of time".to_owned());
        }
        notes.extend(self.note_tiny());
        notes
    }

    fn device_name(&self, device: u32) -> Option<String> {
        self.reader.device_name(device)
    }
}

/// The reader of a trace, which may be several files of one base name.
fn open_reader(
    path: &Path,
    file: &str,
    options: &ReaderOptions,
    notes: &SharedNotes,
) -> Result<(Format, Box<dyn RecordReader>), Error> {
    let parts = per_cpu::files(path);
    if parts.is_empty() {
        return open_file(path, file, options, notes);
    }
    if let Some(note) = per_cpu::note_of_gap(&parts) {
        input::add_note(notes, note);
    }
    let mut readers = Vec::new();
    for part in &parts {
        let shown = part.display().to_string();
        let failed = |error: std::io::Error| read_error(&shown, 0, &error);
        let stream = input::unwrap(Box::new(input::open_file(part)?), notes).map_err(failed)?;
        let (head, stream) = input::peek(stream, HEAD_BYTES).map_err(failed)?;
        // An idle CPU's file is empty.
        if head.is_empty() {
            continue;
        }
        if !Blktrace::recognises(&head) {
            return Err(Error::new(format!("{shown}: it does not begin as blktrace's files do")).with_help(format!(
                "it was read as one of {} of `{file}`: rename it, or move it to another folder",
                counted(parts.len() as u64, "file")
            )));
        }
        let taken = format!("it was read as one of the files of `{file}`");
        let format = Blktrace::new(options.event, &head);
        readers.push(BinaryReader::new(shown, stream, format, options.skip_bad, taken).may_be_empty());
    }
    Ok((Format::Blktrace, Box::new(Merged::new(file.to_owned(), readers, parts.len(), options.event))))
}

/// The reader of one file.
fn open_file(
    path: &Path,
    file: &str,
    options: &ReaderOptions,
    notes: &SharedNotes,
) -> Result<(Format, Box<dyn RecordReader>), Error> {
    let mut opened = input::open_file(path)?;
    let failed = |error: std::io::Error| read_error(file, 0, &error);
    let mut magic = Vec::new();
    opened.by_ref().take(4).read_to_end(&mut magic).map_err(failed)?;
    opened.rewind().map_err(failed)?;
    if options.format == Format::Parquet || (options.format == Format::Auto && parquet::recognises(&magic)) {
        let reader = parquet::ParquetReader::new(file.to_owned(), opened, options)?;
        return Ok((Format::Parquet, Box::new(reader)));
    }
    let stream = input::unwrap(Box::new(opened), notes).map_err(failed)?;
    let (head, stream) = input::peek(stream, HEAD_BYTES).map_err(failed)?;
    if let Some(refused) = foreign::refuse_container(file, &head) {
        return Err(refused);
    }
    let detected = match options.format {
        Format::Auto => detect(file, &head, head.len() < HEAD_BYTES, options)?,
        named => Detected::named(named),
    };
    let format = detected.format;
    let opening = Opening { file, stream, head: &head, options, taken: detected.clause() };
    let reader = match format.row().content {
        Content::Lines { open, .. } | Content::Known { open, .. } => open(opening)?,
        Content::Settled => return Err(Error::new(format!("{file}: format `{format}` has no reader"))),
    };
    Ok((format, reader))
}
