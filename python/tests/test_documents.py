"""The examples in the package's document are true."""

import doctest

import pytest
from conftest import ROOT


@pytest.mark.once
def test_docs_python(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = ROOT / "docs" / "python.md"
    tried = doctest.testfile(str(path), module_relative=False, optionflags=doctest.FAIL_FAST)
    assert tried.attempted > 20
    assert tried.failed == 0
