//! Which columns of a Parquet file are durations of pandas. Parquet has no such type: they are stored as plain whole
//! numbers, and only what pandas notes beside them, as JSON under the key `pandas`, says what they count.

use super::columns::Column;
use super::cursor::shown;
use crate::Error;
use crate::spec::{COLUMN_KEYS, Field};
use serde_json::Value;

/// Units by pandas' names, with their nanoseconds.
const UNITS: [(&str, u64); 4] = [("ns", 1), ("us", 1000), ("ms", 1_000_000), ("s", 1_000_000_000)];

/// The unit of a type such as `timedelta64[ns]`, or `duration[ns][pyarrow]` where pandas holds Arrow's types.
fn unit_of(numpy_type: &str) -> Option<(&'static str, u64)> {
    let bracketed = numpy_type.strip_prefix("timedelta64[").or_else(|| numpy_type.strip_prefix("duration["))?;
    let (unit, _) = bracketed.split_once(']')?;
    UNITS.into_iter().find(|(name, _)| *name == unit)
}

/// What pandas notes of a column: its unit, if it is a duration. What is not understood says nothing.
fn noted(pandas: &Value, name: &str) -> Option<(&'static str, u64)> {
    // The first files of pandas knew no `field_name`.
    let is_it = |column: &&Value| {
        let field_name = column.get("field_name").filter(|field_name| !field_name.is_null());
        field_name.or_else(|| column.get("name")).and_then(Value::as_str) == Some(name)
    };
    let column = pandas.get("columns")?.as_array()?.iter().find(is_it)?;
    unit_of(column.get("numpy_type")?.as_str()?)
}

/// Refuses a column of times whose durations count another unit than the column is read in.
pub(crate) fn check(file_name: &str, pandas: Option<&str>, name: &str, column: &Column) -> Result<(), Error> {
    let pandas = pandas.and_then(|text| serde_json::from_str::<Value>(text).ok());
    let Some((unit, factor)) = pandas.and_then(|pandas| noted(&pandas, name)) else { return Ok(()) };
    if factor == column.key.factor {
        return Ok(());
    }
    let is_right = |key: &&crate::spec::ColumnKey| key.field == Field::Arrival && key.factor == factor;
    let key = COLUMN_KEYS.iter().find(is_right).map_or("arrival_ns", |key| key.name);
    let (name, read_as) = (shown(name.as_bytes()), column.key.name);
    let message = format!("{file_name}: its column `{name}` holds durations in {unit}, and is to be read as {read_as}");
    Err(Error::new(message).with_help(format!(
        "say its unit: --set workload.columns.{key}={name}, or write it as whole numbers, in pandas \
         `.astype(\"int64\")`, in a column {key}"
    )))
}
