"""The figures of tc12 (coordinated GC for arrays)."""

from copyback.figures._specs import MS_PER_NS, Figure, Panel

_TWO = {"uncoordinated": "Baseline", "inclusive": "GGC"}
_GGC = {
    "inclusive": "Reactive inclusive",
    "selective": "Reactive selective",
    "proactive": "Proactive idle",
}
_IDEAL = {**_GGC, "ideal-no-gc": "Ideal"}
_WAITING = {"trigger.when": "waiting"}


def _both(experiment: str, x: str, xlabel: str) -> tuple[Panel, ...]:
    return tuple(
        Panel(
            experiment, "bars", metric, _TWO, ylabel, x=x, xlabel=xlabel, factor=MS_PER_NS, only=_WAITING, unit="ms",
        )
        for metric, ylabel in [
            ("response.all.mean_ns", "mean response (ms)"),
            ("response.all.stdev_ns", "standard deviation (ms)"),
        ]
    )  # fmt: skip


def _bandwidth(case: str) -> tuple[Panel, ...]:
    baseline = {"baseline": "Baseline"}
    return (
        Panel("fig1", "bars", "bandwidth.mean_bytes_per_s", baseline, "bandwidth (MB/s)", x="workload.read_share",
              xlabel="share of reads", factor=1e-6, only={"case": case}),
        Panel("fig1", "bars", "bandwidth.cv", baseline, "coefficient of variation", x="workload.read_share",
              xlabel="share of reads", only={"case": case}),
    )  # fmt: skip


def _algorithms(metric: str, schemes: dict[str, str]) -> tuple[Panel, ...]:
    experiments = [("fig6", "HPC"), ("fig11", "bursts"), ("fig11-skew", "skew"), ("fig11-enterprise", "enterprise")]
    return tuple(
        Panel(
            experiment,
            "bars",
            metric,
            schemes,
            "relative to the baseline",
            base="uncoordinated",
            title=title,
            only=_WAITING,
        )
        for experiment, title in experiments
    )


FIGURES = (
    Figure("1", "bandwidth of one drive by the share of reads; the paper's drives are real", _bandwidth("one drive")),
    Figure("2", "bandwidth of an array by the share of reads; the paper's drives are real", _bandwidth("six drives")),
    Figure("3", "variation of bandwidth by drives and RAID levels; the paper draws its distribution", (
        Panel("fig3", "bars", "bandwidth.cv", {"baseline": "Baseline"}, "coefficient of variation"),
    )),
    Figure("4", "variation of bandwidth by RAID level", (
        Panel("fig3", "bars", "bandwidth.cv", {"baseline": "Baseline"}, "coefficient of variation",
              leave_out=("one drive", "four drives")),
    )),
    Figure("6", "response times of HPC-like workloads", _both("fig6", "case", "")),
    Figure("7", "response times by arrival rate", _both("fig7", "workload.time_scale", "time between arrivals")),
    Figure("8", "response times by the number of drives", _both("fig8", "array.drives", "drives")),
    Figure("9", "response times of enterprise workloads", _both("fig9", "case", "")),
    Figure("10", "300 ms of two drives",
           not_measured="tables of a reproduction have no series; `copyback run --microscope` draws this"),
    Figure("11a", "response times of all algorithms, relative to the baseline",
           _algorithms("response.all.mean_ns", _IDEAL)),
    Figure("11b", "erases of all algorithms, relative to the baseline", _algorithms("flash.block_erases", _GGC)),
    Figure("12", "response times of bursts", tuple(
        Panel("fig11", "cdf", "all", {"uncoordinated": "Baseline", **_IDEAL}, "share of requests", title=case,
              only={**_WAITING, "case": case}, xlabel="response time (ms)", log=True)
        for case in ("HPC(W,Burst,M)", "HPC(W,Burst,H)")
    )),
    Figure("13", "300 ms of two algorithms",
           not_measured="tables of a reproduction have no series; `copyback run --microscope` draws this"),
)  # fmt: skip
