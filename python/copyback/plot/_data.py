"""Values of figures: distributions, groups of cells, means over seeds."""

from __future__ import annotations

import difflib
import itertools
import math
import re
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from copyback._results import Sweep

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from copyback._results import Runs

    Columns = dict[str, list[Any]]

_BEFORE_VARIED = ["cell", "case", "device", "workload", "seed"]
_LINES_MAX = 12
"""The most lines that a reader can distinguish."""


@dataclass
class Distribution:
    """Response times of a scheme in a cell: the ends of bins, and the number of requests in each, by seed."""

    scheme: str
    cell: tuple[Any, ...] = ()
    seeds: list[dict[int, int]] = field(default_factory=list)

    def beyond(self) -> tuple[list[int], list[float]]:
        """Return the ends of bins, and the share of all seeds' requests that takes longer than each."""
        together: dict[int, int] = {}
        for bins in self.seeds:
            for end, count in bins.items():
                together[end] = together.get(end, 0) + count
        return beyond(together)


def beyond(bins: Mapping[int, int]) -> tuple[list[int], list[float]]:
    """Return the ends of bins in order, and the share of requests beyond each."""
    ends = sorted(bins)
    left = total = sum(bins.values())
    return ends, [(left := left - bins[end]) / total for end in ends]


def distributions(
    result: Runs | Sweep, of: str, where: Mapping[str, Any] | None
) -> tuple[list[str], list[Distribution]]:
    """Return the distributions of a class by scheme and cell, and the keys in which cells differ.

    Seeds are kept separate.
    """
    is_sweep = isinstance(result, Sweep)
    if not is_sweep and set(where or ()) - {"scheme"}:
        refuse_where(where)
    columns = (result.latencies if isinstance(result, Sweep) else result.latency_histograms).to_dict()
    if of not in columns["class"]:
        message = f"no request is of the class {of!r}; classes: {', '.join(dict.fromkeys(columns['class']))}"
        raise KeyError(message)
    varied = varied_of(columns) if is_sweep else []
    rows = [row for row in _chosen(columns, where, varied) if columns["class"][row] == of]
    keys = [key for key in varied if len({columns[key][row] for row in rows}) > 1]
    found: dict[tuple[tuple[Any, ...], str], Distribution] = {}
    by_seed: dict[tuple[tuple[Any, ...], str, int], dict[int, int]] = {}
    for row in rows:
        scheme, cell = columns["scheme"][row], tuple(columns[key][row] for key in keys)
        seed = columns["seed"][row] if is_sweep else 0
        own = found.setdefault((cell, scheme), Distribution(scheme, cell))
        bins = by_seed.get((cell, scheme, seed))
        if bins is None:
            bins = by_seed[cell, scheme, seed] = {}
            own.seeds.append(bins)
        bins[columns["to_ns"][row]] = columns["count"][row]
    if len(found) > _LINES_MAX:
        key = ([*keys[1:], *keys[:1]] or ["scheme"])[0]
        some = columns[key][rows[0]] if keys else list(dict.fromkeys(columns[key]))[:2]
        message = f"{len(found)} lines cannot be told apart; choose some: where={{{key!r}: {some!r}}}"
        raise ValueError(message)
    return keys, list(found.values())


def _varied(columns: Columns, before: str) -> list[str]:
    """Return the keys of a sweep that vary."""
    names = list(columns)
    return names[len(_BEFORE_VARIED) : names.index(before)]


def varied_of(columns: Columns) -> list[str]:
    """Return the columns in which the cells of a sweep differ: varied keys, then device and case."""
    keys = _varied(columns, before="scheme")
    return [*keys, *(name for name in ("device", "case") if len(set(columns[name])) > 1)]


def _chosen(columns: Columns, where: Mapping[str, Any] | None, varied: Iterable[str]) -> list[int]:
    """Return the rows in which columns have the values of ``where``."""
    count = len(columns["scheme"])
    rows = list(range(count))
    for key, value in (where or {}).items():
        known = [name for name in (*_BEFORE_VARIED, *varied, "scheme") if name in columns]
        if key not in known:
            message = f"where: the sweep's cells do not differ in {key!r}{_alike(key, known)}"
            raise KeyError(message)
        wanted = value if isinstance(value, (list, tuple, set)) else [value]
        rows = [row for row in rows if columns[key][row] in wanted]
        if not rows:
            there = ", ".join(map(repr, dict.fromkeys(columns[key])))
            message = f"where: no cell has {key} = {value!r}; there is {there}"
            raise ValueError(message)
    return rows


