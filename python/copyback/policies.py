"""Policies written in Python: classes that decide what a scheme's policies decide.

A policy is handed to ``run`` or ``compare`` (``policies=[MyVictim]``) and takes the place of the scheme's
own along its axis. Hand in a class (or a function), of which each drive gets an instance, or an instance, of which each
drive gets a copy (``copy.deepcopy``).

What a policy sees, its *view*, is valid during the call. Arrays are NumPy's, read-only, and show the simulator's own
memory without a copy; one that is kept beyond the call ends the run, and names itself. So does an answer that is
impossible. An exception that a policy raises comes out of ``run``.

A policy that draws random numbers has to draw them from a generator of its own with a seed (``random.Random(1)``), or
the same inputs give other results.
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
        TriggerView,
        VictimView,
    )

__all__ = [
    "AllocationPolicy",
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
    """Mark a method that does nothing: nobody calls it unless a class has its own."""
    method._is_left_out = True  # type: ignore[attr-defined]
    return method


class BlockState(IntEnum):
    """Where a block is in its life."""

    FREE = 0
    """Erased."""
    OPEN = 1
    """Being filled."""
    FULL = 2
    """A candidate for collection."""
    VICTIM = 3
    """Being collected."""


def _missing(policy: Policy, method: str) -> NotImplementedError:
    return NotImplementedError(
        f"{type(policy).__name__} has no method {method}() of its own, and that is what is asked"
    )


class Policy:
    """A policy along one axis; see the subclasses."""

    axis: ClassVar[str]
    """The table of the configuration that it stands in."""


class VictimPolicy(Policy):
    """Says which block is collected."""

    axis: ClassVar[str] = "victim"
    matches_reads: bool = False
    """Whether it looks at ``view.read_offsets``."""

    def pick(self, view: VictimView) -> int | None:
        """Name a full block: the entry of the view's arrays, or ``None`` where none has anything to free."""
        raise _missing(self, "pick")

    @_left_out
    def on_close(self, block: int, valid: int) -> None:
        """Hear that a block of the drive is full, and how many of its units are valid."""

    @_left_out
    def on_invalidate(self, block: int, valid: int) -> None:
        """Hear that a full block lost a valid unit, and how many are left."""

    @_left_out
    def on_take(self, block: int, valid: int) -> None:
        """Hear that a full block is being collected."""


class TriggerPolicy(Policy):
    """Says when garbage collection starts and stops.

    All that is no question of ``wants`` is as with the policy ``watermark``, whose parameters hold:
    ``set={"trigger.soft": 0.1}``.
    """

    axis: ClassVar[str] = "trigger"

    def wants(self, view: TriggerView) -> bool:
        """Say whether the scope must collect."""
        raise _missing(self, "wants")


class PreemptionPolicy(Policy):
    """Says when garbage collection lets host work onto its die.

    It is asked of the requests that ``points`` would let go first, whose parameters hold:
    ``set={"preemption.fence": "writes"}``.
    """

    axis: ClassVar[str] = "preemption"

    def admits(self, view: PreemptionView) -> bool:
        """Say whether the request goes before the collection's next step; nothing may change here."""
        raise _missing(self, "admits")

    @_left_out
    def on_point(self, die: DieView) -> None:
        """Hear that a point opens, before a step: what the policy remembers changes here."""


class OrderPolicy(Policy):
    """Says which of a die's ready requests goes first."""

    axis: ClassVar[str] = "order"
    puts_gc_first: bool = False
    """Whether the data of collection goes before that of the host on a channel, too."""

    def pick(self, view: OrderView) -> Literal["gc", "read", "write"]:
        """Name one of ``view.may_run``: its first request goes."""
        raise _missing(self, "pick")


class SharesPolicy(Policy):
    """Says how many of the drive's slots collection and scrubbing may have.

    Asked once a period (``admit.shares.period``, 1 ms) while one of them is at work. It stands in
    ``admit.policy = "debit"`` with collections that reserve no die (``preemption.policy = "always"``), both of which
    are set where the scheme has others.
    """

    axis: ClassVar[str] = "admit.shares"

    def update(self, view: SharesView) -> float | tuple[float, float]:
        """Give the share of collection in percent, or those of collection and of scrubbing."""
        raise _missing(self, "update")


class AllocationPolicy(Policy):
    """Says which die gets a new page."""

    axis: ClassVar[str] = "allocation"

    def place(self, view: AllocationView) -> int:
        """Name the die of a page: the entry of the view's arrays; nothing may change here."""
        raise _missing(self, "place")

    @_left_out
    def on_placed(self, die: int) -> None:
        """Hear that a page goes to a die: what the policy remembers changes here."""
