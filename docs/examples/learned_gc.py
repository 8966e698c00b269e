"""Learn when to collect: a small network decides once a millisecond how many slots collections may have.

The workload is bursty: 20 ms of requests, 60 ms of silence. A reactive drive collects more when fewer blocks are free,
which is during the bursts. The network observes more than free blocks, and has to learn to collect in silence. The
cross-entropy method trains it, on seeds of its own. The score is the 99.9th percentile of all response times on five
other seeds, in runs three times as long as those of the training::

    python docs/examples/learned_gc.py

All policies start collecting below the same watermark. A run is measured long after the blocks that were free at first
are used up, so that no policy gains by postponing collections. The output has the tail of each policy and its work. It
also has the best constant share, chosen on the seeds of the training.
"""

from __future__ import annotations

import multiprocessing
import statistics
import sys
import time
from typing import NamedTuple

import numpy as np

import copyback
from copyback.gym import Observer

HELD_OUT = [101, 102, 103, 104, 105]
TRAINING = [1, 2]
HIDDEN = 4
INPUTS = 6
WEIGHTS = HIDDEN * (INPUTS + 1) + HIDDEN + 1
CONSTANTS = [5, 10, 15, 20, 25, 35, 50, 75, 100]

WARMUP = 10_000
WORKLOAD = {
    "workload.loop": 1,
    "workload.read_share": 0.5,
    "workload.size": {"kind": "fixed", "mean": "16 KiB"},
    "workload.arrivals": {"kind": "on-off", "rate": 5000, "burst": "20 ms", "burst_rate": 20_000},
    "workload.addresses": {"kind": "uniform"},
}
# Sixteen dies, and as many victims at once. If requests wait for space, collection has precedence.
DRIVE = {
    "allocation.policy": "dynamic",
    "trigger.scope": "device",
    "trigger.soft": 0.05,
    "preemption.policy": "always",
    "preemption.victims": 16,
    "admit.policy": "debit",
    "admit.guard": 16,
}
REACTIVE = {"admit.shares.policy": "feedback"}


class Network(copyback.SharesPolicy):
    """Two layers, from an observation to the share of collection."""

    def __init__(self, weights: np.ndarray) -> None:
        first, self.second = np.split(np.asarray(weights, float), [HIDDEN * (INPUTS + 1)])
        self.first = first.reshape(HIDDEN, INPUTS + 1)
        self.observe = Observer(dies=16)

    def update(self, view) -> float:
        seen = np.array([*self.observe(view), 1.0])
        hidden = np.tanh(self.first @ seen)
        return 100 / (1 + np.exp(-4 * (self.second[:-1] @ hidden + self.second[-1])))


class Rule(copyback.SharesPolicy):
    """Nearly all slots in silence, none in bursts: the rule that a person would choose."""

    def __init__(self) -> None:
        self.observe = Observer(dies=16)

    def update(self, view) -> float:
        seen = self.observe(view)
        return 0.0 if seen.reads + seen.writes else 90.0


class Outcome(NamedTuple):
    """The tail of response times, and the work of the drive."""

    p99_9_ms: float
    write_amplification: float
    free_blocks: float

    def __str__(self) -> str:
        return f"{self.p99_9_ms:5.1f} ms; write amplification {self.write_amplification:.2f}, {self.free_blocks:.1f} free"


def constant(percent: float) -> dict[str, object]:
    """Return the settings of a constant share."""
    return {"admit.shares.policy": "fixed", "admit.shares.gc": percent}


def serve(seed: int, measured: int, policy=None, settings=None) -> Outcome:
    """Serve the workload with a policy of Python, or with settings. Free blocks: the mean of all planes at the end."""
    run = copyback.run(
        device="small",
        seed=seed,
        warmup=WARMUP,
        requests=measured,
        policies=[] if policy is None else [policy],
        set={**DRIVE, **WORKLOAD, "workload.requests": WARMUP + measured, **(settings or {})},
        jobs=1,
        progress=False,
    )
    report = run["baseline"]
    free = run.time_series.to_dict()["free_blocks_mean"][-1]
    return Outcome(report["response"]["all"]["p99_9_ns"] / 1e6, report["write_amplification"]["total"], free)


def median_outcome(policy=None, settings=None, seeds=HELD_OUT) -> Outcome:
    """Return medians over seeds that no training has used."""
    served = [serve(seed, 60_000, policy, settings) for seed in seeds]
    return Outcome(*(statistics.median(values) for values in zip(*served, strict=True)))


def cost(policy=None, settings=None) -> float:
    """Return the mean tail on the seeds of the training."""
    return statistics.fmean(serve(seed, 20_000, policy, settings).p99_9_ms for seed in TRAINING)


def cost_of_weights(weights: np.ndarray) -> float:
    return cost(Network(weights))


def train(generations: int, seed: int = 1, cost=cost_of_weights) -> np.ndarray:
    """Train by the cross-entropy method: the next networks are drawn around the best six of 32.

    ``cost`` is a function of the weights, and is called in other processes. Its least value is the best.
    """
    rng = np.random.default_rng(seed)
    mean, spread = np.zeros(WEIGHTS), np.ones(WEIGHTS)
    best, least = mean, np.inf
    begun = time.monotonic()
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        for generation in range(generations):
            networks = mean + spread * rng.standard_normal((32, WEIGHTS))
            costs = np.array(pool.map(cost, networks, chunksize=1))
            in_order = np.argsort(costs)
            if costs[in_order[0]] < least:
                best, least = networks[in_order[0]], costs[in_order[0]]
            mean, spread = networks[in_order[:6]].mean(axis=0), networks[in_order[:6]].std(axis=0) + 0.05
            print(f"{time.monotonic() - begun:4.0f} s, generation {generation}: best {least:.2f}", file=sys.stderr)
    return best


def untrained() -> np.ndarray:
    """Return the weights from which training starts: always half of the slots."""
    return np.zeros(WEIGHTS)


def best_constant(percentages=CONSTANTS) -> float:
    """Return the constant share with the best tail on the seeds of the training."""
    return min(percentages, key=lambda percent: cost(settings=constant(percent)))


def main() -> None:
    print(f"p99.9 of {len(HELD_OUT)} held-out seeds, median")
    print(f"free blocks (feedback)  {median_outcome(settings=REACTIVE)}")
    print(f"untrained network       {median_outcome(Network(untrained()))}")
    percent = best_constant()
    print(f"best constant, {percent:3} %   {median_outcome(settings=constant(percent))}")
    print(f"rule of a person        {median_outcome(Rule())}", flush=True)
    print(f"learned network         {median_outcome(Network(train(generations=6)))}")


if __name__ == "__main__":
    main()
