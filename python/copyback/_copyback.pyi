"""The native part of the package."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, final

__version__: str
__all__ = [
    "Document",
    "Error",
    "Handed",
    "InputError",
    "RunError",
    "Runs",
    "Sweep",
    "Table",
    "__version__",
    "call",
    "hand_over",
    "listed",
    "main",
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
    def table_names(self) -> list[str]: ...
    def table(self, name: str) -> Table: ...

@final
class Sweep:
    """A sweep that is done."""

    text: str
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

def hand_over(requests: object | Iterable[tuple[Any, ...] | Mapping[str, Any]]) -> Handed: ...
def listed(what: str) -> list[tuple[str, str]]: ...
def main(words: Sequence[str], package: object | None = None) -> int: ...
def call(
    words: Sequence[str],
    keep: Sequence[str],
    hear: Callable[[list[tuple[str, int | None, int, bool]]], None] | None = None,
) -> Runs | Sweep | Document | str: ...
