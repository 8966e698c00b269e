"""The values of a panel: measured ones, from the tables of a reproduction, and published ones, from its claims."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from copyback.plot._data import interval, resolution

if TYPE_CHECKING:
    from collections.abc import Mapping

    from copyback._copyback import Table
    from copyback.figures._specs import Panel

Columns = dict[str, list[Any]]
MEAN = "mean"
"""The group with the mean over all others."""


def number(columns: Columns, row: int, metric: str) -> float | None:
    """Return a metric of a row: sums of products, or one such sum over another; ``None`` where a part is missing."""
    bounds = bounds_of(columns, row, metric)
    return None if bounds is None else bounds[1]


def bounds_of(columns: Columns, row: int, metric: str) -> tuple[float, float, float] | None:
    """Return the lowest, the reported and the highest value of a metric.

    Percentiles are the ends of bins of a histogram, and the request that they stand for may lie anywhere in its bin.
    A mean over no requests is ``None``; its product with the number of these requests is their sum, 0.
    """
    above, _, below = metric.partition(" / ")

    def total(text: str) -> tuple[float, float, float] | None:
        low = end = high = 0.0
        for term in text.replace(" - ", " + -1 * ").split(" + "):
            at_end = at_start = 1.0
            names = term.split(" * ")
            counts = [name for name in names if name.endswith(".count") and name in columns]
            empty = [name.removesuffix("count") for name in counts if columns[name][row] == 0]
            for name in names:
                value = float(name) if name.lstrip("-").isdigit() else columns[name][row] if name in columns else None
                if value is None and name in columns and name.startswith(tuple(empty)):
                    value = 0.0
                if value is None:
                    return None
                at_end *= value
                at_start *= max(value - resolution([value], name), 0.0) if name in columns else value
            low, end, high = low + min(at_start, at_end), end + at_end, high + max(at_start, at_end)
        return low, end, high

    over, under = total(above), total(below) if below else (1.0, 1.0, 1.0)
    if over is None or under is None or not all(under):
        return None
    return over[0] / under[2], over[1] / under[1], over[2] / under[0]


@dataclass
class Values:
    """Values of a panel, by metric, scheme and group; one for each seed."""

    groups: list[str]
    measured: dict[str, dict[str, dict[str, list[float]]]]
    labels: dict[str, str]
    """Group of each cell, by the cell's label without its seed."""
    widths: dict[tuple[str, str, str], list[float]] = field(default_factory=dict)
    """By metric, scheme and group: the greatest error of each value, as a percentile may lie anywhere in its bin."""

    def mean(self, metric: str, scheme: str, group: str) -> float | None:
        """Return the mean over seeds; for the group of all, the mean over groups."""
        if group == MEAN:
            means = [self.mean(metric, scheme, other) for other in self.groups if other != MEAN]
            known = [mean for mean in means if mean is not None]
            return sum(known) / len(known) if known else None
        values = self.measured[metric].get(scheme, {}).get(group)
        return sum(values) / len(values) if values else None

    def half(self, metric: str, scheme: str, group: str) -> float:
        """Return half of the 95 % interval over seeds, which is no narrower than the bins of percentiles."""
        values = self.measured[metric].get(scheme, {}).get(group, [])
        widths = self.widths.get((metric, scheme, group), [0.0])
        return interval(values, sum(widths) / len(widths))[1] if values else 0.0


def metrics_of(panel: Panel) -> list[str]:
    """Return the metrics of a panel."""
    return [panel.metric] if isinstance(panel.metric, str) else list(panel.metric)


def rows_of(panel: Panel, columns: Columns) -> list[int]:
    """Return the rows of a table that a panel shows."""

    def is_drawn(row: int) -> bool:
        kept = all(columns[key][row] == value for key, value in panel.only.items())
        return kept and columns["case"][row] not in panel.leave_out

    return [row for row in range(len(columns["cell"])) if is_drawn(row)]


