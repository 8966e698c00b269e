"""A call lets other threads run, ends on an interrupt, reports its progress, and names mistakes."""

import enum
import io
import os
import signal
import sys
import threading
import time

import numpy as np
import pytest
from conftest import QUICK

import copyback
from copyback import _copyback, _progress

LONG = {"workload": "random-write", "set": {"workload.requests": 100_000_000}}


@pytest.mark.parametrize(
    "work",
    [
        pytest.param(lambda: copyback.run(**LONG), id="run"),
        pytest.param(lambda: copyback.compare(schemes=["baseline", "pgc"], **LONG), id="compare"),
        pytest.param(
            lambda: copyback.run(
                device="tlc-nvme", set={"precondition.mode": "random", "geometry.blocks_per_plane": 1024}
            ),
            id="preconditioning",
        ),
        pytest.param(copyback.validate, id="validate"),
    ],
)
def test_an_interrupt_ends_it_within_a_tenth_of_a_second(work):
    sent = []

    def interrupt():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.3, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        work()
    assert time.monotonic() - sent[0] < 0.1
    timer.join()
    # No work continues in the background, except that a large drive is allocated completely and then freed.
    until = time.monotonic() + 10
    while busy_s() > 0.03:
        assert time.monotonic() < until


def test_an_interrupted_call_writes_no_output_later(tmp_path):
    """Its thread may still write, but the caller may have files of these names by then."""
    mine = tmp_path / "conv.csv"
    threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        copyback.trace.convert("mixed-70-30", mine)
    mine.write_text("mine")
    until = time.monotonic() + 30
    while busy_s() > 0.03 or list(tmp_path.glob(".copyback-*")):
        assert time.monotonic() < until
    assert [path.name for path in tmp_path.iterdir()] == ["conv.csv"]
    assert mine.read_text() == "mine"


def test_an_interrupted_call_leaves_earlier_results(tmp_path):
    folder = tmp_path / "results"
    copyback.run(**QUICK, out=folder, keep=["requests"])
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for delay_s in (0.02, 0.1, 0.3):
        threading.Timer(delay_s, os.kill, [os.getpid(), signal.SIGINT]).start()
        with pytest.raises(KeyboardInterrupt):
            copyback.run(**LONG, out=folder, keep=["requests"])
        until = time.monotonic() + 30
        while busy_s() > 0.03:
            assert time.monotonic() < until
        assert {path.name: path.read_bytes() for path in folder.iterdir() if path.name in before} == before


@pytest.mark.parametrize("name", ["out", "json", "latex", "perfetto", "fio_json", "timeline"])
def test_an_empty_name_is_refused_before_a_run(name, tmp_path):
    with pytest.raises(copyback.InputError, match="which is an empty name"):
        copyback.run(**QUICK, **{name: ""})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", ["missing", "closed"])
def test_a_program_without_standard_error_runs(kind, monkeypatch):
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stderr", None if kind == "missing" else closed)
    assert copyback.run(**QUICK)


def busy_s() -> float:
    start = time.process_time()
    time.sleep(0.3)
    return time.process_time() - start


def test_other_threads_run_meanwhile():
    counted = []

    def count():
        while not is_over.is_set():
            counted.append(time.monotonic())

    is_over = threading.Event()
    thread = threading.Thread(target=count)
    thread.start()
    start = time.monotonic()
    copyback.run(workload="random-write", requests=100_000)
    end = time.monotonic()
    is_over.set()
    thread.join()
    meanwhile = np.array([at for at in counted if start < at < end])
    # The thread runs during calls, and not only between them.
    assert len(meanwhile) > 100 and np.diff(meanwhile).max() < 0.5 * (end - start)


def test_progress_is_reported():
    heard = []
    options = {"requests": 20_000, "schemes": ["baseline", "pgc"]}
    _copyback.compare(options, on_progress=lambda tracks, _: heard.append(tracks))
    last = heard[-1]
    known = [(name, total, done) for name, total, done, is_over in last if total is not None and is_over]
    # The reports before that, if any, are of the preconditioning.
    runs = [run for run in known if "preconditioning" not in run[0]]
    assert all(total == 100 for name, total, _ in known if "preconditioning" in name)
    # They run concurrently: either may begin first.
    assert sorted(runs) == [("baseline", 20000, 20000), ("pgc", 20000, 20000)]


def test_bars_are_shown_where_they_are_wanted(capsys):
    copyback.run(progress=True, **QUICK)
    assert "baseline" in capsys.readouterr().err
    copyback.run(progress=False, **QUICK)
    assert capsys.readouterr().err == ""


