//! Finds the columns of a Parquet file that are durations. Parquet has no such type: they are stored as plain whole
//! numbers, and only the writer's metadata has their unit: Arrow's schema (polars, pyarrow), or pandas' JSON under the
//! key `pandas`.

use super::arrow_schema;
use serde_json::Value;

/// Units by pandas' names, with their nanoseconds.
const UNITS: [(&str, u64); 4] = [("ns", 1), ("us", 1000), ("ms", 1_000_000), ("s", 1_000_000_000)];

/// The writer's metadata on the columns of a file.
pub(super) struct WriterMetadata<'a> {
    pub arrow: Option<&'a str>,
    pub pandas: Option<&'a str>,
}

impl WriterMetadata<'_> {
    /// Nanoseconds of a column's unit, if it holds durations. Arrow's schema describes the stored numbers, and takes
    /// precedence: pandas records the type before conversion.
    pub(super) fn unit_ns(&self, name: &str) -> Option<u64> {
        let by_arrow = self.arrow.and_then(|schema| arrow_schema::duration_ns(schema, name));
        by_arrow.or_else(|| {
            let pandas = serde_json::from_str::<Value>(self.pandas?).ok()?;
            noted(&pandas, name)
        })
    }
}

/// The unit of a type such as `timedelta64[ns]`, or `duration[ns][pyarrow]` if pandas holds Arrow's types.
fn unit_of(numpy_type: &str) -> Option<u64> {
    let bracketed = numpy_type.strip_prefix("timedelta64[").or_else(|| numpy_type.strip_prefix("duration["))?;
    let (unit, _) = bracketed.split_once(']')?;
    UNITS.into_iter().find(|(name, _)| *name == unit).map(|(_, factor)| factor)
}

/// The unit of a column from pandas' metadata, if it is a duration. Unknown metadata is ignored.
fn noted(pandas: &Value, name: &str) -> Option<u64> {
    // Files of early versions of pandas have no `field_name`.
    let is_it = |column: &&Value| {
        let field_name = column.get("field_name").filter(|field_name| !field_name.is_null());
        field_name.or_else(|| column.get("name")).and_then(Value::as_str) == Some(name)
    };
    let column = pandas.get("columns")?.as_array()?.iter().find(is_it)?;
    unit_of(column.get("numpy_type")?.as_str()?)
}
