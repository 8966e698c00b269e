"""Figures show the numbers of the results."""

import itertools
import re

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from conftest import ROOT

import copyback
from copyback import _copyback

mpl.use("Agg")

from copyback import plot
from copyback.plot._data import interval, resolution

# Figures depend on Matplotlib, and hardly on the interpreter.
pytestmark = pytest.mark.once

SCHEMES = ["baseline", "pgc", "ideal-no-gc"]


def dash(line):
    """The dashes of a line."""
    return line._dash_pattern[1]


def named(ax):
    """The labels at lines."""
    return [text for text in ax.texts if text.get_text() in [line.get_label() for line in ax.get_lines()]]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def runs():
    return copyback.compare(schemes=SCHEMES, workload="mixed-70-30", requests=20_000)


@pytest.fixture(scope="module")
def commands():
    return copyback.run(workload="mixed-70-30", requests=2000, keep=["commands"])


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep")
    (folder / "grid.toml").write_text(
        'schemes = ["baseline", "pgc"]\nrequests = 200\nworkload = "mixed-70-30"\nseeds = [1, 2, 3]\n'
        "[vary]\ncapacity.over_provisioning = [0.15, 0.2, 0.3]\ntrigger.soft = [0.03, 0.05, 0.07]\n"
    )
    return copyback.sweep(folder / "grid.toml", out=folder / "grid.parquet")


def test_tails_pass_through_the_percentiles_of_the_report(runs):
    ax = plot.ccdf(runs)
    assert [line.get_label() for line in ax.get_lines()] == SCHEMES
    for line in ax.get_lines():
        latency = runs[line.get_label()]["response"]["read"]
        times_ms, beyond = line.get_data()
        for nines, name in [(2, "p99_ns"), (3, "p99_9_ns")]:
            # The percentile is known to a bin of the histogram, which is at most 1/128 wide.
            at = times_ms[np.argmax(np.asarray(beyond) <= 10.0**-nines)]
            assert at == pytest.approx(latency[name] / 1e6, rel=1 / 64)
        assert min(beyond) == pytest.approx(1 / latency["count"])
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    # Down to the last nine that the number of requests supports, or to the requested one.
    low, high = ax.get_ylim()
    assert low <= 1 / runs["baseline"]["response"]["read"]["count"] < 10 * low and high == 1
    assert plot.ccdf(runs, nines=6).get_ylim() == (1e-6, 1)


def test_a_cdf_ends_at_one(runs):
    for line in plot.cdf(runs, "write").get_lines():
        shares = line.get_ydata()
        assert shares[-1] == 1 and np.all(np.diff(shares) > 0)


def test_bars_are_as_high_as_the_numbers(runs, swept):
    heights = [bar.get_height() for bar in plot.bars(runs).patches]
    assert heights == [runs[scheme]["response"]["read"]["p99_9_ns"] / 1e6 for scheme in SCHEMES]
    relative = [bar.get_height() for bar in plot.bars(runs, relative=True).patches]
    assert relative[0] == 1 and relative[1] == heights[1] / heights[0]
    ax = plot.bars(swept, "response.read.mean_ns", where={"trigger.soft": 0.05})
    columns = swept.table.to_dict()
    rows = list(zip(columns["cell"], columns["scheme"], columns["response.read.mean_ns"], strict=True))
    of = [v for cell, scheme, v in rows if "0.3 trigger.soft=0.05" in cell and scheme == "pgc"]
    bar = [bar for bar in ax.patches if bar.get_x() > 0.5][-1]
    assert len(of) == 3 and bar.get_height() == pytest.approx(np.mean(of) / 1e6)
    error = ax.containers[-1].errorbar.lines[2][0].get_segments()[-1]
    # Student's t of two degrees of freedom is 4.303.
    half_ms = 4.303 * np.std(of, ddof=1) / np.sqrt(3) / 1e6
    assert (error[1][1] - error[0][1]) / 2 == pytest.approx(half_ms, rel=1e-3)


