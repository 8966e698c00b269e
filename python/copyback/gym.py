"""Scheduling of garbage collection as an environment of Gymnasium: ``pip install '.[gym]'``.

One episode is one run. While a collection is active, the agent observes the drive once a period of simulated time
(``admit.shares.period``, 1 ms). It decides the share of the drive's slots that collections may have, or which requests
dies serve first. With a share of 0 only the host proceeds; with 1 the drive collects as fast as it can. With a high
``trigger.soft``, collection is nearly always active, so that the agent also decides whether to free blocks ahead of
need. Scheduling is that of atc18: ``admit.policy = "debit"``, ``preemption.policy = "always"``. While the host waits
for a collection, the agent cannot limit collections to fewer than ``admit.guard`` requests (the guard).

An observation is a vector of six ``float32`` numbers. For others, use a ``gymnasium.ObservationWrapper``, or an
``Observer`` of your own in a policy (docs/examples/learned_gc.py):

=====================  ==================================================================================
``free``               free blocks, as a share of those below which collection starts
``outstanding``        flash requests of the host that wait or are under way, per die
``reads``, ``writes``  logical pages that have arrived since the last decision, per die
``idle``               successive periods without a new request, up to now, at most 100, divided by 100
``share``              the share of slots of collections up to now, from 0 to 1
=====================  ==================================================================================

An action is what the agent ``decides``:

===========  =========================================================================================
``"share"``  a number from 0 to 1, the share from now on; with ``levels``, the index, from 0 on, of one of
             ``levels`` equally spaced shares from 0 to 1
``"first"``  the number of a line of ``FIRST``: the order in which a die serves reads, writes and collections;
             the share of collections stays ``admit.shares.gc`` [20 %]
``"both"``   both, one after the other; without ``levels``, two numbers from 0 to 1: the second selects a line of
             ``FIRST`` in equal parts
===========  =========================================================================================
"""

from __future__ import annotations

import atexit
import threading
import weakref
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from copyback import _commands
from copyback.policies import OrderPolicy, Policy, SharesPolicy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from copyback._copyback import OrderView, SharesView
    from copyback._results import Runs
    from copyback._words import Setting

Class = Literal["read", "write", "gc"]
Decides = Literal["share", "first", "both"]
Action = float | int | tuple[float, int]

__all__ = ["FIRST", "GcEnv", "GcVectorEnv", "Observation", "Observer", "waiting"]

FIRST: list[tuple[Class, Class, Class]] = [
    ("read", "write", "gc"),
    ("read", "gc", "write"),
    ("gc", "read", "write"),
]
"""The classes in the order in which a die serves them, by the number of an action."""

_NAP_S = 0.05
_DECIDES = ("share", "first", "both")
_IDLE_MAX = 100
_OVER = "the episode is over, or has not begun: call reset()"
_SETTINGS: dict[str, Setting] = {"admit.policy": "debit", "preemption.policy": "always", "trigger.scope": "device"}


class Observation(NamedTuple):
    """The observation of an agent: see the module's table."""

    free: float
    outstanding: float
    reads: float
    writes: float
    idle: float
    share: float


class Observer:
    """Makes successive observations from the views of a share policy."""

    def __init__(self, dies: int) -> None:
        """Start without observations, on a drive with ``dies`` dies."""
        self._dies = dies
        self._reads = self._writes = self._idle = 0

    def __call__(self, view: SharesView) -> Observation:
        """Observe the end of a period."""
        reads, writes = view.reads - self._reads, view.writes - self._writes
        self._reads, self._writes = view.reads, view.writes
        self._idle = 0 if reads or writes else min(self._idle + 1, _IDLE_MAX)
        return Observation(
            view.free_blocks / max(view.free_blocks_target, 1),
            view.outstanding / self._dies,
            reads / self._dies,
            writes / self._dies,
            self._idle / _IDLE_MAX,
            view.gc / 100,
        )


