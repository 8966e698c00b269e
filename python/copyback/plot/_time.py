"""Charts over simulated time: columns of ``time_series``, and the work of each die."""

from __future__ import annotations

import itertools
import math
import warnings
from typing import TYPE_CHECKING, Any, Literal

from copyback.plot._data import joined
from copyback.plot._style import COLOURS, Styles, axes, grid, label_lines
from copyback.plot._words import NS_PER_MS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from copyback._results import Runs

_S = 1e9

_OVER_TIME = {
    "free_blocks_min": "fewest free blocks of a plane",
    "free_blocks_mean": "free blocks of a plane, mean",
    "queue_depth": "requests outstanding",
    "dies_collecting": "dies collecting",
    "write_amplification": "write amplification",
    "response_mean_ms": "mean response time (ms)",
    "iops": "requests a second",
}


def over_time(
    result: Runs,
    what: str = "write_amplification",
    ax: Axes | None = None,
    *,
    bins: int = 200,
) -> Axes:
    """Draw a column of ``time_series`` over simulated time, a line for each scheme.

    ``what`` is a column of that table, ``"response_mean_ms"`` (the mean of each interval), or ``"iops"``. Intervals are
    joined to at most ``bins`` bins: ratios are weighted, columns that end with ``_min`` have the minimum, others the
    mean. A bin in which the host wrote nothing has no write amplification; if flash was programmed in it, a
    ``UserWarning`` says so.
    """
    if not isinstance(bins, int) or bins < 1:
        message = f"bins is {bins!r}; use a whole number from 1 on"
        raise ValueError(message)
    ax = axes(ax)
    styles, series = Styles(result.schemes), result.time_series.to_dict()
    if what not in series and what not in _OVER_TIME:
        names = ", ".join([*(name for name in series if name not in ("scheme", "time_ns")), "response_mean_ms", "iops"])
        message = f"time_series has no column {what!r}; there are {names}"
        raise KeyError(message)
    for scheme in result.schemes:
        warmup = result[scheme].get("warmup")
        start_ns = warmup["end_ns"] if warmup else 0
        times_s, values = [], []
        rows = [row for row, own in enumerate(series["scheme"]) if own == scheme]
        for part in joined(series, rows, bins) if rows else []:
            end_ns = series["time_ns"][part[-1]]
            times_s.append(end_ns / _S)
            values.append(_value(series, part, what, start_ns))
            start_ns = end_ns
        ax.plot(times_s, values, label=scheme, **styles.line(scheme))
        if what == "write_amplification" and rows:
            _warn_of_hidden_programs(series, joined(series, rows, bins), scheme)
    ax.set(xlabel="simulated time (s)", ylabel=_OVER_TIME.get(what, what.replace("_", " ")))
    grid(ax)
    return label_lines(ax)


_PROGRAMMED = ("host_units", "gc_units", "other_units", "padding_units")
"""Columns of units that flash was programmed with."""


def _warn_of_hidden_programs(series: dict[str, list[Any]], parts: list[list[int]], scheme: str) -> None:
    """Warn if flash was programmed in bins in which the host wrote nothing: their ratio cannot be drawn."""

    def total(part: list[int], *names: str) -> int:
        return sum(series[name][row] for name in names for row in part)

    hidden = [total(part, *_PROGRAMMED) for part in parts if not total(part, "units_written")]
    programs = sum(hidden)
    if programs:
        share = programs / sum(total(part, *_PROGRAMMED) for part in parts)
        count = sum(map(bool, hidden))
        warnings.warn(
            f"write amplification under {scheme} has gaps: in {count} of {len(parts)} bins the host wrote nothing, and "
            f"{share:.1%} of all programmed units are in these bins; use fewer bins to join them with others",
            stacklevel=3,
        )