def test_whiskers_end_at_zero(swept, monkeypatch):
    # An interval that is wider than the mean: no response time is below zero.
    monkeypatch.setattr("copyback.plot._bars.interval", lambda values, least: (values[0], 3 * values[0]))
    ax = plot.bars(swept, "response.read.mean_ns")
    drawn = [c for c in ax.containers if hasattr(c, "patches")]
    for bars in drawn:
        for bar, (low, high) in zip(bars.patches, bars.errorbar.lines[2][0].get_segments(), strict=True):
            assert low[1] == pytest.approx(0) and high[1] == pytest.approx(4 * bar.get_height())


def test_causes_have_the_colours_of_the_report(runs):
    script = (ROOT / "crates/copyback-report/src/result_page/assets/charts.js").read_text()
    of_report = {name: colour.lower() for name, colour in re.findall(r'\w+: \["([^"]+)", "(#\w+)"\]', script)}
    ax = plot.breakdown(runs, "write")
    labels = ax.get_legend_handles_labels()[1]
    colours = [mpl.colors.to_hex(bars[0].get_facecolor()) for bars in ax.containers]
    drawn = dict(zip(labels, colours, strict=True))
    assert len(drawn) > 2 and drawn == {label: of_report[label] for label in drawn}


def test_causes_add_up_to_the_mean(runs):
    ax = plot.breakdown(runs, "write")
    for at, scheme in enumerate(SCHEMES):
        own = sum(bar.get_height() for bar in ax.patches if abs(bar.get_x() + bar.get_width() / 2 - at) < 0.1)
        assert own == pytest.approx(runs[scheme]["response"]["write"]["mean_ns"] / 1e6)


def test_lines_over_time_are_the_columns(runs):
    series = runs.time_series.to_dict()
    line = plot.over_time(runs, "free_blocks_min", bins=10**9).get_lines()[1]
    rows = [row for row, scheme in enumerate(series["scheme"]) if scheme == "pgc"]
    assert list(line.get_ydata()) == [series["free_blocks_min"][row] for row in rows]
    with pytest.warns(UserWarning, match="write amplification under pgc has gaps: in .* bins the host wrote nothing"):
        line = plot.over_time(runs, "write_amplification", bins=10**9).get_lines()[1]
    column = [np.nan if (value := series["write_amplification"][row]) is None else value for row in rows]
    assert np.allclose(line.get_ydata(), column, equal_nan=True)


@pytest.mark.parametrize("bins", [1, 7, 200])
def test_joined_intervals_keep_what_was_done(runs, bins):
    report = runs["baseline"]
    times_s, iops = plot.over_time(runs, "iops", bins=bins).get_lines()[0].get_data()
    assert len(times_s) <= bins + 1
    count = np.nansum(np.asarray(iops) * np.diff([0, *times_s]))
    assert count == pytest.approx(report["reads"] + report["writes"])
    fewest = plot.over_time(runs, "free_blocks_min", bins=bins).get_lines()[0].get_ydata()
    series = runs.time_series.to_dict()
    rows = zip(series["scheme"], series["free_blocks_min"], strict=True)
    assert min(fewest) == min(blocks for scheme, blocks in rows if scheme == "baseline")
    if bins == 1:
        mean = plot.over_time(runs, "response_mean_ms", bins=1).get_lines()[0].get_ydata()
        weighed = plot.over_time(runs, "write_amplification", bins=1).get_lines()[0].get_ydata()
        assert mean[0] == pytest.approx(report["response"]["all"]["mean_ns"] / 1e6, rel=0.05)
        assert weighed[0] == pytest.approx(report["write_amplification"]["total"], rel=0.05)


def test_collections_are_where_the_events_are(runs):
    events = runs.gc_events.to_dict()
    ax = plot.timeline(runs, "pgc", from_ms=0, to_ms=100)
    drawn = sum(len(bars.get_paths()) for bars in ax.collections)
    columns = (events[name] for name in ("scheme", "start_ns", "end_ns"))
    rows = zip(*columns, strict=True)
    assert drawn == sum(scheme == "pgc" and start < 1e8 and end > 0 for scheme, start, end in rows) > 0


