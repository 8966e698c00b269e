//! The files of one recording of blktrace, one for each CPU, merged by time.

use super::blkparse::{note_few, other_action};
use super::blktrace::Blktrace;
use super::records::BinaryReader;
use super::{BATCH_RECORDS, Record, RecordReader};
use crate::Error;
use crate::spec::BlockAction;
use crate::units::counted;

/// One of the files, and its next record.
struct CpuFile {
    reader: BinaryReader<Blktrace>,
    records: Vec<Record>,
    at: usize,
    ended: bool,
}

impl CpuFile {
    /// The next record, without consuming it.
    #[inline]
    fn peek(&mut self) -> Result<Option<Record>, Error> {
        while self.at == self.records.len() && !self.ended {
            self.records.clear();
            self.at = 0;
            self.ended = !self.reader.read_batch(&mut self.records)?;
        }
        Ok(self.records.get(self.at).copied())
    }
}

/// Reads the files of all CPUs. If requests have equal times, the lower CPU's is first.
pub(crate) struct Merged {
    base: String,
    parts: Vec<CpuFile>,
    file_count: usize,
    wanted: BlockAction,
    request_count: u64,
}

impl Merged {
    /// A reader of `file_count` files; files with records have readers.
    pub(crate) fn new(
        base: String,
        readers: Vec<BinaryReader<Blktrace>>,
        file_count: usize,
        wanted: BlockAction,
    ) -> Self {
        let part = |reader| CpuFile { reader, records: Vec::with_capacity(BATCH_RECORDS), at: 0, ended: false };
        let parts = readers.into_iter().map(part).collect();
        Self { base, parts, file_count, wanted, request_count: 0 }
    }

    /// Events of each action that moved data, of all files.
    fn event_counts(&self) -> [u64; 3] {
        let mut event_counts = [0; 3];
        for part in &self.parts {
            event_counts.iter_mut().zip(part.reader.format().event_counts()).for_each(|(all, of_part)| *all += of_part);
        }
        event_counts
    }

    /// The next request of all files.
    fn next(&mut self) -> Result<Option<Record>, Error> {
        let mut first: Option<(u64, usize)> = None;
        for (index, part) in self.parts.iter_mut().enumerate() {
            let Some(record) = part.peek()? else { continue };
            let arrival_ns = record.request.arrival_ns;
            if first.is_none_or(|(first_ns, _)| arrival_ns < first_ns) {
                first = Some((arrival_ns, index));
            }
        }
        let Some((_, index)) = first else { return Ok(None) };
        let part = &mut self.parts[index];
        let request = part.records[part.at].request;
        part.at += 1;
        self.request_count += 1;
        Ok(Some(Record { place: self.request_count, request }))
    }
}

impl RecordReader for Merged {
    fn read_batch(&mut self, records: &mut Vec<Record>) -> Result<bool, Error> {
        for _ in 0..BATCH_RECORDS {
            match self.next()? {
                Some(record) => records.push(record),
                None if self.request_count == 0 => {
                    let error =
                        Error::new(format!("{}: no request in {}", self.base, counted(self.file_count as u64, "file")));
                    return Err(match other_action(self.wanted, &self.event_counts()) {
                        Some(help) => error.with_help(help),
                        None => error.with_help("record with `blktrace -d DEVICE -o BASE`"),
                    });
                }
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = vec![
            format!("took the `{}` events of the block layer for requests", self.wanted),
            format!("{} of `{}`, one for each CPU, merged by time", counted(self.file_count as u64, "file"), self.base),
        ];
        notes.extend(note_few(self.wanted, &self.event_counts()));
        let passed_through = self.parts.iter().map(|part| part.reader.format().passed_through()).sum();
        notes.extend(Blktrace::note_passed_through(passed_through));
        for part in &self.parts {
            part.reader.notes_of_records(&mut notes);
        }
        notes
    }

    fn device_name(&self, device: u32) -> Option<String> {
        Some(super::fiu::linux_name(device))
    }
}
