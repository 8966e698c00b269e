//! Threads of runs as threads of Python.

use crate::exit;
use pyo3::ffi;
use pyo3::prelude::*;

thread_local! {
    static KNOWN: Known = Known::new();
}

/// Python knows this thread for as long as the thread lives. Otherwise each call made what Python keeps of a thread
/// anew, with memory from the system for its stack, which took 10 us of 16.
struct Known(Option<(ffi::PyGILState_STATE, *mut ffi::PyThreadState)>);

impl Known {
    fn new() -> Self {
        // SAFETY: the interpreter is there, as a policy of it is asked; a thread that it does not know may ask for the
        // GIL, and gives it back at once.
        unsafe {
            if ffi::PyGILState_GetThisThreadState().is_null() {
                let before = ffi::PyGILState_Ensure();
                return Self(Some((before, ffi::PyEval_SaveThread())));
            }
        }
        Self(None)
    }
}

impl Drop for Known {
    fn drop(&mut self) {
        let Some((before, state)) = self.0 else { return };
        // SAFETY: the state is this thread's, and nothing on it runs Python any more; without an interpreter there is
        // nothing to give back.
        unsafe {
            if ffi::Py_IsInitialized() != 0 {
                ffi::PyEval_RestoreThread(state);
                ffi::PyGILState_Release(before);
            }
        }
    }
}

/// Takes the GIL on a thread of a run.
pub fn attach<R>(with: impl FnOnce(Python<'_>) -> R) -> R {
    exit::stop_if_ending();
    KNOWN.with(|_| ());
    Python::attach(with)
}