def waiting(before: Observation, action: Action, after: Observation) -> float:
    """Reward few outstanding requests after the action: the fewer, the shorter are responses."""
    del before, action
    return -after.outstanding


class _Ended(NamedTuple):
    result: Runs | None
    error: BaseException | None


class _Gone(Exception):  # noqa: N818
    """The environment does not need the rest of the run."""


class _AgentShares(SharesPolicy):
    """Passes every decision to the environment, on another thread, and waits for its answer."""

    def __init__(self, run: _Run) -> None:
        self._run = run

    def update(self, view: SharesView) -> float:
        return self._run.decide(view)


class _AgentOrder(OrderPolicy):
    """Serves classes in the order of the agent's last action."""

    def __init__(self, run: _Run) -> None:
        self._run = run

    def pick(self, view: OrderView) -> Class:
        return next(of for of in self._run.first if of in view.may_run)


class _Action(NamedTuple):
    """The agent's decision; ``None`` leaves the share as it is."""

    share: float | None
    first: int


_UNDER_WAY: weakref.WeakSet[_Run] = weakref.WeakSet()


@atexit.register
def _leave_all() -> None:
    """End the runs that were not closed, before the interpreter ends."""
    for run in list(_UNDER_WAY):
        run.leave()


class _Run:
    """A run on a thread of its own, which waits at each decision."""

    def __init__(self, begin: Callable[[_Run], Runs], dies: int) -> None:
        self.first = FIRST[0]
        _UNDER_WAY.add(self)
        self._observe = Observer(dies)
        # The last message: a question stays until it is answered, and an answer until it is taken. A thread that is
        # interrupted in between finds it again. A lost wake-up does no harm, because threads sleep briefly.
        self._said: Observation | _Ended | _Action | _Gone | None = None
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._go, args=(begin,), name="copyback-gym", daemon=True)
        self._thread.start()

    def _go(self, begin: Callable[[_Run], Runs]) -> None:
        try:
            ended = _Ended(begin(self), None)
        except BaseException as error:
            # The next step raises it.
            ended = _Ended(None, error)
        self._say(ended)

    def _say(self, what: Observation | _Ended | _Action | _Gone) -> None:
        with self._changed:
            self._said = what
            self._changed.notify_all()

    def _wait_for(self, kinds: tuple[type, ...]) -> Any:
        with self._changed:
            while not isinstance(self._said, kinds):
                self._changed.wait(_NAP_S)
            return self._said

    def decide(self, view: SharesView) -> float:
        self._say(self._observe(view))
        answer = self._wait_for((_Action, _Gone))
        if isinstance(answer, _Gone):
            raise answer
        # The order policy reads this when the run continues.
        self.first = FIRST[answer.first]
        return view.gc if answer.share is None else 100 * answer.share

    def answer(self, action: _Action) -> None:
        self._say(action)

    def next(self) -> Observation | _Ended:
        found: Observation | _Ended = self._wait_for((Observation, _Ended))
        return found

    def leave(self) -> None:
        """End the run at its next decision."""
        while self._thread.is_alive():
            if not isinstance(self._said, _Ended):
                self._say(_Gone())
            self._thread.join(_NAP_S)


