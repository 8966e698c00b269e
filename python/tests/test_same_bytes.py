"""The package gives the same bytes as the program."""

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import QUICK, without_wall

import copyback

pytestmark = pytest.mark.once

GRID = """
schemes = ["baseline", "pgc"]
requests = 500
workload = "mixed-70-30"
seeds = [1, 2]
[vary]
capacity.over_provisioning = [0.15, 0.3]
"""

CLAIMS = """
schemes = ["baseline", "pgc"]
requests = 2000
workload = "mixed-70-30"
[[claim]]
figure = "1"
text = "reads, pgc against baseline"
where = "nowhere"
kind = "own"
metric = "response.read.mean_ns"
scheme = "pgc"
against = "baseline"
direction = "lower"
"""


def test_documents_of_run_and_compare(program):
    own = copyback.run(scheme="pgc", set={"trigger.soft": 0.05, "timing.read": "50 us"}, seed=7, **QUICK)
    words = ["--workload", "mixed-70-30", "--requests", "2000", "--set", "trigger.soft=0.05"]
    words += ["--set", "timing.read=50 us", "--seed", "7", "--json", "-", "-q"]
    theirs = program("run", "--scheme", "pgc", *words)
    assert own.json.split('"wall"')[0] == theirs.split('"wall"')[0]
    assert without_wall(own.json) == without_wall(theirs)
    assert own.document["seed"] == 7
    own = copyback.compare(schemes=["baseline", "pgc"], closed=True, jobs=2, **QUICK)
    words = ["--schemes", "baseline,pgc", "--workload", "mixed-70-30", "--requests", "2000", "--closed", "--json", "-"]
    assert without_wall(own.json) == without_wall(program("compare", *words))


def test_texts(program):
    own = copyback.compare(schemes="baseline,pgc", **QUICK)
    words = ["compare", "--schemes", "baseline,pgc", "--workload", "mixed-70-30", "--requests", "2000"]
    theirs = program(*words)
    # The program suggests commands with its options; so does the package.
    assert str(own) == theirs
    assert copyback.explain("victim.greedy") == program("schemes", "victim.greedy")
    assert copyback.config(scheme="pgc") == program("run", "--scheme", "pgc", "--print-config")


def test_tables_of_a_sweep(program, tmp_path: Path):
    file = tmp_path / "grid.toml"
    file.write_text(GRID)
    copyback.sweep(file, out=tmp_path / "own.parquet")
    program("sweep", str(file), "--out", "theirs.parquet", cwd=tmp_path)
    for end in [".parquet", ".csv", "-latencies.parquet"]:
        assert (tmp_path / f"own{end}").read_bytes() == (tmp_path / f"theirs{end}").read_bytes()


def test_documents_of_reproduce_validate_and_trace_info(program, tmp_path: Path):
    file = tmp_path / "claims.toml"
    file.write_text(CLAIMS)
    own = copyback.reproduce(file, out=tmp_path / "own")
    program("reproduce", str(file), "--out", "theirs", "--json", "theirs.json", cwd=tmp_path)
    assert own.json == (tmp_path / "theirs.json").read_text()
    assert len(own["claims"]) == 1 and own.passed
    own = copyback.validate(only="bandwidth", quick=True)
    assert own.json == program("validate", "--only", "bandwidth", "--quick", "--json", "-")
    assert own.passed and own["passed"] == len(own["gates"])
    assert copyback.trace.info("oltp").json == program("trace", "info", "oltp", "--json")


def test_a_trace_is_converted(program, tmp_path: Path):
    said = copyback.trace.convert("oltp", tmp_path / "own.parquet", requests=1000)
    assert "1,000 requests" in said
    program("trace", "convert", "oltp", "theirs.parquet", "--requests", "1000", cwd=tmp_path)
    assert (tmp_path / "own.parquet").read_bytes() == (tmp_path / "theirs.parquet").read_bytes()


def test_the_module_is_the_program(program):
    words = ["devices", "small"]
    done = subprocess.run([sys.executable, "-m", "copyback", *words], capture_output=True, text=True, check=True)
    assert done.stdout == program(*words)
    wrong = subprocess.run([sys.executable, "-m", "copyback", "devices", "smal"], capture_output=True, text=True)
    assert wrong.returncode == 2 and "did you mean" in wrong.stderr


def test_names_of_what_there_is(program):
    for names, command in [
        (copyback.schemes(), "schemes"),
        (copyback.devices(), "devices"),
        (copyback.workloads(), "workloads"),
    ]:
        listed = program(command)
        assert len(names) > 5 and all(f"  {name}" in listed for name in names)
