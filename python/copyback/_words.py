"""Conversion of Python arguments to a command line with options of the same names."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from copyback import _copyback

if TYPE_CHECKING:
    from collections.abc import Iterator

Path = str | os.PathLike[str]
Setting = bool | int | float | str | list[Any] | dict[str, Any]


_AHEAD = 65_536
"""The most requests that a trace reader buffers to sort them by time."""


def wrong(message: str, help: str, *, file: str | None = None, value: str | None = None) -> _copyback.InputError:
    """Return an ``InputError`` with its fields; ``file`` is the argument at fault."""
    error = _copyback.InputError(f"{message}\nhelp: {help}")
    error.message, error.help, error.file, error.value = message, help, file, value
    error.line = error.column = None
    return error


def name_of(argument: str, value: object) -> str:
    """Return a name or a path as text; an ``InputError`` with the argument's name if the value is neither."""
    name = os.fspath(value) if isinstance(value, os.PathLike) else value
    if isinstance(name, str):
        return name
    message = f"`{argument}` has {value!r}, which is no name and no path"
    raise wrong(message, f"use a text or a pathlib.Path, not {_kind(value)}", file=argument, value=repr(value))


def checked_settings(settings: object, argument: str = "set") -> Mapping[str, Setting]:
    """Check that keys are texts, and that TOML can write the values; ``None`` means no settings.

    A table of the configuration may be nested: ``{"trigger": {"soft": 0.1}}`` is ``{"trigger.soft": 0.1}``.

    Raises
    ------
    InputError
        With the argument as its place.

    """
    help = "write for example " + 'set={"trigger.soft": 0.05, "timing.read": "50 us"}'
    if settings is None:
        return {}
    if not isinstance(settings, Mapping):
        message = f"`{argument}` is {settings!r}; it maps keys of the configuration to values"
        raise wrong(message, help, file=argument, value=repr(settings))
    checked: dict[str, Setting] = {}
    for key, value in _unnested(settings, argument, help):
        if key in checked:
            message = f"`{argument}` has two values for {key!r}"
            raise wrong(message, "leave one of them out", file=argument, value=repr(key))
        _written(value, f"{argument}[{key!r}]")
        checked[key] = value
    return checked


_ARGUMENTS = ("device", "scheme", "schemes", "workload", "seed", "requests", "trace", "warmup")
"""Keys of a configuration file that are arguments here."""


def _unnested(settings: Mapping[Any, Any], argument: str, help: str) -> Iterator[tuple[str, Any]]:
    """Go through settings; a table without a dot in its key is replaced by its keys."""
    for key, value in settings.items():
        if not isinstance(key, str) or not key.strip() or "=" in key:
            message = f"`{argument}` has the key {key!r}; a key is a text such as 'trigger.soft'"
            raise wrong(message, help, file=argument, value=repr(key))
        if "." in key:
            yield key, value
        elif isinstance(value, Mapping) and value:
            for inner, own in value.items():
                yield f"{key}.{_name_of_key(inner, f'{argument}[{key!r}]')}", own
        else:
            message = f"`{argument}` has the key {key!r}, which names no key of a table"
            help = f"use the argument {key}=..." if key in _ARGUMENTS else help
            raise wrong(message, help, file=argument, value=repr(key))


def _name_of_key(key: object, place: str) -> str:
    """Check a key of a nested table."""
    if isinstance(key, str) and key.strip() and "=" not in key:
        return key
    message = f"`{place}` has the key {key!r}; keys of a table are texts such as 'soft'"
    raise wrong(message, f"write {str(key)!r}", file=place, value=repr(key))


def _written(value: object, place: str) -> str:
    """Write a value as TOML."""
    scalar = _scalar(value)
    if scalar is not None:
        return scalar
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key, place)} = {_written(part, place)}" for key, part in value.items()) + "}"
    if isinstance(value, os.PathLike):
        return _written(os.fspath(value), place)
    item = getattr(value, "tolist", lambda: value)()  # A scalar or an array of NumPy.
    if item is not value:
        return _written(item, place)
    if isinstance(value, Iterable) and not isinstance(value, (bytes, bytearray, memoryview, set, frozenset)):
        return "[" + ", ".join(_written(part, place) for part in value) + "]"
    message = f"`{place}` is {value!r}; a value is a number, a text, a truth value, a list or a table"
    raise wrong(message, f"convert it: {_kind(value)} has no form in TOML", file=place, value=repr(value))


def _scalar(value: object) -> str | None:
    """Write a number or a text as TOML; a subclass (of NumPy, an enumeration) has a form of its own."""
    if isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, str):
        return json.dumps(str.__str__(value))
    if isinstance(value, int):
        return int.__repr__(value)
    return float.__repr__(value) if isinstance(value, float) else None


def _key(key: object, place: str) -> str:
    """Write a key of a table."""
    if isinstance(key, str):
        return json.dumps(key)
    message = f"`{place}` has the key {key!r}; keys of a table are texts"
    raise wrong(message, f"write {str(key)!r}", file=place, value=repr(key))


def _kind(value: object) -> str:
    return type(value).__name__


def settings_of(settings: Mapping[str, Setting] | None) -> list[str]:
    """Write ``set={"trigger.soft": 0.05}`` as texts of TOML: ``trigger.soft=0.05``."""
    # A text may be a quantity ("50 us"): the library parses it.
    return [
        f"{_text(key)}={_text(value) if isinstance(value, str) else _written(value, f'set[{key!r}]')}"
        for key, value in checked_settings(settings).items()
    ]


def of_settings(settings: Mapping[str, Setting] | None) -> Iterator[str]:
    """Spell ``set={"trigger.soft": 0.05}`` as the program does: ``--set trigger.soft=0.05``."""
    for setting in settings_of(settings):
        yield "--set"
        yield setting


def of_options(**options: object) -> Iterator[str]:
    """Write options: ``None`` and ``False`` omit one, ``True`` is a flag, several values repeat the option."""
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            yield flag
        elif isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
            for part in value:
                yield f"{flag}={_text(part)}"
        else:
            yield f"{flag}={_text(value)}"


def of_fio(fio_args: str | Iterable[str] | None) -> str | None:
    """Return fio's arguments as one text; a list has one argument in each part, as ``subprocess.run`` takes them."""
    if fio_args is None or isinstance(fio_args, str) or not isinstance(fio_args, Iterable):
        return fio_args
    return shlex.join(_text(part) for part in fio_args)


def of_trace(trace: object, most: int | None = None) -> tuple[str | None, _copyback.PassedRequests | None]:
    """Return the name of a trace: a path, or a handle of requests that live as long as the second value.

    At most ``most`` requests of an iterable are taken, plus those that a reader buffers.
    """
    if trace is None:
        return None, None
    if isinstance(trace, (str, os.PathLike)):
        return os.fspath(trace), None
    if _kind(trace) == "LazyFrame":
        message = "`trace` has a LazyFrame, which has no rows yet"
        raise wrong(message, "collect it: trace=frame.collect()", file="trace", value="LazyFrame")
    passed = _copyback.pass_requests(trace, None if most is None else most + _AHEAD)
    return passed.name, passed


def _text(value: object) -> str:
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    return str.__str__(value) if isinstance(value, str) else str(value)