def test_commands_are_where_the_table_says(commands):
    columns = commands.commands.to_dict()
    ax = plot.timeline(commands, of="commands", from_ms=10, to_ms=30, dies=[3, 0])
    names = ("die", "drive", "command", "issued_ns", "end_ns", "op", "source")
    rows = list(zip(*(columns[name] for name in names), strict=True))
    # A command of two planes is drawn once.
    shown = {row for row in rows if row[0] in (0, 3) and row[3] < 30e6 and row[4] > 10e6}
    assert sum(len(bars.get_paths()) for bars in ax.collections) == len({row[:3] for row in shown}) > 0
    labels = set(ax.get_legend_handles_labels()[1])
    kinds = {"erase" if op == "erase" else f"{source} {op}" for *_, op, source in shown}
    assert labels == kinds >= {"host read", "host program", "GC read", "GC program"}
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["3", "0"]
    with pytest.raises(AttributeError, match=r'keep=\["commands"\]'):
        plot.timeline(copyback.run(requests=10), of="commands")


def test_percentiles_of_too_few_requests_are_not_drawn(tmp_path):
    few = copyback.run(workload="random-read", requests=300)
    # p99.99 needs 10,000 requests, p99 100, and the median 2.
    with pytest.raises(ValueError, match=r"'response\.read\.p99_99_ns' needs 10,000 requests, and no run has as many"):
        plot.bars(few, "response.read.p99_99_ns")
    for name in ("p99_ns", "p50_ns", "max_ns"):
        (bar,) = plot.bars(few, f"response.read.{name}").patches
        assert bar.get_height() == few["baseline"]["response"]["read"][name] / 1e6
    (tmp_path / "grid.toml").write_text(
        'schemes = ["baseline"]\n[[case]]\nname = "few"\nworkload = "random-read"\nrequests = 99\n'
        '[[case]]\nname = "enough"\nworkload = "random-read"\nrequests = 100\n'
    )
    swept = copyback.sweep(tmp_path / "grid.toml")
    with pytest.warns(UserWarning, match="needs 100 requests: 1 of 2 runs have fewer, and are not drawn"):
        ax = plot.bars(swept, "response.read.p99_ns")
    assert [bar.get_x() > 0.5 for bar in ax.patches] == [True]


def test_matched_requests_stand_beside_each_schemes_own(runs, swept):
    # Collections of the ideal drive affect no request.
    with pytest.warns(UserWarning, match="gc_affected_read.mean_ns' has no value in 1 of 3 runs"):
        ax = plot.bars(runs, "matched.read.mean_ns")
    own = [runs[scheme]["response"]["gc_affected_read"]["mean_ns"] for scheme in SCHEMES]
    heights = {round(bar.get_x() + bar.get_width() / 2, 3): bar.get_height() for bar in ax.patches}
    assert [heights[at] for at in sorted(heights) if at > 0.5] == [ns / 1e6 for ns in own if ns is not None]
    assert [text.get_text() for text in ax.get_xticklabels()] == ["matched", "own"]
    assert "chosen for being slow under the first scheme" in ax.get_xlabel()
    ax = plot.lines(swept, "matched.write.mean_ns", x="trigger.soft", where={"capacity.over_provisioning": 0.15})
    assert {line.get_label() for line in ax.get_lines()} == {"baseline", "pgc", "baseline, own", "pgc, own"}
    assert "chosen for being slow under the first scheme" in ax.get_xlabel()


