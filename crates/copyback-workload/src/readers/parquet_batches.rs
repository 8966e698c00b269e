//! Rows of a Parquet file column by column: three times as fast as row by row. This is possible if all values are whole
//! numbers, none is missing, and none is wrong; otherwise the rows are read one by one, which finds and names mistakes.

use super::columns::{self, OpWords};
use super::parquet_columns::{OpenColumn, Whole};
use crate::spec::Field;
use crate::{Op, Priority, Request};

/// What a row has if no column says otherwise.
pub(super) const DEFAULT: Request =
    Request { arrival_ns: 0, offset_bytes: 0, len_bytes: 0, device: 0, op: Op::Read, priority: Priority::Normal };

/// The requests of this many rows of some columns; `None` if the rows must be read one by one.
pub(super) fn requests(columns: &[OpenColumn], rows: usize, operations: &OpWords) -> Option<Vec<Request>> {
    if columns.iter().any(|column| column.whole().is_none()) {
        return None;
    }
    let mut requests = vec![DEFAULT; rows];
    columns.iter().try_for_each(|column| match column.whole()? {
        Whole::Narrow(values) => {
            fill(column, values.iter().map(|&value| u64::try_from(value).ok()), operations, &mut requests)
        }
        Whole::Wide(values) => {
            fill(column, values.iter().map(|&value| u64::try_from(value).ok()), operations, &mut requests)
        }
        Whole::UnsignedNarrow(values) => {
            fill(column, values.iter().map(|&value| Some(value.cast_unsigned().into())), operations, &mut requests)
        }
        Whole::UnsignedWide(values) => {
            fill(column, values.iter().map(|&value| Some(value.cast_unsigned())), operations, &mut requests)
        }
    })?;
    Some(requests)
}

/// Stores the values of a column; `None` as soon as one is wrong, or its row is ignored.
fn fill(
    column: &OpenColumn,
    values: impl Iterator<Item = Option<u64>>,
    operations: &OpWords,
    requests: &mut [Request],
) -> Option<()> {
    let key = &column.layout.column.key;
    let mut rows = requests.iter_mut().zip(values);
    match key.field {
        Field::Arrival => rows.try_for_each(|(request, value)| {
            request.arrival_ns = request.arrival_ns.checked_add(value?.checked_mul(key.factor)?)?;
            Some(())
        }),
        Field::Offset => rows.try_for_each(|(request, value)| {
            request.offset_bytes = value?.checked_mul(key.factor)?;
            Some(())
        }),
        Field::Length => rows.try_for_each(|(request, value)| {
            request.len_bytes = value?.checked_mul(key.factor)?;
            Some(())
        }),
        Field::Device => rows.try_for_each(|(request, value)| {
            request.device = columns::device_of(value?.into()).ok()?;
            Some(())
        }),
        Field::Op => rows.try_for_each(|(request, value)| {
            request.op = operations.of_number(value?.into()).ok()??;
            Some(())
        }),
        Field::Priority => rows.try_for_each(|(request, value)| {
            request.priority = columns::priority_of_number(value?.into()).ok()?;
            Some(())
        }),
    }
}
