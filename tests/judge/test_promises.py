"""What special cases must not pass: the watch on a formula of one's own, the fake device, inputs, parameters, words.

Each source runs in the executor of a worker, in this process.
"""

import contextlib
from dataclasses import replace

import pytest
import torch

from grader import catalog
from grader.catalog.exercise import Limits
from grader.judge.compare import Mismatch, expect
from grader.judge.messages import is_own_text
from grader.judge.promises import (
    computes_itself,
    draws_as_often,
    has_own_memory,
    has_parameters,
    keeps_device,
    keeps_inputs,
    keeps_no_graph,
    learns_alike,
    refuses,
)
from grader.judge.proxy import Learner
from grader.judge.words import kind
from grader.records import forbidden
from grader.records.forbidden import forbidden_uses
from grader.records.source import SourceWords
from grader.records.submission import Submission
from grader.sandbox import remote
from grader.sandbox.call_results import LearnerError
from grader.sandbox.local import Local
from grader.sandbox.remote import Remote
from grader.worker.op_watch import Rule
from grader.worker.operations import GROUPS, plain

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
READY_MADE = {
    "convolution": "by_name(torch, 'conv_-tbc')(a[:, None, None], b[:, None, None], a.new_zeros(1), 0).sum()",
    "rows": "by_name(torch.linalg, 'vec-dot')(a[None], b[None])[0]",
    "operator": "by_name(operator, 'mat-mul')(a, b)",
    "bilinear": "by_name(F, 'bi-linear')(a[None], b[None], torch.ones(1, len(a), len(b)).tril().triu()).sum()",
    "distance": "(torch.cdist(a[None], -b[None]) ** 2 - a @ a - b @ b).sum() / 2",
    "covariance": "by_name(torch, 'c-ov')(torch.stack([a, b]))[0, 1]",
    "cosine": "by_name(F, 'cosine_-similarity')(a, b, 0) * a.norm() * b.norm()",
    "distribution": "(normal(b, 1).log_prob(a) - normal(-b, 1).log_prob(a)).sum() / 2",
    "method": "by_name(a, 'd-ot')(b)",
    "gradient": "torch.autograd.grad(by_name(torch, 'd-ot')(w := a.clone().requires_grad_(), b), w)[0].sum()",
    "object": "Late()(a, b)",
    "own dispatch": "torch.mul(Mine(a), Mine(b))",
    "own function": "torch.mul(a.as_subclass(Mine), b.as_subclass(Mine))",
    "numpy": "torch.from_numpy(a.numpy() * b.numpy()).sum()",
    "loss": "a.exp().sum() - F.poisson_nll_loss(a, b, reduction='sum')",
    "divergence": "torch.xlogy(b.abs(), b.abs()).sum() - torch.nn.KLDivLoss(reduction='sum')(a * b.sign(), b.abs())",
    "integral": "torch.trapezoid(a.repeat_interleave(2), F.pad(b.cumsum(0).repeat_interleave(2), (1, -1)))",
    "pairs": "((a * a).sum() + (b * b).sum() - F.pairwise_distance(a, b, eps=0.0) ** 2) / 2",
    "loss in Python": "((a * a).sum() + (b * b).sum()) / 2 - F.gaussian_nll_loss(a, b, a * 0 + 1, reduction='sum')",
    "normalised": "(F.normalize(a * b, p=1.0, dim=0) * (a * b).abs().sum()).sum()",
    "kronecker": "torch.kron(a, b).view(len(a), -1).diagonal().sum()",
    "quadratic form": "torch.autograd.functional.jvp(lambda x: (x * x).sum() / 2, a, b, create_graph=True)[1]",
}
HONEST = {
    "sum": "(a * b).sum()",
    "loop": "sum(x * y for x, y in zip(a, b))",
    "python's numbers": "torch.tensor(sum(x * y for x, y in zip(a.tolist(), b.tolist())))",
    "float": "torch.tensor(math.fsum(float(x) * float(y) for x, y in zip(a, b)))",
    "reduce": "functools.reduce(operator.add, map(operator.mul, a, b))",
    "accumulate": "list(itertools.accumulate(x * y for x, y in zip(a, b)))[-1]",
    "in place": "a.clone().mul_(b).cumsum_(0)[-1]",
    "outer": "torch.outer(a, b).diagonal().sum()",
    "squares": "((a + b).square().sum() - (a - b).square().sum()) / 4",
    "vmap": "torch.vmap(lambda x, y: x * y)(a, b).sum()",
    "padded": "F.pad(a * b, (0, 4)).reshape(2, -1).sum(0).sum()",
    "layer": "nn.Identity()(a * b).sum()",
    "questions": "(print(a, f'{a.sum():.2f}'), torch.allclose(a, b), torch.result_type(a, b)) and torch.sum(a * b)",
    "scatter": "a.new_zeros(1).index_add(0, torch.zeros(len(a), dtype=torch.long), a * b)[0]",
    "spellings": "torch.vstack((torch.multiply(a, b), a.absolute())).to(a).take_along_dim(a.long()[None] * 0, 0).sum()",
    "shapes": "torch.stack(torch.broadcast_tensors(a, b)).prod(0).swapaxes(0, -1).view_as(b).type_as(b).ravel().sum()",
    "half types": "(a.double() * b.to(torch.float64)).sum().to(a.dtype)",
}


