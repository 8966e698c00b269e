"""Handing policies in for the time of a call."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING

from copyback import _copyback
from copyback.policies import Policy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from copyback._words import Setting

Handed = Policy | Callable[[], Policy]
"""A policy, or what makes one: a class, or a function without arguments."""

_BESIDE: dict[str, dict[str, Setting]] = {
    "admit.shares": {"admit.policy": "debit", "preemption.policy": "always"},
}
"""What a policy needs beside it."""


def _axis_of(policy: Handed) -> str:
    axis = getattr(policy, "axis", None)
    if axis is None and callable(policy):
        axis = getattr(policy(), "axis", None)
    if isinstance(axis, str):
        return axis
    message = f"{policy!r} is no policy: subclass one of those in copyback.policies"
    raise TypeError(message)


@contextmanager
def plugged_in(policies: Iterable[Handed]) -> Iterator[dict[str, Setting]]:
    """Hand policies in; the value is what a configuration has to say, so that they are asked."""
    plugged = [_copyback.plug_in(_axis_of(policy), policy) for policy in policies]
    settings: dict[str, Setting] = {}
    for plug in plugged:
        if f"{plug.axis}.name" in settings:
            message = f"two policies of one axis were handed in: {plug.axis}"
            raise ValueError(message)
        settings |= _BESIDE.get(plug.axis, {})
        settings |= {f"{plug.axis}.policy": "plugin", f"{plug.axis}.name": plug.name}
    try:
        yield settings
    except _copyback.Error:
        # What the policy raised says more than that it did.
        for plug in plugged:
            if (raised := plug.raised()) is not None:
                raise raised from None
        raise
