"""Figures of results, for a column of a paper: ``copyback.plot.ccdf(result)``.

Each function draws into ``ax``, or into a figure of its own (3.4 inches wide, as a column of two is), and returns the
``Axes``; ``ax.figure.savefig("tails.pdf")`` keeps it. A scheme has the same colour and dash in every figure, those of
the README and of ``copyback report`` included. Colours are those of Okabe and Ito, which people with other eyes tell
apart, too, and lines and bars differ in more than colour. Lines are named where there is room beside them, and in a
legend otherwise. matplotlib is needed: ``pip install copyback[plot]``.

Response times are of a class of requests: ``"all"``, ``"read"``, ``"write"``, ``"small_read"``, ``"gc_affected"``,
``"gc_affected_read"``, ``"gc_affected_write"`` (of each scheme its own affected requests), or of one of several
workloads ``"NAME.read"`` or ``"NAME.write"``; of a sweep ``"read"`` and ``"write"``.
"""

from copyback.plot._bars import CAUSES, bars, breakdown
from copyback.plot._style import COLOURS
from copyback.plot._tails import ccdf, cdf, lines
from copyback.plot._time import over_time, timeline

__all__ = ["CAUSES", "COLOURS", "bars", "breakdown", "ccdf", "cdf", "lines", "over_time", "timeline"]