class GcEnv(gymnasium.Env[np.ndarray, Any]):
    """One drive and one workload. The agent decides the share of collections, or the order at dies.

    Parameters
    ----------
    decides
        What the agent decides: ``"share"``, ``"first"`` or ``"both"``.
    levels
        The number of shares to choose from, from 0 to 100 % [any share].
    reward
        A function of the observation before an action, the action, and the observation after it [``waiting``]. The
        action is the share, the number of a line of ``FIRST``, or a tuple of both.
    requests
        The requests of an episode.
    run
        Other arguments of ``copyback.run``, except ``seed``, ``policies`` and ``progress``.
    set
        Settings; they override those of the environment.

    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        *,
        decides: Decides = "share",
        levels: int | None = None,
        reward: Callable[[Observation, Action, Observation], float] = waiting,
        requests: int = 20_000,
        set: Mapping[str, Setting] | None = None,
        **run: Any,
    ) -> None:
        """Make an environment; the run begins with ``reset``."""
        if levels is not None and levels < 2:  # noqa: PLR2004
            message = f"an agent needs two shares or more to choose from, and levels is {levels}"
            raise ValueError(message)
        if run.get("array") is not None:
            message = "an environment has one drive, but array makes several; leave array out"
            raise ValueError(message)
        self.observation_space = spaces.Box(0, np.inf, (len(Observation._fields),), np.float32)
        self.action_space = _action_space(decides, levels)
        self._decides = decides
        self._levels = levels
        self._reward = reward
        self._requests = requests
        self._settings = {**_SETTINGS, **(set or {})}
        self._options = run
        self._dies = _dies({**run, "set": self._settings})
        self._run: _Run | None = None
        self._last: Observation | None = None
        self._action = _Action(None, 0)
        self._is_answered = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode; ``seed`` determines the workload and all other random draws of the run."""
        super().reset(seed=seed)
        del options
        self.close()
        self._is_answered = False
        run_seed = int(self.np_random.integers(1, 2**31)) if seed is None else seed
        self._run = _Run(lambda run: self._begin(run, run_seed), self._dies)
        first = self._run.next()
        if isinstance(first, _Ended):
            self._run = None
            if first.error is not None:
                raise first.error
            message = "the run ended before a collection began, so the agent had no decision; use more requests"
            raise RuntimeError(message)
        self._last = first
        return np.array(first, np.float32), {"seed": run_seed}

    def _begin(self, run: _Run, seed: int) -> Runs:
        # Factories: of a policy object, the drive would get a copy.
        policies = [_Once(_AgentShares(run))]
        if self._decides != "share":
            policies.append(_Once(_AgentOrder(run)))
        return _commands.run(
            seed=seed, requests=self._requests, policies=policies, set=self._settings, progress=False, **self._options
        )

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Simulate one period; after the last one, ``info["result"]`` has the result."""
        self.send(action)
        return self.receive()

    def send(self, action: Any) -> None:
        """Answer with an action; ``receive`` waits for the next observation.

        Raises
        ------
        ValueError
            If it has too few or too many numbers, or one is not finite; the run waits for another action. A number
            outside ``action_space`` counts as the nearest one inside.

        """
        self._answer(self._understood(action))

    def _understood(self, action: Any) -> _Action:
        numbers = np.asarray(action, dtype=float).reshape(-1)
        wanted = 2 if self._decides == "both" else 1
        if len(numbers) != wanted or not np.isfinite(numbers).all():
            message = f"the action is {action!r}; it has {wanted} finite {'numbers' if wanted > 1 else 'number'}"
            raise ValueError(message)
        share, first = None, 0
        if self._decides != "first":
            drawn = float(numbers[0]) if self._levels is None else float(numbers[0]) / (self._levels - 1)
            share = min(max(drawn, 0.0), 1.0)
        if self._decides == "first":
            first = int(numbers[0])
        elif self._decides == "both":
            first = int(numbers[1] if self._levels is not None else numbers[1] * len(FIRST))
        return _Action(share, min(max(first, 0), len(FIRST) - 1))

    def _answer(self, action: _Action) -> None:
        if self._run is not None and self._is_answered:
            # The sender of the last action was interrupted, and has not received its observation.
            self.receive()
        if self._run is None:
            raise RuntimeError(_OVER)
        self._action = action
        self._is_answered = True
        self._run.answer(action)

    def _rewarded_action(self) -> Action:
        """Return the action as the reward function takes it."""
        share, first = self._action.share or 0.0, self._action.first
        if self._decides == "both":
            return share, first
        return share if self._decides == "share" else first

    def receive(self) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Wait for the observation after an action."""
        if self._run is None or self._last is None or not self._is_answered:
            raise RuntimeError(_OVER)
        after = self._run.next()
        self._is_answered = False
        if isinstance(after, Observation):
            reward = self._reward(self._last, self._rewarded_action(), after)
            self._last = after
            return np.array(after, np.float32), float(reward), False, False, {}
        self._run = None
        if after.error is not None:
            raise after.error
        return np.array(self._last, np.float32), 0.0, True, False, {"result": after.result}

    def close(self) -> None:
        """End the run that is under way."""
        if self._run is not None:
            self._run.leave()
            self._run = None


