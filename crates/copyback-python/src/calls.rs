//! Calls of commands. A command runs on a thread of its own; the calling thread handles signals and reports progress.

use crate::cluster::PythonCluster;
use crate::exit;
use crate::options::Options;
use crate::package::PythonPackage;
use crate::policies::SuppliedPolicy;
use crate::results::object;
use copyback_cli::api::{self, Done, Failure, Package, RunCall, SweepCall, Watch};
use copyback_lab::progress::ProgressSink;
use copyback_workload::temporary::Permission;
use pyo3::exceptions::PySystemExit;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// How often the calling thread checks for signals and reports progress.
pub const TICK: Duration = Duration::from_millis(10);
/// How long an interrupted command may take to end. A command that takes longer ends later, and its result is dropped.
const PATIENCE: Duration = Duration::from_millis(40);

/// Policies, each for the scheme of a name, or for all schemes.
type Policies<'py> = Vec<(Option<String>, PyRef<'py, SuppliedPolicy>)>;

fn supplied(policies: Policies<'_>) -> Vec<copyback_lab::SuppliedPolicy> {
    policies.into_iter().map(|(scheme, policy)| policy.of(scheme)).collect()
}

/// Simulates one scheme. `options` has the arguments of `copyback.run` by name; `schemes`, `settings` and `keep` are
/// lists of texts.
///
/// `on_progress` is called regularly with two lists: `(name, total or None, done, is_over)` for each part of the work,
/// and the log lines since the last call.
#[pyfunction]
#[pyo3(signature = (options, policies = Vec::new(), on_progress = None))]
pub fn run(
    py: Python<'_>,
    options: Bound<'_, PyDict>,
    policies: Policies<'_>,
    on_progress: Option<Py<PyAny>>,
) -> PyResult<Py<PyAny>> {
    let options = Options::new(options);
    let (call, drawings) = (options.run_call(supplied(policies))?, options.drawings()?);
    options.refuse_unknown()?;
    perform(py, on_progress.as_ref(), move |watch| {
        let call = RunCall { sink: ProgressSink::Program(watch), ..call };
        api::run(call, &drawings).map(|runs| Done::Runs(Box::new(runs)))
    })
}

/// Simulates several schemes. The arguments are those of `run`.
#[pyfunction]
#[pyo3(signature = (options, policies = Vec::new(), on_progress = None))]
pub fn compare(
    py: Python<'_>,
    options: Bound<'_, PyDict>,
    policies: Policies<'_>,
    on_progress: Option<Py<PyAny>>,
) -> PyResult<Py<PyAny>> {
    let options = Options::new(options);
    let call = options.run_call(supplied(policies))?;
    options.refuse_unknown()?;
    perform(py, on_progress.as_ref(), move |watch| {
        let call = RunCall { sink: ProgressSink::Program(watch), ..call };
        api::compare(call).map(|runs| Done::Runs(Box::new(runs)))
    })
}

/// The configuration of a run with its defaults filled in, as TOML. The options are those of `compare`.
#[pyfunction]
pub fn config(py: Python<'_>, options: Bound<'_, PyDict>) -> PyResult<Py<PyAny>> {
    let options = Options::new(options);
    let call = options.run_call(Vec::new())?;
    options.refuse_unknown()?;
    perform(py, None, move |_| api::config(&call).map(Done::Text))
}

/// Runs the cells of a sweep. `options` has the arguments of `copyback.sweep` by name; `schemes` and `settings` are
/// lists of texts. `on_progress` is that of `run`.
///
/// `cluster` is called with the descriptions of cells, and yields `(number, answer of cell or None, error or None)` of
/// each.
#[pyfunction]
#[pyo3(signature = (options, policies = Vec::new(), on_progress = None, cluster = None))]
pub fn sweep(
    py: Python<'_>,
    options: Bound<'_, PyDict>,
    policies: Policies<'_>,
    on_progress: Option<Py<PyAny>>,
    cluster: Option<Py<PyAny>>,
) -> PyResult<Py<PyAny>> {
    let options = Options::new(options);
    let call = options.sweep(supplied(policies))?;
    options.refuse_unknown()?;
    let cluster = cluster.map(PythonCluster::of);
    perform(py, on_progress.as_ref(), move |watch| {
        let call = SweepCall { sink: ProgressSink::Program(watch), ..call };
        api::sweep(&call, cluster)
    })
}

