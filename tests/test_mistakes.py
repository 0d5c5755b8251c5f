"""A mistake holds only what differs: over the solution it is a whole file, and what does not fit is refused."""

import ast
import json

import pytest
from thorough import sample

from grader import catalog
from grader.catalog import mistakes, overlay, overlay_slips, paths

SOLUTION = '''"""The solution."""

import torch
from torch import nn

SIZE = 3  # stays


def scores(x: torch.Tensor) -> torch.Tensor:
    """The scores.

    Returns: shape (T, T).
    """
    # Task 1: multiply
    return x @ x.T  # (T, T)


class Layer(nn.Module):
    """A layer."""

    def __init__(self):
        super().__init__()
        self.size = SIZE

    @torch.no_grad()
    def forward(self, x):
        """What comes out."""
        # Task 2: scale
        return scores(x) / self.size
'''
OVERLAY = '''"""The scores are halved: leave them as they are.

More for teachers.
"""

import copy
from math import (
    sqrt,
)


# not a part of the function
def scores(x: torch.Tensor) -> torch.Tensor:
    return x @ x.T / 2  # (T, T)


class Layer:
    def forward(self, x):
        note = """
at the margin
"""
        return copy.copy(scores(x)) / sqrt(self.size)
'''
COMPOSED = '''"""The scores are halved: leave them as they are.

More for teachers.
"""

import torch
from torch import nn
import copy
from math import (
    sqrt,
)

SIZE = 3  # stays


def scores(x: torch.Tensor) -> torch.Tensor:
    return x @ x.T / 2  # (T, T)


class Layer(nn.Module):
    """A layer."""

    def __init__(self):
        super().__init__()
        self.size = SIZE

    def forward(self, x):
        note = """
at the margin
"""
        return copy.copy(scores(x)) / sqrt(self.size)
'''
LONG = '"""Long."""\n\n\ndef scores(x):\n' + "".join(f"    x = x + {i}\n" for i in range(12)) + "    return x\n"


def test_an_overlay_is_laid_over_the_solution_by_name():
    assert overlay.compose(SOLUTION, OVERLAY) == COMPOSED
    assert overlay.sentence(OVERLAY) == "The scores are halved: leave them as they are."
    assert overlay.refusals(SOLUTION, OVERLAY) == []


def test_a_solution_without_docstring_and_imports():
    made = overlay.compose("def f(x):\n    return x", '"""Twice."""\n\nimport math\n\n\ndef f(x):\n    return 2 * x\n')
    assert made == '"""Twice."""\nimport math\ndef f(x):\n    return 2 * x'


def test_a_change_is_shown_without_docstrings_and_task_comments():
    assert overlay.difference(SOLUTION, OVERLAY)[:9] == [
        "+import copy",
        "+from math import (",
        "+    sqrt,",
        "+)",
        "@@ scores @@",
        " def scores(x: torch.Tensor) -> torch.Tensor:",
        "-    return x @ x.T  # (T, T)",
        "+    return x @ x.T / 2  # (T, T)",
        "@@ Layer.forward @@",
    ]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("def f(:", 1, "it cannot be read"),
        ('"""A."""\ndef helper(x): return x', 2, "the solution has no function helper"),
        ("class Other:\n    def f(self): return 1", 1, "the solution has no class Other"),
        ("class Layer:\n    def other(self): return 1", 2, "the solution has no method Layer.other"),
        ("class Layer(nn.Module):\n    def forward(self, x): return x", 1, "write a bare `class Layer:`"),
        ("class Layer:\n    size = 2", 2, "Layer may hold methods alone"),
        ("class Layer:\n    '''A layer.'''\n    def forward(self, x): return x", 2, "Layer may hold methods alone"),
        ("class Layer:\n  def forward(self, x): return x", 2, "is indented by 2, not by 4"),
        ("SIZE = 2", 1, "a docstring, imports, functions and classes alone"),
        ("def scores(x): return 1\ndef scores(x): return x", 2, "scores is defined twice"),
        ("import torch\ndef scores(x): return x", 1, "the solution has this already: import torch"),
        ('def scores(x):\n    """The scores."""\n    return x', 1, "scores has a docstring"),
        ("def scores(x: torch.Tensor) -> torch.Tensor:\n    return (x @ x.T)", 1, "scores is equal to the solution's"),
        (LONG, 1, "14 lines differ from the solution, and 12 are the most"),
        ('"""Nothing."""', 1, "it changes no function and no method"),
    ],
)
def test_what_is_no_mistake_is_refused_by_name(text, line, words):
    (refusal,) = overlay.refusals(SOLUTION, text)
    assert refusal.line == line and words in refusal.reason


