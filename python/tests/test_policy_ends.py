"""The interpreter and Ctrl-C end runs with any policy."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("how", ["interrupted", "on a thread"])
def test_the_interpreter_ends_with_a_run_under_way(how):
    """A run under way must not call a policy of an interpreter that has ended."""
    script = f"""
import os, signal, threading, time
import copyback
began = threading.Event()
class Slow(copyback.VictimPolicy):
    def pick(self, view):
        began.set()
        time.sleep(0.001)
        return int(max((i for i in range(len(view.state)) if view.state[i] == 2), key=lambda i: -int(view.valid[i])))
def run():
    copyback.run(policies=[Slow], workload="mixed-70-30")
if {how!r} == "interrupted":
    def interrupt():
        began.wait(30)
        time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=interrupt).start()
    try:
        run()
    except KeyboardInterrupt:
        pass
else:
    threading.Thread(target=run, daemon=True).start()
    assert began.wait(30)
    time.sleep(0.1)
"""
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, (done.returncode, done.stderr[-2000:])


NEVER = {
    "busy": "while True: pass",
    "asleep": "time.sleep(1000)",
    "awake": "while True: time.sleep(0.01)",
}


@pytest.mark.parametrize("how", NEVER)
def test_the_interpreter_ends_though_a_policy_never_returns(how):
    script = f"""
import sys, threading, time
import copyback
began = threading.Event()
class Never(copyback.VictimPolicy):
    def pick(self, view):
        began.set()
        {NEVER[how]}
threading.Thread(target=copyback.run, kwargs=dict(policies=[Never], workload="mixed-70-30"), daemon=True).start()
assert began.wait(30)
sys.exit(7)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (7, "")


def test_the_process_ends_though_a_policy_catches_everything():
    script = """
import threading, time
import copyback
began = threading.Event()
class Never(copyback.VictimPolicy):
    def pick(self, view):
        began.set()
        while True:
            try:
                time.sleep(0.001)
            except BaseException:
                pass
threading.Thread(target=copyback.run, kwargs=dict(policies=[Never], workload="mixed-70-30"), daemon=True).start()
assert began.wait(30)
print("done")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (1, "done\n")
    assert done.stderr.startswith("copyback: a policy caught the exception that ends its run")


@pytest.mark.parametrize("base", ["VictimPolicy", "OrderPolicy", "TriggerPolicy", "BackgroundTask"])
def test_an_interrupt_ends_a_policy_whose_construction_never_returns(base):
    script = f"""
import os, signal, threading
import copyback
class Never(copyback.{base}):
    def __init__(self):
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        while True: pass
try:
    copyback.run(policies=[Never], workload="mixed-70-30")
except KeyboardInterrupt:
    print("ended")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ended\n", "")


def test_an_interrupt_ends_a_policy_that_never_returns():
    """``run`` raises Ctrl-C at once, and the policy's thread does not continue."""
    script = """
import os, signal, sys, threading, time
import copyback
class Never(copyback.VictimPolicy):
    def pick(self, view):
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        while True: pass
try:
    copyback.run(policies=[Never], workload="mixed-70-30")
except KeyboardInterrupt:
    pass
until = time.monotonic() + 10
while len(sys._current_frames()) > 1:
    assert time.monotonic() < until, "the policy is still at work"
    time.sleep(0.02)
print("ended")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "ended\n"), done.stderr[-2000:]
