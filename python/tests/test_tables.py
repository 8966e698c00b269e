"""pandas, polars, DuckDB and pyarrow read every table directly."""

import copy
import html
import pickle
import re

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import QUICK

import copyback


@pytest.fixture(scope="module")
def runs():
    return copyback.compare(schemes=["baseline", "pgc"], keep=["gc_events", "requests", "commands"], **QUICK)


def test_each_library_reads_each_table_alike(runs):
    assert runs.tables == ["summary", "latency_histograms", "time_series", "gc_events", "requests", "commands"]
    for name in runs.tables:
        own = runs.table(name)
        of_polars, of_arrow = pl.DataFrame(own), pa.table(own)
        of_pandas, of_duckdb = pd.DataFrame.from_arrow(own), duckdb.sql("select * from own").pl()
        assert of_polars.columns == own.column_names == of_arrow.schema.names == list(of_pandas.columns)
        assert len(own) == own.num_rows == of_polars.height == of_arrow.num_rows == len(of_pandas) > 0
        assert of_polars.equals(of_duckdb) and of_polars.equals(pl.DataFrame(of_arrow))


def test_tables_hold_what_the_document_says(runs):
    summary = pl.DataFrame(runs.summary)
    for scheme in runs:
        report = runs[scheme]
        value = summary.filter(scheme=scheme, metric="response.read.p99_ns")["value"].item()
        assert value == report["response"]["read"]["p99_ns"]
        requests = pl.DataFrame(runs.requests).filter(scheme=scheme)
        assert requests.height == report["response"]["all"]["count"] == 2000
        parts = requests.select(pl.sum_horizontal(pl.col("flash_ns", "^.*_ns$").exclude("arrival_ns", "response_ns")))
        assert parts.to_series().equals(requests["response_ns"], check_names=False)
        assert pl.DataFrame(runs.gc_events).filter(scheme=scheme).height >= report["gc"]["collections"]


def test_the_tables_are_those_of_the_folder(tmp_path):
    kept = copyback.run(out=tmp_path / "out", **QUICK)
    for name in kept.tables:
        assert pl.DataFrame(kept.table(name)).equals(pl.read_parquet(tmp_path / "out" / f"{name}.parquet"))


def test_numbers_are_not_copied(runs):
    table = runs.table("time_series")
    first, second = (pa.table(table).column("time_ns").chunk(0).buffers()[1].address for _ in range(2))
    assert first == second


def test_results_are_copied_and_not_pickled(runs):
    info = copyback.trace.info("oltp", requests=100)
    assert repr(info).startswith("<copyback.Document: ") and "requests" in repr(info)
    for result in [runs, info]:
        for copied in [copy.copy(result), copy.deepcopy(result)]:
            assert type(copied) is type(result) and copied.json == result.json
        with pytest.raises(TypeError, match=r"cannot be pickled; return .* `.document`"):
            pickle.dumps(result)
    copied = copy.deepcopy(runs)
    copied.document["results"].clear()
    assert runs.document["results"], "a copy's document is its own"
    # What the error suggests.
    assert pickle.loads(pickle.dumps(runs.document)) == runs.document
    frame = pl.DataFrame(runs.summary)
    assert pickle.loads(pickle.dumps(frame)).equals(frame)


def test_what_is_not_there_is_said(runs):
    alone = copyback.run(keep=[], **QUICK)
    with pytest.raises(AttributeError, match=r'keep=\["gc_events"\]'):
        _ = alone.gc_events
    with pytest.raises(KeyError, match="no table `nothing`"):
        runs.table("nothing")
    assert {"summary", "schemes", "requests"} <= set(dir(runs))


def test_a_notebook_sees_a_table(runs):
    # The cells that the program prints: with its rounding, and without percentiles of too few requests.
    text = runs._repr_html_()
    cells = re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", text)
    printed = runs.text(1_000)
    assert all(html.unescape(cell) in printed for cell in cells)
    assert text.count("<tr") == 5 and {"baseline", "pgc", "p99.9", "WA", "reads"} <= set(cells)
    few = copyback.run(scheme="baseline", **(QUICK | {"requests": 50}))
    assert re.findall(r"<td[^>]*>([^<]*)</td>", few._repr_html_())[2] == "-"


def test_a_notebook_sees_the_notes_that_the_program_prints(runs):
    noted = copyback.compare(schemes=["baseline"], set={"host.queue_depth": 7}, **QUICK)
    notes = [line for line in str(noted).splitlines() if line.startswith("Note")]
    assert notes and all(html.escape(note) in noted._repr_html_() for note in notes)


def latex_cells(text):
    """Rows of a table for LaTeX, without rules, cell by cell."""
    rows = [line.removesuffix(r" \\") for line in text.splitlines() if line.endswith(r" \\")]
    return [[cell.strip() for cell in row.split(" & ")] for row in rows]


def test_every_table_is_one_for_latex(runs):
    for name in runs.tables:
        own = runs.table(name)
        cells = latex_cells(own.to_latex(rows=5))
        assert [cell.replace(r"\_", "_") for cell in cells[0]] == own.column_names
        assert len(cells) == 1 + min(5, len(own)) and {len(row) for row in cells} == {len(own.column_names)}
    metrics = latex_cells(runs.summary.to_latex(columns=["metric", "value"]))
    assert len(metrics) == 1 + len(runs.summary) and [r"response.read.p99\_ns"] in [row[:1] for row in metrics]
    with pytest.raises(KeyError, match='no column "nothing"; it has scheme'):
        runs.summary.to_latex(columns=["nothing"])
    cells = latex_cells(runs.to_latex())
    assert cells[1][:2] == ["scheme", "mean"] and [row[0] for row in cells[2:]] == ["baseline", "pgc", ""]


def test_a_sweep_is_a_table_for_latex(tmp_path):
    (tmp_path / "g.toml").write_text('workload = "mixed-70-30"\nrequests = 100\n[vary]\ntrigger.soft = [0.04, 0.05]\n')
    swept = copyback.sweep(tmp_path / "g.toml", out=tmp_path / "g.parquet")
    text = swept.to_latex()
    assert text.count(r"\emph{trigger.soft=") == 2 and text.endswith("\\bottomrule\n\\end{tabular}\n")
    assert latex_cells(swept.table.to_latex(columns=["scheme", "trigger.soft"]))[1] == ["baseline", "0.04"]
