//! Order and preemption policies of Python. Both see a die and its queued requests.

use super::borrowed::Borrowed;
use super::thread::attach;
use super::{Maker, Object};
use copyback::dispatch::order::{self, OrderPolicy};
use copyback::run::policies::PolicyMaker;
use copyback::sim::index::PlaneId;
use copyback::tasks::gc::preemption::{self, Candidate, NextStep, State};
use copyback::tasks::view::{self, Class, Waiting};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use std::ptr::NonNull;
use std::sync::Arc;

/// The names of classes, as Python writes them.
const CLASSES: [(&str, Class); 3] = [("gc", Class::Gc), ("read", Class::Read), ("write", Class::Write)];

fn class_named(name: &str) -> PyResult<Class> {
    let found = CLASSES.into_iter().find(|(known, _)| *known == name);
    found
        .map(|(_, class)| class)
        .ok_or_else(|| PyValueError::new_err(format!("`{name}` is none of gc, read and write")))
}

/// A queued request: its position in the order of arrival, its arrival time, its units, whether it is urgent, and its
/// plane, if it has one.
type Request = (u64, u64, u32, bool, Option<u32>);

fn request(waiting: Waiting) -> Request {
    let plane = waiting.plane.is_some().then_some(waiting.plane.0);
    (waiting.came, waiting.arrival_ns, waiting.units, waiting.is_urgent, plane)
}

/// A die, the time, and the queued requests. Each value is computed when you read it.
#[pyclass(frozen, module = "copyback")]
pub struct DieView {
    die: Borrowed<dyn view::DieView>,
}

impl DieView {
    /// # Safety
    /// See [`Borrowed::new`].
    unsafe fn borrowed(py: Python<'_>, die: &dyn view::DieView) -> PyResult<Py<Self>> {
        // SAFETY: only the lifetime changes; the caller vouches for it.
        let die = unsafe { std::mem::transmute::<&dyn view::DieView, &'static dyn view::DieView>(die) };
        // SAFETY: the caller guarantees it.
        Py::new(py, Self { die: unsafe { Borrowed::new(NonNull::from(die)) } })
    }

    fn plane(die: &dyn view::DieView, offset: u32) -> PyResult<PlaneId> {
        let geometry = die.geometry();
        if offset < geometry.planes_per_die {
            return Ok(PlaneId(die.die().0 * geometry.planes_per_die + offset));
        }
        Err(PyValueError::new_err(format!(
            "a die has planes 0 to {}, and {offset} is none",
            geometry.planes_per_die - 1
        )))
    }
}

#[pymethods]
impl DieView {
    /// The clock.
    #[getter]
    fn now_ns(&self) -> PyResult<u64> {
        self.die.with(|die| die.now_ns())
    }

    /// The number of the die on its drive.
    #[getter]
    fn die(&self) -> PyResult<u32> {
        self.die.with(|die| die.die().0)
    }

    /// Planes of a die.
    #[getter]
    fn planes(&self) -> PyResult<u32> {
        self.die.with(|die| die.geometry().planes_per_die)
    }

    /// The number of requests of a class (`"gc"`, `"read"`, `"write"`) that wait at the die, in its queue or for
    /// admission; for `"gc"`, collections that wait for the die, too. With `plane`, only those in the die's queue that
    /// access this plane.
    #[pyo3(signature = (class_, plane = None))]
    fn waiting(&self, class_: &str, plane: Option<u32>) -> PyResult<u32> {
        let class = class_named(class_)?;
        self.die.with(|die| match plane {
            None => Ok(die.waiting(class)),
            Some(offset) => Ok(die.waiting_for(class, Self::plane(die, offset)?)),
        })?
    }

    /// The first read or write in the die's queue, or the first for a plane of the die: `(came, arrival_ns, units,
    /// is_urgent, plane or None)`; `None` if there is none. Always `None` for `"gc"`.
    #[pyo3(signature = (class_, plane = None))]
    fn first(&self, class_: &str, plane: Option<u32>) -> PyResult<Option<Request>> {
        let class = class_named(class_)?;
        self.die.with(|die| match plane {
            None => Ok(die.first(class).map(request)),
            Some(offset) => Ok(die.first_for(class, Self::plane(die, offset)?).map(request)),
        })?
    }

    /// Erased blocks of a plane of the die.
    fn free_blocks(&self, plane: u32) -> PyResult<u32> {
        self.die.with(|die| Ok(die.free_blocks(Self::plane(die, plane)?)))?
    }

    /// Pages of a plane of the die that can be programmed before a block is erased.
    fn free_pages(&self, plane: u32) -> PyResult<u32> {
        self.die.with(|die| Ok(die.free_pages(Self::plane(die, plane)?)))?
    }

