"""Drawing of figures: measured values are filled, published ones beside them hollow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, NullFormatter

from copyback.figures._data import MEAN, Values, distributions_of, metrics_of, published_of, rows_of, values_of
from copyback.plot._style import COLOURS, HATCHES, STYLE, Styles

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes

    from copyback._copyback import Table
    from copyback.figures._specs import Figure, Panel

    Tables = dict[str, tuple[Table, Table]]

COLUMN_IN, PAGE_IN = 3.4, 7.0
"""Widths of a column, and of a page of two."""
_PANEL_IN = 2.0
_CAVEAT_IN = 0.1
_HALF = 0.5
"""In panels of at most this share of a figure's width, legends have at most two columns."""
_FAR = 30
"""The ratio of the largest to the smallest value from which an axis is logarithmic."""
_FULL = 6
"""The number of bars that fill a column."""
_TURNED = 24
"""Names below an axis are rotated if they have more letters in all than this, for an axis of 0.4 of the figure's width;
the limit is proportional to the axis' width."""


def drawable_panels(figure: Figure, tables: Tables) -> list[Panel]:
    """Return the panels that a reproduction has rows of."""
    own = [panel for panel in figure.panels if panel.experiment in tables]
    return [panel for panel in own if rows_of(panel, tables[panel.experiment][0].to_dict())]


