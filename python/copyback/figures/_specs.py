"""Descriptions of figures: the panels, and for each its kind of chart, axes and style."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Kind = Literal["bars", "lines", "cdf", "stacked"]
MS_PER_NS = 1e-6
"""The factor from nanoseconds to milliseconds, for metrics."""


@dataclass(frozen=True)
class Panel:
    """One chart of a figure.

    ``metric`` is a number of the reports, or a formula of several numbers, as in claims: a sum of products, or the
    ratio of two such sums. The sums come first: ``a + b / c`` is (a + b) / c. Operators have spaces around them. For a
    ``cdf`` it is a class of requests; ``stacked`` bars have several metrics, each with its label.
    ``schemes`` are the lines or the bars of a group, each with its label; ``x`` is what varies (``case``, or a varied
    key), ``only`` keeps the rows that have these values. ``base`` is the scheme that values are divided by, and
    ``mean`` adds a group with the mean over all. A claim that publishes a number, not a change, is drawn if it has this
    ``unit``.
    """

    experiment: str
    kind: Kind
    metric: str | dict[str, str]
    schemes: dict[str, str]
    ylabel: str
    x: str = "case"
    xlabel: str = ""
    title: str = ""
    factor: float = 1.0
    base: str | None = None
    mean: bool = False
    only: Mapping[str, object] = field(default_factory=dict)
    leave_out: tuple[str, ...] = ()
    unit: str = ""
    log: bool = False


@dataclass(frozen=True)
class Figure:
    """A figure: its name in the paper, what it shows, and its panels or the reason why it is not measured."""

    name: str
    shows: str
    panels: tuple[Panel, ...] = ()
    not_measured: str = ""
