"""Policies of Python decide, decide like the same policies in Rust, and wrong answers are named."""

import json
import random
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import copyback
from copyback import BlockState

FULL = int(BlockState.FULL)
# Policies of Python take a second to precondition the whole drive, of 128 blocks a plane.
SMALLER = {"geometry.blocks_per_plane": 48}
AXES = ("victim", "order", "preemption", "trigger", "allocation", "admit")


def document(runs):
    """The document of a run, without its policies and its duration."""
    whole = json.loads(runs.json)
    del whole["wall"]
    for result in whole["results"]:
        del result["hash"]
        # If a run has shares, it ends with their last update.
        del result["report"]["utilization"]
        for axis in AXES:
            result["config"].pop(axis, None)
        result["notes"] = [note for note in result["notes"] if "the scheme's" not in note]
    return whole


class Greedy(copyback.VictimPolicy):
    """``greedy``: the fewest valid units; of the first eight equal blocks, the least worn."""

    def __init__(self):
        self.turn = 0
        self.turns = {}

    def on_close(self, block, valid):
        self.turn += 1
        self.turns[block] = self.turn

    on_invalidate = on_close

    def pick(self, view):
        full = np.flatnonzero(view.state == FULL)
        if not len(full):
            return None
        valid = view.valid[full]
        equal = full[valid == valid.min()]
        first = view.first_block
        in_turn = sorted(equal, key=lambda block: self.turns[first + int(block)])[:8]
        return int(min(in_turn, key=lambda block: view.erases[block]))


class Watermark(copyback.TriggerPolicy):
    def wants(self, view):
        return view.is_below


class Points(copyback.PreemptionPolicy):
    def admits(self, view):
        return True


class Priority(copyback.OrderPolicy):
    puts_gc_first = True

    def pick(self, view):
        return next(name for name in ("gc", "read", "write") if name in view.may_run)


class Fixed(copyback.SharesPolicy):
    """``fixed``: the shares stay as they are at the start."""

    def update(self, view):
        return view.gc


