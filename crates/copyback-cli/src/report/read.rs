//! Columns of a Parquet table of results, as this program writes them.

use crate::failure::Failure;
use crate::format;
use copyback_workload::parquet_lengths;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

/// The most memory that the values of a table take, in bytes: a table of ten million commands has less.
const TABLE_BYTES_MAX: usize = 2 << 30;

/// Rows that are read at a time.
const BATCH_ROWS: usize = 1 << 16;

/// What helps where a table cannot be read.
const WRITE_ANEW: &str = "name what copyback wrote, whole; or write it anew";

/// A column's values; numbers are null where a row has none.
enum Values {
    Texts(Vec<String>),
    Numbers(Vec<Option<f64>>),
}

/// A table, or some of its columns.
pub struct Table {
    /// Number of rows.
    pub rows: usize,
    /// Names of all columns of the file, in its order.
    pub names: Vec<String>,
    columns: BTreeMap<String, Values>,
    shown: String,
}

impl Table {
    /// Reads the columns of a file that `is_wanted` names.
    pub fn read(path: &Path, is_wanted: impl Fn(&str) -> bool) -> Result<Self, Failure> {
        let reader = open(path)?;
        try_read(&reader, path, is_wanted).map_err(|error| unreadable(path, &error))
    }

    /// The texts of a column.
    pub fn texts(&self, name: &str) -> Result<&[String], Failure> {
        match self.columns.get(name) {
            Some(Values::Texts(texts)) => Ok(texts),
            _ => Err(self.lacks("texts", name)),
        }
    }

    /// The numbers of a column.
    pub fn numbers(&self, name: &str) -> Result<&[Option<f64>], Failure> {
        match self.columns.get(name) {
            Some(Values::Numbers(numbers)) => Ok(numbers),
            _ => Err(self.lacks("numbers", name)),
        }
    }

    /// The numbers of a column that has one in each row.
    pub fn whole(&self, name: &str) -> Result<Vec<f64>, Failure> {
        self.numbers(name)?.iter().map(|number| number.ok_or_else(|| self.lacks("numbers", name))).collect()
    }

    /// A value as a text, whatever the column holds; nothing where the row has none.
    pub fn shown(&self, name: &str, row: usize) -> String {
        match self.columns.get(name) {
            Some(Values::Texts(texts)) => texts[row].clone(),
            Some(Values::Numbers(numbers)) => numbers[row].map_or_else(String::new, |number| number.to_string()),
            None => String::new(),
        }
    }

    fn lacks(&self, what: &str, name: &str) -> Failure {
        Failure::input(format!("{} has no column of {what} `{name}`", self.shown)).with_help(WRITE_ANEW)
    }
}

/// What a table says of itself: its metadata, by key.
pub fn about(path: &Path) -> Result<BTreeMap<String, String>, Failure> {
    let reader = open(path)?;
    let keys = reader.metadata().file_metadata().key_value_metadata().into_iter().flatten();
    Ok(keys.filter_map(|pair| Some((pair.key.clone(), pair.value.clone()?))).collect())
}

/// What a Parquet file is: the name of its table, and whether a sweep wrote it.
pub fn kind_of(path: &Path) -> Result<(String, bool), Failure> {
    let reader = open(path)?;
    let metadata = reader.metadata().file_metadata();
    let mut keys = metadata.key_value_metadata().into_iter().flatten();
    Ok((metadata.schema().name().to_owned(), keys.any(|pair| pair.key == "copyback.sweep")))
}

fn open(path: &Path) -> Result<SerializedFileReader<File>, Failure> {
    crate::files::check_file("result", path)?;
    let mut file =
        File::open(path).map_err(|error| Failure::input(format!("cannot read {}: {error}", path.display())))?;
    parquet_lengths::check_footer(&mut file).map_err(|wrong| unreadable(path, &ParquetError::General(wrong)))?;
    SerializedFileReader::new(file).map_err(|error| unreadable(path, &error))
}

fn unreadable(path: &Path, error: &ParquetError) -> Failure {
    Failure::input(format!("{} is no whole Parquet table: {error}", path.display())).with_help(WRITE_ANEW)
}

