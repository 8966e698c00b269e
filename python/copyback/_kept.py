"""What a pickled result keeps: its texts, its document and its tables, without the simulator's own objects."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from copyback import _copyback

if TYPE_CHECKING:
    from copyback._copyback import Table

WIDTHS = (80, 100, 120, 160, 240)
"""Widths of a terminal for which the text of a result is kept, in characters."""


@dataclasses.dataclass(frozen=True)
class KeptRuns:
    """Results of ``run`` and ``compare``."""

    command: str
    schemes: list[str]
    document: str
    texts: dict[int, str]
    rows: list[list[str]]
    notes: str
    table_for_latex: str
    all_tables: dict[str, Table]

    @classmethod
    def of(cls, runs: _copyback.Runs) -> KeptRuns:
        """Keep what these runs returned."""
        return cls(
            command=runs.command,
            schemes=runs.schemes,
            document=runs.json(),
            texts={width: runs.text(width) for width in WIDTHS},
            rows=runs.table_rows(),
            notes=runs.remarks(),
            table_for_latex=runs.latex(),
            all_tables={name: runs.table(name) for name in runs.table_names()},
        )

    def json(self) -> str:
        """Return the JSON document."""
        return self.document

    def text(self, columns: int = 80) -> str:
        """Return the text for the widest kept width that fits, or else for the smallest."""
        return self.texts[max((width for width in self.texts if width <= columns), default=min(self.texts))]

    def table_rows(self) -> list[list[str]]:
        """Return the table of ``compare``, cell by cell."""
        return self.rows

    def remarks(self) -> str:
        """Return the remarks on the runs."""
        return self.notes

    def latex(self) -> str:
        """Return the printed table for LaTeX."""
        return self.table_for_latex

    def table_names(self) -> list[str]:
        """Return the names of the tables."""
        return list(self.all_tables)

    def table(self, name: str) -> Table:
        """Return the table of this name."""
        try:
            return self.all_tables[name]
        except KeyError:
            message = f"there is no table `{name}`; there are {', '.join(self.all_tables)}"
            raise KeyError(message) from None


@dataclasses.dataclass(frozen=True)
class KeptSweep:
    """Results of ``sweep``."""

    text: str
    latex: str
    table: Table
    latencies: Table


@dataclasses.dataclass(frozen=True)
class KeptDocument:
    """Results of ``reproduce``, ``validate`` and ``trace.info``."""

    json: str
    text: str
    verdict: _copyback.RunError | None
    tables: list[tuple[str, Table, Table]]


def of(native: Any) -> Any:
    """Keep a result of the simulator; one that was kept before stays."""
    if isinstance(native, _copyback.Runs):
        return KeptRuns.of(native)
    for kind, kept in ((_copyback.Sweep, KeptSweep), (_copyback.Document, KeptDocument)):
        if isinstance(native, kind):
            return kept(**{field.name: getattr(native, field.name) for field in dataclasses.fields(kept)})
    return native
