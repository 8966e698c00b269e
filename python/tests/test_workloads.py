"""Several workloads in one run, by an experiment, by settings, and by a job file of fio."""

import json

import pyarrow

import copyback

SEVERAL = """
[workloads.reader]
share = 0.5
requests = 300
read_share = 1.0
size = { kind = "fixed", mean = "4 KiB" }

[workloads.writer]
share = 0.5
requests = 200
read_share = 0.0
size = { kind = "fixed", mean = "4 KiB" }
"""

JOBS = "[global]\nioengine=libaio\nbs=4k\nsize=1m\n[r]\nrw=randread\niodepth=3\n[w]\nrw=randwrite\n"


def test_each_has_results_and_settings(tmp_path):
    path = tmp_path / "several.toml"
    path.write_text(SEVERAL)
    runs = copyback.run(path, set={"workloads.reader.queue_depth": 2, "workloads.writer.queue_depth": 5})
    each = runs["baseline"]["workloads"]
    assert {name: of["peak_outstanding"] for name, of in each.items()} == {"reader": 2, "writer": 5}
    rows = pyarrow.table(runs.workloads).to_pylist()
    writes = [row["value"] for row in rows if (row["workload"], row["metric"]) == ("writer", "writes")]
    assert writes == [200]


def test_a_job_file_and_the_json_of_fio(tmp_path):
    path, out = tmp_path / "jobs.fio", tmp_path / "fio.json"
    path.write_text(JOBS)
    runs = copyback.run(fio=path, fio_json=out)
    assert runs["baseline"]["workloads"]["r"]["peak_outstanding"] == 3
    jobs = json.loads(out.read_text())["jobs"]
    assert [(job["jobname"], job["read"]["total_ios"], job["write"]["total_ios"]) for job in jobs] == [
        ("r", 256, 0),
        ("w", 0, 256),
    ]