def drawn(figure: Figure, tables: Tables, about: Mapping[str, Any]) -> Canvas:
    """Draw a figure, each panel in a row of its own or, if panels are narrow, side by side.

    ``about`` is the document of the reproduction; a line below the panels summarises it.
    """
    claims: list[Mapping[str, Any]] = about["claims"]
    with mpl.rc_context(STYLE):
        panels = drawable_panels(figure, tables)
        styles = Styles(scheme for panel in panels for scheme in panel.schemes)
        # Wide figures take the page's width, and each of their panels a row.
        is_wide = any(_bars(panel, tables) > _FULL for panel in panels)
        columns = 1 if is_wide or len(panels) == 1 else 2
        lines = -(-len(panels) // columns)
        width = PAGE_IN if is_wide or columns > 1 else COLUMN_IN
        canvas = Canvas(figsize=(width, _PANEL_IN * lines + 0.3), layout="constrained")
        grid = canvas.subplots(lines, columns, squeeze=False)
        for ax in grid.flat[len(panels) :]:
            ax.set_axis_off()
        for panel, ax in zip(panels, grid.flat, strict=False):
            _panel(panel, ax, tables[panel.experiment], claims, styles)
        experiments = {panel.experiment for panel in panels}
        caveats = _caveats(about, [claim for claim in claims if claim["experiment"] in experiments])
        if caveats:
            canvas.supxlabel(caveats, fontsize=5.5, color="#555555")
            canvas.set_figheight(canvas.get_figheight() + _CAVEAT_IN * (caveats.count("\n") + 1))
        return canvas


_VERDICTS = {
    "met": "hold",
    "smaller": "smaller",
    "larger": "larger",
    "null-too": "control, too",
}


def _caveats(about: Mapping[str, Any], claims: list[Mapping[str, Any]]) -> str:
    """Summarise the runs: how they were shortened, whether they are steady, how many claims hold."""
    parts = ["quick: runs were stopped early"] if about["quick"] else []
    parts += [f"with {change}" for change in about["changes"]]
    steady = {cell["cell"]: cell["is_steady"] for claim in claims for cell in claim["cells"]}
    unsteady = sum(is_steady is False for is_steady in steady.values())
    if unsteady:
        parts.append(f"{unsteady} of {len(steady)} cells not steady")
    judged = [_VERDICTS.get(claim["verdict"], "do not hold") for claim in claims if claim["verdict"]]
    if judged:
        counts = "; ".join(
            f"{judged.count(name)} {name}" for name in [*_VERDICTS.values(), "do not hold"] if name in judged
        )
        parts.append(f"claims: {counts}")
    return "\n".join(parts)


def _bars(panel: Panel, tables: Tables) -> int:
    if panel.kind in ("cdf", "lines"):
        return 0
    table = tables[panel.experiment][0].to_dict()
    groups = len({str(value) for value in table[panel.x]}) if panel.x in table else 1
    return groups if panel.kind == "stacked" else groups * len(panel.schemes)


def _panel(
    panel: Panel, ax: Axes, tables: tuple[Table, Table], claims: list[Mapping[str, Any]], styles: Styles
) -> None:
    if panel.kind == "cdf":
        _cdf(panel, ax, tables[1], styles)
    else:
        values = values_of(panel, tables[0])
        published = published_of(panel, values, claims)
        {"bars": _grouped, "lines": _over, "stacked": _stacked}[panel.kind](panel, ax, values, published, styles)
    ax.set(xlabel=panel.xlabel, ylabel=panel.ylabel)
    ax.set_title(panel.title, loc="left")
    ax.grid(visible=True, axis="y", linewidth=0.3, alpha=0.5)
    ax.set_axisbelow(True)


Published = dict[tuple[str, str, str], float]


def _shown(panel: Panel, values: Values) -> list[str]:
    """Return the schemes with values, without the base, which is 1 everywhere."""
    metric = metrics_of(panel)[0]
    return [scheme for scheme in panel.schemes if scheme in values.measured[metric] and scheme != panel.base]


def _grouped(panel: Panel, ax: Axes, values: Values, published: Published, styles: Styles) -> None:
    metric = metrics_of(panel)[0]
    schemes = _shown(panel, values)
    slot = 0.84 / max(1, len(schemes))
    for at, scheme in enumerate(schemes):
        colour = styles.colour(scheme)
        for place, group in enumerate(values.groups):
            mean = values.mean(metric, scheme, group)
            left = place - 0.42 + at * slot
            paper = published.get((metric, scheme, group))
            # The measured and the published bar share the width of one.
            width = slot * (0.5 if paper is not None else 0.92)
            if mean is not None:
                half = values.half(metric, scheme, group) if group != MEAN else 0.0
                ax.bar(
                    left, mean, width, align="edge", color=colour, edgecolor="white", linewidth=0.3,
                    hatch=styles.hatch(scheme), yerr=half or None, error_kw={"elinewidth": 0.6, "capsize": 1},
                )  # fmt: skip
            if paper is not None:
                ax.bar(
                    left + width, paper, slot * 0.42, align="edge", facecolor="white", edgecolor=colour, linewidth=0.9
                )
    if panel.base is not None:
        ax.axhline(1.0, color="#444444", linewidth=0.7)
    heights = [values.mean(metric, scheme, group) for scheme in schemes for group in values.groups]
    _scale(panel, ax, [*heights, *published.values()])
    _names(ax, values.groups)
    handles: list[Any] = [
        Patch(facecolor=styles.colour(scheme), edgecolor="white", hatch=styles.hatch(scheme),
              label=panel.schemes[scheme])
        for scheme in schemes
    ]  # fmt: skip
    if published:
        handles.append(Patch(facecolor="white", edgecolor="#444444", label="published"))
    _legend(ax, handles)


def _over(panel: Panel, ax: Axes, values: Values, published: Published, styles: Styles) -> None:
    metric = metrics_of(panel)[0]
    handles: list[Any] = []
    for scheme in _shown(panel, values):
        style: dict[str, Any] = {**styles.line(scheme), "marker": styles.mark(scheme), "markersize": 3.5}
        points = [(place, values.mean(metric, scheme, group)) for place, group in enumerate(values.groups)]
        known = [(place, value) for place, value in points if value is not None]
        ax.plot(*zip(*known, strict=True), **style)
        handles.append(Line2D([], [], label=panel.schemes[scheme], **style))
        for place, group in enumerate(values.groups):
            paper = published.get((metric, scheme, group))
            if paper is not None:
                ax.plot([place], [paper], **{**style, "markersize": 7, "markerfacecolor": "none", "linestyle": "none"})
    if published:
        style = {"marker": "o", "markersize": 7, "markerfacecolor": "none", "color": "#444444", "linestyle": "none"}
        handles.append(Line2D([], [], label="published", **style))
    heights = [values.mean(metric, scheme, group) for scheme in panel.schemes for group in values.groups]
    _scale(panel, ax, [*heights, *published.values()])
    _names(ax, values.groups)
    _legend(ax, handles)


def _scale(panel: Panel, ax: Axes, heights: list[float | None]) -> None:
    """Make an axis logarithmic if values are far apart; tick labels are plain numbers."""
    seen = [height for height in heights if height]
    if panel.log and seen and max(seen) > _FAR * min(seen):
        ax.set_yscale("log")
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        ax.yaxis.set_minor_formatter(NullFormatter())
    elif panel.kind == "bars":
        # An interval may end below the possible values.
        ax.set_ylim(bottom=0)


def _stacked(panel: Panel, ax: Axes, values: Values, published: Published, _styles: Styles) -> None:
    """Draw a bar for each group of the only scheme, or one for each scheme with means over cells."""
    assert isinstance(panel.metric, dict)
    by_scheme = panel.x == "scheme"
    schemes = _shown(panel, values)
    names = [panel.schemes[scheme] for scheme in schemes] if by_scheme else values.groups
    bars = [(scheme, scheme) for scheme in schemes] if by_scheme else [(schemes[0], group) for group in values.groups]
    bottoms = [0.0] * len(bars)
    handles: list[Any] = []
    for at, (metric, label) in enumerate(panel.metric.items()):
        heights = [values.mean(metric, scheme, group) or 0.0 for scheme, group in bars]
        if not any(heights):
            continue
        style: dict[str, Any] = {"color": COLOURS[(at + 1) % len(COLOURS)], "hatch": HATCHES[at % len(HATCHES)]}
        ax.bar(range(len(bars)), heights, 0.6, bottom=bottoms, edgecolor="white", linewidth=0.3, **style)
        for place, key in enumerate(bars):
            paper = published.get((metric, *key))
            if paper is not None:
                ax.bar(place + 0.36, paper, 0.12, bottom=bottoms[place], facecolor="white", edgecolor=style["color"])
        bottoms = [bottom + height for bottom, height in zip(bottoms, heights, strict=True)]
        handles.append(Patch(edgecolor="white", facecolor=style["color"], hatch=style["hatch"], label=label))
    if published:
        handles.append(Patch(facecolor="white", edgecolor="#444444", label="published"))
    _names(ax, names)
    _legend(ax, handles)


def _cdf(panel: Panel, ax: Axes, latencies: Table, styles: Styles) -> None:
    handles: list[Any] = []
    found = distributions_of(panel, latencies)
    by_label = {label: scheme for scheme, label in panel.schemes.items()}
    if any(label not in by_label for label in found):
        # Lines of several cells of one scheme differ.
        styles, by_label = Styles(found), {label: label for label in found}
    for at, (label, (times_ms, shares)) in enumerate(found.items()):
        style = styles.line(by_label[label])
        ax.step(times_ms, shares, where="post", **style)
        handles.append(Line2D([], [], label=label, **style))
        if not panel.log:
            # The papers end at the 95th percentile; the slowest line decides how far that is.
            end = next(time for time, share in zip(times_ms, shares, strict=True) if share >= 0.95)  # noqa: PLR2004
            ax.set_xlim(0, max(end, ax.get_xlim()[1] if at else 0))
    ax.set_ylim(0, 1.0 if panel.log else 0.95)
    if panel.log:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    _legend(ax, handles)


def _names(ax: Axes, names: list[str]) -> None:
    turned = sum(len(name) for name in names) > _TURNED * ax.get_position().width / 0.4
    ax.set_xticks(range(len(names)), names, rotation=30 if turned else 0, ha="right" if turned else "center")


def _legend(ax: Axes, handles: list[Any]) -> None:
    if handles:
        # Beside a title, in half of a page, there is room for two.
        columns = min(len(handles), 4 if ax.get_position().width > _HALF else 2)
        ax.legend(
            handles=handles, frameon=False, fontsize=6, ncols=columns, loc="lower right", bbox_to_anchor=(1.0, 1.0),
            borderaxespad=0.1, handlelength=1.6, columnspacing=0.9,
        )  # fmt: skip
