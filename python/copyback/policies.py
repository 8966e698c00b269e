"""Policies written in Python: classes that replace a scheme's policies, or add a background task.

Pass a policy to ``run`` or ``compare`` (``policies=[MyVictim]``): it replaces the scheme's policy along its axis. Pass
a class (or a function), and each drive gets an instance; or pass an instance, and each drive gets a copy
(``copy.deepcopy``).

A policy decides by its *view* of the drive, which is valid only during the call. Arrays are read-only NumPy arrays of
the simulator's own memory. The run ends with an error if a policy keeps an array beyond the call, or returns an
impossible answer. ``run`` raises the exception of a policy.

A policy that needs random numbers must keep a generator with a seed (``random.Random(1)``). Otherwise the same inputs
give other results.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, ClassVar, Literal, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from copyback._copyback import (
        AllocationView,
        DieView,
        OrderView,
        PreemptionView,
        SharesView,
        TaskView,
        TriggerView,
        VictimView,
    )

__all__ = [
    "AllocationPolicy",
    "BackgroundTask",
    "BlockState",
    "OrderPolicy",
    "Policy",
    "PreemptionPolicy",
    "SharesPolicy",
    "TriggerPolicy",
    "VictimPolicy",
]

_Method = TypeVar("_Method", bound="Callable[..., object]")


def _left_out(method: _Method) -> _Method:
    """Mark a method that does nothing: the simulator calls it only if a class overrides it."""
    method._is_left_out = True  # type: ignore[attr-defined]
    return method


class BlockState(IntEnum):
    """The state of a block."""

    FREE = 0
    """Erased."""
    OPEN = 1
    """Being filled."""
    FULL = 2
    """A candidate for collection."""
    VICTIM = 3
    """Being collected."""


def _missing(policy: Policy, method: str) -> NotImplementedError:
    return NotImplementedError(f"{type(policy).__name__} does not define {method}(), which this kind of policy needs")


class Policy:
    """A policy along one axis; see the subclasses."""

    axis: ClassVar[str]
    """The table of the configuration that chooses the policy."""


class VictimPolicy(Policy):
    """Chooses the block to collect."""

    axis: ClassVar[str] = "victim"
    matches_reads: bool = False
    """Whether the policy reads ``view.read_offsets``."""

    def pick(self, view: VictimView) -> int | None:
        """Return a full block, as an entry of the view's arrays; ``None`` if no block would free anything."""
        raise _missing(self, "pick")

    @_left_out
    def on_close(self, block: int, valid: int) -> None:
        """Record that a block of the drive became full; ``valid`` of its units are valid."""

    @_left_out
    def on_invalidate(self, block: int, valid: int) -> None:
        """Record that a full block lost a valid unit; ``valid`` units remain."""

    @_left_out
    def on_take(self, block: int, valid: int) -> None:
        """Record that the collection of a full block starts, or its relocation for a background task."""


class TriggerPolicy(Policy):
    """Decides when garbage collection starts and stops.

    All else is as under the policy ``watermark``, whose parameters apply (``set={"trigger.soft": 0.1}``): how free
    blocks are counted, idle collection, the hard watermark. A plane on which host writes wait for space is always
    collected.
    """

    axis: ClassVar[str] = "trigger"

    def wants(self, view: TriggerView) -> bool:
        """Return whether the scope must collect."""
        raise _missing(self, "wants")


class PreemptionPolicy(Policy):
    """Decides which host requests preempt garbage collection on its die.

    It is asked only about requests that the policy ``points`` would admit. The parameters of ``points`` apply:
    ``set={"preemption.fence": "writes"}``.
    """

    axis: ClassVar[str] = "preemption"

    def admits(self, view: PreemptionView) -> bool:
        """Return whether the request runs before the collection's next step. Do not change state here."""
        raise _missing(self, "admits")

    @_left_out
    def on_point(self, die: DieView) -> None:
        """Change the policy's state at a preemption point, before the collection's next step."""


class OrderPolicy(Policy):
    """Chooses the first of a die's ready requests."""

    axis: ClassVar[str] = "order"
    puts_gc_first: bool = False
    """Whether collection's data precedes the host's on a channel, too."""

    def pick(self, view: OrderView) -> Literal["gc", "read", "write"]:
        """Return a class of ``view.may_run``; its first request runs."""
        raise _missing(self, "pick")


class SharesPolicy(Policy):
    """Decides how many of the drive's slots collection and scrubbing may have.

    It decides once a period (``admit.shares.period``, 1 ms) while one of them is active. It needs
    ``admit.policy = "debit"`` and collections that reserve no die (``preemption.policy = "always"``). Both are set when
    you pass the policy.
    """

    axis: ClassVar[str] = "admit.shares"

    def update(self, view: SharesView) -> float | tuple[float, float]:
        """Return the share of collection in percent, or the shares of collection and of scrubbing."""
        raise _missing(self, "update")


class AllocationPolicy(Policy):
    """Chooses the die of a new page."""

    axis: ClassVar[str] = "allocation"

    def place(self, view: AllocationView) -> int:
        """Return the die of a page, as an entry of the view's arrays. Do not change state here."""
        raise _missing(self, "place")

    @_left_out
    def on_placed(self, die: int) -> None:
        """Change the policy's state when a page goes to a die."""


class BackgroundTask(Policy):
    """Relocates blocks for its own reasons, beside garbage collection and a scheme's built-in tasks.

    Relocation moves the valid data of a block and erases the block. After each call that may change the answers, and at
    each alarm, the simulator asks ``is_due`` and ``alarm_ns``. A task that becomes due without a call sets an alarm for
    that time. A drive has one such task at most. Results count its blocks and its time as scrubbing.
    """

    axis: ClassVar[str] = "tasks"

    def is_due(self, now_ns: int) -> bool:
        """Return whether blocks must be relocated now. Do not change state here."""
        raise _missing(self, "is_due")

    def pick(self, view: TaskView) -> int | None:
        """Return the full block to relocate next, as an entry of the view's arrays; ``None`` if there is none.

        The simulator drops the answer if the block cannot be relocated now, and asks again later: ``on_erase`` reports
        that the block was relocated.
        """
        raise _missing(self, "pick")

    @_left_out
    def alarm_ns(self, now_ns: int) -> int | None:
        """Return the time of the next alarm; ``None`` for none. Do not change state here.

        A time that is not after ``now_ns`` sets no alarm.
        """

    @_left_out
    def on_start(self, view: TaskView) -> None:
        """Record the blocks of the drive at the beginning of the run."""

    @_left_out
    def on_read(self, block: int, now_ns: int) -> None:
        """Record that a page of a block is read."""

    @_left_out
    def on_program(self, block: int, page_offset: int, now_ns: int) -> None:
        """Record that a page of a block is programmed; with page 0, the block begins to take new data."""

    @_left_out
    def on_erase(self, block: int, now_ns: int) -> None:
        """Record that a block is erased."""

    @_left_out
    def on_alarm(self, now_ns: int) -> None:
        """Record that the time of the alarm has come."""
