"""The processor time of workers, which the line search and its bench count with."""

import copy

import pytest

from grader.catalog.exercise import Limits
from grader.sandbox.worker_handle import TimedOut
from grader.sandbox.workers_spent import WorkersSpent
from grader.worker import protocol


def test_a_worker_is_counted_when_it_ends(fork_server):
    fork_server.spawn(Limits()).close()
    before = copy.copy(fork_server.spent)
    fork_server.spawn(Limits()).close()
    after = copy.copy(fork_server.spent)
    assert after.workers == before.workers + 1 and after.fork > before.fork and after.faults > before.faults
    assert after.stopped == before.stopped

    worker = fork_server.spawn(Limits(call_cpu_s=0.3))
    endless = protocol.encode_request(protocol.Load("while True:\n    pass\n", "f.py", "f"))
    with pytest.raises(TimedOut):
        worker.exchange(endless, 30.0, 0.3)
    assert fork_server.spent.stopped >= after.stopped + 0.15
    assert fork_server.spent.code == after.code


def test_the_seconds_of_a_worker_are_divided_without_loss():
    spent = WorkersSpent()
    spent.add(1, 2.0, None, 0.0, False)
    spent.add(1, 2.5, (0.3, 0.1, 700), 0.1, False)
    spent.add(9, 1.5, (1.0, 0.0, 50), 0.2, True)  # of another fork server, which took the place of the first
    assert (spent.start, spent.stopped, spent.workers, spent.faults) == (3.5, 0.8, 2, 750)
    assert spent.fork == pytest.approx(0.5 + 0.1 + 0.2)
    assert spent.start + spent.fork + spent.kernel + spent.code + spent.stopped == pytest.approx(2.5 + 1.5 + 0.4 + 1.0)
