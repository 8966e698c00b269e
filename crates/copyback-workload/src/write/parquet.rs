//! Writing the project's own compact format: delta-encoded columns under zstd.

use super::RequestWriter;
use crate::readers::parquet::{COLUMNS, VERSION, VERSION_KEY};
use crate::{Error, Request};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;
use std::io::Write;
use std::sync::Arc;

/// Requests that are kept in memory and compressed together.
const ROWS_PER_GROUP: usize = 1 << 18;

const SCHEMA: &str = "message request {
    required int64 arrival_ns (INTEGER(64,false));
    required int64 offset_bytes (INTEGER(64,false));
    required int64 len_bytes (INTEGER(64,false));
    required int32 op (INTEGER(8,false));
    required int32 device (INTEGER(32,false));
    required int32 priority (INTEGER(8,false));
}";

/// Collects rows and writes them in groups.
pub(crate) struct ParquetWriter<W: Write + Send> {
    file: SerializedFileWriter<W>,
    wide: [Vec<i64>; 3],
    narrow: [Vec<i32>; 3],
}

fn failed(error: ParquetError) -> Error {
    let failure = Error::of_output(format!("cannot write Parquet: {error}"));
    let of_disk = match &error {
        ParquetError::External(cause) => cause.downcast_ref(),
        _ => None,
    };
    match of_disk {
        Some(error) => super::with_remedy(failure, error),
        None => failure,
    }
}

fn properties() -> Result<WriterProperties, ParquetError> {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_key_value_metadata(Some(vec![KeyValue::new(VERSION_KEY.to_owned(), VERSION.to_owned())]));
    // Times and addresses hardly repeat, so a dictionary would only add bytes; small numbers repeat often.
    for name in &COLUMNS[..2] {
        let column = ColumnPath::from(*name);
        properties = properties
            .set_column_dictionary_enabled(column.clone(), false)
            .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED);
    }
    Ok(properties.build())
}

impl<W: Write + Send> ParquetWriter<W> {
    pub(crate) fn new(output: W) -> Result<Self, Error> {
        let schema = Arc::new(parse_message_type(SCHEMA).map_err(failed)?);
        let properties = Arc::new(properties().map_err(failed)?);
        let file = SerializedFileWriter::new(output, schema, properties).map_err(failed)?;
        Ok(Self { file, wide: Default::default(), narrow: Default::default() })
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.file.next_row_group()?;
        for values in &self.wide {
            write_column::<Int64Type, W>(&mut group, values)?;
        }
        for values in &self.narrow {
            write_column::<Int32Type, W>(&mut group, values)?;
        }
        group.close()?;
        self.wide.iter_mut().for_each(Vec::clear);
        self.narrow.iter_mut().for_each(Vec::clear);
        Ok(())
    }
}

fn write_column<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
) -> Result<(), ParquetError> {
    let column = group.next_column()?;
    let mut column = column.ok_or_else(|| ParquetError::General("the schema has too few columns".to_owned()))?;
    column.typed::<T>().write_batch(values, None, None)?;
    column.close()
}

impl<W: Write + Send> RequestWriter for ParquetWriter<W> {
    fn write(&mut self, request: &Request) -> Result<(), Error> {
        // Parquet's unsigned numbers are stored with the same bits in signed ones.
        self.wide[0].push(request.arrival_ns.cast_signed());
        self.wide[1].push(request.offset_bytes.cast_signed());
        self.wide[2].push(request.len_bytes.cast_signed());
        self.narrow[0].push(request.op as i32);
        self.narrow[1].push(request.device.cast_signed());
        self.narrow[2].push(request.priority as i32);
        if self.narrow[0].len() < ROWS_PER_GROUP {
            return Ok(());
        }
        self.write_group().map_err(failed)
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<String>, Error> {
        if !self.narrow[0].is_empty() {
            self.write_group().map_err(failed)?;
        }
        let mut output = self.file.into_inner().map_err(failed)?;
        output.flush().map_err(|error| super::io_error(&error))?;
        Ok(Vec::new())
    }
}