def refuse_where(where: Mapping[str, Any] | None) -> None:
    """Refuse conditions on cells of results that have none."""
    if where:
        message = "`where` chooses cells of a sweep, and these results have none; only 'scheme' has several values"
        raise ValueError(message)


def _number(value: Any, metric: str) -> float:
    """Return a value of a column as a number; without a value it is NaN."""
    if value is None:
        return math.nan
    if isinstance(value, str):
        message = f"the column {metric!r} has texts such as {value!r}; a figure needs numbers, such as 'iops'"
        raise ValueError(message)
    return float(value)


@dataclass
class Groups:
    """Values by cell and scheme, one for each seed; ``keys`` are the columns in which cells differ."""

    keys: list[str]
    cells: dict[tuple[Any, ...], dict[str, list[float]]]

    @property
    def schemes(self) -> list[str]:
        """The schemes of all cells."""
        return list(dict.fromkeys(scheme for values in self.cells.values() for scheme in values))


SELECTION = (
    "matched: chosen for being slow under the first scheme,\n"
    "so others seem to gain; own: those that each scheme's GC affects"
)
"""What a figure of matched requests says below it."""


def own_of(metric: str) -> str | None:
    """Return the number of each scheme's own affected requests, for one of matched requests; ``None`` for others.

    Matched requests are chosen for being slow under the first scheme: no figure shows them alone.
    """
    parts = metric.split(".")
    classes = {"all": "gc_affected", "read": "gc_affected_read", "write": "gc_affected_write"}
    is_matched = len(parts) == 3 and parts[0] == "matched" and parts[1] in classes  # noqa: PLR2004
    return f"response.{classes[parts[1]]}.{parts[2]}" if is_matched else None


def with_own(result: Runs | Sweep, metric: str, where: Mapping[str, Any] | None = None) -> Groups:
    """Return the groups of a number. A number of matched requests comes with that of each scheme's own requests."""
    own = own_of(metric)
    found = groups(result, metric, where, callers=2)
    if own is None:
        return found
    beside = groups(result, own, where, callers=2)
    words = (("matched", found.cells), ("own", beside.cells))
    both = {(*cell, word): of[cell] for cell in found.cells for word, of in words}
    return Groups([*found.keys, "requests"], both)


def groups(result: Runs | Sweep, metric: str, where: Mapping[str, Any] | None = None, callers: int = 1) -> Groups:
    """Return the values of a number by cell, and by scheme: one for each seed.

    Warnings name the line that called a figure, ``callers`` functions above.
    """
    if isinstance(result, Sweep):
        columns = result.table.to_dict()
        if metric not in columns:
            message = f"the sweep's table has no column {metric!r}{_alike(metric, columns)}"
            raise KeyError(message)
        keys = varied_of(columns)
        cells: dict[tuple[Any, ...], dict[str, list[float]]] = {}
        for row in _chosen(columns, where, keys):
            number = _number(columns[metric][row], metric)
            count = columns.get(_count_of(metric), [])
            number = _with_enough(number, metric, count[row] if count else None)
            cell = tuple(columns[key][row] for key in keys)
            cells.setdefault(cell, {}).setdefault(columns["scheme"][row], []).append(number)
        return _checked(Groups(keys, cells), metric, callers)
    refuse_where(where)
    columns = result.summary.to_dict()
    rows = list(zip(columns["scheme"], columns["metric"], columns["value"], strict=True))
    counts = {scheme: value for scheme, name, value in rows if name == _count_of(metric)}
    found = {scheme: value for scheme, name, value in rows if name == metric}
    # The table has no row for a number that is null.
    found.update({scheme: math.nan for scheme in result.schemes if scheme not in found and _is_null(result, metric)})
    values = {
        scheme: [_with_enough(found[scheme], metric, counts.get(scheme))]
        for scheme in result.schemes
        if scheme in found
    }
    if not values:
        message = f"the reports have no number {metric!r}{_alike(metric, columns['metric'])}"
        raise KeyError(message)
    return _checked(Groups([], {(): values}), metric, callers)


