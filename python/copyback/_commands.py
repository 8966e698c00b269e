"""The program's commands as functions, with the program's names and settings."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal, cast, get_args, overload

from copyback import _copyback, _progress
from copyback._dask import Crew
from copyback._plugins import Scheme, assembled, listed
from copyback._results import Document, Runs, Sweep
from copyback._words import checked_settings, name_of, of_fio, of_options, of_settings, of_trace, settings_of, wrong
from copyback.figures import Package

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from copyback._plugins import PolicyLike
    from copyback._words import Path, Setting

Keep = Literal["gc_events", "requests", "commands"]
_TABLES = get_args(Keep)
Around = Literal["worst-read", "worst-write"]


def _kept(keep: str | Iterable[str] | None) -> list[Keep]:
    """Check the names of the tables to keep, before anything runs."""
    names = [keep] if isinstance(keep, str) else list(keep or ())
    for name in names:
        if name not in _TABLES:
            message = f"`keep` has {name!r}, and there is no such table to keep"
            raise wrong(message, f"use {', '.join(_TABLES)}", file="keep", value=repr(name))
    return cast("list[Keep]", names)


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


def _most(requests: int | None, warmup: int | str | None, set: Mapping[str, Setting] | None) -> int | None:
    """Return how many requests of a trace a run needs at most; ``None`` if that is unknown."""
    is_plain = not any(key.startswith("workload.") for key in checked_settings(set))
    # Another type is refused later, with its argument's name.
    if not isinstance(requests, int) or not isinstance(warmup, (int, type(None))) or not is_plain:
        return None
    return requests + (warmup or 0)


def run(
    experiment: Path | None = None,
    *,
    scheme: Path | Scheme | None = None,
    device: Path | None = None,
    array: Path | None = None,
    workload: Path | None = None,
    trace: object = None,
    fio: Path | None = None,
    fio_args: str | Iterable[str] | None = None,
    format: str | None = None,
    columns: str | Sequence[str] = (),
    skip_bad: int | None = None,
    fit: float | None = None,
    set: Mapping[str, Setting] | None = None,
    policies: PolicyLike | Iterable[PolicyLike] = (),
    open: bool = False,
    closed: bool = False,
    seed: int | None = None,
    requests: int | None = None,
    warmup: int | str | None = None,
    check: bool = False,
    jobs: int | None = None,
    out: Path | None = None,
    json: Path | None = None,
    latex: Path | None = None,
    fio_json: Path | None = None,
    timeline: Path | None = None,
    timeline_from: str | None = None,
    timeline_to: str | None = None,
    timeline_die: int | Sequence[int] = (),
    timeline_around: Around | None = None,
    perfetto: Path | None = None,
    perfetto_from: str | None = None,
    perfetto_for: str | None = None,
    perfetto_around: Around | None = None,
    keep: Keep | Iterable[Keep] = ("gc_events",),
    progress: bool | None = None,
) -> Runs:
    """Simulate a drive, or an array of them, with one scheme.

    Parameters
    ----------
    experiment
        A TOML file with ``device``, ``scheme``, ``workload`` and any overriding tables.
    scheme, device, array, workload
        Names, or paths of TOML files: see ``schemes()``, ``devices()``, ``workloads()``. A scheme may be a
        ``copyback.Scheme``.
    trace
        Replay this instead of a workload: a path; an object with Arrow's PyCapsule protocol (a data frame of pandas or
        polars, a table of pyarrow, a relation of DuckDB); or an iterable of tuples or mappings. Columns are
        ``arrival_ns``, ``op``, ``offset_bytes``, ``length_bytes`` and optionally ``device`` and ``priority``.
    fio
        A job file of fio, instead of a workload: each job is a workload with results of its own.
    fio_args
        A command line of fio, instead of a job file: ``"--rw=randwrite --bs=4k --size=1g"``, or a list of its parts.
    format, columns, skip_bad, fit
        The trace's format [detected]; the columns of a table without a header, in order
        (``"time_us,op,offset,length"``); how many malformed records to skip at most; the share of the drive that the
        trace is to address: blocks a plane are scaled to it.
    set
        Keys of the configuration, for example ``{"trigger.soft": 0.05, "timing.read": "50 us"}``.
    policies
        Policies written in Python. Each replaces the scheme's own: see ``copyback.policies``.
    open, closed
        Requests arrive at the times of the workload (``open``), or when another request ends (``closed``).
    seed
        Seed of every random stream [1].
    requests, warmup
        How many requests are measured [all]; how much is simulated before: a number of requests, a simulated time
        (``"10s"``), or ``"steady"``.
    check
        Check every invariant during the run.
    jobs
        Number of runs at the same time; results do not depend on it [number of cores].
    out, json, latex, fio_json, timeline, perfetto
        Files to write: a folder of Parquet tables, the JSON document, the printed table for LaTeX, a JSON document in
        fio's layout, a drawing of each die's work over time, a trace for https://ui.perfetto.dev.
    timeline_from, timeline_to, timeline_around, perfetto_from, perfetto_for, perfetto_around
        The time window to draw: around the slowest read or write, or from a time (``"1.5 s"``) on, to another or for a
        duration.
    timeline_die
        The dies to draw [the one that works most].
    keep
        Tables to keep in memory: ``"gc_events"`` has a row for every collection, ``"requests"`` for every request,
        ``"commands"`` for every flash command.
    progress
        Whether to show bars (tqdm); ``None``: in a terminal or a notebook.

    Raises
    ------
    InputError, RunError
        With the place, the value and the remedy.

    """
    kept = _kept(keep)
    name, handed = of_trace(trace, _most(requests, warmup, set))
    options: dict[str, object] = {
        "experiment": experiment, "device": device, "array": array, "workload": workload, "trace": name, "fio": fio,
        "fio_args": of_fio(fio_args), "format": format, "columns": _texts(columns), "skip_bad": skip_bad,
        "fit": fit, "open": open, "closed": closed, "seed": seed,
        "requests": requests, "warmup": warmup, "check": check, "jobs": jobs, "out": out, "json": json,
        "latex": latex, "fio_json": fio_json, "timeline": timeline, "timeline_from": timeline_from,
        "timeline_to": timeline_to, "timeline_around": timeline_around, "perfetto": perfetto,
        "timeline_die": list(timeline_die) if isinstance(timeline_die, (list, tuple, range)) else [timeline_die],
        "perfetto_from": perfetto_from, "perfetto_for": perfetto_for, "perfetto_around": perfetto_around, "keep": kept,
    }  # fmt: skip
    with assembled([] if scheme is None else [scheme], policies) as own, _progress.bars(progress) as on_progress:
        options |= {"schemes": own.schemes, "settings": settings_of({**own.settings, **checked_settings(set)})}
        done = _copyback.run(options, own.policies, on_progress)
    del handed
    return Runs(done)


def compare(
    experiment: Path | None = None,
    *,
    schemes: str | Scheme | Iterable[Path | Scheme] | None = None,
    device: Path | None = None,
    array: Path | None = None,
    workload: Path | None = None,
    trace: object = None,
    fio: Path | None = None,
    fio_args: str | Iterable[str] | None = None,
    format: str | None = None,
    columns: str | Sequence[str] = (),
    skip_bad: int | None = None,
    fit: float | None = None,
    set: Mapping[str, Setting] | None = None,
    policies: PolicyLike | Iterable[PolicyLike] = (),
    open: bool = False,
    closed: bool = False,
    seed: int | None = None,
    requests: int | None = None,
    warmup: int | str | None = None,
    check: bool = False,
    jobs: int | None = None,
    out: Path | None = None,
    json: Path | None = None,
    latex: Path | None = None,
    keep: Keep | Iterable[Keep] = ("gc_events",),
    progress: bool | None = None,
) -> Runs:
    """Simulate a drive, or an array of them, with several schemes side by side.

    ``schemes`` are names, paths of TOML files, or ``copyback.Scheme`` objects, which have policies and settings of
    their own. The others are compared with the first. ``policies`` and ``set`` apply to all schemes. The other
    arguments are those of ``run``.
    """
    kept = _kept(keep)
    name, handed = of_trace(trace, _most(requests, warmup, set))
    options: dict[str, object] = {
        "experiment": experiment, "device": device, "array": array, "workload": workload, "trace": name, "fio": fio,
        "fio_args": of_fio(fio_args), "format": format, "columns": _texts(columns), "skip_bad": skip_bad,
        "fit": fit, "open": open, "closed": closed, "seed": seed,
        "requests": requests, "warmup": warmup, "check": check, "jobs": jobs, "out": out, "json": json, "latex": latex,
        "keep": kept,
    }  # fmt: skip
    with assembled(_each(schemes), policies) as own, _progress.bars(progress) as on_progress:
        options |= {"schemes": own.schemes, "settings": settings_of({**own.settings, **checked_settings(set)})}
        done = _copyback.compare(options, own.policies, on_progress)
    del handed
    return Runs(done)


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


def sweep(
    file: Path,
    *,
    schemes: str | Scheme | Iterable[Path | Scheme] | None = None,
    out: Path | None = None,
    requests: int | None = None,
    set: Mapping[str, Setting] | None = None,
    fit: float | None = None,
    seed: int | None = None,
    warmup: int | str | None = None,
    policies: PolicyLike | Iterable[PolicyLike] = (),
    traces: Path | None = None,
    fresh: bool = False,
    jobs: int | None = None,
    client: object = None,
    progress: bool | None = None,
) -> Sweep:
    """Run a grid of devices, schemes, workloads, settings and seeds, and put every number into one table.

    Parameters
    ----------
    file
        A TOML file: device(s), schemes, workload(s) or ``case``, ``set``, ``vary``, seed(s), requests, warmup.
    schemes
        Schemes of every cell; they replace the file's. Names, paths, or ``copyback.Scheme`` objects, as in
        ``compare``. Each runs with every seed of the file.
    out
        The Parquet table to write [the file's name, in the working folder]. The same folder gets the table as CSV, the
        histograms, and a journal: a rerun skips the cells in it.
    set, fit, seed, warmup, requests
        Settings of every cell; they override the file's.
    policies
        Policies written in Python. They replace the policies of every scheme, and appear in its name:
        ``baseline+Mine``. To compare them with other schemes, use ``schemes``. A sweep with policies reuses no earlier
        results (``fresh``), because their code may have changed, and cannot have a ``client``.
    traces
        Folder of recorded traces that the file names [the file's own].
    fresh
        Do not reuse earlier results.
    client
        A ``distributed.Client``: cells run on its cluster's workers, which share the folder of the file. A worker that
        lacks a trace gets it from the client.
    jobs, progress
        As with ``run``.

    """
    chosen = list(_each(schemes))
    has_policies = bool(listed(policies)) or any(isinstance(own, Scheme) and own.policies for own in chosen)
    if has_policies and client is not None:
        message = "policies of this process are not on the workers of a cluster; leave client or policies out"
        raise ValueError(message)
    options: dict[str, object] = {
        "file": file, "out": out, "requests": requests, "fit": fit, "seed": seed, "warmup": warmup, "traces": traces,
        "fresh": fresh or has_policies, "jobs": jobs,
    }  # fmt: skip
    crew = None if client is None else Crew(client)
    with assembled(chosen, policies) as own, _progress.bars(progress) as on_progress:
        options |= {"schemes": own.schemes, "settings": settings_of({**own.settings, **checked_settings(set)})}
        try:
            return Sweep(_copyback.sweep(options, own.policies, on_progress, crew))
        except BaseException:
            if crew is not None:
                crew.cancel()
            raise


def reproduce(
    paper: Path,
    *,
    figure: str | Sequence[str] = (),
    headlines: bool = False,
    worlds: int | None = None,
    full_size: bool = False,
    quick: bool = False,
    out: Path | None = None,
    json: Path | None = None,
    figures: Path | None = None,
    set: Mapping[str, Setting] | None = None,
    fit: float | None = None,
    seed: int | None = None,
    warmup: int | str | None = None,
    traces: Path | None = None,
    fresh: bool = False,
    jobs: int | None = None,
    progress: bool | None = None,
) -> Document:
    """Run a paper's experiments, and compare the results with its claims.

    ``paper`` is a name (``"ispass11"``, ``"tc12"``, ``"hpdc18"``, ``"atc18"``, ``"tpds20"``) or a sweep file with
    ``claim`` tables; ``figure`` chooses some of its figures. Tables and a journal go to the folder ``out``
    [``reproduction``]. With ``figures`` (a folder), the paper's figures are drawn there, with published values beside
    measured ones (needs matplotlib). The result's ``tables`` has the tables of a sweep for each experiment.
    ``headlines`` judges only the claims of the abstract, introduction and conclusion. ``worlds`` judges them in this
    number of draws of the open decisions (``full_size``: with the whole drive and all requests); the result then has no
    tables.
    """
    package = Package()
    if figures is not None:
        package.check_figures(os.fspath(paper), figures)
    chosen = [figure] if isinstance(figure, str) else list(figure)
    words = [
        *of_options(figure=chosen, headlines=headlines, worlds=worlds, full_size=full_size, quick=quick),
        *of_options(out=out, json=json, fit=fit, seed=seed, warmup=warmup),
        *of_options(traces=traces, fresh=fresh, jobs=jobs),
        *of_settings(set),
        *_positional(paper),
    ]
    done = _document(["reproduce", *words], progress)
    if figures is not None:
        done.draw(figures)
    return done


def validate(
    *,
    device: Path | None = None,
    quick: bool = False,
    only: str | Sequence[str] = (),
    seeds: int | None = None,
    seed: int | None = None,
    json: Path | None = None,
    jobs: int | None = None,
    progress: bool | None = None,
) -> Document:
    """Compare the simulator with closed forms and published values; ``passed`` says whether all agree."""
    words = of_options(
        device=device, quick=quick, only=[only] if isinstance(only, str) else list(only), seeds=seeds, seed=seed,
        json=json, jobs=jobs,
    )  # fmt: skip
    return _document(["validate", *words], progress)


def report(*results: Path, out: Path, title: str | None = None, where: str | Sequence[str] = ()) -> str:
    """Make one HTML page of results, at most 3 MB, which needs no network.

    ``results`` are folders or JSON documents of ``run`` and ``compare``, Parquet tables of sweeps, and folders or JSON
    documents of reproductions. The page shows several side by side. ``where`` has conditions (``"read.p99_9 < 5ms"``):
    the page draws a line at each, and says which results meet it. Returns what the program prints.
    """
    conditions = [where] if isinstance(where, str) else list(where)
    return _text(["report", *of_options(out=out, title=title, where=conditions), *_positional(*results)])


def config(
    experiment: Path | None = None,
    *,
    scheme: Path | None = None,
    device: Path | None = None,
    array: Path | None = None,
    workload: Path | None = None,
    set: Mapping[str, Setting] | None = None,
) -> str:
    """Return the configuration of a run with every default filled in, as TOML."""
    options = {"experiment": experiment, "device": device, "array": array, "workload": workload}
    schemes = [] if scheme is None else [name_of("scheme", scheme)]
    return _copyback.config({**options, "schemes": schemes, "settings": settings_of(set)})


@overload
def schemes(name: None = None) -> dict[str, str]: ...
@overload
def schemes(name: str) -> str: ...
def schemes(name: str | None = None) -> dict[str, str] | str:
    """Return the schemes by name, each with a description; with a name, the page of that scheme."""
    return dict(_copyback.listed("schemes")) if name is None else _page("schemes", name)


@overload
def devices(name: None = None) -> dict[str, str]: ...
@overload
def devices(name: str) -> str: ...
def devices(name: str | None = None) -> dict[str, str] | str:
    """Return the devices by name, each with a description; with a name, the configuration of that device as TOML."""
    return dict(_copyback.listed("devices")) if name is None else _page("devices", name)


@overload
def workloads(name: None = None) -> dict[str, str]: ...
@overload
def workloads(name: str) -> str: ...
def workloads(name: str | None = None) -> dict[str, str] | str:
    """Return the workloads by name, each with its source; with a name, the definition of that workload as TOML."""
    return dict(_copyback.listed("workloads")) if name is None else _page("workloads", name)


def _page(command: str, name: object) -> str:
    return _text([command, *_positional(name_of("name", name))])


def explain(name: str) -> str:
    """Return the page of a scheme, an axis (``"victim"``) or a policy (``"greedy"``, ``"victim.fifo"``)."""
    return _text(["schemes", *_positional(name)])


class trace:  # noqa: N801
    """Describe or convert a workload: ``trace.info``, ``trace.convert``."""

    @staticmethod
    def info(
        workload: object,
        *,
        format: str | None = None,
        device: int | str | None = None,
        skip_bad: int | None = None,
        set: Mapping[str, Setting] | None = None,
        requests: int | None = None,
        seed: int | None = None,
    ) -> Document:
        """Measure a workload: requests, read share, sizes, rate, footprint, and histograms.

        ``workload`` is a trace in any form that ``run`` takes, the path of a workload's TOML file, or a name.
        """
        name, handed = of_trace(workload, _most(requests, None, set))
        words = [
            *of_options(format=format, device=device, skip_bad=skip_bad, requests=requests, seed=seed),
            *of_settings(set),
            *_positional(name),
        ]
        done = _document(["trace", "info", *words], progress=False)
        del handed
        return done

    @staticmethod
    def convert(
        workload: object,
        output: Path,
        *,
        format: str | None = None,
        to: str | None = None,
        device: int | str | None = None,
        skip_bad: int | None = None,
        set: Mapping[str, Setting] | None = None,
        requests: int | None = None,
        seed: int | None = None,
    ) -> str:
        """Write a workload as a trace file, in the format ``to`` [by the output's name].

        Returns what the program prints.
        """
        name, handed = of_trace(workload, _most(requests, None, set))
        words = [
            *of_options(format=format, to=to, device=device, skip_bad=skip_bad, requests=requests, seed=seed),
            *of_settings(set),
            *_positional(name, output),
        ]
        done = _text(["trace", "convert", *words])
        del handed
        return done


def _positional(*paths: Path | None) -> list[str]:
    """Write positional arguments; ``--`` precedes them if one begins with a hyphen."""
    given = [name_of("path", path) for path in paths if path is not None]
    return ["--", *given] if any(word.startswith("-") and word != "-" for word in given) else given
