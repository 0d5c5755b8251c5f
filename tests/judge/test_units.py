"""Small modules, each tried alone: syntax, structure, inert text."""

import pytest
import torch

from grader.judge import patterns
from grader.judge.compare import Mismatch
from grader.records.forbidden import forbidden_uses
from grader.records.sanitize import inert
from grader.records.source import SourceWords

NAMES = ("softmax", "@", "numpy")


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import torch\ndef f(x):\n    return torch.softmax(x, 0)\n", ["softmax"]),
        ("from torch import softmax as s\ndef f(x):\n    return s(x, 0)\n", ["softmax"]),
        ("def f(x):\n    return x.softmax(0)\n", ["softmax"]),
        ("def f(x):\n    return help(x)\ndef help(x):\n    return x.softmax(0)\n", ["softmax"]),
        ("def f(x):\n    x @= x\n    return x @ x\n", ["@", "@"]),
        ("import numpy as np\ndef f(x):\n    return np.exp(x)\n", ["numpy"]),
        ("def g(x):\n    return x.softmax(0)\ndef f(x):\n    return x\n", []),
        ("def f(x):\n    softmax = x.exp()\n    return softmax / softmax.sum()\n", []),
        ("def softmax(x):\n    return x.exp()\ndef f(x):\n    return softmax(x)\n", []),
        ("def f(x):\n    'softmax of torch.softmax @'\n    return x\n", []),
        ("import torch\nw = torch.softmax(torch.ones(2), 0)\ndef f(x):\n    w = x.exp()\n    return w\n", []),
        ("def f(x:\n", []),
    ],
)
def test_forbidden_names(source, found):
    assert [name for _, name in forbidden_uses(source, NAMES, [*SourceWords(source).uses("f")])] == found


def saying(got, expected):
    return patterns.describe(Mismatch("", "", got, expected)) or ""


def test_structure_names_what_it_sees():
    batch, heads = torch.randn(3, 5, 2), torch.randn(2, 3, 4, 2)
    tokens = batch[0]
    for got, right, words in (
        (tokens.T, tokens, "transposed"),
        (batch * 2, batch, "times 2."),
        (batch / 8**0.5, batch, "times 0.3536."),
        (batch + 0.5, batch, "plus 0.5000"),
        (tokens.flip(0), tokens, "opposite order"),
        (tokens[[1, 0, 2, 4, 3]], tokens, "in another order"),
        (batch[0, 0], batch[:1, 0], patterns.SHAPE),
        (batch[None], batch, patterns.SHAPE),
        (heads[:, [1, 2, 0]], heads, "heads are right"),
    ):
        assert words in saying(got, right), words
    assert saying(torch.randn(4, 4), torch.randn(4, 4)) == ""
    assert patterns.describe(AssertionError("x")) is None


def test_a_pattern_looks_at_values_without_their_gradients(recwarn):
    """torch warns of a tensor with a gradient that becomes a number: the learner would read it."""
    expected = torch.arange(6.0).reshape(3, 2).requires_grad_()
    assert all(saying(answer, expected) for answer in (expected + 1, expected * 2, expected.flip(0)))
    assert not recwarn.list


def test_text_is_made_inert():
    assert inert("a\tb\nc") == "a\tb\nc"
    assert inert("\x1b[31m\r\x00\u202e\ud800\u2028") == "\\x1b[31m\\r\\x00\\u202e\\ud800\\u2028"
    assert inert("naïve ✔ 注意") == "naïve ✔ 注意"
