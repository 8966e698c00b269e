"""The path of the program, and a quick workload with collections."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# A shell starts background jobs with Ctrl-C ignored, and tests of interrupts would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Reads and writes on a small drive, which is full at the start.
QUICK = {"workload": "mixed-70-30", "requests": 2000}


def without_wall(text: str) -> dict:
    """A document without the only part that differs between equal runs."""
    document = json.loads(text)
    del document["wall"]
    return document


# These modules share a browser, a cluster or results: one process runs all tests of each.
TOGETHER = ["test_dask", "test_figures", "test_plot", "test_report", "test_tables"]


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.stem in TOGETHER:
            item.add_marker(pytest.mark.xdist_group(item.path.stem))


def pytest_ignore_collect(collection_path, config):
    """Modules of tests that run once need not be imported for the others: they import large libraries."""
    if config.option.markexpr == "not once" and collection_path.suffix == ".py":
        return "\npytestmark = pytest.mark.once\n" in collection_path.read_text() or None
    return None


@pytest.fixture(scope="session")
def program():
    """The program of the Rust build, not the package's."""
    path = os.environ.get("COPYBACK_PROGRAM")
    if path is None:
        pytest.skip("COPYBACK_PROGRAM does not say where the program is; `make python` does")

    def call(*words: str, cwd: Path | None = None, **more) -> str:
        done = subprocess.run([path, *words], cwd=cwd, capture_output=True, text=True, check=True, **more)
        return done.stdout

    return call


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """Run each test in a folder of its own: a sweep writes its table where it is called."""
    monkeypatch.chdir(tmp_path)