def test_numbers_that_a_run_does_not_have_are_not_drawn_as_zero(tmp_path):
    writes = copyback.compare(schemes=["baseline", "pgc"], workload="random-write", requests=300)
    assert writes["baseline"]["response"]["read"]["count"] == 0
    for name in ("mean_ns", "p99_ns", "max_ns"):
        with pytest.raises(ValueError, match=r"'response\.read\..*' (has no value in any run|needs 100 requests)"):
            plot.bars(writes, f"response.read.{name}")
        assert writes["baseline"]["response"]["read"][name] is None
    with pytest.raises(ValueError, match="no run has a read"):
        plot.breakdown(writes, "read")
    assert plot.breakdown(writes, "write").patches
    # Nothing was read or written, so that write amplification is null, in the table and in the document.
    (tmp_path / "t.csv").write_text("arrival_us,op,offset_bytes,length_bytes\n0,T,0,65536\n10,T,65536,65536\n")
    trims = copyback.run(trace=tmp_path / "t.csv")
    with pytest.raises(ValueError, match=r"'write_amplification\.total' has no value in any run"):
        plot.bars(trims, "write_amplification.total")
    (tmp_path / "grid.toml").write_text(
        'schemes = ["baseline", "pgc"]\nrequests = 200\nworkloads = ["random-write", "random-read"]\nseeds = [1, 2]\n'
        "[vary]\ntrigger.soft = [0.05, 0.07]\n"
    )
    swept = copyback.sweep(tmp_path / "grid.toml", out=tmp_path / "grid.parquet")
    with pytest.warns(UserWarning, match="has no value in 8 of 16 runs, which are not drawn"):
        ax = plot.bars(swept, "response.read.mean_ns")
    assert len(ax.patches) == 4 and all(bar.get_height() > 0 for bar in ax.patches)
    with pytest.warns(UserWarning, match="has no value in 4 of 8 runs"):
        line = plot.lines(swept, "response.read.mean_ns", x="case", where={"trigger.soft": 0.05}).get_lines()[0]
    assert len(line.get_ydata()) == 1 and line.get_ydata()[0] > 0
    columns = swept.table.to_dict()
    of_writes = [row for row, case in enumerate(columns["case"]) if case == "random-write"]
    assert [columns["response.read.mean_ns"][row] for row in of_writes] == [None] * 8


def test_what_is_not_there_is_named(runs, swept):
    with pytest.raises(KeyError, match="has no column 'nothing'"):
        plot.over_time(runs, "nothing")
    with pytest.raises(KeyError, match="no number 'nothing'"):
        plot.bars(runs, "nothing")
    with pytest.raises(KeyError, match="no column 'nothing'"):
        plot.bars(swept, "nothing")
    with pytest.raises(KeyError, match="no request is of the class 'trim'"):
        plot.ccdf(runs, "trim")
    with pytest.raises(ValueError, match="no breakdown of 'trim'; use 'read' or 'write'"):
        plot.breakdown(runs, "trim")
    with pytest.raises(ValueError, match="bins is 0"):
        plot.over_time(runs, bins=0)
    with pytest.raises(ValueError, match="'steady' has texts such as"):
        plot.lines(swept, "steady", x="trigger.soft", where={"capacity.over_provisioning": 0.15})
    with pytest.raises(KeyError, match=r"there is response\.read\.p99_ns,"):
        plot.bars(runs, "response.read.p99")


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"scheme": "nosuch"}, KeyError, "no scheme 'nosuch'; there are baseline, pgc, ideal-no-gc"),
        ({"from_ms": 1e6, "to_ms": 2e6}, ValueError, "nothing runs from 1e[+]06 ms on: the run ends at"),
        ({"from_ms": 5, "to_ms": 2}, ValueError, "ends at 2 ms, before it begins"),
        ({"dies": [99]}, ValueError, "no die 99; the drive has 16, counted from 0"),
        ({"dies": []}, ValueError, "no die is named"),
        ({"drive": 5}, ValueError, "no drive 5; there are 1, counted from 0"),
        ({"of": "nosuch"}, ValueError, "'nosuch' is not drawn"),
    ],
)
def test_a_drawing_of_nothing_is_an_error(runs, arguments, error, says):
    with pytest.raises(error, match=says):
        plot.timeline(runs, **arguments)


