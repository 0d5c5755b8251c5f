"""A worker without ready-made functions: what is missing there, what is not, and that nothing brings it back."""

import re

import pytest
import torch

from grader import catalog
from grader.judge.compare import Mismatch, expect
from grader.judge.proxy import Learner
from grader.sandbox.call_results import LearnerError
from grader.worker.codec import Opaque
from grader.worker.operations import GROUPS, allowed

DOT, SOFTMAX = (catalog.find(number).forbidden[0] for number in ("01", "02"))

HEAD = """
import functools, itertools, math, operator, torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal as normal

def by_name(home, name):
    return getattr(home, name.replace("-", ""))
"""
OWN_DISPATCH = """
class Mine(torch.Tensor):
    @staticmethod
    def __new__(cls, inner):
        made = torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)
        made.inner = inner
        return made

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        return torch.dot(args[0].inner, args[1].inner)
"""
OWN_FUNCTION = """
class Mine(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        rows = [part.as_subclass(torch.Tensor)[None] for part in args]
        return torch.linalg.vecdot(*rows)[0]
"""
LATE = """
class Late(torch.nn.Module):
    def __call__(self, a, b):
        return torch.dot(a, b)
"""
ROADS = {
    "convolution": "by_name(torch, 'conv_-tbc')(a[:, None, None], b[:, None, None], a.new_zeros(1), 0).sum()",
    "operator": "by_name(operator, 'mat-mul')(a, b)",
    "distance": "(torch.cdist(a[None], -b[None]) ** 2 - a @ a - b @ b).sum() / 2",
    "distribution": "(normal(b, 1).log_prob(a) - normal(-b, 1).log_prob(a)).sum() / 2",
    "method": "by_name(a, 'd-ot')(b)",
    "gradient": "torch.autograd.grad(by_name(torch, 'd-ot')(w := a.clone().requires_grad_(), b), w)[0].sum()",
    "object": "Late()(a, b)",
    "own dispatch": "torch.mul(Mine(a), Mine(b))",
    "own function": "torch.mul(a.as_subclass(Mine), b.as_subclass(Mine))",
    "numpy": "torch.from_numpy(a.numpy() * b.numpy()).sum()",
    "loss in Python": "((a * a).sum() + (b * b).sum()) / 2 - F.gaussian_nll_loss(a, b, a * 0 + 1, reduction='sum')",
    "quadratic form": "torch.autograd.functional.jvp(lambda x: (x * x).sum() / 2, a, b, create_graph=True)[1]",
}
HONEST = {
    "sum": "(a * b).sum()",
    "python's numbers": "torch.tensor(sum(x * y for x, y in zip(a.tolist(), b.tolist())))",
    "in place": "a.clone().mul_(b).cumsum_(0)[-1]",
    "vmap": "torch.vmap(lambda x, y: x * y)(a, b).sum()",
    "layer": "nn.Identity()(a * b).sum()",
    "questions": "(print(a, f'{a.sum():.2f}'), torch.allclose(a, b), torch.result_type(a, b)) and torch.sum(a * b)",
    "scatter": "a.new_zeros(1).index_add(0, torch.zeros(len(a), dtype=torch.long), a * b)[0]",
    "spellings": "torch.vstack((torch.multiply(a, b), a.absolute())).to(a).take_along_dim(a.long()[None] * 0, 0).sum()",
    "shapes": "torch.stack(torch.broadcast_tensors(a, b)).prod(0).swapaxes(0, -1).view_as(b).type_as(b).ravel().sum()",
}


@pytest.fixture
def without(remote):
    """`without(source, rule)`: the functions of a source, in a worker that lacks what the rule forbids."""
    return lambda source, rule=SOFTMAX: Learner(remote(source)._connection.without_ready_made(rule), seed=1)


@pytest.mark.parametrize("road", ROADS)
def test_a_ready_made_function_is_missing_by_whatever_road(road, without):
    before = {"own dispatch": OWN_DISPATCH, "own function": OWN_FUNCTION, "object": LATE}.get(road, "")
    source = f"{HEAD}{before}\ndef dot_product(a, b):\n    return {ROADS[road]}\n"
    with pytest.raises((Mismatch, LearnerError)) as error:
        a, b = torch.randn(4), torch.randn(4)
        expect(without(source, DOT).dot_product(a, b), torch.dot(a, b), tolerance=1e-4)
    assert getattr(error.value, "kind", "exception") == "exception"


@pytest.mark.parametrize("style", HONEST)
def test_a_formula_of_ones_own_is_not(style, without):
    a, b = torch.randn(4), torch.randn(4)
    source = f"{HEAD}\ndef dot_product(a, b):\n    return {HONEST[style]}\n"
    expect(without(source, DOT).dot_product(a, b), torch.dot(a, b), tolerance=1e-4)


def test_a_gradient_of_torchs_is_missing_where_it_is_forbidden(without):
    """Also that of a formula whose operations are all allowed."""
    rule = catalog.find("30").forbidden[0]
    for call in (
        "y.backward()",
        "torch.autograd.grad(y, x)",
        "torch.autograd.backward(y)",
        "torch.func.vjp(torch.exp, x)",
    ):
        body = f"x = x.clone().requires_grad_()\n    y = (x * x).sum()\n    {call}\n    return y"
        source = f"import torch\ndef f(x):\n    {body}"
        with pytest.raises(LearnerError) as error:
            without(source, rule).f(torch.randn(3))
        assert "worker.without_ready_made.ReadyMade" in error.value.facts["bases"], call


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