def test_long_steps_are_logged_if_no_bars_are_shown(caplog):
    # A drive takes some ten seconds to fill; the test waits for two of them at most.
    lines = []

    def on_progress(tracks, told):
        lines.extend(told)
        if lines:
            raise KeyboardInterrupt

    large = {"settings": ["geometry.blocks_per_plane=40000"], "workload": "random-write"}
    with pytest.raises(KeyboardInterrupt):
        _copyback.run(large, on_progress=on_progress)
    assert "to precondition" in lines[0]
    with _progress.bars(None) as heard:
        heard([], lines)
    assert caplog.messages == lines


def test_a_progress_function_may_raise():
    def on_progress(*_):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        _copyback.run({"workload": "random-write"}, on_progress=on_progress)


def test_tables_of_settings_may_be_nested():
    nested = {"trigger": {"soft": 0.1, "stop": 0.12}, "timing": {"read": "60 us"}}
    dotted = {"trigger.soft": 0.1, "trigger.stop": 0.12, "timing.read": "60 us"}
    assert copyback.config(set=nested) == copyback.config(set=dotted)
    with pytest.raises(copyback.InputError, match="two values for 'trigger"):
        copyback.config(set={"trigger": {"soft": 0.1}, "trigger.soft": 0.2})
    for settings, help in [
        ({"trigger": 0.1}, 'set={"trigger.soft": 0.05'),
        ({"device": "small"}, "use the argument device=..."),
        ({"trigger": {}}, 'set={"trigger.soft": 0.05'),
        ({"trigger": {1: 2}}, "write '1'"),
    ]:
        with pytest.raises(copyback.InputError) as caught:
            copyback.config(set=settings)
        assert help in caught.value.help and "--" not in caught.value.help, caught.value.help


def test_lists_take_a_name():
    assert copyback.schemes("pgc") == copyback.explain("pgc")
    assert "[geometry]" in copyback.devices("small") and "small" in copyback.devices()
    assert "trace" in copyback.workloads("oltp") and "oltp" in copyback.workloads()
    for listed in [copyback.schemes, copyback.devices, copyback.workloads]:
        with pytest.raises(copyback.InputError, match="nothing-like-that"):
            listed("nothing-like-that")
        with pytest.raises(copyback.InputError, match="which is no name"):
            listed(7)


def test_mistakes_have_place_value_and_help(tmp_path):
    with pytest.raises(copyback.InputError) as caught:
        copyback.run(set={"trigger.sof": 0.05})
    error = caught.value
    assert error.message == "unknown key `sof` in `[trigger]`" and "did you mean `soft`" in error.help
    assert (error.file, error.line, error.column, error.value) == ("--set", 1, 9, "sof")
    file = tmp_path / "mine.toml"
    file.write_text('scheme = "baseline"\nrequests = -5\n')
    with pytest.raises(copyback.InputError) as caught:
        copyback.run(file)
    error = caught.value
    assert (error.file, error.line, error.column, error.value) == (str(file), 2, 12, "-5")
    assert str(error).startswith(f"{file}:2:12: ") and isinstance(error, copyback.Error)
    with pytest.raises(copyback.InputError, match="unknown device"):
        copyback.run(device="smal")
    with pytest.raises(copyback.InputError, match="share"):
        copyback.run(fit=7.0)


@pytest.mark.once
def test_a_failed_validation_says_so_and_keeps_its_document():
    # With two seeds, the result of this gate is mostly noise.
    done = copyback.validate(only="one frontier", quick=True, seeds=2)
    assert done.document["seeds"] == 2
    assert not done.passed and "use more --seeds" in done.verdict.help
    assert done.document["passed"] < len(done.document["gates"])


def test_values_are_spelt_as_toml():
    from copyback._words import of_settings

    values = [0.05, True, "50 us", [1, "x"], np.int64(3), {"after": "10 ms"}]
    settings = {f"t.{letter}": value for letter, value in zip("bcdefg", values, strict=True)}
    words = list(of_settings(settings))
    assert words[1::2] == ["t.b=0.05", "t.c=true", "t.d=50 us", 't.e=[1, "x"]', "t.f=3", 't.g={"after" = "10 ms"}']
    settings = {"trigger.idle": {"after": "7 ms"}, "compose.gc": ["pipeline"], "preemption.policy": "points"}
    configured = copyback.config(set=settings)
    assert "7 ms" in configured and 'gc = ["pipeline"]' in configured


