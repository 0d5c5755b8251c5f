"""The memory of one call, measured from outside: in every tier, whatever the file does to hide it."""

import contextlib
import re
import subprocess
import sys
from dataclasses import replace

import pytest
import torch
from extras import demand_tier
from raised import raised
from sources import mistake
from thorough import nightly

from grader import catalog
from grader.catalog import paths
from grader.catalog.errors import InfrastructureError
from grader.catalog.exercise import Limits
from grader.judge import grading
from grader.judge.measuring import TooMuchMemory, within_memory
from grader.judge.proxy import Learner
from grader.records.results import Settings
from grader.records.submission import Submission
from grader.sandbox import process
from grader.sandbox.call_results import LearnerError
from grader.sandbox.forkserver import ForkServer
from grader.sandbox.remote import Remote

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no wall stops a worker's memory"),
]
TOKENS, BLOCK, ALLOWED = 8192, 256, 128  # MiB: a whole table of float32 takes twice as much
SOURCE = f"""
import torch

aside = torch.ones(200 << 18)  # MiB: up to 48 count as code of libraries, where that comes in late
aside = None  # given back, and kept by the allocator

def blocks(x):
    return torch.cat([torch.softmax(part @ x.mT, -1) @ x for part in x.split({BLOCK})])

def whole(x):
    return torch.softmax(x @ x.mT, -1) @ x

def half(x):
    scores = x[:, :1].bfloat16() * x[:, :1].bfloat16().mT  # a product is slow in bfloat16
    return x

def hangs(x):
    while len(x) > 1:
        pass
    return x
"""
WITHOUT_ASIDE = SOURCE.replace("torch.ones(200 << 18)", "None")


@pytest.fixture
def learner(remote):
    return remote(WITHOUT_ASIDE)


def tokens(count: int = TOKENS) -> torch.Tensor:
    return torch.randn(count, 8, generator=torch.Generator().manual_seed(1))


# None: the strongest tier, in which a worker's id is another one outside. Elsewhere it is the same in any tier.
@pytest.mark.parametrize("name", [None, *(pytest.param(name, marks=nightly) for name in "BCD")])
def test_every_tier_tells_a_whole_table_from_blocks(name, fork_server):
    with ForkServer(tier=demand_tier(name).name) if name else contextlib.nullcontext(fork_server) as server:
        learner = Learner(Remote(server, Submission(WITHOUT_ASIDE, "file.py"), "file", Limits()))
        result = within_memory(learner.blocks, tokens(), mebibytes=ALLOWED)
        assert result.shape == (TOKENS, 8)
        assert learner.notes[0].startswith("blocks grew by") and learner.notes[0].endswith(f"{ALLOWED} MiB are allowed")
        with pytest.raises(TooMuchMemory, match=r"^line 11 asks for more memory than there is; whole had grown by \d+"):
            within_memory(learner.whole, tokens(), mebibytes=ALLOWED)
        with pytest.raises(TooMuchMemory, match=rf"^half grew by 1[2-5]\d MiB; {ALLOWED} MiB are allowed"):
            within_memory(learner.half, tokens(), mebibytes=ALLOWED)


def test_memory_is_counted_from_before_the_file_is_loaded(remote):
    with pytest.raises(TooMuchMemory, match=r"blocks grew by (1[5-9]|2[01])\d MiB"):
        within_memory(remote(SOURCE).blocks, tokens(), mebibytes=ALLOWED)


