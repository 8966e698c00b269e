//! Victim policies of Python.

use super::borrowed::{Borrowed, gone};
use super::columns::{self, Array, Column, Kind};
use super::thread::attach;
use super::{KEEP_COPIES, Maker, Object};
use copyback::ftl::blocks::{Block, Blocks};
use copyback::ftl::victim::plugin::Plugin;
use copyback::ftl::victim::{VictimPolicy, VictimView as View};
use copyback::run::policies::PolicyMaker;
use copyback::sim::index::{BlockId, PlaneId};
use pyo3::exceptions::PyIndexError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::collections::BTreeMap;
use std::mem::offset_of;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub(super) fn maker(maker: Maker) -> PolicyMaker {
    PolicyMaker::Victim(Arc::new(move |_, _| attach(|py| Box::new(Policy::new(py, maker.make(py))))))
}

/// The fields of a block that a view shows, each with its offset in the block.
pub(super) const FIELDS: [(&str, usize, Kind); 5] = [
    ("valid", offset_of!(Block, valid), columns::U16),
    ("written", offset_of!(Block, written), columns::U16),
    ("state", offset_of!(Block, state), columns::U8),
    ("erases", offset_of!(Block, erases), columns::U32),
    ("closed_at", offset_of!(Block, closed_at), columns::U64),
];

/// The columns of some planes that the policy has read so far.
type Shown = [Option<Array>; FIELDS.len()];

/// The arrays that a view exposes.
#[derive(Default)]
struct ExposedArrays {
    columns: Shown,
    /// Columns that threads are making.
    in_making: u32,
    is_over: bool,
}

/// The blocks from which a victim policy chooses: each array has an entry for each block.
///
/// The arrays have unsigned integers, so that `-view.valid` wraps around. Convert an array before you calculate with
/// it: `view.valid.astype(float)`.
#[pyclass(frozen, module = "copyback")]
pub struct VictimView {
    view: Borrowed<View<'static>>,
    exposed: Mutex<ExposedArrays>,
}

impl VictimView {
    /// The first block of the planes to choose from, and all of their blocks.
    fn blocks<'a>(view: &View<'a>) -> (BlockId, &'a [Block]) {
        let (first, count) = (view.blocks.id(view.planes.first(), 0), view.planes.count() * view.blocks.per_plane());
        (first, view.blocks.run(first, count))
    }

    /// The lock is never held during calls of Python, which may run another thread.
    fn exposed(&self) -> MutexGuard<'_, ExposedArrays> {
        self.exposed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn field(&self, py: Python<'_>, at: usize) -> PyResult<Py<PyAny>> {
        let (_, offset, kind) = FIELDS[at];
        let column = self.view.with(|view| Column::new(Self::blocks(view).1, offset, kind))?;
        {
            let mut exposed = self.exposed();
            if exposed.is_over {
                return Err(gone());
            }
            if let Some(array) = exposed.columns[at].as_ref().filter(|array| array.shows(&column)) {
                return Ok(array.get(py));
            }
            exposed.in_making += 1;
        }
        // Python may run another thread meanwhile, even the thread that ends the view; that thread sees this column in
        // the count.
        let made = Array::new(py, column);
        let mut exposed = self.exposed();
        exposed.in_making -= 1;
        if exposed.is_over {
            return Err(gone());
        }
        let made = made?;
        let array = made.get(py);
        let before = exposed.columns[at].replace(made);
        drop(exposed);
        drop(before);
        Ok(array)
    }

    /// Takes all columns back; returns the name of one that other code keeps or is making.
    fn end(&self) -> (Shown, Option<&'static str>) {
        self.view.end();
        let mut exposed = self.exposed();
        exposed.is_over = true;
        let columns = std::mem::take(&mut exposed.columns);
        let in_making = (exposed.in_making > 0).then_some("an array");
        drop(exposed);
        let is_kept = |array: &Option<Array>| array.as_ref().is_some_and(Array::is_referred_to);
        let kept = columns.iter().zip(FIELDS).find(|(array, _)| is_kept(array)).map(|(_, (name, ..))| name);
        (columns, kept.or(in_making))
    }
}

#[pymethods]
impl VictimView {
    /// Units of each block that hold the newest version of their data: `uint16`.
    #[getter]
    fn valid(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.field(py, 0)
    }

    /// Units of each block that are programmed, padded or skipped, programs in progress included: `uint16`.
    #[getter]
    fn written(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.field(py, 1)
    }

    /// The state of each block, a `BlockState`: `uint8`. The candidates are the blocks that are `FULL`.
    #[getter]
    fn state(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.field(py, 2)
    }

    /// Erases of each block so far: `uint32`.
    #[getter]
    fn erases(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.field(py, 3)
    }

    /// The value of `now` when each block became full: `uint64`.
    #[getter]
    fn closed_at(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.field(py, 4)
    }

    /// Units that the drive has written so far.
    #[getter]
    fn now(&self) -> PyResult<u64> {
        self.view.with(|view| view.now)
    }

