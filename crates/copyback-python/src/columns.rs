//! Columns of Arrow as columns of a Parquet file that the trace readers read.
//!
//! The parquet crate can write Arrow's arrays itself, but its feature `arrow` takes longer to compile than the rest of
//! this package. A trace has few kinds of values: whole numbers, real numbers, texts, times and dates. Each kind is
//! stored in its widest type.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, Time32SecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayAccessor, Int64Array, RecordBatch, downcast_run_array};
use arrow_schema::{ArrowError, DataType, Field, SchemaRef, TimeUnit};
use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit as ParquetUnit, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use std::fs::File;
use std::sync::Arc;

/// Rows that are kept in memory and written together.
const ROWS_PER_GROUP: usize = 1 << 18;
/// The level of a row that has a value.
const HAS_VALUE: i16 = 1;
/// The bytes of a decimal number; enough for the digits of any.
const DECIMAL_BYTES: i32 = 32;

/// Writes batches of one schema to a Parquet file.
///
/// # Errors
/// If a batch cannot be read, does not fit the schema, or cannot be written.
pub fn write(
    file: &mut File,
    schema: &SchemaRef,
    batches: &mut dyn Iterator<Item = Result<RecordBatch, ArrowError>>,
) -> Result<(), ParquetError> {
    // The file lives only as long as the runs, on a local disk: speed matters more than size.
    let properties = WriterProperties::builder()
        .set_compression(Compression::UNCOMPRESSED)
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::None)
        .build();
    let stored = schema.fields().iter().map(|field| stored_type(field).map(Arc::new));
    let root = Type::group_type_builder("requests").with_fields(stored.collect::<Result<_, _>>()?).build()?;
    let mut writer = SerializedFileWriter::new(file, Arc::new(root), Arc::new(properties))?;
    let mut columns: Vec<Column> = schema.fields().iter().map(|_| Column::default()).collect();
    let mut rows = 0;
    for batch in batches {
        let batch = batch.map_err(of_arrow)?;
        let mut start = 0;
        while start < batch.num_rows() {
            let part = batch.slice(start, (batch.num_rows() - start).min(ROWS_PER_GROUP - rows));
            for (column, array) in columns.iter_mut().zip(part.columns()) {
                column.append(array)?;
            }
            start += part.num_rows();
            rows += part.num_rows();
            if rows == ROWS_PER_GROUP {
                write_group(&mut writer, &mut columns)?;
                rows = 0;
            }
        }
    }
    if rows > 0 {
        write_group(&mut writer, &mut columns)?;
    }
    writer.close().map(drop)
}

fn of_arrow(error: ArrowError) -> ParquetError {
    ParquetError::General(error.to_string())
}

fn write_group(writer: &mut SerializedFileWriter<&mut File>, columns: &mut [Column]) -> Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    for column in columns {
        let Some(mut writer) = group.next_column()? else { break };
        column.write(writer.untyped())?;
        writer.close()?;
    }
    group.close().map(drop)
}

/// The type of the values, without their encoding as a dictionary or as runs.
fn value_type(kind: &DataType) -> &DataType {
    match kind {
        DataType::Dictionary(_, values) => value_type(values),
        DataType::RunEndEncoded(_, values) => value_type(values.data_type()),
        kind => kind,
    }
}

