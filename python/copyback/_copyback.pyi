"""The native part of the package."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, Self, TypeAlias, final

import numpy as np
import numpy.typing as npt

_Cluster: TypeAlias = Callable[[Sequence[str]], Iterable[tuple[int, str | None, str | None]]]

__version__: str
__all__ = [
    "AllocationView",
    "DieView",
    "Document",
    "Error",
    "InputError",
    "OrderView",
    "PassedRequests",
    "PreemptionView",
    "RunError",
    "Runs",
    "SharesView",
    "SuppliedPolicy",
    "Sweep",
    "Table",
    "TaskView",
    "TriggerView",
    "VictimView",
    "__version__",
    "call",
    "cell",
    "compare",
    "config",
    "end_calls",
    "listed",
    "main",
    "pass_requests",
    "run",
    "styles",
    "supply",
    "sweep",
]

class Error(Exception):
    """A command failed."""

    message: str
    """The mistake, in one sentence."""
    help: str | None
    """What to do, if that is known."""
    file: str | None
    """The text with the mistake: a file, or an argument such as ``--set``."""
    line: int | None
    """The line of the mistake, counted from 1."""
    column: int | None
    """The column of the mistake, counted from 1."""
    value: str | None
    """The wrong value, as text."""

class InputError(Error):
    """The arguments or an input are wrong, or do not fit together."""

class RunError(Error):
    """A run failed, or a check did not hold."""

@final
class Table:
    """A table of results, an Arrow stream by the PyCapsule protocol."""

    def __new__(cls, name: str, columns: list[tuple[str, str, list[str] | bytes, bytes | None]]) -> Self: ...
    @property
    def name(self) -> str: ...
    @property
    def column_names(self) -> list[str]: ...
    @property
    def num_rows(self) -> int: ...
    def to_dict(self) -> dict[str, list[Any]]: ...
    def to_latex(self, columns: Sequence[str] | None = None, rows: int | None = None) -> str: ...
    def __len__(self) -> int: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class Runs:
    """Results of ``run`` or ``compare``."""

    @property
    def command(self) -> str: ...
    @property
    def schemes(self) -> list[str]: ...
    def json(self) -> str: ...
    def text(self, columns: int = 80) -> str: ...
    def table_rows(self) -> list[list[str]]: ...
    def remarks(self) -> str: ...
    def latex(self) -> str: ...
    def table_names(self) -> list[str]: ...
    def table(self, name: str) -> Table: ...

@final
class Sweep:
    """The result of a sweep."""

    text: str
    latex: str
    table: Table
    latencies: Table

@final
class Document:
    """The document of a reproduction, a validation or a workload."""

    json: str
    text: str
    verdict: RunError | None
    tables: list[tuple[str, Table, Table]]

@final
class PassedRequests:
    """Requests that Python passed to the simulator."""

    @property
    def name(self) -> str: ...

def pass_requests(
    requests: object | Iterable[tuple[Any, ...] | Mapping[str, Any]], most: int | None = None
) -> PassedRequests: ...
def end_calls() -> None: ...
def styles(names: Sequence[str]) -> list[tuple[int, str, list[int]]]: ...
def listed(what: str) -> list[tuple[str, str]]: ...
def cell(description: str, sent: Mapping[str, bytes], folder: str) -> str: ...
def main(words: Sequence[str], package: object | None = None) -> int: ...

_OnProgress: TypeAlias = Callable[[list[tuple[str, int | None, int, bool]], list[str]], None]
_Policies: TypeAlias = Sequence[tuple[str | None, SuppliedPolicy]]

def run(options: Mapping[str, Any], policies: _Policies = ..., on_progress: _OnProgress | None = None) -> Runs: ...
def compare(options: Mapping[str, Any], policies: _Policies = ..., on_progress: _OnProgress | None = None) -> Runs: ...
def config(options: Mapping[str, Any]) -> str: ...
def sweep(
    options: Mapping[str, Any],
    policies: _Policies = ...,
    on_progress: _OnProgress | None = None,
    cluster: _Cluster | None = None,
) -> Sweep: ...
def call(words: Sequence[str], on_progress: _OnProgress | None = None) -> Document | str: ...

_Class = Literal["gc", "read", "write"]

@final
class VictimView:
    """The blocks from which a victim policy chooses: each array has an entry for each block.

    The arrays have unsigned integers, so that ``-view.valid`` wraps around. Convert an array before you calculate with
    it: ``view.valid.astype(float)``.
    """

    @property
    def valid(self) -> npt.NDArray[np.uint16]:
        """Units of each block that hold the newest version of their data."""

    @property
    def written(self) -> npt.NDArray[np.uint16]:
        """Units of each block that are programmed, padded or skipped, programs in progress included."""

    @property
    def state(self) -> npt.NDArray[np.uint8]:
        """The state of each block, a ``BlockState``; the candidates are ``FULL``."""

    @property
    def erases(self) -> npt.NDArray[np.uint32]:
        """Erases of each block so far."""

    @property
    def closed_at(self) -> npt.NDArray[np.uint64]:
        """The value of ``now`` when each block became full."""

    @property
    def now(self) -> int:
        """Units that the drive has written so far."""

    @property
    def first_block(self) -> int:
        """The number, on the drive, of the first block: entry 0 of the arrays."""

    @property
    def planes(self) -> tuple[int, int]:
        """The planes to choose from: the first, and how many."""

    @property
    def blocks_per_plane(self) -> int:
        """Blocks in a plane."""

    @property
    def units_per_block(self) -> int:
        """Units in a block."""

    @property
    def pages_per_block(self) -> int:
        """Pages in a block."""

    @property
    def read_offsets(self) -> list[int]:
        """Page offsets of the reads that wait for other planes of the die, each once, if ``matches_reads`` is true."""

    def is_page_valid(self, block: int, page_offset: int) -> bool:
        """Whether a page of the block at this entry holds valid data."""

@final
class DieView:
    """A die, the time, and the queued requests. Each value is computed when you read it."""

    @property
    def now_ns(self) -> int:
        """The clock."""

    @property
    def die(self) -> int:
        """The number of the die on its drive."""

    @property
    def planes(self) -> int:
        """Planes of a die."""

    @property
    def work_left(self) -> tuple[int, int, int, int] | None:
        """The remaining work of the die's collection: plane, pages to read, pages to program, steps."""

    def waiting(self, class_: _Class, plane: int | None = None) -> int:
        """Count the requests of a class that wait at the die, in its queue or for admission.

        For ``"gc"``, collections that wait for the die count, too. With ``plane``, only those in the die's queue that
        access this plane.
        """

    def first(self, class_: _Class, plane: int | None = None) -> tuple[int, int, int, bool, int | None] | None:
        """Find the first read or write in the queue.

        The values: its position in arrival order, its arrival in ns, its units, whether it is urgent, and its plane or
        ``None``. Always ``None`` for ``"gc"``.
        """

    def free_blocks(self, plane: int) -> int:
        """Erased blocks of a plane of the die."""

    def free_pages(self, plane: int) -> int:
        """Pages of a plane of the die that can be programmed before a block is erased."""

