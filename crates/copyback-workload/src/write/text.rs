//! The text formats that can be written.

use super::{RequestWriter, WriteFormat, io_error};
use crate::readers::csv::COUNTS_FROM_START;
use crate::readers::fio::NOTE_OF_WAITS;
use crate::units::format_count;
use crate::{Error, Op, Priority, Request};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

/// A text format of one request a line.
pub(crate) trait TextFormat {
    /// The text before the first request.
    fn start(&mut self, _output: &mut dyn Write) -> std::io::Result<()> {
        Ok(())
    }

    /// The unit of its times.
    fn time_unit_ns(&self) -> u64;

    /// The reason why it cannot hold a request, if there is one.
    fn refuses(&self, request: &Request) -> Option<Error>;

    /// Notes on what was written.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Names a device; its requests follow.
    fn name_device(&mut self, _device: u32, _name: &str) {}

    /// Whether it keeps priorities.
    fn has_priorities(&self) -> bool {
        false
    }

    /// Writes the text after the last request.
    fn end(&mut self, _output: &mut dyn Write) -> std::io::Result<()> {
        Ok(())
    }

    /// Writes a request that it can hold.
    fn line(&mut self, request: &Request, output: &mut dyn Write) -> std::io::Result<()>;
}

/// Writes a text format, and counts the properties that it could not keep.
pub(crate) struct TextWriter<W, F> {
    output: W,
    format: F,
    rounded_times: u64,
    lost_priorities: u64,
}

impl<W: Write, F: TextFormat> TextWriter<W, F> {
    pub(crate) fn new(mut output: W, mut format: F) -> Result<Self, Error> {
        format.start(&mut output).map_err(|error| io_error(&error))?;
        Ok(Self { output, format, rounded_times: 0, lost_priorities: 0 })
    }
}

impl<W: Write, F: TextFormat> RequestWriter for TextWriter<W, F> {
    fn write(&mut self, request: &Request) -> Result<(), Error> {
        if let Some(error) = self.format.refuses(request) {
            return Err(error);
        }
        self.rounded_times += u64::from(!request.arrival_ns.is_multiple_of(self.format.time_unit_ns()));
        let is_lost = request.priority != Priority::Normal && !self.format.has_priorities();
        self.lost_priorities += u64::from(is_lost);
        self.format.line(request, &mut self.output).map_err(|error| io_error(&error))
    }

    fn name_device(&mut self, device: u32, name: &str) {
        self.format.name_device(device, name);
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<String>, Error> {
        self.format.end(&mut self.output).map_err(|error| io_error(&error))?;
        self.output.flush().map_err(|error| io_error(&error))?;
        let mut notes = self.format.notes();
        if self.rounded_times > 0 {
            let unit = crate::units::format_duration_ns(self.format.time_unit_ns());
            notes.push(format!(
                "{} arrival times cut to whole units of {unit}, the format's finest",
                self.rounded_times
            ));
        }
        if self.lost_priorities > 0 {
            let lost = format_count(self.lost_priorities);
            notes.push(format!("{lost} high priorities lost: the format has none"));
        }
        Ok(notes)
    }
}

fn no_trim(request: &Request, format: WriteFormat) -> Option<Error> {
    (request.op == Op::Trim).then(|| {
        Error::new(format!("format `{format}` has no trims"))
            .with_help("write `parquet`, `csv`, `fio-v2` or `fio-v3` instead")
    })
}

fn whole_sectors(value_bytes: u64, what: &str, format: WriteFormat) -> Option<Error> {
    (!value_bytes.is_multiple_of(512)).then(|| {
        Error::new(format!("format `{format}` counts sectors of 512 bytes, but the {what} is {value_bytes} bytes"))
            .with_help("set `align = \"512 B\"`, or write `parquet` instead")
    })
}

/// A table as text.
#[derive(Default)]
pub(crate) struct Csv {
    has_header: bool,
    /// Names of devices, as fields.
    names: BTreeMap<u32, String>,
}

/// A device's name as a field of a table: in quotes if it has other characters than letters, digits and `-_./:`. A name
/// that is a number gets a prefix: otherwise it would be read as the device's number.
fn field_of_name(name: &str) -> String {
    let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
    if is_number {
        return format!("device-{name}");
    }
    let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ':'));
    if is_plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

impl Csv {
    /// The names of the columns. If the first request arrives later than the start, a comment before them says that
    /// times count from the start. Otherwise a reader counts them from the first request.
    fn header(&mut self, first_ns: u64, output: &mut dyn Write) -> std::io::Result<()> {
        self.has_header = true;
        if first_ns > 0 {
            writeln!(output, "{COUNTS_FROM_START}")?;
        }
        writeln!(output, "arrival_ns,op,offset_bytes,length_bytes,device,priority")
    }
}

impl TextFormat for Csv {
    fn time_unit_ns(&self) -> u64 {
        1
    }

    fn refuses(&self, _request: &Request) -> Option<Error> {
        None
    }

    fn has_priorities(&self) -> bool {
        true
    }

    fn line(&mut self, request: &Request, output: &mut dyn Write) -> std::io::Result<()> {
        if !self.has_header {
            self.header(request.arrival_ns, output)?;
        }
        let op = match request.op {
            Op::Read => 'R',
            Op::Write => 'W',
            Op::Trim => 'T',
        };
        let priority = if request.priority == Priority::High { "high" } else { "normal" };
        let Request { arrival_ns, offset_bytes, len_bytes, device, .. } = request;
        write!(output, "{arrival_ns},{op},{offset_bytes},{len_bytes},")?;
        match self.names.get(device) {
            Some(name) => writeln!(output, "{name},{priority}"),
            None => writeln!(output, "{device},{priority}"),
        }
    }

