//! Columns of a Parquet table of results, as this program writes them.

use crate::failure::Failure;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

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
    let file = File::open(path).map_err(|error| Failure::input(format!("cannot read {}: {error}", path.display())))?;
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
    let mut columns = BTreeMap::new();
    for (at, name) in names.iter().enumerate().filter(|(_, name)| is_wanted(name)) {
        let mut values = None;
        for group in 0..metadata.num_row_groups() {
            let group = reader.get_row_group(group)?;
            let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
            append(&mut values, group.get_column_reader(at)?, rows)?;
        }
        columns.extend(values.map(|values| (name.clone(), values)));
    }
    let rows = usize::try_from(metadata.file_metadata().num_rows()).unwrap_or(0);
    Ok(Table { rows, names, columns, shown: path.display().to_string() })
}

fn append(values: &mut Option<Values>, column: ColumnReader, rows: usize) -> Result<(), ParquetError> {
    // Unsigned numbers are stored in the bits of signed ones.
    let more = match column {
        ColumnReader::Int64ColumnReader(reader) => {
            Values::Numbers(all(reader, rows)?.into_iter().map(|n| n.map(|n| n.cast_unsigned() as f64)).collect())
        }
        ColumnReader::DoubleColumnReader(reader) => Values::Numbers(all(reader, rows)?),
        ColumnReader::ByteArrayColumnReader(reader) => {
            let text = |bytes: Option<ByteArray>| {
                bytes.map_or_else(String::new, |bytes| String::from_utf8_lossy(bytes.data()).into_owned())
            };
            Values::Texts(all(reader, rows)?.into_iter().map(text).collect())
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

/// All values of a column of a row group, with what a row lacks.
fn all<D: DataType>(mut reader: ColumnReaderImpl<D>, rows: usize) -> Result<Vec<Option<D::T>>, ParquetError> {
    let (mut there, mut values) = (Vec::new(), Vec::new());
    reader.read_records(rows, Some(&mut there), None, &mut values)?;
    if there.is_empty() {
        return Ok(values.into_iter().map(Some).collect());
    }
    let mut values = values.into_iter();
    Ok(there.into_iter().map(|is_there| if is_there > 0 { values.next() } else { None }).collect())
}
