"""Bar charts: a number of each scheme and cell, and the causes of the mean response time."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, Literal

from copyback.plot._data import SELECTION, interval, own_of, resolution, with_own
from copyback.plot._style import HATCHES, Styles, axes, grid, legend_above
from copyback.plot._words import NS_PER_MS, of_key, of_metric, unit_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes

    from copyback._results import Runs, Sweep

    Op = Literal["read", "write"]

CAUSES = {
    "flash": "flash array",
    "transfer": "data transfer",
    "channel": "busy channel",
    "gc": "garbage collection",
    "map": "map traffic",
    "scrub": "read scrubbing",
    "wear": "wear levelling",
    "parity": "parity, rebuild",
    "host_io": "other host requests",
    "scheduler": "schedule, window",
    "buffer": "buffer, filling page",
}
"""Causes of a breakdown in its order, with their labels."""

_CAUSE_COLOURS = {
    "flash": "#56B4E9", "transfer": "#0072B2", "channel": "#F0E442", "gc": "#D55E00", "map": "#CC79A7",
    "scrub": "#999933", "wear": "#882255", "parity": "#44AA99", "host_io": "#009E73", "scheduler": "#E69F00",
    "buffer": "#8C8C8C",
}  # fmt: skip
"""Colours of causes: those of the page of `copyback report`."""

_TICK_LETTER_IN = 0.062
"""Width of a letter of the names below bars, in inches."""
_FEW = 3
"""The most schemes whose names are not rotated."""


def bars(
    result: Runs | Sweep,
    metric: str = "response.read.p99_9_ns",
    ax: Axes | None = None,
    *,
    relative: bool = False,
    where: Mapping[str, Any] | None = None,
) -> Axes:
    """Draw a number of the reports as bars: one for each scheme, for a sweep a group for each cell.

    Cells that differ only in their seeds are one group, with the mean and its 95 % interval (Student's t).
    ``relative`` divides by the first scheme's value. ``where={KEY: VALUE}`` chooses cells of a sweep. If a sweep varies
    two keys or more, ``lines`` shows more. A number of matched requests (``"matched.read.mean_ns"``) is drawn together
    with that of each scheme's own affected requests.
    """
    ax = axes(ax)
    found = with_own(result, metric, where)
    schemes = found.schemes
    styles = Styles(schemes)
    factor = unit_of(metric)[1]
    width = 0.8 / len(schemes)
    for at, scheme in enumerate(schemes):
        places, heights, errors = [], [], []
        for place, values in enumerate(found.cells.values()):
            # Runs without a value are not drawn; a ratio needs that of the first scheme, too.
            both = [
                (own, of_first if relative else 1.0)
                for own, of_first in zip(values.get(scheme, []), values.get(schemes[0], []), strict=False)
                if not math.isnan(own) and not (relative and (math.isnan(of_first) or not of_first))
            ]
            own = [v / f if relative else v / factor for v, f in both]
            if own:
                # The first scheme's own ratio is exactly 1, without a bin.
                is_exact = relative and scheme == schemes[0]
                scale = sum(f for _, f in both) / len(both) if relative else factor
                mean, half = interval(own, 0.0 if is_exact else resolution([v for v, _ in both], metric) / scale)
                places.append(place + (at - (len(schemes) - 1) / 2) * width)
                heights.append(mean)
                errors.append(half)
        # An interval of numbers that are never negative ends at 0, as on the page of `copyback report`.
        below = [min(half, height) for half, height in zip(errors, heights, strict=True)]
        error = [below, errors] if any(errors) else None
        ax.bar(
            places, heights, width, yerr=error, label=scheme, color=styles.colour(scheme), edgecolor="white",
            hatch=styles.hatch(scheme), error_kw={"elinewidth": 0.7, "capsize": 1.5},
        )  # fmt: skip
    ax.set_ylabel(f"{of_metric(metric, unit=False)},\nof {schemes[0]}'s" if relative else of_metric(metric))
    grid(ax)
    _name_cells(ax, found.keys, list(found.cells))
    if own_of(metric):
        ax.set_xlabel(f"{ax.get_xlabel()}\n{SELECTION}", fontsize=6)
    return legend_above(ax)


def _name_cells(ax: Axes, keys: list[str], cells: list[tuple[Any, ...]]) -> None:
    """Name groups of bars: the last key's value below each, other values once below the groups that share them."""
    differing = [at for at in range(len(keys)) if len({cell[at] for cell in cells}) > 1]
    if not differing:
        ax.set_xticks([])
        return
    last = differing[-1]
    names = [str(cell[last]) for cell in cells]
    room = (ax.figure.bbox.width / ax.figure.dpi - 0.6) / len(names)
    is_turned = max(map(len, names)) * _TICK_LETTER_IN > room
    ax.set_xticks(range(len(names)), names, rotation=90 if is_turned else 0)
    ax.tick_params(axis="x", length=0)
    depth = max(map(len, names)) * _TICK_LETTER_IN if is_turned else 0.1
    outer = [tuple(cell[at] for at in differing[:-1]) for cell in cells]
    if differing[:-1]:
        stretches = [(values, [place for place, _ in own]) for values, own in _stretches(outer)]
        for number, (values, places) in enumerate(stretches):
            ax.annotate(
                ", ".join(map(str, values)), (sum(places) / len(places), 0), (0, -(depth + 0.08) * 72 - 3),
                xycoords=("data", "axes fraction"), textcoords="offset points", ha="center", va="top", fontsize=7,
            )  # fmt: skip
            if number:
                ax.axvline(places[0] - 0.5, color="#999999", linewidth=0.5)
    inner = of_key(keys[last])
    above = ", ".join(of_key(keys[at]) for at in differing[:-1])
    ax.set_xlabel(f"{inner}; below: {above}" if above else inner, labelpad=14 if above else None)


def _stretches(values: list[tuple[Any, ...]]) -> list[tuple[tuple[Any, ...], list[tuple[int, Any]]]]:
    """Return runs of equal neighbouring values, with their positions."""
    return [(value, list(own)) for value, own in itertools.groupby(enumerate(values), key=lambda pair: pair[1])]


def breakdown(result: Runs, op: Op = "read", ax: Axes | None = None) -> Axes:
    """Draw the causes of the mean response time of reads or writes, a bar for each scheme."""
    if op not in ("read", "write"):
        message = f"op: there is no breakdown of {op!r}; use 'read' or 'write'"
        raise ValueError(message)
    ax = axes(ax)
    parts = {scheme: dict(result[scheme]["latency_breakdown"][f"{op}_mean_ns"]) for scheme in result.schemes}
    if all(part is None for own in parts.values() for part in own.values()):
        message = f"no run has a {op}: there is no breakdown of its response time"
        raise ValueError(message)
    bottoms = [0.0] * len(parts)
    shown = 0
    for cause, name in CAUSES.items():
        # Parts are null in a run without such requests.
        heights = [(part.get(cause) or 0.0) / NS_PER_MS for part in parts.values()]
        if not any(heights):
            continue
        hatch = HATCHES[shown % len(HATCHES)]
        colour = _CAUSE_COLOURS[cause]
        ax.bar(list(parts), heights, 0.7, bottom=bottoms, label=name, color=colour, hatch=hatch, edgecolor="white")
        bottoms = [bottom + height for bottom, height in zip(bottoms, heights, strict=True)]
        shown += 1
    ax.set_ylabel(f"mean {op} response time (ms)")
    ax.tick_params(axis="x", rotation=30 if len(parts) > _FEW else 0)
    grid(ax)
    return legend_above(ax)
