"""pandas, polars, DuckDB and pyarrow read every table directly."""

import copy
import html
import pickle
import re
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import QUICK, without_wall

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


def pickled(result):
    return pickle.loads(pickle.dumps(result))


def test_results_are_copied(runs):
    info = copyback.trace.info("oltp", requests=100)
    assert repr(info).startswith("<copyback.Document: ") and "requests" in repr(info)
    for result in [runs, info]:
        for copied in [copy.copy(result), copy.deepcopy(result), pickled(result), pickled(pickled(result))]:
            assert type(copied) is type(result) and copied.json == result.json
            assert repr(copied) == repr(result) and str(copied) == str(result)
            assert copied._repr_html_() == result._repr_html_()
    copied = copy.deepcopy(runs)
    copied.document["results"].clear()
    assert runs.document["results"], "a copy's document is its own"


def test_runs_are_pickled(runs):
    kept = pickled(runs)
    assert kept["pgc"] == runs["pgc"] and list(kept) == runs.schemes and kept.tables == runs.tables
    for name in runs.tables:
        assert pl.DataFrame(kept.table(name)).equals(pl.DataFrame(runs.table(name))), name
        schemas = [pa.table(result.table(name)).schema for result in [kept, runs]]
        assert schemas[0] == schemas[1], name
        assert kept.table(name).name == name and kept.table(name).to_latex(rows=2) == runs.table(name).to_latex(rows=2)
    assert kept.to_latex() == runs.to_latex()
    assert [kept.text(width) for width in (80, 120)] == [runs.text(width) for width in (80, 120)]
    # Between two widths, the smaller one fits.
    assert kept.text(110) == runs.text(100) and kept.text(20) == runs.text(80)
    with pytest.raises(AttributeError, match="there is no table or attribute 'nothing'"):
        _ = kept.nothing
    with pytest.raises(KeyError, match="no table `nothing`"):
        kept.table("nothing")
    # Files and processes take what pickle made.
    assert pd.DataFrame.from_arrow(copy.copy(kept.summary)).equals(pd.DataFrame.from_arrow(runs.summary))


def test_sweeps_and_documents_are_pickled(tmp_path):
    file = tmp_path / "s.toml"
    head = 'schemes = ["baseline", "pgc"]\nworkload = "mixed-70-30"\nrequests = 1000\n'
    # Without writes there is no write amplification.
    file.write_text(head + '[vary]\n"workload.read_share" = [0.5, 1.0]\n')
    sweep = copyback.sweep(file, out=tmp_path / "s.parquet")
    kept = pickled(sweep)
    assert pl.DataFrame(kept).equals(pl.DataFrame(sweep)) and str(kept) == str(sweep)
    assert pl.DataFrame(kept.latencies).equals(pl.DataFrame(sweep.latencies))
    assert kept.to_latex() == sweep.to_latex() and repr(kept) == repr(sweep)
    assert any(column.null_count() for column in pl.DataFrame(kept).iter_columns()), "no column has gaps"


def test_a_process_returns_results():
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        found = pool.submit(copyback.run, **QUICK).result()
    own = copyback.run(**QUICK)
    assert without_wall(found.json) == without_wall(own.json)
    assert pl.DataFrame(found.summary).equals(pl.DataFrame(own.summary))


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
