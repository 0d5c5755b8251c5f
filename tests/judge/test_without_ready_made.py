"""A worker without ready-made functions: what is missing there, what is not, and that nothing brings it back."""

import re
from collections.abc import Callable

import pytest
import torch
from raised import raised

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
OWN = """
class Dispatching(torch.Tensor):
    @staticmethod
    def __new__(cls, inner):
        made = torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)
        made.inner = inner
        return made

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        return torch.dot(args[0].inner, args[1].inner)

class Overriding(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        rows = [part.as_subclass(torch.Tensor)[None] for part in args]
        return torch.linalg.vecdot(*rows)[0]

class Late(torch.nn.Module):
    def __call__(self, a, b):
        return torch.dot(a, b)
"""
ROADS = (
    "by_name(torch, 'conv_-tbc')(a[:, None, None], b[:, None, None], a.new_zeros(1), 0).sum()",
    "by_name(operator, 'mat-mul')(a, b)",
    "(torch.cdist(a[None], -b[None]) ** 2 - a @ a - b @ b).sum() / 2",
    "(normal(b, 1).log_prob(a) - normal(-b, 1).log_prob(a)).sum() / 2",
    "by_name(a, 'd-ot')(b)",
    "torch.autograd.grad(by_name(torch, 'd-ot')(w := a.clone().requires_grad_(), b), w)[0].sum()",
    "Late()(a, b)",
    "torch.mul(Dispatching(a), Dispatching(b))",
    "torch.mul(a.as_subclass(Overriding), b.as_subclass(Overriding))",
    "torch.from_numpy(a.numpy() * b.numpy()).sum()",
    "((a * a).sum() + (b * b).sum()) / 2 - F.gaussian_nll_loss(a, b, a * 0 + 1, reduction='sum')",
    "torch.autograd.functional.jvp(lambda x: (x * x).sum() / 2, a, b, create_graph=True)[1]",
)
HONEST = (
    "(a * b).sum()",
    "torch.tensor(sum(x * y for x, y in zip(a.tolist(), b.tolist())))",
    "a.clone().mul_(b).cumsum_(0)[-1]",
    "torch.vmap(lambda x, y: x * y)(a, b).sum()",
    "nn.Identity()(a * b).sum()",
    "(print(a, f'{a.sum():.2f}'), torch.allclose(a, b), torch.result_type(a, b)) and torch.sum(a * b)",
    "a.new_zeros(1).index_add(0, torch.zeros(len(a), dtype=torch.long), a * b)[0]",
    "torch.vstack((torch.multiply(a, b), a.absolute())).to(a).take_along_dim(a.long()[None] * 0, 0).sum()",
    "torch.stack(torch.broadcast_tensors(a, b)).prod(0).swapaxes(0, -1).view_as(b).type_as(b).ravel().sum()",
)
ELSEWHERE = (
    "open(torch.__file__)", "import sqlite3", "import numpy.linalg", "import ctypes", "import _ctypes", "import gc",
    "import _imp", "sys.modules['gc']", "os.listdir('/')", "sys._current_frames()",
    "torch.library.Library('aten', 'IMPL')", "torch._C._te", "torch._refs.exp(torch.ones(1))", "math.sumprod",
    "sys.modules['worker.codec'].ctypes.memmove", "np.dot",
)  # fmt: skip
GRADIENTS = ("y.backward()", "torch.autograd.grad(y, x)", "torch.autograd.backward(y)", "torch.func.vjp(torch.exp, x)")


@pytest.fixture
def without(remote):
    """`without(source, rule)`: the functions of a source, in a worker that lacks what the rule forbids."""
    return lambda source, rule=SOFTMAX: Learner(remote(source)._connection.without_ready_made(rule), seed=1)


@pytest.fixture
def each(without):
    """`each(head, bodies, rule)`: with each body, a function of two arguments that has it, in one worker."""

    def functions(head: str, bodies: tuple[str, ...], rule=SOFTMAX) -> list[tuple[str, Callable]]:
        names = [f"f{number}" for number in range(len(bodies))]
        source = "".join(f"\ndef {name}(a, b):\n    {body}\n" for name, body in zip(names, bodies))
        worker = without(head + source, rule)
        return [(body, getattr(worker, name)) for name, body in zip(names, bodies)]

    return functions


def test_a_ready_made_function_is_missing_by_whatever_road_and_a_formula_of_ones_own_is_not(each):
    a, b = torch.randn(4), torch.randn(4)
    for _, f in each(HEAD, tuple(f"return {formula}" for formula in HONEST), DOT):
        expect_product(f, a, b)
    for road, f in each(HEAD + OWN, tuple(f"return {road}" for road in ROADS), DOT):
        error = raised((Mismatch, LearnerError), expect_product, f, a, b)
        assert getattr(error, "kind", "exception") == "exception", road


def expect_product(f: Callable, a: torch.Tensor, b: torch.Tensor) -> None:
    expect(f(a, b), torch.dot(a, b), tolerance=1e-4)


def test_a_gradient_of_torchs_is_missing_where_it_is_forbidden(each):
    """Also that of a formula whose operations are all allowed."""
    start = "x = a.clone().requires_grad_()\n    y = (x * x).sum()\n    "
    bodies = tuple(f"{start}{call}\n    return y" for call in GRADIENTS)
    for body, f in each("import torch\n", bodies, catalog.find("30").forbidden[0]):
        error = raised(LearnerError, f, torch.randn(3), 0)
        assert "worker.without_ready_made.ReadyMade" in error.facts["bases"], body


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


def test_what_leads_elsewhere_is_not(each):
    for body, f in each("import math, os, sys, torch\nimport numpy as np\n", ELSEWHERE):
        error = raised(LearnerError, f, 0, 0)
        assert error.kind == "exception", body


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
