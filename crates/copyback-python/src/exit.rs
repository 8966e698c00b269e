//! The end of the interpreter: runs that are under way then ask nothing of it any more.

use copyback_cli::api::Watch;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Calls whose threads have not ended.
static UNDER_WAY: Mutex<Vec<Weak<Watch>>> = Mutex::new(Vec::new());
/// The interpreter is about to end: nobody begins to ask it anything.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// How long the interpreter waits for them: a policy may be at work.
const PATIENCE: Duration = Duration::from_secs(5);
const TICK: Duration = Duration::from_millis(2);

fn under_way() -> MutexGuard<'static, Vec<Weak<Watch>>> {
    UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Threads that write requests which were handed over, each with a file that it removes where nobody wants it.
static WRITING: AtomicUsize = AtomicUsize::new(0);

/// Such a thread, for as long as this value lives.
pub struct Writing;

impl Writing {
    /// Begins.
    pub fn begin() -> Self {
        WRITING.fetch_add(1, Ordering::SeqCst);
        Self
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        WRITING.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A call whose thread has not ended.
pub struct UnderWay {
    watch: Arc<Watch>,
}

impl UnderWay {
    /// Begins a call.
    pub fn new(watch: &Arc<Watch>) -> Self {
        under_way().push(Arc::downgrade(watch));
        Self { watch: watch.clone() }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        under_way().retain(|other| !other.ptr_eq(&Arc::downgrade(&self.watch)));
    }
}

/// Stops the calls that are under way, and waits until their threads have ended. A thread that came back to the
/// interpreter later would be ended by it in the midst of the simulator, which ends the whole process.
#[pyfunction]
pub fn end_calls(py: Python<'_>) {
    let begun = Instant::now();
    IS_ENDING.store(true, Ordering::SeqCst);
    loop {
        let left: Vec<Arc<Watch>> = under_way().iter().filter_map(Weak::upgrade).collect();
        left.iter().for_each(|watch| watch.stop());
        if (left.is_empty() && WRITING.load(Ordering::SeqCst) == 0) || begun.elapsed() > PATIENCE {
            break;
        }
        drop(left);
        py.detach(|| std::thread::sleep(TICK));
    }
}

/// Ends the run that would ask a policy, where the interpreter is about to end.
pub fn stop_if_ending() {
    if IS_ENDING.load(Ordering::SeqCst) {
        copyback::run::stop();
    }
}
