//! Interrupts of policies: an exception is raised in each thread that executes a call of a policy.
//!
//! Without interrupts, a policy that never returns keeps its thread for ever. Up to Python 3.13, the interpreter's end
//! then ends that thread inside the simulator, which aborts the process.

use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use pyo3::{PyTypeInfo, create_exception, ffi};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

create_exception!(copyback, Interrupted, PyBaseException, "The run of a policy ends; let this exception pass.");

/// A policy that the user passed, for all drives that call it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PolicyId(u64);

impl PolicyId {
    /// A number that no other policy has.
    pub fn new() -> Self {
        static MADE: AtomicU64 = AtomicU64::new(0);
        Self(MADE.fetch_add(1, Ordering::Relaxed))
    }
}

/// Calls that have not returned: the policy of each, and the number that Python gives to its thread.
static UNDER_WAY: Mutex<Vec<(PolicyId, std::ffi::c_ulong)>> = Mutex::new(Vec::new());

fn under_way() -> MutexGuard<'static, Vec<(PolicyId, std::ffi::c_ulong)>> {
    UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A call of a policy on this thread, for as long as this value lives.
pub struct Call(PolicyId, std::ffi::c_ulong);

impl Call {
    /// Begins.
    pub fn begin(of: PolicyId) -> Self {
        // SAFETY: it only asks the system for the thread's number.
        let thread = unsafe { ffi::PyThread_get_thread_ident() };
        under_way().push((of, thread));
        Self(of, thread)
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        let mut calls = under_way();
        if let Some(at) = calls.iter().rposition(|call| *call == (self.0, self.1)) {
            calls.swap_remove(at);
        }
    }
}

/// Raises [`Interrupted`] in all calls under way, or in those of one policy. A call that waits outside of the
/// interpreter raises it when it comes back.
pub fn interrupt(py: Python<'_>, of: Option<PolicyId>) {
    let exception = Interrupted::type_object(py);
    for &(policy, thread) in under_way().iter() {
        if of.is_none_or(|of| of == policy) {
            // SAFETY: the GIL is held; a thread that is gone is no error.
            unsafe { ffi::PyThreadState_SetAsyncExc(thread.cast_signed(), exception.as_ptr()) };
        }
    }
}

/// Whether a call under way continues although it was interrupted: a policy may catch all exceptions. A call that waits
/// outside of the interpreter does not count.
pub fn is_caught(py: Python<'_>, tick: Duration) -> PyResult<bool> {
    interrupt(py, None);
    // Each exception that is still to be raised is a reference to its class.
    let references = || -> PyResult<usize> {
        py.import("sys")?.call_method1("getrefcount", (Interrupted::type_object(py),))?.extract()
    };
    let before = references()?;
    py.detach(|| std::thread::sleep(tick));
    Ok(references()? < before)
}