class _Once:
    """A factory that returns its policy to the run's only drive."""

    __name__ = "gym"

    def __init__(self, policy: Policy) -> None:
        self.axis = policy.axis
        self._policy = policy

    def __call__(self) -> Policy:
        return self._policy


def _action_space(decides: Decides, levels: int | None) -> spaces.Space[Any]:
    if decides not in _DECIDES:
        message = f"decides is {decides!r}; it is one of {', '.join(_DECIDES)}"
        raise ValueError(message)
    if decides == "first":
        if levels is not None:
            message = (
                "levels divide shares, but the agent decides only which requests dies serve first; leave levels out"
            )
            raise ValueError(message)
        return spaces.Discrete(len(FIRST))
    if levels is None:
        return spaces.Box(0, 1, (1 if decides == "share" else 2,), np.float32)
    return spaces.Discrete(levels) if decides == "share" else spaces.MultiDiscrete([levels, len(FIRST)])


def _dies(run: dict[str, Any]) -> int:
    import tomllib  # noqa: PLC0415

    asked: dict[str, Any] = {key: run[key] for key in ("experiment", "scheme", "device", "workload") if key in run}
    # These keys belong to the agent's share policy. `config` takes no policies, and refuses `period`.
    asked["set"] = {key: value for key, value in run["set"].items() if not key.startswith("admit.shares.")}
    geometry = tomllib.loads(_commands.config(**asked))["geometry"]
    return int(geometry["channels"] * geometry["chips_per_channel"] * geometry["dies_per_chip"])


class GcVectorEnv(gymnasium.vector.VectorEnv[np.ndarray, Any, np.ndarray]):
    """Several environments at once: their runs go on side by side, each on a thread.

    Parameters
    ----------
    num_envs
        The number of environments.
    more
        Arguments of ``GcEnv``.

    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(self, num_envs: int, **more: Any) -> None:
        """Make the environments."""
        self.envs = [GcEnv(**more) for _ in range(num_envs)]
        self.num_envs = num_envs
        self.single_observation_space = self.envs[0].observation_space
        self.single_action_space = self.envs[0].action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._is_over = np.zeros(num_envs, dtype=bool)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode of each; a single seed is the first of successive seeds."""
        del options
        seeds = list(range(seed, seed + self.num_envs)) if isinstance(seed, int) else seed or [None] * self.num_envs
        infos: dict[str, Any] = {}
        observed = []
        for at, (env, own) in enumerate(zip(self.envs, seeds, strict=True)):
            observation, info = env.reset(seed=own)
            observed.append(observation)
            infos = self._add_info(infos, info, at)
        self._is_over[:] = False
        return np.stack(observed), infos

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Simulate one period of each; an episode that was over restarts."""
        # All actions are checked before any is sent: an error in one does not shift the others.
        understood = [env._understood(action) for env, action in zip(self.envs, actions, strict=True)]
        for env, action, is_over in zip(self.envs, understood, self._is_over, strict=True):
            if not is_over:
                env._answer(action)
        observed, rewards, over = [], np.zeros(self.num_envs), np.zeros(self.num_envs, dtype=bool)
        infos: dict[str, Any] = {}
        for at, env in enumerate(self.envs):
            if self._is_over[at]:
                observation, info = env.reset()
            else:
                observation, rewards[at], over[at], _, info = env.receive()
            observed.append(observation)
            infos = self._add_info(infos, info, at)
        self._is_over = over
        return np.stack(observed), rewards, over.copy(), np.zeros(self.num_envs, dtype=bool), infos

    def close_extras(self, **_: Any) -> None:
        """End the runs that are under way."""
        for env in self.envs:
            env.close()