def learner(source: str, **watched) -> Learner:
    found = Learner(Local(source, "submission.py", "submission"), seed=3)
    found.watched = watched
    return found


def dot(body: str, before: str = "") -> Learner:
    return learner(f"{HEAD}{before}\ndef dot_product(a, b):\n    return {body}\n", dot_product=DOT)


def asked(subject: Learner) -> None:
    """The check of a formula of one's own, without what is read of the source."""
    a, b = torch.randn(4), torch.randn(4)
    computes_itself(subject.dot_product, DOT, a, b)


@pytest.mark.parametrize("road", READY_MADE)
def test_a_ready_made_function_is_seen_by_whatever_road(road):
    before = {"own dispatch": OWN_DISPATCH, "own function": OWN_FUNCTION, "object": LATE}.get(road, "")
    with pytest.raises(Mismatch, match="ready-made"):
        asked(dot(READY_MADE[road], before))


@pytest.mark.parametrize("style", HONEST)
def test_a_formula_of_ones_own_is_not(style):
    asked(dot(HONEST[style]))


OWN_BACKWARD = """
class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return (a * b).sum()
    @staticmethod
    def backward(ctx, above):
        a, b = ctx.saved_tensors
        return above * b + {}(a * 0, b), above * a
"""


def test_a_ready_made_function_in_a_backward_pass_of_ones_own_is_seen():
    a, b = torch.randn(4), torch.randn(4)
    for called, hits in (("by_name(torch, 'd-ot')", {"dot_product"}), ("torch.add", set())):
        subject = dot("Product.apply(a, b)", OWN_BACKWARD.format(called))
        subject.dot_product.gradients(a, b)
        assert set(subject.hits) == hits, called
    subject = learner(f"{HEAD}\ndef f(a):\n    return a.tanh()\n", f=replace(DOT, names=("tanh_backward",)))
    subject.f.gradients(a)  # a formula of torch's own is nobody's choice
    assert not subject.hits


def test_what_was_computed_before_the_call_or_beside_it_is_no_formula():
    thread = "(t := threading.Thread(target=lambda: got.append(torch.dot(a, b)))).start() or t.join() or got.pop()"
    with pytest.raises(Mismatch, match="without computing it"):
        asked(dot(thread, "import threading\ngot = []\n"))
    signature = """
import inspect
got = []
class Telling(inspect.Signature):
    parameters = {}
    def bind(self, a, b):
        got.append(torch.dot(a, b))
"""
    early = f"{HEAD}{signature}\ndef dot_product(a, b):\n    return got.pop()\ndot_product.__signature__ = Telling()\n"
    with pytest.raises(Mismatch, match="ready-made dot"):
        asked(learner(early, dot_product=DOT))


def test_a_mode_below_the_watch_is_a_hit(fork_server):
    source = """
from torch.utils._python_dispatch import TorchDispatchMode
class Below(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        return function(*args, **(kwargs or {}))
mode = Below()
def enter():
    mode.__enter__()
"""
    file = Submission(f"{HEAD}{source}\ndef dot_product(a, b):\n    return (a * b).sum()\n", "submission.py")
    # Of our own code our own modes are kept away. A mode makes torch import torch._dynamo, a second of computing.
    remote = Remote(fork_server, file, "submission", Limits(call_s=60.0, call_cpu_s=None))
    subject = Learner(remote, seed=3)
    subject.watched = {"dot_product": DOT}
    subject.enter()
    with pytest.raises(Mismatch, match="ready-made torch_dispatch"):
        asked(subject)
    remote.close()


