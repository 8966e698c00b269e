//! Columns of the simulator's tables as arrays of NumPy, without a copy.

use pyo3::exceptions::{PyBufferError, PyRuntimeError};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What stands in an entry.
#[derive(Clone, Copy)]
pub struct Kind {
    /// As the module `struct` writes it.
    format: &'static CStr,
    bytes: usize,
}

/// Bytes.
pub const U8: Kind = Kind { format: c"B", bytes: 1 };
/// Numbers of 16 bits.
pub const U16: Kind = Kind { format: c"H", bytes: 2 };
/// Numbers of 32 bits.
pub const U32: Kind = Kind { format: c"I", bytes: 4 };
/// Numbers of 64 bits.
pub const U64: Kind = Kind { format: c"Q", bytes: 8 };

/// A column of a table of the simulator, as the buffer protocol hands it out: read-only.
#[pyclass(frozen, module = "copyback")]
pub struct Column {
    first: usize,
    kind: Kind,
    shape: [isize; 1],
    strides: [isize; 1],
    exports: AtomicUsize,
}

impl Column {
    /// The field at an offset of each row.
    pub fn new<Row>(rows: &[Row], offset: usize, kind: Kind) -> Self {
        assert!(offset + kind.bytes <= size_of::<Row>(), "the field is outside its row");
        Self {
            first: rows.as_ptr().cast::<u8>().wrapping_add(offset) as usize,
            kind,
            shape: [rows.len() as isize],
            strides: [size_of::<Row>() as isize],
            exports: AtomicUsize::new(0),
        }
    }
}

#[pymethods]
impl Column {
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let column = slf.get();
        if flags & ffi::PyBUF_WRITABLE != 0 || flags & ffi::PyBUF_STRIDES != ffi::PyBUF_STRIDES {
            return Err(PyBufferError::new_err("the simulator's tables are read-only, and have strides"));
        }
        column.exports.fetch_add(1, Ordering::Relaxed);
        let pointer = |values: &[isize; 1]| values.as_ptr().cast_mut();
        // SAFETY: `view` is the caller's, to be filled; the shape lives as long as the column, which `obj` keeps.
        unsafe {
            *view = ffi::Py_buffer {
                buf: column.first as *mut c_void,
                obj: std::ptr::null_mut(),
                len: column.shape[0] * column.kind.bytes as isize,
                itemsize: column.kind.bytes as isize,
                readonly: 1,
                ndim: 1,
                format: if flags & ffi::PyBUF_FORMAT == 0 {
                    std::ptr::null_mut()
                } else {
                    column.kind.format.as_ptr().cast_mut()
                },
                shape: pointer(&column.shape),
                strides: pointer(&column.strides),
                suboffsets: std::ptr::null_mut(),
                internal: std::ptr::null_mut(),
            };
            (*view).obj = slf.into_any().into_ptr();
        }
        Ok(())
    }

    unsafe fn __releasebuffer__(&self, _view: *mut ffi::Py_buffer) {
        self.exports.fetch_sub(1, Ordering::Relaxed);
    }
}

/// An array of NumPy that shows a column. Making one takes longer than most policies take to choose, so that arrays are
/// kept from call to call; how often they are referred to says whether somebody else kept one, or a part of one.
pub struct Array {
    column: Py<Column>,
    array: Py<PyAny>,
    /// What parts of the array refer to, and how often it is referred to while there are none.
    base: Py<PyAny>,
    base_references: isize,
}

impl Array {
    /// The array of a column.
    pub fn new(py: Python<'_>, column: Column) -> PyResult<Self> {
        let column = Bound::new(py, column)?;
        let array = asarray(py)?.call1((&column,))?;
        let base = array.getattr(intern!(py, "base"))?.unbind();
        let base_references = references(&base);
        Ok(Self { column: column.unbind(), array: array.unbind(), base, base_references })
    }

    /// The array.
    pub fn get(&self, py: Python<'_>) -> Py<PyAny> {
        self.array.clone_ref(py)
    }

    /// Whether it shows this very memory.
    pub fn shows(&self, column: &Column) -> bool {
        let own = self.column.get();
        (own.first, own.shape) == (column.first, column.shape)
    }

    /// Whether somebody refers to it, or to a part of it. The GIL is held.
    pub fn is_referred_to(&self) -> bool {
        references(&self.array) > 1
            || references(&self.base) > self.base_references
            || self.column.get().exports.load(Ordering::Relaxed) > 1
    }
}

fn references(object: &Py<PyAny>) -> isize {
    // SAFETY: the object is alive, as it is referred to here, and whoever calls holds the GIL.
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
