"""The figures of hpdc18 (I/O-parallelized GC)."""

from copyback.figures._specs import Figure, Panel

_THREE = {"baseline": "Baseline", "gc-par": "GC-PAR", "gc-vic": "GC-VIC"}
_TWO = {"gc-par": "GC-PAR", "gc-vic": "GC-VIC"}


def _normalised(experiment: str, metric: str, title: str, ylabel: str = "relative to the baseline") -> Panel:
    return Panel(experiment, "bars", metric, _TWO, ylabel, base="baseline", mean=True, title=title)


def _distributions(schemes: dict[str, str]) -> tuple[Panel, ...]:
    return tuple(
        Panel(
            "fig11", "cdf", op, schemes, "share of requests", only={"case": case}, title=f"{case}, {op}s",
            xlabel="response time (ms)",
        )
        for case in ("mds_0", "proj_0")
        for op in ("write", "read")
    )  # fmt: skip


FIGURES = (
    Figure("3", "response times up to the 95th percentile: with GC and without",
           _distributions({"baseline": "Normal-GC", "ideal-no-gc": "Ideal-No-GC"})),
    Figure("4", "plane utilization during GC under schemes of other papers; the paper draws sequences of commands", (
        Panel("fig4", "bars", "utilization.plane_during_gc", {"baseline": "Baseline", "pgc": "PGC",
              "dynamic-allocation": "SSDsim", "hios": "HIOS", "gc-vic": "GC-VIC"}, "planes in use (%)", factor=100.0,
              mean=True, unit="%"),
    )),
    Figure("8", "requests that GC affects", (
        Panel("fig8", "stacked", {
            "response.gc_affected_write.count / response.all.count": "writes, affected",
            "response.gc_affected_read.count / response.all.count": "reads, affected",
            "response.write.count - response.gc_affected_write.count / response.all.count": "writes, not affected",
            "response.read.count - response.gc_affected_read.count / response.all.count": "reads, not affected",
        }, {"baseline": "Baseline"}, "share of requests (%)", factor=100.0, mean=True, unit="%"),
    )),
    Figure("9", "response times of the requests that GC affects, relative to the baseline", (
        # Requests that were slow under the baseline are faster under any scheme that collects at other moments. So the
        # panel beside each such panel shows the requests that each scheme's own collection affects.
        _normalised("fig9", "matched.read.mean_ns", "reads, the baseline's"),
        _normalised("fig9", "response.gc_affected_read.mean_ns", "reads, own"),
        _normalised("fig9", "matched.write.mean_ns", "writes, the baseline's"),
        _normalised("fig9", "response.gc_affected_write.mean_ns", "writes, own"),
    )),
    Figure("10", "plane utilization during GC", (
        Panel("fig10", "bars", "utilization.plane_during_gc", _THREE, "planes in use (%)", factor=100.0, mean=True,
              unit="%"),
    )),
    Figure("11", "response times up to the 95th percentile",
           _distributions({"ideal-no-gc": "Ideal-No-GC", "baseline": "Baseline", **_TWO})),
    Figure("12", "response times of all requests, relative to the baseline", (
        _normalised("fig12", "response.read.mean_ns", "reads"),
        _normalised("fig12", "response.write.mean_ns", "writes"),
        _normalised("fig12", "response.all.mean_ns", "all"),
    )),
    Figure("13", "throughput, relative to the baseline", (_normalised("fig13", "iops", ""),)),
)  # fmt: skip
