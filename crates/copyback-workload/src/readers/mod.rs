//! Readers of trace formats: one file for each format, all streaming, all with the trait [`RecordReader`].

mod arrow_schema;
pub(crate) mod biosnoop;
pub(crate) mod blkparse;
pub(crate) mod blktrace;
mod call_times;
pub(crate) mod cloud;
mod column_units;
pub(crate) mod columns;
pub(crate) mod csv;
mod csv_fields;
pub(crate) mod cursor;
mod dated_header;
mod dates;
mod decimal;
pub(crate) mod detect;
mod durations;
pub(crate) mod etw;
pub(crate) mod fio;
pub(crate) mod fiu;
pub(crate) mod five_column;
pub(crate) mod foreign;
mod guess;
pub(crate) mod iosnoop;
pub(crate) mod lcs;
pub(crate) mod lines;
pub(crate) mod merged;
pub(crate) mod msr;
mod names;
mod other_commands;
pub(crate) mod parquet;
mod parquet_batches;
mod parquet_columns;
pub(crate) mod parquet_guard;
mod parquet_layouts;
pub mod parquet_lengths;
mod parquet_types;
mod plausible;
pub(crate) mod records;
pub(crate) mod registry;
mod separator;
pub(crate) mod spc;
pub(crate) mod strace;
mod suggested;
pub(crate) mod systor;
pub(crate) mod tectonic;
mod time_of_day;
pub(crate) mod tracepoints;
mod unknown_table;
pub(crate) mod vscsi;

/// The example of docs/policies.md, compiled at the path that the page states.
#[cfg(test)]
#[path = "../../../../docs/examples/named_values.rs"]
pub(crate) mod named_values;

use self::registry::{Content, FormatRow};
use crate::units::counted;
use crate::{Error, Op, Priority, Request};
pub(crate) use cursor::LineError;

// Formats are listed and tried in this order. Of two similar formats of lines, the stricter is first.
registry::formats! {
    /// Found out from the content.
    Auto => FormatRow::new("auto", Content::Settled),
    /// MSR Cambridge CSV: filetime (100 ns), host, disk, Read|Write, byte offset, bytes, response time.
    Msr => msr::FORMAT,
    /// SPC: ASU, LBA (512 B), bytes, R|W, seconds.
    Spc => spc::FORMAT,
    /// SSDSim and MQSim ASCII: whole nanoseconds, device, sector, sectors, flag.
    Ssdsim => five_column::SSDSIM,
    /// DiskSim ASCII: milliseconds with decimals, device, sector, sectors, flag.
    Disksim => five_column::DISKSIM,
    /// The text that blkparse prints by default.
    Blkparse => blkparse::FORMAT,
    /// Linux tracepoints as text: `block_rq_issue`, `ufshcd_command` of ftrace, perf script and trace-cmd.
    Tracepoints => tracepoints::FORMAT,
    /// The text that biosnoop prints, of BCC and libbpf-tools: seconds, process, PID, disk, R|W, sector, bytes, ms.
    Biosnoop => biosnoop::FORMAT,
    /// The text that iosnoop of perf-tools prints, best with `-s`: process, PID, R|W, device, sector, bytes, ms.
    Iosnoop => iosnoop::FORMAT,
    /// FIU: ns, pid, process, sector, sectors, R|W, major, minor, MD5.
    Fiu => fiu::FORMAT,
    /// SYSTOR '17: CSV with seconds, response, R|W, LUN, byte offset, bytes.
    Systor => systor::FORMAT,
    /// Tencent CBS: seconds, sector, sectors, 0|1, volume.
    Tencent => cloud::TENCENT,
    /// Alibaba: device, R|W, byte offset, bytes, microseconds.
    Alibaba => cloud::ALIBABA,
    /// fio's iolog, versions 2 and 3.
    Fio => fio::FORMAT,
    /// Meta's Tectonic (Baleen): block, byte offset, bytes, seconds, operation, and three features or more.
    Tectonic => tectonic::FORMAT,
    /// Microsoft production servers: the text export of Windows disk events.
    Etw => etw::FORMAT,
    /// The output of `strace -f -ttt -e trace=pread64,pwrite64,preadv,pwritev`, best with `-y`.
    Strace => strace::FORMAT,
    /// The binary records that blktrace collects, of either byte order.
    Blktrace => blktrace::FORMAT,
    /// libCacheSim's binary format lcs, from version 2 on, which says whether a request reads or writes.
    Lcs => lcs::FORMAT,
    /// VMware vscsi, 32-byte records.
    Vscsi1 => vscsi::VERSION_1,
    /// VMware vscsi, 40-byte records with response times.
    Vscsi2 => vscsi::VERSION_2,
    /// A table as text: a header that names the columns (`arrival_ns`, `op`, `offset_bytes`, `length_bytes`, and
    /// perhaps `device` and `priority`, or what `[workload.columns]` says), then a row a request.
    Csv => csv::FORMAT,
    /// Parquet, with the same columns; also the project's own compact format.
    Parquet => parquet::FORMAT,
    /// The example of docs/policies.md.
    #[cfg(test)]
    NamedValues => named_values::FORMAT,
}

