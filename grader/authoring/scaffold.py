"""The files of a new exercise, with TODOs that say what to write. `make verify` refuses each TODO that is left."""

from pathlib import Path

from grader.authoring import experiment_parts, figure_scaffold, lesson_parts, mistake_parts, parts
from grader.catalog import paths, stubs


def files(folder: str, track: str) -> dict[Path, str]:
    """Path → content of every file of a new exercise, in the order in which an author fills them."""
    slug = paths.slug(folder)
    facts = {"slug": slug, "number": folder[:2], "title": slug.replace("_", " ").capitalize(), "track": track}
    solution = SOLUTION.format(**facts)
    contents = {
        paths.solution(folder): solution,
        paths.stub(folder): stubs.make(solution),
        paths.exercise_toml(folder): TOML.format(**facts) + NUMBERS.format(**facts),
        paths.documented_checks(folder): DOCUMENTED.format(**facts),
        paths.hidden_checks(folder): CHECKS.format(**facts),
        paths.pictures(folder): PICTURES.format(**facts),
        paths.notice(folder): NOTICE,
    }
    numbers = range(1, mistake_parts.MIN_MISTAKES + 1)
    contents[paths.mistakes(folder)] = MISTAKES + "".join(MISTAKE.format(n=number, **facts) for number in numbers)
    styles = range(1, parts.MIN_STYLES + 1)
    contents |= {paths.styles_folder(folder) / f"style_{number}.py": STYLE.format(**facts) for number in styles}
    contents |= figure_scaffold.files(folder)
    contents[paths.experiment(folder)] = experiment_parts.SCRIPT.format(**facts)
    return contents | {
        paths.lesson(folder): lesson_parts.LESSON.format(**facts),
        paths.hints(folder): HINTS.format(**facts),
    }


SOLUTION = '''"""Exercise {number}: {title}. TODO: one sentence."""

import torch


def {slug}(x: torch.Tensor) -> torch.Tensor:
    """TODO: what it gives.

    Args:
        x: TODO, shape (T, d).

    Returns:
        TODO, shape (T, d).
    """
    # Task 1: TODO: what to do; this comment stays in the stub.
    return x  # (T, d)
'''
TOML = """title = "{title}"
track = "{track}"

# Points of each check, in the order in which the learner sees them.
[points]
documented_{slug} = 1
fresh_{slug} = 1
gradients = 1
dtype_and_device = 1
inputs_unchanged = 1
"""
NUMBERS = """# Numbers as the source prints them, nothing rounded. Where no document has some, the lesson is the source.
# TODO: the numbers of the check documented_{slug}

[[number]]
id = "example"
source = "the lesson"
place = "Task 1"
check = "documented_{slug}"
printed = "[[1.0, 2.0], [3.0, 4.0]]"
"""
DOCUMENTED = '''"""Checks that everybody may read: the printed numbers."""

import torch

from grader.authors import expect, task


@task(1)
def test_documented_{slug}(learner, documented):
    """TODO: the promise that a learner reads, in the present tense."""
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])  # TODO: the input of the lesson's example
    expect(learner.{slug}(x), documented["example"])
'''
CHECKS = '''"""Hidden checks: fresh inputs against the solution, and what must hold for any input."""

from grader.authors import agrees, keeps_device, keeps_dtype, keeps_inputs, same_gradients, task

FRESH = "fresh_{slug}"  # what every promise below builds on


@task(1)
def test_fresh_{slug}(learner, reference, rng):
    """{slug} is right on new inputs of other sizes."""
    # TODO: the shapes and values that tell right from nearly right
    for shape in ((1, 1), (5, 3), (6, 4)):
        agrees(learner.{slug}, reference.{slug}, rng.randn(*shape))


@task(1, after=FRESH)
def test_gradients(learner, reference, rng):
    """Gradients flow back to the input and are the true ones."""
    same_gradients(learner.{slug}, reference.{slug}, rng.randn(4, 3))


@task(1, after=FRESH)
def test_dtype_and_device(learner, reference, rng):
    """The result has the dtype and the device of the input."""
    keeps_dtype(learner.{slug}, reference.{slug}, rng.randn(4, 3))
    keeps_device(learner.{slug}, rng.randn(4, 3))


@task(1, after=FRESH)
def test_inputs_unchanged(learner, rng):
    """The input is left as it was, and a second call gives the same."""
    keeps_inputs(learner.{slug}, rng.randn(4, 3))
'''
PICTURES = '''"""TODO: the picture of a matrix that is worth looking at. Where there is none, remove this file."""

import torch

from grader.authors import Drawing

PICTURES = [
    Drawing(
        "TODO: what is drawn: {slug}(x)",
        expected=lambda documented: documented["example"],
        ask=lambda learner: learner.{slug}(torch.tensor([[1.0, 2.0], [3.0, 4.0]])),
        note="TODO: what to look for.",
    )
]
'''
MISTAKES = """# task
"""
MISTAKE = """
## mistake_{n}
TODO: what is wrong and where to look, in one sentence; never the solution. Name the mistake after it.
```diff
@@ {slug} @@
-    return x  # (T, d)
+    return x + {n}  # (T, d) TODO: one real mistake; `@@ imports @@` adds imports
```
"""
STYLE = '''"""TODO: a right answer as another person would write it (a loop, einsum). Name the file after it."""

import torch


def {slug}(x):
    return x
'''
NOTICE = """TODO: two or three sentences on what to notice in the solution.

Dig deeper: TODO: one question or change that leads further.
"""

HINTS = """# Hints for {number} {title}

## Task 1

1. TODO: a question.
2. TODO: a pointer.
3. TODO: nearly the line.
"""
