//! Trigger policies of Python.

use super::borrowed::Borrowed;
use super::thread::attach;
use super::{Maker, Object};
use copyback::run::policies::PolicyMaker;
use copyback::sim::index::{DieId, PlaneId};
use copyback::tasks::gc::trigger::plugin::{Plugin, TriggerQuery};
use copyback::tasks::view::DriveView;
use pyo3::exceptions::PyIndexError;
use pyo3::intern;
use pyo3::prelude::*;
use std::ptr::NonNull;
use std::sync::Arc;

/// A scope (a plane, a die or the drive: `trigger.scope`) that may have to collect.
#[pyclass(frozen, module = "copyback")]
pub struct TriggerView {
    /// Free blocks or pages of the scope (`trigger.count`).
    #[pyo3(get)]
    free: u32,
    /// The plane, counted on its die, if the scope is a plane; otherwise `None`.
    #[pyo3(get)]
    plane: Option<u32>,
    /// Whether the scope already collects.
    #[pyo3(get)]
    is_collecting: bool,
    /// The decision of the watermarks: whether `free` is below the start watermark, or, during a collection, the stop
    /// watermark.
    #[pyo3(get)]
    is_below: bool,
    drive: Borrowed<dyn DriveView>,
}

#[pymethods]
impl TriggerView {
    /// Dies of the drive.
    #[getter]
    fn dies(&self) -> PyResult<u32> {
        self.drive.with(|drive| drive.geometry().dies)
    }

    /// Planes of the drive.
    #[getter]
    fn planes(&self) -> PyResult<u32> {
        self.drive.with(|drive| drive.geometry().planes)
    }

    /// Flash requests that wait at a die of the drive or for its space, plus 1 while the die executes a command.
    fn queued(&self, die: u32) -> PyResult<u32> {
        self.drive.with(|drive| {
            let queued = (die < drive.geometry().dies).then(|| drive.queued(DieId(die)));
            queued.ok_or_else(|| PyIndexError::new_err(format!("the drive has no die {die}")))
        })?
    }

    /// Erased blocks of a plane of the drive.
    fn free_blocks(&self, plane: u32) -> PyResult<u32> {
        self.drive.with(|drive| {
            let free = (plane < drive.geometry().planes).then(|| drive.free_blocks(PlaneId(plane)));
            free.ok_or_else(|| PyIndexError::new_err(format!("the drive has no plane {plane}")))
        })?
    }
}

pub(super) fn maker(maker: Maker) -> PolicyMaker {
    let make = move |_: &_| attach(|py| Box::new(Policy(maker.make(py))) as Box<dyn Plugin>);
    PolicyMaker::Trigger(Arc::new(make))
}

/// The trigger of a drive.
struct Policy(Object);

impl Plugin for Policy {
    fn wants(&self, query: &TriggerQuery<'_>) -> bool {
        let TriggerQuery { free, plane_offset: plane, is_collecting, is_below, drive } = *query;
        attach(|py| {
            // SAFETY: only the lifetime changes; the drive is taken back before this call returns.
            let drive = unsafe { std::mem::transmute::<&dyn DriveView, &'static dyn DriveView>(drive) };
            // SAFETY: as above.
            let drive = unsafe { Borrowed::new(NonNull::from(drive)) };
            let shown = Py::new(py, TriggerView { free, plane, is_collecting, is_below, drive });
            let shown = self.0.answered(py, shown);
            let (answer, ()) = self.0.asked(py, intern!(py, "wants"), (&shown,), || shown.get().drive.end());
            self.0.value(&answer, "wants() answers with True or False")
        })
    }
}