crate::words::words_of!(Format, "format", |format| format.row().word);

/// A request as in the trace, and its position: its line or record, counted from one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    pub place: u64,
    pub request: Request,
}

/// Reads a trace's records, many at a time so that the call costs little.
pub(crate) trait RecordReader: Send {
    /// Appends some records; `false` at the end.
    fn read_batch(&mut self, records: &mut Vec<Record>) -> Result<bool, Error>;

    /// Notes to the user about the records read so far.
    fn notes(&self) -> Vec<String>;

    /// Whether its times count from the recording's start, and not from an arbitrary moment.
    fn counts_from_start(&self) -> bool {
        false
    }

    /// The trace's name of a device, if it has one in addition to its number.
    fn device_name(&self, _device: u32) -> Option<String> {
        None
    }
}

/// How many records a reader appends at a time.
pub(crate) const BATCH_RECORDS: usize = 1024;

/// The content of a line.
#[derive(Debug)]
pub(crate) enum Parsed {
    /// A request.
    Request(Request),
    /// A line of the format without a request for data: a header, another event.
    Other,
    /// A flush of the drive's write buffer.
    Flush,
}

/// Flushes that a reader skipped.
#[derive(Default)]
pub(crate) struct Flushes(u64);

impl Flushes {
    #[cold]
    pub(crate) fn add(&mut self) {
        self.0 += 1;
    }

    pub(crate) fn notes(&self, notes: &mut Vec<String>) {
        if self.0 > 0 {
            let count = counted(self.0, "flush");
            notes.push(format!("{count} left out: flushes of a drive's write buffer are not simulated"));
        }
    }
}

/// A format of one record a line.
pub(crate) trait LineFormat: Send {
    /// Reads a line without its end. The caller skips blank lines and comments.
    fn parse(&mut self, line: &[u8]) -> Result<Parsed, LineError>;

    /// Whether a line that begins like a comment is a row in this format.
    fn is_row(&self, _line: &[u8]) -> bool {
        false
    }

    /// Notes to the user about the records parsed so far.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// As [`RecordReader::counts_from_start`].
    fn counts_from_start(&self) -> bool {
        false
    }

    /// The suggestion if a file has no request at all.
    fn help_if_empty(&self) -> Option<String> {
        None
    }

    /// Whether a line was read that can belong to no other format, even if it is no request.
    fn is_certain(&self) -> bool {
        false
    }

    /// Whether a line has the form of this format and of no other, even if it is damaged.
    fn is_own(&self, _line: &[u8]) -> bool {
        false
    }

    /// As [`RecordReader::device_name`].
    fn device_name(&self, _device: u32) -> Option<String> {
        None
    }
}

/// All options of a reader.
#[derive(Clone, Debug)]
pub(crate) struct ReaderOptions {
    pub format: Format,
    pub columns: crate::spec::ColumnNames,
    pub operations: crate::spec::Operations,
    pub zero_means: crate::spec::ZeroMeans,
    pub event: crate::spec::BlockAction,
    pub skip_bad: u64,
}

impl Default for ReaderOptions {
    fn default() -> Self {
        Self {
            format: Format::Auto,
            columns: crate::spec::ColumnNames::default(),
            operations: crate::spec::Operations::default(),
            zero_means: crate::spec::ZeroMeans::Auto,
            event: crate::spec::BlockAction::Issued,
            skip_bad: 0,
        }
    }
}