def test_a_pause_is_warned_of_and_cells_are_those_of_sweeps(runs):
    with pytest.warns(UserWarning, match="no collection of these dies runs from 0 to 0.001 ms under pgc"):
        plot.timeline(runs, "pgc", from_ms=0, to_ms=0.001)
    with pytest.raises(ValueError, match="`where` chooses cells of a sweep"):
        plot.bars(runs, where={"nosuch": 1})


def test_a_drawing_has_all_dies_and_an_axis_from_left_to_right():
    # A request each 10 ms. The last three of ten read nothing: no command runs after 61 ms, and most dies are idle.
    settings = {"precondition.mode": "empty", "workload.arrivals.kind": "fixed", "workload.arrivals.rate": 100}
    few = copyback.run(workload="mixed-70-30", requests=10, set=settings, keep=["commands"])
    assert max(few.commands.to_dict()["end_ns"]) < 61e6 and few[few.schemes[0]]["simulated_ns"] == 90e6
    assert plot.timeline(few, of="commands").get_ylim() == (15.5, -0.5)
    with pytest.warns(UserWarning, match="no command of these dies runs from 70 to 90 ms"):
        ax = plot.timeline(few, of="commands", from_ms=70)
    assert ax.get_xlim() == (70, 90)
    # A window before the first command begins with the run.
    with pytest.warns(UserWarning, match="no command of these dies runs from 0 to 1 ms"):
        plot.timeline(few, of="commands", to_ms=1)
    # A window cannot begin at the end of the run.
    with pytest.raises(ValueError, match="the run ends at 90 ms"):
        plot.timeline(few, of="commands", from_ms=90)


def luminance(colour: str) -> float:
    channels = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_neighbours_differ_in_more_than_hue(runs):
    lines = plot.ccdf(runs).get_lines()
    for first, second in itertools.pairwise(lines):
        assert dash(first) != dash(second)
        assert abs(luminance(first.get_color()) - luminance(second.get_color())) > 0.02


def test_figures_are_of_a_column_and_the_same_each_time(runs, tmp_path):
    pictures = []
    for name in ["first.svg", "second.svg"]:
        ax = plot.ccdf(runs)
        assert ax.figure.get_size_inches()[0] == pytest.approx(3.4)
        with mpl.rc_context({"svg.hashsalt": "copyback"}):
            ax.figure.savefig(tmp_path / name, metadata={"Date": None})
        pictures.append((tmp_path / name).read_bytes())
    assert pictures[0] == pictures[1]
    ax.figure.savefig(tmp_path / "tails.pdf")
    assert (tmp_path / "tails.pdf").read_bytes().startswith(b"%PDF")


def test_legends_are_inside_their_figures(runs, swept):
    for drawn in [
        plot.breakdown(runs, "write"),
        plot.bars(runs, "flash.block_erases"),
        plot.bars(swept, "response.read.p99_ns", relative=True),
    ]:
        figure = drawn.figure
        figure.canvas.draw()
        room, legend = figure.bbox, drawn.get_legend().get_window_extent()
        assert room.x0 <= legend.x0 and legend.x1 <= room.x1 and legend.y1 <= room.y1
        assert legend.y0 >= drawn.get_window_extent().y1 - 1, "it hides what is drawn"
    figure, both = plt.subplots(1, 2, figsize=(7, 2.4), layout="constrained")
    for ax, op in zip(both, ["read", "write"], strict=True):
        plot.breakdown(runs, op, ax)
    figure.canvas.draw()
    assert all(ax.get_legend().get_window_extent().y1 <= figure.bbox.y1 for ax in both)


def drawn_boxes(ax):
    ax.figure.canvas.draw()
    return [text.get_window_extent() for text in named(ax)]


def test_lines_are_named_where_there_is_room_and_in_a_legend_otherwise(runs):
    ax = plot.ccdf(runs)
    boxes = drawn_boxes(ax)
    assert len(boxes) == len(SCHEMES) and ax.get_legend() is None
    for first, second in itertools.combinations(boxes, 2):
        assert not first.overlaps(second)
    for text in named(ax):
        line = next(line for line in ax.get_lines() if line.get_label() == text.get_text())
        assert text.get_color() == line.get_color()
    # This many lines leave no space.
    _, ax = plt.subplots(figsize=(1.2, 0.8))
    for at in range(12):
        ax.plot([0, 1], [at, 12 - at], label=f"a long name {at}")
    from copyback.plot import _style

    _style.label_lines(ax)
    assert not named(ax) and len(ax.get_legend().get_texts()) == 12


