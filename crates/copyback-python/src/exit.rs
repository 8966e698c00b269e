//! The end of the interpreter: runs that are under way stop calling it.

use crate::policies::interrupts;
use copyback_cli::api::Watch;
use copyback_workload::temporary;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Calls whose threads have not ended.
static UNDER_WAY: Mutex<Vec<Weak<Watch>>> = Mutex::new(Vec::new());
/// The interpreter is about to end: no thread may start a call into it.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// How long a running policy may take to return by itself.
const GRACE: Duration = Duration::from_millis(300);
/// How long the interpreter waits for calls at most. After [`GRACE`] it interrupts their policies.
const PATIENCE: Duration = Duration::from_secs(3);
const TICK: Duration = Duration::from_millis(2);
/// How often policies are interrupted. An interrupt has no effect between two calls of a policy.
const INTERVAL: Duration = Duration::from_millis(50);

fn under_way() -> MutexGuard<'static, Vec<Weak<Watch>>> {
    UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The number of threads that write Python's requests to a file. Each removes its file if the caller is gone.
static WRITING: AtomicUsize = AtomicUsize::new(0);

/// Counts a writing thread, for as long as this value lives.
pub struct ActiveWriter;

impl ActiveWriter {
    /// Begins.
    pub fn begin() -> Self {
        WRITING.fetch_add(1, Ordering::SeqCst);
        Self
    }
}

impl Drop for ActiveWriter {
    fn drop(&mut self) {
        WRITING.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A call whose thread has not ended.
pub struct ActiveCall {
    watch: Arc<Watch>,
}

impl ActiveCall {
    /// Begins a call.
    pub fn new(watch: &Arc<Watch>) -> Self {
        under_way().push(Arc::downgrade(watch));
        Self { watch: watch.clone() }
    }
}

impl Drop for ActiveCall {
    fn drop(&mut self) {
        under_way().retain(|other| !other.ptr_eq(&Arc::downgrade(&self.watch)));
    }
}

/// Stops the calls that are under way, and waits until their threads have ended. A policy that does not return is
/// interrupted. If a thread called the interpreter after its end, the interpreter would end the thread inside the
/// simulator, which aborts the process. If a policy catches all exceptions and goes on, the process therefore ends
/// here.
///
/// # Errors
/// None that a user can cause.
#[pyfunction]
pub fn end_calls(py: Python<'_>) -> PyResult<()> {
    let begun = Instant::now();
    let mut interrupted = Duration::ZERO;
    IS_ENDING.store(true, Ordering::SeqCst);
    loop {
        let left: Vec<Arc<Watch>> = under_way().iter().filter_map(Weak::upgrade).collect();
        left.iter().for_each(|watch| watch.stop());
        if left.is_empty() && WRITING.load(Ordering::SeqCst) == 0 {
            return Ok(());
        }
        drop(left);
        let waited = begun.elapsed();
        if waited > PATIENCE {
            temporary::close();
            break;
        }
        if waited > GRACE && waited - interrupted > INTERVAL {
            interrupts::interrupt(py, None);
            interrupted = waited;
        }
        py.detach(|| std::thread::sleep(TICK));
    }
    if interrupts::is_caught(py, INTERVAL)? {
        eprintln!("copyback: a policy caught the exception that ends its run; the process ends without waiting for it");
        let sys = py.import("sys")?;
        for stream in ["stdout", "stderr"] {
            let _ = sys.getattr(stream).and_then(|stream| stream.call_method0("flush"));
        }
        py.import("os")?.call_method1("_exit", (1,))?;
    }
    Ok(())
}

/// Whether the interpreter is about to end.
pub fn is_ending() -> bool {
    IS_ENDING.load(Ordering::SeqCst)
}

/// Ends the run before it calls a policy, if the interpreter is about to end.
pub fn stop_if_ending() {
    if is_ending() {
        copyback::run::stop();
    }
}
