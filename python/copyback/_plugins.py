"""Handing policies in for the time of a call."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from copyback import _copyback
from copyback._words import checked_settings, name_of
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


class Assembled(NamedTuple):
    """How a command names its schemes, its settings, and the scope in which these name policies."""

    schemes: list[str]
    settings: dict[str, Setting]
    scope: _copyback.Scope


@contextmanager
def assembled(schemes: Iterable[Path | Scheme], policies: Handed | Iterable[Handed]) -> Iterator[Assembled]:
    """Hand in the policies of all schemes and those of each, for as long as the context lasts."""
    plugs = _Plugs()
    try:
        settings = plugs.settings(listed(policies))
        names = []
        for scheme in schemes:
            if not isinstance(scheme, Scheme):
                names.append(name_of("schemes", scheme))
                continue
            own = {**plugs.settings(listed(scheme.policies)), **checked_settings(scheme.set, f"set of {scheme.name}")}
            settings |= {f"{scheme.name}:{key}": value for key, value in own.items()}
            names.append(f"{scheme.name}={name_of('of', scheme.of)}")
        yield Assembled(names, settings, plugs.scope)
    except _copyback.Error:
        # What the policy raised says more than that it did.
        if (raised := plugs.raised()) is not None:
            raise raised from None
        raise
    finally:
        plugs.close()


class _Plugs:
    """The policies of one call, whose names no other call changes."""

    def __init__(self) -> None:
        """Begin without any."""
        self.scope = _copyback.Scope()
        self._plugged: dict[int, _copyback.Plugged] = {}

    def settings(self, policies: Iterable[Handed]) -> dict[str, Setting]:
        """Hand policies in; return what a configuration has to say, so that they are asked."""
        settings: dict[str, Setting] = {}
        for policy in policies:
            # One policy of two schemes has one name, so that each scheme's results are the same as alone.
            plug = self._plugged.get(id(policy))
            if plug is None:
                plug = self._plugged[id(policy)] = _copyback.plug_in(self.scope, _axis_of(policy), policy)
            if f"{plug.axis}.name" in settings:
                message = f"two policies of one axis were handed in: {plug.axis}"
                raise ValueError(message)
            settings |= _BESIDE.get(plug.axis, {})
            settings |= {f"{plug.axis}.policy": "plugin", f"{plug.axis}.name": plug.name}
        return settings

    def raised(self) -> BaseException | None:
        """Return the first exception that a policy raised."""
        return next((raised for plug in self._plugged.values() if (raised := plug.raised()) is not None), None)

    def close(self) -> None:
        """Take the policies away, and interrupt those at work."""
        for plug in self._plugged.values():
            plug.close()


def listed(policies: Handed | Iterable[Handed]) -> tuple[Handed, ...]:
    """Return policies as a tuple; one alone may stand for itself."""
    if isinstance(policies, Policy) or callable(policies):
        return (policies,)
    if not isinstance(policies, Iterable) or isinstance(policies, (str, bytes)):
        raise _no_policy(policies)
    return tuple(policies)


def _axis_of(policy: Handed) -> str:
    axis = getattr(policy, "axis", None)
    if axis is None and callable(policy):
        axis = getattr(policy(), "axis", None)
    if isinstance(axis, str):
        return axis
    raise _no_policy(policy)


def _no_policy(value: object) -> TypeError:
    return TypeError(f"{value!r} is no policy: subclass one of those in copyback.policies")
