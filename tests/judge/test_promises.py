"""What special cases must not pass: the fake device, inputs, parameters, words.

Each source runs in the executor of a worker, in this process.
"""

import contextlib
import re
from dataclasses import replace

import pytest
import torch
from raised import raised

from grader import catalog
from grader.judge.compare import Mismatch, expect
from grader.judge.messages import is_own_text
from grader.judge.promises import (
    agrees,
    computes_itself,
    draws_as_often,
    expect_drawn,
    has_own_memory,
    has_parameters,
    keeps_device,
    keeps_inputs,
    keeps_no_graph,
    keeps_parameters,
    learns_alike,
    refuses,
    same_gradients,
)
from grader.judge.proxy import Learner
from grader.judge.words import kind
from grader.records.source import SourceWords
from grader.records.submission import Submission
from grader.sandbox.call_results import LearnerError
from grader.sandbox.local import Local
from grader.sandbox.remote import LIBRARIES
from grader.worker.operations import GROUPS, plain

DOT = catalog.find("01").forbidden[0]


def learner(source: str) -> Learner:
    return Learner(Local(source, "submission.py", "submission"), seed=3)


def function_of(body: str, names: str = "x"):
    return learner(f"import torch\nseen = []\ndef f({names}):\n    {body}\n").f


def test_the_groups_name_operations_of_torch():
    known = {plain(name.partition(".")[0]) for name in torch._C._dispatch_get_all_op_names()}
    unknown = {name for group in GROUPS.values() for name in group} - known
    assert unknown <= {"_assert_scalar", "nonzero_static", "_unsafe_index_put", "empty_permuted"}  # not in every torch
    for name in ("mm", "dot", "conv_tbc", "_softmax", "logsumexp", "_cdist_forward"):
        assert name not in set().union(*(GROUPS[group] for group in DOT.allowed))


ELSEWHERE = (  # what gives something else on another device
    "if x.is_meta: return x\n    return x.exp()",
    "try:\n        return x.exp() + torch.zeros(len(x))\n    except RuntimeError:\n        return x",
    "if type(x) is not torch.Tensor: return torch.zeros_like(x)\n    return x.exp()",
    "if x.device.type == 'meta': return torch.empty_like(x)\n    return x.exp()",
    "if x.is_meta: return x.exp().double()\n    return x.exp()",
    "if x.is_meta: return x.exp()[:1]\n    return x.exp()",
    "return x.exp().cpu()",
    "return x.exp() + torch.ones(len(x))",
)
ALIKE = (  # what gives the same: random numbers and branches, sizes after a change in place, lists as indices
    "x = torch.nn.functional.dropout(x, 0.5)\n    return x + torch.rand(3, device=x.device) if x.sum() > 0 else x",
    "y, z = x @ x.mT, torch.zeros_like(x[0]).unsqueeze_(0)\n    return y / len(y) + z.shape[1] + z.t_().shape[1]",
    "y = x[:, [2, 0, 0]]\n    y[[1], :1] = x[range(1), 1]\n    return torch.cat([y, x[[True, False]]])",
)


def test_another_device_gives_the_same_result_there():
    for body in ELSEWHERE:
        raised(Mismatch, keeps_device, function_of(body), torch.rand(3) + 1)
    for body in ALIKE:
        keeps_device(function_of(body), torch.rand(2, 3))
    mine = learner(f"{LAYER}\ndef f(layer, x):\n    with torch.inference_mode():\n        return layer(x)[:1] * 2\n")
    keeps_device(mine.f, mine.Layer(), torch.ones(3, 2))  # a module among the arguments goes there too


def test_gradients_reach_a_module_among_the_arguments():
    mine = learner(f"{LAYER}\ndef f(layer, x):\n    return layer(x)\n")
    layer = mine.Layer()
    gradients = mine.f.gradients(layer, torch.ones(3, 2))
    assert gradients.keys() == {"argument 1", "argument 0.W", "argument 0.part.weight"}
    assert all(gradient.abs().sum() > 0 for gradient in gradients.values())


GRAPHS = {  # what f does, and what is said of it
    "return layer(x).argmax()": "with a graph",
    "with torch.no_grad(): layer(x)\n    return layer(x).argmax()": "with a graph",
    "torch.set_grad_enabled(False)\n    return layer(x).argmax()": "grad mode is off",
    "torch.set_grad_enabled(False)\n    layer(x)\n    torch.set_grad_enabled(True)": "turns grad mode on",
    "with torch.no_grad(): return layer(x).argmax()": "",
    "with torch.inference_mode(): return layer(x).argmax()": "",
    "return layer.requires_grad_(False)(x).argmax()": "",
}


