"""The environment follows Gymnasium's interface, its agent decides, and learning pays."""

import importlib
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT
from gymnasium.utils.env_checker import check_env

import copyback
from copyback.gym import FIRST, GcEnv, GcVectorEnv

BURSTS = {
    "workload.requests": 3000,
    "workload.read_share": 0.5,
    "workload.size": {"kind": "fixed", "mean": "16 KiB"},
    "workload.arrivals": {"kind": "on-off", "rate": 4000, "burst": "20 ms", "burst_rate": 16_000},
    "workload.addresses": {"kind": "uniform"},
    "trigger.soft": 0.2,
    # Each episode begins with preconditioning: a smaller drive than that of 128 blocks a plane.
    "geometry.blocks_per_plane": 64,
}
SETTINGS = {"admit.policy": "debit", "preemption.policy": "always", "trigger.scope": "device"}


KINDS = [("share", None), ("share", 5), ("first", None), ("both", None), ("both", 3)]


@pytest.mark.once
@pytest.mark.parametrize(("decides", "levels"), KINDS)
def test_gymnasium_takes_it_for_an_environment(decides, levels):
    with warnings.catch_warnings():
        # Warnings that numbers of requests have no upper bound, and that the environment renders nothing.
        warnings.simplefilter("ignore", UserWarning)
        check_env(GcEnv(requests=1000, set=BURSTS, decides=decides, levels=levels))


def episode(env, seed, action):
    observed, _ = env.reset(seed=seed)
    seen, rewards, over = [observed], [], False
    while not over:
        observed, reward, over, _, info = env.step(action)
        seen.append(observed)
        rewards.append(reward)
    return np.array(seen), rewards, info["result"]


def test_an_episode_is_the_run_with_the_same_shares():
    env = GcEnv(requests=2000, set=BURSTS)
    seen, rewards, result = episode(env, 7, [0.3])
    # Up to the first decision, collections have the initial share of plugins, 20 %.
    assert seen[0][5] == pytest.approx(0.2)
    assert (seen[1:-1, 5] == np.float32(0.3)).all()
    settings = {**SETTINGS, **BURSTS, "admit.shares.policy": "fixed", "admit.shares.gc": 20}
    fixed = copyback.run(seed=7, requests=2000, set=settings)["baseline"]
    assert episode(env, 7, [0.2])[2]["baseline"]["response"] == fixed["response"] != result["baseline"]["response"]
    assert sum(rewards) == pytest.approx(-seen[1:-1, 1].sum(), rel=1e-5)
    # In three quarters of the time no request arrives.
    assert 0.6 < ((seen[:, 2] + seen[:, 3]) == 0).mean() < 0.9


@pytest.mark.once
def test_the_agent_decides():
    env = GcEnv(requests=2000, set=BURSTS)
    much, little = (episode(env, 7, [share])[2]["baseline"]["gc"]["collections"] for share in (1.0, 0.0))
    assert much > 1.5 * little


@pytest.mark.once
def test_the_agent_decides_which_class_is_served_first():
    # An episode equals the run with the named order; a run with another order differs.
    def named(line):
        class Named(copyback.OrderPolicy):
            def pick(self, view):
                return next(of for of in FIRST[line] if of in view.may_run)

        shares = {"admit.shares.policy": "fixed", "admit.shares.gc": 100}
        return copyback.run(seed=7, requests=2000, policies=[Named], set={**SETTINGS, **BURSTS, **shares})

    env = GcEnv(requests=2000, set={**BURSTS, "admit.shares.gc": 100}, decides="first")
    means = []
    for line in range(len(FIRST)):
        of_env, of_run = episode(env, 7, line)[2]["baseline"], named(line)["baseline"]
        assert of_env["gc"]["collections"] > 0
        if line == 0:
            # Until the first decision, the order is that of line 0.
            assert of_env["response"] == of_run["response"]
        means.append(of_env["response"]["all"]["mean_ns"])
    assert means[0] < means[2], "requests wait less where collections come last"
    assert len(set(means)) == len(means)


def test_an_agent_may_decide_both_and_is_told_both():
    told = []
    env = GcEnv(
        requests=1000, set=BURSTS, decides="both", levels=3, reward=lambda _, action, __: told.append(action) or 0
    )
    episode(env, 1, [1, 2])
    assert set(told) == {(0.5, 2)}
    told.clear()
    env = GcEnv(requests=1000, set=BURSTS, decides="both", reward=lambda _, action, __: told.append(action) or 0)
    episode(env, 1, [0.25, 0.5])
    assert set(told) == {(0.25, 1)}
    for wrong in [{"decides": "what"}, {"decides": "first", "levels": 3}]:
        with pytest.raises(ValueError, match=r"decides|levels"):
            GcEnv(requests=10, **wrong)


def test_rewards_are_settable():
    env = GcEnv(requests=1000, set=BURSTS, reward=lambda before, action, after: action)
    assert set(episode(env, 1, [0.5])[1][:-1]) == {0.5}


def test_several_runs_go_side_by_side():
    several = GcVectorEnv(3, requests=1000, set=BURSTS)
    observed, info = several.reset(seed=5)
    assert observed.shape == (3, 6)
    assert list(info["seed"]) == [5, 6, 7]
    alone, _, _ = episode(GcEnv(requests=1000, set=BURSTS), 6, [0.4])
    seen = [observed[1]]
    while True:
        observed, _, over, _, info = several.step(np.full((3, 1), 0.4, np.float32))
        seen.append(observed[1])
        if over[1]:
            break
    assert (np.array(seen) == alone).all()
    assert info["result"][1]["baseline"]["reads"] > 0
    several.close()


