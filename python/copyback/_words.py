"""From arguments of Python to the words of a command line, whose names they have."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from copyback import _copyback

if TYPE_CHECKING:
    from collections.abc import Iterator

Path = str | os.PathLike[str]
Setting = bool | int | float | str | list[Any] | dict[str, Any]


_AHEAD = 65_536
"""Requests that a reader of traces holds to sort their times, at most."""


def toml(value: Setting) -> str:
    """Write a value as TOML does."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(part)}" for key, part in value.items()) + "}"
    if isinstance(value, Iterable):
        return "[" + ", ".join(toml(part) for part in value) + "]"
    if hasattr(value, "item"):  # A scalar of NumPy.
        return toml(value.item())
    return repr(value)


def of_settings(settings: Mapping[str, Setting]) -> Iterator[str]:
    """Spell ``set={"trigger.soft": 0.05}`` as the program does: ``--set trigger.soft=0.05``."""
    for key, value in settings.items():
        # A text may well be a quantity ("50 us"), which the program knows how to read.
        yield "--set"
        yield f"{key}={value if isinstance(value, str) else toml(value)}"


def of_options(**options: object) -> Iterator[str]:
    """Spell options: ``None`` and ``False`` leave one out, ``True`` is a flag, several values repeat it."""
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            yield flag
        elif isinstance(value, (list, tuple)):
            for part in value:
                yield f"{flag}={_text(part)}"
        else:
            yield f"{flag}={_text(value)}"


def of_trace(trace: object, most: int | None = None) -> tuple[str | None, _copyback.Handed | None]:
    """Name a trace: a path, or requests that are handed over, which are there as long as the second value is.

    Of an iterable no more than ``most`` are taken, and as many as a reader looks ahead.
    """
    if trace is None:
        return None, None
    if isinstance(trace, (str, os.PathLike)):
        return os.fspath(trace), None
    handed = _copyback.hand_over(trace, None if most is None else most + _AHEAD)
    return handed.name, handed


def _text(value: object) -> str:
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)
