"""Whatever dies or stops: it is noticed in time, replaced, and nothing is left behind."""

import contextlib
import itertools
import os
import signal
import subprocess
import sys
import time

import pytest
from thorough import sample
from worker_calls import call, load

from grader import catalog
from grader.catalog import paths
from grader.catalog.exercise import Limits
from grader.judge import grading
from grader.records.results import Settings
from grader.records.submission import Submission
from grader.sandbox import tiers
from grader.sandbox.forkserver import ForkServer
from grader.sandbox.worker_handle import TimedOut, Worker

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")]
SOURCE = "state = []\ndef add():\n    state.append(1)\n    return len(state)\ndef spin():\n    while True: pass\n"
GRADER = """
import os, sys, threading
sys.path[:0] = [sys.argv[1], os.path.join(sys.argv[1], "tests")]
from grader.sandbox.forkserver import Limits, ForkServer
from worker_calls import call, load
def run():
    fork_server = ForkServer(tier=sys.argv[2])
    source = "def spin():\\n    while True: pass\\n"
    workers = [fork_server.spawn(Limits()) for _ in range(3)]
    for worker in workers:
        load(worker, source)
    process, pids = fork_server.process, [int(worker.pid) for worker in workers]
    print(process.pid, process.process.pid, *pids, flush=True)
    call(workers[0], "spin", 600)
if sys.argv[3] == "thread":
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
else:
    run()
"""
TIERS = ["A", "B", "D"]
EXERCISE = catalog.find("03")
SUBMISSION = Submission(paths.solution(EXERCISE.folder).read_text("utf-8"), "x.py")
SETTINGS = Settings(seed=3)


def offered(tier: str) -> str:
    try:
        return tiers.choose(wanted=tier).name
    except tiers.Unavailable as missing:
        pytest.skip(str(missing))


def pairs(ways: tuple[str, str], most: int = 2) -> list[tuple[str, str]]:
    """The first tier with one of two ways, and the last with the other; with THOROUGH=1 all tiers with both."""
    one, other = ([(tier, way) for tier in TIERS] for way in ways)
    return sample([*one, *reversed(other)], most)


@pytest.mark.parametrize("tier, how", pairs(("SIGSTOP", "SIGKILL"), 1))
def test_a_fork_server_lost_while_a_file_is_graded_costs_no_verdict(tier, how, fork_server, monkeypatch):
    """All of the submission is examined once more, in a worker of another fork server. Killed at each push: below."""
    same = offered(tier) == fork_server.tier.name
    with contextlib.nullcontext(fork_server) if same else ForkServer(tier=tier) as server:
        before = grading.result(EXERCISE, SUBMISSION, server, SETTINGS)
        lost = lose_at(monkeypatch, server, [7], getattr(signal, how))
        assert grading.result(EXERCISE, SUBMISSION, server, SETTINGS).checks == before.checks
        assert len(lost) == 1 and server.process.pid != lost[0]
        wait_gone(lost[0])


def test_work_that_loses_the_fork_server_twice_is_nobodys_verdict(fork_server, monkeypatch):
    """Lost once, it is examined once more and goes on; lost again, it has no verdict."""
    lose_at(monkeypatch, fork_server, [7, 12], signal.SIGKILL)
    result = grading.result(EXERCISE, SUBMISSION, fork_server, SETTINGS)
    assert result.status == "not_graded" and "fork server" in result.message


def lose_at(monkeypatch, fork_server: ForkServer, exchanges: list[int], number: int) -> list[int]:
    """Send the fork server and the worker a signal before these exchanges. Returns the pids of the lost servers."""
    lost, count, exchange = [], itertools.count(), Worker.exchange

    def losing(worker, *arguments):
        if next(count) in exchanges:
            lost.append(fork_server.process.pid)
            os.kill(lost[-1], number)
            if number != signal.SIGKILL:  # a stopped server cannot tell how the worker ended
                os.kill(worker.pid, signal.SIGKILL)
            wait_gone(worker.pid)
        return exchange(worker, *arguments)

    monkeypatch.setattr(Worker, "exchange", losing)
    return lost


def test_a_stopped_fork_server_is_noticed_and_ended():
    """Within a second. A timeout under it is still the learner's, and its workers end when it is replaced or closed."""
    fork_server = ForkServer()
    worker = loaded(fork_server)
    stopped = fork_server.process
    os.kill(stopped.pid, signal.SIGSTOP)
    began = time.monotonic()
    with pytest.raises(OSError, match="stopped"):
        stopped.command({"do": "end", "pid": 0, "grace": 0})
    assert time.monotonic() - began < 1.5
    with pytest.raises(TimedOut):
        call(worker, "spin", 0.3)
    wait_gone(worker.pid)
    wait_gone(stopped.pid)
    worker = fork_server.spawn(Limits())
    os.kill(fork_server.process.pid, signal.SIGSTOP)
    began = time.monotonic()
    fork_server.close()
    assert time.monotonic() - began < 3
    wait_gone(fork_server.process.pid)
    wait_gone(worker.pid)


@pytest.mark.parametrize("tier, place", pairs(("thread", "main")))
def test_a_killed_grader_leaves_nothing_behind(tier, place):
    command = [sys.executable, "-c", GRADER, str(paths.ROOT), offered(tier), place]
    grader = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    pids = [int(word) for word in grader.stdout.readline().split()]
    assert len(pids) == 5 and not any(map(gone, pids))
    grader.kill()
    grader.wait()
    for pid in pids:
        wait_gone(pid, 5)
    grader.stdout.close()


def loaded(fork_server):
    worker = fork_server.spawn(Limits())
    load(worker, SOURCE)
    return worker


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
