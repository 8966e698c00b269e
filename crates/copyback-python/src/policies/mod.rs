//! Policies of Python: objects that the simulator calls as supplied policies of its axes.
//!
//! The thread of a run calls its policies, and holds the GIL during the call. A view shows the simulator's own memory,
//! and becomes invalid when the call returns: see [`borrowed`] and [`columns`].

mod allocation;
mod borrowed;
mod columns;
mod die;
pub mod interrupts;
mod shares;
mod tasks;
mod thread;
mod trigger;
mod victim;

pub use allocation::AllocationView;
pub use die::{DieView, OrderView, PreemptionView};
pub use shares::SharesView;
pub use tasks::TaskView;
pub use trigger::TriggerView;
pub use victim::VictimView;

use copyback::config::plugins::fail;
use copyback::run::policies::PolicyMaker;
use interrupts::{Call, Interrupted, PolicyId};
use pyo3::call::PyCallArgs;
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};
use std::sync::{Arc, Mutex, PoisonError};

/// The help for users who keep an array of a view.
const KEEP_COPIES: &str = "an array of a view is valid during the call only; keep a copy: view.valid.copy()";

/// The first exception that a policy raised, on any drive.
type Raised = Arc<Mutex<Option<PyErr>>>;

/// A policy that Python supplies for an experiment, until `close` is called.
#[pyclass(frozen, module = "copyback")]
pub struct SuppliedPolicy {
    name: String,
    maker: PolicyMaker,
    id: PolicyId,
    source: Source,
    raised: Raised,
}

impl SuppliedPolicy {
    /// The policy in an experiment: for one scheme, or for all.
    pub fn of(&self, scheme: Option<String>) -> copyback_lab::SuppliedPolicy {
        copyback_lab::SuppliedPolicy { scheme, name: self.name.clone(), maker: self.maker.clone() }
    }
}

#[pymethods]
impl SuppliedPolicy {
    /// Its axis, such as `"victim"`.
    #[getter]
    fn axis(&self) -> &str {
        self.maker.axis()
    }

    /// Its name in results; the second of two policies with one name gets a number there.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// Ends the policy: interrupts calls under way. Also drops the user's object, because results may keep this value.
    fn close(&self, py: Python<'_>) {
        interrupts::interrupt(py, Some(self.id));
        let object = self.source.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(object);
    }

    /// Returns the exception that the policy raised, once; `None` if it raised none.
    fn raised(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        let raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner).take();
        raised.map(|error| error.into_value(py).into_any())
    }
}

/// Makes a policy of an axis from an object, whose copy (`copy.deepcopy`) every drive gets, or from a class or function
/// that makes one.
#[pyfunction]
pub fn supply(axis: &str, policy: Bound<'_, PyAny>) -> PyResult<SuppliedPolicy> {
    let named = if policy.is_callable() { policy.clone() } else { policy.get_type().into_any() };
    let name = named.getattr("__name__").map_or_else(|_| "policy".to_owned(), |name| name.to_string());
    let (axis, id, raised) = (axis_named(axis)?, PolicyId::new(), Raised::default());
    let source: Source = Arc::new(Mutex::new(Some(policy.unbind())));
    let maker = Maker { id, axis, name: name.clone(), policy: source.clone(), raised: raised.clone() };
    let maker = match axis {
        "victim" => victim::maker(maker),
        "order" => die::order_maker(maker),
        "preemption" => die::preemption_maker(maker),
        "trigger" => trigger::maker(maker),
        "admit.shares" => shares::maker(maker),
        "tasks" => tasks::maker(maker),
        _ => allocation::maker(maker),
    };
    Ok(SuppliedPolicy { name, maker, id, source, raised })
}

/// Letters of a value that an error shows: a policy may answer with a table of a hundred megabytes.
const SHOWN_MAX: usize = 200;

/// The beginning of a value's text; `unnamed` if it has none.
fn shown(value: &Bound<'_, PyAny>, unnamed: &str) -> String {
    let Ok(text) = value.repr() else { return unnamed.to_owned() };
    let text = text.to_string_lossy().into_owned();
    match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

fn axis_named(axis: &str) -> PyResult<&'static str> {
    let axes = ["victim", "order", "preemption", "trigger", "admit.shares", "allocation", "tasks"];
    let known = axes.into_iter().find(|known| *known == axis);
    known.ok_or_else(|| PyValueError::new_err(format!("`{axis}` takes no policies; {} do", axes.join(", "))))
}