def test_many_lines_are_named_in_a_legend_with_their_dashes():
    names = list(copyback.schemes())[:14]
    many = copyback.compare(schemes=names, workload="oltp", requests=300)
    usual = plot.ccdf(many, where={"scheme": names[:2]})
    ax = plot.ccdf(many, where={"scheme": names[:12]})
    assert [line.get_label() for line in usual.get_lines()] == names[:2]
    assert not named(ax) and [text.get_text() for text in ax.get_legend().get_texts()] == names[:12]
    for drawn in (usual, ax):
        drawn.figure.canvas.draw()
    heights = [drawn.get_window_extent().height for drawn in (usual, ax)]
    assert heights[1] > 0.9 * heights[0], "the legend takes the space of the axes"
    for line, shown in zip(ax.get_lines(), ax.get_legend().get_lines(), strict=True):
        assert line.get_color() == shown.get_color() and line.get_linestyle() == shown.get_linestyle()
    says = re.escape(f"14 lines cannot be told apart; choose some: where={{'scheme': {names[:2]}}}")
    with pytest.raises(ValueError, match=says):
        plot.ccdf(many)


def test_groups_of_two_keys_have_names_that_do_not_overlap(swept):
    ax = plot.bars(swept, "response.read.p99_ns")
    ax.figure.canvas.draw()
    labels = [label for label in ax.get_xticklabels() if label.get_text()]
    assert [label.get_text() for label in labels] == ["0.03", "0.05", "0.07"] * 3
    outer = [text for text in ax.texts if text.get_text() in ("0.15", "0.2", "0.3")]
    assert len(outer) == 3
    boxes = [text.get_window_extent() for text in [*labels, *outer, ax.xaxis.label]]
    for first, second in itertools.combinations(boxes, 2):
        assert not first.overlaps(second)
    assert ax.get_xlabel() == "soft GC watermark; below: over-provisioning"


def test_the_interval_of_a_percentile_is_no_narrower_than_a_bin():
    # As in the command: 1 ms lies between 2^19 and 2^20 ns, which are divided into 1,024 bins of 512 ns.
    for value, width in [(900, 1), (2_047, 1), (2_048, 2), (123_456, 64), (1e6, 512), (4e10, 2**25)]:
        for metric in ["response.read.p99_9_ns", "p50_ns"]:
            assert interval([value] * 3, resolution([value] * 3, metric)) == (value, width)
    for metric in ["response.read.mean_ns", "response.read.max_ns", "flash.block_erases", "flash.padding_ns"]:
        assert interval([1e6] * 3, resolution([1e6] * 3, metric)) == (1e6, 0)
    # Two samples 2 apart: the deviation is the root of 2, t of one degree of freedom 12.706.
    assert interval([2.0, 4.0], 1.0) == (3.0, pytest.approx(12.706))
    assert interval([1e6], 512.0) == (1e6, 0), "one seed has no interval"


