"""Policies of Python, supplied for a call."""

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

PolicyLike = Policy | Callable[[], Policy]
"""A policy, or a factory of policies: a class, or a function without arguments."""


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
    policies: PolicyLike | Iterable[PolicyLike] = ()
    set: Mapping[str, Setting] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check the name, and copy the policies: an iterator could not be read again.

        Raises
        ------
        ValueError
            If ``name`` cannot be a scheme's name in results.
        InputError
            If ``of`` is no name and no path, or ``set`` does not map keys to values.

        """
        if not re.fullmatch(r"[\w.+-]+", self.name):
            message = f"{self.name!r} is no name of a scheme: use letters, digits and -_.+"
            raise ValueError(message)
        name_of("of", self.of)
        checked_settings(self.set, f"set of {self.name}")
        object.__setattr__(self, "policies", listed(self.policies))


Supplied = list[tuple[str | None, _copyback.SuppliedPolicy]]
"""Policies of a call, each with the name of its scheme; ``None``: for all schemes."""


class Assembled(NamedTuple):
    """The schemes of a call, their own settings, and the policies of all."""

    schemes: list[str]
    settings: dict[str, Setting]
    policies: Supplied


@contextmanager
def assembled(schemes: Iterable[Path | Scheme], policies: PolicyLike | Iterable[PolicyLike]) -> Iterator[Assembled]:
    """Supply the policies of all schemes and those of each, for as long as the context lasts."""
    supplied = _Supplied()
    try:
        supplied.add(None, listed(policies))
        names: list[str] = []
        settings: dict[str, Setting] = {}
        for scheme in schemes:
            if not isinstance(scheme, Scheme):
                names.append(name_of("schemes", scheme))
                continue
            supplied.add(scheme.name, listed(scheme.policies))
            own = checked_settings(scheme.set, f"set of {scheme.name}")
            chosen = next((axis for axis in supplied.axes_of(scheme.name) if f"{axis}.policy" in own), None)
            if chosen is not None:
                message = (
                    f"set of {scheme.name}: '{chosen}.policy' chooses a policy, and `policies` has one for its axis; "
                    "leave one out"
                )
                raise ValueError(message)
            settings |= {f"{scheme.name}:{key}": value for key, value in own.items()}
            names.append(f"{scheme.name}={name_of('of', scheme.of)}")
        yield Assembled(names, settings, supplied.policies)
    except _copyback.Error:
        # The policy's own exception says more than the run's error.
        if (raised := supplied.raised()) is not None:
            raise raised from None
        raise
    finally:
        supplied.close()


class _Supplied:
    """The policies of one call."""

    def __init__(self) -> None:
        """Begin without policies."""
        self.policies: Supplied = []
        self._made: dict[int, _copyback.SuppliedPolicy] = {}

    def add(self, scheme: str | None, policies: Iterable[PolicyLike]) -> None:
        """Supply policies for one scheme, or for all."""
        axes = []
        for policy in policies:
            # Schemes that share a policy share its name: a name with a number would change a scheme's results.
            own = self._made.get(id(policy))
            if own is None:
                own = self._made[id(policy)] = _copyback.supply(_axis_of(policy), policy)
            if own.axis in axes:
                message = (
                    f"policies: two of them are for the axis {own.axis}; leave one out, or combine them in one class"
                )
                raise ValueError(message)
            axes.append(own.axis)
            self.policies.append((scheme, own))

    def axes_of(self, scheme: str) -> list[str]:
        """Return the axes of the policies of one scheme."""
        return [own.axis for name, own in self.policies if name == scheme]

    def raised(self) -> BaseException | None:
        """Return the first exception that a policy raised."""
        return next((raised for own in self._made.values() if (raised := own.raised()) is not None), None)

    def close(self) -> None:
        """End the policies, and interrupt their calls."""
        for own in self._made.values():
            own.close()


def listed(policies: PolicyLike | Iterable[PolicyLike]) -> tuple[PolicyLike, ...]:
    """Return policies as a tuple; a single policy need not be in a list."""
    if isinstance(policies, Policy) or callable(policies):
        return (policies,)
    if not isinstance(policies, Iterable) or isinstance(policies, (str, bytes)):
        raise _no_policy(policies)
    return tuple(policies)


def _axis_of(policy: PolicyLike) -> str:
    axis = getattr(policy, "axis", None)
    if axis is None and callable(policy):
        axis = getattr(policy(), "axis", None)
    if isinstance(axis, str):
        return axis
    raise _no_policy(policy)


def _no_policy(value: object) -> TypeError:
    return TypeError(f"{value!r} is no policy: subclass one of those in copyback.policies")