/// Executes a command line. `words` are all words after the program's name. `on_progress` is that of `run`.
#[pyfunction]
#[pyo3(signature = (words, on_progress = None))]
pub fn call(py: Python<'_>, words: Vec<String>, on_progress: Option<Py<PyAny>>) -> PyResult<Py<PyAny>> {
    perform(py, on_progress.as_ref(), move |watch| api::call(&words, &watch))
}

/// Does some work on a thread of its own, and waits for its result.
fn perform(
    py: Python<'_>,
    on_progress: Option<&Py<PyAny>>,
    work: impl FnOnce(Arc<Watch>) -> Result<Done, Failure> + Send + 'static,
) -> PyResult<Py<PyAny>> {
    let (watch, permission) = (Arc::new(Watch::default()), Permission::default());
    let (sender, mut receiver) = channel();
    let under_way = exit::ActiveCall::new(&watch);
    let (own, permits) = (watch.clone(), permission.clone());
    let begun = std::thread::Builder::new().name("copyback".into()).spawn(move || {
        // An inner thread does the work: its end frees its Python thread state before the result is sent.
        let done = std::thread::scope(|threads| threads.spawn(|| permits.during(|| work(own))).join());
        if let Ok(done) = done {
            // If the call was interrupted, the receiver is gone.
            let _ = sender.send(done);
        }
        drop((sender, under_way));
    });
    begun?;
    // After an exception of Python, such as KeyboardInterrupt, the caller may write files of the same names.
    let done = wait(py, &mut receiver, &watch, on_progress).inspect_err(|_| permission.withdraw())?;
    if done.is_err() && exit::is_ending() {
        // The interpreter stopped the run: end this thread without a message.
        return Err(PySystemExit::new_err(()));
    }
    object(py, done)
}

/// Waits for the result, ready for Ctrl-C.
fn wait(
    py: Python<'_>,
    receiver: &mut Receiver<Result<Done, Failure>>,
    watch: &Watch,
    on_progress: Option<&Py<PyAny>>,
) -> PyResult<Result<Done, Failure>> {
    loop {
        match receive(py, receiver, TICK) {
            Ok(done) => {
                tell(py, watch, on_progress)?;
                return Ok(done);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Ok(Err(Failure::run("the simulator broke: see the panic on standard error")));
            }
        }
        let heard = py.check_signals().and_then(|()| tell(py, watch, on_progress));
        if let Err(interrupted) = heard {
            watch.stop();
            let _ = receive(py, receiver, PATIENCE);
            return Err(interrupted);
        }
    }
}

/// Waits without the GIL.
pub fn receive<T: Send>(py: Python<'_>, receiver: &mut Receiver<T>, time: Duration) -> Result<T, RecvTimeoutError> {
    py.detach(move || receiver.recv_timeout(time))
}

fn tell(py: Python<'_>, watch: &Watch, on_progress: Option<&Py<PyAny>>) -> PyResult<()> {
    let Some(on_progress) = on_progress else { return Ok(()) };
    let tracks = watch.tracks().into_iter().map(|track| (track.name, track.total, track.done, track.is_over));
    on_progress.call1(py, (tracks.collect::<Vec<_>>(), watch.take_log())).map(drop)
}

/// The program: executes a command line, prints, and returns the exit code. `package` has the methods that need Python
/// libraries: `check_figures(paper, folder)`, `draw_figures(folder, json, tables)`, and `cluster(address)`, which
/// returns a cluster as `sweep` takes it.
#[pyfunction]
#[pyo3(signature = (words, package = None))]
pub fn main(py: Python<'_>, words: Vec<OsString>, package: Option<Py<PyAny>>) -> u8 {
    let package = package.map(PythonPackage);
    py.detach(|| copyback_cli::main_of(words, package.as_ref().map(|package| package as &dyn Package)))
}
