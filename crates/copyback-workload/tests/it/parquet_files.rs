//! What tests of Parquet share: files with such columns as a test needs.

use parquet::basic::Compression;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type, Int96, Int96Type};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::sync::Arc;
/// The values of a column.
pub enum Values {
    Narrow(&'static [i32]),
    Wide(&'static [i64]),
    /// Nanoseconds of a day, and its Julian number.
    Julian(&'static [(u64, u32)]),
    Text(&'static [&'static str]),
    Double(&'static [f64]),
    Truth(&'static [bool]),
}

/// How a file is written.
pub struct How {
    pub codec: Compression,
    pub version: WriterVersion,
    pub dictionary: bool,
}

/// The plainest way.
pub const PLAIN: How = How { codec: Compression::UNCOMPRESSED, version: WriterVersion::PARQUET_1_0, dictionary: false };

/// Writes a file of such columns, each with its levels where it is nullable.
pub fn written(columns: &[(&str, Values, Option<&[i16]>)], how: &How) -> Vec<u8> {
    noted(columns, how, None)
}

/// As [`written`], with a key and a text in the file's metadata.
pub fn noted(columns: &[(&str, Values, Option<&[i16]>)], how: &How, note: Option<(&str, &str)>) -> Vec<u8> {
    let fields: Vec<String> = columns.iter().map(|(field, _, _)| format!("{field};")).collect();
    let schema = parse_message_type(&format!("message schema {{ {} }}", fields.join(" "))).unwrap();
    let note = note.map(|(key, text)| vec![KeyValue::new(key.to_owned(), text.to_owned())]);
    let properties = WriterProperties::builder()
        .set_key_value_metadata(note)
        .set_compression(how.codec)
        .set_writer_version(how.version)
        .set_dictionary_enabled(how.dictionary);
    let mut bytes = Vec::new();
    let mut file = SerializedFileWriter::new(&mut bytes, Arc::new(schema), Arc::new(properties.build())).unwrap();
    let mut group = file.next_row_group().unwrap();
    for (_, values, levels) in columns {
        let mut column = group.next_column().unwrap().unwrap();
        match values {
            Values::Narrow(values) => column.typed::<Int32Type>().write_batch(values, *levels, None).unwrap(),
            Values::Wide(values) => column.typed::<Int64Type>().write_batch(values, *levels, None).unwrap(),
            Values::Julian(values) => {
                let time = |(of_day_ns, day): &(u64, u32)| {
                    let mut time = Int96::new();
                    time.set_data(*of_day_ns as u32, (*of_day_ns >> 32) as u32, *day);
                    time
                };
                let values: Vec<Int96> = values.iter().map(time).collect();
                column.typed::<Int96Type>().write_batch(&values, *levels, None).unwrap()
            }
            Values::Double(values) => column.typed::<DoubleType>().write_batch(values, *levels, None).unwrap(),
            Values::Truth(values) => column.typed::<BoolType>().write_batch(values, *levels, None).unwrap(),
            Values::Text(values) => {
                let values: Vec<ByteArray> = values.iter().map(|text| ByteArray::from(*text)).collect();
                column.typed::<ByteArrayType>().write_batch(&values, *levels, None).unwrap()
            }
        };
        column.close().unwrap();
    }
    group.close().unwrap();
    file.close().unwrap();
    bytes
}
