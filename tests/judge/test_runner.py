"""Grading through the real worker: limits, endings, clean kills, and what a diagnosis may say."""

import functools
import re
from dataclasses import replace

import pytest
from raised import raised
from situations import RIGHT, WEIGHTS
from sources import replace_in
from waiting import runs
from worker_calls import call, load

from grader import catalog
from grader.catalog.errors import InfrastructureError
from grader.catalog.exercise import Limits
from grader.sandbox.forkserver import ForkServer
from grader.sandbox.worker_handle import TimedOut, Worker

pytestmark = pytest.mark.slow

LOOP = "This looks like an infinite loop: "


@pytest.fixture
def grade(graded):
    return functools.partial(graded, "03")


def loaded(fork_server, source: str) -> Worker:
    worker = fork_server.spawn(Limits())
    reply = load(worker, source)
    assert reply.error is None, reply
    return worker


@pytest.mark.parametrize("more, ends", [("kept.append(bytearray(1 << 20))", True), ("pass", False)])
def test_who_takes_memory_as_an_import_does_may_compute_longer(fork_server, more, ends):
    source = f"""
import time
def f():
    kept, began = [], time.process_time()
    while time.process_time() - began < 0.8:
        {more}
        sum(range(100_000))
    return 1
"""
    worker = loaded(fork_server, source)
    if ends:
        assert call(worker, "f", 20.0, 0.5).value == 1
    else:
        assert re.search(r"within 0\.5 s", str(raised(TimedOut, call, worker, "f", 20.0, 0.5)))
        assert not runs(worker.pid)
    worker.close()


def test_who_sleeps_is_waited_for_on_the_clock(fork_server):
    """A nap takes no processor time, so it may be longer than that limit."""
    source = "import time\ndef f():\n    time.sleep(60)\ndef g():\n    time.sleep(1.2)\n    return 1\n"
    worker = loaded(fork_server, source)
    assert call(worker, "g", 20.0).value == 1
    with pytest.raises(TimedOut, match="within 1 s") as error:
        call(worker, "f", 1.0)
    assert error.value.asleep
    worker.close()


def test_a_worker_that_cannot_start_is_nobodys_verdict(tmp_path, relocate):
    relocate(tmp_path, "WORKER")  # where nothing is
    with ForkServer() as fork_server, pytest.raises(InfrastructureError, match="could not start"):
        fork_server.spawn(Limits())


@pytest.mark.parametrize("end", [" + 0.125\n", "\n    raise ValueError(str(inputs.tolist()))\n"])
def test_values_are_left_out_where_nothing_may_be_revealed(end, grade):
    body = "    weights = torch.softmax(inputs @ inputs.T, dim=-1)" + end + "    return weights\n"
    messages = [check.message for check in grade(RIGHT.replace(WEIGHTS, body), reveal=False).checks]
    assert not any(words in message for message in messages for words in ("expected [", "off by", "[["))


def test_a_method_that_hangs_on_one_object_is_not_called_on_the_next(graded):
    exercise = catalog.find("08")
    exercise = replace(exercise, limits=replace(exercise.limits, call_cpu_s=0.4))
    begin = "    def forward(self, x: torch.Tensor) -> torch.Tensor:\n"
    result = graded(exercise, replace_in("08", (begin, begin + "        while True: pass\n")))
    first, *others = [check.message.partition("\n")[0] for check in result.checks if check.outcome == "failed"]
    assert first == f"{LOOP}SelfAttention_v2 ran for more than 0.4 s, so it was stopped"
    assert len(others) > 2 and set(others) == {f"{LOOP}SelfAttention_v2 was not called again"}