/// The user's object, class or function; none when it is closed.
type Source = Arc<Mutex<Option<Py<PyAny>>>>;

/// Makes the policy of a drive from the user's object, class or function.
struct Maker {
    id: PolicyId,
    axis: &'static str,
    name: String,
    policy: Source,
    raised: Raised,
}

impl Maker {
    /// The policy of one more drive.
    fn make(&self, py: Python<'_>) -> Object {
        let policy = self.policy.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|own| own.clone_ref(py));
        // The policy is closed: its caller no longer waits for the run.
        let Some(policy) = policy else { copyback::run::stop() };
        let policy = policy.bind(py);
        let call = Call::begin(self.id);
        let made = if policy.is_callable() { policy.call0() } else { copy_of(policy) };
        drop(call);
        let Self { id, axis, .. } = *self;
        let unmade = Object { id, axis, name: self.name.clone(), object: py.None(), raised: self.raised.clone() };
        let object = unmade.answered(py, made).unbind();
        Object { object, ..unmade }
    }
}

fn copy_of<'py>(policy: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    policy.py().import("copy")?.call_method1("deepcopy", (policy,))
}

/// A drive's policy.
struct Object {
    id: PolicyId,
    axis: &'static str,
    name: String,
    object: Py<PyAny>,
    raised: Raised,
}

impl Object {
    /// Returns the result of a call. An exception ends the run, and is kept for the caller of the command.
    fn answered<T>(&self, py: Python<'_>, result: PyResult<T>) -> T {
        match result {
            Ok(value) => value,
            Err(error) if error.is_instance_of::<Interrupted>(py) => copyback::run::stop(),
            Err(error) => {
                let what = format!("raised {}", shown(error.value(py), "an exception"));
                self.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                self.fail(what, None)
            }
        }
    }

    fn fail(&self, what: impl Into<String>, help: Option<&str>) -> ! {
        fail(self.axis, &self.name, what, help)
    }

    /// Calls a method, and takes its view back before it checks the result. Returns the answer and what `take_back`
    /// returned.
    fn asked<'py, R>(
        &self,
        py: Python<'py>,
        method: &Bound<'py, PyString>,
        shown: impl PyCallArgs<'py>,
        take_back: impl FnOnce() -> R,
    ) -> (Bound<'py, PyAny>, R) {
        let call = Call::begin(self.id);
        let answer = self.object.bind(py).call_method1(method, shown);
        drop(call);
        let back = take_back();
        (self.answered(py, answer), back)
    }

    /// Calls a method whose answer is not used.
    fn tell<'py>(&self, py: Python<'py>, method: &Bound<'py, PyString>, shown: impl PyCallArgs<'py>) {
        self.asked(py, method, shown, || ());
    }

    /// The answer of a method as a value of this kind.
    fn value<'py, T: for<'a> FromPyObject<'a, 'py>>(&self, answer: &Bound<'py, PyAny>, wanted: &str) -> T {
        answer.extract().unwrap_or_else(|_| self.fail(format!("answered {}", shown(answer, "something")), Some(wanted)))
    }

    /// A copy in the same state.
    fn copied(&self, py: Python<'_>) -> Self {
        let call = Call::begin(self.id);
        let copy = copy_of(self.object.bind(py));
        drop(call);
        let object = self.answered(py, copy).unbind();
        Self { object, name: self.name.clone(), raised: self.raised.clone(), ..*self }
    }

    /// Whether the policy's class overrides a method that the base class leaves empty.
    fn overrides(&self, py: Python<'_>, method: &str) -> bool {
        let has_own = |class: &Bound<'_, PyType>| -> PyResult<bool> {
            let method = class.getattr(method)?;
            Ok(!method.hasattr(intern!(py, "_is_left_out"))?)
        };
        has_own(&self.object.bind(py).get_type()).unwrap_or(false)
    }
}
