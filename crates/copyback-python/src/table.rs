//! A table of results. Arrow's PyCapsule protocol passes it on without a copy.

use crate::packed::{self, Packed, Reduced};
use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch, RecordBatchIterator, StringArray, UInt64Array};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use copyback_cli::api::{self, Column};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};
use std::sync::Arc;

/// A table of results.
///
/// It is an Arrow stream: `pyarrow.table(t)`, `polars.DataFrame(t)`, `pandas.DataFrame.from_arrow(t)` and DuckDB's
/// queries take it without a copy.
#[pyclass(frozen, module = "copyback")]
pub struct Table {
    name: String,
    batch: RecordBatch,
}

impl Table {
    /// The table of these columns.
    pub fn new(name: &str, columns: Vec<Column>) -> PyResult<Self> {
        Self::of_arrays(name, columns.into_iter().map(array).unzip())
    }

    fn of_arrays(name: &str, (fields, arrays): (Vec<Field>, Vec<ArrayRef>)) -> PyResult<Self> {
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(of_arrow)?;
        Ok(Self { name: name.to_owned(), batch })
    }
}

impl Table {
    fn column(&self, name: &str) -> PyResult<&ArrayRef> {
        let there = || self.column_names().join(", ");
        let missing =
            || PyKeyError::new_err(format!("the table `{}` has no column {name:?}; it has {}", self.name, there()));
        self.batch.column_by_name(name).ok_or_else(missing)
    }
}

/// A cell as text; empty if the cell has no value.
fn shown(array: &ArrayRef, row: usize) -> String {
    if array.is_null(row) {
        return String::new();
    }
    match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().value(row).to_owned(),
        DataType::UInt64 => array.as_primitive::<UInt64Type>().value(row).to_string(),
        _ => array.as_primitive::<Float64Type>().value(row).to_string(),
    }
}

/// A column. Its numbers are taken over without a copy.
fn array(column: Column) -> (Field, ArrayRef) {
    let text = |name: &str, values: Vec<String>| -> (Field, ArrayRef) {
        (Field::new(name, DataType::Utf8, false), Arc::new(StringArray::from(values)))
    };
    let whole = |name: &str, values: Vec<u64>| -> (Field, ArrayRef) {
        (Field::new(name, DataType::UInt64, false), Arc::new(UInt64Array::from(values)))
    };
    match column {
        Column::Text(name, values) => text(name, values),
        Column::NamedText(name, values) => text(&name, values),
        Column::U64(name, values) => whole(name, values),
        Column::Named(name, values) => whole(&name, values),
        Column::F64(name, values) => {
            (Field::new(name, DataType::Float64, false), Arc::new(Float64Array::from(values)) as ArrayRef)
        }
        Column::MaybeU64(name, values) => {
            (Field::new(name, DataType::UInt64, true), Arc::new(UInt64Array::from(values)) as ArrayRef)
        }
        Column::MaybeF64(name, values) => {
            (Field::new(name, DataType::Float64, true), Arc::new(Float64Array::from(values)) as ArrayRef)
        }
    }
}

fn of_arrow(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

#[pymethods]
impl Table {
    /// A table of packed columns, as pickle keeps it.
    #[new]
    fn unpickled(name: &str, columns: Vec<Packed<'_>>) -> PyResult<Self> {
        let columns: Vec<(Field, ArrayRef)> = columns.into_iter().map(packed::unpack).collect::<PyResult<_>>()?;
        Self::of_arrays(name, columns.into_iter().unzip())
    }

    /// The table for pickle.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        let columns = self.batch.schema_ref().fields().iter().zip(self.batch.columns());
        let columns = columns.map(|(field, array)| packed::pack(py, field, array)).collect::<PyResult<_>>()?;
        Ok((py.get_type::<Self>(), (self.name.clone(), columns)))
    }

    /// The name of the table.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The names of the columns, in order.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.batch.schema_ref().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// How many rows there are.
    #[getter]
    fn num_rows(&self) -> usize {
        self.batch.num_rows()
    }

    /// The columns as lists, for users without a library that reads Arrow.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for (field, array) in self.batch.schema_ref().fields().iter().zip(self.batch.columns()) {
            let values = match field.data_type() {
                DataType::Utf8 => PyList::new(py, array.as_string::<i32>())?,
                DataType::UInt64 => PyList::new(py, array.as_primitive::<UInt64Type>())?,
                _ => PyList::new(py, array.as_primitive::<Float64Type>())?,
            };
            columns.set_item(field.name(), values)?;
        }
        Ok(columns)
    }

    /// The table for LaTeX with booktabs: the named `columns` in their order [all], and the first `rows` rows [all].
    #[pyo3(signature = (columns = None, rows = None))]
    fn to_latex(&self, columns: Option<Vec<String>>, rows: Option<usize>) -> PyResult<String> {
        let columns = columns.unwrap_or_else(|| self.column_names());
        let arrays: Vec<&ArrayRef> = columns.iter().map(|name| self.column(name)).collect::<PyResult<_>>()?;
        let rows = rows.unwrap_or_else(|| self.num_rows()).min(self.num_rows());
        let line = |row: usize| -> Vec<String> { arrays.iter().map(|array| shown(array, row)).collect() };
        let lines: Vec<Vec<String>> = std::iter::once(columns).chain((0..rows).map(line)).collect();
        Ok(api::latex_table(&lines, 1))
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __repr__(&self) -> String {
        let names = self.column_names().join(", ");
        format!("<copyback.Table {}: {} rows of {names}>", self.name, self.batch.num_rows())
    }

    /// Its schema, by Arrow's PyCapsule protocol.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.batch.schema_ref().as_ref()).map_err(of_arrow)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The rows, by Arrow's PyCapsule protocol. A requested schema is ignored, as the protocol allows.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), c"arrow_array_stream")
    }
}
