"""Figures of results, for a column of a paper: ``copyback.plot.ccdf(result)``.

Each function draws on ``ax``, or on a new figure (3.4 inches wide, as a column of a paper), and returns the ``Axes``;
``ax.figure.savefig("tails.pdf")`` saves it. A preset scheme has the same dashes in every figure, in the README and in
``copyback report``, and the same colour unless an earlier scheme of the figure has it. Colours are those of Okabe and
Ito, which readers with colour blindness can distinguish. Lines and bars differ in more than colour. A line has its name
beside it if there is space, else in a legend. Needs matplotlib: ``pip install '.[plot]'`` in the repository.

Response times are those of a class of requests: ``"all"``, ``"read"``, ``"write"``, ``"small_read"``,
``"gc_affected"``, ``"gc_affected_read"`` or ``"gc_affected_write"`` (the requests that each scheme's own collection
affects). With several workloads, also ``"NAME.read"`` and ``"NAME.write"``. Sweeps have ``"read"`` and ``"write"``.
"""

from copyback.plot._bars import CAUSES, bars, breakdown
from copyback.plot._style import COLOURS
from copyback.plot._tails import ccdf, cdf, lines
from copyback.plot._time import over_time, timeline

__all__ = ["CAUSES", "COLOURS", "bars", "breakdown", "ccdf", "cdf", "lines", "over_time", "timeline"]
