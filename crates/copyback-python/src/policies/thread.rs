//! Threads of runs as threads of Python.

use crate::exit;
use pyo3::ffi;
use pyo3::prelude::*;

thread_local! {
    static REGISTRATION: ThreadRegistration = ThreadRegistration::new();
}

/// Registers this thread with Python for as long as the thread lives. Otherwise each call would create Python's thread
/// state anew, with memory from the system for its stack; that took 10 of 16 us a call.
struct ThreadRegistration(Option<(ffi::PyGILState_STATE, *mut ffi::PyThreadState)>);

impl ThreadRegistration {
    fn new() -> Self {
        // SAFETY: the interpreter exists, because one of its policies is called. A thread that it does not know may
        // take the GIL, and releases it at once.
        unsafe {
            if ffi::PyGILState_GetThisThreadState().is_null() {
                let before = ffi::PyGILState_Ensure();
                return Self(Some((before, ffi::PyEval_SaveThread())));
            }
        }
        Self(None)
    }
}

impl Drop for ThreadRegistration {
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
    REGISTRATION.with(|_| ());
    Python::attach(with)
}
