"""The functions of ``_commands``: arguments become options of the native part, and its answers become results."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from copyback import _copyback, _progress
from copyback._dask import Cluster
from copyback._plugins import Scheme, assembled, listed
from copyback._results import Document, Runs, Sweep
from copyback._words import checked_settings, name_of, of_fio, of_options, of_settings, of_trace, settings_of, wrong
from copyback.figures import Package

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from copyback._plugins import PolicyLike
    from copyback._words import Path, Setting

Keep = Literal["gc_events", "requests", "commands"]
_TABLES = get_args(Keep)
Around = Literal["worst-read", "worst-write"]


def run(*, scheme: Path | Scheme | None, timeline_die: int | Sequence[int], **arguments: Any) -> Runs:
    """Simulate one scheme."""
    dies = list(timeline_die) if isinstance(timeline_die, (list, tuple, range)) else [timeline_die]
    return _runs(_copyback.run, [] if scheme is None else [scheme], timeline_die=dies, **arguments)


def compare(*, schemes: str | Scheme | Iterable[Path | Scheme] | None, **arguments: Any) -> Runs:
    """Simulate several schemes."""
    return _runs(_copyback.compare, _each(schemes), **arguments)


def _runs(
    call: Callable[..., _copyback.Runs],
    schemes: Iterable[Path | Scheme],
    *,
    trace: object,
    fio_args: str | Iterable[str] | None,
    columns: str | Sequence[str],
    set: Mapping[str, Setting] | None,
    policies: PolicyLike | Iterable[PolicyLike],
    keep: Keep | Iterable[Keep],
    progress: bool | None,
    **options: Any,
) -> Runs:
    kept = _kept(keep)
    name, passed = of_trace(trace, _most(options["requests"], options["warmup"], set))
    options |= {"trace": name, "fio_args": of_fio(fio_args), "columns": _texts(columns), "keep": kept}
    with assembled(schemes, policies) as own, _progress.bars(progress) as on_progress:
        options |= {"schemes": own.schemes, "settings": settings_of({**own.settings, **checked_settings(set)})}
        done = call(options, own.policies, on_progress)
    del passed
    return Runs(done)


def config(*, scheme: Path | None, set: Mapping[str, Setting] | None, **options: Any) -> str:
    """Return the configuration of a run."""
    schemes = [] if scheme is None else [name_of("scheme", scheme)]
    return _copyback.config({**options, "schemes": schemes, "settings": settings_of(set)})


def sweep(
    *,
    schemes: str | Scheme | Iterable[Path | Scheme] | None,
    set: Mapping[str, Setting] | None,
    policies: PolicyLike | Iterable[PolicyLike],
    fresh: bool,
    client: object,
    progress: bool | None,
    **options: Any,
) -> Sweep:
    """Run the cells of a sweep."""
    chosen = list(_each(schemes))
    has_policies = bool(listed(policies)) or any(isinstance(own, Scheme) and own.policies for own in chosen)
    if has_policies and client is not None:
        message = "policies of this process are not on the workers of a cluster; leave client or policies out"
        raise ValueError(message)
    options["fresh"] = fresh
    cluster = None if client is None else Cluster(client)
    with assembled(chosen, policies) as own, _progress.bars(progress) as on_progress:
        options |= {"schemes": own.schemes, "settings": settings_of({**own.settings, **checked_settings(set)})}
        try:
            return Sweep(_copyback.sweep(options, own.policies, on_progress, cluster))
        except BaseException:
            if cluster is not None:
                cluster.cancel()
            raise


def reproduce(*, paper: Path, figures: Path | None, progress: bool | None, **options: Any) -> Document:
    """Judge the claims of a paper."""
    if figures is not None:
        Package().check_figures(os.fspath(paper), figures)
    done = _document(_words(["reproduce"], [("paper", paper)], **options), progress)
    if figures is not None:
        done.draw(figures)
    return done


def validate(*, progress: bool | None, **options: Any) -> Document:
    """Compare the simulator with theory."""
    return _document(_words(["validate"], **options), progress)


def report(*, results: Sequence[Path], **options: Any) -> str:
    """Write a page of results."""
    return _text(_words(["report"], [("results", path) for path in results], **options))


def info(*, workload: object, **options: Any) -> Document:
    """Measure a workload."""
    name, passed = of_trace(workload, _most(options["requests"], None, options["set"]))
    done = _document(_words(["trace", "info"], [("workload", name)], **options), progress=False)
    del passed
    return done


def convert(*, workload: object, output: Path, **options: Any) -> str:
    """Write a workload as a trace file."""
    name, passed = of_trace(workload, _most(options["requests"], None, options["set"]))
    done = _text(_words(["trace", "convert"], [("workload", name), ("output", output)], **options))
    del passed
    return done


def _words(
    command: list[str],
    places: Iterable[tuple[str, Path | None]] = (),
    *,
    set: Mapping[str, Setting] | None = None,
    **options: object,
) -> list[str]:
    """Write a command line; ``--`` precedes the values without an option if one begins with a hyphen."""
    given = [name_of(argument, value) for argument, value in places if value is not None]
    dashes = ["--"] if any(word.startswith("-") and word != "-" for word in given) else []
    return [*command, *of_options(**options), *of_settings(set), *dashes, *given]


def _call(words: Iterable[str], progress: bool | None) -> _copyback.Document | str:
    with _progress.bars(progress) as on_progress:
        return _copyback.call(list(words), on_progress)


def _document(words: Iterable[str], progress: bool | None) -> Document:
    done = _call(words, progress)
    assert isinstance(done, _copyback.Document)
    return Document(done)


def _text(words: Iterable[str]) -> str:
    done = _call(words, progress=False)
    assert isinstance(done, str)
    return done


def page(command: str, name: str) -> str:
    """Return what the program prints on a name."""
    return _text(_words([command], [("name", name)]))


def _kept(keep: str | Iterable[str] | None) -> list[Keep]:
    """Check the names of the tables to keep, before anything runs."""
    names = [keep] if isinstance(keep, str) else list(keep or ())
    for name in names:
        if name not in _TABLES:
            message = f"`keep` has {name!r}, and there is no such table to keep"
            raise wrong(message, f"use {', '.join(_TABLES)}", file="keep", value=repr(name))
    return cast("list[Keep]", names)


def _most(requests: int | None, warmup: int | str | None, set: Mapping[str, Setting] | None) -> int | None:
    """Return how many requests of a trace a run needs at most; ``None`` if that is unknown."""
    is_plain = not any(key.startswith("workload.") for key in checked_settings(set))
    # Another type is refused later, with its argument's name.
    if not isinstance(requests, int) or not isinstance(warmup, (int, type(None))) or not is_plain:
        return None
    return requests + (warmup or 0)


def _texts(columns: str | Sequence[str]) -> list[str]:
    """Return names one by one; a string lists them with commas."""
    return columns.split(",") if isinstance(columns, str) else list(columns)


def _each(schemes: str | Scheme | Iterable[Path | Scheme] | None) -> Iterable[Path | Scheme]:
    """Return the schemes one by one; a string lists them with commas."""
    if isinstance(schemes, str):
        return schemes.split(",")
    if schemes is None or isinstance(schemes, (Scheme, os.PathLike)):
        return () if schemes is None else (schemes,)
    each = list(schemes)
    if not each:
        help = "name schemes, or leave it out"
        raise wrong("`schemes` is empty", help, file="schemes", value=repr(schemes))
    return each
