"""The figures of tpds20 (SPD, from plane to die)."""

from copyback.figures._specs import MS_PER_NS, Figure, Panel

_SIX = {
    "baseline-d": "Baseline-D",
    "baseline-p": "Baseline-P",
    "twinblk": "TwinBlk",
    "superpage": "SuperPage",
    "paragc": "ParaGC",
    "spd": "SPD",
}
_FIVE = {scheme: label for scheme, label in _SIX.items() if scheme != "paragc"}
_SPD = {"spd": "SPD", "spd-plus": "SPD+"}


def _normalised(name: str, experiment: str, metric: str, shows: str) -> Figure:
    """Draw all schemes under eleven workloads, normalised to Baseline-D."""
    panel = Panel(experiment, "bars", metric, _SIX, "of Baseline-D's", base="baseline-d", mean=True)
    return Figure(name, f"{shows}, relative to Baseline-D", (panel,))


_MULTI = "flash.host_multi_plane_page_programs / flash.host_page_programs"
_PAGES = "evictions.single_pages + evictions.unaligned_pages + evictions.parallel_pages"
_HITS = "buffer_read_hits + buffer_write_hits / units_read + units_written"
_BLOCKED = "evictions.blocked_by_gc_ns / evictions.time_ns"
_WAIT = "evictions.blocked_by_gc_ns / evictions.blocked_by_gc"
_COST = {f"gc.{part}_ns / gc.collections": part for part in ("read", "transfer", "program", "erase")}

FIGURES = (
    Figure("2", "writes in three cases under Baseline-D", (
        Panel("fig9", "stacked", {
            f"evictions.single_pages / {_PAGES}": "single",
            f"evictions.unaligned_pages / {_PAGES}": "unaligned",
            f"evictions.parallel_pages / {_PAGES}": "parallel",
        }, {"baseline-d": "Baseline-D"}, "share of pages (%)", factor=100.0, mean=True, unit="%"),
    )),
    _normalised("9", "fig9", "response.write.mean_ns", "write latency without GC"),
    Figure("10", "writes by multi-plane commands", (
        Panel("fig9", "bars", _MULTI, _SIX, "share of writes (%)", factor=100.0, mean=True, unit="%"),
    )),
    Figure("11", "planes in use at once, mean and most", (
        Panel("fig9", "bars", "evictions.planes_in_use_mean", _SIX, "planes, mean", mean=True),
        Panel("fig9", "bars", "evictions.planes_in_use_max", _SIX, "planes, most", mean=True, unit="planes"),
    )),
    Figure("12", "buffer hits", (Panel("fig9", "bars", _HITS, _SIX, "share of hits (%)", factor=100.0, mean=True),)),
    _normalised("13", "fig13", "response.write.mean_ns", "write latency with GC"),
    _normalised("14", "fig13", "gc.die_time_ns", "time of dies in GC"),
    Figure("15", "parts of the mean time of a collection, as means over workloads", (
        Panel("fig13", "stacked", _COST,
              {**_SIX, "spd-plus": "SPD+"}, "a collection (ms)", x="scheme", factor=MS_PER_NS),
    )),
    _normalised("16", "fig13", "gc.collections", "collections"),
    _normalised("17", "fig13", "flash.block_erases", "erases"),
    Figure("18", "time of writes that GC blocks, under SPD", (
        Panel("fig13", "bars", _BLOCKED, {"spd": "SPD"}, "share of time (%)", factor=100.0, mean=True, unit="%"),
    )),
    Figure("19", "write latency of SPD and SPD+, relative to SPD", (
        Panel("fig13", "bars", "response.write.mean_ns", _SPD, "of SPD's", base="spd", mean=True),
    )),
    Figure("20", "time of blocked writes, relative to SPD", (
        Panel("fig13", "bars", _WAIT, _SPD, "of SPD's", base="spd", mean=True),
    )),
    Figure("21", "write latency by the size of the buffer, relative to Baseline-D", (
        Panel("fig21", "bars", "response.write.mean_ns", _FIVE, "of Baseline-D's", base="baseline-d", xlabel="buffer"),
    )),
    Figure("22", "write latency with four planes a die, relative to Baseline-D", (
        Panel("fig22", "bars", "response.write.mean_ns", _FIVE, "of Baseline-D's", base="baseline-d", mean=True,
              only={"device": "tpds20-4plane-free"}, title="any planes together"),
        Panel("fig22", "bars", "response.write.mean_ns", _FIVE, "of Baseline-D's", base="baseline-d", mean=True,
              only={"device": "tpds20-4plane"}, title="planes in pairs"),
    )),
    Figure("23", "write latency by map", tuple(
        Panel("fig23", "bars", "response.write.mean_ns",
              {f"{scheme}{suffix}": label for scheme, label in _SIX.items() if scheme not in ("superpage", "paragc")},
              "mean write (ms)", factor=MS_PER_NS, title=title)
        for suffix, title in (("", "page map"), ("-dftl", "DFTL"), ("-fast", "FAST"))
    )),
    Figure("24", "write latency with hot and cold data apart, relative to Baseline-D", (
        Panel("fig24", "bars", "response.write.mean_ns", {
            "baseline-d-hot-cold": "Baseline-D, apart", "spd": "SPD", "spd-hot-cold": "SPD, apart", "spd-plus": "SPD+",
            "spd-plus-hot-cold": "SPD+, apart",
        }, "of Baseline-D's", base="baseline-d", mean=True),
    )),
)  # fmt: skip
