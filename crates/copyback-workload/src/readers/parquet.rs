//! The project's own compact format: Parquet, one row a request.
//!
//! Columns `arrival_ns`, `offset_bytes`, `len_bytes` (u64), `op` (u8: 0 read, 1 write, 2 trim), `device` (u32) and
//! `priority` (u8: 0 normal, 1 high); the key `copyback.trace.version` of the file's metadata names the layout.

use super::cursor::shown;
use super::{BadRecords, LineError, Record, RecordReader, parquet_lengths};
use crate::{Error, Op, Priority, Request};
use parquet::basic::Type as PhysicalType;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{Int32Type, Int64Type};
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::cell::Cell;
use std::fs::File;

/// The layout that this program writes and reads.
pub(crate) const VERSION: &str = "1";

/// The metadata key that names the layout.
pub(crate) const VERSION_KEY: &str = "copyback.trace.version";

/// The columns in their order, and how Parquet stores each.
pub(crate) const COLUMNS: [(&str, PhysicalType); 6] = [
    ("arrival_ns", PhysicalType::INT64),
    ("offset_bytes", PhysicalType::INT64),
    ("len_bytes", PhysicalType::INT64),
    ("op", PhysicalType::INT32),
    ("device", PhysicalType::INT32),
    ("priority", PhysicalType::INT32),
];

const BATCH_ROWS: usize = 4096;

/// How much is shown of what the library says.
const MESSAGE_CHARS_MAX: usize = 200;

/// One row group's columns, read side by side.
struct RowGroup {
    wide: [ColumnReaderImpl<Int64Type>; 3],
    narrow: [ColumnReaderImpl<Int32Type>; 3],
    rows_left: usize,
}

/// Reads the project's own format.
pub(crate) struct ParquetReader {
    file_name: String,
    file: SerializedFileReader<File>,
    /// The same file, to look at its bytes.
    raw_file: File,
    next_row_group: usize,
    row_group: Option<RowGroup>,
    wide: [Vec<i64>; 3],
    narrow: [Vec<i32>; 3],
    row_count: u64,
    request_count: u64,
    bad: BadRecords,
}

/// Whether a file begins like Parquet.
pub(crate) fn recognises(head: &[u8]) -> bool {
    head.starts_with(b"PAR1")
}

impl ParquetReader {
    pub(crate) fn new(file_name: String, mut file: File, skip_bad: u64) -> Result<Self, Error> {
        parquet_lengths::check_footer(&mut file).map_err(|wrong| damaged(&file_name, &wrong))?;
        let failed = |error: std::io::Error| damaged(&file_name, &error.to_string());
        let raw_file = file.try_clone().map_err(failed)?;
        let open = || SerializedFileReader::new(file).map_err(|error| damaged(&file_name, &error.to_string()));
        let file = guarded(&file_name, open)?;
        check_layout(&file_name, &file)?;
        let bad = BadRecords::new(skip_bad);
        Ok(Self {
            file_name,
            file,
            raw_file,
            next_row_group: 0,
            row_group: None,
            wide: Default::default(),
            narrow: Default::default(),
            row_count: 0,
            request_count: 0,
            bad,
        })
    }

    /// Goes to the next row group that has rows; `false` at the end.
    fn next_row_group(&mut self) -> Result<bool, Error> {
        let file_name = self.file_name.clone();
        guarded(&file_name, || self.open_row_group())
    }

    fn open_row_group(&mut self) -> Result<bool, Error> {
        while self.next_row_group < self.file.num_row_groups() {
            let index = self.next_row_group;
            self.next_row_group += 1;
            let lengths = parquet_lengths::check_pages(&mut self.raw_file, self.file.metadata().row_group(index));
            lengths.map_err(|wrong| damaged(&self.file_name, &wrong))?;
            let failed = |error: parquet::errors::ParquetError| damaged(&self.file_name, &error.to_string());
            let group = self.file.get_row_group(index).map_err(failed)?;
            let rows_left = usize::try_from(group.metadata().num_rows())
                .map_err(|_| damaged(&self.file_name, "a row group has a negative number of rows"))?;
            let column = |at| group.get_column_reader(at).map_err(failed);
            let wide = [wide(column(0)?), wide(column(1)?), wide(column(2)?)];
            let narrow = [narrow(column(3)?), narrow(column(4)?), narrow(column(5)?)];
            let ([Some(a), Some(b), Some(c)], [Some(d), Some(e), Some(f)]) = (wide, narrow) else {
                return Err(damaged(&self.file_name, "a column has another type than the file's schema says"));
            };
            if rows_left > 0 {
                self.row_group = Some(RowGroup { wide: [a, b, c], narrow: [d, e, f], rows_left });
                return Ok(true);
            }
        }
        self.row_group = None;
        Ok(false)
    }

    /// Fills the column buffers from the present row group; how many rows they now hold.
    fn fill(&mut self) -> Result<usize, Error> {
        let file_name = self.file_name.clone();
        guarded(&file_name, || self.read_columns())
    }

