"""Figures of results, for a column of a paper: ``copyback.plot.ccdf(result)``.

Each function draws into ``ax``, or into a figure of its own (3.4 inches wide, as a column of two is), and returns the
``Axes``; ``ax.figure.savefig("tails.pdf")`` keeps it. Colours are those of Okabe and Ito, which people with other eyes
tell apart, too, and lines and bars differ in more than colour. matplotlib is needed: ``pip install copyback[plot]``.
"""

from __future__ import annotations

import difflib
import itertools
import math
from typing import TYPE_CHECKING, Any, Literal

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter

from copyback._results import Sweep

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes

    from copyback._copyback import Table
    from copyback._results import Runs

Class = str
"""``"all"``, ``"read"``, ``"write"``, ``"small_read"``, ``"gc_affected"``, ``"gc_affected_read"``,
``"gc_affected_write"``, or of one of several workloads ``"NAME.read"`` or ``"NAME.write"``."""
Op = Literal["read", "write"]

COLOURS = ["#000000", "#E69F00", "#0072B2", "#56B4E9", "#009E73", "#F0E442", "#D55E00", "#CC79A7"]
"""Black, orange, blue, sky blue, bluish green, yellow, vermilion, reddish purple (Okabe and Ito, 2008), in an order in
which neighbours differ in lightness."""
_LINES = ["-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (5, 4))]
_HATCHES = ["", "//", "..", "\\\\", "xx", "--", "oo", "++", "||", "**", "OO"]
_STYLE: Any = {
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
    # Text of a PDF stays text, which can be searched and edited.
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "copyback",
}
_MS = 1e6
_S = 1e9
_FEW_POWERS = 100

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
"""Causes of a breakdown, in the order in which it names them, as a person says them."""

_OVER_TIME = {
    "free_blocks_min": "fewest free blocks of a plane",
    "free_blocks_mean": "free blocks of a plane, mean",
    "queue_depth": "requests outstanding",
    "dies_collecting": "dies collecting",
    "write_amplification": "write amplification",
    "response_mean_ms": "mean response time (ms)",
    "iops": "requests a second",
}


def cdf(result: Runs, of: Class = "read", ax: Axes | None = None) -> Axes:
    """Draw which share of the requests ends within which time, a line for each scheme."""
    ax = _axes(ax)
    for at, (scheme, times_ns, beyond) in enumerate(_distributions(result.latency_histograms, of)):
        ax.step([ns / _MS for ns in times_ns], [1 - share for share in beyond], where="post", label=scheme, **_line(at))
    ax.set(xscale="log", xlabel=_of_class(of), ylabel="share of requests", ylim=(0, 1.02))
    return _done(ax)


def ccdf(result: Runs, of: Class = "read", ax: Axes | None = None, nines: int | None = None) -> Axes:
    """Draw which share of the requests takes longer than which time, both logarithmic.

    A line ends where one request is left. The axis goes down to so many ``nines`` [those that the requests are enough
    for, six at most].
    """
    ax = _axes(ax)
    rarest = 1.0
    for at, (scheme, times_ns, beyond) in enumerate(_distributions(result.latency_histograms, of)):
        seen = [(ns / _MS, share) for ns, share in zip(times_ns, beyond, strict=True) if share > 0]
        ax.step(*zip(*seen, strict=True), where="post", label=scheme, **_line(at))
        rarest = min([rarest, *(share for _, share in seen)])
    nines = nines or min(max(1, math.ceil(-math.log10(rarest))), 6)
    ax.set(xscale="log", yscale="log", xlabel=_of_class(of), ylabel="share that takes longer", ylim=(10.0**-nines, 1))
    return _done(ax)


def bars(
    result: Runs | Sweep,
    metric: str = "response.read.p99_9_ns",
    ax: Axes | None = None,
    *,
    relative: bool = False,
) -> Axes:
    """Draw a number of the reports as bars: of ``compare`` one for each scheme, of ``sweep`` a group for each cell.

    Cells that differ in their seeds only are one group, with the mean and its 95 % interval (Student's t).
    ``relative``: as a share of the first scheme's.
    """
    ax = _axes(ax)
    groups = _groups(result, metric)
    schemes = list(dict.fromkeys(scheme for values in groups.values() for scheme in values))
    unit, factor = _unit(metric)
    width = 0.8 / len(schemes)
    for at, scheme in enumerate(schemes):
        places, heights, errors = [], [], []
        for place, values in enumerate(groups.values()):
            first = values[schemes[0]]
            own = [v / f if relative else v / factor for v, f in zip(values.get(scheme, []), first, strict=False)]
            if own:
                mean, half = _interval(own)
                places.append(place + (at - (len(schemes) - 1) / 2) * width)
                heights.append(mean)
                errors.append(half)
        error = errors if any(errors) else None
        colour = COLOURS[at % len(COLOURS)]
        ax.bar(
            places, heights, width, yerr=error, label=scheme, color=colour, edgecolor="white",
            hatch=_HATCHES[at % len(_HATCHES)], error_kw={"elinewidth": 0.7, "capsize": 1.5},
        )  # fmt: skip
    name = metric.replace("_ns", "")
    ax.set_ylabel(f"{name}, of {schemes[0]}'s" if relative else f"{name}{unit}")
    if len(groups) == 1:
        ax.set_xticks([])
    else:
        ax.set_xticks(range(len(groups)), [label.replace(" ", "\n") for label in groups])
    return _legend_above(_done(ax))


def breakdown(result: Runs, op: Op = "read", ax: Axes | None = None) -> Axes:
    """Draw where the mean response time of reads or writes went, a bar of causes for each scheme."""
    ax = _axes(ax)
    parts = {scheme: dict(result[scheme]["latency_breakdown"][f"{op}_mean_ns"]) for scheme in result.schemes}
    bottoms = [0.0] * len(parts)
    shown = 0
    for cause, name in CAUSES.items():
        heights = [part.get(cause, 0.0) / _MS for part in parts.values()]
        if not any(heights):
            continue
        colour = COLOURS[(shown + 1) % len(COLOURS)]
        hatch = _HATCHES[shown % len(_HATCHES)]
        ax.bar(list(parts), heights, 0.7, bottom=bottoms, label=name, color=colour, hatch=hatch, edgecolor="white")
        bottoms = [bottom + height for bottom, height in zip(bottoms, heights, strict=True)]
        shown += 1
    ax.set_ylabel(f"mean {op} (ms)")
    ax.tick_params(axis="x", rotation=30 if len(parts) > 3 else 0)  # noqa: PLR2004
    return _legend_above(_done(ax))


def over_time(
    result: Runs,
    what: str = "write_amplification",
    ax: Axes | None = None,
    *,
    bins: int = 200,
) -> Axes:
    """Draw a column of ``time_series`` over simulated time, a line for each scheme.

    ``what`` is a name of that table, ``"response_mean_ms"``: the mean of each interval, or ``"iops"``. Intervals are
    joined to at most so many ``bins``: ratios are weighed by what was done, what ends with ``_min`` is the least, all
    else the mean.
    """
    ax = _axes(ax)
    series = result.time_series.to_dict()
    if what not in series and what not in _OVER_TIME:
        names = ", ".join([*(name for name in series if name not in ("scheme", "time_ns")), "response_mean_ms", "iops"])
        message = f"time_series has no column {what!r}; there are {names}"
        raise KeyError(message)
    for at, scheme in enumerate(result.schemes):
        warmup = result[scheme].get("warmup")
        start_ns = warmup["end_ns"] if warmup else 0
        times_s, values = [], []
        rows = [row for row, own in enumerate(series["scheme"]) if own == scheme]
        for part in _joined(series, rows, bins) if rows else []:
            end_ns = series["time_ns"][part[-1]]
            times_s.append(end_ns / _S)
            values.append(_value(series, part, what, start_ns))
            start_ns = end_ns
        ax.plot(times_s, values, label=scheme, **_line(at))
    ax.set(xlabel="simulated time (s)", ylabel=_OVER_TIME.get(what, what))
    return _legend_above(_done(ax))


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
    """Draw which die was at work when, a row for each.

    ``of`` says at what: at collections, from ``gc_events``, or at which commands, from the table ``commands`` (runs
    have it with ``keep=["commands"]``), coloured by what a die did and for whom, from when it took a command until it
    was done with it. ``scheme`` is the first where none is named; ``dies`` are those that are drawn [all of the
    drive]; without times all is drawn that there is.
    """
    scheme = scheme or result.schemes[0]
    table, start, kind_of = (
        (result.gc_events, "start_ns", _collecting) if of == "collections" else (result.commands, "issued_ns", _work)
    )
    columns = table.to_dict()
    ax = _axes(ax)
    rows = [
        row
        for row, (own, at) in enumerate(zip(columns["scheme"], columns["drive"], strict=True))
        if own == scheme and at == drive
    ]
    begin_ms = from_ms if from_ms is not None else min((columns[start][row] / _MS for row in rows), default=0.0)
    end_ms = to_ms if to_ms is not None else max((columns["end_ns"][row] / _MS for row in rows), default=begin_ms + 1)
    drawn = list(dies) if dies is not None else list(range(max((columns["die"][row] for row in rows), default=-1) + 1))
    places = {die: place for place, die in enumerate(drawn)}
    # A command of several planes has several rows, and is one span.
    spans: dict[str, dict[tuple[int, float, float], None]] = {kind: {} for kind in _KINDS}
    for row in rows:
        start_ms, until_ms = columns[start][row] / _MS, columns["end_ns"][row] / _MS
        place = places.get(columns["die"][row])
        if place is not None and until_ms > begin_ms and start_ms < end_ms:
            spans[kind_of(columns, row)][place, start_ms, until_ms] = None
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


# What a die is at work at: a colour, and a hatch for who sees no colours.
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
    """Return what a command is, as the legend names it."""
    op, source = commands["op"][row], commands["source"][row]
    if source not in ("host", "GC"):
        return "other background"
    return "erase" if op == "erase" else f"{source} {op}"


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    with mpl.rc_context(_STYLE):
        figure, own = plt.subplots(layout="constrained")
    figure.set_layout_engine("constrained")
    return own


_LETTER_IN, _MARK_IN, _LEFT_IN = 0.054, 0.42, 0.5
"""Widths of a letter of a legend, of its mark with the room around it, and of what stands left of the axes."""


def _legend_above(ax: Axes) -> Axes:
    """Put the legend above the axes, where it hides nothing, in as many columns as fit the figure."""
    names = ax.get_legend_handles_labels()[1]
    if not names:
        return ax
    spec = ax.get_subplotspec()
    beside = 1 if spec is None else spec.get_gridspec().ncols
    room = ax.figure.bbox.width / ax.figure.dpi / beside - _LEFT_IN
    columns = max(1, int(room / (_MARK_IN + _LETTER_IN * max(map(len, names)))))
    ax.legend(
        frameon=False, fontsize=7, ncols=min(columns, len(names)), loc="lower left", bbox_to_anchor=(0, 1),
        borderaxespad=0.2, handlelength=1.6, columnspacing=1.0,
    )  # fmt: skip
    return ax


def _done(ax: Axes) -> Axes:
    if ax.get_legend_handles_labels()[1]:
        ax.legend(frameon=False, fontsize=7)
    ax.grid(visible=True, axis="both", linewidth=0.3, alpha=0.5)
    ax.set_axisbelow(True)
    if ax.get_xscale() == "log":
        low, high = ax.get_xlim()
        # Where few powers of ten are seen, numbers between them, too.
        between = "25" if high < _FEW_POWERS * low else ""
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        ax.xaxis.set_minor_formatter(FuncFormatter(lambda value, _: f"{value:g}" if f"{value:e}"[0] in between else ""))
    return ax


def _line(at: int) -> dict[str, Any]:
    return {"color": COLOURS[at % len(COLOURS)], "linestyle": _LINES[at % len(_LINES)]}


def _of_class(of: str) -> str:
    workload, dot, op = of.rpartition(".")
    name = f"{workload}'s {op}" if dot else op.replace("_", " ").replace("gc", "GC")
    return f"response time of {name}{'' if of in ('all', 'gc_affected') else 's'} (ms)"


def _distributions(table: Table, of: str) -> list[tuple[str, list[int], list[float]]]:
    """For each scheme the ends of its bins, and which share is beyond each."""
    columns = table.to_dict()
    rows = zip(*(columns[name] for name in ("scheme", "class", "to_ns", "count")), strict=True)
    own = [(scheme, to_ns, count) for scheme, name, to_ns, count in rows if name == of]
    if not own:
        message = f"no request is of the class {of!r}; classes: {', '.join(dict.fromkeys(columns['class']))}"
        raise KeyError(message)
    found = []
    for scheme, bins in itertools.groupby(own, key=lambda row: row[0]):
        ends, counts = zip(*((to_ns, count) for _, to_ns, count in bins), strict=True)
        left = total = sum(counts)
        beyond = [(left := left - count) / total for count in counts]
        found.append((scheme, list(ends), beyond))
    return found


def _groups(result: Runs | Sweep, metric: str) -> dict[str, dict[str, list[float]]]:
    """By cell, and by scheme, the values: one for each seed."""
    groups: dict[str, dict[str, list[float]]] = {}
    if isinstance(result, Sweep):
        columns = result.table.to_dict()
        if metric not in columns:
            message = f"the sweep's table has no column {metric!r}{_alike(metric, columns)}"
            raise KeyError(message)
        rows = zip(*(columns[name] for name in ("cell", "seed", "scheme", metric)), strict=True)
        for cell, seed, scheme, value in rows:
            label = cell.removesuffix(f" seed={seed}")
            groups.setdefault(label, {}).setdefault(scheme, []).append(math.nan if value is None else value)
        return groups
    columns = result.summary.to_dict()
    rows = zip(columns["scheme"], columns["metric"], columns["value"], strict=True)
    values = {scheme: [value] for scheme, name, value in rows if name == metric}
    if not values:
        message = f"the reports have no number {metric!r}{_alike(metric, columns['metric'])}"
        raise KeyError(message)
    return {"": values}


def _alike(metric: str, known: Iterable[str]) -> str:
    """Name numbers that may have been meant."""
    names = list(dict.fromkeys(known))
    wanted = metric.replace(".", "_")
    inside = [name for name in names if wanted in name.replace(".", "_")]
    found = (inside or difflib.get_close_matches(metric, names, 3, 0.5))[:3]
    return f"; there is {', '.join(found)}" if found else "; their names are those of the JSON document"


def _unit(metric: str) -> tuple[str, float]:
    if "_ns" in metric:
        return " (ms)", _MS
    return "", 1.0


# Two-sided 95 % points of Student's t for 1 to 30 degrees of freedom.
_T = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
]  # fmt: skip