/// The column of the file. One that no reader takes keeps its name and its kind, for messages, and has no values.
fn stored_type(field: &Field) -> Result<Type, ParquetError> {
    let whole = |is_signed| (Physical::INT64, Some(LogicalType::integer(64, is_signed)));
    let time = |unit| (Physical::INT64, Some(LogicalType::timestamp(true, unit)));
    let (mut length, mut precision, mut scale) = (1, 0, 0);
    let kind = value_type(field.data_type());
    let (physical, logical) = match kind {
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 | DataType::Null => whole(true),
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => whole(false),
        DataType::Float16 | DataType::Float32 | DataType::Float64 => (Physical::DOUBLE, None),
        // Parquet has neither durations nor times in seconds.
        DataType::Timestamp(unit, _) | DataType::Duration(unit) => time(match unit {
            TimeUnit::Second | TimeUnit::Millisecond => ParquetUnit::MILLIS,
            TimeUnit::Microsecond => ParquetUnit::MICROS,
            TimeUnit::Nanosecond => ParquetUnit::NANOS,
        }),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => (Physical::BYTE_ARRAY, None),
        DataType::Boolean => (Physical::BOOLEAN, None),
        DataType::Date32 | DataType::Date64 => (Physical::INT32, Some(LogicalType::Date)),
        DataType::Time32(_) | DataType::Time64(_) => {
            (Physical::INT64, Some(LogicalType::time(true, ParquetUnit::NANOS)))
        }
        DataType::Decimal32(digits, after_point)
        | DataType::Decimal64(digits, after_point)
        | DataType::Decimal128(digits, after_point)
        | DataType::Decimal256(digits, after_point) => {
            precision = i32::from(*digits);
            scale = i32::from(*after_point).clamp(0, precision);
            length = DECIMAL_BYTES;
            (Physical::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::decimal(scale, precision)))
        }
        _ => (Physical::FIXED_LEN_BYTE_ARRAY, None),
    };
    Type::primitive_type_builder(field.name(), physical)
        .with_repetition(if kind.is_nested() { Repetition::REPEATED } else { Repetition::OPTIONAL })
        .with_logical_type(logical)
        .with_length(length)
        .with_precision(precision)
        .with_scale(scale)
        .build()
}

/// The rows of a column that are not written yet. Values are in the one list of their type.
#[derive(Default)]
struct Column {
    whole: Vec<i64>,
    real: Vec<f64>,
    text: Vec<ByteArray>,
    /// For each row, whether it has a value.
    levels: Vec<i16>,
}

