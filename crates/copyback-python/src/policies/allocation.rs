//! Allocation policies of Python.

use super::columns::{self, Array, Column};
use super::thread::attach;
use super::{KEEP_COPIES, Maker, Object};
use copyback::ftl::allocation::plugin::{AllocationView as View, Plugin};
use copyback::run::policies::PolicyMaker;
use copyback::sim::index::DieId;
use copyback::sim::shared_table::SharedTable;
use pyo3::intern;
use pyo3::prelude::*;
use std::sync::Arc;

/// A die as the policy sees it.
#[derive(Clone, Copy, Default)]
struct Load {
    queued: u32,
    free_pages: u32,
    is_collecting: u8,
}

/// A page that needs a die, and the drive's dies: each array has an entry for each die.
///
/// The arrays have unsigned integers, so that `-view.queued` wraps around. Convert an array before you calculate with
/// it: `view.queued.astype(float)`.
#[pyclass(frozen, get_all, module = "copyback")]
pub struct AllocationView {
    /// The first logical unit of the page if the host writes it; `None` if a collection moves it.
    unit: Option<u64>,
    /// The channel that the page has to stay on, if the drive has parity.
    channel: Option<u32>,
    /// Flash requests that wait at each die or for its space, plus 1 while the die executes a command: `uint32`.
    queued: Py<PyAny>,
    /// Pages of each die that the host may write before it has to wait for space; if a collection moves the page, the
    /// planes of each die that can take it: `uint32`.
    free_pages: Py<PyAny>,
    /// Whether a collection has reserved each die, or waits for it: `uint8`, 0 or 1. Always 0 if a collection moves the
    /// page, or the page is of a write that has waited for space.
    is_collecting: Py<PyAny>,
}

pub(super) fn maker(maker: Maker) -> PolicyMaker {
    let make = move |geometry: &copyback::flash::geometry::Geometry| {
        let dies = geometry.dies;
        attach(|py| Box::new(Policy::new(py, maker.make(py), dies)) as Box<dyn Plugin>)
    };
    PolicyMaker::Allocation(Arc::new(make))
}

/// The allocation of a drive.
struct Policy {
    object: Object,
    hears_placed: bool,
    dies: u32,
}

impl Policy {
    fn new(py: Python<'_>, object: Object, dies: u32) -> Self {
        Self { hears_placed: object.overrides(py, "on_placed"), object, dies }
    }
}

impl Plugin for Policy {
    fn place(&self, view: &View<'_>) -> DieId {
        let load = |die| Load {
            queued: view.load.queued(die),
            free_pages: view.load.free_pages(die),
            is_collecting: u8::from(view.load.is_collecting(die)),
        };
        // The drive does not store these numbers in one place: each call collects them.
        let loads = SharedTable::new((0..self.dies).map(|die| load(DieId(die))).collect::<Vec<_>>());
        attach(|py| {
            let fields = [
                ("queued", std::mem::offset_of!(Load, queued), columns::U32),
                ("free_pages", std::mem::offset_of!(Load, free_pages), columns::U32),
                ("is_collecting", std::mem::offset_of!(Load, is_collecting), columns::U8),
            ];
            let made = fields.map(|(_, offset, kind)| Array::new(py, Column::new(&loads[..], offset, kind)));
            let arrays = made.map(|array| self.object.answered(py, array));
            let [queued, free_pages, is_collecting] = arrays.each_ref().map(|array| array.get(py));
            let unit = view.unit.map(|unit| u64::from(unit.0));
            let channel = view.channel.map(|channel| channel.0);
            let shown = AllocationView { unit, channel, queued, free_pages, is_collecting };
            let (answer, kept) = self.object.asked(py, intern!(py, "place"), (shown,), || {
                let kept = arrays.iter().zip(fields).find(|(array, _)| array.is_referred_to());
                if kept.is_some() {
                    loads.keep_for_ever();
                }
                kept.map(|(_, (name, ..))| name)
            });
            if let Some(name) = kept {
                self.object.fail(format!("kept `{name}` of a view beyond its call"), Some(KEEP_COPIES));
            }
            DieId(self.object.value(&answer, "place() answers with the number of a die"))
        })
    }

    fn on_placed(&mut self, die: DieId) {
        if self.hears_placed {
            attach(|py| self.object.tell(py, intern!(py, "on_placed"), (die.0,)));
        }
    }

    fn copied(&self) -> Box<dyn Plugin> {
        attach(|py| Box::new(Self { object: self.object.copied(py), ..*self }))
    }
}
