//! Policies of Python: objects that are asked by the simulator, through the plugins of its axes.
//!
//! A policy is asked on the thread of its run, which takes the GIL for as long as the call lasts. What it is shown is
//! the simulator's own, and is gone when the call returns: see [`borrowed`] and [`columns`].

mod allocation;
mod borrowed;
mod columns;
mod die;
pub mod interrupts;
mod shares;
mod thread;
mod trigger;
mod victim;

pub use allocation::AllocationView;
pub use die::{DieView, OrderView, PreemptionView};
pub use shares::SharesView;
pub use trigger::TriggerView;
pub use victim::VictimView;

use copyback::config::plugins::{self, fail};
use interrupts::{Call, Interrupted, PolicyId};
use pyo3::call::PyCallArgs;
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};
use std::sync::{Arc, Mutex, PoisonError};

/// What helps who keeps arrays of a view.
const KEEP_COPIES: &str = "an array of a view is valid during the call only; keep a copy: view.valid.copy()";

/// The first exception that a policy raised, on any drive.
type Raised = Arc<Mutex<Option<PyErr>>>;

/// The policies of one call: names are theirs alone.
#[pyclass(frozen, module = "copyback")]
pub struct Scope(plugins::Scope);

#[pymethods]
impl Scope {
    #[new]
    fn new() -> Self {
        Self(plugins::Scope::new())
    }
}

impl Scope {
    /// Reads configurations of this thread within the scope, for as long as the returned value lives.
    pub fn enter(&self) -> plugins::Entered {
        self.0.enter()
    }

    /// The same scope.
    pub fn copied(&self) -> Self {
        Self(self.0)
    }
}

/// A policy that is handed in until `close` is called or this value goes.
#[pyclass(frozen, module = "copyback")]
pub struct Plugged {
    axis: &'static str,
    name: String,
    plugged: Mutex<Option<plugins::Plugged>>,
    id: PolicyId,
    raised: Raised,
}

#[pymethods]
impl Plugged {
    /// The table of the configuration that chooses it, such as `"victim"`.
    #[getter]
    fn axis(&self) -> &str {
        self.axis
    }

    /// How a configuration names it.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// Takes the policy away, however long a traceback keeps this object, and interrupts calls under way.
    fn close(&self, py: Python<'_>) {
        interrupts::interrupt(py, Some(self.id));
        let plugged = self.plugged.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(plugged);
    }

    /// What the policy raised, once; `None` where it raised nothing.
    fn raised(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        let raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner).take();
        raised.map(|error| error.into_value(py).into_any())
    }
}

/// Hands a policy in: an object, of which every drive gets a copy (`copy.deepcopy`), or a class or function that makes
/// one. `axis` says what it decides.
#[pyfunction]
pub fn plug_in(scope: &Scope, axis: &str, policy: Bound<'_, PyAny>) -> PyResult<Plugged> {
    let named = if policy.is_callable() { policy.clone() } else { policy.get_type().into_any() };
    let name = named.getattr("__name__").map_or_else(|_| "policy".to_owned(), |name| name.to_string());
    let (axis, id, raised) = (axis_named(axis)?, PolicyId::new(), Raised::default());
    let maker = Maker { scope: scope.0, id, axis, name, policy: policy.unbind(), raised: raised.clone() };
    let plugged = match axis {
        "victim" => victim::plug_in(maker),
        "order" => die::plug_in_order(maker),
        "preemption" => die::plug_in_preemption(maker),
        "trigger" => trigger::plug_in(maker),
        "admit.shares" => shares::plug_in(maker),
        _ => allocation::plug_in(maker),
    };
    Ok(Plugged { axis, name: plugged.name().to_owned(), plugged: Mutex::new(Some(plugged)), id, raised })
}

fn axis_named(axis: &str) -> PyResult<&'static str> {
    let axes = ["victim", "order", "preemption", "trigger", "admit.shares", "allocation"];
    let known = axes.into_iter().find(|known| *known == axis);
    known.ok_or_else(|| PyValueError::new_err(format!("`{axis}` takes no policies; {} do", axes.join(", "))))
}

/// What makes a drive's policy of what was handed in.
struct Maker {
    scope: plugins::Scope,
    id: PolicyId,
    axis: &'static str,
    name: String,
    policy: Py<PyAny>,
    raised: Raised,
}

impl Maker {
    /// The policy of one more drive.
    fn make(&self, py: Python<'_>) -> Object {
        let policy = self.policy.bind(py);
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
    /// What a call gave; an exception ends the run, and is kept for whoever began it.
    fn answered<T>(&self, py: Python<'_>, result: PyResult<T>) -> T {
        match result {
            Ok(value) => value,
            Err(error) if error.is_instance_of::<Interrupted>(py) => copyback::run::stop(),
            Err(error) => {
                let what = format!(
                    "raised {}",
                    error.value(py).repr().map_or_else(|_| "an exception".into(), |r| r.to_string())
                );
                self.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                self.fail(what, None)
            }
        }
    }

    fn fail(&self, what: impl Into<String>, help: Option<&str>) -> ! {
        fail(self.axis, &self.name, what, help)
    }

    /// Calls a method, takes back what it was shown, and only then looks at what came of it: the answer, and what was
    /// taken back.
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

    /// Tells the policy something that needs no answer.
    fn tell<'py>(&self, py: Python<'py>, method: &Bound<'py, PyString>, shown: impl PyCallArgs<'py>) {
        self.asked(py, method, shown, || ());
    }

    /// The answer of a method as a value of this kind.
    fn value<'py, T: for<'a> FromPyObject<'a, 'py>>(&self, answer: &Bound<'py, PyAny>, wanted: &str) -> T {
        answer.extract().unwrap_or_else(|_| {
            let shown = answer.repr().map_or_else(|_| "something".to_owned(), |shown| shown.to_string());
            self.fail(format!("answered {shown}"), Some(wanted))
        })
    }

    /// A copy in the same state.
    fn copied(&self, py: Python<'_>) -> Self {
        let call = Call::begin(self.id);
        let copy = copy_of(self.object.bind(py));
        drop(call);
        let object = self.answered(py, copy).unbind();
        Self { object, name: self.name.clone(), raised: self.raised.clone(), ..*self }
    }

    /// Whether the policy's class has its own of a method that the base class leaves empty.
    fn overrides(&self, py: Python<'_>, method: &str) -> bool {
        let has_own = |class: &Bound<'_, PyType>| -> PyResult<bool> {
            let method = class.getattr(method)?;
            Ok(!method.hasattr(intern!(py, "_is_left_out"))?)
        };
        has_own(&self.object.bind(py).get_type()).unwrap_or(false)
    }
}
