//! Parquet, one row for each request: files of pandas, polars and DuckDB, and the project's own compact format.
//!
//! Columns are found by their names, as in CSV: `arrival_ns`, `op`, `offset_bytes`, `length_bytes` and, if present,
//! `device` and `priority`, or the names in `[workload.columns]`. Numbers may be whole numbers of any size, signed or
//! not; a time may also be a timestamp or a duration, which have their own units, or, in units above a nanosecond, a
//! floating-point number. `op`, `device` and `priority` may be texts. A column may be nullable as long as it has no
//! nulls.
//!
//! The project's own files have `arrival_ns`, `offset_bytes`, `len_bytes` (u64), `op` (u8: 0 read, 1 write, 2 trim),
//! `device` (u32) and `priority` (u8: 0 normal, 1 high); the key `copyback.trace.version` of their metadata names the
//! layout, and says that times count from the recording's start.

use super::columns::{self, Column, OpWords};
use super::cursor::shown;
use super::names::Names;
use super::parquet_guard::{damaged, guarded};
use super::parquet_types::{is_integer, is_number_in_bytes, is_unsigned, timestamp_ns};
use super::registry::{Content, FormatRow};
use super::{BadRecords, LineError, ReaderOptions, Record, RecordReader, arrow_schema, durations, parquet_lengths};
use crate::spec::{ColumnNames, Field};
use crate::units::counted;
use crate::{Error, Op, Priority, Request};
use parquet::basic::{Compression, Type as PhysicalType};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;
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

/// The error of a row without a value in a column.
const NULL: u32 = u32::MAX;

/// The values of a column in some rows.
struct Typed<T: DataType> {
    reader: ColumnReaderImpl<T>,
    values: Vec<T::T>,
}

/// A column by the type in which Parquet stores it.
enum Stored {
    Narrow(Typed<Int32Type>),
    Wide(Typed<Int64Type>),
    Text(Typed<ByteArrayType>),
    Single(Typed<FloatType>),
    Double(Typed<DoubleType>),
}

/// A value of a row.
enum Value<'a> {
    Null,
    Number(i128),
    Real(f64),
    Text(&'a [u8]),
}

/// The content of a column of the file.
#[derive(Clone, Copy, Debug)]
struct Layout {
    column: Column,
    is_unsigned: bool,
    is_nullable: bool,
}

/// A column of the current row group.
struct Open {
    layout: Layout,
    stored: Stored,
    levels: Vec<i16>,
    /// The position of each row's value, if some row has none.
    places: Vec<u32>,
}

impl<T: DataType> Typed<T> {
    /// Reads this many rows; returns the numbers of rows and values.
    fn read(&mut self, rows: usize, levels: Option<&mut Vec<i16>>) -> Result<(usize, usize), ParquetError> {
        self.values.clear();
        let (rows, values, _) = self.reader.read_records(rows, levels, None, &mut self.values)?;
        Ok((rows, values))
    }
}

impl Stored {
    fn new(reader: ColumnReader) -> Option<Self> {
        fn typed<T: DataType>(reader: ColumnReaderImpl<T>) -> Typed<T> {
            Typed { reader, values: Vec::new() }
        }
        Some(match reader {
            ColumnReader::Int32ColumnReader(reader) => Self::Narrow(typed(reader)),
            ColumnReader::Int64ColumnReader(reader) => Self::Wide(typed(reader)),
            ColumnReader::ByteArrayColumnReader(reader) => Self::Text(typed(reader)),
            ColumnReader::FloatColumnReader(reader) => Self::Single(typed(reader)),
            ColumnReader::DoubleColumnReader(reader) => Self::Double(typed(reader)),
            _ => return None,
        })
    }

    fn read(&mut self, rows: usize, levels: Option<&mut Vec<i16>>) -> Result<(usize, usize), ParquetError> {
        match self {
            Self::Narrow(typed) => typed.read(rows, levels),
            Self::Wide(typed) => typed.read(rows, levels),
            Self::Text(typed) => typed.read(rows, levels),
            Self::Single(typed) => typed.read(rows, levels),
            Self::Double(typed) => typed.read(rows, levels),
        }
    }
}

impl Open {
    /// Reads this many rows; returns their number.
    fn read(&mut self, rows: usize) -> Result<usize, ParquetError> {
        self.levels.clear();
        self.places.clear();
        let levels = self.layout.is_nullable.then_some(&mut self.levels);
        let (rows, values) = self.stored.read(rows, levels)?;
        if values < rows {
            let mut next = 0;
            let place = |level: &i16| {
                let place = if *level > 0 { next } else { NULL };
                next += u32::from(*level > 0);
                place
            };
            self.places.extend(self.levels.iter().map(place));
        }
        Ok(rows)
    }

    fn value(&self, row: usize) -> Value<'_> {
        let at = match self.places.get(row) {
            Some(&NULL) => return Value::Null,
            Some(place) => *place as usize,
            None => row,
        };
        // Parquet's unsigned numbers are stored with the same bits in signed ones.
        let is_unsigned = self.layout.is_unsigned;
        match &self.stored {
            Stored::Narrow(typed) if is_unsigned => Value::Number(typed.values[at].cast_unsigned().into()),
            Stored::Narrow(typed) => Value::Number(typed.values[at].into()),
            Stored::Wide(typed) if is_unsigned => Value::Number(typed.values[at].cast_unsigned().into()),
            Stored::Wide(typed) => Value::Number(typed.values[at].into()),
            Stored::Text(typed) => Value::Text(ByteArray::data(&typed.values[at])),
            Stored::Single(typed) => Value::Real(typed.values[at].into()),
            Stored::Double(typed) => Value::Real(typed.values[at]),
        }
    }
}

