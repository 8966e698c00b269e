"""Labels of numbers, settings and classes of requests in plain words."""

from __future__ import annotations

import re

NS_PER_MS = 1e6

_METRICS = {
    "iops": "requests a second",
    "min_free_blocks": "fewest free blocks of a plane",
    "write_amplification.total": "write amplification",
    "flash.block_erases": "block erases",
    "gc.collections": "collections",
    "gc.units_moved": "units moved by GC",
    "gc.busy_share": "share of time in GC",
    "wear.min_erases": "erases of the least worn block",
    "wear.mean_erases": "erases of a block, mean",
    "wear.max_erases": "erases of the most worn block",
    "simulated_ns": "simulated time",
}
_CLASSES = {
    "all": "",
    "read": "read ",
    "write": "write ",
    "small_read": "small read ",
    "gc_affected": "GC-affected ",
    "gc_affected_read": "GC-affected read ",
    "gc_affected_write": "GC-affected write ",
}
_CAUSES = {"latency_breakdown.read_mean_ns": "read", "latency_breakdown.write_mean_ns": "write"}
_KEYS = {
    "capacity.over_provisioning": "over-provisioning",
    "host.queue_depth": "queue depth",
    "trigger.soft": "soft GC watermark",
    "trigger.hard": "hard GC watermark",
    "trigger.stop": "GC stop watermark",
    "victim.policy": "victim policy",
    "timing.read": "page read time",
    "timing.program": "page program time",
    "timing.erase": "block erase time",
    "workload.read_share": "share of reads",
    "workload.requests": "requests",
    "workload.arrivals.rate": "arrivals a second",
    "case": "workload",
    "cell": "",
}
_UNITS = {"_ns": ("ms", NS_PER_MS), "_bytes_per_s": ("MB/s", 1e6), "_bytes": ("MiB", 2.0**20), "_percent": ("%", 1.0)}
_ABBREVIATIONS = {"gc": "GC", "iops": "IOPS", "dram": "DRAM"}


def unit_of(metric: str) -> tuple[str, float]:
    """Return the unit in which a number is drawn, and its divisor."""
    stem = metric.rsplit(".", 1)[0] if metric.startswith(tuple(_CAUSES)) else metric
    return next(((unit, factor) for end, (unit, factor) in _UNITS.items() if stem.endswith(end)), ("", 1.0))


def of_metric(metric: str, *, unit: bool = True) -> str:
    """Return the label of a number of the reports: ``response.read.p99_9_ns`` is "read response time, p99.9 (ms)"."""
    words = _METRICS.get(metric) or _of_response(metric) or _of_cause(metric) or _plain(metric)
    shown = unit_of(metric)[0]
    return f"{words} ({shown})" if unit and shown else words


def of_key(key: str) -> str:
    """Return the label of a varied setting: ``capacity.over_provisioning`` is "over-provisioning"."""
    return _KEYS[key] if key in _KEYS else _plain(key)


def of_class(of: str) -> str:
    """Return the label of the response times of a class, in milliseconds."""
    workload, dot, op = of.rpartition(".")
    name = f"{workload}'s {op}s" if dot else _requests(op)
    return f"response time of {name} (ms)"


def _requests(of: str) -> str:
    words = _CLASSES.get(of, of.replace("_", " ") + " ").strip()
    return f"{words}s" if words.endswith(("read", "write")) else f"{words} requests".strip()


def _of_response(metric: str) -> str | None:
    found = re.fullmatch(r"(?:(own|matched)|response)\.(\w+)\.(\w+?)(?:_ns)?", metric)
    if found is None:
        return None
    of_first, of, statistic = found.groups()
    words = _CLASSES.get(of, of.replace("_", " ") + " ")
    behind = " of requests that the first scheme's GC affects" if of_first == "matched" else ""
    if statistic == "mean":
        return f"mean {words}response time{behind}"
    if statistic == "count":
        return f"{words}requests{behind}"
    percentile = re.fullmatch(r"p(\d+)(?:_(\d+))?", statistic)
    names = {"max": "longest", "min": "shortest", "stdev": "standard deviation"}
    name = names.get(statistic, statistic.replace("_", " "))
    if percentile is not None:
        name = "median" if statistic == "p50" else f"p{'.'.join(part for part in percentile.groups() if part)}"
    return f"{words}response time{behind}, {name}"


def _of_cause(metric: str) -> str | None:
    stem, _, cause = metric.rpartition(".")
    return f"mean {_CAUSES[stem]} time, {cause.replace('_', ' ')}" if stem in _CAUSES else None


def _plain(name: str) -> str:
    """Remove the unit, underscores, and words that repeat the one before."""
    end = next((end for end in _UNITS if name.endswith(end)), "")
    words = name.removesuffix(end).replace(".", " ").replace("_", " ").split()
    unlike = [word for at, word in enumerate(words) if at == 0 or word != words[at - 1]]
    return " ".join(_ABBREVIATIONS.get(word, word) for word in unlike)
