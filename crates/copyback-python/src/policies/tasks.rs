//! Background tasks of Python.

use super::columns::{Array, Column};
use super::thread::attach;
use super::victim::FIELDS;
use super::{KEEP_COPIES, Maker, Object};
use copyback::ftl::blocks::Blocks;
use copyback::run::policies::PolicyMaker;
use copyback::sim::index::BlockId;
use copyback::tasks::background::BackgroundTask;
use pyo3::call::PyCallArgs;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::cell::Cell;
use std::sync::Arc;

/// All blocks of the drive: each array has an entry for each block.
///
/// The arrays have unsigned integers, so that `-view.valid` wraps around. Convert an array before you calculate with
/// it: `view.valid.astype(float)`.
#[pyclass(frozen, get_all, module = "copyback")]
pub struct TaskView {
    /// Units of each block that hold the newest version of their data: `uint16`.
    valid: Py<PyAny>,
    /// Units of each block that are programmed, padded or skipped, programs in progress included: `uint16`.
    written: Py<PyAny>,
    /// The state of each block, a `BlockState`: `uint8`. Only blocks that are `FULL` can be relocated.
    state: Py<PyAny>,
    /// Erases of each block so far: `uint32`.
    erases: Py<PyAny>,
    /// The units that the drive had written when each block became full: `uint64`.
    closed_at: Py<PyAny>,
    /// Blocks in a plane.
    blocks_per_plane: u32,
    /// Units in a block.
    units_per_block: u32,
    /// The seed of the drive, for the task's random numbers.
    seed: u64,
    /// The time.
    now_ns: u64,
}

pub(super) fn maker(maker: Maker) -> PolicyMaker {
    let make = move |blocks: &Blocks, seed| {
        attach(|py| Box::new(Task::new(py, maker.make(py), blocks, seed)) as Box<dyn BackgroundTask + Send>)
    };
    PolicyMaker::Task(Arc::new(make))
}

/// The task of a drive.
struct Task {
    object: Object,
    hears_read: bool,
    hears_program: bool,
    hears_erase: bool,
    hears_alarm: bool,
    has_alarm: bool,
    seed: u64,
    /// The last answers of `is_due` and `alarm_ns`. After each call that may change them, and at each alarm, the policy
    /// is asked again.
    is_due: Cell<bool>,
    alarm_ns: Cell<Option<u64>>,
}

impl Task {
    fn new(py: Python<'_>, object: Object, blocks: &Blocks, seed: u64) -> Self {
        let task = Self {
            hears_read: object.overrides(py, "on_read"),
            hears_program: object.overrides(py, "on_program"),
            hears_erase: object.overrides(py, "on_erase"),
            hears_alarm: object.overrides(py, "on_alarm"),
            has_alarm: object.overrides(py, "alarm_ns"),
            seed,
            is_due: Cell::new(false),
            alarm_ns: Cell::new(None),
            object,
        };
        if task.object.overrides(py, "on_start") {
            task.shown(py, intern!(py, "on_start"), blocks, 0);
        }
        task.query(py, 0);
        task
    }

    /// Calls a method with a view of the blocks.
    fn shown<'py>(
        &self,
        py: Python<'py>,
        method: &Bound<'py, PyString>,
        blocks: &Blocks,
        now_ns: u64,
    ) -> Bound<'py, PyAny> {
        let rows = blocks.run(BlockId(0), blocks.iter().count() as u32);
        let arrays = FIELDS.each_ref().map(|&(_, offset, kind)| {
            let array = Array::new(py, Column::new(rows, offset, kind));
            self.object.answered(py, array)
        });
        let [valid, written, state, erases, closed_at] = arrays.each_ref().map(|array| array.get(py));
        let (blocks_per_plane, units_per_block) = (blocks.per_plane(), blocks.units_per_block);
        let seed = self.seed;
        let view =
            TaskView { valid, written, state, erases, closed_at, blocks_per_plane, units_per_block, seed, now_ns };
        let (answer, kept) = self.object.asked(py, method, (view,), || {
            let kept = arrays.iter().zip(FIELDS).find(|(array, _)| array.is_referred_to());
            if kept.is_some() {
                // Later reads of the array find this memory, which is never freed.
                blocks.keep_for_ever();
            }
            kept.map(|(_, (name, ..))| name)
        });
        if let Some(name) = kept {
            self.object.fail(format!("kept `{name}` of a view beyond its call"), Some(KEEP_COPIES));
        }
        answer
    }

    /// Asks for the answers that the last call may have changed.
    fn query(&self, py: Python<'_>, now_ns: u64) {
        let (answer, ()) = self.object.asked(py, intern!(py, "is_due"), (now_ns,), || ());
        self.is_due.set(self.object.value(&answer, "is_due() answers with True or False"));
        if self.has_alarm {
            let (answer, ()) = self.object.asked(py, intern!(py, "alarm_ns"), (now_ns,), || ());
            self.alarm_ns
                .set(self.object.value(&answer, "alarm_ns() answers with a time in ns as an int, or with None"));
        }
    }

    fn tell(&self, method: &str, shown: impl for<'py> PyCallArgs<'py>, now_ns: u64) {
        attach(|py| {
            self.object.tell(py, &PyString::intern(py, method), shown);
            self.query(py, now_ns);
        });
    }
}

impl BackgroundTask for Task {
    fn on_read(&mut self, block: BlockId, now_ns: u64) {
        if self.hears_read {
            self.tell("on_read", (block.0, now_ns), now_ns);
        }
    }

    fn on_program(&mut self, block: BlockId, page_offset: u32, now_ns: u64) {
        if self.hears_program {
            self.tell("on_program", (block.0, page_offset, now_ns), now_ns);
        }
    }

    fn on_erase(&mut self, block: BlockId, now_ns: u64) {
        if self.hears_erase {
            self.tell("on_erase", (block.0, now_ns), now_ns);
        }
    }

    fn on_alarm(&mut self, now_ns: u64) {
        if self.hears_alarm {
            self.tell("on_alarm", (now_ns,), now_ns);
        } else {
            attach(|py| self.query(py, now_ns));
        }
    }

    fn alarm_ns(&self, _now_ns: u64) -> Option<u64> {
        self.alarm_ns.get()
    }

    fn is_due(&self, _now_ns: u64) -> bool {
        self.is_due.get()
    }

    fn pick(&self, blocks: &Blocks, now_ns: u64) -> Option<BlockId> {
        attach(|py| {
            let answer = self.shown(py, intern!(py, "pick"), blocks, now_ns);
            let wanted = "pick() answers with the number of a block as an int (`int(...)`), or with None";
            let picked: Option<u32> = self.object.value(&answer, wanted);
            self.query(py, now_ns);
            picked.map(BlockId)
        })
    }
}
