//! Parquet, one row for each request: files of pandas, polars and DuckDB, and the project's own compact format.
//!
//! Columns are found by their names, as in CSV: `arrival_ns`, `op`, `offset_bytes`, `length_bytes` and, if present,
//! `device` and `priority`, or the names in `[workload.columns]`. Numbers may be whole numbers of any size, signed or
//! not. A time may also be a timestamp or a duration, which have their own units, or a date as text; in a unit above a
//! nanosecond, it may be a floating-point number. `op`, `device` and `priority` may be texts. A column may be nullable
//! as long as it has no nulls. If no column's name has a unit of time, arrivals are read from the only column of
//! timestamps, or from a column of dates and one of times of day.
//!
//! The project's own files have `arrival_ns`, `offset_bytes`, `len_bytes` (u64), `op` (u8: 0 read, 1 write, 2 trim),
//! `device` (u32) and `priority` (u8: 0 normal, 1 high); the key `copyback.trace.version` of their metadata names the
//! layout, and says that times count from the recording's start.

use super::columns::{self, OpWords};
use super::cursor::shown;
use super::names::Names;
use super::parquet_batches;
use super::parquet_columns::{Layout, OpenColumn, Value};
use super::parquet_guard::{damaged, guarded};
use super::parquet_layouts::{key_value, layouts};
use super::registry::{Content, FormatRow};
use super::{BadRecords, LineError, ReaderOptions, Record, RecordReader, parquet_lengths};
use crate::spec::Field;
use crate::units::counted;
use crate::{Error, Request};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::fs::File;

/// The format. A file is opened before its content is examined, because Parquet needs random access.
pub(crate) const FORMAT: FormatRow =
    FormatRow { options: &["columns", "operations"], ..FormatRow::new("parquet", Content::Settled) };

/// The layout that this program writes and reads.
pub(crate) const VERSION: &str = "1";

/// The metadata key that names the layout.
pub(crate) const VERSION_KEY: &str = "copyback.trace.version";

/// The columns of the own format, in their order.
pub(crate) const COLUMNS: [&str; 6] = ["arrival_ns", "offset_bytes", "len_bytes", "op", "device", "priority"];

const BATCH_ROWS: usize = 4096;

/// The columns of a row group, read in step: the same rows of each.
struct RowGroup {
    columns: Vec<OpenColumn>,
    rows_left: usize,
}

/// Reads Parquet.
pub(crate) struct ParquetReader {
    file_name: String,
    file: SerializedFileReader<File>,
    /// The same file, to check its bytes.
    raw_file: File,
    layouts: Vec<Layout>,
    is_own: bool,
    unused: Option<String>,
    next_row_group: usize,
    row_group: Option<RowGroup>,
    row_count: u64,
    request_count: u64,
    bad: BadRecords,
    operations: OpWords,
    ignored: u64,
    /// Devices, if their column holds texts.
    devices: Names,
}

/// Whether a file begins as Parquet does.
pub(crate) fn recognises(head: &[u8]) -> bool {
    head.starts_with(b"PAR1")
}

impl ParquetReader {
    pub(crate) fn new(file_name: String, mut file: File, options: &ReaderOptions) -> Result<Self, Error> {
        if options.columns.header().is_some() {
            return Err(Error::new(format!("{file_name}: the columns of a Parquet file have names of their own"))
                .with_help("remove `workload.columns.order`, and name them in other keys of `workload.columns`"));
        }
        parquet_lengths::check_footer(&mut file).map_err(|wrong| damaged(&file_name, &wrong))?;
        let failed = |error: std::io::Error| damaged(&file_name, &error.to_string());
        let raw_file = file.try_clone().map_err(failed)?;
        let open = || SerializedFileReader::new(file).map_err(|error| damaged(&file_name, &error.to_string()));
        let file = guarded(&file_name, open)?;
        let is_own = is_own(&file_name, &file)?;
        let (layouts, unused) = layouts(&file_name, &file, &options.columns)?;
        let bad = BadRecords::new(options.skip_bad, String::new());
        Ok(Self {
            file_name,
            file,
            raw_file,
            layouts,
            is_own,
            unused,
            next_row_group: 0,
            row_group: None,
            row_count: 0,
            request_count: 0,
            bad,
            operations: OpWords::new(&options.operations),
            ignored: 0,
            devices: Names::default(),
        })
    }

