"""Results as objects."""

from __future__ import annotations

import functools
import html
import itertools
import json
from typing import TYPE_CHECKING, Any, Self

from copyback import _kept
from copyback.figures import Package

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, KeysView

    from copyback import _copyback


class _Results:
    """What the simulator returned. A copy shares its tables, which do not change."""

    def __init__(self, native: Any) -> None:
        self._native = native

    def __copy__(self) -> Self:
        return type(self)(self._native)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return type(self)(self._native)

    def __reduce__(self) -> tuple[type[Self], tuple[Any]]:
        return type(self), (_kept.of(self._native),)


class Runs(_Results):
    """Results of ``run`` and ``compare``.

    ``result["pgc"]`` is the report of a scheme, a ``dict`` with the names of the JSON document. Times are nanoseconds,
    sizes bytes. Tables are attributes: ``summary``, ``latency_histograms``, ``time_series``, and others if the runs
    have them. Each is an Arrow stream: ``polars.DataFrame(result.summary)``,
    ``pandas.DataFrame.from_arrow(result.summary)``, ``pyarrow.table(result.summary)``. docs/output.md describes all
    columns.
    """

    _native: _copyback.Runs

    @property
    def schemes(self) -> list[str]:
        """The schemes, in the order in which they were named."""
        return self._native.schemes

    @functools.cached_property
    def json(self) -> str:
        """The JSON document, the bytes that the program's ``--json`` writes."""
        return self._native.json()

    @functools.cached_property
    def document(self) -> dict[str, Any]:
        """The JSON document."""
        document: dict[str, Any] = json.loads(self.json)
        return document

    @functools.cached_property
    def reports(self) -> dict[str, dict[str, Any]]:
        """The report of each scheme."""
        return {result["scheme"]: result["report"] for result in self.document["results"]}

    def __getitem__(self, scheme: str) -> dict[str, Any]:
        """Return the report of a scheme."""
        return self.reports[scheme]

    def __iter__(self) -> Iterator[str]:
        """Go through the schemes."""
        return iter(self.schemes)

    def __len__(self) -> int:
        """Count the schemes."""
        return len(self.schemes)

    @property
    def tables(self) -> list[str]:
        """Names of the tables that these runs have."""
        return self._native.table_names()

    def table(self, name: str) -> _copyback.Table:
        """Return the table of this name."""
        return self._native.table(name)

    def __getattr__(self, name: str) -> _copyback.Table:
        """Return the table of this name."""
        if name.startswith("_") or name not in self.tables:
            message = f"there is no table or attribute {name!r}; tables: {', '.join(self.tables)}"
            if name in ("gc_events", "requests", "commands"):
                message += f'; ask for it: keep=["{name}"]'
            raise AttributeError(message)
        return self.table(name)

    def __dir__(self) -> list[str]:
        """List attributes, with the tables."""
        return [*super().__dir__(), *self.tables]

    def text(self, columns: int = 80) -> str:
        """Return what the program prints in a terminal of this width."""
        return self._native.text(columns)

    def to_latex(self) -> str:
        """Return the table that the program prints, in one piece, for LaTeX with booktabs.

        Other tables have the same method: ``result.summary.to_latex()``.
        """
        return self._native.latex()

    def __str__(self) -> str:
        """Return what the program prints."""
        return self.text()

    def __repr__(self) -> str:
        """Name the schemes and the tables."""
        return f"<copyback.{self._native.command}: {', '.join(self.schemes)}; tables {', '.join(self.tables)}>"

    def _repr_html_(self) -> str:
        """Draw the table of schemes, with the remarks on the runs, for notebooks."""
        return _html_table(self._native.table_rows(), self._native.remarks())


