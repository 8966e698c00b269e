//! Columns of a Parquet table of results, as this program writes them.

use copyback_lab::Failure;
use copyback_lab::format;
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

/// The help if a table cannot be read.
const WRITE_ANEW: &str = "name a complete result of copyback, or write it again";

/// Memory for the values of a table.
struct MemoryBudget {
    bytes_max: usize,
    left_bytes: usize,
}

impl MemoryBudget {
    fn take(&mut self, bytes: usize) -> Result<(), ParquetError> {
        self.left_bytes = self.left_bytes.checked_sub(bytes).ok_or_else(|| {
            let most = format::size(self.bytes_max as f64);
            ParquetError::General(format!("its values take more than {most} of memory, the most that is read"))
        })?;
        Ok(())
    }
}

/// A column's values; numbers are null if a row has none.
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
        try_read(&reader, path, is_wanted, TABLE_BYTES_MAX).map_err(|error| unreadable(path, &error))
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

    /// A value as a text, whatever the column holds; nothing if the row has none.
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

/// The metadata of a table, by key.
pub fn about(path: &Path) -> Result<BTreeMap<String, String>, Failure> {
    let reader = open(path)?;
    let keys = reader.metadata().file_metadata().key_value_metadata().into_iter().flatten();
    Ok(keys.filter_map(|pair| Some((pair.key.clone(), pair.value.clone()?))).collect())
}

/// The kind of a Parquet file: the name of its table, and whether a sweep wrote it.
pub fn kind_of(path: &Path) -> Result<(String, bool), Failure> {
    let reader = open(path)?;
    let metadata = reader.metadata().file_metadata();
    let mut keys = metadata.key_value_metadata().into_iter().flatten();
    Ok((metadata.schema().name().to_owned(), keys.any(|pair| pair.key == "copyback.sweep")))
}

fn open(path: &Path) -> Result<SerializedFileReader<File>, Failure> {
    copyback_lab::files::check_file("result", path)?;
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
    bytes_max: usize,
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
    let mut left = MemoryBudget { bytes_max, left_bytes: bytes_max };
    for (at, name) in names.iter().enumerate().filter(|(_, name)| is_wanted(name)) {
        let mut values = None;
        for group in 0..metadata.num_row_groups() {
            let group = reader.get_row_group(group)?;
            let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
            append(&mut values, group.get_column_reader(at)?, rows, &mut left)?;
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
    left: &mut MemoryBudget,
) -> Result<(), ParquetError> {
    // Unsigned numbers are stored in the bits of signed ones.
    let more = match column {
        ColumnReader::Int64ColumnReader(reader) => {
            Values::Numbers(all(reader, rows, left, |n| (n.map(|n| n.cast_unsigned() as f64), 0))?)
        }
        ColumnReader::DoubleColumnReader(reader) => Values::Numbers(all(reader, rows, left, |n| (n, 0))?),
        ColumnReader::ByteArrayColumnReader(reader) => {
            let text = |bytes: Option<ByteArray>| {
                let text = bytes.map_or_else(String::new, |bytes| String::from_utf8_lossy(bytes.data()).into_owned());
                let bytes = text.len();
                (text, bytes)
            };
            Values::Texts(all(reader, rows, left, text)?)
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

/// All values of a column of a row group, also of rows without one. `made` returns a value and its bytes on the heap.
/// A few bytes of a file may encode any number of rows, so memory is counted before it is taken.
fn all<D: DataType, T>(
    mut reader: ColumnReaderImpl<D>,
    rows: usize,
    left: &mut MemoryBudget,
    made: impl Fn(Option<D::T>) -> (T, usize),
) -> Result<Vec<T>, ParquetError> {
    let mut all = Vec::new();
    while all.len() < rows {
        let (mut there, mut values) = (Vec::new(), Vec::new());
        let (records, ..) =
            reader.read_records(BATCH_ROWS.min(rows - all.len()), Some(&mut there), None, &mut values)?;
        if records == 0 {
            break;
        }
        left.take(records * size_of::<T>())?;
        let mut values = values.into_iter();
        let is_whole = there.is_empty();
        let mut each = there.into_iter();
        for _ in 0..records {
            let is_there = is_whole || each.next().is_some_and(|level| level > 0);
            let (value, bytes) = made(if is_there { values.next() } else { None });
            left.take(bytes)?;
            all.push(value);
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::data_type::ByteArrayType;
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;
    use std::sync::Arc;

    /// A thousand rows of one text of a thousand bytes, which a dictionary holds once.
    #[test]
    fn values_that_a_dictionary_repeats_are_counted_each() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let path = folder.path().join("texts.parquet");
        let schema = Arc::new(parse_message_type("message texts { required binary text (UTF8); }").expect("a schema"));
        let file = File::create(&path).expect("the file can be made");
        let properties = Arc::new(WriterProperties::builder().build());
        let mut writer = SerializedFileWriter::new(file, schema, properties).expect("a writer");
        let mut group = writer.next_row_group().expect("a group");
        let mut column = group.next_column().expect("it can be written").expect("a column");
        let texts = vec![ByteArray::from("x".repeat(1_000).as_str()); 1_000];
        column.typed::<ByteArrayType>().write_batch(&texts, None, None).expect("texts");
        column.close().and_then(|()| group.close().map(|_| ())).expect("it ends");
        writer.close().expect("the file ends");
        assert!(std::fs::metadata(&path).expect("it is there").len() < 10_000);
        let reader = open(&path).expect("it is a table");
        let read = |bytes_max| try_read(&reader, &path, |_| true, bytes_max);
        let needed_bytes = 1_000 * (1_000 + size_of::<String>());
        let table = read(needed_bytes).expect("there is room");
        assert_eq!((table.rows, table.texts("text").map(<[_]>::len).ok()), (1_000, Some(1_000)));
        let error = read(needed_bytes - 1).err().expect("there is too little room").to_string();
        assert!(error.contains("of memory, the most that is read"), "{error}");
        assert!(try_read(&reader, &path, |_| false, 0).is_ok(), "columns that are not wanted take none");
    }
}
