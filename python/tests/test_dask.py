"""A sweep on two worker processes gives the bytes of one machine, even if a worker or the client dies."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import copyback
from copyback import _dask

blake3 = pytest.importorskip("blake3")
distributed = pytest.importorskip("distributed")

# How cells reach processes is a matter of Dask.
pytestmark = pytest.mark.once

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


MANY = GRID.replace("[1, 2, 3, 4]", str(list(range(1, 21)))).replace("400", "1500")


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """The files that one machine writes of many cells."""
    _, files = written(tmp_path_factory.mktemp("many") / "here", MANY)
    return files


def lines(journal: Path) -> int:
    """Return the number of cells in a journal; its first line is not a cell."""
    return max(0, journal.read_bytes().count(b"\n") - 1) if journal.exists() else 0


def test_a_worker_that_is_killed_loses_no_cell(client, many, tmp_path):
    pids = client.run(os.getpid)
    done = []

    def kill() -> None:
        while not lines(tmp_path / "there" / "t.journal"):
            time.sleep(0.002)
        os.kill(next(iter(pids.values())), signal.SIGKILL)
        done.append(lines(tmp_path / "there" / "t.journal"))

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    _, there = written(tmp_path / "there", MANY, client=client)
    killer.join(10)
    assert 1 <= done[0] < 20, "the worker was not killed in the midst"
    assert many == there


class Counting:
    """A client that counts its cells, and may change their descriptions."""

    def __init__(self, client, change=lambda text: text) -> None:
        self.client, self.change, self.count = client, change, 0

    def map(self, function, descriptions, **more):
        self.count += len(descriptions)
        return self.client.map(function, [self.change(text) for text in descriptions], **more)

    def __getattr__(self, name):
        return getattr(self.client, name)


def test_a_client_that_is_killed_goes_on_where_it_was(client, many, tmp_path):
    folder = tmp_path / "there"
    folder.mkdir()
    (folder / "grid.toml").write_text(MANY)
    words = ["sweep", "--dask", client.scheduler.address, str(folder / "grid.toml"), "--out", str(folder / "t.parquet")]
    process = subprocess.Popen([sys.executable, "-m", "copyback", *words], stderr=subprocess.DEVNULL)
    while lines(folder / "t.journal") < 3:
        assert process.poll() is None, "it ended before it could be killed"
        time.sleep(0.002)
    process.kill()
    process.wait()
    done = lines(folder / "t.journal")
    assert 3 <= done < 20
    counting = Counting(client)
    copyback.sweep(folder / "grid.toml", out=folder / "t.parquet", progress=False, client=counting)
    assert counting.count == 20 - done
    there = {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".journal"}
    assert many == there


def traced(folder: Path, records: int, last: str = "") -> str:
    """Write a trace; return a grid that replays it."""
    text = "arrival_ns,op,offset_bytes,length_bytes\n"
    text += "".join(f"{at * 100_000},read,{at % 64 * 4096},4096\n" for at in range(records)) + last
    (folder / "own.csv").write_text(text)
    grid = GRID.replace('workload = "mixed-70-30"', 'trace = "own.csv"').replace("requests = 400\n", "")
    (folder / "grid.toml").write_text(grid)
    return grid


def test_an_error_of_a_cell_is_told_as_on_one_machine(client, tmp_path):
    # So late in the file that only the run of the cell finds it.
    traced(tmp_path, 60_000, "1,erase,0,4096\n")
    told = []
    for more in [{}, {"client": Counting(client)}]:
        with pytest.raises(copyback.InputError) as error:
            copyback.sweep(tmp_path / "grid.toml", out=tmp_path / "t.parquet", progress=False, fresh=True, **more)
        told.append((error.value.message.partition("seed")[2][2:], error.value.help))
    assert more["client"].count == 4, "it was found before a cell ran"
    assert told[0] == told[1]


def test_a_trace_that_workers_lack_is_sent_once(client, tmp_path, monkeypatch):
    folder, view = tmp_path / "there", tmp_path / "view"
    folder.mkdir()
    view.mkdir()
    traced(folder, 2_000)
    copyback.sweep(folder / "grid.toml", out=tmp_path / "here.parquet", progress=False)
    # Workers see the same sweep file, but another trace beside it.
    traced(view, 100)
    seen = Counting(client, lambda text: text.replace(str(folder), str(view)))
    read = []

    def content(cluster, path, hash):
        read.append(path)
        if hash not in cluster._sent:
            cluster._sent[hash] = client.scatter((folder / Path(path).name).read_bytes(), hash=True)
        return cluster._sent[hash]

    monkeypatch.setattr(_dask.Cluster, "_content", content)
    copyback.sweep(folder / "grid.toml", out=tmp_path / "there.parquet", progress=False, client=seen)
    assert set(read) == {str(view / "own.csv")}
    for ending in ["parquet", "csv"]:
        assert (tmp_path / f"here.{ending}").read_bytes() == (tmp_path / f"there.{ending}").read_bytes()


def test_the_build_is_the_extension_not_the_interpreter(client, tmp_path):
    programs = set()

    def note(text):
        programs.add(json.loads(text)["program"])
        return text

    written(tmp_path / "there", client=Counting(client, note))
    extension = blake3.blake3(Path(copyback._copyback.__file__).read_bytes()).hexdigest()
    assert programs == {f"{copyback.__version__} blake3:{extension}"}


def test_a_worker_of_another_build_refuses(client, tmp_path):
    other = Counting(client, lambda text: text.replace(copyback.__version__, "0.0.0", 1))
    with pytest.raises(copyback.InputError, match="another build of copyback") as error:
        written(tmp_path / "there", client=other)
    assert other.count == 4 and "the same wheel" in error.value.help


def test_what_cannot_be_reached_is_refused(tmp_path):
    (tmp_path / "grid.toml").write_text(GRID)
    words = [sys.executable, "-m", "copyback", "sweep", "--dask", "nonsense://x:1", str(tmp_path / "grid.toml")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "--dask nonsense://x:1" in done.stderr
    assert not list(tmp_path.glob("*.parquet"))


def test_an_interrupt_gives_up_what_waits(client, tmp_path):
    # Half a minute of work, in cells that are short: a worker finishes the one that it has begun.
    endless = GRID.replace("[1, 2, 3, 4]", str(list(range(1, 201)))).replace("400", "40000")
    timer = threading.Timer(1.5, os.kill, [os.getpid(), signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        written(tmp_path / "there", endless, client=client)
    begun = time.monotonic()
    while any(client.processing().values()):
        assert time.monotonic() - begun < 10, "tasks of the sweep are still there"
        time.sleep(0.05)


SLURM = """
from dask_jobqueue import SLURMCluster

if __name__ == "__main__":
    with SLURMCluster(cores=8, processes=8, memory="32GB", walltime="02:00:00") as cluster:
        print(cluster.job_script())
"""


def test_a_job_of_slurm_starts_a_process_of_one_thread_for_each_core():
    # In a process of its own: the import changes what an interrupt does.
    if importlib.util.find_spec("dask_jobqueue") is None:
        pytest.skip("dask-jobqueue is not installed")
    done = subprocess.run([sys.executable, "-c", SLURM], capture_output=True, text=True, check=True)
    assert "#SBATCH --cpus-per-task=8" in done.stdout and "#SBATCH -t 02:00:00" in done.stdout
    assert "--nthreads 1" in done.stdout and "--nworkers 8" in done.stdout
