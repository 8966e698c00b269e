//! Finds the columns of a Parquet file that are read, and how: by their names and types.

use super::columns::{self, Column};
use super::cursor::shown;
use super::dated_header::{self, DateColumns};
use super::parquet_columns::{DateForm, Layout};
use super::parquet_types::{date_ns, is_integer, is_number_in_bytes, is_unsigned, time_of_day_ns, timestamp_ns};
use super::{arrow_schema, durations};
use crate::Error;
use crate::spec::{ColumnNames, Field};
use parquet::basic::Type as PhysicalType;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::{ColumnDescPtr, ColumnDescriptor};
use std::fs::File;

/// The value of a key in the file's metadata.
pub(super) fn key_value<'a>(file: &'a SerializedFileReader<File>, key: &str) -> Option<&'a str> {
    let pairs = file.metadata().file_metadata().key_value_metadata()?;
    pairs.iter().find(|pair| pair.key == key)?.value.as_deref()
}

/// The columns that are read, and a note on the others.
pub(super) fn layouts(
    file_name: &str,
    file: &SerializedFileReader<File>,
    wanted: &ColumnNames,
) -> Result<(Vec<Layout>, Option<String>), Error> {
    let columns = file.metadata().file_metadata().schema_descr().columns();
    // The name of a column in a structure is its path, which is not the name of any key.
    let names: Vec<String> = columns.iter().map(|column| column.path().parts().join(".")).collect();
    let is_arrival_unnamed = wanted.set().all(|(key, _)| key.field != Field::Arrival);
    let dated = if is_arrival_unnamed { dates_of(columns, &names) } else { None };
    let mut keyed = names.clone();
    if let Some(dated) = dated {
        dated_header::ARRIVAL.clone_into(&mut keyed[dated.arrival()]);
    }
    let found = columns::find(file_name, &keyed, wanted, None)?;
    let notes =
        durations::WriterMetadata { arrow: key_value(file, arrow_schema::KEY), pandas: key_value(file, "pandas") };
    let layout = |column: &Column| {
        let descriptor = &columns[column.at];
        // A timestamp's unit is in its type; a duration's is only in metadata.
        let own_unit_ns = match column.key.field {
            Field::Arrival if is_integer(descriptor) => notes.unit_ns(&names[column.at]),
            Field::Arrival => timestamp_ns(descriptor).or_else(|| date_ns(descriptor)).or_else(|| {
                let is_part = matches!(dated, Some(DateColumns::Apart { .. }));
                time_of_day_ns(descriptor).filter(|_| is_part)
            }),
            _ => None,
        };
        let form = match dated {
            Some(DateColumns::Apart { date, .. }) if column.at == date => DateForm::Date,
            Some(DateColumns::Apart { time, .. }) if column.at == time => DateForm::TimeOfDay,
            _ => DateForm::Whole,
        };
        let layout = layout(file_name, descriptor, *column, own_unit_ns)?;
        Ok(Layout { form, ..layout })
    };
    let date_at = match dated {
        Some(DateColumns::Apart { date, .. }) => Some(date),
        _ => None,
    };
    let date = date_at.zip(found[0]).map(|(at, arrival)| Column { at, ..arrival });
    let layouts = found.iter().flatten().chain(&date).map(layout).collect::<Result<_, Error>>()?;
    Ok((layouts, columns::note_unused(&names, &found, date_at)))
}

/// The columns of dates if no name states the unit of a time: those of such types, or of texts with usual names.
fn dates_of(columns: &[ColumnDescPtr], names: &[String]) -> Option<DateColumns> {
    if columns::is_header(names.iter().map(String::as_str)) {
        return None;
    }
    let only = |is_such: &dyn Fn(usize) -> bool| {
        let mut found = (0..names.len()).filter(|at| is_such(*at));
        found.next().filter(|_| found.next().is_none())
    };
    let has_name = |at: usize| dated_header::is_of_times(&names[at]);
    let is_text = |at: usize| {
        has_name(at) && columns[at].physical_type() == PhysicalType::BYTE_ARRAY && !is_number_in_bytes(&columns[at])
    };
    let is_timestamp =
        |at: usize| timestamp_ns(&columns[at]).is_some() || columns[at].physical_type() == PhysicalType::INT96;
    let is_date = |at: usize| date_ns(&columns[at]).is_some();
    let is_time = |at: usize| time_of_day_ns(&columns[at]).is_some();
    // A file may have a second timestamp, of the end of a request for example, and a text beside it.
    let one = only(&is_timestamp).or_else(|| only(&|at| is_timestamp(at) && has_name(at)));
    if let Some(at) = one {
        return Some(DateColumns::Together(at));
    }
    let is_day = |at: usize| ["date", "day"].contains(&names[at].to_ascii_lowercase().as_str());
    let date = only(&|at| is_date(at) || (is_text(at) && is_day(at)));
    let time = only(&|at| is_time(at) || (is_text(at) && !is_day(at)));
    if let (Some(date), Some(time)) = (date, time) {
        return Some(DateColumns::Apart { date, time });
    }
    only(&|at| has_name(at) && (is_text(at) || is_date(at))).map(DateColumns::Together)
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
        PhysicalType::BYTE_ARRAY => (is_text || is_time) && !is_number_in_bytes(descriptor),
        // A present-day time in nanoseconds has more digits than such a number.
        PhysicalType::FLOAT | PhysicalType::DOUBLE => is_time && column.key.factor > 1,
        PhysicalType::INT96 => is_time,
        PhysicalType::BOOLEAN | PhysicalType::FIXED_LEN_BYTE_ARRAY => false,
    };
    let is_flat = descriptor.max_rep_level() == 0 && descriptor.max_def_level() <= 1;
    if !fits || !is_flat {
        return Err(wrong_type(file_name, descriptor, &column, is_flat));
    }
    if descriptor.physical_type() == PhysicalType::INT96 {
        column.key.factor = 1;
    }
    if let Some(ns) = own_unit_ns {
        column.key.factor = ns;
    }
    let is_unsigned = is_unsigned(descriptor);
    let is_nullable = descriptor.max_def_level() > 0;
    Ok(Layout { column, is_unsigned, is_nullable, form: DateForm::Whole })
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
            "whole numbers, timestamps, dates or durations; above a nanosecond, as in `arrival_s`, also floating-point \
             numbers"
        }
        _ => "whole numbers",
    };
    let message = format!("{file_name}: its column `{name}` holds {kind}, and {} takes {wanted}", column.key.name);
    Error::new(message).with_help("write the column anew with a type that it takes, in pandas `.astype(\"int64\")`")
}
