"""Grading through the real worker: limits, endings, clean kills, and what a diagnosis may say."""

import functools
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from situations import SITUATIONS
from sources import replace_in
from waiting import runs, soon
from worker_calls import call, load

from grader import catalog
from grader.catalog.errors import InfrastructureError
from grader.catalog.exercise import Limits
from grader.judge import examiner, grading
from grader.records import submission
from grader.records.results import Settings
from grader.sandbox.forkserver import ForkServer
from grader.sandbox.worker_handle import TimedOut, Worker, WorkerEnded

pytestmark = pytest.mark.slow

EXERCISE = "03_context_vectors"
RIGHT = SITUATIONS["right_answer"]["source"]
WEIGHTS = "    return torch.softmax(inputs @ inputs.T, dim=-1)\n"


@pytest.fixture
def grade(judged):
    return functools.partial(judged, EXERCISE, diagnose=False)


def loaded(fork_server, source: str, **limits) -> Worker:
    worker = fork_server.spawn(Limits(**limits))
    reply = load(worker, source)
    assert reply.error is None, reply
    return worker


def test_a_call_that_hangs_is_killed(fork_server):
    worker = loaded(fork_server, "def f():\n    while True: pass\n")
    with pytest.raises(TimedOut):
        call(worker, "f", 0.3)
    assert not runs(worker.pid)


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
    worker = loaded(fork_server, source, call_cpu_s=0.5)
    if ends:
        assert call(worker, "f", 20.0).value == 1
    else:
        with pytest.raises(TimedOut, match=r"within 0\.5 s"):
            call(worker, "f", 20.0)
    worker.close()


@pytest.mark.parametrize("sleep", ["time.sleep(60)", "lock = threading.Lock(); lock.acquire(); lock.acquire()"])
def test_who_sleeps_is_waited_for_on_the_clock(fork_server, sleep):
    """A nap takes no processor time, so it may be longer than that limit."""
    nap = "def g():\n    time.sleep(1.2)\n    return 1\n"
    worker = loaded(fork_server, f"import threading, time\ndef f():\n    {sleep}\n{nap}")
    assert call(worker, "g", 20.0).value == 1
    with pytest.raises(TimedOut, match="within 2 s") as error:
        call(worker, "f", 2.0)
    assert error.value.asleep
    worker.close()


def test_the_way_a_process_ended_is_known(fork_server):
    for code, status in (("os._exit(7)", 7), ("os.kill(os.getpid(), 11)", -signal.SIGSEGV)):
        worker = loaded(fork_server, f"import os\ndef f():\n    {code}\n")
        try:
            reply = call(worker, "f")
        except WorkerEnded as ended:
            assert ended.status == status
        else:
            assert reply.error["type"] == "PermissionError"  # the sandbox refused the signal


def test_processes_that_a_submission_leaves_behind_are_ended(fork_server, tmp_path):
    source = """
import os, time

def f():
    pid = os.fork()
    if pid == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(300)
        os._exit(0)
    return pid
"""
    before = children_of(fork_server.process.pid)
    worker = loaded(fork_server, source)
    call(worker, "f")  # refused by the sandbox, or started and then ended
    worker.close()
    assert soon(lambda: not children_of(fork_server.process.pid) - before, 3)


def test_memory_above_the_limit_is_refused(fork_server):
    worker = loaded(fork_server, "def f():\n    return len(bytearray(400 << 20))\n", memory_mb=200)
    assert call(worker, "f").error["type"] == "MemoryError"
    worker.close()


def test_a_submission_starts_from_a_clean_slate(fork_server):
    dirty = loaded(fork_server, "import torch\ntorch.softmax = None\ntorch.manual_seed(1)\ndef f():\n    return 1\n")
    dirty.close()
    clean = loaded(fork_server, "import torch\ndef f():\n    return torch.softmax is not None\n")
    assert call(clean, "f").value is True
    clean.close()