def test_a_backward_pass_counts_as_well(learner):
    """Autograd keeps the weights of every block: together a whole table."""
    half = {"mebibytes": ALLOWED // 2}
    within_memory(learner.blocks, tokens(TOKENS // 2), **half)
    raised(TooMuchMemory, within_memory, learner.blocks, tokens(TOKENS // 2), **half, gradients=True)
    assert within_memory(learner.blocks, tokens(512), **half, gradients=True)["argument 0"].shape == (512, 8)


def test_the_usual_worker_goes_on_as_if_nothing_had_been(learner):
    """A measured call has a time of its own, too, and takes none from the others."""
    first, usual = learner.blocks(tokens(4)), learner._connection
    worker = usual.worker
    usual.spent = almost_all = usual.limits.total_s - 1e-6
    within_memory(learner.blocks, tokens(), mebibytes=ALLOWED)
    assert usual.spent == almost_all
    usual.spent = 0.0
    raised(TooMuchMemory, within_memory, learner.half, tokens(), mebibytes=ALLOWED)
    assert torch.equal(learner.blocks(tokens(4)), first) and usual.worker is worker


def test_what_is_too_slow_for_many_tokens_is_still_asked_for_few(remote):
    learner = remote(WITHOUT_ASIDE, measured_s=0.5)
    for again in (False, True):  # the second time it is not called
        caught = raised(LearnerError, within_memory, learner.hangs, tokens(), mebibytes=ALLOWED)
        assert caught.kind == "timeout" and caught.facts.get("again", False) is again
    assert learner.hangs(tokens(1)).shape == (1, 8)


def test_a_machine_that_tells_nothing_gives_no_verdict(learner, monkeypatch):
    monkeypatch.setattr(process, "memory", lambda pid: {})
    with pytest.raises(InfrastructureError, match="does not tell"):
        within_memory(learner.blocks, tokens(64), mebibytes=ALLOWED)


def test_a_class_is_told_how_much_memory_each_file_takes(fork_server):
    """In a class, equal files too are measured each; a diagnosis goes by what is written down."""
    exercise = catalog.find("22")
    right, wrong = paths.solution(exercise.folder).read_text("utf-8"), mistake("22", "whole_table")
    files = [Submission(source, "x.py") for source in (right, right, wrong.source, wrong.source)]
    results = [*grading.results(exercise, files, fork_server, Settings(seed=3, reveal=False))]
    told = [next(check for check in result.checks if check.id == "memory") for result in results]
    assert [result.points for result in results] == [10, 10, 8.5, 8.5]
    assert all(re.search(r"gr[eo]wn? by \d+ MiB", check.message) for check in told), told
    assert all(check.diagnosis == wrong.sentence for check in told[2:])


@pytest.mark.parametrize("gradients", [False, True])
def test_a_measured_call_has_no_ready_made_functions_either(remote, gradients):
    """The name is put together at run time, and only where there are many tokens."""
    source = """
import torch

def mine(x):
    if len(x) > 1000:
        return getattr(torch.nn.functional, "scaled_dot" + "_product_attention")(*[x[None]] * 3)[0]
    return torch.softmax(x @ x.mT / x.shape[-1] ** 0.5, -1) @ x
"""
    rule = replace(catalog.find("31").forbidden[0], functions=("mine",))
    learner = remote(source)
    learner.rules = {"mine": rule}
    within_memory(learner.mine, tokens(64), mebibytes=ALLOWED, gradients=gradients)
    error = raised(LearnerError, within_memory, learner.mine, tokens(2048), mebibytes=ALLOWED, gradients=gradients)
    assert "worker.without_ready_made.ReadyMade" in error.facts["bases"] and error.frame[0] == 6


# Of a process.

TAKES = """
import mmap, sys
size, file = int(sys.argv[1]) << 20, open(sys.argv[2], "rb")
print("begun", flush=True)
input()
taken = bytearray(b"1" * 4096) * (size >> 12)
with mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as read:
    sum(read[place] for place in range(0, len(read), 4096))
    print("taken", flush=True)
    input()
"""


@pytest.mark.parametrize(("own", "of_files", "counted"), [(40, 8, 48), (40, 50, 56), (10, 150, 112)])
def test_what_is_read_of_files_counts_as_far_as_it_is_usual(own, of_files, counted, tmp_path):
    """A torch with CUDA brings in more of its code than one without, and the answers on memory are the same."""
    (tmp_path / "code").write_bytes(b"1" * (of_files << 20))
    command = [sys.executable, "-c", TAKES, str(own), str(tmp_path / "code")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as taking:
        assert taking.stdout.readline() == "begun\n"
        meter = process.Meter(taking.pid)
        print(file=taking.stdin, flush=True)
        assert taking.stdout.readline() == "taken\n"
        meter.look()
        print(file=taking.stdin, flush=True)
    assert counted - 2 <= meter.growth <= counted + 5