def test_a_name_that_says_it_equals_another_is_looked_up_anew():
    """What is known of a name serves all calls of a file, which may make a name with an equality of its own."""

    class Name(str):
        __slots__ = ()

        def __eq__(self, other):
            return True

        def __hash__(self):
            return hash("exp")

    rule = Rule(tuple(DOT.names), tuple(DOT.allowed))
    assert Rule.of(("dot",), ()) is Rule.of(("dot",), ())
    assert not rule.forbids("exp", "torch") and rule.forbids("dot", "torch")
    assert rule.forbids(Name("dot"), "torch")
    assert rule.known.keys() == {("exp", "torch"), ("dot", "torch")}


def test_the_groups_name_operations_of_torch():
    known = {plain(name.partition(".")[0]) for name in torch._C._dispatch_get_all_op_names()}
    unknown = {name for group in GROUPS.values() for name in group} - known
    assert unknown <= {"_assert_scalar", "nonzero_static", "_unsafe_index_put", "empty_permuted"}  # not in every torch
    for name in ("mm", "dot", "conv_tbc", "_softmax", "logsumexp", "_cdist_forward"):
        assert name not in set().union(*(GROUPS[group] for group in DOT.allowed))


@pytest.mark.parametrize(
    ("source", "reached"),
    [
        ("import torch\nt = torch\nu = t\nu._C.x", "torch._C"),
        ("import torch\ndef f(x, t=torch): return t._C", "torch._C"),
        ("import torch\ndef f(x, *, t=torch): return t._C", "torch._C"),
        ("import torch\nf = lambda x, t=torch.nn: t._C", "torch.nn._C"),
        ("import torch\nfor t in (torch,): t._C", "torch._C"),
        ("import torch\n[t._C for t in [torch]]", "torch._C"),
        ("import torch\n(t := torch)\nt._C", "torch._C"),
        ("import torch\na, t = 1, torch\nt._C", "torch._C"),
        ("import torch\ngetattr(torch, '_C')", "torch._C"),
        ("import torch\ng = getattr\ng(g(torch, 'nn'), '_C')", "torch.nn._C"),
        ("import typing\ntyping.sys.modules", "typing.sys.modules"),
        ("import collections\nm = collections._sys\nm.modules", "collections._sys.modules"),
        ("from collections import _sys as s\ns.modules", "collections._sys.modules"),
        ("from typing import sys\nsys._getframe()", "typing.sys._getframe"),
        ("def f(x): pass\nf.__signature__ = 1", "__signature__"),
        ("class A:\n    def __torch_function__(self): pass", "__torch_function__"),
        ("def f(t): return t._decomp", "_decomp"),
        ("import torch\nself = torch.nn.Linear(1, 1)\nself.weight", ""),
        ("class A:\n    def f(self):\n        kept = getattr(self, 'kept')\n        self.gc = kept\n", ""),
        ("import sys, os.path, typing\nsys.argv, os.path.sep, typing.Any", ""),
    ],
)
def test_the_machinery_is_followed_through_names(source, reached):
    assert reached in ({use.name for use in forbidden.reaches(source)} or {""})


OWN_COUNTS = (
    "class A:\n    def __init__(self):\n        self._refs = {}\n    def f(self):\n        self._refs[0] += 1\n"
)


@pytest.mark.parametrize(
    "addition, is_noted",
    [("", False), ("import torch\ntorch._refs.exp", True), ("        self._refs.f.__globals__", True)],
)
def test_an_attribute_of_the_learners_own_is_not_taken_for_the_machinery(addition, is_noted):
    assert bool(forbidden.notes(OWN_COUNTS + addition)) == is_noted


@pytest.mark.parametrize(
    "binding",
    [
        "for sm in [torch.softmax]: pass", "if (sm := torch.softmax): pass", "a, sm = 1, torch.softmax",
        "sm: object = torch.softmax", "t = torch\nfrom torch import softmax as sm", "sm = getattr(torch, 'softmax')",
        "g = getattr\nsm = g(torch, 'softmax')", "try:\n    sm = torch.softmax\nfinally:\n    pass",
    ],
)  # fmt: skip
def test_a_forbidden_name_is_followed_through_what_binds_it(binding):
    uses = forbidden_uses(f"import torch\n{binding}\ndef softmax_naive(x):\n    return sm(x, 0)\n", SOFTMAX)
    assert "softmax" in {use.name for use in uses}