def timeline(
    result: Runs,
    scheme: str | None = None,
    ax: Axes | None = None,
    *,
    of: Literal["collections", "commands"] = "collections",
    from_ms: float | None = None,
    to_ms: float | None = None,
    dies: Sequence[int] | None = None,
    drive: int = 0,
) -> Axes:
    """Draw the work of each die over time, a row for each die.

    ``of`` chooses collections (from ``gc_events``) or commands (from the table ``commands``, which needs
    ``keep=["commands"]``). A command is coloured by its operation and source, from its issue to its end on the die.
    ``scheme`` defaults to the first, ``dies`` to all dies of the drive, ``from_ms`` to the first collection or command,
    and ``to_ms`` to the end of the last one, or to the end of the run if the last one ends before ``from_ms``. If
    nothing happens in the window, a ``UserWarning`` says so.

    Raises
    ------
    KeyError, ValueError
        If the result has no such scheme, drive or die, or the window ends before it begins or begins after the run.

    """
    scheme = scheme or result.schemes[0]
    checked = _checked_dies(result, scheme, of, dies, drive)
    run_ms = _check_window(result, scheme, from_ms, to_ms)
    table, start, kind_of = (
        (result.gc_events, "start_ns", _collecting) if of == "collections" else (result.commands, "issued_ns", _work)
    )
    columns = table.to_dict()
    ax = axes(ax)
    rows = [
        row
        for row, (own, at) in enumerate(zip(columns["scheme"], columns["drive"], strict=True))
        if own == scheme and at == drive
    ]
    drawn = checked if checked is not None else list(range(max((columns["die"][row] for row in rows), default=-1) + 1))
    first_ms = min((columns[start][row] / NS_PER_MS for row in rows), default=0.0)
    begin_ms = from_ms if from_ms is not None else first_ms if to_ms is None or first_ms < to_ms else 0.0
    last_ms = max((columns["end_ns"][row] / NS_PER_MS for row in rows), default=run_ms)
    end_ms = to_ms if to_ms is not None else last_ms if last_ms > begin_ms else run_ms
    places = {die: place for place, die in enumerate(drawn)}
    # A command of several planes has several rows, but is one span.
    spans: dict[str, dict[tuple[int, float, float], None]] = {kind: {} for kind in _KINDS}
    for row in rows:
        start_ms, until_ms = columns[start][row] / NS_PER_MS, columns["end_ns"][row] / NS_PER_MS
        place = places.get(columns["die"][row])
        if place is not None and until_ms > begin_ms and start_ms < end_ms:
            spans[kind_of(columns, row)][place, start_ms, until_ms] = None
    if not any(spans.values()):
        message = f"timeline: no {of[:-1]} of these dies runs from {begin_ms:g} to {end_ms:g} ms under {scheme}"
        warnings.warn(message, stacklevel=2)
    for kind, (colour, hatch) in _KINDS.items():
        for place, of_die in itertools.groupby(sorted(spans[kind]), key=lambda span: span[0]):
            bars = [(start_ms, until_ms - start_ms) for _, start_ms, until_ms in of_die]
            known = ax.get_legend_handles_labels()[1]
            ax.broken_barh(
                bars, (place - 0.4, 0.8), facecolor=colour, hatch=hatch, edgecolor="white", linewidth=0,
                label=kind if kind not in known else None,
            )  # fmt: skip
    ax.set(xlim=(begin_ms, end_ms), ylim=(len(drawn) - 0.5, -0.5), xlabel="simulated time (ms)", ylabel="die")
    labelled = range(0, len(drawn), max(1, len(drawn) // 8))
    ax.set_yticks(labelled, [str(drawn[row]) for row in labelled])
    ax.set_title(f"{of} under {scheme}", loc="left", fontsize=8)
    if of == "commands" and ax.get_legend_handles_labels()[1]:
        ax.legend(frameon=False, fontsize=7, ncols=3, loc="upper center", bbox_to_anchor=(0.45, -0.24))
    return ax


def _checked_dies(result: Runs, scheme: str, of: str, dies: Sequence[int] | None, drive: int) -> list[int] | None:
    """Return the dies to draw, if the geometry is known or dies are named. Refuse what the result does not have."""
    if scheme not in result.schemes:
        message = f"there is no scheme {scheme!r}; there are {', '.join(result.schemes)}"
        raise KeyError(message)
    if of not in ("collections", "commands"):
        message = f"of: {of!r} is not drawn; use 'collections' or 'commands'"
        raise ValueError(message)
    config = next(own["config"] for own in result.document["results"] if own["scheme"] == scheme)
    array = config.get("array", {})
    drives = array.get("drives", 1)
    if drive not in range(drives):
        message = f"drive: there is no drive {drive!r}; there are {drives}, counted from 0"
        raise ValueError(message)
    # Results do not have the geometry of another device.
    if any("device" in own and drive in own["drives"] for own in array.get("override", [])):
        return None if dies is None else list(dies)
    geometry = config["geometry"]
    count = geometry["channels"] * geometry["chips_per_channel"] * geometry["dies_per_chip"]
    if dies is None:
        return list(range(count))
    lacking = [die for die in dies if die not in range(count)]
    if lacking or not len(dies):
        what = f"there is no die {lacking[0]!r}" if lacking else "no die is named"
        message = f"dies: {what}; the drive has {count}, counted from 0"
        raise ValueError(message)
    return list(dies)


def _check_window(result: Runs, scheme: str, from_ms: float | None, to_ms: float | None) -> float:
    """Return the end of the run in milliseconds. Refuse a window that is empty or begins after the run."""
    report = result[scheme]
    warmup = report.get("warmup")
    run_ms: float = ((warmup["end_ns"] if warmup else 0) + report["simulated_ns"]) / NS_PER_MS
    if from_ms is not None and from_ms >= run_ms:
        message = f"from_ms: nothing runs from {from_ms:g} ms on: the run ends at {run_ms:g} ms"
        raise ValueError(message)
    if to_ms is not None and to_ms <= (from_ms or 0):
        message = f"to_ms: the window ends at {to_ms:g} ms, before it begins; name a time after from_ms"
        raise ValueError(message)
    return run_ms


# The kinds of work of a die: a colour, and a hatch for readers who do not distinguish colours.
_KINDS = {
    "collection": (COLOURS[1], ""),
    "host read": (COLOURS[3], ""),
    "host program": (COLOURS[2], "////"),
    "GC read": (COLOURS[5], ""),
    "GC program": (COLOURS[1], "\\\\\\\\"),
    "GC copyback": (COLOURS[7], "...."),
    "erase": (COLOURS[0], ""),
    "other background": ("#999999", "xxxx"),
}


def _collecting(_columns: dict[str, list[Any]], _row: int) -> str:
    return "collection"


def _work(commands: dict[str, list[Any]], row: int) -> str:
    """Return the kind of a command, as in the legend."""
    op, source = commands["op"][row], commands["source"][row]
    if source not in ("host", "GC"):
        return "other background"
    return "erase" if op == "erase" else f"{source} {op}"


def _value(series: dict[str, list[Any]], rows: list[int], what: str, start_ns: int) -> float:
    """Return the joint value of neighbouring rows; ratios are weighted."""

    def total(name: str) -> float:
        return float(sum(series[name][row] for row in rows))

    def ratio(above: float, below: float) -> float:
        return above / below if below else math.nan

    if what == "iops":
        return ratio(total("requests_done") * _S, series["time_ns"][rows[-1]] - start_ns)
    if what == "response_mean_ms":
        return ratio(total("response_sum_ns") / NS_PER_MS, total("requests_done"))
    if what == "write_amplification":
        programmed = sum(map(total, _PROGRAMMED))
        return ratio(programmed, total("units_written"))
    values = [value for row in rows if (value := series[what][row]) is not None]
    if what.endswith("_min"):
        return float(min(values, default=math.nan))
    return ratio(float(sum(values)), len(values))
