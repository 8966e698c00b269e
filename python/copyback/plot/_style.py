"""How figures look: styles of schemes, axes, legends, and labels at lines."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from copyback import _copyback

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

COLOURS = ["#000000", "#E69F00", "#0072B2", "#56B4E9", "#009E73", "#F0E442", "#D55E00", "#CC79A7"]
"""Colours of parts of a bar: black, orange, blue, sky blue, bluish green, yellow, vermilion, reddish purple (Okabe and
Ito, 2008). Neighbours differ in lightness. Schemes have colours of their own."""
HATCHES = ["", "//", "..", "\\\\", "xx", "--", "oo", "++", "||", "**", "OO"]
MARKS = ["o", "s", "^", "D", "v", "P", "X"]
STYLE: Any = {
    "figure.figsize": (3.4, 2.3),
    "figure.dpi": 150,
    "savefig.bbox": "tight",
    "font.size": 8,
    "axes.titlesize": 8,
    "legend.fontsize": 7,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "lines.linewidth": 1.2,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "hatch.linewidth": 0.4,
    # Text in a PDF can be searched and edited.
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "copyback",
}
_PIXELS = 2
"""Dash lengths are for a line of this width in pixels; matplotlib counts in line widths."""
HUNDREDFOLD = 100


class Styles:
    """The styles of the schemes of one result: a preset has its own dashes, and its own colour unless it is taken."""

    def __init__(self, schemes: Iterable[str]) -> None:
        """Look the styles up."""
        names = list(dict.fromkeys(schemes))
        self._own = dict(zip(names, _copyback.styles(names), strict=True))

    def colour(self, scheme: str) -> str:
        """Return a scheme's colour."""
        return self._own[scheme][1]

    def line(self, scheme: str) -> dict[str, Any]:
        """Return a scheme's colour and dash."""
        dashes = self._own[scheme][2]
        return {
            "color": self.colour(scheme),
            "linestyle": (0, tuple(length / _PIXELS for length in dashes)) if dashes else "-",
        }

    def mark(self, scheme: str) -> str:
        """Return the marker of a scheme's points."""
        return MARKS[self._own[scheme][0] % len(MARKS)]

    def hatch(self, scheme: str) -> str:
        """Return the hatch of a scheme's bars."""
        return HATCHES[self._own[scheme][0] % len(HATCHES)]


_LINES = ["-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (5, 4))]


def unnamed(at: int) -> dict[str, Any]:
    """Return colour, dash and marker of the n-th line that is not a scheme."""
    return {
        "color": COLOURS[at % len(COLOURS)],
        "linestyle": _LINES[at % len(_LINES)],
        "marker": MARKS[at % len(MARKS)],
    }


_OWN: weakref.WeakSet[Figure] = weakref.WeakSet()
"""Figures that were made here: their size may change."""


def axes(ax: Axes | None) -> Axes:
    """Return the given axes, or those of a new figure."""
    if ax is not None:
        return ax
    with mpl.rc_context(STYLE):
        figure, own = plt.subplots(layout="constrained")
    figure.set_layout_engine("constrained")
    _OWN.add(figure)
    return own


def grid(ax: Axes) -> None:
    """Draw grid lines, and write plain numbers at logarithmic axes."""
    ax.grid(visible=True, axis="both", linewidth=0.3, alpha=0.5)
    ax.set_axisbelow(True)
    if ax.get_xscale() == "log":
        low, high = ax.get_xlim()
        # If the axis shows few powers of ten, numbers between them are labelled, too.
        between = "25" if high < HUNDREDFOLD * low else ""
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        ax.xaxis.set_minor_formatter(FuncFormatter(lambda value, _: f"{value:g}" if f"{value:e}"[0] in between else ""))


def logarithmic_y(ax: Axes) -> None:
    """Make the vertical axis logarithmic, with plain numbers."""
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0,)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())


_LEGEND_LETTER_IN, _MARK_IN, _LEFT_IN = 0.054, 0.42, 0.5
"""Widths of a letter of a legend, of its marker with margins, and of the space left of the axes."""


def legend_above(ax: Axes) -> Axes:
    """Put the legend above the axes, in as many columns as fit the figure."""
    names = ax.get_legend_handles_labels()[1]
    if not names:
        return ax
    spec = ax.get_subplotspec()
    beside = 1 if spec is None else spec.get_gridspec().ncols
    room = ax.figure.bbox.width / ax.figure.dpi / beside - _LEFT_IN
    columns = max(1, int(room / (_MARK_IN + _LEGEND_LETTER_IN * max(map(len, names)))))
    ax.legend(
        frameon=False, fontsize=7, ncols=min(columns, len(names)), loc="lower left", bbox_to_anchor=(0, 1),
        borderaxespad=0.2, handlelength=2.4, columnspacing=1.0,
    )  # fmt: skip
    return ax


_POINTS = 7
"""Size of a label at a line."""
_WIDTH, _HEIGHT = 0.58, 1.2
"""Width of a letter and height of a line, relative to a label's size."""
_GAP_PT = 5.0
_PLACES = [("left", 1, 1), ("right", -1, 1), ("left", 1, -1), ("right", -1, -1)]
"""Positions of a label: its alignment, and the side of its point."""
_STEPS = 60
_LABELS_MAX = 6
"""The most lines with labels beside them: of more lines, some coincide, and labels do not show which dash is whose."""


