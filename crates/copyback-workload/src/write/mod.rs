//! Writing a workload to a file, in the project's own format or another program's.

mod parquet;
pub mod target;
mod text;

use crate::words::words;
use crate::{Error, Request, RequestSource};
use std::collections::BTreeSet;
use std::io::{BufWriter, Write};
use std::path::Path;
use target::Target;

words! {
    /// A format that can be written.
    pub enum WriteFormat("format to write") {
        /// The project's own compact format; keeps everything but the names of devices.
        Parquet = "parquet",
        /// A table as text, with the columns that the reader of tables takes; keeps everything.
        Csv = "csv",
        /// MSR Cambridge CSV; times in 100 ns, no trims, no priorities.
        Msr = "msr",
        /// fio's iolog version 2; waits in µs, no priorities.
        Fio2 = "fio-v2",
        /// fio's iolog version 3; times in µs, no priorities.
        Fio3 = "fio-v3",
        /// DiskSim ASCII, 1 = read; whole sectors, no trims, no priorities.
        Disksim = "disksim",
        /// SPC; addresses in whole sectors, no trims, no priorities.
        Spc = "spc",
    }
}

/// The number of written requests, and the properties that the format could not keep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteSummary {
    /// How many requests.
    pub requests: u64,
    /// Notes on what the format changed.
    pub notes: Vec<String>,
}

/// Writes requests in one format, one after the other.
pub(crate) trait RequestWriter {
    /// Writes one request.
    fn write(&mut self, request: &Request) -> Result<(), Error>;

    /// Names a device whose requests follow, for formats with names of devices.
    fn name_device(&mut self, _device: u32, _name: &str) {}

    /// Writes the rest, and returns the properties that the format could not keep.
    fn finish(self: Box<Self>) -> Result<Vec<String>, Error>;
}

/// Writes all of a source's requests to the file of this name.
///
/// A file appears under its name when it is complete. Until then it has another name in the same folder, and a failure
/// removes it. An existing regular file is replaced; a device or a pipe is written directly ([`Target`]).
///
/// # Errors
/// Errors of the source, a request that the format cannot hold (a trim, half a sector), or errors of the disk.
pub fn write_trace(
    source: &mut (impl RequestSource + ?Sized),
    path: &Path,
    format: WriteFormat,
) -> Result<WriteSummary, Error> {
    let failed = |error: std::io::Error| Error::of_output(format!("{}: {error}", path.display()));
    let target = Target::of(path).map_err(|error| failed(error).with_help("name another file"))?;
    let make = |file: &mut std::fs::File| {
        write_to(source, file, format).map_err(|mut error| {
            error.message = format!("{}: not written: {}", path.display(), error.message);
            error
        })
    };
    target.write(make, failed)
}

/// Writes all of a source's requests to an open writer.
///
/// # Errors
/// As [`write_trace`].
pub fn write_to<W: Write + Send>(
    source: &mut (impl RequestSource + ?Sized),
    output: W,
    format: WriteFormat,
) -> Result<WriteSummary, Error> {
    let output = BufWriter::with_capacity(1 << 18, output);
    let mut writer: Box<dyn RequestWriter + '_> = match format {
        WriteFormat::Parquet => Box::new(parquet::ParquetWriter::new(output)?),
        WriteFormat::Csv => Box::new(text::TextWriter::new(output, text::Csv::default())?),
        WriteFormat::Msr => Box::new(text::TextWriter::new(output, text::Msr)?),
        WriteFormat::Fio2 => Box::new(text::TextWriter::new(output, text::Fio::new(2))?),
        WriteFormat::Fio3 => Box::new(text::TextWriter::new(output, text::Fio::new(3))?),
        WriteFormat::Disksim => Box::new(text::TextWriter::new(output, text::Disksim)?),
        WriteFormat::Spc => Box::new(text::TextWriter::new(output, text::Spc)?),
    };
    let mut requests = 0;
    let mut named = BTreeSet::new();
    while let Some(request) = source.next_request()? {
        requests += 1;
        if format == WriteFormat::Csv
            && named.insert(request.device)
            && let Some(name) = source.device_name(request.device)
        {
            writer.name_device(request.device, &name);
        }
        writer.write(&request).map_err(|mut error| {
            error.message = format!("request {requests}: {}", error.message);
            error
        })?;
    }
    let notes = writer.finish()?;
    Ok(WriteSummary { requests, notes })
}

/// The remedy if a file has reached its size limit.
pub const RAISE_LIMIT: &str = "raise the limit on the size of files (ulimit -f), or write less";

/// An error of the disk as an error of the workload.
pub(crate) fn io_error(error: &std::io::Error) -> Error {
    with_remedy(Error::of_output(format!("cannot write: {error}")), error)
}

/// A full disk needs no separate remedy: the caller that reports the error names it.
fn with_remedy(failure: Error, error: &std::io::Error) -> Error {
    match error.kind() {
        std::io::ErrorKind::FileTooLarge => failure.with_help(RAISE_LIMIT),
        _ => failure,
    }
}
