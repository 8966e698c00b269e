//! Columns of a Parquet file, by the type in which they are stored, and their values.

use super::columns::Column;
use super::dates;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{
    ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type, Int96, Int96Type,
};
use parquet::errors::ParquetError;

/// The position, in [`OpenColumn`]'s `places`, of a row without a value.
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
    Julian(Typed<Int96Type>),
    Text(Typed<ByteArrayType>),
    Single(Typed<FloatType>),
    Double(Typed<DoubleType>),
}

/// A value of a row.
pub(super) enum Value<'a> {
    Null,
    Number(i128),
    Real(f64),
    Text(&'a [u8]),
}

/// What the texts of a column of arrivals are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DateForm {
    /// Dates, with a time of day or without.
    Whole,
    /// Dates; the times of day have a column of their own.
    Date,
    /// Times of day.
    TimeOfDay,
}

impl DateForm {
    /// The nanoseconds that a text adds to the arrival; `None` for another text.
    pub(super) fn ns(self, text: &[u8]) -> Option<u64> {
        match self {
            Self::Whole => dates::ns(text),
            Self::Date => dates::midnight_ns(text),
            Self::TimeOfDay => dates::of_day_ns(text),
        }
    }
}

/// How a column of the file is stored, and which field it holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub column: Column,
    pub is_unsigned: bool,
    pub is_nullable: bool,
    pub form: DateForm,
}

/// A column of the current row group.
pub(super) struct OpenColumn {
    pub layout: Layout,
    stored: Stored,
    levels: Vec<i16>,
    /// The position of each row's value, if some row has none.
    places: Vec<u32>,
}

/// Values of a column of whole numbers, one for each row. Unsigned ones have the same bits in signed numbers.
pub(super) enum Whole<'a> {
    Narrow(&'a [i32]),
    UnsignedNarrow(&'a [i32]),
    Wide(&'a [i64]),
    UnsignedWide(&'a [i64]),
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
            ColumnReader::Int96ColumnReader(reader) => Self::Julian(typed(reader)),
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
            Self::Julian(typed) => typed.read(rows, levels),
            Self::Text(typed) => typed.read(rows, levels),
            Self::Single(typed) => typed.read(rows, levels),
            Self::Double(typed) => typed.read(rows, levels),
        }
    }
}

impl OpenColumn {
    /// A column of a row group; `None` if its type is not read.
    pub(super) fn new(layout: Layout, reader: ColumnReader) -> Option<Self> {
        Some(Self { layout, stored: Stored::new(reader)?, levels: Vec::new(), places: Vec::new() })
    }

    /// Reads this many rows; returns their number.
    pub(super) fn read(&mut self, rows: usize) -> Result<usize, ParquetError> {
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

    /// The values, if they are whole numbers and no row lacks one.
    pub(super) fn whole(&self) -> Option<Whole<'_>> {
        if !self.places.is_empty() {
            return None;
        }
        match &self.stored {
            Stored::Narrow(typed) if self.layout.is_unsigned => Some(Whole::UnsignedNarrow(&typed.values)),
            Stored::Narrow(typed) => Some(Whole::Narrow(&typed.values)),
            Stored::Wide(typed) if self.layout.is_unsigned => Some(Whole::UnsignedWide(&typed.values)),
            Stored::Wide(typed) => Some(Whole::Wide(&typed.values)),
            Stored::Julian(_) | Stored::Text(_) | Stored::Single(_) | Stored::Double(_) => None,
        }
    }

    pub(super) fn value(&self, row: usize) -> Value<'_> {
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
            Stored::Julian(typed) => Value::Number(since_1970_ns(&typed.values[at])),
            Stored::Text(typed) => Value::Text(ByteArray::data(&typed.values[at])),
            Stored::Single(typed) => Value::Real(typed.values[at].into()),
            Stored::Double(typed) => Value::Real(typed.values[at]),
        }
    }
}

/// The Julian day number of the first of January 1970. The days of Parquet begin at midnight.
const JULIAN_DAY_OF_1970: i128 = 2_440_588;

/// Nanoseconds of a day.
pub(super) const DAY_NS: u64 = 86_400_000_000_000;

/// Nanoseconds since 1970 of a time of 96 bits: nanoseconds of the day, and a Julian day.
fn since_1970_ns(time: &Int96) -> i128 {
    let [low, high, day] = time.data()[..] else { return 0 };
    let of_day_ns = i128::from(high) << 32 | i128::from(low);
    (i128::from(day) - JULIAN_DAY_OF_1970) * i128::from(DAY_NS) + of_day_ns
}
