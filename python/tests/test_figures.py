"""Figures of papers show measured and published values, and are the same each time."""

import subprocess
import sys
import tomllib

import matplotlib as mpl
import pytest
from conftest import ROOT

import copyback

mpl.use("Agg")

from copyback import figures
from copyback.figures import _data
from copyback.figures._specs import Panel

# Figures depend on Matplotlib, and hardly on the interpreter.
pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def tables():
    """Tables and claims like those of a reproduction, with simple numbers."""
    cells = [(case, seed) for case in ("a", "b") for seed in (1, 2)]
    rows = [(case, seed, scheme) for case, seed in cells for scheme in ("baseline", "mine")]
    # The baseline takes 10 ms and 20 ms; the other scheme half of it with seed 1, and a quarter with seed 2.
    ns = {"a": 10e6, "b": 20e6}
    share = {("baseline", 1): 1.0, ("baseline", 2): 1.0, ("mine", 1): 0.5, ("mine", 2): 0.25}
    return {
        "cell": [f"case={case} seed={seed}" for case, seed, _ in rows],
        "case": [case for case, _, _ in rows],
        "seed": [seed for _, seed, _ in rows],
        "scheme": [scheme for _, _, scheme in rows],
        "time_ns": [ns[case] * share[scheme, seed] for case, seed, scheme in rows],
        "count": [4 for _ in rows],
    }


class Given:
    def __init__(self, columns):
        self.columns = columns

    def to_dict(self):
        return self.columns


def claim(**more):
    own = {
        "experiment": "fig", "metric": "time_ns", "scheme": "mine", "against": "baseline", "measure": "change",
        "unit": "", "aggregate": "mean", "published_effect": -60.0, "cells": [{"cell": "case=a"}],
    }  # fmt: skip
    return own | more


SCHEMES = {"baseline": "Baseline", "mine": "Mine"}


def _panel(**more):
    return Panel(
        **({"experiment": "fig", "kind": "bars", "metric": "time_ns", "schemes": SCHEMES, "ylabel": "y"} | more)
    )


def test_values_are_means_over_seeds_of_ratios(tables):
    values = _data.values_of(_panel(base="baseline", mean=True), Given(tables))
    assert values.groups == ["a", "b", "mean"]
    assert values.mean("time_ns", "mine", "a") == pytest.approx(0.375)
    assert values.mean("time_ns", "mine", "mean") == pytest.approx(0.375)
    # Two seeds 0.25 apart: s = 0.25 / sqrt(2), and half of the interval is 12.706 s / sqrt(2).
    assert values.half("time_ns", "mine", "a") == pytest.approx(12.706 * 0.125, rel=1e-3)
    absolute = _data.values_of(_panel(factor=1e-6), Given(tables))
    assert absolute.mean("time_ns", "baseline", "b") == pytest.approx(20.0)
    less = _data.values_of(_panel(metric="time_ns - count / count"), Given(tables))
    assert less.mean("time_ns - count / count", "baseline", "a") == pytest.approx(2.5e6 - 1)
    ratio = _data.values_of(_panel(metric="time_ns * 2 + count / count"), Given(tables))
    assert ratio.mean("time_ns * 2 + count / count", "baseline", "a") == pytest.approx(5e6 + 1)


def test_the_interval_of_percentiles_is_no_narrower_than_their_bins():
    # 1 ms and 0.99 ms lie between 2^19 and 2^20 ns, where each of 1,024 bins has 512 ns.
    rows = [(seed, scheme) for seed in (1, 2) for scheme in ("baseline", "mine")]
    columns = {
        "cell": [f"case=a seed={seed}" for seed, _ in rows],
        "case": ["a" for _ in rows],
        "seed": [seed for seed, _ in rows],
        "scheme": [scheme for _, scheme in rows],
        "response.read.p99_ns": [1e6 if scheme == "baseline" else 990e3 for _, scheme in rows],
    }
    metric = "response.read.p99_ns"
    absolute = _data.values_of(_panel(metric=metric, factor=1e-6), Given(columns))
    assert absolute.half(metric, "mine", "a") == pytest.approx(512e-6)
    ratio = _data.values_of(_panel(metric=metric, base="baseline"), Given(columns))
    # The ratio 0.99 is 0.989488 if the dividend is at the start of its bin, and 0.990507 if the divisor is.
    assert ratio.half(metric, "mine", "a") == pytest.approx(0.000512)
    assert ratio.half(metric, "baseline", "a") == 0.0
    both = _data.bounds_of(columns, 1, f"{metric} / {metric}")
    assert both == pytest.approx((989_488 / 990_000, 1.0, 990_000 / 989_488))


def test_published_values_stand_where_their_claims_do(tables):
    def found(own, **of_panel):
        drawn = _panel(mean=True, **of_panel)
        values = _data.values_of(drawn, Given(tables))
        return {key[1:]: value for key, value in _data.published_of(drawn, values, [own]).items()}

    assert found(claim(), base="baseline") == {("mine", "a"): pytest.approx(0.4)}
    # If values are not normalised, the base is the measured value.
    assert found(claim(), factor=1e-6) == {("mine", "a"): pytest.approx(4.0)}
    both = [{"cell": "case=a"}, {"cell": "case=b"}]
    assert found(claim(cells=both), base="baseline") == {("mine", "mean"): pytest.approx(0.4)}
    # A maximum is no mean, a direction is no number, and a value in another unit is no height.
    assert found(claim(cells=both, aggregate="min"), base="baseline") == {}
    assert found(claim(published_effect=None), base="baseline") == {}
    assert found(claim(measure="figure", unit="us"), unit="ms") == {}
    assert found(claim(measure="figure", unit="ms", published_effect=3.0), unit="ms") == {("mine", "a"): 3.0}
    assert found(claim(experiment="other"), base="baseline") == {}


