"""What each tier promises, and what it lets learners do. One fork server a tier serves all of these tests."""

import contextlib
import functools
import os
import sys
from collections.abc import Callable, Iterator

import pytest
from extras import demand_tier
from thorough import nightly
from waiting import gone
from worker_calls import call, load

from grader import catalog
from grader.catalog import paths
from grader.catalog.exercise import Limits
from grader.judge import grading
from grader.records.results import Settings
from grader.records.submission import Submission
from grader.sandbox import selftest, tiers
from grader.sandbox.forkserver import ForkServer

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="the walls are Linux's")]
ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


@pytest.fixture(scope="module")
def in_tier(fork_server: ForkServer) -> Iterator[Callable[[str], ForkServer]]:
    """`in_tier("A")` is the fork server of this tier; the shared one, where it has the tier."""
    with contextlib.ExitStack() as closing:

        @functools.cache
        def started(name: str) -> ForkServer:
            is_shared = demand_tier(name).name == fork_server.tier.name
            return fork_server if is_shared else closing.enter_context(ForkServer(tier=name))

        yield started


@pytest.mark.parametrize("name", ["A", "B"])
def test_a_tier_keeps_its_promise(name, in_tier):
    record = in_tier(name).sandbox
    assert record.holes == ()
    assert record.tier == name and record.torch and record.kernel
    assert len(record.probe) >= 35
    done = {attempt for attempt, outcome in record.probe.items() if outcome == "done"}
    assert done == set(selftest.UNPROMISED[name])


def test_the_last_tier_says_that_it_protects_nothing(in_tier):
    sandbox = in_tier("D").sandbox
    assert sandbox.probe["read a hidden file"] == "done" and sandbox.layers[-2:] == ("limits", "own process")
    assert not {"bubblewrap", "Landlock", "seccomp"} & set(sandbox.layers)


def test_limits_alone(in_tier):
    source = """
import os, time

def memory():
    return len(bytearray(1 << 30))

def files():
    found = []
    while True:
        found.append(os.dup(3))

def fork():
    pid = os.fork()
    if pid == 0:
        os.setsid()
        time.sleep(300)
    return pid
"""
    worker = in_tier("D").spawn(Limits(memory_mb=200))
    load(worker, source)
    assert call(worker, "memory").error["type"] == "MemoryError"
    assert call(worker, "files").error["type"] == "OSError"
    forked = call(worker, "fork")
    worker.close()
    if ROOT:
        assert gone(forked.value, seconds=3)  # it has left the worker's session
    else:
        assert forked.error["type"] == "BlockingIOError"


@pytest.mark.parametrize("name", ["A", pytest.param("B", marks=nightly)])
def test_learners_may_import_what_torch_and_python_have(name, in_tier):
    """Tier A opens what B does, in a smaller world."""
    source = """
def late():
    import math, statistics, fractions, decimal, textwrap, json, string, numpy.random, torch.nn.utils.rnn
    import torch.optim.lr_scheduler, torch.func, einops
    from einops.layers.torch import EinMix, Rearrange
    assert einops.rearrange(torch.ones(2, 6), "t (h d) -> h t d", h=3).shape == (3, 2, 2)
    assert Rearrange("t d -> d t")(torch.ones(2, 6)).shape == (6, 2)
    from torch.nn.utils.parametrizations import orthogonal
    layer = torch.nn.Linear(2, 2)
    optimizer = torch.optim.Adam(layer.parameters())
    layer(torch.ones(3, 2)).sum().backward()
    optimizer.step()
    gradient = torch.func.grad(lambda x: (x**2).sum())(torch.ones(2))
    return [statistics.mean([1, 2, 3]), gradient.tolist(), torch.ones(2).half().exp().shape[0]]
"""
    worker = in_tier(name).spawn(Limits())
    assert load(worker, "import torch\n" + source).error is None
    reply = call(worker, "late", 30)
    worker.close()
    assert reply.value == ["list", [2, ["list", [2.0, 2.0]], 2]], reply


@pytest.mark.parametrize("name", ["A", "B", "D"])
def test_the_first_cell_of_the_book_costs_nothing(name, in_tier):
    exercise = catalog.find("03")
    lines = "from importlib.metadata import version, PackageNotFoundError\nprint(version('torch') > '1')\n"
    own = "try:\n    version('tiktoken')\nexcept PackageNotFoundError:\n    print('none')\n"
    source = f"{lines}{own}{paths.solution(exercise.folder).read_text('utf-8')}version('tiktoken')\n"
    result = grading.result(exercise, Submission(source, "submission.py"), in_tier(name), Settings(seed=5))
    assert (result.status, result.output) == ("passed", "True\nnone\n")
    told = "failed and was left out: PackageNotFoundError, no package tiktoken is installed here"
    assert result.notes == (f"line {len(source.splitlines())} {told}",)


def test_a_forked_process_has_the_same_user_for_its_workers():
    """Else a child of the warm process would find no fork server of its own."""
    end, begin = os.pipe()
    here = repr(tiers.stranger()).encode()
    if not (pid := os.fork()):
        os.write(begin, repr(tiers.stranger()).encode())
        os._exit(0)
    os.waitpid(pid, 0)
    assert os.read(end, 100) == here
    os.close(end)
    os.close(begin)
