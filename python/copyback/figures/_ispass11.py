"""The figures of ispass11 (semi-preemptive GC)."""

from copyback.figures._specs import MS_PER_NS, Figure, Panel

_SCHEMES = {"npgc": "NPGC", "pgc": "PGC"}
_THREE = {**_SCHEMES, "pgc-pipeline": "PGC+Pipeline"}
_LEFT_OUT = ("financial1-first10k",)


def _synthetic(letter: str, x: str, xlabel: str, shows: str) -> Figure:
    """Draw the mean and the standard deviation over a parameter of the synthetic workload."""
    experiment = f"fig8{letter}"
    panels = [
        Panel(experiment, "bars", metric, _SCHEMES, ylabel, x=x, xlabel=xlabel, factor=MS_PER_NS, unit="ms")
        for metric, ylabel in [
            ("response.all.mean_ns", "mean response (ms)"),
            ("response.all.stdev_ns", "standard deviation (ms)"),
        ]
    ]
    return Figure(f"8{letter}", shows, tuple(panels))


def _workloads(name: str, experiment: str, metric: str, ylabel: str, shows: str) -> Figure:
    panel = Panel(
        experiment, "bars", metric, _THREE, ylabel, factor=MS_PER_NS, leave_out=_LEFT_OUT, unit="ms", log=True
    )
    return Figure(name, shows, (panel,))


def _scaled(name: str, metric: str, ylabel: str, shows: str) -> Figure:
    """Draw the effect of pace on each workload: a panel for each, a line for each scheme."""
    panels = [
        Panel(
            "fig10",
            "lines",
            metric,
            _SCHEMES,
            ylabel,
            x="workload.time_scale",
            xlabel="time between arrivals",
            title=case,
            factor=MS_PER_NS,
            only={"case": case},
            log=True,
        )
        for case in ("financial", "cello", "tpc-h", "openmail")
    ]
    return Figure(name, shows, tuple(panels))


FIGURES = (
    Figure("2", "throughput of real SSDs", not_measured="it shows real drives, which are not simulated"),
    _synthetic("a", "workload.size.mean", "request size", "response times by request size"),
    _synthetic("b", "workload.arrivals.mean_gap", "time between arrivals", "response times by inter-arrival time"),
    _synthetic(
        "c", "workload.addresses.sequential_share", "share of sequential requests", "response times by sequentiality"
    ),
    _synthetic("d", "workload.read_share", "share of reads", "response times by the share of reads"),
    _workloads("9a", "fig9", "response.all.mean_ns", "mean response (ms)", "mean response of real workloads"),
    _workloads("9b", "fig9", "response.all.stdev_ns", "standard deviation (ms)", "deviation of real workloads"),
    _workloads("9c", "fig9c", "response.all.max_ns", "longest response (ms)", "longest response of real workloads"),
    _scaled("10a", "response.all.mean_ns", "mean response (ms)", "mean response by arrival rate"),
    _scaled("10b", "response.all.stdev_ns", "standard deviation (ms)", "deviation by arrival rate"),
    Figure(
        "10c",
        "what pipelining adds, by arrival rate",
        tuple(
            Panel(
                "fig10c",
                "lines",
                "response.all.mean_ns",
                {"pgc": "PGC", "pgc-pipeline": "PGC+Pipeline"},
                "mean response (ms)",
                x="workload.time_scale",
                xlabel="time between arrivals",
                title=case,
                factor=MS_PER_NS,
                only={"case": case},
                log=True,
            )
            for case in ("financial", "cello", "tpc-h", "openmail")
        ),
    ),
    Figure(
        "11",
        "fewest free blocks by the hard threshold; the paper draws them over time",
        (
            Panel(
                "fig11",
                "lines",
                "min_free_blocks",
                _SCHEMES,
                "fewest free blocks of a plane",
                x="trigger.hard",
                xlabel="hard threshold, relative to the soft one",
                unit="blocks",
            ),
        ),
    ),
    Figure(
        "12",
        "response times by the hard threshold",
        (
            Panel(
                "fig12",
                "bars",
                "response.all.mean_ns",
                {"pgc": "PGC"},
                "mean response (ms)",
                x="trigger.hard",
                xlabel="hard threshold, relative to the soft one",
                factor=MS_PER_NS,
            ),
            Panel(
                "fig12",
                "cdf",
                "all",
                {"pgc": "PGC"},
                "share of requests",
                x="trigger.hard",
                xlabel="response time (ms)",
            ),
        ),
    ),
)
