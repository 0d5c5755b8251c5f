"""A worker without ready-made functions: what is missing there, what is not, and that nothing brings it back."""

import re
from collections.abc import Iterator

import pytest
import torch
from attacks import ATTACKS

from grader import catalog
from grader.catalog import paths
from grader.judge import grading
from grader.judge.proxy import Learner
from grader.records.results import Settings
from grader.records.submission import Submission
from grader.sandbox.call_results import LearnerError
from grader.sandbox.forkserver import ForkServer
from grader.sandbox.remote import Remote
from grader.worker.codec import Opaque
from grader.worker.operations import GROUPS, allowed

BLINDING = [attack for attack in ATTACKS if attack.name[0] == "C" and int(attack.title[:2]) >= 57]  # the watch, or this
DOT, SOFTMAX, ATTENTION = (catalog.find(number).forbidden[0] for number in ("01", "02", "21"))


@pytest.fixture
def without(fork_server: ForkServer) -> Iterator:
    """`without(source, rule)`: the functions of a source, in a worker that lacks what the rule forbids."""
    open_remotes = []

    def load(source: str, rule=SOFTMAX) -> Learner:
        remote = Remote(fork_server, Submission(source, "a.py"), "a", catalog.find("02").limits)
        open_remotes.append(remote)
        return Learner(remote.without_ready_made(rule), seed=1)

    yield load
    for remote in open_remotes:
        remote.close()


@pytest.mark.parametrize("attack", BLINDING, ids=lambda attack: attack.name)
def test_no_attack_on_the_watch_is_right_there(attack, without):
    """Whatever the watch sees: the answer itself is missing, or is made of operations that the rule allows."""
    text = attack.source
    if "def dot_product" in text:
        a, b = torch.randn(4), torch.randn(4)
        call, expected = lambda: without(text, DOT).dot_product(a, b), torch.dot(a, b)
    elif "def flash_attention" in text:
        q = torch.randn(1, 1, 5, 4)
        call = lambda: without(text, ATTENTION).flash_attention(q, q, q)  # noqa: E731
        expected = torch.nn.functional.scaled_dot_product_attention(q, q, q)
    else:
        x = torch.randn(3, 4)
        call, expected = lambda: without(text).softmax_stable(x, 0), torch.softmax(x, 0)
    try:
        got = call()
    except LearnerError:
        return
    assert type(got) is not torch.Tensor or not torch.allclose(got, expected, atol=1e-4)


def test_each_kernel_of_what_is_forbidden_is_covered_for_each_key(without):
    """Also those that no honest call reaches: of other layouts, of batches, of gradients."""
    body = "def table(name):\n    import torch\n    return torch._C._dispatch_dump(name)\n"
    table = without(body).table
    for name in ("aten::softmax.int", "aten::_softmax", "aten::_log_softmax", "aten::logsumexp"):
        active = re.findall(r"^([A-Z]\w+)(?:\[alias\])?: (.*)$", table(name), re.MULTILINE)
        assert len(active) > 3
        assert [key for key, origin in active if "without_ready_made" not in origin] == [], name
    assert "without_ready_made" not in table("aten::exp")
    assert "without_ready_made" in table("quantized::softmax")


def test_what_a_formula_is_made_of_is_there(without):
    source = """
import collections, dataclasses, functools, itertools, math, operator, typing
import numpy as np
import torch, torch.nn.functional as F
from torch import nn, Tensor
from einops_that_is_not_installed import rearrange

@dataclasses.dataclass(frozen=True)
class Kept:
    top: Tensor

Pair = collections.namedtuple("Pair", "a b")

def f(x: Tensor) -> Tensor:
    import warnings
    warnings.warn("said")
    kept = Kept(x.amax(-1, keepdim=True).detach())
    print(x, f"{x.sum():.2f}", kept)
    with torch.no_grad():
        assert torch.isfinite(x).all() and torch.equal(x, x) and torch.allclose(x, x)
    e = torch.where(x == -np.inf, 0.0, torch.exp(x - kept.top))
    e = torch.vmap(lambda row: row * 1)(e) * torch.func.grad(lambda x: x.sum())(e)
    leaf = e.clone().requires_grad_()
    with torch.enable_grad():
        (torch.autograd.grad((leaf * leaf).sum(), leaf)[0] / 2).shape
    return nn.Identity()(F.pad(Pair(e, e.sum(-1, keepdim=True)).a, (0, 0))) / e.sum(-1, keepdim=True)
"""
    x = torch.randn(3, 4)
    assert torch.allclose(without(source).f(x), torch.softmax(x, -1))