    /// Advances to the next row group that has rows; `false` at the end.
    fn next_row_group(&mut self) -> Result<bool, Error> {
        let file_name = self.file_name.clone();
        guarded(&file_name, || self.open_row_group())
    }

    fn open_row_group(&mut self) -> Result<bool, Error> {
        while self.next_row_group < self.file.num_row_groups() {
            let index = self.next_row_group;
            self.next_row_group += 1;
            self.check_row_group(index)?;
            let failed = |error: ParquetError| damaged(&self.file_name, &error.to_string());
            let group = self.file.get_row_group(index).map_err(failed)?;
            let rows_left = usize::try_from(group.metadata().num_rows())
                .map_err(|_| damaged(&self.file_name, "a row group has a negative number of rows"))?;
            let open = |layout: &Layout| {
                let reader = group.get_column_reader(layout.column.at).map_err(failed)?;
                let differs = || damaged(&self.file_name, "a column has another type than the file's schema says");
                OpenColumn::new(*layout, reader).ok_or_else(differs)
            };
            let columns = self.layouts.iter().map(open).collect::<Result<_, Error>>()?;
            if rows_left > 0 {
                self.row_group = Some(RowGroup { columns, rows_left });
                return Ok(true);
            }
        }
        self.row_group = None;
        Ok(false)
    }

    fn check_row_group(&mut self, index: usize) -> Result<(), Error> {
        let group = self.file.metadata().row_group(index);
        let names = self.layouts.iter().map(|layout| (layout.column.at, layout.column.key.name));
        let lengths = parquet_lengths::check_pages(&mut self.raw_file, group, names.clone());
        lengths.map_err(|wrong| damaged(&self.file_name, &wrong))?;
        for (at, name) in names {
            let (codec, help) = match group.column(at).compression() {
                Compression::LZO => ("LZO, which is not read", "write it with zstd, snappy, gzip or lz4_raw"),
                Compression::BROTLI(_) if !cfg!(feature = "brotli") => (
                    "Brotli, which this build of the program cannot unpack",
                    "write it with zstd, snappy, gzip or lz4_raw, or build the program with `--features full`",
                ),
                _ => continue,
            };
            let message = format!("{}: its column `{name}` is compressed with {codec}", self.file_name);
            return Err(Error::new(message).with_help(help));
        }
        Ok(())
    }

    /// Reads some rows of each column of the current row group; returns their number.
    fn fill(&mut self) -> Result<usize, Error> {
        let file_name = self.file_name.clone();
        guarded(&file_name, || self.read_columns())
    }

    fn read_columns(&mut self) -> Result<usize, Error> {
        let Some(group) = &mut self.row_group else { return Ok(0) };
        let rows = group.rows_left.min(BATCH_ROWS);
        for column in &mut group.columns {
            let read = column.read(rows).map_err(|error| damaged(&self.file_name, &error.to_string()))?;
            if read != rows {
                return Err(damaged(&self.file_name, "its columns differ in length"));
            }
        }
        group.rows_left -= rows;
        Ok(rows)
    }
}

impl RowGroup {
    /// The request of a row; `None` for one whose operation is ignored.
    fn row(&self, row: usize, operations: &OpWords, devices: &mut Names) -> Result<Option<Request>, LineError> {
        let mut request = parquet_batches::DEFAULT;
        let mut is_ignored = false;
        // An ignored row may lack the other fields.
        let mut wrong = None;
        for column in &self.columns {
            let value = column.value(row);
            let op = match (column.layout.column.key.field, &value) {
                (Field::Op, Value::Number(number)) => operations.of_number(*number),
                (Field::Op, Value::Text(text)) => operations.of_text(text),
                (Field::Device, Value::Text(name)) => devices.device_of(name).map(|device| {
                    request.device = device;
                    Some(request.op)
                }),
                _ => set(&mut request, &column.layout, &value).map(|()| Some(request.op)),
            };
            match op {
                Ok(Some(op)) => request.op = op,
                Ok(None) => is_ignored = true,
                Err(error) => wrong = wrong.or(Some(error)),
            }
        }
        match wrong {
            _ if is_ignored => Ok(None),
            Some(wrong) => Err(wrong),
            None => Ok(Some(request)),
        }
    }
}

