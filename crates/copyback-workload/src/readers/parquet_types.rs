//! The meaning of the types of Parquet columns.

use super::parquet_columns::DAY_NS;
use parquet::basic::{ConvertedType, LogicalType, TimeUnit};
use parquet::schema::types::ColumnDescriptor;

/// Whether a column of 32 or 64 bits holds whole numbers, and no dates, times or decimals.
pub(super) fn is_integer(descriptor: &ColumnDescriptor) -> bool {
    match (descriptor.logical_type_ref(), descriptor.converted_type()) {
        (Some(logical), _) => matches!(logical, LogicalType::Integer(_)),
        (None, ConvertedType::NONE) => true,
        (None, converted) => {
            let name = converted.to_string();
            name.starts_with("INT_") || name.starts_with("UINT_")
        }
    }
}

/// Whether whole numbers of a column have no sign.
pub(super) fn is_unsigned(descriptor: &ColumnDescriptor) -> bool {
    match (descriptor.logical_type_ref(), descriptor.converted_type()) {
        (Some(LogicalType::Integer(integer)), _) => !integer.is_signed,
        (None, ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64) => {
            true
        }
        _ => false,
    }
}

/// Whether a column's bytes are a decimal number, not a text.
pub(super) fn is_number_in_bytes(descriptor: &ColumnDescriptor) -> bool {
    matches!(descriptor.logical_type_ref(), Some(LogicalType::Decimal(_)))
        || descriptor.converted_type() == ConvertedType::DECIMAL
}

/// Nanoseconds of a timestamp's unit.
pub(super) fn timestamp_ns(descriptor: &ColumnDescriptor) -> Option<u64> {
    match (descriptor.logical_type_ref(), descriptor.converted_type()) {
        (Some(LogicalType::Timestamp(timestamp)), _) => Some(unit_ns(&timestamp.unit)),
        (None, ConvertedType::TIMESTAMP_MILLIS) => Some(1_000_000),
        (None, ConvertedType::TIMESTAMP_MICROS) => Some(1000),
        _ => None,
    }
}

/// Nanoseconds of a day, for a column of days since 1970.
pub(super) fn date_ns(descriptor: &ColumnDescriptor) -> Option<u64> {
    match (descriptor.logical_type_ref(), descriptor.converted_type()) {
        (Some(LogicalType::Date), _) | (None, ConvertedType::DATE) => Some(DAY_NS),
        _ => None,
    }
}

/// Nanoseconds of the unit of times since midnight.
pub(super) fn time_of_day_ns(descriptor: &ColumnDescriptor) -> Option<u64> {
    match (descriptor.logical_type_ref(), descriptor.converted_type()) {
        (Some(LogicalType::Time(time)), _) => Some(unit_ns(&time.unit)),
        (None, ConvertedType::TIME_MILLIS) => Some(1_000_000),
        (None, ConvertedType::TIME_MICROS) => Some(1000),
        _ => None,
    }
}

fn unit_ns(unit: &TimeUnit) -> u64 {
    match unit {
        TimeUnit::MILLIS => 1_000_000,
        TimeUnit::MICROS => 1000,
        TimeUnit::NANOS => 1,
    }
}