def test_whether_a_call_builds_a_graph_is_seen():
    for body, said in GRAPHS.items():
        mine = learner(f"{LAYER}\ndef f(layer, x):\n    {body}\n")
        given = mine.Layer(), torch.ones(3, 2)
        if said:
            assert re.search(said, str(raised(Mismatch, keeps_no_graph, mine.f, *given)))
        else:
            expect(keeps_no_graph(mine.f, *given), mine.f(*given))


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

    def renew(self):
        self.w = nn.Parameter(self.w.detach() + 1)

    def keep(self):
        self.kept = self.w.exp() if self.kept is None else self.kept
        return self.kept

def loss(result, x):
    return (result - x.sum(dim=1)) ** 2
"""
AWAY = 2 * torch.tensor([[1.0, 0.0], [0.0, 2.0]])  # their losses are those of w_0 and, four times as large, of w_1


def test_gradient_descent_is_what_it_is_by_hand():
    mine = learner(LINE)
    line = mine.Line()
    losses = line.descend(AWAY, loss=mine.loss, steps=3, rate=0.1)
    w, expected = torch.tensor([2.0, -1.0]), []
    for _ in range(3):
        expected.append(((AWAY @ (w - 1)) ** 2).mean())
        w = w - 0.1 * 2 * AWAY.T @ (AWAY @ (w - 1)) / 2
    expect(losses, torch.stack(expected))
    expect(line.parameters(), {"w": w, "unused": torch.ones(3)})


ROOM = {torch.float64: 1e-6, torch.float32: 2e-5}  # of a gradient, as docs/promises.md has it


@pytest.mark.parametrize("dtype", ROOM)
@pytest.mark.parametrize("slope", [0.25, 1000.0])
def test_a_gradient_has_the_room_of_its_dtype_and_size(dtype, slope):
    given = torch.ones(3, dtype=dtype)
    top = float(function_of(f"return {slope} * x").gradients(given)["argument 0"].abs().max())
    room = ROOM[dtype] * max(1.0, top) / top  # of a slope, as a share of it
    for error, refused in ((0.6 * room * slope, False), (1.6 * room * slope, True)):
        mine = function_of(f"return {slope} * x + {error!r} * (x - x.detach())")
        if refused:
            raised(Mismatch, same_gradients, mine, lambda x: slope * x, given)
        else:
            same_gradients(mine, lambda x: slope * x, given)


def test_a_parameter_that_became_another_object_is_named():
    line = learner(LINE).Line()
    keeps_parameters(line, lambda: None, "nothing")
    told = raised(Mismatch, keeps_parameters, line, line.renew, "renew")
    assert told.summary.startswith("w is another object after renew")


@pytest.mark.parametrize(
    ("now", "said"),
    [
        ("x @ self.w + 0.1", "before the first step"),
        ("x @ self.w.detach() + 0.0 * self.w.sum()", "does not fall at all"),
        ("x @ self.w * (0.5 if self.w[0] < 1.9 else 1)", "your loss is wrong after 1 step of"),
        ("x @ self.w * (0.5 if self.w[0] < 1.1 else 1)", "still right after 1 step .* wrong after 2 steps"),
    ],
)
def test_a_loss_is_said_to_be_wrong_at_the_step_where_it_is(now, said):
    right, wrong = learner(LINE), learner(LINE.replace("x @ self.w", now))
    expected = right.Line().descend(AWAY, loss=right.loss, steps=4, rate=0.2)
    learns_alike(right.Line(), expected, AWAY, loss=right.loss, rate=0.2)
    with pytest.raises(Mismatch, match=said) as caught:
        learns_alike(wrong.Line(), expected, AWAY, loss=wrong.loss, rate=0.2)
    step = next(step for step in range(4) if abs(caught.value.got[step] - expected[step]) > 1e-3)
    assert f"got {caught.value.got[step]:.6g}, expected {expected[step]:.6g}" in caught.value.details


WITHOUT_TRAINING = [
    ("x @ self.w", "x @ self.w.detach()", "gradient", "grad_fn"),
    ("return (result", "return 2, (result", "gradient", "floating-point"),
    ("self.kept = None", "self.requires_grad_(False)", "gradient", "nothing among"),
    ("def loss", "def lost", "missing", "loss"),
    ("def loss(result, x)", "def loss(result)", "signature", "loss(result)"),
    ("x @ self.w", "x @ self.keep()", "exception", "backward through the graph a second time"),
]


def test_why_there_is_no_training_is_said():
    for was, now, way, said in WITHOUT_TRAINING:
        mine = learner(LINE.replace(was, now))
        caught = raised(LearnerError, mine.Line().descend, AWAY, loss=mine.loss, steps=2, rate=0.1)
        assert caught.kind == way and said in str(caught.facts), now


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
    mine, grad, given = learner(FUNCTION), torch.tensor([1.0, 2.0]), (torch.ones(2), torch.zeros(2), 3.0)
    apply = mine.Scaled.static("apply")
    expect(apply(*given), torch.full((2,), 3.0))
    expect(tuple(apply.backward_entries(*given, wanted=(True, False), grad=grad)), (3 * grad, None, None))
    expect(tuple(apply.backward_entries(*given, wanted=(False, True), grad=grad)), (None, grad, None))
    assert apply.backward_entries(*given, wanted=(False, False), grad=grad) == []
    assert mine.Plain.static("apply").backward_entries(*given, wanted=(True, True), grad=grad) == []
    for called, missing in ((mine.Scaled, "Scaled.missing"), (mine.Nobody, "Nobody")):
        caught = raised(LearnerError, called.static("missing"), torch.ones(2))
        assert caught.facts["missing"] == missing


def test_an_exception_without_a_line_of_the_file_shows_no_text_of_its_own():
    assert not is_own_text("anything", {"frames": []}, Submission("x = 1\n", "submission.py"))


REFUSING = {  # and whether the error comes by itself
    "return x + torch.ones(2)": True,
    "return [1][len(x)]": True,
    "raise TypeError('three numbers')": False,
    "assert len(x) == 2": False,
}


def test_an_error_that_comes_by_itself_is_no_refusal():
    for body, is_unchecked in REFUSING.items():
        caught = raised(Mismatch, refuses, ValueError, function_of(body), torch.ones(3))
        assert "was raised; expected ValueError" in caught.summary
        assert ("by itself" in caught.cause) is is_unchecked, body
    assert refuses(ValueError, function_of("raise ValueError('three')"), torch.ones(3)) == "three"
    for mine in (function_of("return x + 1"), None):
        raised(Mismatch, agrees, mine, function_of("return x"), torch.ones(3))


MEMORY = {  # a result, and whose memory it is said to lie in
    "{'a': x.clone(), 'b': torch.frombuffer(bytearray(data[:4]), dtype=torch.uint8)}": "",
    "(x + 1, [torch.empty(0), torch.empty(0)])": "",
    "[x]": "with an argument",
    "{'a': torch.frombuffer(data, dtype=torch.uint8, offset=2)}": "with an argument",
    "(x + 1).split(1)": "two tensors of the result",
    "[(x + 1)[:1]]": "more memory alive",
}


def test_whose_memory_a_result_lies_in_is_seen():
    for result, said in MEMORY.items():
        f, x, data = function_of(f"return {result}", "x, data"), torch.ones(3), b"12345"
        if said:
            assert re.search(said, str(raised(Mismatch, has_own_memory, f, x, data=data)))
        else:
            expect(has_own_memory(f, x, data=data), f(x, data))


def test_inputs_are_looked_at_after_every_call():
    for when in (
        "torch.initial_seed() != 1",
        "seen.append(x.tolist()) or len(seen) == 1",
        "seen.append(1) or len(seen) > 1",
    ):
        with pytest.raises(Mismatch, match="argument 0 after the call"):
            keeps_inputs(function_of(f"y = x * 2\n    if {when}: x.zero_()\n    return y"), torch.ones(3))
            pytest.fail(when)
    keeps_inputs(function_of("return x + torch.rand(3)"), torch.ones(3))  # random by the seed


DRAWS = {
    "one number for each": "torch.rand(len(x), generator=generator)",
    "one after the other": "torch.cat([torch.rand(1, generator=generator) for _ in x])",
    "too many": "torch.rand(len(x) + 1, generator=generator)[: len(x)]",
    "too few": "torch.rand(1, generator=generator).expand(len(x))",
    "none": "torch.zeros(len(x))",
    "as given": "torch.rand(len(x), generator=torch.Generator().set_state(generator.get_state()))",
}


@pytest.mark.parametrize("named", [False, True])
def test_a_generator_among_the_arguments_is_looked_at_after_the_call(named):
    fs = {way: function_of(f"return x + {draw}", "x, generator") for way, draw in DRAWS.items()}
    generator = torch.Generator().manual_seed(28)
    before = generator.get_state()
    args, kwargs = ((torch.ones(3),), {"generator": generator}) if named else ((torch.ones(3), generator), {})
    for way, mine in fs.items():
        keeps_inputs(mine, *args, **kwargs)  # a generator is there to be used
        refused = pytest.raises(Mismatch, match="leaves the generator in another state")
        with contextlib.nullcontext() if way.startswith("one") else refused:
            draws_as_often(mine, fs["one number for each"], *args, **kwargs)
        assert torch.equal(generator.get_state(), before), "the call gets a copy"


def test_a_generator_comes_back_as_its_state_from_a_worker_of_its_own(remote):
    source = "import torch\ndef f(n, generator):\n    return torch.rand(n, generator=generator), generator\n"
    generator = torch.Generator().manual_seed(28)
    (drawn, returned), (listed, _) = remote(source).f.with_inputs(3, generator)
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


def test_which_parameter_holds_other_numbers_than_the_seed_gives_is_said():
    equal = LAYER.replace("self.again = self.part\n", "self.part.weight.data = self.W.data.clone()\n")
    layer, alike = (learner(source).Layer() for source in (LAYER, equal))
    W, weight = layer.parameters().values()
    expect_drawn(layer, {"W": W, "part.weight": weight})
    for mine, expected, said in (
        (layer, {"W": weight, "part.weight": W}, "W holds the numbers that the seed gives to part.weight: the"),
        (layer, {"W": W, "part.weight": W}, "the parameter part.weight, right after the seed, is wrong: 4 of 4"),
        (layer, {"W": W, "other": W}, "Layer has no parameter called other"),
        (alike, {"W": W, "part.weight": weight}, "W and part.weight hold the same numbers"),
    ):
        assert said in str(raised(Mismatch, expect_drawn, mine, expected))
    told = raised(Mismatch, layer.load, {"W": torch.ones(3, 2), "part.weight": weight})
    assert "the parameter W" in told.summary and "shape" in told.summary
    told = raised(Mismatch, has_parameters, layer, {"W": (2, 2)})
    assert (told.summary[-10:], told.details) == ("1 too many", "too many: part.weight")


def test_a_ready_made_function_is_named_with_its_line(either):
    mine = either("import torch\ndef f(x):\n    y = torch.softmax(x, 0)\n    return torch.softmax(x, 0)\n")
    own = either("def f(x):\n    return x.exp() / x.exp().sum(0)\n")
    rule = replace(catalog.find("02").forbidden[0], functions=("f",))
    computes_itself(own.f, own, rule, torch.ones(3))
    said = str(raised(Mismatch, computes_itself, mine.f, own, rule, torch.ones(3)))
    assert said.startswith("line 3 uses softmax: ")


@pytest.mark.parametrize("lie", ["", *LIES.values()], ids=["honest", *LIES])
def test_parameters_are_read_by_torchs_own_functions(lie, remote):
    layer = remote(LAYER + lie).Layer()
    has_parameters(layer, {"W": (2, 2), "part.weight": (2, 2)})
    assert layer.describe()["modules"] == {"": "Module", "part": "Linear"}
    assert layer.describe()["training"] is True
    layer.load({"W": torch.eye(2), "part.weight": torch.eye(2)})
    assert torch.equal(layer(torch.eye(2)), 1 + torch.eye(2))


def test_a_trainable_parameter_is_asked_past_its_class(remote):
    source = "import torch\ntorch.nn.Parameter.requires_grad = property(lambda self: True)\n"
    source += "class Layer(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    layer = remote(f"{source}        self.W = torch.nn.Parameter(torch.rand(2), False)\n").Layer()
    assert "not trainable" in str(raised(Mismatch, has_parameters, layer, {"W": (2,)}))


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
    assert [words.function_at(line)[2] for line in (2, 5, 9, 11, 13, 99)] == ["", "", "outer", "inner", "outer", ""]
    assert (words.class_of("Wrong"), words.class_of("secret1234567"), words.class_of("outer")) == ("Wrong", "", "")
    assert words.class_of("JSONDecodeError", *LIBRARIES) == "JSONDecodeError"  # as a known mistake raises it
    assert words.confirmed("word") == "word" and words.confirmed("word.secret") == ""