SLIPS = {  # an overlay that fits the solution, and why it is no mistake of a learner's all the same
    "a name": ("def scores(x):\n    return F.normalize(x)", 2, "F is not defined there"),
    "a name in a method": (
        "class Layer:\n    def forward(self, x):\n        return score(x)",
        3,
        "score is not defined",
    ),
    "an import": ("import absent\n\ndef scores(x):\n    return absent.f(x)", 1, "ModuleNotFoundError"),
    "a local import": ("def scores(x):\n    from torch import absent\n    return x", 2, "ImportError"),
    "code": ('"""torch.mm(x, x)."""\ndef scores(x):\n    return x', 1, "the sentence is code"),
    "the solution": ('"""Write return x @ x.T * 1."""\ndef scores(x):\n    return 1', 1, "return x @ x"),
}


@pytest.mark.parametrize(("text", "line", "words"), SLIPS.values(), ids=SLIPS)
def test_a_mistake_that_cannot_run_or_tells_the_solution_is_refused(text, line, words):
    (refusal,) = overlay_slips.slips(SOLUTION.replace("x @ x.T ", "x @ x.T * 1"), text)
    assert refusal.line == line and words in refusal.reason


FINE = {
    "comprehension, global and builtin": "def scores(x):\n    return max([SIZE * y for y in x], key=lambda y: len(y))",
    "an import that works": "from torch.nn import functional as F\n\ndef scores(x):\n    return F.normalize(x)",
    "a sentence that names a call": '"""`x.T` is missing in scores: it needs it."""\ndef scores(x):\n    return x',
    "a sentence of one word": '"""Transposed."""\ndef scores(x):\n    return x',
}


@pytest.mark.parametrize("text", FINE.values(), ids=FINE)
def test_a_mistake_that_runs_and_tells_the_fault_alone_is_taken(text):
    assert not list(overlay_slips.slips(SOLUTION, text))


def test_what_does_not_fit_is_not_composed(tmp_path):
    path = tmp_path / "helper.py"
    path.write_text('"""A."""\n\n\ndef helper(x):\n    return x\n')
    with pytest.raises(mistakes.BadMistake, match=r"helper\.py:4: the solution has no function helper"):
        mistakes.read(path, SOLUTION)


@pytest.mark.parametrize("exercise", catalog.exercises(), ids=lambda exercise: exercise.folder)
def test_every_mistake_is_a_whole_file_with_the_solutions_names(exercise):
    known = mistakes.mistakes(exercise.folder)
    solution = paths.solution(exercise.folder).read_text("utf-8")
    names = list(overlay.definitions(solution))
    assert known and names
    for mistake in sample(known, 12):
        assert ast.get_docstring(ast.parse(mistake.source)) == ast.get_docstring(ast.parse(mistake.overlay))
        assert list(overlay.definitions(mistake.source)) == names, mistake.name


def test_the_mistakes_are_shown(said):
    folder = catalog.find("06").folder
    one = mistakes.find(folder, "scaling_left_out")
    for shape in ("text", "md"):
        shown = said("mistakes", "06", one.name, "--format", shape).stdout
        assert one.sentence in shown and "@@" in shown and "documented" in shown and "\x1b" not in shown
    listed = json.loads(said("mistakes", "06", "--format", "json").stdout)
    assert all(row["misconception"]["title"] for row in listed["mistakes"])
    assert [row["name"] for row in listed["mistakes"]] == [path.stem for path in paths.mistakes(folder)]
    assert all(row["changes"] and row["failed_checks"] for row in listed["mistakes"])
    refused = said("mistakes", "06", "nothing_like_it")
    assert refused.returncode == 2 and "make mistakes EX=06" in refused.stderr


@pytest.mark.parametrize(
    ("folder", "mistake", "identity"),
    [
        ("16_rotary_embedding", "scaled_twice", "lengths_kept"),
        ("16_rotary_embedding", "frequency_per_number", "distance_alone"),
        ("16_rotary_embedding", "minus_missing", "fresh_offset"),
        ("18_grouped_query_attention", "unscaled", "same_as_expanded"),
        ("20_online_softmax", "output_not_divided", "any_order"),
        ("22_attention_only_transformer", "embeddings_scaled", "removed_layer"),
        ("23_induction_heads", "mean_instead_of_zero", "removals_add_up"),
    ],
)
def test_a_wrong_value_fails_no_check_of_an_identity(folder, mistake, identity):
    """Its title would accuse of something else: the plain values are what is wrong."""
    assert identity not in mistakes.failed_checks(folder)[mistake].failed