    /// The number, on the drive, of the first block: entry 0 of the arrays.
    #[getter]
    fn first_block(&self) -> PyResult<u32> {
        self.view.with(|view| Self::blocks(view).0.0)
    }

    /// The planes to choose from: the first, and how many.
    #[getter]
    fn planes(&self) -> PyResult<(u32, u32)> {
        self.view.with(|view| (view.planes.first().0, view.planes.count()))
    }

    /// Blocks in a plane.
    #[getter]
    fn blocks_per_plane(&self) -> PyResult<u32> {
        self.view.with(|view| view.blocks.per_plane())
    }

    /// Units in a block.
    #[getter]
    fn units_per_block(&self) -> PyResult<u32> {
        self.view.with(|view| view.blocks.units_per_block)
    }

    /// Pages in a block.
    #[getter]
    fn pages_per_block(&self) -> PyResult<u32> {
        self.view.with(|view| view.geometry.pages_per_block)
    }

    /// Page offsets of the reads that wait for other planes of the die, each once. Only policies whose `matches_reads`
    /// is true get them.
    #[getter]
    fn read_offsets(&self) -> PyResult<Vec<u32>> {
        self.view.with(|view| view.read_offsets.to_vec())
    }

    /// Whether a page of the block at this entry holds valid data.
    fn is_page_valid(&self, block: u32, page_offset: u32) -> PyResult<bool> {
        self.view.with(|view| {
            let (first, blocks) = Self::blocks(view);
            let is_there = (block as usize) < blocks.len() && page_offset < view.geometry.pages_per_block;
            let valid = is_there.then(|| view.is_page_valid(BlockId(first.0 + block), page_offset));
            valid.ok_or_else(|| PyIndexError::new_err(format!("there is no page {page_offset} of block {block}")))
        })?
    }
}

/// The policy of a drive.
struct Policy {
    object: Object,
    hears_close: bool,
    hears_invalidate: bool,
    hears_take: bool,
    matches_reads: bool,
    /// The columns that the policy has read, by planes (the first, and how many).
    shown: BTreeMap<(u32, u32), Shown>,
}

impl Policy {
    fn new(py: Python<'_>, object: Object) -> Self {
        let matches_reads = object.object.bind(py).getattr("matches_reads").and_then(|value| value.is_truthy());
        let matches_reads = object.answered(py, matches_reads);
        Self {
            hears_close: object.overrides(py, "on_close"),
            hears_invalidate: object.overrides(py, "on_invalidate"),
            hears_take: object.overrides(py, "on_take"),
            matches_reads,
            shown: BTreeMap::new(),
            object,
        }
    }

    /// Reports a block to the policy: its number on the drive and its valid units.
    fn tell(&self, method: &str, blocks: &Blocks, block: BlockId) {
        attach(|py| self.object.tell(py, &PyString::intern(py, method), (block.0, blocks[block].valid)));
    }
}

impl VictimPolicy for Policy {
    fn on_close(&mut self, blocks: &Blocks, _plane: PlaneId, block: BlockId) {
        if self.hears_close {
            self.tell("on_close", blocks, block);
        }
    }

    fn on_invalidate(&mut self, blocks: &Blocks, _plane: PlaneId, block: BlockId) {
        if self.hears_invalidate {
            self.tell("on_invalidate", blocks, block);
        }
    }

    fn on_take(&mut self, blocks: &Blocks, _plane: PlaneId, block: BlockId) {
        if self.hears_take {
            self.tell("on_take", blocks, block);
        }
    }

    fn pick(&mut self, view: View<'_>) -> Option<BlockId> {
        let planes = (view.planes.first().0, view.planes.count());
        let at: Option<u32> = attach(|py| {
            // SAFETY: the view is taken back before this call returns, and no code writes the drive meanwhile.
            let borrowed = unsafe { Borrowed::new(NonNull::from(&view).cast()) };
            let shown = self.shown.remove(&planes).unwrap_or_default();
            let exposed = Mutex::new(ExposedArrays { columns: shown, ..ExposedArrays::default() });
            let shown = Py::new(py, VictimView { view: borrowed, exposed });
            let shown = self.object.answered(py, shown);
            let (answer, (columns, kept)) = self.object.asked(py, intern!(py, "pick"), (&shown,), || {
                let (columns, kept) = shown.get().end();
                if kept.is_some() {
                    // Later reads of the array find this memory, which is never freed.
                    view.blocks.keep_for_ever();
                }
                (columns, kept)
            });
            if let Some(column) = kept {
                self.object.fail(format!("kept `{column}` of a view beyond its call"), Some(KEEP_COPIES));
            }
            self.shown.insert(planes, columns);
            self.object.value(
                &answer,
                "pick() answers with an entry of the view's arrays as an int (`int(...)`), or with None",
            )
        });
        at.map(|at| BlockId(VictimView::blocks(&view).0.0.saturating_add(at)))
    }

    fn matches_reads(&self) -> bool {
        self.matches_reads
    }
}

impl Plugin for Policy {
    fn copied(&self) -> Box<dyn Plugin> {
        attach(|py| Box::new(Self { object: self.object.copied(py), shown: BTreeMap::new(), ..*self }))
    }
}