    fn read_columns(&mut self) -> Result<usize, Error> {
        let Some(group) = &mut self.row_group else { return Ok(0) };
        let rows = group.rows_left.min(BATCH_ROWS);
        let mut shortest = rows;
        let mut longest = 0;
        let failed = |error: parquet::errors::ParquetError| damaged(&self.file_name, &error.to_string());
        for (column, values) in group.wide.iter_mut().zip(&mut self.wide) {
            values.clear();
            let (_, read, _) = column.read_records(rows, None, None, values).map_err(failed)?;
            (shortest, longest) = (shortest.min(read), longest.max(read));
        }
        for (column, values) in group.narrow.iter_mut().zip(&mut self.narrow) {
            values.clear();
            let (_, read, _) = column.read_records(rows, None, None, values).map_err(failed)?;
            (shortest, longest) = (shortest.min(read), longest.max(read));
        }
        if shortest != longest || shortest != rows {
            return Err(damaged(&self.file_name, "its columns differ in length"));
        }
        group.rows_left -= rows;
        if group.rows_left == 0 {
            self.row_group = None;
        }
        Ok(rows)
    }

    fn row(&self, row: usize) -> Result<Request, LineError> {
        let op = match self.narrow[0][row] {
            0 => Op::Read,
            1 => Op::Write,
            2 => Op::Trim,
            other => {
                return Err(LineError(format!("its op is {other}, which is none of 0 (read), 1 (write), 2 (trim)")));
            }
        };
        let priority = match self.narrow[2][row] {
            0 => Priority::Normal,
            1 => Priority::High,
            other => return Err(LineError(format!("its priority is {other}, neither 0 (normal) nor 1 (high)"))),
        };
        // Parquet's unsigned numbers are stored with the same bits in signed ones.
        Ok(Request {
            arrival_ns: self.wide[0][row].cast_unsigned(),
            offset_bytes: self.wide[1][row].cast_unsigned(),
            len_bytes: self.wide[2][row].cast_unsigned(),
            device: self.narrow[1][row].cast_unsigned(),
            op,
            priority,
        })
    }
}

fn wide(column: ColumnReader) -> Option<ColumnReaderImpl<Int64Type>> {
    match column {
        ColumnReader::Int64ColumnReader(column) => Some(column),
        _ => None,
    }
}

fn narrow(column: ColumnReader) -> Option<ColumnReaderImpl<Int32Type>> {
    match column {
        ColumnReader::Int32ColumnReader(column) => Some(column),
        _ => None,
    }
}

thread_local! {
    /// Whether a panic of this thread, now, would be caught below.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is where a panic becomes an error. A panic hook, which runs before it is caught, asks this to
/// stay silent: the user reads of the damage in the error.
pub fn panic_is_caught() -> bool {
    IS_GUARDED.get()
}

/// The library trusts what a file says of itself and stops the program on some damage: it becomes an error like any
/// other. Whatever was half read is not looked at again.
fn guarded<T>(file: &str, read: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    IS_GUARDED.set(true);
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(read));
    IS_GUARDED.set(false);
    caught.unwrap_or_else(|_| Err(damaged(file, "it contradicts itself")))
}

fn damaged(file: &str, message: &str) -> Error {
    // The library quotes names from the file, however long they are and whatever would disturb a terminal is in them.
    let plain = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    let message: String = message.chars().take(MESSAGE_CHARS_MAX).map(plain).collect();
    Error::new(format!("{file}: this Parquet file cannot be read: {message}"))
        .with_help("it may have been cut off: copy it again, or convert the trace again")
}

fn check_layout(file_name: &str, file: &SerializedFileReader<File>) -> Result<(), Error> {
    let metadata = file.metadata().file_metadata();
    let pairs = metadata.key_value_metadata();
    let version = pairs.and_then(|pairs| pairs.iter().find(|pair| pair.key == VERSION_KEY)?.value.as_deref());
    match version {
        Some(VERSION) => {}
        Some(other) => {
            return Err(Error::new(format!(
                "{file_name}: its trace layout is version {}; this program reads {VERSION}",
                shown(other.as_bytes())
            ))
            .with_help("convert the trace again with this version of the program"));
        }
        None => {
            return Err(Error::new(format!(
                "{file_name}: a Parquet file, but not of this project: `{VERSION_KEY}` is missing"
            ))
            .with_help("convert a trace in one of the known formats with `trace convert`"));
        }
    }
    let schema = metadata.schema_descr();
    let fits = schema.num_columns() == COLUMNS.len()
        && schema.columns().iter().zip(COLUMNS).all(|(column, (name, physical))| {
            column.name() == name && column.physical_type() == physical && column.max_def_level() == 0
        });
    if fits { Ok(()) } else { Err(damaged(file_name, "its columns are not those of a trace")) }
}

impl RecordReader for ParquetReader {
    fn read_batch(&mut self, records: &mut Vec<Record>) -> Result<bool, Error> {
        if self.row_group.is_none() && !self.next_row_group()? {
            if self.request_count == 0 {
                return Err(Error::new(format!("{}: it holds no requests", self.file_name)));
            }
            return Ok(false);
        }
        for row in 0..self.fill()? {
            self.row_count += 1;
            match self.row(row).and_then(|request| self.bad.check(request)) {
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
        let mut notes = Vec::new();
        self.bad.notes(&mut notes);
        notes
    }
}