SHARED = "import torch\nseen = []\n"


@pytest.mark.parametrize(
    "body",
    [
        "if x.is_meta: return x\n    return x.exp()",
        "try:\n        return x.exp() + torch.zeros(len(x))\n    except RuntimeError:\n        return x",
        "if type(x) is not torch.Tensor: return torch.zeros_like(x)\n    return x.exp()",
        "if x.device.type == 'meta': return torch.empty_like(x)\n    return x.exp()",
        "if x.is_meta: return x.exp().double()\n    return x.exp()",
        "if x.is_meta: return x.exp()[:1]\n    return x.exp()",
        "return x.exp().cpu()",
        "return x.exp() + torch.ones(len(x))",
    ],
)
def test_another_device_gives_the_same_result_there(body):
    with pytest.raises(Mismatch):
        keeps_device(learner(f"{SHARED}def f(x):\n    {body}\n").f, torch.rand(3) + 1)


def test_random_numbers_and_branches_are_the_same_on_another_device():
    source = "import torch\ndef f(x):\n    x = torch.nn.functional.dropout(x, 0.5)\n"
    keeps_device(
        learner(f"{source}    return x + torch.rand(3, device=x.device) if x.sum() > 0 else x\n").f, torch.ones(3)
    )


def test_sizes_are_right_on_another_device_after_a_change_in_place():
    source = "import torch\ndef f(x, w):\n    y, z = x @ w, torch.zeros_like(x).unsqueeze_(0)\n"
    keeps_device(
        learner(f"{source}    return y / len(y) + z.shape[1] + z.t_().shape[1]\n").f, torch.rand(3), torch.eye(3)
    )


def test_lists_are_indices_on_another_device():
    body = "y = x[:, [2, 0, 0]]\n    y[[1], :1] = x[range(1), 1]\n    return torch.cat([y, x[[True, False]]])"
    keeps_device(learner(f"{SHARED}def f(x):\n    {body}\n").f, torch.rand(2, 3))


def test_a_module_among_the_arguments_goes_to_the_other_device_too():
    mine = learner(f"{LAYER}\ndef f(layer, x):\n    with torch.inference_mode():\n        return layer(x)[:1] * 2\n")
    keeps_device(mine.f, mine.Layer(), torch.ones(3, 2))


def test_gradients_reach_a_module_among_the_arguments():
    mine = learner(f"{LAYER}\ndef f(layer, x):\n    return layer(x)\n")
    layer = mine.Layer()
    gradients = mine.f.gradients(layer, torch.ones(3, 2))
    assert gradients.keys() == {"argument 1", "argument 0.W", "argument 0.part.weight"}
    assert all(gradient.abs().sum() > 0 for gradient in gradients.values())


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return layer(x).argmax()", "with a graph"),
        ("with torch.no_grad(): layer(x)\n    return layer(x).argmax()", "with a graph"),
        ("torch.set_grad_enabled(False)\n    return layer(x).argmax()", "grad mode is off"),
        ("with torch.no_grad(): return layer(x).argmax()", ""),
        ("with torch.inference_mode(): return layer(x).argmax()", ""),
        ("return layer.requires_grad_(False)(x).argmax()", ""),
    ],
)
def test_whether_a_call_builds_a_graph_is_seen(body, said):
    mine = learner(f"{LAYER}\ndef f(layer, x):\n    {body}\n")
    layer = mine.Layer()
    if not said:
        expect(keeps_no_graph(mine.f, layer, torch.ones(3, 2)), mine.f(layer, torch.ones(3, 2)))
        return
    with pytest.raises(Mismatch, match=said):
        keeps_no_graph(mine.f, layer, torch.ones(3, 2))


LINE = """
import torch
from torch import nn

class Line(nn.Module):
    def __init__(self):
        super().__init__()
        self.w, self.unused = nn.Parameter(torch.tensor([2.0, -1.0])), nn.Parameter(torch.ones(3))
        self.kept = None

    def forward(self, x):
        return x @ self.w

    def keep(self):
        self.kept = self.w.exp() if self.kept is None else self.kept
        return self.kept

def loss(result, x):
    return (result - x.sum(dim=1)) ** 2
"""
AWAY = 2 * torch.tensor([[1.0, 0.0], [0.0, 2.0]])  # their losses are those of w_0 and, four times as large, of w_1