def label_lines(ax: Axes) -> Axes:
    """Label each line beside it; if there are many, or a label has no space, label all in a legend above the axes.

    A label touches no line and no other label, and is as far from other lines as possible.
    """
    lines = [line for line in ax.get_lines() if not str(line.get_label()).startswith("_")]
    if len(lines) > _LABELS_MAX:
        return _grown(legend_above(ax))
    _settle(ax.figure)
    shapes = [_sampled(ax, line) for line in lines]
    taken: list[tuple[float, float, float, float]] = []
    found = []
    for line, shape in zip(lines, shapes, strict=True):
        others = [other for other in shapes if other is not shape and len(other)]
        place = _place(ax, str(line.get_label()), shape, others, taken)
        if place is None:
            return _grown(legend_above(ax))
        found.append((line, place))
    for line, ((x, y), (align, right, up), _) in found:
        ax.annotate(
            str(line.get_label()), (x, y), (right * _GAP_PT * 0.5, up * _GAP_PT * 0.5), textcoords="offset points",
            ha=align, va="bottom" if up > 0 else "top", color=line.get_color(), fontsize=_POINTS,
        )  # fmt: skip
    return ax


def _grown(ax: Axes) -> Axes:
    """Make a figure as much higher as its legend is, so that the axes keep their height."""
    figure, legend = ax.figure.get_figure(root=True), ax.get_legend()
    if figure is not None and figure in _OWN and legend is not None:
        _settle(figure)
        width, height = figure.get_size_inches()
        figure.set_size_inches(width, height + legend.get_window_extent().height / figure.dpi)
    return ax


def _settle(figure: Any) -> None:
    """Lay the figure out, so that positions in pixels are final."""
    top: Figure = figure.get_figure(root=True) if hasattr(figure, "get_figure") else figure
    top.draw_without_rendering()


def _sampled(ax: Axes, line: Line2D) -> np.ndarray:
    """Return closely spaced points of a line inside the axes, in pixels."""
    data = np.column_stack(line.get_data()).astype(float)
    if line.get_drawstyle() == "steps-post" and len(data) > 1:
        corners = np.column_stack([data[1:, 0], data[:-1, 1]])
        data = np.stack([data[:-1], corners], axis=1).reshape(-1, 2)
        data = np.vstack([data, np.column_stack(line.get_data())[-1:]])
    with np.errstate(divide="ignore", invalid="ignore"):
        points: np.ndarray = np.asarray(ax.transData.transform(data))
    points = points[np.isfinite(points).all(axis=1)]
    if len(points) < 2:  # noqa: PLR2004
        return points
    along = np.concatenate([[0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])
    at = np.linspace(0, along[-1], max(2, min(2000, int(along[-1] / 2))))
    sampled: np.ndarray = np.column_stack([np.interp(at, along, points[:, axis]) for axis in (0, 1)])
    box = ax.bbox
    is_inside = (sampled >= (box.x0 - 1, box.y0 - 1)) & (sampled <= (box.x1 + 1, box.y1 + 1))
    return sampled[is_inside.all(axis=1)]


def _place(
    ax: Axes, text: str, own: np.ndarray, others: Sequence[np.ndarray], taken: list[tuple[float, float, float, float]]
) -> tuple[tuple[float, float], tuple[str, int, int], float] | None:
    """Return the label's point (in data) and side farthest from other lines; ``None`` if no position fits."""
    if not len(own):
        return None
    pixels = ax.figure.dpi / 72
    width, height = _WIDTH * _POINTS * len(text) * pixels, _HEIGHT * _POINTS * pixels
    gap = _GAP_PT * 0.5 * pixels
    rest = np.vstack([*others]) if others else np.empty((0, 2))
    best: tuple[tuple[float, float], tuple[str, int, int], float] | None = None
    best_box = (0.0, 0.0, 0.0, 0.0)
    for at in np.linspace(0, len(own) - 1, min(_STEPS, len(own))).astype(int):
        for align, right, up in _PLACES:
            x, y = own[at] + (right * gap, up * gap)
            box = (x if right > 0 else x - width, y if up > 0 else y - height)
            left, low, far, high = box[0], box[1], box[0] + width, box[1] + height
            if left < ax.bbox.x0 + gap or far > ax.bbox.x1 or low < ax.bbox.y0 or high > ax.bbox.y1:
                continue
            if any(left < o[2] and far > o[0] and low < o[3] and high > o[1] for o in taken):
                continue
            if _distance(own, left, low, far, high) < 1:
                continue
            free = _distance(rest, left, low, far, high)
            if free > 1 and (best is None or free > best[2]):
                best = (tuple(ax.transData.inverted().transform(own[at])), (align, right, up), free)
                best_box = (left, low, far, high)
    if best is not None:
        taken.append(best_box)
    return best


def _distance(points: np.ndarray, left: float, low: float, far: float, high: float) -> float:
    """Return the distance of the nearest point from a box."""
    if not len(points):
        return float("inf")
    away_x = np.maximum(np.maximum(left - points[:, 0], points[:, 0] - far), 0)
    away_y = np.maximum(np.maximum(low - points[:, 1], points[:, 1] - high), 0)
    return float(np.hypot(away_x, away_y).min())