@final
class OrderView:
    """The classes of requests that may run on a die now."""

    may_run: list[_Class]
    """The classes with at least one request that may run."""
    came: list[int | None]
    """For gc, read, write: the position in arrival order of the first that may run; ``None`` if none may."""
    die: DieView
    """The die."""

@final
class PreemptionView:
    """A request that waits at the die of a collection, before the collection's next step."""

    step: Literal["read", "program", "erase", "elsewhere"]
    """The collection's next step; ``"elsewhere"`` while it works on another die."""
    state: int
    """How low free blocks are. 1: all requests may preempt. 2: writes may not. 3: no request may.

    2 and 3 are below the hard watermark. It is 3 if an urgent write waits, or if ``preemption.at_hard`` is ``"all"``.
    """
    pages_moved: int
    """Units that the collection has moved, in pages, rounded up."""
    is_write: bool
    """Whether the request is a write."""
    is_on_its_plane: bool
    """Whether it accesses the plane that is being collected."""
    arrival_ns: int
    """Its arrival time."""
    now_ns: int
    """The clock."""
    die: DieView
    """The die."""

@final
class TriggerView:
    """A scope (a plane, a die or the drive: ``trigger.scope``) that may have to collect."""

    @property
    def free(self) -> int:
        """Free blocks or pages of the scope (``trigger.count``)."""

    @property
    def plane(self) -> int | None:
        """The plane, counted on its die, if the scope is a plane."""

    @property
    def is_collecting(self) -> bool:
        """Whether the scope already collects."""

    @property
    def is_below(self) -> bool:
        """The decision of the watermarks: whether the scope must collect."""

    @property
    def dies(self) -> int:
        """Dies of the drive."""

    @property
    def planes(self) -> int:
        """Planes of the drive."""

    def queued(self, die: int) -> int:
        """Count the flash requests that wait at a die or for its space, plus 1 while the die executes a command."""

    def free_blocks(self, plane: int) -> int:
        """Erased blocks of a plane of the drive."""

