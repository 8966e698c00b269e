//! What a policy is shown for the time of a call.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

/// A reference whose life the borrow checker cannot follow through Python: whoever made it takes it back before the
/// referent goes.
pub struct Borrowed<T: ?Sized>(Mutex<Option<NonNull<T>>>);

// SAFETY: the pointer is followed only while it is lent, by whoever holds the lock; the run's thread waits for the call
// meanwhile, so that nobody writes what it points to.
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

    /// Looks at the value, or says that it is gone.
    pub fn with<R>(&self, look: impl FnOnce(&T) -> R) -> PyResult<R> {
        let lent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match *lent {
            // SAFETY: it is lent, and cannot be taken back while the lock is held.
            Some(value) => Ok(look(unsafe { value.as_ref() })),
            None => Err(gone()),
        }
    }
}

/// What whoever looks at a view too late is told.
pub fn gone() -> PyErr {
    PyRuntimeError::new_err("a view is valid during the call only that it is handed to; keep the numbers, not the view")
}
