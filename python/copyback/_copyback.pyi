"""The native part of the package."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, final

import numpy as np
import numpy.typing as npt

_Crew: TypeAlias = Callable[[Sequence[str]], Iterable[tuple[int, str | None, str | None]]]

__version__: str
__all__ = [
    "AllocationView",
    "DieView",
    "Document",
    "Error",
    "Handed",
    "InputError",
    "OrderView",
    "Plugged",
    "PreemptionView",
    "RunError",
    "Runs",
    "Scope",
    "SharesView",
    "Sweep",
    "Table",
    "TriggerView",
    "VictimView",
    "__version__",
    "call",
    "cell",
    "end_calls",
    "hand_over",
    "listed",
    "main",
    "plug_in",
    "styles",
]

class Error(Exception):
    """A command did not do what it was asked."""

    message: str
    """The mistake, in one sentence."""
    help: str | None
    """What helps, where somebody knows."""
    file: str | None
    """The text with the mistake: a file, or an argument such as ``--set``."""
    line: int | None
    """Its line there, counted from 1."""
    column: int | None
    """Its column there, counted from 1."""
    value: str | None
    """The words at fault."""

class InputError(Error):
    """The arguments or an input are wrong, or do not fit together."""

class RunError(Error):
    """A run failed, or a check did not hold."""

@final
class Table:
    """A table of results, an Arrow stream by the PyCapsule protocol."""

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
    """Runs that are done."""

    @property
    def command(self) -> str: ...
    @property
    def schemes(self) -> list[str]: ...
    def json(self) -> str: ...
    def text(self, columns: int = 80) -> str: ...
    def headline(self) -> list[list[str]]: ...
    def remarks(self) -> str: ...
    def latex(self) -> str: ...
    def table_names(self) -> list[str]: ...
    def table(self, name: str) -> Table: ...

@final
class Sweep:
    """A sweep that is done."""

    text: str
    latex: str
    table: Table
    latencies: Table

@final
class Document:
    """A document that is done."""

    json: str
    text: str
    verdict: RunError | None
    tables: list[tuple[str, Table, Table]]

@final
class Handed:
    """Requests that were handed over."""

    @property
    def name(self) -> str: ...

def hand_over(requests: object | Iterable[tuple[Any, ...] | Mapping[str, Any]], most: int | None = None) -> Handed: ...
def end_calls() -> None: ...
def styles(names: Sequence[str]) -> list[tuple[int, str, list[int]]]: ...
def listed(what: str) -> list[tuple[str, str]]: ...
def cell(description: str, sent: Mapping[str, bytes], folder: str) -> str: ...
def main(words: Sequence[str], package: object | None = None) -> int: ...
def call(
    words: Sequence[str],
    keep: Sequence[str],
    hear: Callable[[list[tuple[str, int | None, int, bool]], list[str]], None] | None = None,
    crew: _Crew | None = None,
    scope: Scope | None = None,
) -> Runs | Sweep | Document | str: ...

_Class = Literal["gc", "read", "write"]

@final
class VictimView:
    """The blocks of the planes that a victim policy is asked for, an entry each."""

    @property
    def valid(self) -> npt.NDArray[np.uint16]:
        """Units of each block that hold the newest version of their data."""

    @property
    def written(self) -> npt.NDArray[np.uint16]:
        """Units of each block that are programmed, padded, or being so."""

    @property
    def state(self) -> npt.NDArray[np.uint8]:
        """Where each block is in its life, a ``BlockState``; the candidates are ``FULL``."""

    @property
    def erases(self) -> npt.NDArray[np.uint32]:
        """Erases of each block so far."""

    @property
    def closed_at(self) -> npt.NDArray[np.uint64]:
        """``now`` when each block was full."""

    @property
    def now(self) -> int:
        """Units that the drive has written so far."""

    @property
    def first_block(self) -> int:
        """The drive's number of the first block: entry 0 of the arrays."""

    @property
    def planes(self) -> tuple[int, int]:
        """The first plane that is asked for, and how many."""

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
        """Page offsets of the reads that wait for other planes of the die, each once, where ``matches_reads``."""

    def is_page_valid(self, block: int, page_offset: int) -> bool:
        """Whether a page of the block of this entry holds valid data."""