@final
class SharesView:
    """The state of the drive at the end of a period."""

    now_ns: int
    """The clock."""
    free_blocks: int
    """Erased blocks of the drive."""
    free_blocks_target: int
    """Erased blocks below which collection starts."""
    outstanding: int
    """Flash requests of the host that wait or are under way."""
    reads: int
    """Logical pages of the reads that have arrived so far."""
    writes: int
    """Logical pages of the writes that have arrived so far."""
    reads_max: int
    """The highest read count of a block, if reads are counted."""
    reads_target: int
    """The read count above which scrubbing starts."""
    gc: float
    """The share of collection up to now, in percent of the slots."""
    scrub: float
    """The share of scrubbing up to now, in percent of the slots."""

@final
class AllocationView:
    """A page that needs a die, and the drive's dies: each array has an entry for each die.

    The arrays have unsigned integers, so that ``-view.queued`` wraps around. Convert an array before you calculate with
    it: ``view.queued.astype(float)``.
    """

    unit: int | None
    """The first logical unit of the page if the host writes it; ``None`` if a collection moves it."""
    channel: int | None
    """The channel that the page has to stay on, if the drive has parity."""
    queued: npt.NDArray[np.uint32]
    """Flash requests that wait at each die or for its space, plus 1 while the die executes a command."""
    free_pages: npt.NDArray[np.uint32]
    """Pages of each die that the host may write before it has to wait for space; if a collection moves the page, the
    planes of each die that can take it.
    """
    is_collecting: npt.NDArray[np.uint8]
    """Whether a collection has reserved each die, or waits for it: 0 or 1.

    Always 0 if a collection moves the page, or the page is of a write that has waited for space.
    """

@final
class TaskView:
    """All blocks of the drive: each array has an entry for each block.

    The arrays have unsigned integers, so that ``-view.valid`` wraps around. Convert an array before you calculate with
    it: ``view.valid.astype(float)``.
    """

    valid: npt.NDArray[np.uint16]
    """Units of each block that hold the newest version of their data."""
    written: npt.NDArray[np.uint16]
    """Units of each block that are programmed, padded or skipped, programs in progress included."""
    state: npt.NDArray[np.uint8]
    """The state of each block, a ``BlockState``. Only blocks that are ``FULL`` can be relocated."""
    erases: npt.NDArray[np.uint32]
    """Erases of each block so far."""
    closed_at: npt.NDArray[np.uint64]
    """The units that the drive had written when each block became full."""
    blocks_per_plane: int
    """Blocks in a plane."""
    units_per_block: int
    """Units in a block."""
    seed: int
    """The seed of the drive, for the task's random numbers."""
    now_ns: int
    """The time."""

@final
class SuppliedPolicy:
    """A policy that is supplied for a call, until ``close``."""

    @property
    def axis(self) -> str: ...
    @property
    def name(self) -> str: ...
    def close(self) -> None:
        """End the policy, and interrupt calls of it that are under way."""
    def raised(self) -> BaseException | None:
        """Return the exception that the policy raised, once."""

def supply(axis: str, policy: object) -> SuppliedPolicy:
    """Make a policy of an axis: from an object, whose copy every drive gets, or a class or function that makes one."""
