//! References that a policy may use during one call only.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

/// A reference whose lifetime the borrow checker cannot follow through Python. Its creator ends it before the referent
/// is dropped.
pub struct Borrowed<T: ?Sized>(Mutex<Option<NonNull<T>>>);

// SAFETY: only the holder of the lock follows the pointer, and only while it is borrowed. The run's thread waits for
// the call meanwhile, so that no code writes the referent.
unsafe impl<T: ?Sized> Send for Borrowed<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized> Sync for Borrowed<T> {}

impl<T: ?Sized> Borrowed<T> {
    /// Lends a value.
    ///
    /// # Safety
    /// [`Borrowed::end`] is called before the value goes or is written.
    pub unsafe fn new(value: NonNull<T>) -> Self {
        Self(Mutex::new(Some(value)))
    }

    /// Takes the value back.
    pub fn end(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Calls `look` with the value; an error if the value was taken back.
    pub fn with<R>(&self, look: impl FnOnce(&T) -> R) -> PyResult<R> {
        let borrowed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match *borrowed {
            // SAFETY: it is borrowed, and cannot be taken back while the lock is held.
            Some(value) => Ok(look(unsafe { value.as_ref() })),
            None => Err(gone()),
        }
    }
}

/// The error for code that reads a view after its call.
pub fn gone() -> PyErr {
    PyRuntimeError::new_err("a view is valid only during the call that receives it; keep the numbers, not the view")
}