def test_gradient_descent_is_what_it_is_by_hand():
    line = learner(LINE).Line()
    losses = line.descend(AWAY, loss=line._learner.loss, steps=3, rate=0.1)
    w, expected = torch.tensor([2.0, -1.0]), []
    for _ in range(3):
        expected.append(((AWAY @ (w - 1)) ** 2).mean())
        w = w - 0.1 * 2 * AWAY.T @ (AWAY @ (w - 1)) / 2
    expect(losses, torch.stack(expected))
    expect(line.parameters(), {"w": w, "unused": torch.ones(3)})


@pytest.mark.parametrize(
    ("was", "now", "said"),
    [
        ("x @ self.w", "x @ self.w + 0.1", "before the first step"),
        ("x @ self.w", "x @ self.w.detach() + 0.0 * self.w.sum()", "does not fall at all"),
        ("x @ self.w", "x @ self.w * (0.5 if self.w[0] < 1.9 else 1)", "your loss is wrong after 1 step of"),
        (
            "x @ self.w",
            "x @ self.w * (0.5 if self.w[0] < 1.1 else 1)",
            "still right after 1 step .* wrong after 2 steps",
        ),
    ],
)
def test_a_loss_is_said_to_be_wrong_at_the_step_where_it_is(was, now, said):
    right, wrong = learner(LINE).Line(), learner(LINE.replace(was, now))
    expected = right.descend(AWAY, loss=right._learner.loss, steps=4, rate=0.2)
    with pytest.raises(Mismatch, match=said) as caught:
        learns_alike(wrong.Line(), expected, AWAY, loss=wrong.loss, rate=0.2)
    step = next(step for step in range(4) if abs(caught.value.got[step] - expected[step]) > 1e-3)
    assert f"got {caught.value.got[step]:.6g}, expected {expected[step]:.6g}" in caught.value.details


def test_what_learns_alike_passes():
    right, mine = learner(LINE).Line(), learner(LINE)
    expected = right.descend(AWAY, loss=right._learner.loss, steps=4, rate=0.2)
    learns_alike(mine.Line(), expected, AWAY, loss=mine.loss, rate=0.2)


@pytest.mark.parametrize(
    ("was", "now", "kind", "said"),
    [
        ("x @ self.w", "x @ self.w.detach()", "gradient", "grad_fn"),
        ("return (result", "return 2, (result", "gradient", "floating-point"),
        ("self.kept = None", "self.requires_grad_(False)", "gradient", "nothing among"),
        ("def loss", "def lost", "missing", "loss"),
        ("def loss(result, x)", "def loss(result)", "signature", "loss(result)"),
        ("x @ self.w", "x @ self.keep()", "exception", "backward through the graph a second time"),
    ],
)
def test_why_there_is_no_training_is_said(was, now, kind, said):
    mine = learner(LINE.replace(was, now))
    with pytest.raises(LearnerError) as caught:
        mine.Line().descend(AWAY, loss=mine.loss, steps=2, rate=0.1)
    assert caught.value.kind == kind and said in str(caught.value.facts)


FUNCTION = """
import torch

class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y, factor):
        ctx.factor = factor
        return x * factor + y

    @staticmethod
    def backward(ctx, grad):
        return tuple(grad * f if needed else None for f, needed in zip((ctx.factor, 1), ctx.needs_input_grad)) + (None,)

class Plain:
    @staticmethod
    def apply(x, y, factor):
        return x * factor + y
"""


def test_what_a_function_of_autograd_returns_is_asked():
    apply, grad = learner(FUNCTION).Scaled.static("apply"), torch.tensor([1.0, 2.0])
    given = torch.ones(2), torch.zeros(2), 3.0
    expect(apply(*given), torch.full((2,), 3.0))
    expect(tuple(apply.backward_entries(*given, wanted=(True, False), grad=grad)), (3 * grad, None, None))
    expect(tuple(apply.backward_entries(*given, wanted=(False, True), grad=grad)), (None, grad, None))
    assert apply.backward_entries(*given, wanted=(False, False), grad=grad) == []
    plain = learner(FUNCTION).Plain.static("apply")
    assert plain.backward_entries(*given, wanted=(True, True), grad=grad) == []


