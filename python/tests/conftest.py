"""Where the program is, and work that is quick and has something to collect."""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# A drive that is full at once, with reads and writes.
QUICK = {"workload": "mixed-70-30", "requests": 2000}


def without_wall(text: str) -> dict:
    """A document without the only part of it that differs from one time to the next."""
    document = json.loads(text)
    del document["wall"]
    return document


@pytest.fixture(scope="session")
def program():
    """The program as Rust builds it, and not the package's own."""
    path = os.environ.get("COPYBACK_PROGRAM")
    if path is None:
        pytest.skip("COPYBACK_PROGRAM does not say where the program is; `make python` does")

    def call(*words: str, cwd: Path | None = None, **more) -> str:
        done = subprocess.run([path, *words], cwd=cwd, capture_output=True, text=True, check=True, **more)
        return done.stdout

    return call
