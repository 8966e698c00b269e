"""Do figures show what the results say?"""

import itertools

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

import copyback

mpl.use("Agg")

from copyback import plot

SCHEMES = ["baseline", "pgc", "ideal-no-gc"]


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
        'schemes = ["baseline", "pgc"]\nrequests = 500\nworkload = "mixed-70-30"\nseeds = [1, 2, 3]\n'
        "[vary]\ncapacity.over_provisioning = [0.15, 0.3]\n"
    )
    return copyback.sweep(folder / "grid.toml", out=folder / "grid.parquet")


def test_tails_pass_through_the_percentiles_of_the_report(runs):
    ax = plot.ccdf(runs)
    assert [line.get_label() for line in ax.get_lines()] == SCHEMES
    for line in ax.get_lines():
        latency = runs[line.get_label()]["response"]["read"]
        times_ms, beyond = line.get_data()
        for nines, name in [(2, "p99_ns"), (3, "p99_9_ns")]:
            # Where the share falls to it is a bin of the histogram, 1/128 wide at most.
            at = times_ms[np.argmax(np.asarray(beyond) <= 10.0**-nines)]
            assert at == pytest.approx(latency[name] / 1e6, rel=1 / 64)
        assert min(beyond) == pytest.approx(1 / latency["count"])
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    # Down to the last nine that the requests are enough for, or to where it is asked for.
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
    ax = plot.bars(swept, "response.read.mean_ns")
    columns = swept.table.to_dict()
    rows = list(zip(columns["cell"], columns["scheme"], columns["response.read.mean_ns"], strict=True))
    of = [v for cell, scheme, v in rows if "0.3" in cell and scheme == "pgc"]
    bar = [bar for bar in ax.patches if bar.get_x() > 0.5][-1]
    assert len(of) == 3 and bar.get_height() == pytest.approx(np.mean(of) / 1e6)
    error = ax.containers[-1].errorbar.lines[2][0].get_segments()[-1]
    # Student's t of two degrees of freedom is 4.303.
    half_ms = 4.303 * np.std(of, ddof=1) / np.sqrt(3) / 1e6
    assert (error[1][1] - error[0][1]) / 2 == pytest.approx(half_ms, rel=1e-3)


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
    # Of two planes of a command, one is drawn.
    shown = {row for row in rows if row[0] in (0, 3) and row[3] < 30e6 and row[4] > 10e6}
    assert sum(len(bars.get_paths()) for bars in ax.collections) == len({row[:3] for row in shown}) > 0
    labels = set(ax.get_legend_handles_labels()[1])
    kinds = {"erase" if op == "erase" else f"{source} {op}" for *_, op, source in shown}
    assert labels == kinds >= {"host read", "host program", "GC read", "GC program"}
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["3", "0"]
    with pytest.raises(AttributeError, match=r'keep=\["commands"\]'):
        plot.timeline(copyback.run(requests=10), of="commands")


def test_what_is_not_there_is_named(runs, swept):
    with pytest.raises(KeyError, match="has no column 'nothing'"):
        plot.over_time(runs, "nothing")
    with pytest.raises(KeyError, match="no number 'nothing'"):
        plot.bars(runs, "nothing")
    with pytest.raises(KeyError, match="no column 'nothing'"):
        plot.bars(swept, "nothing")
    with pytest.raises(KeyError, match="no request is of the class 'trim'"):
        plot.ccdf(runs, "trim")


def luminance(colour: str) -> float:
    channels = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_neighbours_differ_in_more_than_hue(runs):
    lines = plot.ccdf(runs).get_lines()
    for first, second in itertools.pairwise(lines):
        assert first.get_linestyle() != second.get_linestyle()
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
        plot.over_time(runs, "iops"),
        plot.bars(runs, "flash.block_erases"),
        plot.bars(swept, relative=True),
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