    fn name_device(&mut self, device: u32, name: &str) {
        self.names.insert(device, field_of_name(name));
    }

    fn end(&mut self, output: &mut dyn Write) -> std::io::Result<()> {
        // A table without requests has its header, too.
        if self.has_header { Ok(()) } else { self.header(0, output) }
    }
}

/// MSR Cambridge CSV. Its times begin here with the year 2000, as a filetime.
pub(crate) struct Msr;

/// 2000-01-01 in units of 100 ns since 1601: times of zero are refused by some readers.
const MSR_START_FILETIME: u64 = 125_911_584_000_000_000;

impl TextFormat for Msr {
    fn time_unit_ns(&self) -> u64 {
        100
    }

    fn refuses(&self, request: &Request) -> Option<Error> {
        no_trim(request, WriteFormat::Msr).or_else(|| {
            // The time must fit this program's nanoseconds when it is read again; disks have 16 bits.
            let too_late = request.arrival_ns / 100 > u64::MAX / 100 - MSR_START_FILETIME;
            let wrong = if too_late { "an arrival so late" } else { "a device number above 65,535" };
            let refused = too_late || request.device >= 1 << 16;
            refused
                .then(|| Error::new(format!("format `msr` cannot hold {wrong}")).with_help("write `parquet` instead"))
        })
    }

    fn line(&mut self, request: &Request, output: &mut dyn Write) -> std::io::Result<()> {
        let op = if request.op == Op::Read { "Read" } else { "Write" };
        let filetime = MSR_START_FILETIME + request.arrival_ns / 100;
        let Request { device, offset_bytes, len_bytes, .. } = request;
        writeln!(output, "{filetime},copyback,{device},{op},{offset_bytes},{len_bytes},0")
    }
}

/// DiskSim ASCII.
pub(crate) struct Disksim;

impl TextFormat for Disksim {
    fn time_unit_ns(&self) -> u64 {
        1
    }

    fn refuses(&self, request: &Request) -> Option<Error> {
        no_trim(request, WriteFormat::Disksim)
            .or_else(|| whole_sectors(request.offset_bytes, "address", WriteFormat::Disksim))
            .or_else(|| whole_sectors(request.len_bytes, "length", WriteFormat::Disksim))
    }

    fn line(&mut self, request: &Request, output: &mut dyn Write) -> std::io::Result<()> {
        let (ms, fraction) = (request.arrival_ns / 1_000_000, request.arrival_ns % 1_000_000);
        let (sector, sectors) = (request.offset_bytes / 512, request.len_bytes / 512);
        let flag = u8::from(request.op == Op::Read);
        writeln!(output, "{ms}.{fraction:06} {} {sector} {sectors} {flag}", request.device)
    }
}

/// SPC.
pub(crate) struct Spc;

impl TextFormat for Spc {
    fn time_unit_ns(&self) -> u64 {
        1
    }

    fn refuses(&self, request: &Request) -> Option<Error> {
        no_trim(request, WriteFormat::Spc).or_else(|| whole_sectors(request.offset_bytes, "address", WriteFormat::Spc))
    }

    fn line(&mut self, request: &Request, output: &mut dyn Write) -> std::io::Result<()> {
        let (s, fraction) = (request.arrival_ns / 1_000_000_000, request.arrival_ns % 1_000_000_000);
        let op = if request.op == Op::Read { 'R' } else { 'W' };
        let Request { device, len_bytes, .. } = request;
        writeln!(output, "{device},{},{len_bytes},{op},{s}.{fraction:09}", request.offset_bytes / 512)
    }
}

/// fio's iolog.
pub(crate) struct Fio {
    version: u8,
    opened: BTreeSet<u32>,
    waited_us: u64,
}

impl Fio {
    pub(crate) fn new(version: u8) -> Self {
        Self { version, opened: BTreeSet::new(), waited_us: 0 }
    }

    fn time(&self, now_us: u64) -> String {
        if self.version == 3 { format!("{now_us} ") } else { String::new() }
    }
}

impl TextFormat for Fio {
    fn start(&mut self, output: &mut dyn Write) -> std::io::Result<()> {
        writeln!(output, "fio version {} iolog", self.version)
    }

    fn time_unit_ns(&self) -> u64 {
        1000
    }

    fn refuses(&self, _request: &Request) -> Option<Error> {
        None
    }

    fn notes(&self) -> Vec<String> {
        let has_waits = self.version == 2 && self.waited_us > 0;
        has_waits.then(|| NOTE_OF_WAITS.to_owned()).into_iter().collect()
    }

    fn line(&mut self, request: &Request, output: &mut dyn Write) -> std::io::Result<()> {
        let now_us = request.arrival_ns / 1000;
        let (time, device) = (self.time(now_us), request.device);
        if self.opened.insert(device) {
            writeln!(output, "{time}device-{device} add\n{time}device-{device} open")?;
        }
        if self.version == 2 && now_us > self.waited_us {
            writeln!(output, "device-{device} wait {} 0", now_us - self.waited_us)?;
            self.waited_us = now_us;
        }
        let op = match request.op {
            Op::Read => "read",
            Op::Write => "write",
            Op::Trim => "trim",
        };
        writeln!(output, "{time}device-{device} {op} {} {}", request.offset_bytes, request.len_bytes)
    }
}
