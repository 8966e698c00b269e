"""The notebooks of docs/ run, and contain their true outputs."""

from pathlib import Path

import nbformat
import pytest
from conftest import ROOT
from nbclient import NotebookClient

pytestmark = pytest.mark.once

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def texts(notebook):
    """The texts that cells print; the layout of a data frame is its library's."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return [output["text"] for output in outputs if output.get("name") == "stdout"]


def pictures(notebook):
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return sum("image/png" in output.get("data", {}) or "image/svg+xml" in output.get("data", {}) for output in outputs)


def executed(path: Path, folder: Path):
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": folder}}
    # Timestamps would make the bytes differ each time.
    client = NotebookClient(notebook, timeout=120, kernel_name="python3", record_timing=False, resources=resources)
    client.execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    return notebook


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_it_gives(path, tmp_path):
    kept = nbformat.read(path, as_version=4)
    now = executed(path, tmp_path)
    assert texts(now) == texts(kept), "run: python python/tests/test_notebooks.py"
    assert pictures(now) == pictures(kept)


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 5


if __name__ == "__main__":
    import tempfile

    for at in NOTEBOOKS:
        with tempfile.TemporaryDirectory() as empty:
            nbformat.write(executed(at, Path(empty)), at)
        print(at.name)
