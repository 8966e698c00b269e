"""Policies of Python, registered for the duration of a call."""

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
"""A policy, or a factory of policies: a class, or a function without arguments."""

_BESIDE: dict[str, dict[str, Setting]] = {
    "admit.shares": {"admit.policy": "debit", "preemption.policy": "always"},
}
"""Settings that a policy of an axis needs."""


@dataclass(frozen=True)
class Scheme:
    """A scheme of your own: an existing scheme with other policies and settings.

    ``copyback.compare(schemes=["baseline", copyback.Scheme("mine", policies=[MyVictim])])``

    Parameters
    ----------
    name
        Its name in results.
    of
        The scheme that it is based on: a name, or the path of a TOML file.
    policies
        Policies written in Python. Each replaces the policy of ``of``.
    set
        Keys of the configuration; they override settings for all schemes.

    """

    name: str
    of: Path = "baseline"
    policies: Handed | Iterable[Handed] = ()
    set: Mapping[str, Setting] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check the name, and copy the policies: an iterator could not be read again.

        Raises
        ------
        ValueError
            If ``name`` cannot be a scheme's name in results.

        """
        if not re.fullmatch(r"[\w.+-]+", self.name):
            message = f"{self.name!r} is no name of a scheme: use letters, digits and -_.+"
            raise ValueError(message)
        object.__setattr__(self, "policies", listed(self.policies))


class Assembled(NamedTuple):
    """The schemes and settings of a command line, and the scope that resolves the policies they name."""

    schemes: list[str]
    settings: dict[str, Setting]
    scope: _copyback.Scope


@contextmanager
def assembled(schemes: Iterable[Path | Scheme], policies: Handed | Iterable[Handed]) -> Iterator[Assembled]:
    """Register the policies of all schemes and those of each, for as long as the context lasts."""
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
        # The policy's own exception says more than the run's error.
        if (raised := plugs.raised()) is not None:
            raise raised from None
        raise
    finally:
        plugs.close()


class _Plugs:
    """The policies of one call. Other calls do not change their names."""

    def __init__(self) -> None:
        """Begin without policies."""
        self.scope = _copyback.Scope()
        self._plugged: dict[int, _copyback.Plugged] = {}

    def settings(self, policies: Iterable[Handed]) -> dict[str, Setting]:
        """Register policies; return the settings that make a scheme use them."""
        settings: dict[str, Setting] = {}
        for policy in policies:
            # A policy of two schemes has one name, so that each scheme's results equal those of a run alone.
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
        """Remove the policies, and interrupt their calls."""
        for plug in self._plugged.values():
            plug.close()


def listed(policies: Handed | Iterable[Handed]) -> tuple[Handed, ...]:
    """Return policies as a tuple; a single policy need not be in a list."""
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