/// A request of normal priority.
#[inline]
pub(crate) fn request(arrival_ns: u64, op: Op, offset_bytes: u64, len_bytes: u64, device: u32) -> Parsed {
    Parsed::Request(Request { arrival_ns, offset_bytes, len_bytes, device, op, priority: Priority::Normal })
}

/// The longest valid request. Block layers cut requests far below this, so a longer request is a damaged number. Its
/// pages could fill the memory.
const LEN_BYTES_MAX: u64 = 1 << 40;

/// What the note on malformed records says, after their number.
pub(crate) const AS_SKIP_BAD_ALLOWS: &str = " left out, as skip_bad";

/// Counts malformed records against the user's limit.
#[derive(Debug)]
pub(crate) struct BadRecords {
    allowed: u64,
    skipped: u64,
    zero_length: u64,
    /// The detected format and the reason; empty if the format is certain.
    taken: String,
}

impl BadRecords {
    pub(crate) fn new(allowed: u64, taken: String) -> Self {
        Self { allowed, skipped: 0, zero_length: 0, taken }
    }

    /// The end of a message: the format as which the file is read.
    fn taken(&self) -> String {
        if self.taken.is_empty() { String::new() } else { format!("; {}", self.taken) }
    }

    /// The error of a file without a request.
    pub(crate) fn no_requests(&self, file: &str, help: Option<String>) -> Error {
        if self.zero_length > 0 {
            let left_out = counted(self.zero_length, "request");
            let message = format!("{file}: {left_out} of zero bytes left out, and it holds no requests but these");
            return Error::new(message + &self.taken())
                .with_help("a request moves one byte or more: see the column of lengths");
        }
        let error = Error::new(format!("{file}: it holds no requests{}", self.taken()));
        match help {
            Some(help) => error.with_help(help),
            None => error.with_help("if it is of another format, name that: --format, or `workload.format`"),
        }
    }

    /// Whether no malformed record may be left out.
    pub(crate) fn allows_none(&self) -> bool {
        self.allowed == 0
    }

    /// Whether one more malformed record may be left out.
    pub(crate) fn may_skip(&mut self) -> bool {
        if self.skipped < self.allowed {
            self.skipped += 1;
            return true;
        }
        false
    }

    /// Checks the rules of all formats; `None` for a request that moves no data, which is skipped and counted.
    #[inline]
    pub(crate) fn check(&mut self, request: Request) -> Result<Option<Request>, LineError> {
        if request.len_bytes == 0 {
            self.zero_length += 1;
            return Ok(None);
        }
        if request.len_bytes > LEN_BYTES_MAX {
            let len = crate::units::format_bytes(request.len_bytes);
            return Err(LineError(format!(
                "a request of {len} is longer than any block layer makes (1 TiB at most here)"
            )));
        }
        let Request { offset_bytes, len_bytes, .. } = request;
        // The request's end must fit 64 bits in all later code.
        if offset_bytes.checked_add(len_bytes).is_none() {
            let end = u128::from(offset_bytes) + u128::from(len_bytes);
            return Err(LineError(format!(
                "a request of {len_bytes} bytes at byte {offset_bytes} ends at byte {end}, and the end is {} at most",
                u64::MAX
            )));
        }
        Ok(Some(request))
    }

    /// The error that ends reading, with possible remedies.
    pub(crate) fn error(&self, place: &str, message: &str) -> Error {
        let allowed = self.allowed;
        let error = Error::new(format!("{place}: {message}{}", self.taken()));
        if allowed == 0 {
            return error.with_help(
                "if the trace is only damaged here, `skip_bad = 1` (`--skip-bad 1`) leaves one such record out",
            );
        }
        let records = counted(allowed, "malformed record");
        error.with_help(format!("left out before: {records}, as `skip_bad = {allowed}` allows"))
    }

    pub(crate) fn notes(&self, notes: &mut Vec<String>) {
        if self.skipped > 0 {
            let skipped = counted(self.skipped, "malformed record");
            notes.push(format!("{skipped}{AS_SKIP_BAD_ALLOWS} = {} allows", self.allowed));
        }
        if self.zero_length > 0 {
            let without_data = counted(self.zero_length, "request");
            notes.push(format!("{without_data} of zero bytes left out: nothing is moved"));
        }
    }
}