/// The columns of a row group, read in parallel.
struct RowGroup {
    columns: Vec<Open>,
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
                let stored = Stored::new(reader).ok_or_else(differs)?;
                Ok(Open { layout: *layout, stored, levels: Vec::new(), places: Vec::new() })
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
        let mut request = Request {
            arrival_ns: 0,
            offset_bytes: 0,
            len_bytes: 0,
            device: 0,
            op: Op::Read,
            priority: Priority::Normal,
        };
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
                _ => set(&mut request, &column.layout.column, &value).map(|()| Some(request.op)),
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
fn set(request: &mut Request, column: &Column, value: &Value<'_>) -> Result<(), LineError> {
    let key = &column.key;
    let name = key.name;
    match (key.field, value) {
        (_, Value::Null) => return Err(LineError(format!("its {name} is null"))),
        // Operations depend on the settings, and were handled before.
        (Field::Op, Value::Number(_)) => {}
        (Field::Arrival, Value::Number(number)) => request.arrival_ns = columns::scaled(*number, key)?,
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

/// The value of a key in the file's metadata.
fn key_value<'a>(file: &'a SerializedFileReader<File>, key: &str) -> Option<&'a str> {
    let pairs = file.metadata().file_metadata().key_value_metadata()?;
    pairs.iter().find(|pair| pair.key == key)?.value.as_deref()
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

/// The columns that are read, and a note on the others.
fn layouts(
    file_name: &str,
    file: &SerializedFileReader<File>,
    wanted: &ColumnNames,
) -> Result<(Vec<Layout>, Option<String>), Error> {
    let columns = file.metadata().file_metadata().schema_descr().columns();
    // The name of a column in a structure is its path, which is not the name of any key.
    let names: Vec<String> = columns.iter().map(|column| column.path().parts().join(".")).collect();
    let found = columns::find(file_name, &names, wanted, None)?;
    let notes = durations::Notes { arrow: key_value(file, arrow_schema::KEY), pandas: key_value(file, "pandas") };
    let layout = |column: &Column| {
        let descriptor = &columns[column.at];
        // A timestamp's unit is in its type; a duration's is only in metadata.
        let own_unit_ns = match column.key.field {
            Field::Arrival if is_integer(descriptor) => notes.unit_ns(&names[column.at]),
            Field::Arrival => timestamp_ns(descriptor),
            _ => None,
        };
        layout(file_name, descriptor, *column, own_unit_ns)
    };
    let layouts = found.iter().flatten().map(layout).collect::<Result<_, _>>()?;
    Ok((layouts, columns::note_unused(&names, &found)))
}

/// How to read a column whose times may have their own unit; an error if its type is impossible.
fn layout(
    file_name: &str,
    descriptor: &ColumnDescriptor,
    mut column: Column,
    own_unit_ns: Option<u64>,
) -> Result<Layout, Error> {
    let is_text = matches!(column.key.field, Field::Op | Field::Priority | Field::Device);
    let is_time = column.key.field == Field::Arrival;
    let fits = match descriptor.physical_type() {
        PhysicalType::INT32 | PhysicalType::INT64 => own_unit_ns.is_some() || is_integer(descriptor),
        PhysicalType::BYTE_ARRAY => is_text && !is_number_in_bytes(descriptor),
        // A present-day time in nanoseconds has more digits than such a number.
        PhysicalType::FLOAT | PhysicalType::DOUBLE => is_time && column.key.factor > 1,
        PhysicalType::BOOLEAN | PhysicalType::INT96 | PhysicalType::FIXED_LEN_BYTE_ARRAY => false,
    };
    let is_flat = descriptor.max_rep_level() == 0 && descriptor.max_def_level() <= 1;
    if !fits || !is_flat {
        return Err(wrong_type(file_name, descriptor, &column, is_flat));
    }
    if let Some(ns) = own_unit_ns {
        column.key.factor = ns;
    }
    let is_unsigned = is_unsigned(descriptor);
    Ok(Layout { column, is_unsigned, is_nullable: descriptor.max_def_level() > 0 })
}

#[cold]
fn wrong_type(file_name: &str, descriptor: &ColumnDescriptor, column: &Column, is_flat: bool) -> Error {
    let name = shown(descriptor.name().as_bytes());
    let physical = descriptor.physical_type();
    let logical = match descriptor.logical_type_ref() {
        Some(logical) => shown(format!(" ({logical:?})").as_bytes()),
        None => String::new(),
    };
    let kind = if is_flat { format!("{physical}{logical}") } else { "a list or a structure".to_owned() };
    let wanted = match column.key.field {
        Field::Op => "whole numbers (0 read, 1 write, 2 trim) or texts",
        Field::Priority => "whole numbers (0 normal, 1 high) or texts",
        Field::Device => "whole numbers or texts",
        Field::Arrival => {
            "whole numbers, timestamps or durations; above a nanosecond, as in `arrival_s`, also floating-point numbers"
        }
        _ => "whole numbers",
    };
    let message = format!("{file_name}: its column `{name}` holds {kind}, and {} takes {wanted}", column.key.name);
    Error::new(message).with_help("write the column anew with a type that it takes, in pandas `.astype(\"int64\")`")
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
        for row in 0..rows {
            self.row_count += 1;
            let request = match group.row(row, &self.operations, &mut self.devices) {
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