/// Stores a value in its field.
fn set(request: &mut Request, layout: &Layout, value: &Value<'_>) -> Result<(), LineError> {
    let key = &layout.column.key;
    let name = key.name;
    match (key.field, value) {
        (_, Value::Null) => return Err(LineError(format!("its {name} is null"))),
        // Operations depend on the settings, and were handled before.
        (Field::Op, Value::Number(_)) => {}
        // A date and a time of day may have a column each.
        (Field::Arrival, Value::Number(number)) => add(request, columns::scaled(*number, key)?, name)?,
        (Field::Arrival, Value::Text(text)) => {
            let wrong =
                || LineError(format!("its {name} is `{}`, and no date such as 2026-11-26T17:02:07.5Z", shown(text)));
            add(request, layout.form.ns(text).ok_or_else(wrong)?, name)?;
        }
        (Field::Arrival, Value::Real(time)) => {
            let time_ns = (time * key.factor as f64).round();
            if !(0.0..u64::MAX as f64).contains(&time_ns) {
                return Err(LineError(format!("its {name} is {time}, and no time that fits 64 bits of ns")));
            }
            request.arrival_ns = time_ns as u64;
        }
        (Field::Offset, Value::Number(number)) => request.offset_bytes = columns::scaled(*number, key)?,
        (Field::Length, Value::Number(number)) => request.len_bytes = columns::scaled(*number, key)?,
        (Field::Device, Value::Number(number)) => request.device = columns::device_of(*number)?,
        (Field::Priority, Value::Number(number)) => request.priority = columns::priority_of_number(*number)?,
        (Field::Priority, Value::Text(text)) => request.priority = columns::priority_of_text(text)?,
        // Types were checked when the file was opened.
        (_, Value::Real(_) | Value::Text(_)) => return Err(LineError(format!("its {name} is no whole number"))),
    }
    Ok(())
}

/// Adds a time, or a part of it, to a request's arrival.
fn add(request: &mut Request, ns: u64, name: &str) -> Result<(), LineError> {
    let sum = request.arrival_ns.checked_add(ns);
    request.arrival_ns = sum.ok_or_else(|| LineError(format!("its {name} is after the year 2554")))?;
    Ok(())
}

/// Whether the file has the project's own layout; an error if it has another version of the layout.
fn is_own(file_name: &str, file: &SerializedFileReader<File>) -> Result<bool, Error> {
    match key_value(file, VERSION_KEY) {
        None => Ok(false),
        Some(VERSION) => Ok(true),
        Some(other) => Err(Error::new(format!(
            "{file_name}: its trace layout is version {}; this program reads {VERSION}",
            shown(other.as_bytes())
        ))
        .with_help("convert the trace again with this version of the program")),
    }
}

impl RecordReader for ParquetReader {
    fn read_batch(&mut self, records: &mut Vec<Record>) -> Result<bool, Error> {
        if self.row_group.as_ref().is_none_or(|group| group.rows_left == 0) && !self.next_row_group()? {
            if self.request_count == 0 {
                return Err(self.bad.no_requests(&self.file_name, Some("give a table with rows".to_owned())));
            }
            return Ok(false);
        }
        let rows = self.fill()?;
        let Some(group) = &self.row_group else { return Ok(true) };
        let requests = parquet_batches::requests(&group.columns, rows, &self.operations);
        for row in 0..rows {
            self.row_count += 1;
            let read = match &requests {
                Some(requests) => Ok(Some(requests[row])),
                None => group.row(row, &self.operations, &mut self.devices),
            };
            let request = match read {
                Ok(Some(request)) => self.bad.check(request),
                Ok(None) => {
                    self.ignored += 1;
                    continue;
                }
                Err(error) => Err(error),
            };
            match request {
                Ok(Some(request)) => {
                    self.request_count += 1;
                    records.push(Record { place: self.row_count, request });
                }
                Ok(None) => {}
                Err(_) if self.bad.may_skip() => {}
                Err(error) => {
                    return Err(self.bad.error(&format!("{}, row {}", self.file_name, self.row_count), &error.0));
                }
            }
        }
        Ok(true)
    }

    fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = self.unused.iter().cloned().collect();
        if self.ignored > 0 {
            let ignored = counted(self.ignored, "row");
            notes.push(format!("{ignored} left out, as `workload.operations` says"));
        }
        notes.extend(self.operations.notes());
        notes.extend(super::fio::named_devices(self.devices.list().iter().map(Vec::as_slice)));
        self.bad.notes(&mut notes);
        notes
    }

    fn counts_from_start(&self) -> bool {
        self.is_own
    }

    fn device_name(&self, device: u32) -> Option<String> {
        self.devices.name_of(device)
    }
}