def experiment(paper, stem):
    """The file of an experiment, merged over the file whose grid it uses."""
    path = ROOT / "experiments" / paper / f"{stem}.toml"
    own = tomllib.loads(path.read_text())
    below = tomllib.loads((path.parent / own["grid"]).read_text()) if "grid" in own else {}
    return below | own


def varied(table, above=""):
    for key, value in table.items():
        yield from varied(value, f"{above}{key}.") if isinstance(value, dict) else [above + key]


@pytest.mark.parametrize("paper", figures.PAPERS)
def test_each_panel_is_of_an_experiment_with_its_schemes_and_cells(paper):
    specs = figures._figures(paper)
    assert len({figure.name for figure in specs}) == len(specs) > 5
    for figure in specs:
        assert bool(figure.panels) != bool(figure.not_measured), figure.name
        for drawn in figure.panels:
            of = experiment(paper, drawn.experiment)
            assert set(drawn.schemes) | ({drawn.base} - {None}) <= set(of["schemes"]), (figure.name, drawn.experiment)
            known = {"case", "device", "scheme", *varied(of.get("vary", {}))}
            assert {drawn.x, *drawn.only} <= known, figure.name
            cases = {case["name"] for case in of.get("case", [])}
            assert {drawn.only.get("case"), *drawn.leave_out} - {None} <= cases, figure.name


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("reproduced")


@pytest.fixture(scope="module")
def reproduced(folder):
    small = {"geometry.blocks_per_plane": 512, "capacity.over_provisioning": 0.8}
    return copyback.reproduce("ispass11", figure="8a", quick=True, out=folder, set=small, jobs=2)


def test_a_figure_is_drawn_as_svg_and_pdf_alike_each_time(reproduced, tmp_path):
    text = reproduced.draw(tmp_path / "first")
    assert "ispass11-8a.svg, .pdf" in text and "not measured: throughput of real SSDs" in text
    reproduced.draw(tmp_path / "second")
    names = sorted(path.name for path in (tmp_path / "first").iterdir())
    assert names == ["ispass11-8a.pdf", "ispass11-8a.svg"]
    for name in names:
        first, second = ((tmp_path / which / name).read_bytes() for which in ("first", "second"))
        assert first == second and b"CreationDate" not in first and b"<dc:date>" not in first
    svg = (tmp_path / "first" / "ispass11-8a.svg").read_text()
    assert all(word in svg for word in ("NPGC", "PGC", "published", "mean response (ms)", "64 KiB"))
    # A figure may be redrawn.
    reproduced.draw(tmp_path / "first")


def test_what_stands_there_is_not_harmed(reproduced, tmp_path):
    (tmp_path / "ispass11-9a.pdf").write_text("a thesis")
    with pytest.raises(copyback.InputError, match="no reproduction drew it") as caught:
        reproduced.draw(tmp_path)
    assert caught.value.help == "move it away, or name another folder"
    assert [path.name for path in tmp_path.iterdir()] == ["ispass11-9a.pdf"]
    with pytest.raises(copyback.InputError, match="is a file, not a folder"):
        reproduced.draw(tmp_path / "ispass11-9a.pdf")
    with pytest.raises(copyback.InputError, match=r"figures of `mine\.toml` are unknown"):
        copyback.reproduce("mine.toml", figures=tmp_path)


def test_the_program_of_the_package_draws(reproduced, folder, tmp_path):
    # What the fixture has simulated is not simulated again.
    words = ["reproduce", "ispass11", "--figure", "8a", "--quick", "-q", "--out", str(folder)]
    small = ["--set", "geometry.blocks_per_plane=512", "--set", "capacity.over_provisioning=0.8"]
    program = [sys.executable, "-m", "copyback", *words, *small]
    done = subprocess.run([*program, "--figures", "drawn"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Figures are in drawn:" in done.stdout and "8a    ispass11-8a.svg, .pdf" in done.stdout
    assert (tmp_path / "drawn" / "ispass11-8a.pdf").read_bytes().startswith(b"%PDF")
    (tmp_path / "kept").write_text("")
    refused = subprocess.run([*program, "--figures", "kept"], cwd=tmp_path, capture_output=True, text=True)
    assert refused.returncode == 2 and "kept is a file" in refused.stderr


def test_a_sum_over_no_requests_is_zero():
    # A mean over no requests is null; multiplied by their number, 0, it is 0. Any other null makes the result null.
    columns = {"none.count": [0], "none.mean_ns.gc": [None], "other.mean_ns": [None], "some.count": [5]}
    metrics = ("some.count + none.count * none.mean_ns.gc", "none.mean_ns.gc", "none.count * other.mean_ns", "no.count")
    assert [_data.number(columns, 0, metric) for metric in metrics] == [5.0, None, None, None]
