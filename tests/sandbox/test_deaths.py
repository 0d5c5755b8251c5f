"""Whatever dies or stops: it is noticed in time, replaced, and nothing is left behind."""

import contextlib
import itertools
import os
import signal
import subprocess
import sys
import time

import pytest
from extras import demand_tier
from raised import raised
from thorough import sample
from waiting import gone, runs
from worker_calls import call, load

from grader import catalog
from grader.catalog import paths
from grader.catalog.exercise import Limits
from grader.judge import grading
from grader.records.results import Settings
from grader.records.submission import Submission
from grader.sandbox.forkserver import ForkServer
from grader.sandbox.worker_handle import TimedOut, Worker

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")]
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


@pytest.mark.parametrize("tier, how", sample(itertools.product(TIERS, ("SIGSTOP", "SIGKILL")), 1))
def test_a_fork_server_lost_while_a_file_is_graded_costs_no_verdict(tier, how, fork_server, monkeypatch):
    """All of the submission is examined once more, in a worker of another fork server. Killed at each push: below."""
    same = demand_tier(tier).name == fork_server.tier.name
    with contextlib.nullcontext(fork_server) if same else ForkServer(tier=tier) as server:
        before = grading.result(EXERCISE, SUBMISSION, server, SETTINGS)
        lost = lose_at(monkeypatch, server, [7], getattr(signal, how))
        assert grading.result(EXERCISE, SUBMISSION, server, SETTINGS).checks == before.checks
        assert len(lost) == 1 and server.process.pid != lost[0]
        assert gone(lost[0], seconds=3)


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
            assert gone(worker.pid, seconds=3)
        return exchange(worker, *arguments)

    monkeypatch.setattr(Worker, "exchange", losing)
    return lost


def test_a_stopped_fork_server_is_noticed_and_ended():
    """Within a second. A timeout under it is still the learner's, and its workers end when it is replaced or closed."""
    fork_server = ForkServer()
    worker = fork_server.spawn(Limits())
    load(worker, "def spin():\n    while True: pass\n")
    stopped = fork_server.process
    os.kill(stopped.pid, signal.SIGSTOP)
    began = time.monotonic()
    assert "stopped" in str(raised(OSError, stopped.command, {"do": "end", "pid": 0, "grace": 0}))
    assert time.monotonic() - began < 1.5
    raised(TimedOut, call, worker, "spin", 0.3)
    assert gone(worker.pid, stopped.pid, seconds=3)
    worker = fork_server.spawn(Limits())
    os.kill(fork_server.process.pid, signal.SIGSTOP)
    began = time.monotonic()
    fork_server.close()
    assert time.monotonic() - began < 3
    assert gone(fork_server.process.pid, worker.pid, seconds=3)


@pytest.mark.parametrize("tier, place", sample(itertools.product(TIERS, ("thread", "main")), 1))
def test_a_killed_grader_leaves_nothing_behind(tier, place):
    command = [sys.executable, "-c", GRADER, str(paths.ROOT), demand_tier(tier).name, place]
    grader = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    pids = [int(word) for word in grader.stdout.readline().split()]
    assert len(pids) == 5 and all(map(runs, pids))
    grader.kill()
    grader.wait()
    assert gone(*pids, seconds=5)
    grader.stdout.close()
