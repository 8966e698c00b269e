"""Handing policies in for the time of a call."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from copyback import _copyback
from copyback.policies import Policy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from copyback._words import Path, Setting

Handed = Policy | Callable[[], Policy]
"""A policy, or what makes one: a class, or a function without arguments."""

_BESIDE: dict[str, dict[str, Setting]] = {
    "admit.shares": {"admit.policy": "debit", "preemption.policy": "always"},
}
"""What a policy needs beside it."""


@dataclass(frozen=True)
class Scheme:
    """A scheme of your own beside others: another one with policies and settings that it has alone.

    ``copyback.compare(schemes=["baseline", copyback.Scheme("mine", policies=[MyVictim])])``

    Parameters
    ----------
    name
        What results call it.
    of
        The scheme that it is otherwise: a name, or the path of a TOML file.
    policies
        Policies written in Python, each in the place of that scheme's own.
    set
        Keys of the configuration, over those of all schemes.

    """

    name: str
    of: Path = "baseline"
    policies: Handed | Iterable[Handed] = ()
    set: Mapping[str, Setting] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check the name, and keep the policies: they may be asked for again.

        Raises
        ------
        ValueError
            Where results could not be called so.

        """
        if not re.fullmatch(r"[\w.+-]+", self.name):
            message = f"{self.name!r} is no name of a scheme: use letters, digits and -_.+"
            raise ValueError(message)
        object.__setattr__(self, "policies", listed(self.policies))


@contextmanager
def assembled(
    schemes: Iterable[Path | Scheme], policies: Handed | Iterable[Handed]
) -> Iterator[tuple[list[str], dict[str, Setting]]]:
    """Hand in the policies of all schemes and those of each; yield how a command names the schemes, and settings."""
    with ExitStack() as stack:
        settings = stack.enter_context(plugged_in(listed(policies)))
        names = []
        for scheme in schemes:
            if not isinstance(scheme, Scheme):
                names.append(os.fspath(scheme))
                continue
            own = {**stack.enter_context(plugged_in(listed(scheme.policies))), **scheme.set}
            settings |= {f"{scheme.name}:{key}": value for key, value in own.items()}
            names.append(f"{scheme.name}={os.fspath(scheme.of)}")
        yield names, settings


def listed(policies: Handed | Iterable[Handed]) -> tuple[Handed, ...]:
    """Return policies as a tuple; one alone may stand for itself."""
    if isinstance(policies, Policy) or callable(policies):
        return (policies,)
    return tuple(policies)


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
