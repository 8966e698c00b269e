//! Flat tables as Parquet: names, columns of equal length, ZSTD. They are written without Arrow.

pub mod csv;

use parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use std::fs::File;
use std::io::Error;
use std::sync::Arc;

/// A column: its name and its values.
#[derive(Clone)]
pub enum Column {
    /// Texts.
    Text(&'static str, Vec<String>),
    /// Whole numbers.
    U64(&'static str, Vec<u64>),
    /// Whole numbers, with a name made at run time.
    Named(String, Vec<u64>),
    /// Numbers.
    F64(&'static str, Vec<f64>),
    /// Texts, with a name made at run time.
    NamedText(String, Vec<String>),
    /// Whole numbers, which rows may lack.
    MaybeU64(String, Vec<Option<u64>>),
    /// Numbers, which rows may lack.
    MaybeF64(String, Vec<Option<f64>>),
}

/// The existing values, and for each row whether it has one, as Parquet stores them.
fn split<T: Copy, P>(values: &[Option<T>], stored: impl Fn(T) -> P) -> (Vec<P>, Vec<i16>) {
    (values.iter().flatten().map(|v| stored(*v)).collect(), values.iter().map(|v| i16::from(v.is_some())).collect())
}

impl Column {
    /// A column of texts.
    pub fn text(name: &'static str, values: Vec<String>) -> Self {
        Self::Text(name, values)
    }

    fn field(&self) -> Result<Type, ParquetError> {
        let (name, physical, converted) = match self {
            Self::Text(name, _) => (*name, Physical::BYTE_ARRAY, ConvertedType::UTF8),
            Self::U64(name, _) => (*name, Physical::INT64, ConvertedType::UINT_64),
            Self::Named(name, _) => (name.as_str(), Physical::INT64, ConvertedType::UINT_64),
            Self::F64(name, _) => (*name, Physical::DOUBLE, ConvertedType::NONE),
            Self::NamedText(name, _) => (name.as_str(), Physical::BYTE_ARRAY, ConvertedType::UTF8),
            Self::MaybeU64(name, _) => (name.as_str(), Physical::INT64, ConvertedType::UINT_64),
            Self::MaybeF64(name, _) => (name.as_str(), Physical::DOUBLE, ConvertedType::NONE),
        };
        let may_lack = matches!(self, Self::MaybeU64(..) | Self::MaybeF64(..));
        let repetition = if may_lack { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let builder = Type::primitive_type_builder(name, physical);
        builder.with_repetition(repetition).with_converted_type(converted).build()
    }
}

/// The metadata of a table's file, as keys and values of Parquet: a copied table still states the program, seed and
/// configuration that made it.
#[derive(Clone, Debug)]
pub struct About(Vec<(String, String)>);

impl About {
    /// The version of this program.
    pub fn this_program() -> Self {
        Self(vec![("copyback.version".into(), env!("CARGO_PKG_VERSION").into())])
    }

    /// The same metadata with one more key.
    #[must_use]
    pub fn with(mut self, key: impl std::fmt::Display, value: impl ToString) -> Self {
        self.0.push((format!("copyback.{key}"), value.to_string()));
        self
    }
}

/// Writes a table to a file.
pub fn write_table(file: &mut File, name: &str, about: &About, columns: Vec<Column>) -> std::io::Result<()> {
    try_write(file, name, about, columns).map_err(|error| match error {
        // Keep the error of the disk: its kind decides what helps.
        ParquetError::External(cause) => cause.downcast::<Error>().map_or_else(Error::other, |error| *error),
        error => Error::other(error.to_string()),
    })
}

fn try_write(file: &mut File, name: &str, about: &About, columns: Vec<Column>) -> Result<(), ParquetError> {
    let fields = columns.iter().map(|column| column.field().map(Arc::new)).collect::<Result<Vec<_>, _>>()?;
    let schema = Arc::new(Type::group_type_builder(name).with_fields(fields).build()?);
    let about = about.0.iter().map(|(key, value)| KeyValue::new(key.clone(), value.clone())).collect();
    let properties = WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default()));
    let properties = properties.set_key_value_metadata(Some(about)).build();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for column in columns {
        let mut open = group.next_column()?.ok_or_else(|| ParquetError::General("a column too many".into()))?;
        match column {
            Column::Text(_, values) | Column::NamedText(_, values) => {
                let values: Vec<ByteArray> = values.into_iter().map(|v| ByteArray::from(v.into_bytes())).collect();
                open.typed::<ByteArrayType>().write_batch(&values, None, None)?;
            }
            Column::U64(_, values) | Column::Named(_, values) => {
                // Parquet stores unsigned numbers in the bits of signed ones.
                let values: Vec<i64> = values.into_iter().map(u64::cast_signed).collect();
                open.typed::<Int64Type>().write_batch(&values, None, None)?;
            }
            Column::MaybeU64(_, values) => {
                let (values, there) = split(&values, u64::cast_signed);
                open.typed::<Int64Type>().write_batch(&values, Some(&there), None)?;
            }
            Column::MaybeF64(_, values) => {
                let (values, there) = split(&values, |value| value);
                open.typed::<DoubleType>().write_batch(&values, Some(&there), None)?;
            }
            Column::F64(_, values) => {
                open.typed::<DoubleType>().write_batch(&values, None, None)?;
            }
        }
        open.close()?;
    }
    group.close()?;
    writer.close()?;
    Ok(())
}