def _is_null(result: Runs, metric: str) -> bool:
    """Whether the reports have a number of this name, and it is null in some."""
    parts = metric.split(".")

    def is_null(report: Any) -> bool:
        for part in parts:
            if not isinstance(report, dict) or part not in report:
                return False
            report = report[part]
        return report is None

    return any(is_null(report) for report in result.reports.values())


def _count_of(metric: str) -> str:
    """Return the name of the number of requests of a number's class."""
    return f"{metric.rpartition('.')[0]}.count"


def _needed(metric: str) -> int:
    """Return the least number of requests with one beyond a percentile; 0 for other numbers. p99.99 needs 10,000."""
    percentile = re.fullmatch(r"p([0-9_]+)_ns", metric.rpartition(".")[2])
    if not percentile:
        return 0
    digits = percentile[1].replace("_", "")
    scale: int = 10 ** len(digits)
    return -(-scale // (scale - int(digits)))


def _with_enough(number: float, metric: str, count: float | None) -> float:
    """Return a number, or NaN if there are no requests, or too few for a percentile: reports then have the maximum."""
    least = 0 if metric.endswith(".count") else max(_needed(metric), 1)
    return math.nan if count is not None and count < least else number


def _checked(found: Groups, metric: str, callers: int) -> Groups:
    """Refuse a number that no run has, or for which none has enough requests, and warn if some runs lack it."""
    values = [value for schemes in found.cells.values() for own in schemes.values() for value in own]
    missing = sum(map(math.isnan, values))
    needed = _needed(metric)
    if needed and missing:
        needs = f"{metric!r} needs {needed:,} requests"
        if missing == len(values):
            message = f"{needs}, and no run has as many; run longer, or draw a lower percentile or the mean"
            raise ValueError(message)
        message = f"{needs}: {missing} of {len(values)} runs have fewer, and are not drawn"
        warnings.warn(message, stacklevel=3 + callers)
    elif missing:
        if missing == len(values):
            message = f"{metric!r} has no value in any run: what it measures did not happen"
            raise ValueError(message)
        message = f"{metric!r} has no value in {missing} of {len(values)} runs, which are not drawn"
        warnings.warn(message, stacklevel=3 + callers)
    return found


def _alike(metric: str, known: Iterable[str]) -> str:
    """Suggest numbers with similar names."""
    names = list(dict.fromkeys(known))
    wanted = metric.replace(".", "_")
    # The shortest name comes first: `p99_ns` before `p99_9_ns`.
    inside = sorted((name for name in names if wanted in name.replace(".", "_")), key=len)
    found = (inside or difflib.get_close_matches(metric, names, 3, 0.5))[:3]
    return f"; there is {', '.join(found)}" if found else "; their names are those of the JSON document"


# Two-sided 95 % points of Student's t for 1 to 30 degrees of freedom.
_T = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
]  # fmt: skip


def interval(values: list[float], least: float = 0.0) -> tuple[float, float]:
    """Return the mean, and half of its 95 % interval (at least ``least``; 0 for a single value)."""
    count = len(values)
    mean = sum(values) / count
    if count == 1:
        return mean, 0.0
    variance = sum((value - mean) ** 2 for value in values) / (count - 1)
    return mean, max(least, _T[min(count - 2, len(_T) - 1)] * math.sqrt(variance / count))


_PERCENTILE = re.compile(r"p[0-9_]+(_ns)?")
_BINS_LOG2 = 10
"""Histograms of response times have 1,024 bins from each power of two to the next."""


def resolution(values_ns: list[float], metric: str) -> float:
    """Return the width of the bin around the mean of a percentile: no interval is narrower, as in ``copyback sweep``.

    Seeds with equal percentiles only share a bin; their exact percentiles may differ. Other numbers are exact.
    """
    if not values_ns or not _PERCENTILE.fullmatch(metric.rpartition(".")[2]):
        return 0.0
    mean_ns = max(sum(values_ns) / len(values_ns), 1.0)
    return 2.0 ** max(math.frexp(mean_ns)[1] - 1 - _BINS_LOG2, 0)


def joined(series: Columns, rows: list[int], bins: int) -> list[list[int]]:
    """Return the rows of each interval: the time is divided into equal intervals, without empty ones."""
    times_ns = series["time_ns"]
    first, last = times_ns[rows[0]], times_ns[rows[-1]]
    width = max(1, -((first - last - 1) // bins))
    return [list(part) for _, part in itertools.groupby(rows, key=lambda row: (times_ns[row] - first) // width)]
