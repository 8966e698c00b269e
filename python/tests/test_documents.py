"""The examples in the package's document are true."""

import doctest

import polars
import pytest
from conftest import ROOT

import copyback


@pytest.mark.once
def test_docs_python(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = ROOT / "docs" / "python.md"
    tried = doctest.testfile(str(path), module_relative=False, optionflags=doctest.FAIL_FAST)
    assert tried.attempted > 20
    assert tried.failed == 0


@pytest.mark.once
def test_the_readme():
    text = (ROOT / "README.md").read_text()
    code = text.split("```python\n")[1].split("```")[0]
    frame = polars.DataFrame(
        {
            "arrival_ns": range(0, 20_000_000, 100_000),
            "op": ["write", "read"] * 100,
            "offset_bytes": [4096 * at for at in range(200)],
            "length_bytes": [4096] * 200,
        }
    )
    names = {"copyback": copyback, "polars": polars, "frame": frame}
    exec(compile(code, "README.md", "exec"), names)
    assert polars.DataFrame(names["result"].summary)["scheme"].unique().sort().to_list() == ["baseline", "pgc"]