@pytest.mark.parametrize(
    "body",
    [
        "open(torch.__file__)", "import sqlite3", "import numpy.linalg", "import ctypes", "import _ctypes", "import gc",
        "import _imp", "sys.modules['gc']", "os.listdir('/')", "sys._current_frames()",
        "torch.library.Library('aten', 'IMPL')", "torch._C._te", "torch._refs.exp(torch.ones(1))", "math.sumprod",
        "sys.modules['worker.codec'].ctypes.memmove", "np.dot",
    ],
)  # fmt: skip
def test_what_leads_elsewhere_is_not(body, without):
    source = f"import math, os, sys, torch\nimport numpy as np\ndef f():\n    {body}\n    return 1\n"
    with pytest.raises(LearnerError) as error:
        without(source).f()
    assert error.value.kind == "exception"


def test_a_guard_that_was_seen_is_no_guard_that_was_removed(without):
    source = """
import builtins, torch

def f():
    try:
        open(torch.__file__)
    except PermissionError as error:
        trace = error.__traceback__
    while trace.tb_next is not None:
        trace = trace.tb_next
    names, code = trace.tb_frame.f_globals, trace.tb_frame.f_code
    names["__builtins__"], names["PermissionError"] = {}, lambda *_: None
    builtins.PermissionError = builtins.ImportError = lambda *_: None
    try:
        open(torch.__file__)
    except BaseException:
        return code.co_name
    return "opened"
"""
    assert without(source).f() == "guard"


def test_every_group_and_tensor_goes_there_and_back(without):
    """Without ctypes, bytes are read in another way."""
    echo = without("def f(x):\n    return x\n").f
    for tensor in (
        torch.randn(3, 4), torch.randn(3, 4).T, torch.randn(5)[2:], torch.ones(0, 2), torch.tensor(1.5),
        torch.arange(3), torch.randn(2).to(torch.bfloat16), torch.tensor([True, False]), torch.randn(2, 2).double(),
    ):  # fmt: skip
        assert torch.equal(echo(tensor), tensor) and echo(tensor).dtype == tensor.dtype
    assert type(without("def f():\n    return object()\n").f()) is Opaque
    assert set(GROUPS["products"]) <= allowed(SOFTMAX.allowed)


def test_a_verdict_of_an_earlier_file_with_the_same_answers_is_not_that_of_one_that_blinds_the_watch(fork_server):
    """In a class, equal answers are judged once, but a formula of one's own is asked for each time."""
    exercise = catalog.find("02")
    right = paths.solution(exercise.folder).read_text("utf-8")
    blind = BLINDING[0].source
    texts = (right, right + "\n", blind, blind + "\n")
    handed_in = [Submission(text, f"{number}.py") for number, text in enumerate(texts)]
    settings = Settings(seed=5, reveal=False)
    results = [*grading.results(exercise, handed_in, fork_server, settings)]
    assert [result.status for result in results] == ["passed", "passed", "failed", "failed"]
    told = next(check.message for check in results[2].checks if check.outcome == "failed")
    line = blind.splitlines().index("        made = ready(x, dim)") + 1
    assert told.startswith(f"line {line} fails where torch has no ready-made functions: {SOFTMAX.reason}")
