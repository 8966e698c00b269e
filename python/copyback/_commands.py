"""The program's commands as functions, with the program's names and settings.

A test writes this file from the program's options. To change it, change `crates/copyback-cli/src/args.rs` or
`crates/copyback-cli/tests/it/python_functions`, and run
`UPDATE_DOCS=1 cargo test --package copyback-cli --test it python_functions`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from copyback import _calls

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from copyback._calls import Around, Keep
    from copyback._plugins import PolicyLike, Scheme
    from copyback._results import Document, Runs, Sweep
    from copyback._words import Path, Setting


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
    json: Path | None = None,
    latex: Path | None = None,
    out: Path | None = None,
    check: bool = False,
    jobs: int | None = None,
    fio_json: Path | None = None,
    timeline: Path | None = None,
    timeline_from: str | None = None,
    timeline_to: str | None = None,
    timeline_around: Around | None = None,
    timeline_die: int | Sequence[int] = (),
    perfetto: Path | None = None,
    perfetto_from: str | None = None,
    perfetto_for: str | None = None,
    perfetto_around: Around | None = None,
    keep: Keep | Iterable[Keep] = ("gc_events",),
    progress: bool | None = None,
) -> Runs:
    """Simulate a drive, or an array of drives, with one scheme.

    Parameters
    ----------
    experiment
        TOML file with ``device``, ``scheme``, ``workload`` and any overriding tables.
    scheme
        Scheme: a preset's name or a TOML file [default: baseline]. It may be a ``copyback.Scheme``.
    device
        Device: a preset's name or a TOML file [default: small].
    array
        Array of drives behind one volume: a preset's name (raid-0, raid-1, raid-10, raid-5, raid-6) or a TOML file with
        a table ``[array]`` [default: one drive].
    workload
        Workload: a preset's name or a TOML file [default: oltp].
    trace
        Replay this trace file as workload (``-``: standard input; BASE: BASE.blktrace.0 and so on); its format is
        recognised from its content. Instead of a path: an object with Arrow's PyCapsule protocol (a data frame of
        pandas or polars, a table of pyarrow, a relation of DuckDB), or an iterable of tuples or mappings. Columns are
        ``arrival_ns``, ``op``, ``offset_bytes``, ``length_bytes`` and optionally ``device`` and ``priority``.
    fio
        Run a job file of fio: each job is a workload with its own results.
    fio_args
        Run the jobs of a fio command line, for example '--name=a --rw=randwrite --bs=4k --size=64m'. A list has one
        argument of fio in each item.
    format
        The trace's format [default: recognised from its content].
    columns
        The columns of a table without a header, in order: time_us (_ns, _ms, _s) or date and time, op, offset, length
        (sector, sectors), device, priority, and any other name for a column to ignore.
    skip_bad
        Number of malformed trace records to skip before one stops the run.
    fit
        Set the number of blocks of each plane so that the trace, or the jobs of fio, address this share of the drive,
        for example 0.9; with ``set={"workload.layout": "compact"}`` the trace's footprint is this share.
    set
        Keys of the configuration, for example ``{"trigger.soft": 0.05, "timing.read": "50 us"}``, or for one scheme
        only: ``{"pgc:trigger.soft": 0.05}``.
    policies
        Policies written in Python, for every scheme. Each replaces the scheme's policy along its axis; a
        ``BackgroundTask`` replaces none: see ``copyback.policies``.
    open
        Requests arrive at the workload's times, whatever the device sets: host.mode=open.
    closed
        A request begins when another completes, so that ``host.queue_depth`` are outstanding: host.mode=closed.
    seed
        Seed of every random stream; for several seeds, with mean and interval, use ``seeds`` of a sweep [default: 1].
    requests
        Stop after this many requests; requests of the warm-up are not counted.
    warmup
        Simulate this first and exclude it from all results: a number of requests (10000), a simulated time (10s), or
        ``steady``: until the rule of the SNIA PTS holds [default: the experiment's warm-up, else the workload's if the
        whole workload runs, else none].
    json
        Write the results as JSON.
    latex
        Write the printed table (of ``run``: response times) for LaTeX with booktabs.
    out
        Write Parquet tables, the JSON and the resolved configuration into a folder.
    check
        Check every invariant of the simulation while it runs (slower).
    jobs
        Runs to execute in parallel; results do not depend on it [default: number of cores].
    fio_json
        Write the results as JSON in fio's layout, for tools that read it.
    timeline
        Draw the commands of a die over time, into a file .svg or .txt.
    timeline_from
        Start of the drawing, in simulated time, for example "1.5 ms" [default: the run's start, or the start of a later
        window in which a die works more].
    timeline_to
        End of the drawing [default: 10 ms later].
    timeline_around
        Draw the time around the slowest read or write; this simulates the run twice. Values: ``"worst-read"``,
        ``"worst-write"``.
    timeline_die
        A die to draw, by its number in the drive, from 0 [default: the busiest; around a request, the dies that served
        it].
    perfetto
        Write a part of the run as a trace for https://ui.perfetto.dev: commands by channel, die and plane, requests,
        collections, counters.
    perfetto_from
        Start of the trace, in simulated time [default: the run's start; with a warm-up, its end, for which the run is
        simulated twice].
    perfetto_for
        Length of the trace [default: 100 ms].
    perfetto_around
        Write the time around the slowest read or write; this simulates the run twice. Values: ``"worst-read"``,
        ``"worst-write"``.
    keep
        Tables to keep in memory: ``"gc_events"`` has a row for every collection, ``"requests"`` for every request,
        ``"commands"`` for every flash command.
    progress
        Whether to show bars (tqdm) [default: in a terminal or a notebook].

    Raises
    ------
    InputError, RunError
        With the place, the value and the remedy.

    """
    return _calls.run(**locals())


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
    json: Path | None = None,
    latex: Path | None = None,
    out: Path | None = None,
    check: bool = False,
    jobs: int | None = None,
    keep: Keep | Iterable[Keep] = ("gc_events",),
    progress: bool | None = None,
) -> Runs:
    """Simulate a drive, or an array of drives, with several schemes side by side.

    Parameters
    ----------
    experiment
        TOML file with ``device``, ``scheme``, ``workload`` and any overriding tables.
    schemes
        Schemes; the others are compared with the first [default: baseline,pgc,gc-par,gc-par-pgc,ideal-no-gc];
        NAME=SCHEME adds a renamed copy. A list, or a text with commas. An item may be a ``copyback.Scheme``, which has
        policies and settings of its own.
    device
        Device: a preset's name or a TOML file [default: small].
    array
        Array of drives behind one volume: a preset's name (raid-0, raid-1, raid-10, raid-5, raid-6) or a TOML file with
        a table ``[array]`` [default: one drive].
    workload
        Workload: a preset's name or a TOML file [default: oltp].
    trace
        Replay this trace file as workload (``-``: standard input; BASE: BASE.blktrace.0 and so on); its format is
        recognised from its content. Instead of a path: an object with Arrow's PyCapsule protocol (a data frame of
        pandas or polars, a table of pyarrow, a relation of DuckDB), or an iterable of tuples or mappings. Columns are
        ``arrival_ns``, ``op``, ``offset_bytes``, ``length_bytes`` and optionally ``device`` and ``priority``.
    fio
        Run a job file of fio: each job is a workload with its own results.
    fio_args
        Run the jobs of a fio command line, for example '--name=a --rw=randwrite --bs=4k --size=64m'. A list has one
        argument of fio in each item.
    format
        The trace's format [default: recognised from its content].
    columns
        The columns of a table without a header, in order: time_us (_ns, _ms, _s) or date and time, op, offset, length
        (sector, sectors), device, priority, and any other name for a column to ignore.
    skip_bad
        Number of malformed trace records to skip before one stops the run.
    fit
        Set the number of blocks of each plane so that the trace, or the jobs of fio, address this share of the drive,
        for example 0.9; with ``set={"workload.layout": "compact"}`` the trace's footprint is this share.
    set
        Keys of the configuration, for example ``{"trigger.soft": 0.05, "timing.read": "50 us"}``, or for one scheme
        only: ``{"pgc:trigger.soft": 0.05}``.
    policies
        Policies written in Python, for every scheme. Each replaces the scheme's policy along its axis; a
        ``BackgroundTask`` replaces none: see ``copyback.policies``.
    open
        Requests arrive at the workload's times, whatever the device sets: host.mode=open.
    closed
        A request begins when another completes, so that ``host.queue_depth`` are outstanding: host.mode=closed.
    seed
        Seed of every random stream; for several seeds, with mean and interval, use ``seeds`` of a sweep [default: 1].
    requests
        Stop after this many requests; requests of the warm-up are not counted.
    warmup
        Simulate this first and exclude it from all results: a number of requests (10000), a simulated time (10s), or
        ``steady``: until the rule of the SNIA PTS holds [default: the experiment's warm-up, else the workload's if the
        whole workload runs, else none].
    json
        Write the results as JSON.
    latex
        Write the printed table (of ``run``: response times) for LaTeX with booktabs.
    out
        Write Parquet tables, the JSON and the resolved configuration into a folder.
    check
        Check every invariant of the simulation while it runs (slower).
    jobs
        Runs to execute in parallel; results do not depend on it [default: number of cores].
    keep
        Tables to keep in memory: ``"gc_events"`` has a row for every collection, ``"requests"`` for every request,
        ``"commands"`` for every flash command.
    progress
        Whether to show bars (tqdm) [default: in a terminal or a notebook].

    Raises
    ------
    InputError, RunError
        With the place, the value and the remedy.

    """
    return _calls.compare(**locals())


def sweep(
    file: Path,
    *,
    schemes: str | Scheme | Iterable[Path | Scheme] | None = None,
    out: Path | None = None,
    requests: int | None = None,
    set: Mapping[str, Setting] | None = None,
    policies: PolicyLike | Iterable[PolicyLike] = (),
    fit: float | None = None,
    seed: int | None = None,
    warmup: int | str | None = None,
    traces: Path | None = None,
    fresh: bool = False,
    jobs: int | None = None,
    client: object = None,
    progress: bool | None = None,
) -> Sweep:
    """Run a grid of devices, schemes, workloads, settings and seeds, and write every number to one table.

    Parameters
    ----------
    file
        TOML file: device(s), schemes, workload(s) or ``case``, ``set``, ``vary``, seed(s), requests, warmup.
    schemes
        Schemes of every cell instead of the file's: names, TOML files, or NAME=SCHEME for a renamed copy;
        ``set={"NAME:trigger.soft": 0.05}`` applies to the scheme of that name only. An item may be a
        ``copyback.Scheme``. Each scheme runs with every seed of the file.
    out
        The table to write, a row for each run; the same table as .csv and the journal are written next to it [default:
        the sweep file's name, in the working folder].
    requests
        Stop each run after this many requests, whatever the file says; requests of the warm-up are not counted.
    set
        Keys of the configuration in every cell; they override the file's.
    policies
        Policies written in Python. They replace the policies of every scheme, and appear in its name:
        ``baseline+Mine``. To compare them with other schemes, use ``schemes``. A sweep with policies reuses no earlier
        results (``fresh``), because their code may have changed, and cannot have a ``client``.
    fit
        Set the number of blocks of each plane so that a cell's trace addresses this share of its drive, for example
        0.9: cells of one trace then hold the same data, each at its own over-provisioning.
    seed
        Seed of every random stream, overriding the file.
    warmup
        Simulate this first and exclude it from all results: a number of requests (10000), a simulated time (10s), or
        ``steady``: until the rule of the SNIA PTS holds [default: the file's warm-up, else the workload's if the whole
        workload runs, else none].
    traces
        Folder of the recorded traces that files name [default: the file's own folder; a paper's experiments skip
        recorded traces].
    fresh
        Ignore earlier results: run every cell again.
    jobs
        Cells to run in parallel, each with a drive in memory; results do not depend on it [default: number of cores].
    client
        A ``distributed.Client``: cells run on its cluster's workers, which share the folder of the file. A worker that
        lacks a trace gets it from the client.
    progress
        Whether to show bars (tqdm) [default: in a terminal or a notebook].

    Raises
    ------
    InputError, RunError
        With the place, the value and the remedy.

    """
    return _calls.sweep(**locals())


def reproduce(
    paper: Path,
    *,
    figure: str | Sequence[str] = (),
    headlines: bool = False,
    worlds: int | None = None,
    full_size: bool = False,
    quick: bool = False,
    json: Path | None = None,
    figures: Path | None = None,
    out: Path | None = None,
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

    The result's ``tables`` has the tables of a sweep for each experiment; with ``worlds``, there are none.

    Parameters
    ----------
    paper
        The paper (ispass11, tc12, hpdc18, atc18, tpds20), or a sweep file with ``claim`` tables.
    figure
        Only this figure, table or section, named as in the list of claims or in an experiment's file.
    headlines
        Judge only the headlines (claims of abstract, introduction and conclusion), with quotes and causes of misses.
    worlds
        Judge each headline in this many worlds (random choices of the paper's open decisions); ``seed`` draws others.
    full_size
        Run worlds on the whole drive with all requests of the headlines.
    quick
        Run fewer requests, to test that everything runs; the results are rough.
    json
        Write the claims and their verdicts as JSON.
    figures
        Draw each figure as the paper does, published values next to measured, as SVG and PDF; needs matplotlib.
    out
        Folder of the tables and of the journal by which a rerun skips finished cells [default: reproduction].
    set
        Keys of the configuration in every cell; they override the file's.
    fit
        Set the number of blocks of each plane so that a cell's trace addresses this share of its drive, for example
        0.9: cells of one trace then hold the same data, each at its own over-provisioning.
    seed
        Seed of every random stream, overriding the file.
    warmup
        Simulate this first and exclude it from all results: a number of requests (10000), a simulated time (10s), or
        ``steady``: until the rule of the SNIA PTS holds [default: the file's warm-up, else the workload's if the whole
        workload runs, else none].
    traces
        Folder of the recorded traces that files name [default: the file's own folder; a paper's experiments skip
        recorded traces].
    fresh
        Ignore earlier results: run every cell again.
    jobs
        Cells to run in parallel, each with a drive in memory; results do not depend on it [default: number of cores].
    progress
        Whether to show bars (tqdm) [default: in a terminal or a notebook].

    Raises
    ------
    InputError, RunError
        With the place, the value and the remedy.

    """
    return _calls.reproduce(**locals())


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
    """Compare the simulator with closed forms and queueing theory.

    The result's ``passed`` is true if all agree.

    Parameters
    ----------
    device
        Validate one device: a preset's name or a TOML file [default: the policies, and the flash of all presets].
    quick
        Fewer and shorter cases.
    only
        Only one group (write-amplification, waiting, bandwidth, sustained), or gates (comparisons) with this word in
        their names.
    seeds
        Seeds of each random case [default: 5; with ``quick``, whose cases are shorter, 6].
    seed
        The first seed [default: 1].
    json
        Write the results as JSON.
    jobs
        Runs to execute in parallel; results do not depend on it [default: number of cores].
    progress
        Whether to show bars (tqdm) [default: in a terminal or a notebook].

    Raises
    ------
    InputError, RunError
        With the place, the value and the remedy.

    """
    return _calls.validate(**locals())


def report(
    *results: Path,
    title: str | None = None,
    where: str | Sequence[str] = (),
    out: Path,
) -> str:
    """Make a page of results for a browser: tables, distributions, and events over time of each die.

    Returns what the program prints.

    Parameters
    ----------
    results
        A folder of ``run(out=...)`` or ``compare(out=...)``, or its JSON; the .parquet of a sweep; the folder or the
        JSON of a reproduction. Several are shown side by side.
    title
        The page's title [default: derived from the results].
    where
        Draw a line at this limit, and report which results meet it: 'read.p99_9 < 5ms'.
    out
        The page to write, of at most 3 MB.

    Raises
    ------
    InputError, RunError
        With the place, the value and the remedy.

    """
    return _calls.report(**locals())


def config(
    experiment: Path | None = None,
    *,
    scheme: Path | None = None,
    device: Path | None = None,
    array: Path | None = None,
    workload: Path | None = None,
    set: Mapping[str, Setting] | None = None,
) -> str:
    """Return the configuration of a run with its defaults filled in, as TOML.

    Parameters
    ----------
    experiment
        TOML file with ``device``, ``scheme``, ``workload`` and any overriding tables.
    scheme
        Scheme: a preset's name or a TOML file [default: baseline].
    device
        Device: a preset's name or a TOML file [default: small].
    array
        Array of drives behind one volume: a preset's name (raid-0, raid-1, raid-10, raid-5, raid-6) or a TOML file with
        a table ``[array]`` [default: one drive].
    workload
        Workload: a preset's name or a TOML file [default: oltp].
    set
        Keys of the configuration, for example ``{"trigger.soft": 0.05, "timing.read": "50 us"}``, or for one scheme
        only: ``{"pgc:trigger.soft": 0.05}``.

    Raises
    ------
    InputError, RunError
        With the place, the value and the remedy.

    """
    return _calls.config(**locals())


class trace:  # noqa: N801
    """Describe or convert a workload: ``trace.info``, ``trace.convert``."""

    @staticmethod
    def info(
        workload: object,
        *,
        format: str | None = None,
        columns: str | Sequence[str] = (),
        device: int | str | None = None,
        skip_bad: int | None = None,
        set: Mapping[str, Setting] | None = None,
        requests: int | None = None,
        seed: int | None = None,
    ) -> Document:
        """Measure a workload: requests, read share, sizes, rate, footprint, and histograms.

        Parameters
        ----------
        workload
            A trace file (``-``: standard input; BASE: BASE.blktrace.0 and so on), a workload file (TOML), or a workload
            preset. Instead of a path: requests in any form that ``run`` takes.
        format
            The trace's format [default: recognised from its content].
        columns
            The columns of a table without a header, in order: time_us (_ns, _ms, _s) or date and time, op, offset,
            length (sector, sectors), device, priority, and any other name for a column to ignore.
        device
            Only requests of this device, volume or LUN of the trace: its number or its name, such as 259,0.
        skip_bad
            Number of malformed records to skip before one is an error.
        set
            Keys of the workload, for example ``{"workload.event": "Q"}``.
        requests
            Read at most this many requests.
        seed
            Seed, for generated workloads [default: 1].

        Raises
        ------
        InputError, RunError
            With the place, the value and the remedy.

        """
        return _calls.info(**locals())

    @staticmethod
    def convert(
        workload: object,
        output: Path,
        *,
        format: str | None = None,
        columns: str | Sequence[str] = (),
        device: int | str | None = None,
        skip_bad: int | None = None,
        set: Mapping[str, Setting] | None = None,
        requests: int | None = None,
        seed: int | None = None,
        to: str | None = None,
    ) -> str:
        """Write a workload as a trace file; the output's name (.parquet, .csv, ...) or ``to`` selects the format.

        Returns what the program prints.

        Parameters
        ----------
        workload
            A trace file (``-``: standard input; BASE: BASE.blktrace.0 and so on), a workload file (TOML), or a workload
            preset. Instead of a path: requests in any form that ``run`` takes.
        output
            The file to write.
        format
            The trace's format [default: recognised from its content].
        columns
            The columns of a table without a header, in order: time_us (_ns, _ms, _s) or date and time, op, offset,
            length (sector, sectors), device, priority, and any other name for a column to ignore.
        device
            Only requests of this device, volume or LUN of the trace: its number or its name, such as 259,0.
        skip_bad
            Number of malformed records to skip before one is an error.
        set
            Keys of the workload, for example ``{"workload.event": "Q"}``.
        requests
            Read at most this many requests.
        seed
            Seed, for generated workloads [default: 1].
        to
            The output's format: parquet, csv (a table with a header), msr, fio-v2, fio-v3, disksim or spc [default: by
            the output's name; .csv means msr].

        Raises
        ------
        InputError, RunError
            With the place, the value and the remedy.

        """
        return _calls.convert(**locals())
