"""Whatever dies or stops: it is noticed in time, replaced, and nothing is left behind."""

import os
import signal
import subprocess
import sys
import time

import pytest

from grader import paths, sandbox
from grader.nursery import InfrastructureError, Limits, Nursery, TimedOut

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
SOURCE = "state = []\ndef add():\n    state.append(1)\n    return len(state)\ndef spin():\n    while True: pass\n"
GRADER = """
import os, sys, threading
sys.path.insert(0, sys.argv[1])
from grader.nursery import Limits, Nursery
def run():
    nursery = Nursery(tier=sys.argv[2])
    source = "def spin():\\n    while True: pass\\n"
    message = {"op": "call", "target": ["spin"], "args": ["list", []], "kwargs": ["dict", []], "seed": 0,
        "cotangent_seed": 0, "device": "cpu", "want": "output", "banned": []}
    workers = [nursery.spawn(Limits()) for _ in range(3)]
    for worker in workers:
        worker.request({"op": "load", "source": source, "filename": "x.py", "name": "x"}, [], 20)
    print(nursery.process.pid, nursery.process.process.pid, *[int(worker.pid) for worker in workers], flush=True)
    workers[0].request(message, [], 600)
if sys.argv[3] == "thread":
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
else:
    run()
"""
TIERS = ["A", "B", "C", "D"]


@pytest.fixture(params=TIERS)
def tier(request):
    try:
        return sandbox.choose(wanted=request.param, sure=True).name
    except sandbox.Unavailable as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize("how", ["SIGSTOP", "SIGKILL"])
def test_a_nursery_lost_between_two_requests_costs_no_verdict(tier, how):
    with Nursery(tier=tier) as nursery:
        worker = loaded(nursery)
        assert call(worker, "add")["value"] == 1
        assert call(worker, "add")["value"] == 2
        lost = nursery.process.pid
        os.kill(lost, getattr(signal, how))
        if how == "SIGSTOP":  # the worker itself still answers; its end is what the nursery is needed for
            assert call(worker, "add")["value"] == 3
            os.kill(worker.pid, signal.SIGKILL)
        else:
            wait_gone(worker.pid)
        began = time.monotonic()
        assert call(worker, "add")["value"] == (4 if how == "SIGSTOP" else 3)  # all was done again
        assert time.monotonic() - began < 15
        assert nursery.process.pid != lost
        wait_gone(lost)
        worker.close()


def test_a_stopped_nursery_is_noticed_within_a_second():
    with Nursery() as nursery:
        nursery.spawn(Limits()).close()
        process = nursery.process
        os.kill(process.pid, signal.SIGSTOP)
        began = time.monotonic()
        with pytest.raises(OSError, match="stopped"):
            process.command({"do": "end", "pid": 0, "grace": 0})
        assert time.monotonic() - began < 1.5
        nursery.spawn(Limits()).close()


def test_work_that_loses_the_nursery_twice_is_nobodys_verdict():
    with Nursery() as nursery:
        worker = loaded(nursery)
        for _ in range(2):
            os.kill(nursery.process.pid, signal.SIGKILL)
            wait_gone(worker.pid)
            try:
                call(worker, "add")
            except InfrastructureError as error:
                assert "twice" in str(error)
                return
    raise AssertionError("no error came")


def test_a_timeout_under_a_stopped_nursery_is_still_the_learner_s():
    with Nursery() as nursery:
        worker = loaded(nursery)
        stopped = nursery.process.pid
        os.kill(stopped, signal.SIGSTOP)
        with pytest.raises(TimedOut):
            call(worker, "spin", 0.3)
        wait_gone(worker.pid)
        wait_gone(stopped)


@pytest.mark.parametrize("place", ["main", "thread"])
def test_a_killed_grader_leaves_nothing_behind(tier, place):
    command = [sys.executable, "-c", GRADER, str(paths.ROOT), tier, place]
    grader = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    pids = [int(word) for word in grader.stdout.readline().split()]
    assert len(pids) == 5 and not any(map(gone, pids))
    grader.kill()
    grader.wait()
    for pid in pids:
        wait_gone(pid, 5)
    grader.stdout.close()


def test_closing_ends_a_stopped_nursery_too():
    nursery = Nursery()
    worker = nursery.spawn(Limits())
    os.kill(nursery.process.pid, signal.SIGSTOP)
    began = time.monotonic()
    nursery.close()
    assert time.monotonic() - began < 3
    wait_gone(nursery.process.pid)
    wait_gone(worker.pid)


def loaded(nursery):
    worker = nursery.spawn(Limits())
    worker.request({"op": "load", "source": SOURCE, "filename": "x.py", "name": "x"}, [], 20)
    return worker


def call(worker, name: str, seconds: float = 20.0) -> dict:
    message = {
        "op": "call", "target": [name], "args": ["list", []], "kwargs": ["dict", []], "seed": 0,
        "cotangent_seed": 0, "device": "cpu", "want": "output", "banned": [],
    }  # fmt: skip
    return worker.request(message, [], seconds)[0]


def gone(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


def wait_gone(pid: int, seconds: float = 3.0) -> None:
    deadline = time.monotonic() + seconds
    while not gone(pid):
        assert time.monotonic() < deadline, f"{pid} is still there"
        time.sleep(0.01)