def test_lines_and_bars_show_the_bin_of_equal_percentiles(tmp_path):
    (tmp_path / "grid.toml").write_text(
        'schemes = ["baseline", "pgc"]\nrequests = 200\nworkload = "random-read"\nseeds = [1, 2]\n'
        "set.host.queue_depth = 1\n[vary]\ntrigger.soft = [0.05, 0.07]\n"
    )
    same = copyback.sweep(tmp_path / "grid.toml")
    metric = "response.read.p50_ns"
    columns = same.table.to_dict()
    rows = list(zip(columns["scheme"], columns["trigger.soft"], columns[metric], strict=True))
    halves = {}
    ax = plot.lines(same, metric, x="trigger.soft")
    for line, band in zip(ax.get_lines(), ax.collections, strict=True):
        vertices = band.get_paths()[0].vertices
        for x, y in zip(*line.get_data(), strict=True):
            of = [v for scheme, soft, v in rows if (scheme, soft) == (line.get_label(), x)]
            # Reads that do not wait take the same time.
            assert len(of) == 2 and of[0] == of[1] and y == pytest.approx(of[0] / 1e6)
            half = 2.0 ** (np.floor(np.log2(of[0])) - 10) / 1e6
            at = vertices[np.isclose(vertices[:, 0], x), 1]
            assert (at.max(), at.min()) == (pytest.approx(y + half), pytest.approx(y - half))
            halves[line.get_label(), x] = half
    errors = [
        c.errorbar.lines[2][0].get_segments() for c in plot.bars(same, metric).containers if hasattr(c, "patches")
    ]
    drawn = [(high[1] - low[1]) / 2 for segments in errors for low, high in segments]
    assert drawn == pytest.approx([halves[scheme, soft] for scheme in SCHEMES[:2] for soft in (0.05, 0.07)])


def test_lines_of_a_sweep_are_means_over_seeds_and_bands_their_intervals(swept):
    ax = plot.lines(swept, "response.read.mean_ns", x="capacity.over_provisioning", where={"trigger.soft": 0.05})
    columns = swept.table.to_dict()
    names = ("scheme", "capacity.over_provisioning", "trigger.soft", "response.read.mean_ns")
    rows = list(zip(*(columns[name] for name in names), strict=True))
    for line, band in zip(ax.get_lines(), ax.collections, strict=True):
        assert list(line.get_xdata()) == [0.15, 0.2, 0.3]
        vertices = band.get_paths()[0].vertices
        for x, y in zip(*line.get_data(), strict=True):
            of = [v / 1e6 for scheme, op, soft, v in rows if (scheme, op, soft) == (line.get_label(), x, 0.05)]
            assert len(of) == 3 and y == pytest.approx(np.mean(of))
            half = 4.303 * np.std(of, ddof=1) / np.sqrt(3)
            at = vertices[np.isclose(vertices[:, 0], x), 1]
            assert at.max() == pytest.approx(y + half, rel=1e-3)
            assert at.min() == pytest.approx(max(y - half, 0), rel=1e-3)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("over-provisioning", "mean read response time (ms)")
    assert (ax.get_xscale(), ax.get_yscale()) == ("linear", "linear")
    metric = "response.read.p99_ns"
    keys = plot.lines(swept, metric, x="trigger.soft", line="capacity.over_provisioning", where={"scheme": "pgc"})
    assert next(line.get_label() for line in keys.get_lines()) == "over-provisioning 0.15"
    for wrong, says in [
        ({"x": "trigger.soft"}, "cells differ in capacity.over_provisioning, too; choose one: where="),
        ({"x": "trigger.sof"}, "two of capacity.over_provisioning, trigger.soft, scheme are needed"),
        ({"x": "trigger.soft", "where": {"capacity.over_provisioning": 0.4}}, "there is 0.15, 0.2, 0.3"),
    ]:
        with pytest.raises(ValueError, match=says):
            plot.lines(swept, metric, **wrong)


@pytest.mark.parametrize(("far", "scale"), [(50, "linear"), (100, "log")])
def test_axes_are_logarithmic_where_values_span_a_hundredfold(far, scale):
    from copyback.plot import _style, _tails

    points = {"baseline": {1: [2e6], far: [3e6]}, "pgc": {1: [2e6 * far], far: [2e6]}}
    _, ax = plt.subplots()
    _tails._over(ax, points, "response.read.mean_ns", ("host.queue_depth", "scheme"), _style.Styles(points))
    assert (ax.get_xscale(), ax.get_yscale()) == (scale, scale)
    assert [list(line.get_ydata()) for line in ax.get_lines()] == [[2, 3], [2 * far, 2]]