@pytest.mark.parametrize(("called", "missing"), [("Scaled", "Scaled.missing"), ("Nobody", "Nobody")])
def test_a_static_method_that_is_missing_is_named(called, missing):
    with pytest.raises(LearnerError) as caught:
        getattr(learner(FUNCTION), called).static("missing")(torch.ones(2))
    assert caught.value.facts["missing"] == missing


def test_an_exception_without_a_line_of_the_file_shows_no_text_of_its_own():
    assert not is_own_text("anything", {"frames": []}, Submission("x = 1\n", "submission.py"))


@pytest.mark.parametrize(
    ("body", "is_unchecked"),
    [
        ("return x + torch.ones(2)", True),
        ("return [1][len(x)]", True),
        ("raise TypeError('three numbers')", False),
        ("assert len(x) == 2", False),
    ],
)
def test_an_error_that_comes_by_itself_is_no_refusal(body, is_unchecked):
    with pytest.raises(Mismatch) as caught:
        refuses(ValueError, learner(f"import torch\ndef f(x):\n    {body}\n").f, torch.ones(3))
    assert "was raised; expected ValueError" in caught.value.summary
    assert ("by itself" in caught.value.cause) is is_unchecked


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("{'a': x.clone(), 'b': torch.frombuffer(bytearray(data[:4]), dtype=torch.uint8)}", ""),
        ("(x + 1, [torch.empty(0), torch.empty(0)])", ""),
        ("[x]", "with an argument"),
        ("{'a': torch.frombuffer(data, dtype=torch.uint8, offset=2)}", "with an argument"),
        ("(x + 1).split(1)", "two tensors of the result"),
        ("[(x + 1)[:1]]", "more memory alive"),
    ],
)
def test_whose_memory_a_result_lies_in_is_seen(body, said):
    mine = learner(f"import torch\ndef f(x, data):\n    return {body}\n")
    if not said:
        expect(has_own_memory(mine.f, torch.ones(3), data=b"12345"), mine.f(torch.ones(3), b"12345"))
        return
    with pytest.raises(Mismatch, match=said):
        has_own_memory(mine.f, torch.ones(3), data=b"12345")


@pytest.mark.parametrize(
    "when",
    ["torch.initial_seed() != 1", "seen.append(x.tolist()) or len(seen) == 1", "seen.append(1) or len(seen) > 1"],
)
def test_inputs_are_looked_at_after_every_call(when):
    source = f"{SHARED}def f(x):\n    y = x * 2\n    if {when}: x.zero_()\n    return y\n"
    with pytest.raises(Mismatch, match="argument 0 after the call"):
        keeps_inputs(learner(source).f, torch.ones(3))


def test_inputs_may_be_random_by_the_seed():
    keeps_inputs(learner("import torch\ndef f(x):\n    return x + torch.rand(3)\n").f, torch.ones(3))


DRAWS = {
    "one number for each": "torch.rand(len(x), generator=generator)",
    "one after the other": "torch.cat([torch.rand(1, generator=generator) for _ in x])",
    "too many": "torch.rand(len(x) + 1, generator=generator)[: len(x)]",
    "too few": "torch.rand(1, generator=generator).expand(len(x))",
    "none": "torch.zeros(len(x))",
    "as given": "torch.rand(len(x), generator=torch.Generator().set_state(generator.get_state()))",
}


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("named", [False, True])
def test_a_generator_among_the_arguments_is_looked_at_after_the_call(draw, named):
    mine, right = (
        learner(f"import torch\ndef f(x, generator):\n    return x + {DRAWS[way]}\n").f
        for way in (draw, "one number for each")
    )
    generator = torch.Generator().manual_seed(28)
    before = generator.get_state()
    args, kwargs = ((torch.ones(3),), {"generator": generator}) if named else ((torch.ones(3), generator), {})
    keeps_inputs(mine, *args, **kwargs)  # a generator is there to be used
    refused = pytest.raises(Mismatch, match="leaves the generator in another state")
    with contextlib.nullcontext() if draw.startswith("one") else refused:
        draws_as_often(mine, right, *args, **kwargs)
    assert torch.equal(generator.get_state(), before), "the call gets a copy"