fn try_read(
    reader: &SerializedFileReader<File>,
    path: &Path,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<Table, ParquetError> {
    let metadata = reader.metadata();
    let described = metadata.file_metadata().schema_descr();
    let names: Vec<String> = described.columns().iter().map(|column| column.name().to_owned()).collect();
    let wanted = || names.iter().enumerate().filter(|(_, name)| is_wanted(name)).map(|(at, name)| (at, name.as_str()));
    let mut file = File::open(path)?;
    for group in metadata.row_groups() {
        parquet_lengths::check_pages(&mut file, group, wanted()).map_err(ParquetError::General)?;
    }
    let mut columns = BTreeMap::new();
    let mut left_bytes = TABLE_BYTES_MAX;
    for (at, name) in names.iter().enumerate().filter(|(_, name)| is_wanted(name)) {
        let mut values = None;
        for group in 0..metadata.num_row_groups() {
            let group = reader.get_row_group(group)?;
            let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
            append(&mut values, group.get_column_reader(at)?, rows, &mut left_bytes)?;
        }
        columns.extend(values.map(|values| (name.clone(), values)));
    }
    let rows = usize::try_from(metadata.file_metadata().num_rows()).unwrap_or(0);
    Ok(Table { rows, names, columns, shown: path.display().to_string() })
}

fn append(
    values: &mut Option<Values>,
    column: ColumnReader,
    rows: usize,
    left_bytes: &mut usize,
) -> Result<(), ParquetError> {
    // Unsigned numbers are stored in the bits of signed ones.
    let more = match column {
        ColumnReader::Int64ColumnReader(reader) => {
            Values::Numbers(all(reader, rows, left_bytes, |n| (n.map(|n| n.cast_unsigned() as f64), 0))?)
        }
        ColumnReader::DoubleColumnReader(reader) => Values::Numbers(all(reader, rows, left_bytes, |n| (n, 0))?),
        ColumnReader::ByteArrayColumnReader(reader) => {
            let text = |bytes: Option<ByteArray>| {
                let text = bytes.map_or_else(String::new, |bytes| String::from_utf8_lossy(bytes.data()).into_owned());
                let bytes = text.len();
                (text, bytes)
            };
            Values::Texts(all(reader, rows, left_bytes, text)?)
        }
        _ => return Err(ParquetError::General("a column of a kind that no table of results has".into())),
    };
    match (values.as_mut(), more) {
        (None, more) => *values = Some(more),
        (Some(Values::Texts(texts)), Values::Texts(more)) => texts.extend(more),
        (Some(Values::Numbers(numbers)), Values::Numbers(more)) => numbers.extend(more),
        _ => return Err(ParquetError::General("a column of two kinds".into())),
    }
    Ok(())
}

/// All values of a column of a row group, with what a row lacks; `made` returns a value and the bytes that it keeps
/// elsewhere. A few bytes of a file may stand for any number of rows: what they take is counted before it is taken.
fn all<D: DataType, T>(
    mut reader: ColumnReaderImpl<D>,
    rows: usize,
    left_bytes: &mut usize,
    made: impl Fn(Option<D::T>) -> (T, usize),
) -> Result<Vec<T>, ParquetError> {
    let mut all = Vec::new();
    let mut take = |bytes: usize| match left_bytes.checked_sub(bytes) {
        Some(left) => {
            *left_bytes = left;
            Ok(())
        }
        None => {
            let most = format::size(TABLE_BYTES_MAX as f64);
            Err(ParquetError::General(format!("its values take more than {most} of memory, the most that is read")))
        }
    };
    while all.len() < rows {
        let (mut there, mut values) = (Vec::new(), Vec::new());
        let (records, ..) =
            reader.read_records(BATCH_ROWS.min(rows - all.len()), Some(&mut there), None, &mut values)?;
        if records == 0 {
            break;
        }
        take(records * size_of::<T>())?;
        let mut values = values.into_iter();
        let is_whole = there.is_empty();
        let mut each = there.into_iter();
        for _ in 0..records {
            let is_there = is_whole || each.next().is_some_and(|level| level > 0);
            let (value, bytes) = made(if is_there { values.next() } else { None });
            take(bytes)?;
            all.push(value);
        }
    }
    Ok(all)
}