def test_tails_of_a_sweep_are_of_all_seeds_and_bands_span_them(swept):
    where = {"trigger.soft": 0.05, "capacity.over_provisioning": 0.15}
    ax = plot.ccdf(swept, where=where)
    columns = swept.latencies.to_dict()
    names = ("scheme", "seed", "trigger.soft", "capacity.over_provisioning", "class", "to_ns", "count")
    rows = [row for row in zip(*(columns[name] for name in names), strict=True) if row[2:5] == (0.05, 0.15, "read")]
    assert [line.get_label() for line in ax.get_lines()] == ["baseline", "pgc"]
    for line, band in zip(ax.get_lines(), ax.collections, strict=True):
        own = [row for row in rows if row[0] == line.get_label()]
        count = sum(row[-1] for row in own)
        times_ms, shares = line.get_data()
        for time_ms, share in list(zip(times_ms, shares, strict=True))[::7]:
            assert share == pytest.approx(sum(row[-1] for row in own if row[-2] / 1e6 > time_ms) / count)
        # At the median: from the fastest seed's to the slowest one's.
        medians = []
        for seed in (1, 2, 3):
            times = np.repeat(*zip(*((row[-2], row[-1]) for row in sorted(own) if row[1] == seed), strict=True))
            medians.append(np.sort(times)[int(np.ceil(len(times) / 2)) - 1] / 1e6)
        vertices = band.get_paths()[0].vertices
        at = vertices[np.isclose(vertices[:, 1], 0.5, rtol=0.01), 0]
        assert at.min() <= min(medians) * 1.02 and at.max() >= max(medians) * 0.98
    cells = plot.cdf(swept, "write", where={"trigger.soft": 0.05, "scheme": "pgc"})
    assert [line.get_label() for line in cells.get_lines()] == ["pgc, 0.15", "pgc, 0.2", "pgc, 0.3"]
    assert cells.get_xlabel() == "response time of writes (ms)\nlines: scheme, over-provisioning"
    with pytest.raises(
        ValueError, match=re.escape("18 lines cannot be told apart; choose some: where={'trigger.soft': 0.03}")
    ):
        plot.ccdf(swept)


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("response.read.p99_9_ns", "read response time, p99.9 (ms)"),
        ("response.write.p50_ns", "write response time, median (ms)"),
        ("response.all.mean_ns", "mean response time (ms)"),
        ("response.gc_affected_read.max_ns", "GC-affected read response time, longest (ms)"),
        ("write_amplification.total", "write amplification"),
        ("flash.block_erases", "block erases"),
        ("iops", "requests a second"),
        ("latency_breakdown.read_mean_ns.gc", "mean read time, gc (ms)"),
        ("some.new_number_bytes", "some new number (MiB)"),
    ],
)
def test_numbers_are_said_in_words(metric, words):
    from copyback.plot import _words

    assert _words.of_metric(metric) == words


def test_a_scheme_looks_the_same_wherever_it_stands(runs):
    first = {line.get_label(): (line.get_color(), dash(line)) for line in plot.ccdf(runs).get_lines()}
    other = copyback.compare(
        schemes=[copyback.Scheme("mine"), "ideal-no-gc", "pgc"], workload="mixed-70-30", requests=300
    )
    second = {line.get_label(): (line.get_color(), dash(line)) for line in plot.cdf(other).get_lines()}
    assert second["pgc"] == first["pgc"] and second["ideal-no-gc"] == first["ideal-no-gc"]
    assert second["mine"] not in first.values()
    bars = plot.bars(runs).patches
    assert [mpl.colors.to_hex(bar.get_facecolor()) for bar in bars] == [colour.lower() for colour, _ in first.values()]
    # The README's picture has the same colours and dashes.
    picture = (ROOT / "docs" / "tails.svg").read_text()
    for number, colour, dashes in _copyback.styles(SCHEMES):
        dashed = f' stroke-dasharray="{" ".join(map(str, dashes))}"' if dashes else ""
        assert f'stroke="{colour}" stroke-width="2.5" stroke-linejoin="round"{dashed}/>' in picture, number
