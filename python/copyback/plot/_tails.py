"""Line charts: distributions of response times, and numbers over the varied keys of a sweep."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import to_rgb

from copyback._results import Sweep
from copyback.plot._data import (
    SELECTION,
    Distribution,
    Groups,
    beyond,
    distributions,
    groups,
    interval,
    own_of,
    resolution,
)
from copyback.plot._style import HUNDREDFOLD, Styles, axes, grid, label_lines, logarithmic_y, unnamed
from copyback.plot._words import NS_PER_MS, of_class, of_key, of_metric, unit_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes

    from copyback._results import Runs

_BAND = 0.18
"""Opacity of a band."""
_LEVELS = 400
_PALEST = 0.55


def cdf(
    result: Runs | Sweep, of: str = "read", ax: Axes | None = None, *, where: Mapping[str, Any] | None = None
) -> Axes:
    """Draw the share of requests over the time in which they end, a line for each scheme.

    ``where`` and the bands of a sweep are those of ``ccdf``.
    """
    ax = axes(ax)
    keys, drawn = _drawn(result, of, where)
    for line in drawn:
        times_ns, shares = line.distribution.beyond()
        within = [1 - share for share in shares]
        ax.step([ns / NS_PER_MS for ns in times_ns], within, where="post", label=line.label, **line.style)
        _band(ax, line, lambda share: 1 - share)
    ax.set(xscale="log", xlabel=_xlabel(of, keys), ylabel="share of requests", ylim=(0, 1.02))
    grid(ax)
    return label_lines(ax)


def ccdf(
    result: Runs | Sweep,
    of: str = "read",
    ax: Axes | None = None,
    nines: int | None = None,
    *,
    where: Mapping[str, Any] | None = None,
) -> Axes:
    """Draw the share of requests that takes longer than a time, on logarithmic axes.

    A line ends at its last request. The axis has ``nines`` nines [as many as the number of requests supports, at most
    six].

    For a sweep, a line shows all seeds together, and its band spans the seeds: at each share, from the seed with the
    shortest time to the seed with the longest. ``where={"capacity.over_provisioning": 0.15}`` chooses cells; the lines
    of a further cell are paler.
    """
    ax = axes(ax)
    rarest = 1.0
    keys, drawn = _drawn(result, of, where)
    for line in drawn:
        times_ns, shares = line.distribution.beyond()
        seen = [(ns / NS_PER_MS, share) for ns, share in zip(times_ns, shares, strict=True) if share > 0]
        if seen:
            ax.step(*zip(*seen, strict=True), where="post", label=line.label, **line.style)
            rarest = min([rarest, *(share for _, share in seen)])
        _band(ax, line, lambda share: share)
    nines = nines or min(max(1, math.ceil(-math.log10(rarest))), 6)
    ax.set(
        xscale="log", yscale="log", xlabel=_xlabel(of, keys), ylabel="share that takes longer", ylim=(10.0**-nines, 1)
    )
    grid(ax)
    return label_lines(ax)


class _Line:
    """A distribution with its style and name."""

    def __init__(self, distribution: Distribution, label: str, style: dict[str, Any]) -> None:
        self.distribution, self.label, self.style = distribution, label, style


def _xlabel(of: str, keys: list[str]) -> str:
    """Return the title and, if lines belong to several cells, their labels."""
    return "\nlines: ".join([of_class(of), *([", ".join(["scheme", *map(of_key, keys)])] if keys else [])])


def _drawn(result: Runs | Sweep, of: str, where: Mapping[str, Any] | None) -> tuple[list[str], list[_Line]]:
    """Return the keys in which cells differ, and the lines."""
    keys, found = distributions(result, of, where)
    styles = Styles(_schemes_of(result))
    cells = list(dict.fromkeys(own.cell for own in found))
    lines = []
    for own in found:
        style = styles.line(own.scheme)
        label = own.scheme
        if len(cells) > 1:
            pale = _PALEST * cells.index(own.cell) / (len(cells) - 1)
            style["color"] = tuple(part + (1 - part) * pale for part in to_rgb(style["color"]))
            label = ", ".join([own.scheme, *map(str, own.cell)])
        lines.append(_Line(own, label, style))
    return keys, lines


def _schemes_of(result: Runs | Sweep) -> list[str]:
    """Return all schemes of a result; a figure may show only some."""
    return result.table.to_dict()["scheme"] if isinstance(result, Sweep) else result.schemes


def _band(ax: Axes, line: _Line, of: Any) -> None:
    """Shade a line from the seed with the shortest time to the one with the longest, at each share."""
    seeds = line.distribution.seeds
    if len(seeds) == 1:
        return
    # Down to the last request of the seed with the fewest requests.
    levels = np.geomspace(1, 1 / min(sum(bins.values()) for bins in seeds), _LEVELS)
    times = []
    for bins in seeds:
        ends, shares = beyond(bins)
        # For each share, the shortest time that at most this share of requests exceeds.
        at = np.searchsorted(-np.asarray(shares), -levels, side="left")
        times.append(np.asarray(ends)[np.minimum(at, len(ends) - 1)] / NS_PER_MS)
    ax.fill_betweenx(
        of(levels), np.min(times, axis=0), np.max(times, axis=0), color=line.style["color"], alpha=_BAND, linewidth=0
    )


def lines(
    result: Sweep,
    metric: str = "response.read.p99_9_ns",
    x: str | None = None,
    line: str = "scheme",
    ax: Axes | None = None,
    *,
    where: Mapping[str, Any] | None = None,
) -> Axes:
    """Draw a number of a sweep over a varied key: ``lines(sweep, x="capacity.over_provisioning")``.

    ``x`` is a varied key [the first with several values]. ``line`` is ``"scheme"`` or another key, and has a line for
    each of its values. A line is the mean over seeds, its band the 95 % interval of that mean (Student's t). An axis is
    logarithmic if its values span a hundredfold. If cells differ in more keys, choose with ``where={KEY: VALUE}``.

    Raises
    ------
    ValueError
        If a point of a line has several cells, or the result is no sweep.

    """
    if not isinstance(result, Sweep):
        message = f"lines needs a sweep, which varies something; this is {result!r}"
        raise ValueError(message)
    found = groups(result, metric, where)
    several = [key for at, key in enumerate(found.keys) if len({cell[at] for cell in found.cells}) > 1]
    free = [key for key in several if key != line]
    x = x or (free[0] if free else None)
    known = [*found.keys, "scheme"]
    if x is None or x not in known or line not in known or x == line:
        message = f"x={x!r}, line={line!r}: two of {', '.join(known)} are needed"
        raise ValueError(message)
    left = [key for key in several if key not in (x, line)]
    if left or (len(found.schemes) > 1 and "scheme" not in (x, line)):
        key = [*left, "scheme"][0]
        value = next(iter(found.cells))[found.keys.index(key)] if key in found.keys else found.schemes[0]
        message = f"cells differ in {key}, too; choose one: where={{{key!r}: {value!r}}}"
        raise ValueError(message)
    ax = axes(ax)
    styles = Styles(_schemes_of(result))
    own = own_of(metric)
    if own is not None:
        # Matched requests are never shown alone: pale lines are those of each scheme's own affected requests.
        _over(ax, _points(groups(result, own, where), x, line), own, (x, line), styles, ", own")
    _over(ax, _points(found, x, line), metric, (x, line), styles)
    if own is not None:
        ax.set_xlabel(f"{ax.get_xlabel()}\n{SELECTION}", fontsize=6)
    return label_lines(ax)


def _points(found: Groups, x: str, line: str) -> dict[Any, dict[Any, list[float]]]:
    """Return the values of all seeds, by line and by place."""
    points: dict[Any, dict[Any, list[float]]] = {}
    for cell, of_schemes in found.cells.items():
        for scheme, values in of_schemes.items():
            named = {**dict(zip(found.keys, cell, strict=True)), "scheme": scheme}
            points.setdefault(named[line], {}).setdefault(named[x], []).extend(values)
    return points


def _over(  # noqa: PLR0917
    ax: Axes,
    points: dict[Any, dict[Any, list[float]]],
    metric: str,
    axis: tuple[str, str],
    styles: Styles,
    suffix: str = "",
) -> None:
    """Draw lines over a key. Lines with a suffix to their names are paler."""
    x, line = axis
    places = list(dict.fromkeys(place for own in points.values() for place in own))
    is_number = all(isinstance(place, (int, float)) and not isinstance(place, bool) for place in places)
    factor = unit_of(metric)[1]
    names = {name: (name if line == "scheme" else f"{of_key(line)} {name}") + suffix for name in points}
    heights = []
    for at, (name, own) in enumerate(points.items()):
        known = [(place, [v for v in values if not math.isnan(v)]) for place, values in own.items()]
        means = [
            (
                place if is_number else places.index(place),
                *(part / factor for part in interval(values, resolution(values, metric))),
            )
            for place, values in known
            if values
        ]
        means.sort()
        style = {**styles.line(name), "marker": styles.mark(name)} if line == "scheme" else unnamed(at)
        style["markersize"] = 3
        if suffix:
            style["alpha"] = 0.45
        ax.plot([at for at, *_ in means], [mean for _, mean, _ in means], label=names[name], **style)
        if any(half for *_, half in means):
            low = [max(mean - half, 0.0) for _, mean, half in means]
            high = [mean + half for _, mean, half in means]
            ax.fill_between([at for at, *_ in means], low, high, color=style["color"], alpha=_BAND, linewidth=0)
        heights += [mean for _, mean, _ in means]
    if is_number and _is_wide([float(place) for place in places]):
        ax.set_xscale("log")
    elif not is_number:
        ax.set_xticks(range(len(places)), [str(place) for place in places])
    if _is_wide(heights):
        logarithmic_y(ax)
        ax.set_ylim(bottom=min(heights) / 2)
    else:
        ax.set_ylim(bottom=0)
    ax.set(xlabel=of_key(x), ylabel=of_metric(metric))
    grid(ax)


def _is_wide(values: list[float]) -> bool:
    """Whether values span a hundredfold."""
    return bool(values) and min(values) > 0 and max(values) >= HUNDREDFOLD * min(values)