def values_of(panel: Panel, table: Table) -> Values:
    """Return the measured values, normalised as the panel says. Each seed is divided by its own base."""
    columns = table.to_dict()
    values = Values([], {metric: {} for metric in metrics_of(panel)}, {})
    rows = rows_of(panel, columns)
    bases = {(columns["cell"][row], columns["scheme"][row]): row for row in rows}
    for row in rows:
        cell, scheme = columns["cell"][row], columns["scheme"][row]
        group = str(columns[panel.x][row]) if panel.x in columns else ""
        if group not in values.groups:
            values.groups.append(group)
        values.labels[cell.removesuffix(f" seed={columns['seed'][row]}")] = group
        for metric in values.measured:
            bounds = bounds_of(columns, row, metric)
            if bounds is not None and panel.base is not None:
                base = bounds_of(columns, bases[cell, panel.base], metric) if (cell, panel.base) in bases else None
                bounds = _ratio(bounds, base, is_one=scheme == panel.base)
            if bounds is not None:
                low, value, high = (bound if panel.base else bound * panel.factor for bound in bounds)
                values.measured[metric].setdefault(scheme, {}).setdefault(group, []).append(value)
                width = max(value - low, high - value)
                values.widths.setdefault((metric, scheme, group), []).append(width)
    if panel.mean and len(values.groups) > 1:
        values.groups.append(MEAN)
    return values


def _ratio(
    bounds: tuple[float, float, float], base: tuple[float, float, float] | None, *, is_one: bool
) -> tuple[float, float, float] | None:
    """Return the bounds of a ratio; 1 if ``is_one`` (a value over itself). ``None`` if the base is missing or 0."""
    if base is None or not all(base):
        return None
    return (1.0, 1.0, 1.0) if is_one else (bounds[0] / base[2], bounds[1] / base[1], bounds[2] / base[0])


def published_of(panel: Panel, values: Values, claims: list[Mapping[str, Any]]) -> dict[tuple[str, str, str], float]:
    """Return published values by metric, scheme and group, in the panel's unit.

    A published change is applied to the published value of the base scheme, or to its measured value if none is
    published. In a panel that is divided by that scheme, its value is 1, and the result is the published ratio. A
    change of 0 represents words ("no significant improvement"), and is not drawn.
    """
    found: dict[tuple[str, str, str], float] = {}
    changes: dict[tuple[str, str, str], tuple[str, float]] = {}
    for claim in claims:
        metric, scheme, effect = claim["metric"], claim["scheme"], claim["published_effect"]
        if claim["experiment"] != panel.experiment or metric not in values.measured or effect is None:
            continue
        group = _group_of(claim, values)
        if group is None or scheme not in panel.schemes:
            continue
        if claim["measure"] == "change" and claim["against"] != scheme and effect != 0:
            changes.setdefault((metric, scheme, group), (claim["against"], effect))
        elif (claim["measure"] == "figure" and claim["unit"] == panel.unit) or (
            claim["measure"] == "share" and panel.unit == "%"
        ):
            found.setdefault((metric, scheme, group), effect)

    def changed(key: tuple[str, str, str], behind: tuple[str, ...] = ()) -> float | None:
        metric, scheme, group = key
        if key in found:
            return found[key]
        if key not in changes or scheme in behind:
            return 1.0 if scheme == panel.base else values.mean(metric, scheme, group)
        against, effect = changes[key]
        base = changed((metric, against, group), (*behind, scheme))
        return None if base is None else base * (1 + effect / 100)

    of_changes = {key: changed(key) for key in changes}
    return found | {key: value for key, value in of_changes.items() if value is not None and key not in found}


def _group_of(claim: Mapping[str, Any], values: Values) -> str | None:
    """Return the group of a claim: that of its cells, or the group of all; ``None`` if the panel does not have it."""
    groups = {values.labels.get(cell["cell"]) for cell in claim["cells"]}
    if None in groups or not groups:
        return None
    if len(groups) == 1:
        return groups.pop()
    is_of_all = groups == set(values.groups) - {MEAN} and claim["aggregate"] in ("mean", "geometric-mean")
    return MEAN if is_of_all and MEAN in values.groups else None


def distributions_of(panel: Panel, table: Table) -> dict[str, tuple[list[float], list[float]]]:
    """Return by line the ends of bins (ms), and the share of requests that end until then; seeds are added up."""
    columns = table.to_dict()
    lines: dict[str, dict[int, int]] = {}
    for row in rows_of(panel, columns):
        scheme, op = columns["scheme"][row], columns["class"][row]
        if scheme not in panel.schemes or panel.metric not in ("all", op):
            continue
        label = panel.schemes[scheme] if panel.x == "case" else f"{panel.schemes[scheme]}, {columns[panel.x][row]}"
        bins = lines.setdefault(label, {})
        bins[columns["to_ns"][row]] = bins.get(columns["to_ns"][row], 0) + columns["count"][row]
    found = {}
    for label, bins in lines.items():
        total, until = sum(bins.values()), 0
        ends = sorted(bins)
        shares = [(until := until + bins[end]) / total for end in ends]
        found[label] = ([end / 1e6 for end in ends], shares)
    return found