impl Column {
    fn append(&mut self, array: &dyn Array) -> Result<(), ParquetError> {
        let nulls = array.logical_nulls();
        let has_value = |row: &usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(*row));
        let first = self.levels.len();
        self.levels.extend((0..array.len()).map(|row| i16::from(has_value(&row)) * HAS_VALUE));
        let rows: Vec<usize> = (0..array.len()).filter(has_value).collect();
        let is_read = match array.data_type() {
            _ if rows.is_empty() => true,
            DataType::Dictionary(..) => {
                let dictionary = array.as_any_dictionary();
                let keys = dictionary.normalized_keys();
                self.add(dictionary.values(), rows.into_iter().map(|row| keys[row]))?
            }
            DataType::RunEndEncoded(..) => downcast_run_array!(
                array => {
                    let rows: Vec<u64> = rows.into_iter().map(|row| row as u64).collect();
                    let runs = array.get_physical_indices(&rows).map_err(of_arrow)?;
                    self.add(array.values(), runs.into_iter())?
                }
                _ => false
            ),
            _ => self.add(array, rows.into_iter())?,
        };
        if !is_read {
            self.levels[first..].fill(0);
        }
        Ok(())
    }

    /// Adds the values at some rows; returns `false` if they are of a type that no reader takes.
    fn add(&mut self, array: &dyn Array, rows: impl Iterator<Item = usize>) -> Result<bool, ParquetError> {
        match array.data_type() {
            DataType::Int8 => self.whole.extend(values::<Int8Type, _>(array, rows, i64::from)),
            DataType::Int16 => self.whole.extend(values::<Int16Type, _>(array, rows, i64::from)),
            DataType::Int32 => self.whole.extend(values::<Int32Type, _>(array, rows, i64::from)),
            DataType::Int64 => self.whole.extend(values::<Int64Type, _>(array, rows, i64::from)),
            DataType::UInt8 => self.whole.extend(values::<UInt8Type, _>(array, rows, i64::from)),
            DataType::UInt16 => self.whole.extend(values::<UInt16Type, _>(array, rows, i64::from)),
            DataType::UInt32 => self.whole.extend(values::<UInt32Type, _>(array, rows, i64::from)),
            // Parquet's unsigned numbers are stored with the same bits in signed ones.
            DataType::UInt64 => self.whole.extend(values::<UInt64Type, _>(array, rows, u64::cast_signed)),
            DataType::Float16 => self.real.extend(values::<Float16Type, _>(array, rows, f64::from)),
            DataType::Float32 => self.real.extend(values::<Float32Type, _>(array, rows, f64::from)),
            DataType::Float64 => self.real.extend(values::<Float64Type, _>(array, rows, f64::from)),
            DataType::Timestamp(unit, _) | DataType::Duration(unit) => {
                let factor = if *unit == TimeUnit::Second { 1000 } else { 1 };
                self.add_scaled(array, rows, factor)?;
            }
            DataType::Date32 => self.whole.extend(values::<Date32Type, _>(array, rows, i64::from)),
            DataType::Date64 => self.whole.extend(values::<Date64Type, _>(array, rows, |ms| ms.div_euclid(86_400_000))),
            DataType::Time32(TimeUnit::Second) => {
                self.whole.extend(values::<Time32SecondType, _>(array, rows, |s| i64::from(s) * 1_000_000_000));
            }
            DataType::Time32(_) => {
                self.whole.extend(values::<Time32MillisecondType, _>(array, rows, |ms| i64::from(ms) * 1_000_000));
            }
            DataType::Time64(TimeUnit::Microsecond) => self.add_scaled(array, rows, 1000)?,
            DataType::Time64(_) => self.add_scaled(array, rows, 1)?,
            DataType::Utf8 => self.add_texts(array.as_string::<i32>(), rows),
            DataType::LargeUtf8 => self.add_texts(array.as_string::<i64>(), rows),
            DataType::Utf8View => self.add_texts(array.as_string_view(), rows),
            DataType::Binary => self.add_texts(array.as_binary::<i32>(), rows),
            DataType::LargeBinary => self.add_texts(array.as_binary::<i64>(), rows),
            DataType::BinaryView => self.add_texts(array.as_binary_view(), rows),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Adds the times of 64 bits at some rows, multiplied by a factor.
    fn add_scaled(
        &mut self,
        array: &dyn Array,
        rows: impl Iterator<Item = usize>,
        factor: i64,
    ) -> Result<(), ParquetError> {
        let numbers = array.to_data().into_builder().data_type(DataType::Int64).build();
        let numbers = Int64Array::from(numbers.map_err(of_arrow)?);
        self.whole.extend(rows.map(|row| numbers.value(row).saturating_mul(factor)));
        Ok(())
    }

    /// Adds the texts at some rows. They share one allocation.
    fn add_texts<T: AsRef<[u8]>>(&mut self, texts: impl ArrayAccessor<Item = T>, rows: impl Iterator<Item = usize>) {
        let (mut bytes, mut lengths) = (Vec::new(), Vec::new());
        for row in rows {
            let text = texts.value(row);
            bytes.extend_from_slice(text.as_ref());
            lengths.push(text.as_ref().len());
        }
        let (bytes, mut start) = (ByteArray::from(bytes), 0);
        self.text.extend(lengths.into_iter().map(|length| {
            start += length;
            bytes.slice(start - length, length)
        }));
    }

    /// Writes its rows, and forgets them.
    fn write(&mut self, writer: &mut ColumnWriter<'_>) -> Result<(), ParquetError> {
        let levels = Some(&self.levels[..]);
        match writer {
            ColumnWriter::Int64ColumnWriter(writer) => writer.write_batch(&self.whole, levels, None)?,
            ColumnWriter::DoubleColumnWriter(writer) => writer.write_batch(&self.real, levels, None)?,
            ColumnWriter::ByteArrayColumnWriter(writer) => writer.write_batch(&self.text, levels, None)?,
            // Only dates are stored in 32 bits.
            ColumnWriter::Int32ColumnWriter(writer) => {
                let days: Vec<i32> = self.whole.iter().map(|day| *day as i32).collect();
                writer.write_batch(&days, levels, None)?
            }
            // Types whose values are not kept. A list or a structure also has levels of repetition.
            ColumnWriter::BoolColumnWriter(writer) => writer.write_batch(&[], levels, None)?,
            ColumnWriter::FixedLenByteArrayColumnWriter(writer) => writer.write_batch(&[], levels, levels)?,
            ColumnWriter::FloatColumnWriter(_) | ColumnWriter::Int96ColumnWriter(_) => 0,
        };
        self.whole.clear();
        self.real.clear();
        self.text.clear();
        self.levels.clear();
        Ok(())
    }
}

/// The numbers at some rows.
fn values<T: ArrowPrimitiveType, V>(
    array: &dyn Array,
    rows: impl Iterator<Item = usize>,
    to: impl Fn(T::Native) -> V,
) -> impl Iterator<Item = V> {
    let numbers = array.as_primitive::<T>().values();
    rows.map(move |row| to(numbers[row]))
}
