//! Columns of a table as plain Python values, for pickle.

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, PrimitiveArray, StringArray};
use arrow_schema::{DataType, Field};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyType};
use std::sync::Arc;

/// A column: its name, the kind of its values (`text`, `u64`, `f64`), a list of texts or the bytes of numbers, and, if
/// rows may lack a value, a byte for each row that says whether it has one.
pub type Packed<'py> = (String, String, Bound<'py, PyAny>, Option<Bound<'py, PyBytes>>);

/// What pickle keeps of a table: its class, and the name and columns to make it of.
pub type Reduced<'py> = (Bound<'py, PyType>, (String, Vec<Packed<'py>>));

/// Packs a column.
pub fn pack<'py>(py: Python<'py>, field: &Field, array: &ArrayRef) -> PyResult<Packed<'py>> {
    let (kind, values) = match field.data_type() {
        DataType::Utf8 => ("text", PyList::new(py, array.as_string::<i32>())?.into_any()),
        DataType::UInt64 => ("u64", bytes_of::<UInt64Type>(py, array, |value| value.to_le_bytes())),
        _ => ("f64", bytes_of::<Float64Type>(py, array, |value| value.to_le_bytes())),
    };
    let has_value = |row| u8::from(array.is_valid(row));
    let validity = field.is_nullable().then(|| PyBytes::new(py, &(0..array.len()).map(has_value).collect::<Vec<u8>>()));
    Ok((field.name().clone(), kind.to_owned(), values, validity))
}

fn bytes_of<'py, T: ArrowPrimitiveType>(
    py: Python<'py>,
    array: &ArrayRef,
    bytes: fn(T::Native) -> [u8; 8],
) -> Bound<'py, PyAny> {
    let bytes: Vec<u8> = array.as_primitive::<T>().values().iter().flat_map(|value| bytes(*value)).collect();
    PyBytes::new(py, &bytes).into_any()
}

/// Unpacks a column.
///
/// # Errors
/// If it was not packed by [`pack`].
pub fn unpack((name, kind, values, validity): Packed<'_>) -> PyResult<(Field, ArrayRef)> {
    let is_nullable = validity.is_some();
    let validity = validity.map(|validity| validity.as_bytes().iter().map(|byte| *byte != 0).collect::<Vec<bool>>());
    let (data_type, array): (DataType, ArrayRef) = match kind.as_str() {
        "text" => (DataType::Utf8, Arc::new(StringArray::from(values.extract::<Vec<String>>()?))),
        "u64" => (DataType::UInt64, Arc::new(numbers::<UInt64Type>(&values, validity, u64::from_le_bytes)?)),
        "f64" => (DataType::Float64, Arc::new(numbers::<Float64Type>(&values, validity, f64::from_le_bytes)?)),
        other => return Err(PyValueError::new_err(format!("`{other}` is no kind of columns"))),
    };
    Ok((Field::new(name, data_type, is_nullable), array))
}

fn numbers<T: ArrowPrimitiveType>(
    values: &Bound<'_, PyAny>,
    validity: Option<Vec<bool>>,
    number: fn([u8; 8]) -> T::Native,
) -> PyResult<PrimitiveArray<T>> {
    let bytes = values.cast::<PyBytes>()?.as_bytes();
    let (numbers, rest) = bytes.as_chunks::<8>();
    let rows = validity.as_ref().map_or(numbers.len(), Vec::len);
    if !rest.is_empty() || rows != numbers.len() {
        return Err(PyValueError::new_err("a column has another number of values than of rows"));
    }
    let validity = validity.unwrap_or_else(|| vec![true; rows]);
    Ok(numbers.iter().zip(validity).map(|(bytes, has_value)| has_value.then(|| number(*bytes))).collect())
}