class Sweep(_Results):
    """Results of ``sweep``: ``table`` has a row for each run, ``latencies`` the histograms of response times.

    Both are Arrow streams: ``polars.DataFrame(sweep.table)``.
    """

    _native: _copyback.Sweep

    @property
    def table(self) -> _copyback.Table:
        """The table: for each run, the varied settings and every number of its report."""
        return self._native.table

    @property
    def latencies(self) -> _copyback.Table:
        """The histograms of response times (ns): a row for each bin of each run, without empty bins."""
        return self._native.latencies

    def to_latex(self) -> str:
        """Return the table that the program prints, with all of its columns, for LaTeX with booktabs.

        ``sweep.table.to_latex(columns=["scheme", "iops"])`` has columns of your choice.
        """
        return self._native.latex

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Hand the table over, by Arrow's PyCapsule protocol."""
        return self.table.__arrow_c_stream__(requested_schema)

    def __str__(self) -> str:
        """Return what the program prints."""
        return self._native.text

    def __repr__(self) -> str:
        """Count the rows."""
        return f"<copyback.sweep: {len(self.table)} runs>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


class Document(_Results):
    """Results of ``reproduce``, ``validate`` and ``trace.info``: a document, and the text that the program prints."""

    _native: _copyback.Document

    @property
    def json(self) -> str:
        """The JSON document, the bytes that the program writes."""
        return self._native.json

    @functools.cached_property
    def document(self) -> dict[str, Any]:
        """The JSON document."""
        document: dict[str, Any] = json.loads(self.json)
        return document

    def __getitem__(self, name: str) -> Any:
        """Return a part of the document."""
        return self.document[name]

    def __iter__(self) -> Iterator[str]:
        """Go through the names of the document's parts."""
        return iter(self.document)

    def __len__(self) -> int:
        """Count the parts."""
        return len(self.document)

    def keys(self) -> KeysView[str]:
        """Return the names of the document's parts, so that ``dict(info)`` has the whole document."""
        return self.document.keys()

    @property
    def tables(self) -> dict[str, _copyback.Table]:
        """For a reproduction: the table of each experiment, with a row for each run."""
        return {experiment: table for experiment, table, _ in self._native.tables}

    @property
    def latencies(self) -> dict[str, _copyback.Table]:
        """For a reproduction: the histograms of response times of each experiment's runs."""
        return {experiment: latencies for experiment, _, latencies in self._native.tables}

    def draw(self, folder: str | os.PathLike[str]) -> str:
        """Draw the figures of a reproduction's paper into a folder; return a line on each."""
        package = Package()
        package.check_figures(self["paper"], folder)
        return package.draw_figures(folder, self.json, self._native.tables)

    @property
    def passed(self) -> bool:
        """Whether the program's exit code would be 0."""
        return self._native.verdict is None

    @property
    def verdict(self) -> _copyback.RunError | None:
        """The reason for an exit code other than 0; ``None`` if it would be 0."""
        return self._native.verdict

    def __str__(self) -> str:
        """Return what the program prints."""
        return self._native.text

    def __repr__(self) -> str:
        """Name the parts of the document."""
        return f"<copyback.Document: {', '.join(self)}>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def _html_table(rows: list[list[str]], remarks: str) -> str:
    """Draw groups of columns, their titles, and each scheme's values, with differences from the first scheme."""
    groups, titles, *lines = rows
    starts = [at for at, group in enumerate(groups) if group or at == 0]
    spans = [until - at for at, until in itertools.pairwise([*starts, len(groups)])]
    of_groups = "".join(
        f'<th colspan="{span}" style="text-align: center">{html.escape(groups[at])}</th>'
        for at, span in zip(starts, spans, strict=True)
    )
    of_titles = "".join(f"<th>{html.escape(title)}</th>" for title in titles)
    body = "".join(_html_row(cells) for cells in lines)
    below = f"<pre>{html.escape(remarks.strip(chr(10)))}</pre>" if remarks.strip() else ""
    return f"<table><thead><tr>{of_groups}</tr><tr>{of_titles}</tr></thead><tbody>{body}</tbody></table>{below}"


def _html_row(cells: list[str]) -> str:
    name, *values = cells
    dim = "" if name else ' style="opacity: 0.65"'
    inner = "".join(f'<td style="white-space: nowrap">{html.escape(cell)}</td>' for cell in values)
    return f"<tr{dim}><th>{html.escape(name)}</th>{inner}</tr>"
