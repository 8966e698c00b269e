//! Columns of the simulator's tables as arrays of NumPy, without a copy.

use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

/// The type of an entry.
#[derive(Clone, Copy)]
pub struct Kind {
    /// As NumPy writes it.
    typestr: &'static str,
    bytes: usize,
}

/// Bytes.
pub const U8: Kind = Kind { typestr: "|u1", bytes: 1 };
/// Numbers of 16 bits.
pub const U16: Kind = Kind { typestr: "<u2", bytes: 2 };
/// Numbers of 32 bits.
pub const U32: Kind = Kind { typestr: "<u4", bytes: 4 };
/// Numbers of 64 bits.
pub const U64: Kind = Kind { typestr: "<u8", bytes: 8 };

/// A column of a table of the simulator, read-only.
#[pyclass(frozen, module = "copyback")]
pub struct Column {
    first: usize,
    kind: Kind,
    len: usize,
    stride: usize,
}

impl Column {
    /// The field at an offset of each row.
    pub fn new<Row>(rows: &[Row], offset: usize, kind: Kind) -> Self {
        assert!(offset + kind.bytes <= size_of::<Row>(), "the field is outside its row");
        let first = rows.as_ptr().cast::<u8>().wrapping_add(offset) as usize;
        Self { first, kind, len: rows.len(), stride: size_of::<Row>() }
    }
}

#[pymethods]
impl Column {
    /// The address by NumPy's array interface. An array made from it refers to this object, and so do all arrays
    /// derived from that array: the column's reference count shows whether any of them is left. The buffer protocol
    /// would pass the memory on to views that the count does not include.
    #[getter(__array_interface__)]
    fn interface<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("typestr", self.kind.typestr)?;
        interface.set_item("data", (self.first, true))?;
        interface.set_item("shape", (self.len,))?;
        interface.set_item("strides", (self.stride,))?;
        Ok(interface)
    }
}

/// A NumPy array that shows a column. Making one takes longer than most policies take to choose, so arrays are kept
/// between calls. The reference counts of array and column show whether other code kept either.
pub struct Array {
    column: Py<Column>,
    array: Py<PyAny>,
    /// The column's reference count while no other code has the array or a part of it.
    column_references: isize,
}

impl Array {
    /// The array of a column.
    pub fn new(py: Python<'_>, column: Column) -> PyResult<Self> {
        let column = Bound::new(py, column)?;
        let array = asarray(py)?.call1((&column,))?.unbind();
        let column = column.unbind();
        Ok(Self { column_references: references(column.as_any()), column, array })
    }

    /// The array.
    pub fn get(&self, py: Python<'_>) -> Py<PyAny> {
        self.array.clone_ref(py)
    }

    /// Whether it shows this very memory.
    pub fn shows(&self, column: &Column) -> bool {
        let own = self.column.get();
        (own.first, own.len) == (column.first, column.len)
    }

    /// Whether other code refers to the array, or to its column. The GIL is held.
    pub fn is_referred_to(&self) -> bool {
        references(&self.array) > 1 || references(self.column.as_any()) > self.column_references
    }
}

fn references(object: &Py<PyAny>) -> isize {
    // SAFETY: the object is alive, because it is referred to here, and the caller holds the GIL.
    unsafe { ffi::Py_REFCNT(object.as_ptr()) }
}

fn asarray(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static ASARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let asarray = ASARRAY.get_or_try_init(py, || -> PyResult<Py<PyAny>> {
        let numpy = py.import("numpy").map_err(|missing| {
            let error = PyRuntimeError::new_err("views of policies are arrays of NumPy: pip install numpy");
            error.set_cause(py, Some(missing));
            error
        })?;
        Ok(numpy.getattr("asarray")?.unbind())
    })?;
    Ok(asarray.bind(py))
}
