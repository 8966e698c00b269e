"""The figures of atc18 (AutoSSD)."""

from copyback.figures._specs import MS_PER_NS, Figure, Panel

_FOUR = {"vanilla": "Vanilla", "rain-4/3": "RAIN", "qosfc-shares": "QoSFC", "autossd": "AutoSSD"}
_THREE = {"rain-4/3": "RAIN", "qosfc-shares": "QoSFC", "autossd": "AutoSSD"}
_SERIES = "tables of a reproduction have no series; a run with `measure.window` has it (docs/output.md, window.parquet)"


def _systems(name: str, experiment: str, metric: str, shows: str) -> Figure:
    """Draw four systems under eight traces, normalised to RAIN."""
    panel = Panel(experiment, "bars", metric, _FOUR, "relative to RAIN", base="rain-4/3", mean=True, title=shows,
                  leave_out=("MSN-BEFS, map in DRAM",) if experiment == "fig5" else (), log=True)  # fmt: skip
    return Figure(name, f"{shows}, relative to RAIN", (panel,))


def _distribution(name: str, case: str) -> Figure:
    panel = Panel("fig6", "cdf", "read", _THREE, "share of reads", only={"case": case}, xlabel="response time (ms)",
                  title=case, log=True)  # fmt: skip
    return Figure(name, f"response times of reads under {case}", (panel,))


_CAUSES = {
    "flash": "flash array",
    "transfer": "transfer",
    "scheduler": "scheduler",
    "channel": "busy channel",
    "host_io": "host requests",
    "gc": "GC",
    "map": "map",
    "scrub": "scrub",
}
_WAITS = {f"flash_requests.read.mean_ns.{cause}": label for cause, label in _CAUSES.items()}
_SHARES = {"share-5": "5 %", "share-10": "10 %", "share-20": "20 %", "autossd": "feedback"}
_NINES = (
    ("p99_ns", "two nines (ms)"),
    ("p99_9_ns", "three nines (ms)"),
    ("p99_99_ns", "four nines (ms)"),
    ("max_ns", "longest (ms)"),
)
_TWO = {"rain-4/3": "RAIN", "autossd": "AutoSSD"}
_SYSTEMS = (("a", "mean_ns", "mean response"), ("b", "p99_9_ns", "three nines"))

FIGURES = (
    Figure("1", "bandwidth of random writes before and after collection begins; the paper draws it over time", (
        Panel("fig1", "bars", "bytes_per_s", {"vanilla": "Vanilla"}, "bandwidth (MB/s)", factor=1e-6),
    )),
    Figure("4a", "bandwidth by channel speed", (
        Panel("fig4a", "bars", "bytes_per_s", {"autossd": "AutoSSD"}, "bandwidth (MB/s)", factor=1e-6,
              xlabel="direction and MB/s of a channel"),
    )),
    Figure("4b", "response times and utilization by the size of the map cache", (
        Panel("fig4b", "lines", "response.read.mean_ns", {"autossd": "AutoSSD"}, "mean read (ms)", factor=MS_PER_NS),
        Panel("fig4b", "lines", "response.read.p99_9_ns", {"autossd": "AutoSSD"}, "three nines (ms)", factor=MS_PER_NS),
        Panel("fig4b", "lines", "utilization.die", {"autossd": "AutoSSD"}, "dies in use (%)", factor=100.0, unit="%"),
    )),
    Figure("4c", "response times and progress of GC by its share", tuple(
        Panel("fig4c", "bars", metric, {f"share-{share}": f"{share} %" for share in (5, 20, 40, 60, 80)}, ylabel,
              factor=factor)
        for metric, ylabel, factor in [
            ("response.read.p99_9_ns", "three nines of reads (ms)", MS_PER_NS),
            ("response.read.max_ns", "longest read (ms)", MS_PER_NS),
            ("gc.collections * 1000000000 / gc.under_way_ns", "blocks a second of GC", 1.0),
        ]
    )),
    *(_systems(f"5{letter}", "fig5", f"response.small_read.{metric}", shows) for letter, metric, shows in _SYSTEMS),
    Figure("5c", "six nines, relative to RAIN", (
        Panel("fig5c", "bars", "response.small_read.p99_9999_ns", _TWO, "relative to RAIN",
              base="rain-4/3", mean=True, title="six nines"),
    )),
    Figure("6a", "mean response over time under RAD-AS", not_measured=_SERIES),
    Figure("6b", "free blocks and share of GC over time", not_measured=_SERIES),
    _distribution("6c", "RAD-AS"),
    Figure("7a", "mean response over time under LM-TBE", not_measured=_SERIES),
    Figure("7b", "most reads of a block and share of scrubbing over time", not_measured=_SERIES),
    _distribution("7c", "LM-TBE"),
    Figure("8", "why reads of flash wait under MSN-BEFS", (
        Panel("fig8", "stacked", _WAITS, _FOUR, "mean (ms)", x="scheme", factor=MS_PER_NS),
    )),
    Figure("9", "fixed shares of GC, and a share set by feedback, under MSN-BEFS", tuple(
        Panel("fig9", "bars", f"response.small_read.{metric}", _SHARES, ylabel, factor=MS_PER_NS)
        for metric, ylabel in _NINES
    )),
    *(_systems(f"10{letter}", "fig10", f"response.small_read.{metric}", shows)
      for letter, metric, shows in (*_SYSTEMS, ("c", "max_ns", "longest response, for six nines"))),
    Figure("11a", "mean response over time under DTRS at twice the pace", not_measured=_SERIES),
    Figure("11b", "free blocks and share of GC over time", not_measured=_SERIES),
    _distribution("11c", "DTRS 2x"),
)  # fmt: skip