class Share(float):
    def __repr__(self):
        return "a share"


class Dies(enum.IntEnum):
    FEW = 2


class Victim(str, enum.Enum):  # noqa: UP042
    FIRST = "fifo"


class Key(str, enum.Enum):  # noqa: UP042
    SOFT = "trigger.soft"


def test_subclasses_of_numbers_and_texts_are_spelt_as_their_values():
    from copyback._words import of_options, of_settings

    values = [np.float64(0.25), Share(0.5), Dies.FEW, Victim.FIRST, [Victim.FIRST, Dies.FEW]]
    values += [np.linspace(0, 1, 3), np.bool_(True), np.str_("x")]
    settings = {f"t.{letter}": value for letter, value in zip("abcdefgh", values, strict=True)}
    settings |= {Key.SOFT: np.float32(0.5)}
    words = list(of_settings(settings))[1::2]
    assert words[:5] == ["t.a=0.25", "t.b=0.5", "t.c=2", "t.d=fifo", 't.e=["fifo", 2]']
    assert words[5:] == ["t.f=[0.0, 0.5, 1.0]", "t.g=true", "t.h=x", "trigger.soft=0.5"]
    assert list(of_options(title=Victim.FIRST)) == ["--title=fifo"]
    shares = np.linspace(0.25, 0.5, 2)
    configured = [copyback.config(set={"capacity.over_provisioning": share}) for share in shares]
    assert ["over_provisioning = 0.25" in configured[0], "over_provisioning = 0.5" in configured[1]] == [True, True]
    assert 'policy = "fifo"' in copyback.config(set={"victim.policy": Victim.FIRST})


def test_empty_schemes_and_unknown_tables_are_refused(tmp_path):
    (tmp_path / "grid.toml").write_text('workload = "mixed-70-30"\nrequests = 10\n')
    none = (name for name in ["baseline"] if name == "nosuch")
    for schemes, call in [
        ([], copyback.compare),
        (none, copyback.compare),
        ([], lambda **options: copyback.sweep(tmp_path / "grid.toml", **options)),
    ]:
        with pytest.raises(copyback.InputError, match="`schemes` is empty") as caught:
            call(schemes=schemes)
        assert (caught.value.file, caught.value.help) == ("schemes", "name schemes, or leave it out")
    for keep in ["reqs", ["requests", "reqs"]]:
        with pytest.raises(copyback.InputError, match="`keep` has 'reqs'") as caught:
            copyback.run(keep=keep)
        assert (caught.value.file, caught.value.value) == ("keep", "'reqs'") and "requests" in caught.value.help


def test_fio_takes_a_list_of_arguments():
    text = "--name=a --rw=randwrite --bs=4k --size=256k --description='two words'"
    parts = ["--name=a", "--rw=randwrite", "--bs=4k", "--size=256k", "--description=two words"]
    of_text, of_parts = (copyback.run(fio_args=jobs)["baseline"] for jobs in (text, parts))
    assert of_text == of_parts


@pytest.mark.parametrize(
    ("settings", "place", "value"),
    [
        ({1: 2}, "set", "1"),
        ({"": 2}, "set", "''"),
        ({"a=b": 2}, "set", "'a=b'"),
        (["trigger.soft=0.1"], "set", "['trigger.soft=0.1']"),
        ({"trigger.soft": None}, "set['trigger.soft']", "None"),
        ({"trigger.soft": b"1"}, "set['trigger.soft']", "b'1'"),
        ({"trigger": {1: 2}}, "set['trigger']", "1"),
        ({"trigger.soft": object}, "set['trigger.soft']", "<class 'object'>"),
    ],
    ids=repr,
)
def test_wrong_settings_are_refused_with_place_and_help(settings, place, value, tmp_path):
    (tmp_path / "grid.toml").write_text('workload = "mixed-70-30"\nrequests = 10\n')
    calls = [
        lambda: copyback.run(requests=10, set=settings),
        lambda: copyback.compare(set=settings),
        lambda: copyback.sweep(tmp_path / "grid.toml", set=settings),
        lambda: copyback.reproduce("tc12", set=settings),
        lambda: copyback.config(set=settings),
        lambda: copyback.trace.info("oltp", requests=10, set=settings),
    ]
    for call in calls:
        with pytest.raises(copyback.InputError) as caught:
            call()
        assert (caught.value.file, caught.value.value) == (place, value) and caught.value.help
    with pytest.raises(copyback.InputError) as caught:
        copyback.run(scheme=copyback.Scheme("mine", set=settings))
    assert caught.value.file.startswith("set of mine")


