"""Learn when to collect: a small network says once a millisecond how many slots collections may have.

The workload is bursty: 20 ms of requests, 60 ms of silence. A reactive drive collects when free blocks run out, which is
in the bursts. Here collection is nearly always at work, and the network says how much of the drive it gets; what it is
to learn is to let it rest in bursts. It is trained by the cross-entropy method, on seeds of its own, and judged by the
99.9th percentile of all response times on five seeds that it has not seen::

    python docs/examples/learned_gc.py
"""

from __future__ import annotations

import multiprocessing
import statistics
import sys
import time

import numpy as np

import copyback
from copyback.gym import Observer

HELD_OUT = [101, 102, 103, 104, 105]
TRAINING = [1, 2]
HIDDEN = 4
SEEN = 6
WEIGHTS = HIDDEN * (SEEN + 1) + HIDDEN + 1

WORKLOAD = {
    "workload.requests": 10_000,
    "workload.read_share": 0.5,
    "workload.size": {"kind": "fixed", "mean": "16 KiB"},
    "workload.arrivals": {"kind": "on-off", "rate": 5000, "burst": "20 ms", "burst_rate": 20_000},
    "workload.addresses": {"kind": "uniform"},
}
# Sixteen dies, and as many victims at once; requests that wait for space let collection go first.
DRIVE = {
    "device": "small",
    "set": {
        "allocation.policy": "dynamic",
        "trigger.scope": "device",
        "preemption.policy": "always",
        "preemption.victims": 16,
        "admit.policy": "debit",
        "admit.guard": 16,
        **WORKLOAD,
    },
}


class Network(copyback.SharesPolicy):
    """Two layers, from what a drive shows to the share of collection."""

    def __init__(self, weights: np.ndarray) -> None:
        first, self.second = np.split(np.asarray(weights, float), [HIDDEN * (SEEN + 1)])
        self.first = first.reshape(HIDDEN, SEEN + 1)
        self.observe = Observer(dies=16)

    def update(self, view) -> float:
        seen = np.array([*self.observe(view), 1.0])
        hidden = np.tanh(self.first @ seen)
        return 100 / (1 + np.exp(-4 * (self.second[:-1] @ hidden + self.second[-1])))


def p99_9_ms(seed: int, weights: np.ndarray | None = None) -> float:
    """Serve the workload by a network, or reactively: shares follow free blocks, as AutoSSD's do."""
    settings = dict(DRIVE["set"])
    if weights is None:
        settings["admit.shares.policy"] = "feedback"
        policies = []
    else:
        settings["trigger.soft"] = 0.15
        policies = [Network(weights)]
    run = copyback.run(device=DRIVE["device"], seed=seed, policies=policies, set=settings, jobs=1, progress=False)
    return run["baseline"]["response"]["all"]["p99_9_ns"] / 1e6


def median_ms(weights: np.ndarray | None = None) -> float:
    """Judge on the seeds that nobody has trained on."""
    return statistics.median(p99_9_ms(seed, weights) for seed in HELD_OUT)


def worth(weights: np.ndarray) -> float:
    return statistics.fmean(p99_9_ms(seed, weights) for seed in TRAINING)


def train(generations: int, seed: int = 1) -> np.ndarray:
    """The cross-entropy method: of 32 networks the best six say where the next are drawn."""
    rng = np.random.default_rng(seed)
    mean, spread = np.zeros(WEIGHTS), np.ones(WEIGHTS)
    best, least = mean, np.inf
    begun = time.monotonic()
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        for generation in range(generations):
            networks = mean + spread * rng.standard_normal((32, WEIGHTS))
            worths = np.array(pool.map(worth, networks, chunksize=1))
            in_order = np.argsort(worths)
            if worths[in_order[0]] < least:
                best, least = networks[in_order[0]], worths[in_order[0]]
            mean, spread = networks[in_order[:6]].mean(axis=0), networks[in_order[:6]].std(axis=0) + 0.05
            print(f"{time.monotonic() - begun:4.0f} s, generation {generation}: p99.9 {least:.2f} ms", file=sys.stderr)
    return best


def untrained() -> np.ndarray:
    """The network from which training starts: half of the slots, always."""
    return np.zeros(WEIGHTS)


def main() -> None:
    print(f"p99.9 of five held-out seeds, median: reactive {median_ms():.1f} ms,", end=" ")
    print(f"untrained {median_ms(untrained()):.1f} ms,", end=" ", flush=True)
    print(f"learned {median_ms(train(generations=6)):.1f} ms")


if __name__ == "__main__":
    main()
