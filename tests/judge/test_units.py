"""Small modules, each tried alone: submission, stubs, syntax, structure, inert text, randomness."""

import json
import os

import pytest
import torch

from grader.catalog import stubs
from grader.catalog.errors import BadSubmission
from grader.judge import patterns
from grader.judge.compare import Mismatch
from grader.judge.inputs import Random
from grader.records import submission
from grader.records.forbidden import forbidden_uses
from grader.records.sanitize import inert

SOLUTION = '''"""Module."""

import torch


def given(x):  # given
    return x


def f(x: torch.Tensor) -> torch.Tensor:
    """Doc."""
    # Task 1: double it
    # how the teacher does it
    return x * 2


class Layer(torch.nn.Module):
    def __init__(self, d):
        super().__init__()
        self.d = d

    def forward(self, x):
        # Task 2
        return x
'''
STUB = '''"""Module."""

import torch


def given(x):  # given
    return x


def f(x: torch.Tensor) -> torch.Tensor:
    """Doc."""
    # Task 1: double it
    raise NotImplementedError


class Layer(torch.nn.Module):
    def __init__(self, d):
        super().__init__()
        raise NotImplementedError

    def forward(self, x):
        # Task 2
        raise NotImplementedError
'''


def test_a_stub_is_the_solution_without_bodies():
    assert stubs.make(SOLUTION) == STUB
    assert stubs.make(STUB) == STUB
    assert stubs.first_difference(STUB, SOLUTION) == (0, None)
    assert stubs.first_difference(STUB.replace("Doc.", "Dock."), SOLUTION)[0] == 11


def test_a_notebooks_code_cells_without_magics(tmp_path):
    cells = [
        {"cell_type": "code", "source": ["%load_ext x\n", "a = 1\n", "if a:\n", "    !ls\n"], "outputs": []},
        {"cell_type": "markdown", "source": "# text"},
        {"cell_type": "code", "source": "%%timeit\na = 2"},
        {"cell_type": "code", "source": "b = a"},
    ]
    path = tmp_path / "x.ipynb"
    path.write_text(json.dumps({"cells": cells}))
    found = submission.read(path)
    names = {}
    exec(found.source, names)
    assert (names["a"], names["b"]) == (1, 1)
    assert "3 magic or shell lines were left out" in found.notes[0]


def test_the_magics_of_a_courses_notebook_are_worth_no_note(tmp_path):
    cells = [
        {"cell_type": "code", "source": f"{line}\na = 1"} for line in ("%load_ext documented_checks", "%documented 2")
    ]
    path = tmp_path / "x.ipynb"
    path.write_text(json.dumps({"cells": cells}))
    found = submission.read(path)
    assert found.notes == () and found.source.count("pass  # left out: %") == 2


def test_special_files_are_refused(tmp_path):
    fifo = tmp_path / "x.py"
    os.mkfifo(fifo)
    with pytest.raises(BadSubmission, match="not a regular file"):
        submission.read(fifo)
    with pytest.raises(BadSubmission):
        submission.read(type(tmp_path)("/dev/zero"))


def test_a_hard_link_is_refused_of_strangers(tmp_path):
    one, other = tmp_path / "one.py", tmp_path / "other.py"
    one.write_text("x = 1\n")
    other.hardlink_to(one)
    assert submission.read(other).source == "x = 1\n"
    with pytest.raises(BadSubmission, match="hard link"):
        submission.read(other, is_own=False)


NAMES = ("softmax", "@", "numpy")


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import torch\ndef f(x):\n    return torch.softmax(x, 0)\n", ["softmax"]),
        ("from torch import softmax as s\ndef f(x):\n    return s(x, 0)\n", ["softmax"]),
        ("import torch.nn.functional as F\ndef f(x):\n    return F.softmax(x, 0)\n", ["softmax"]),
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
    assert [name for _, name in forbidden_uses(source, NAMES, "f")] == found


def saying(got, expected):
    return patterns.describe(Mismatch("", "", got, expected)) or ""


def test_structure_names_what_it_sees():
    expected = torch.softmax(torch.randn(4, 4), dim=-1)
    batch = torch.randn(3, 5, 2)
    heads = torch.randn(2, 3, 4, 2)
    assert "transposed" in saying(expected.T, expected)
    assert "transposed" in saying(batch[0].T, batch[0])
    assert "times √2." in saying(batch * 2**0.5, batch)
    assert "times 1/√7" in saying(batch / 7**0.5, batch)
    assert "times 2." in saying(batch * 4**0.5, batch)
    assert "is half of the right one." in saying(batch / 4**0.5, batch)
    assert "divided by 3." in saying(batch / 9**0.5, batch)
    assert "plus 0.5000" in saying(batch + 0.5, batch)
    assert "opposite order" in saying(batch[0].flip(0), batch[0])
    assert "in another order" in saying(batch[0][[1, 0, 2, 4, 3]], batch[0])
    assert saying(batch[0, 0], batch[:1, 0]) == saying(batch[None], batch) == patterns.SHAPE  # one cause, one sentence
    assert "heads are right" in saying(heads[:, [1, 2, 0]], heads)
    assert saying(torch.randn(4, 4), torch.randn(4, 4)) == ""
    assert patterns.describe(AssertionError("x")) is None


def test_a_pattern_looks_at_values_without_their_gradients(recwarn):
    """torch warns of a tensor with a gradient that becomes a number: the learner would read it."""
    expected = torch.arange(6.0).reshape(3, 2).requires_grad_()
    for answer in (expected + 1, expected * 2, expected.flip(0)):
        assert saying(answer, expected)
    assert not recwarn.list


def test_text_is_made_inert():
    assert inert("a\tb\nc") == "a\tb\nc"
    assert inert("\x1b[31m\r\x00\u202e\ud800\u2028") == "\\x1b[31m\\r\\x00\\u202e\\ud800\\u2028"
    assert inert("naïve ✔ 注意") == "naïve ✔ 注意"


def test_random_inputs_depend_on_seed_and_check_alone():
    one, two, other = Random(1, "a"), Random(1, "a"), Random(1, "b")
    assert torch.equal(one.randn(3), two.randn(3))
    assert not torch.equal(one.randn(3), other.randn(3))
    assert not one.strided(3, 4).is_contiguous()
    assert one.integers(2, 5, 100).min() >= 2
