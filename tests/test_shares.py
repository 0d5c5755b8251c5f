"""What the processor time of a class is spent on: each process counts its parts, and the shares add up."""

import copy
import time

import pytest
import shares

from grader.catalog.limits import Limits
from grader.records.own_time import OwnTime
from grader.sandbox.worker_handle import TimedOut
from grader.sandbox.workers_spent import WorkersSpent
from grader.worker import protocol

BURNT_S = 0.05


def burn() -> None:
    """Use the processor for BURNT_S."""
    until = time.process_time() + BURNT_S
    while time.process_time() < until:
        pass


def test_parts_of_a_process_do_not_overlap():
    own = OwnTime()
    own.go_on_with("checks")
    with own.part("diagnosis"):
        burn()
    burn()
    seconds = own.seconds
    assert seconds["diagnosis"] >= BURNT_S and seconds["checks"] >= BURNT_S
    assert sum(seconds.values()) == pytest.approx(own.since) and own.since <= time.process_time()


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


def test_the_shares_add_up_to_all_cores():
    processes = {name: 1.0 + number for number, name in enumerate(shares.PROCESSES)} | {"workers": 4, "faults": 800}
    spent = {"processes": processes, "own": dict.fromkeys(shares.OWN, 0.5)}
    table = shares.rows(spent, total_s=40.0, wall_s=30.0, cores=2)
    assert sum(seconds for _, seconds in table) == pytest.approx(60.0)
    assert dict(table)[shares.REST] == pytest.approx(40.0 - 28.0 - 2.0) and table[-1][1] == pytest.approx(20.0)
    text = shares.told(spent, 40.0, 30.0, 2)
    assert "4 workers, 200 page faults each" in text and " 11.7%  diagnosis" in text
