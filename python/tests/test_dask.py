"""A sweep on two worker processes: the bytes of one machine, whoever dies."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest

import copyback

distributed = pytest.importorskip("distributed")

GRID = """
device = "small"
schemes = ["baseline", "pgc"]
workload = "mixed-70-30"
requests = 400
seed = [1, 2, 3, 4]
"""


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def written(folder: Path, grid: str = GRID, **more) -> tuple[copyback.Sweep, dict[str, bytes]]:
    folder.mkdir()
    (folder / "grid.toml").write_text(grid)
    swept = copyback.sweep(folder / "grid.toml", out=folder / "t.parquet", progress=False, **more)
    files = {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".journal"}
    return swept, files


def test_files_have_the_bytes_of_one_machine(client, tmp_path):
    _, here = written(tmp_path / "here")
    _, there = written(tmp_path / "there", client=client)
    assert len(here) == 4 and here == there


def test_a_worker_that_is_killed_loses_no_cell(client, tmp_path):
    _, here = written(tmp_path / "here")
    pids = list(client.run(os.getpid).values())

    def kill() -> None:
        journal = tmp_path / "there" / "t.journal"
        while not journal.exists() or journal.read_bytes().count(b"\n") < 2:
            time.sleep(0.005)
        os.kill(pids[0], signal.SIGKILL)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    _, there = written(tmp_path / "there", client=client)
    killer.join(10)
    assert not killer.is_alive(), "no worker was killed"
    assert here == there


def test_an_error_of_a_cell_is_told_as_on_one_machine(client, tmp_path):
    # The second record's time goes back: found when the trace is replayed.
    grid = GRID.replace('workload = "mixed-70-30"', 'trace = "own.csv"').replace("[1, 2, 3, 4]", "1")
    told = []
    for name, more in [("here", {}), ("there", {"client": client})]:
        (tmp_path / name).mkdir()
        folder = tmp_path / name
        (folder / "own.csv").write_text("arrival_ns,op,offset_bytes,length_bytes\n0,read,0,4096\nx,read,0,4096\n")
        (folder / "grid.toml").write_text(grid)
        with pytest.raises(copyback.InputError) as error:
            copyback.sweep(folder / "grid.toml", out=folder / "t.parquet", progress=False, **more)
        told.append(str(error.value).replace(str(folder), ""))
    assert told[0] == told[1]


def test_a_worker_of_another_build_refuses(client, tmp_path):
    seen = {}

    class Other:
        """Descriptions that were made for another build."""

        def map(self, function, descriptions, key):
            spoiled = [text.replace(copyback.__version__, "0.0.0", 1) for text in descriptions]
            seen["count"] = len(spoiled)
            return client.map(function, spoiled, key=key)

        def cancel(self, futures):
            client.cancel(futures)

    with pytest.raises(copyback.InputError, match="another build of copyback"):
        written(tmp_path / "there", client=Other())
    assert seen["count"] == 4