def test_wrong_names_are_refused_with_place_and_help():
    for call in [lambda: copyback.compare(schemes=[1]), lambda: copyback.run(scheme=1), lambda: copyback.explain(1)]:
        with pytest.raises(copyback.InputError, match="1, which is no name and no path") as caught:
            call()
        assert caught.value.value == "1" and caught.value.file and caught.value.help


@pytest.mark.parametrize(
    ("arguments", "place", "value"),
    [
        ({"requests": 0}, "requests", "0"),
        ({"requests": 1.5}, "requests", "1.5"),
        ({"requests": "10", "trace": [(0, "R", 0, 4096)]}, "requests", "'10'"),
        ({"seed": -1}, "seed", "-1"),
        ({"seed": 2**63}, "seed", str(2**63)),
        ({"jobs": 1025}, "jobs", "1025"),
        ({"skip_bad": "few"}, "skip_bad", "'few'"),
        ({"fit": 7.0}, "fit", "7.0"),
        ({"warmup": "long"}, "warmup", "'long'"),
        ({"device": 5}, "device", "5"),
        ({"out": 5}, "out", "5"),
        ({"check": "yes"}, "check", "'yes'"),
    ],
    ids=repr,
)
def test_wrong_arguments_are_refused_with_place_and_help(arguments, place, value):
    for call in [copyback.run, copyback.compare]:
        with pytest.raises(copyback.InputError) as caught:
            call(**arguments)
        assert (caught.value.file, caught.value.value) == (place, value) and caught.value.help


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ({"open": True, "closed": True}, ["open", "closed"]),
        ({"workload": "oltp", "trace": "a.csv"}, ["workload", "trace"]),
        ({"timeline_around": "worst-read"}, ["timeline_around", "timeline"]),
        ({"timeline_die": 3}, ["timeline_die", "timeline"]),
        ({"timeline_from": "1 ms"}, ["timeline_from", "timeline"]),
        (
            {"perfetto": "p", "perfetto_around": "worst-read", "perfetto_for": "1 ms"},
            ["perfetto_around", "perfetto_for"],
        ),
    ],
    ids=repr,
)
def test_arguments_that_exclude_or_need_others_are_refused(arguments, names):
    with pytest.raises(copyback.InputError) as caught:
        copyback.run(**arguments)
    assert all(f"`{name}`" in caught.value.message for name in names) and caught.value.help


def test_a_scheme_checks_its_settings_when_it_is_made():
    with pytest.raises(copyback.InputError, match="set of a` has the key 1") as caught:
        copyback.Scheme("a", of="pgc", set={1: 2})
    assert caught.value.file == "set of a" and caught.value.help


def test_run_has_the_options_of_the_command(tmp_path):
    jobs = "--name=a --rw=randwrite --bs=4k --size=1m"
    runs = copyback.run(fio_args=jobs, latex=tmp_path / "t.tex")
    assert runs["baseline"]["workloads"]["a"]["writes"] == 256
    assert (tmp_path / "t.tex").read_text() == runs.to_latex()
    (tmp_path / "t.csv").write_text("0,W,0,4096\n10,R,0,4096\n")
    drawing = tmp_path / "t.txt"
    window = {"timeline": drawing, "timeline_from": "0 s", "timeline_to": "1 ms", "timeline_die": [0, 1]}
    runs = copyback.run(trace=tmp_path / "t.csv", columns="time_us,op,offset,length", **window)
    assert runs["baseline"]["reads"] == 1
    assert drawing.read_text().startswith("dies 0, 1, ")


def test_trace_commands_take_the_columns_of_a_table(tmp_path):
    (tmp_path / "t.csv").write_text("0,W,0,4096\n10,R,0,4096\n")
    for columns in ["time_us,op,offset,length", ["time_us", "op", "offset", "length"]]:
        assert copyback.trace.info(tmp_path / "t.csv", columns=columns)["requests"] == 2
        copyback.trace.convert(tmp_path / "t.csv", tmp_path / "t.parquet", columns=columns)
    assert copyback.trace.info(tmp_path / "t.parquet")["requests"] == 2


def test_an_argument_that_a_command_does_not_read_is_refused():
    for call in [_copyback.run, _copyback.compare, _copyback.config, _copyback.sweep]:
        with pytest.raises(TypeError, match="the command has no argument `depth`"):
            call({"schemes": [], "depth": None})