    /// The remaining work of the collection that has reserved the die: `(plane, pages to read, pages to program,
    /// steps)`; `None` if no collection has.
    #[getter]
    fn work_left(&self) -> PyResult<Option<(u32, u32, u32, u32)>> {
        self.die.with(|die| {
            let left = die.work_left()?;
            Some((left.plane.0 % die.geometry().planes_per_die, left.pages_to_read, left.pages_to_program, left.steps))
        })
    }
}

/// The classes of requests that may run on a die now.
#[pyclass(frozen, get_all, module = "copyback")]
pub struct OrderView {
    /// The classes with at least one request that may run.
    may_run: Vec<&'static str>,
    /// For each class (gc, read, write), the position in the order of arrival of its first request that may run; `None`
    /// if none may.
    came: [Option<u64>; 3],
    /// The die.
    die: Py<DieView>,
}

pub(super) fn order_maker(maker: Maker) -> PolicyMaker {
    let make = move |_: &_| attach(|py| Box::new(OrderOf(maker.make(py))) as Box<dyn OrderPolicy + Send>);
    PolicyMaker::Order(Arc::new(make))
}

/// The order policy of a drive.
struct OrderOf(Object);

impl OrderPolicy for OrderOf {
    fn pick(&mut self, view: &order::OrderView<'_>) -> Option<Class> {
        attach(|py| {
            // SAFETY: the die is taken back before this call returns.
            let die = self.0.answered(py, unsafe { DieView::borrowed(py, view.die) });
            let may_run = CLASSES.iter().filter(|(_, class)| view.may_run(*class)).map(|(name, _)| *name).collect();
            let came = view.heads.came.map(|came| (came != u64::MAX).then_some(came));
            let shown = self.0.answered(py, Py::new(py, OrderView { may_run, came, die: die.clone_ref(py) }));
            let (answer, ()) = self.0.asked(py, intern!(py, "pick"), (shown,), || die.get().die.end());
            let wanted = "pick() answers with one of view.may_run: \"gc\", \"read\" or \"write\"";
            let named: String = self.0.value(&answer, wanted);
            let found = CLASSES.iter().find(|(name, _)| *name == named);
            let class = found.unwrap_or_else(|| self.0.fail(format!("answered '{named}'"), Some(wanted))).1;
            Some(class)
        })
    }

    fn puts_gc_first(&self) -> bool {
        attach(|py| self.0.object.bind(py).getattr("puts_gc_first").and_then(|v| v.is_truthy()).unwrap_or(false))
    }
}

/// A request that waits at the die of a collection, before the collection's next step.
#[pyclass(frozen, get_all, module = "copyback")]
pub struct PreemptionView {
    /// The collection's next step: `"read"`, `"program"`, `"erase"`, or `"elsewhere"` while it works on another die.
    step: &'static str,
    /// How low free blocks are. 1: not below the hard watermark; all requests may preempt. 2: below it; writes may not
    /// preempt. 3: below it, if an urgent write waits or `preemption.at_hard` is `"all"`; no request may preempt.
    state: u8,
    /// Units that the collection has moved, in pages, rounded up.
    pages_moved: u32,
    /// Whether the request is a write.
    is_write: bool,
    /// Whether it accesses the plane that is being collected.
    is_on_its_plane: bool,
    /// Its arrival time.
    arrival_ns: u64,
    /// The clock.
    now_ns: u64,
    /// The die.
    die: Py<DieView>,
}

pub(super) fn preemption_maker(maker: Maker) -> PolicyMaker {
    let make = move |_: &_| {
        attach(|py| {
            let object = maker.make(py);
            let hears_points = object.overrides(py, "on_point");
            Box::new(PreemptionOf { object, hears_points }) as Box<dyn preemption::plugin::Plugin>
        })
    };
    PolicyMaker::Preemption(Arc::new(make))
}

/// The preemption policy of a drive.
struct PreemptionOf {
    object: Object,
    hears_points: bool,
}

impl preemption::plugin::Plugin for PreemptionOf {
    fn on_point(&mut self, die: &dyn view::DieView) {
        if !self.hears_points {
            return;
        }
        attach(|py| {
            // SAFETY: the die is taken back before this call returns.
            let die = self.object.answered(py, unsafe { DieView::borrowed(py, die) });
            self.object.asked(py, intern!(py, "on_point"), (&die,), || die.get().die.end());
        });
    }

    fn admits(&self, view: &preemption::PreemptionView<'_>, candidate: Candidate) -> bool {
        let step = match view.step {
            NextStep::Read => "read",
            NextStep::Program => "program",
            NextStep::Erase => "erase",
            NextStep::Elsewhere => "elsewhere",
        };
        let state = match view.state {
            State::AllAllowed => 1,
            State::WritesProhibited => 2,
            State::AllProhibited => 3,
        };
        let Candidate { is_write, is_on_its_plane, arrival_ns } = candidate;
        let (pages_moved, now_ns) = (view.pages_moved, view.now_ns);
        attach(|py| {
            // SAFETY: the die is taken back before this call returns.
            let die = self.object.answered(py, unsafe { DieView::borrowed(py, view.die) });
            let own = die.clone_ref(py);
            let shown =
                PreemptionView { step, state, pages_moved, is_write, is_on_its_plane, arrival_ns, now_ns, die: own };
            let shown = self.object.answered(py, Py::new(py, shown));
            let (answer, ()) = self.object.asked(py, intern!(py, "admits"), (shown,), || die.get().die.end());
            self.object.value(&answer, "admits() answers with True or False")
        })
    }
}