class Dynamic(copyback.AllocationPolicy):
    """``dynamic`` on the drive ``small``: round robin over its 4 channels first, of 4 dies each."""

    def __init__(self):
        self.turns = [turn % 4 * 4 + turn // 4 for turn in range(16)]
        self.turn = 0

    def place(self, view):
        in_turn = [self.turns[(self.turn + i) % 16] for i in range(16)]
        return min(in_turn, key=lambda die: (view.free_pages[die] == 0, view.is_collecting[die], view.queued[die]))

    def on_placed(self, die):
        self.turn = (self.turns.index(die) + 1) % 16


DEBIT = {"admit.policy": "debit", "preemption.policy": "always", "trigger.soft": 0.06}
SAME = {
    "victim": (Greedy, SMALLER, SMALLER),
    "trigger": (Watermark, {}, {}),
    "order": (Priority, {}, {}),
    "preemption": (Points, {"preemption.policy": "points"}, {}),
    "shares": (
        Fixed,
        {**DEBIT, "admit.shares.policy": "fixed", "admit.shares.gc": 30},
        {**DEBIT, "admit.shares.gc": 30},
    ),
    "allocation": (Dynamic, {"allocation.policy": "dynamic"}, {}),
}


@pytest.mark.parametrize("axis", SAME)
def test_the_same_policy_gives_the_same_results(axis):
    policy, built_in, beside = SAME[axis]
    own = copyback.run(requests=6000, policies=[policy], set=beside)
    theirs = copyback.run(requests=6000, set=built_in)
    assert document(own) == document(theirs)
    if axis == "victim":
        assert json.loads(own.json)["results"][0]["report"]["gc"]["collections"] > 50


def test_a_policy_that_decides_otherwise_gives_other_results():
    class GcLast(Priority):
        puts_gc_first = False

        def pick(self, view):
            return view.may_run[-1] if view.may_run != ["gc", "read", "write"] else "read"

    own = copyback.run(requests=6000, policies=[GcLast()], check=True)
    assert document(own) != document(copyback.run(requests=6000))


class Wasteful(copyback.VictimPolicy):
    """Of the blocks that free a fifth or more, the one that frees least; without such blocks, the emptiest."""

    def pick(self, view):
        valid = np.where(view.state == FULL, view.valid.astype(int), view.units_per_block)
        frees = valid <= 0.8 * view.units_per_block
        if frees.any():
            return int(np.where(frees, valid, -1).argmax())
        return int(valid.argmin()) if valid.min() < view.units_per_block else None


def test_a_policy_and_a_setting_of_one_axis_exclude_each_other():
    scheme = copyback.Scheme("mine", set={"victim": {"policy": "cost-benefit"}}, policies=[First])
    with pytest.raises(ValueError, match=r"set of mine: 'victim.policy' chooses a policy, and `policies` has one"):
        copyback.compare(schemes=[scheme], requests=10)


def test_a_sweep_with_policies_leaves_the_journal_of_the_others(tmp_path):
    file = tmp_path / "grid.toml"
    file.write_text('workload = "mixed-70-30"\nrequests = 300\nschemes = ["baseline"]\n')
    for _ in range(2):
        copyback.sweep(file, policies=[First])
    copyback.sweep(file)
    journal = tmp_path / "grid.journal"
    before = journal.read_bytes()
    text = str(copyback.sweep(file, policies=[First]))
    assert "a rerun runs all cells again" in text
    assert journal.read_bytes() == before
    assert "1 of 1 cell was done before" in str(copyback.sweep(file))


@pytest.mark.once
def test_a_scheme_of_ones_own_stands_beside_others():
    ran = {"workload": "mixed-70-30", "requests": 2000, "set": SMALLER}
    own = copyback.Scheme("worst", of="pgc", policies=[Wasteful], set={"trigger.soft": 0.03})
    result = copyback.compare(schemes=["pgc", own, copyback.Scheme("first", policies=[First])], **ran)
    assert result.schemes == ["pgc", "worst", "first"] == list(plot_labels(result))
    # Each has the results of a run alone: schemes share no setting or policy.
    assert result["pgc"] == copyback.run(scheme="pgc", **ran)["pgc"]
    alone = copyback.run(scheme="pgc", policies=[Wasteful], **(ran | {"set": {"trigger.soft": 0.03, **SMALLER}}))
    assert result["worst"] == alone["pgc"] == copyback.run(scheme=own, **ran)["worst"]
    assert result["worst"]["gc"]["units_moved"] > 1.5 * result["pgc"]["gc"]["units_moved"]
    assert result["first"] == copyback.run(policies=[First], **ran)["baseline"]


def plot_labels(result):
    from copyback import plot

    return [line.get_label() for line in plot.ccdf(result).get_lines()]


def test_settings_of_one_scheme_are_its_own_and_names_have_to_be_free():
    ran = {"workload": "mixed-70-30", "requests": 500}
    result = copyback.compare(schemes="baseline,late=baseline", set={"late:trigger.soft": 0.02}, **ran)
    soft = {scheme["scheme"]: scheme["config"]["trigger"]["soft"] for scheme in result.document["results"]}
    assert soft["late"] == 0.02 != soft["baseline"]
    for wrong, says in [
        ({"schemes": ["baseline", copyback.Scheme("pgc")]}, "already"),
        ({"schemes": ["baseline", copyback.Scheme("a"), copyback.Scheme("a")]}, "twice"),
        ({"schemes": ["baseline"], "set": {"late:trigger.soft": 0.02}}, "no scheme of this name"),
    ]:
        with pytest.raises(copyback.InputError, match=says):
            copyback.compare(**wrong, **ran)


@pytest.mark.once
def test_a_scheme_may_be_used_again_and_has_a_name_for_results():
    ran = {"workload": "mixed-70-30", "requests": 500, "set": SMALLER}
    own = copyback.Scheme("first", policies=(policy for policy in [First]))
    first, second = (copyback.compare(schemes=own, **ran)["first"] for _ in range(2))
    assert first == second == copyback.run(policies=First, **ran)["baseline"]
    for name in ["my scheme", "a,b", "a:b", ""]:
        with pytest.raises(ValueError, match="no name of a scheme"):
            copyback.Scheme(name)


def test_every_drive_has_a_policy_of_its_own():
    made = []

    class Counts(copyback.TriggerPolicy):
        def __init__(self):
            made.append(self)
            self.asked = 0

        def wants(self, view):
            self.asked += 1
            return view.is_below

    one = Counts()
    copyback.compare(schemes=["baseline", "pgc"], requests=2000, policies=[one])
    assert one.asked == 0, "drives have copies of an instance"
    copyback.run(requests=2000, policies=[Counts])
    assert sum(policy.asked > 0 for policy in made) == 1


class KeepsPart(Greedy):
    def pick(self, view):
        self.kept = view.valid[3:5]
        return super().pick(view)


class KeepsBase(Greedy):
    def pick(self, view):
        self.kept = view.valid.base
        return super().pick(view)


class KeepsBuffer(Greedy):
    def pick(self, view):
        self.kept = memoryview(view.valid[1:])
        return super().pick(view)


class PicksNone(Greedy):
    def pick(self, view):
        return None


class KeepsView(Greedy):
    def pick(self, view):
        if hasattr(self, "view"):
            _ = self.view.valid
        self.view = view
        return super().pick(view)


class PicksFar(Greedy):
    def pick(self, view):
        return 10**6


class PicksText(Greedy):
    def pick(self, view):
        return "the first"


class PicksOpen(Greedy):
    def pick(self, view):
        return int(np.flatnonzero(view.state == BlockState.OPEN)[0])


class OrdersNobody(copyback.OrderPolicy):
    def pick(self, view):
        return "host"


class OrdersWrong(copyback.OrderPolicy):
    def pick(self, view):
        return next(name for name in ("gc", "write", "read") if name not in view.may_run)


class Generous(copyback.SharesPolicy):
    def update(self, view):
        return 101.0


class Elsewhere(copyback.AllocationPolicy):
    def place(self, view):
        return len(view.queued)


class RelocatesOpen(copyback.BackgroundTask):
    def is_due(self, now_ns):
        return True

    def pick(self, view):
        return int(np.flatnonzero(view.state == BlockState.OPEN)[0])


class KeepsTaskView(RelocatesOpen):
    def on_start(self, view):
        self.erases = view.erases


class AlarmsWithText(RelocatesOpen):
    def alarm_ns(self, now_ns):
        return "soon"


WRONG = [
    (KeepsPart, "kept `valid` of a view beyond its call"),
    (KeepsBase, "kept `valid` of a view beyond its call"),
    (KeepsBuffer, "kept `valid` of a view beyond its call"),
    (PicksNone, "picked no block, although"),
    (PicksFar, "picked block 1"),
    (PicksText, "answered 'the first'"),
    (PicksOpen, "which is open, and not full"),
    (OrdersNobody, "answered 'host'"),
    (OrdersWrong, "may run"),
    (Generous, "gave Gc a share of 101 %"),
    (Elsewhere, "placed a page on die 16, and the drive has 16"),
    (RelocatesOpen, "which is open, and not full"),
    (KeepsTaskView, "kept `erases` of a view beyond its call"),
    (AlarmsWithText, "answered 'soon'"),
]


@pytest.mark.parametrize(("policy", "says"), WRONG, ids=lambda value: getattr(value, "__name__", None))
def test_a_wrong_answer_is_named(policy, says):
    with pytest.raises(copyback.RunError) as wrong:
        copyback.run(requests=6000, policies=[policy], set={"trigger.soft": 0.06} if policy is Generous else None)
    assert f"plugin `{policy.__name__}`" in wrong.value.message
    assert says in wrong.value.message
    assert wrong.value.help


def test_a_float_is_no_entry_of_an_array():
    class Picks(copyback.VictimPolicy):
        def pick(self, view):
            return np.flatnonzero(view.state == FULL)[0] * 1.0

    with pytest.raises(copyback.RunError) as wrong:
        copyback.run(requests=6000, policies=[Picks])
    assert "as an int (`int(...)`)" in wrong.value.help


VIEWS = [
    "AllocationView",
    "DieView",
    "OrderView",
    "PreemptionView",
    "SharesView",
    "TaskView",
    "TriggerView",
    "VictimView",
]


@pytest.mark.parametrize("name", VIEWS)
def test_the_help_of_a_view_describes_its_fields(name):
    view = getattr(copyback, name)
    assert name in copyback.__all__
    fields = {field: member.__doc__ for field, member in vars(view).items() if not field.startswith("_")}
    assert fields and all(fields.values()), fields
    is_of_arrays = any("uint" in text for text in fields.values())
    assert ("unsigned integers" in view.__doc__) == is_of_arrays


class Rewrites(copyback.BackgroundTask):
    """Rewrites block 7 at 10 ms and at 20 ms, and notes what the simulator reports."""

    def on_start(self, view):
        self.erased, self.due, self.programmed = [], False, 0
        self.alarms = [10_000_000, 20_000_000]
        assert view.units_per_block >= 1 and len(view.state) % view.blocks_per_plane == 0

    def alarm_ns(self, now_ns):
        return self.alarms[0] if self.alarms else None

    def on_alarm(self, now_ns):
        assert self.alarms.pop(0) == now_ns
        self.due = True

    def is_due(self, now_ns):
        return self.due

    def pick(self, view):
        assert view.seed == 1 and len(view.closed_at) == len(view.state)
        return 7 if view.state[7] == FULL else None

    def on_program(self, block, page_offset, now_ns):
        self.programmed += now_ns >= 10_000_000

    def on_erase(self, block, now_ns):
        self.erased.append((block, now_ns))
        self.due = False


def test_a_task_relocates_the_blocks_that_it_picks():
    made = []

    def make():
        made.append(Rewrites())
        return made[-1]

    make.axis = "tasks"
    reads = {
        "workload.requests": 1000,
        "workload.read_share": 1.0,
        "workload.size": {"kind": "fixed", "mean": "16 KiB"},
        "workload.arrivals": {"kind": "fixed", "rate": 10_000},
        "workload.addresses": {"kind": "uniform"},
    }
    result = copyback.run(policies=[make], set=reads | SMALLER)
    flash = result["baseline"]["flash"]
    # Reads alone erase nothing; block 7 is full at 10 ms and erased at 20 ms.
    (task,) = made
    assert [block for block, _ in task.erased] == [7]
    assert 10_000_000 < task.erased[0][1] < 20_000_000
    assert (flash["blocks_relocated"], flash["block_erases"]) == (1, 1)
    assert task.programmed > 0


def test_a_view_is_gone_when_its_call_is_over():
    with pytest.raises(RuntimeError, match="valid only during the call"):
        copyback.run(requests=6000, policies=[KeepsView])


def test_what_a_policy_raises_comes_out():
    class Breaks(Greedy):
        def pick(self, view):
            raise ZeroDivisionError(len(view.valid))

    with pytest.raises(ZeroDivisionError) as raised:
        copyback.run(requests=6000, policies=[Breaks])
    assert [frame.name for frame in raised.traceback][-1] == "pick"


class First(copyback.VictimPolicy):
    """The first of the blocks that free most."""

    def pick(self, view):
        return int(np.where(view.state == FULL, view.valid, 65535).argmin())


class Breaks(copyback.VictimPolicy):
    def pick(self, view):
        raise ZeroDivisionError


Breaks.__name__ = "First"


def test_names_and_hashes_do_not_depend_on_what_was_handed_in_before():
    ran = {"workload": "mixed-70-30", "requests": 300, "set": SMALLER}

    def decided():
        result = copyback.run(**ran, policies=[First]).document["results"][0]
        return result["hash"], result["config"]["victim"]["name"]

    before = decided()
    with pytest.raises(ZeroDivisionError) as raised:
        copyback.run(**ran, policies=[Breaks])
    # The traceback is alive, and with it all objects that it refers to.
    assert decided() == before
    assert before[1] == "First"
    del raised
    # So is a run under way: names belong to one call.
    begun, goes_on = threading.Event(), threading.Event()

    class Waits(First):
        def pick(self, view):
            begun.set()
            goes_on.wait(30)
            return super().pick(view)

    Waits.__name__ = "First"
    of_thread = {**ran, "policies": [Waits]}
    thread = threading.Thread(target=copyback.run, kwargs=of_thread)
    thread.start()
    assert begun.wait(30) and decided() == before
    goes_on.set()
    thread.join()


@pytest.mark.once
def test_one_policy_of_two_schemes_is_one_and_two_of_a_name_are_two():
    ran = {"workload": "mixed-70-30", "requests": 1000, "set": SMALLER}
    twice = [copyback.Scheme("a", policies=[First]), copyback.Scheme("b", policies=[First])]
    names = [
        result["config"]["victim"]["name"] for result in copyback.compare(schemes=twice, **ran).document["results"]
    ]
    assert names == ["First", "First"]
    other = type("First", (Greedy,), {})
    pair = [copyback.Scheme("a", policies=[First]), copyback.Scheme("b", policies=[other])]
    both = copyback.compare(schemes=pair, **ran)
    assert [result["config"]["victim"]["name"] for result in both.document["results"]] == ["First", "First#2"]
    assert both["a"]["gc"] != both["b"]["gc"]


def test_what_is_no_policy_is_refused():
    for nothing in [None, 3, "Worst"]:
        with pytest.raises(TypeError, match="is no policy"):
            copyback.run(policies=nothing)
    with pytest.raises(TypeError, match="is no policy"):
        copyback.run(policies=[object()])
    with pytest.raises(ValueError, match="two of them are for the axis victim"):
        copyback.run(policies=[Greedy, Greedy()])
    with pytest.raises(copyback.InputError) as gone:
        copyback.run(set={"victim.policy": "plugin", "victim.name": "Greedy"})
    assert gone.value.message == "`victim.name`: there is no plugin `Greedy`"


@pytest.mark.once
def test_random_draws_of_a_policy_are_its_own():
    class Random(copyback.VictimPolicy):
        def __init__(self):
            self.random = random.Random(1)

        def pick(self, view):
            full = np.flatnonzero((view.state == FULL) & (view.valid < view.units_per_block))
            return int(self.random.choice(full)) if len(full) else None

    first, second = (copyback.run(requests=3000, policies=[Random], set=SMALLER) for _ in range(2))
    assert document(first) == document(second)


@pytest.mark.once
def test_a_victim_is_picked_25_000_times_a_second():
    picks = 0

    class First(copyback.VictimPolicy):
        def pick(self, view):
            nonlocal picks
            picks += 1
            return int(np.where(view.state == FULL, view.valid, 65535).argmin())

    def seconds(policies):
        begun = time.process_time()
        copyback.run(requests=10_000, policies=policies)
        return time.process_time() - begun

    rates = []
    for _ in range(3):
        picks = 0
        rates.append((seconds([First]) - seconds([])) / picks)
    # The best of three in processor time, because other programs share the machine. A release build picks over
    # 100,000 times a second; this build is not optimised, and must reach a quarter of that.
    assert 1 / min(rates) > 25_000


def test_a_thread_that_looks_too_late_finds_nothing_that_is_gone():
    """Columns are made while other threads may end the view: the run ends, or an error says that the view is over."""
    script = """
import gc, sys, threading, time
import numpy
import copyback
sys.setswitchinterval(1e-6)
kept = []
class Late(copyback.VictimPolicy):
    def pick(self, view):
        def look():
            try:
                kept.append((view.valid, view.erases, view.closed_at))
            except RuntimeError as error:
                assert "during the call" in str(error)
        thread = threading.Thread(target=look)
        thread.start()
        full = numpy.flatnonzero(view.state == 2)
        return int(full[0]) if len(full) else None
for _ in range(20):
    try:
        copyback.run(policies=[Late], workload="mixed-70-30", requests=300)
    except copyback.RunError as error:
        assert "beyond its call" in str(error) or "picked" in str(error), error
total = sum(int(array.sum()) for arrays in kept for array in arrays)
print("read", total)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout.startswith("read"), done.stderr[-2000:]


@pytest.mark.once
def test_a_sweep_has_schemes_of_ones_own_beside_others_over_seeds(tmp_path):
    (tmp_path / "grid.toml").write_text(
        'schemes = ["pgc", "npgc"]\nworkload = "mixed-70-30"\nrequests = 1000\nseeds = [1, 2]\n'
    )
    schemes = ["baseline", copyback.Scheme("first", policies=[First]), copyback.Scheme("late", set={"trigger.soft": 3})]
    swept = copyback.sweep(tmp_path / "grid.toml", schemes=schemes, out=tmp_path / "own.parquet", set=SMALLER)
    plain = copyback.sweep(tmp_path / "grid.toml", schemes="baseline", out=tmp_path / "plain.parquet", set=SMALLER)
    columns, baseline = swept.table.to_dict(), plain.table.to_dict()
    assert columns["scheme"] == ["baseline", "first", "late"] * 2
    assert sorted(set(columns["seed"])) == [1, 2]
    assert columns["gc.units_moved"][::3] == baseline["gc.units_moved"]
    assert columns["hash"][::3] == baseline["hash"], "baseline is what it is without others beside it"
    assert columns["gc.units_moved"][1::3] != baseline["gc.units_moved"]
    alone = copyback.run(scheme=schemes[1], workload="mixed-70-30", requests=1000, seed=2, set=SMALLER)
    assert columns["hash"][4] == alone.document["results"][0]["hash"]
    with pytest.raises(copyback.InputError, match="no scheme of this name"):
        copyback.sweep(tmp_path / "grid.toml", schemes=["pgc"], set={"late:trigger.soft": 3})


@pytest.mark.once
def test_a_sweep_takes_policies_and_no_earlier_results(tmp_path):
    (tmp_path / "grid.toml").write_text(
        'schemes = ["baseline"]\nworkload = "mixed-70-30"\nrequests = 1000\n[vary]\ntrigger.soft = [0.03, 0.05]\n'
    )
    worst = copyback.sweep(tmp_path / "grid.toml", out=tmp_path / "g.parquet", policies=[Wasteful], set=SMALLER)
    first = copyback.sweep(tmp_path / "grid.toml", out=tmp_path / "g.parquet", policies=[First], set=SMALLER)
    moved = [sweep.table.to_dict()["gc.units_moved"] for sweep in (worst, first)]
    assert len(moved[0]) == 2 and all(more > less for more, less in zip(*moved, strict=True))
    assert worst.table.to_dict()["scheme"] == ["baseline+Wasteful"] * 2
    assert first.table.to_dict()["scheme"] == ["baseline+First"] * 2
    with pytest.raises(ValueError, match="cluster"):
        copyback.sweep(tmp_path / "grid.toml", policies=[Wasteful], client=object())


@pytest.mark.once
def test_rows_of_a_sweep_are_called_after_policies_of_every_scheme(tmp_path):
    (tmp_path / "grid.toml").write_text('schemes = ["baseline"]\nworkload = "mixed-70-30"\nrequests = 300\n')
    schemes = ["baseline", copyback.Scheme("own", policies=[First]), copyback.Scheme("late", set={"trigger.soft": 3})]
    ran = {"schemes": schemes, "policies": [Wasteful], "set": {"baseline:trigger.soft": 0.06, **SMALLER}}
    columns = copyback.sweep(tmp_path / "grid.toml", out=tmp_path / "g.parquet", **ran).table.to_dict()
    assert columns["scheme"] == ["baseline+Wasteful", "own", "late+Wasteful"]
    expected = copyback.compare(workload="mixed-70-30", requests=300, **ran)
    assert min(columns["gc.units_moved"]) > 0
    assert columns["gc.units_moved"] == [expected[name]["gc"]["units_moved"] for name in ("baseline", "own", "late")]