def test_a_generator_comes_back_as_its_state_from_a_worker_of_its_own(fork_server):
    source = "import torch\ndef f(n, generator):\n    return torch.rand(n, generator=generator), generator\n"
    subject = Remote(fork_server, Submission(source, "submission.py"), "submission", Limits())
    generator = torch.Generator().manual_seed(28)
    with contextlib.closing(subject):
        (drawn, returned), (listed, _) = Learner(subject).f.with_inputs(3, generator)
    expect(drawn, torch.rand(3, generator=generator))
    assert kind(returned) == "an object", "only an argument's state is read"
    expect(listed[1], generator.get_state())


LAYER = """
import torch
from torch import nn
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.W = nn.Parameter(torch.rand(2, 2))
        self.part = nn.Linear(2, 2, bias=False)
        self.again = self.part
        self.register_buffer("b", torch.ones(2))
    def forward(self, x):
        return x @ self.part(self.W) + self.b
"""
LIES = {
    "own class": """
class Layer(Layer):
    def named_parameters(self, *a, **k): return iter(())
    parameters = named_parameters
""",
    "nn.Module": "nn.Module.named_parameters = nn.Module.named_modules = lambda self, *a, **k: iter(())",
    "getattribute": """
class Layer(Layer):
    def __init__(self):
        super().__init__()
        self.done = True
    def __getattribute__(self, name):
        done = "done" in object.__getattribute__(self, "__dict__")
        return {} if done and name in ("_modules", "_parameters") else super().__getattribute__(name)
""",
}


@pytest.mark.parametrize("lie", ["", *LIES.values()], ids=["honest", *LIES])
def test_parameters_are_read_by_torchs_own_functions(lie, monkeypatch):
    for name in ("named_parameters", "named_modules"):
        monkeypatch.setattr(torch.nn.Module, name, getattr(torch.nn.Module, name))  # put back afterwards
    layer = learner(LAYER + lie).Layer()
    has_parameters(layer, {"W": (2, 2), "part.weight": (2, 2)})
    assert layer.describe()["modules"] == {"": "Module", "part": "Linear"}
    assert layer.describe()["training"] is True
    layer.load({"W": torch.eye(2), "part.weight": torch.eye(2)})
    assert torch.equal(layer(torch.eye(2)), 1 + torch.eye(2))


def test_a_trainable_parameter_is_asked_past_its_class(monkeypatch):
    monkeypatch.setattr(torch.nn.Parameter, "requires_grad", property(lambda self: True), raising=False)
    source = "import torch\nclass Layer(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    layer = learner(f"{source}        self.W = torch.nn.Parameter(torch.rand(2), False)\n").Layer()
    with pytest.raises(Mismatch, match="not trainable"):
        has_parameters(layer, {"W": (2,)})


SOURCE = '''"""A text
over lines."""
import torch

class Wrong(Exception):
    pass

def outer(x):
    word = "secret1234567"
    def inner(y):
        return y.exp()

    raise inner(x)
'''


def test_of_what_a_worker_tells_the_sources_own_alone_is_repeated():
    words = SourceWords(SOURCE)
    assert [words.function_at(line) for line in (2, 5, 9, 11, 13, 99)] == ["", "", "outer", "inner", "outer", ""]
    assert [line for line in range(-1, 50) if words.computes(line)] == [9, 11, 13]
    assert [line for line in range(-1, 50) if words.runs(line)] == [3, 5, 6, 8, 9, 10, 11, 13]
    assert [line for line in range(-1, 50) if SourceWords("x = (\n)\nbad bad").runs(line)] == [1, 2, 3]
    assert (words.class_of("Wrong"), words.class_of("secret1234567"), words.class_of("outer")) == ("Wrong", "", "")
    assert words.class_of("JSONDecodeError", *remote.LIBRARIES) == "JSONDecodeError"  # as a known mistake raises it
    assert words.confirmed("word") == "word" and words.confirmed("word.secret") == ""


def test_a_forged_hit_tells_no_line_and_no_name_of_its_own():
    subject = learner(SOURCE)
    assert subject._confirmed_hit(["_softmax", 11], SOFTMAX) == ["_softmax", 11]
    assert subject._confirmed_hit(["1234567", 1], SOFTMAX) == ["", 0]
    assert subject._confirmed_hit(["softmax", 1_234_567], SOFTMAX) == ["softmax", 0]