def test_a_run_that_is_left_ends():
    env = GcEnv(requests=3000, set=BURSTS)
    env.reset(seed=1)
    env.step([0.5])
    env.reset(seed=2)
    env.close()
    with pytest.raises(RuntimeError, match="call reset"):
        env.step([0.5])


def test_a_mistake_in_the_settings_comes_out():
    with pytest.raises(copyback.InputError):
        GcEnv(set={"trigger.sof": 1})
    with pytest.raises(ValueError, match="two shares or more"):
        GcEnv(levels=1)


def learned_gc():
    sys.path.insert(0, str(ROOT / "docs" / "examples"))
    return importlib.import_module("learned_gc")


@pytest.mark.once
def test_learning_pays(monkeypatch):
    """The learned network is better by a tenth than the shares by free blocks, and than any constant share.

    The untrained network is not. None of them postpones work: the number of free blocks at the end is similar. The
    weights are those of one generation of training, which takes a minute: UPDATE_WEIGHTS=1 trains again.
    """
    example, weights = learned_gc(), Path(__file__).with_name("learned_gc.json")
    if os.environ.get("UPDATE_WEIGHTS"):
        weights.write_text(json.dumps(example.train(generations=1).tolist(), indent=1) + "\n")
    # One of the seeds, and half of the shares, to be quick: the network's tail is half of the others' on each seed.
    seeds = example.HELD_OUT[:1]
    monkeypatch.setattr(example, "TRAINING", [1])
    reactive = example.median_outcome(settings=example.REACTIVE, seeds=seeds)
    untrained = example.median_outcome(example.Network(example.untrained()), seeds=seeds)
    best_percent = example.best_constant(example.CONSTANTS[:8:2])
    constant = example.median_outcome(settings=example.constant(best_percent), seeds=seeds)
    learned = example.median_outcome(example.Network(json.loads(weights.read_text())), seeds=seeds)
    print(reactive, untrained, constant, learned, sep="\n")
    assert untrained.p99_9_ms > 0.9 * reactive.p99_9_ms
    assert learned.p99_9_ms < 0.9 * min(reactive.p99_9_ms, constant.p99_9_ms)
    assert learned.free_blocks > 0.5 * reactive.free_blocks
    assert learned.write_amplification < 1.1 * reactive.write_amplification


@pytest.mark.once
def test_training_finds_the_least_of_a_function():
    # The least value, 0, is at the origin. Weights of the first generation are 33 standard normals: 5.7 on average.
    weights = learned_gc().train(generations=8, cost=np.linalg.norm)
    assert np.linalg.norm(weights) < 2.5


@pytest.mark.once
def test_a_network_is_trained_on_its_runs(monkeypatch):
    # A share of nearly all slots for collection starves the requests of a burst.
    example = learned_gc()
    monkeypatch.setattr(example, "TRAINING", [1])
    monkeypatch.setattr(example, "WARMUP", 1000)
    much, little = (np.append(np.zeros(example.WEIGHTS - 1), bias) for bias in (1.0, -1.0))
    assert example.cost_of_weights(little) < 0.1 * example.cost_of_weights(much)


def test_a_wrong_action_shifts_no_other():
    several = GcVectorEnv(2, requests=1000, set=BURSTS)
    several.reset(seed=5)
    with pytest.raises(ValueError, match="action"):
        several.step([[0.5], [np.nan]])
    shares = [several.step([[share], [share]])[0][:, 5] for share in (0.1, 0.2, 0.3)]
    assert np.allclose(shares, [[0.1] * 2, [0.2] * 2, [0.3] * 2])
    several.close()


@pytest.mark.parametrize("delay_s", [0.02, 0.03, 0.05, 0.08])
def test_an_interrupt_loses_no_question(delay_s):
    """Ctrl-C at any moment of a step: later steps work."""
    # An episode that takes seconds, so that Ctrl-C comes during it.
    long = BURSTS | {"workload.requests": 200_000}
    script = f"""
import os, signal, threading
from copyback.gym import GcEnv
env = GcEnv(requests=200_000, set={long!r})
env.reset(seed=5)
threading.Timer({delay_s}, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    while True:
        env.step([0.5])
except KeyboardInterrupt:
    pass
print([round(float(env.step([share])[0][5]), 3) for share in (0.1, 0.2)])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=20)
    assert done.stdout == "[0.1, 0.2]\n", done.stderr[-1000:]


def test_an_environment_is_of_one_drive():
    with pytest.raises(ValueError, match="one drive"):
        GcEnv(array="raid-5")


def test_an_interrupted_step_shifts_no_other():
    env = GcEnv(requests=1000, set=BURSTS)
    env.reset(seed=5)
    # The state after an interrupt: the action was sent, and its observation was not received.
    env.send([0.5])
    shares = [env.step([share])[0][5] for share in (0.1, 0.2)]
    assert np.allclose(shares, [0.1, 0.2])
    env.close()
    with pytest.raises(RuntimeError, match="reset"):
        env.receive()