def test_settings_of_the_process_do_not_outlive_a_call(fork_server):
    source = "import torch\ndef f():\n    torch.set_default_dtype(torch.float64)\n    torch.set_grad_enabled(False)\n"
    source += "def g():\n    return [str(torch.ones(1).dtype), torch.is_grad_enabled()]\n"
    worker = loaded(fork_server, source)
    call(worker, "f")
    assert call(worker, "g").value == ["list", ["torch.float32", True]]
    worker.close()


def test_a_fork_server_that_dies_is_replaced(fork_server):
    fork_server.spawn(Limits()).close()
    first = fork_server.process.pid
    os.kill(first, signal.SIGKILL)
    worker = loaded(fork_server, "def f():\n    return 1\n")
    assert call(worker, "f").value == 1
    worker.close()
    assert fork_server.process.pid != first


def test_a_worker_that_cannot_start_is_nobodys_verdict(tmp_path, relocate):
    relocate(tmp_path, "WORKER")  # where nothing is
    with ForkServer() as fork_server, pytest.raises(InfrastructureError, match="could not start"):
        fork_server.spawn(Limits())


def test_values_are_left_out_where_nothing_may_be_revealed(grade):
    wrong = RIGHT.replace(WEIGHTS, WEIGHTS.replace("\n", " + 0.125\n")) + "\n"
    for check in grade(wrong, reveal=False).checks:
        assert "expected [" not in check.message and "off by" not in check.message
    raising = RIGHT.replace(WEIGHTS, "    raise ValueError(str(inputs.tolist()))\n")
    for check in grade(raising, reveal=False).checks:
        assert "[[" not in check.message


def test_a_method_that_hangs_on_one_object_is_not_called_on_the_next(fork_server):
    exercise = catalog.find("08")
    exercise = replace(exercise, limits=replace(exercise.limits, call_cpu_s=0.4))
    begin = "    def forward(self, x: torch.Tensor) -> torch.Tensor:\n"
    hanging = replace_in("08", (begin, begin + "        while True: pass\n"))
    settings = Settings(seed=1, diagnose=False)
    result = grading.result(exercise, submission.Submission(hanging, "x.py"), fork_server, settings)
    told = [check.message.partition("\n")[0] for check in result.checks if check.outcome == "failed"]
    assert told[0] == "This looks like an infinite loop: SelfAttention_v2 ran for more than 0.4 s, so it was stopped"
    assert len(told) > 3 and set(told[1:]) == {
        "This looks like an infinite loop: SelfAttention_v2 was not called again"
    }


def test_a_function_that_uses_one_that_hangs_is_not_called(grade):
    """It would hang too, for another second each."""
    hanging = RIGHT.replace(
        "def attention_weights(inputs):\n", "def attention_weights(inputs):\n    while True: pass\n"
    )
    assert hanging != RIGHT
    told = {check.id: check.message for check in grade(hanging).checks}
    assert "attention_weights ran for more than" in told["documented_weights_of_one_query"]
    assert (
        told["documented_context_vectors"] == "This looks like an infinite loop: context_vectors was not called again"
    )


def test_each_function_that_hangs_halves_the_patience(grade):
    source = "import torch\n" + "".join(
        f"def {name}(*a, **k):\n    while True: pass\n"
        for name in ("context_vector", "attention_weights", "context_vectors")
    )
    told = [check.message for check in grade(source).checks if "again" not in check.message.partition("\n")[0]]
    seconds = [text.partition(" ran for more than ")[2].partition(" s")[0] for text in told if "ran for" in text]
    assert seconds == ["1", "0.5", "0.25"], told


@pytest.mark.parametrize(
    "settings, seconds, computing",
    [({}, 5.0, 1.0), ({"timeout": 7.0}, 7.0, None), ({"device": "cuda"}, examiner.DEVICE_CALL_S, None)],
)
def test_a_time_that_was_named_is_the_one_that_counts(settings, seconds, computing):
    limits = examiner.limits_of(catalog.find(EXERCISE), Settings(**settings))
    assert (limits.call_s, limits.call_cpu_s) == (seconds, computing)


def children_of(pid: int) -> set[str]:
    return set(Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