@final
class DieView:
    """A die, the time, and what waits there. An answer costs when it is asked for."""

    @property
    def now_ns(self) -> int:
        """The clock."""

    @property
    def die(self) -> int:
        """Which die of the drive it is."""

    @property
    def planes(self) -> int:
        """Planes of a die."""

    @property
    def work_left(self) -> tuple[int, int, int, int] | None:
        """What is left of the collection that has the die: plane, pages to read, pages to program, steps."""

    def waiting(self, class_: _Class, plane: int | None = None) -> int:
        """How many requests of a class wait, those for one plane of the die where that is named."""

    def first(self, class_: _Class, plane: int | None = None) -> tuple[int, int, int, bool, int | None] | None:
        """Find the first request of a class: came, arrival_ns, units, is_urgent, plane or None."""

    def free_blocks(self, plane: int) -> int:
        """Erased blocks of a plane of the die."""

    def free_pages(self, plane: int) -> int:
        """Pages of a plane of the die that can be programmed before a block is erased."""

@final
class OrderView:
    """Who may run on a die now."""

    may_run: list[_Class]
    """The classes of which something may run."""
    came: list[int | None]
    """The place in the order of arrival of the first of each class: gc, read, write; ``None`` where none may run."""
    die: DieView
    """The die."""

@final
class PreemptionView:
    """A request that waits at the die of a collection, before a step of that."""

    step: Literal["read", "program", "erase", "elsewhere"]
    """What the collection does next; ``"elsewhere"`` while it works on another die."""
    state: int
    """How far free blocks have fallen: 1, all may go first; 2, below the hard one; 3, and an urgent write waits."""
    pages_moved: int
    """Whole pages that the collection has moved."""
    is_write: bool
    """Whether the request is a write."""
    is_on_its_plane: bool
    """Whether it goes to the plane on which the collection is at work."""
    arrival_ns: int
    """When it arrived."""
    now_ns: int
    """The clock."""
    die: DieView
    """The die."""

@final
class TriggerView:
    """A scope (a plane, a die or the drive, as ``trigger.scope`` says) that may have to collect."""

    @property
    def free(self) -> int:
        """What is free in it: blocks, or pages, as ``trigger.count`` says."""

    @property
    def plane(self) -> int | None:
        """The plane, counted on its die, where planes are the scope."""

    @property
    def is_collecting(self) -> bool:
        """Whether the scope already collects."""

    @property
    def is_below(self) -> bool:
        """What the watermarks say: whether it must collect."""

    @property
    def dies(self) -> int:
        """Dies of the drive."""

    @property
    def planes(self) -> int:
        """Planes of the drive."""

    def queued(self, die: int) -> int:
        """Count requests of the host that are queued at a die of the drive, or wait for its space."""

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
    """Reads and writes of the host, in logical pages, that wait or are under way."""
    reads: int
    """Reads of the host, in logical pages, that have come so far."""
    writes: int
    """Writes of the host, in logical pages, that have come so far."""
    reads_max: int
    """The highest read count of a block, where reads are counted."""
    reads_target: int
    """The read count above which scrubbing starts."""
    gc: float
    """The share of collection up to now, in percent of the slots."""
    scrub: float
    """That of scrubbing."""

@final
class AllocationView:
    """A page that needs a die, and the dies, an entry each."""

    unit: int | None
    """The first logical unit of a page that the host writes; ``None`` of one that a collection moves."""
    channel: int | None
    """The channel that the page has to stay on, where there is parity."""
    queued: npt.NDArray[np.uint32]
    """Requests of the host that are queued at each die, or wait for its space."""
    free_pages: npt.NDArray[np.uint32]
    """Pages of each die that the host may write before it has to wait for space."""
    is_collecting: npt.NDArray[np.uint8]
    """Whether a collection has each die, or waits for it: 0 or 1."""

@final
class Plugged:
    """A policy that is handed in until it is closed, or for as long as this lives."""

    @property
    def axis(self) -> str: ...
    @property
    def name(self) -> str: ...
    def close(self) -> None:
        """Take the policy away, and interrupt calls of it that are under way."""
    def raised(self) -> BaseException | None:
        """Return what the policy raised, once."""

@final
class Scope:
    """The policies of one call: names are theirs alone."""

    def __new__(cls) -> Scope: ...

def plug_in(scope: Scope, axis: str, policy: object) -> Plugged:
    """Hand a policy in: an object, of which every drive gets a copy, or what makes one."""