def _interval(values: list[float]) -> tuple[float, float]:
    """Mean, and half of its 95 % interval; nothing where there is one value."""
    count = len(values)
    mean = sum(values) / count
    if count == 1:
        return mean, 0.0
    variance = sum((value - mean) ** 2 for value in values) / (count - 1)
    return mean, _T[min(count - 2, len(_T) - 1)] * math.sqrt(variance / count)


def _joined(series: dict[str, list[Any]], rows: list[int], bins: int) -> list[list[int]]:
    """Return the rows of each of so many stretches of time that are alike in length and have some."""
    times_ns = series["time_ns"]
    first, last = times_ns[rows[0]], times_ns[rows[-1]]
    width = max(1, -((first - last - 1) // bins))
    return [list(part) for _, part in itertools.groupby(rows, key=lambda row: (times_ns[row] - first) // width)]


def _value(series: dict[str, list[Any]], rows: list[int], what: str, start_ns: int) -> float:
    """Return the value of some neighbouring rows together; ratios are weighed by what was done."""

    def total(name: str) -> float:
        return float(sum(series[name][row] for row in rows))

    def ratio(above: float, below: float) -> float:
        return above / below if below else math.nan

    if what == "iops":
        return ratio(total("requests_done") * _S, series["time_ns"][rows[-1]] - start_ns)
    if what == "response_mean_ms":
        return ratio(total("response_sum_ns") / _MS, total("requests_done"))
    if what == "write_amplification":
        programmed = sum(total(name) for name in ("host_units", "gc_units", "other_units", "padding_units"))
        return ratio(programmed, total("units_written"))
    values = [value for row in rows if (value := series[what][row]) is not None]
    if what.endswith("_min"):
        return float(min(values, default=math.nan))
    return ratio(float(sum(values)), len(values))
