"""The files of a new exercise, with TODOs that verify refuses until they are filled."""

from pathlib import Path

from grader.authoring import parts
from grader.catalog import paths, stubs

FIGURE_NUMBERS = '''"""The figure: TODO: whose numbers it shows, in one sentence."""

import torch

from grader.authors import Figure, Start


def data(documented):
    """What the script is given as model.get("data"). documented: the printed numbers by id."""
    return {"x": torch.tensor([[1.0, 2.0], [3.0, 4.0]])}  # TODO: inputs and weights; the script computes the rest


# TODO: the matrices that are shown first, by name, and the documented number that each must equal
FIGURE = Figure("TODO: what the still picture shows.", data, {"result": Start("example")})
'''
SCRIPT = """// TODO: the one idea of this figure, in one sentence.

import { frame } from "../../grader/integrations/figures/frame.js";
import { matrix } from "../../grader/integrations/figures/tables.js";

export default {
  render({ model, el }) {
    const { x } = model.get("data");
    const figure = frame(el, "TODO: what there is to see, in one sentence.");
    const factor = figure.slider({ label: "Factor", min: 0, max: 5, step: 0.5, digits: 1, value: 1 });
    figure.draw(() => ({
      show: matrix({ name: "result", values: x.map((row) => row.map((value) => value * factor.value)) }),
      say: `TODO: what is seen now, with its numbers: the factor is ${factor.value}.`,
    }));
  },
};
"""
CASES = '''"""What is done to the figure, and what torch computes must come out."""

import torch
from figure_case import Case


def result(factor: float) -> dict[str, torch.Tensor]:
    """TODO: what the figure must show, by the names of its matrices, computed by torch and not by the script."""
    return {"result": torch.tensor([[1.0, 2.0], [3.0, 4.0]]) * factor}


# TODO: what is done (steps as `act` in figure_pages.py takes them), what is shown, and what the sentence says
CASES = [
    Case("nothing", [("move", "Factor", 0)], lambda: result(0.0), "the factor is 0"),
    Case("half", [("move", "Factor", 0.5)], lambda: result(0.5), "the factor is 0.5"),
    Case("most", [("move", "Factor", 5)], lambda: result(5.0), "the factor is 5"),
]
'''
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

# Points of each check, in the order in which the learner sees them.
[points]
documented_{slug} = 1
fresh_{slug} = 1
gradients = 1
dtype_and_device = 1
inputs_unchanged = 1
"""
NUMBERS = """
# Numbers as the source prints them, nothing rounded. Where no document has some, the lesson is the source.
# TODO: the numbers of the check documented_{slug}

[[number]]
id = "example"
source = "this repository: exercises/{number}_{slug}/README.md"
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
    """Gradients flow back to the input and are correct."""
    same_gradients(learner.{slug}, reference.{slug}, rng.randn(4, 3))


@task(1, after=FRESH)
def test_dtype_and_device(learner, reference, rng):
    """The result has the dtype and the device of the input."""
    keeps_dtype(learner.{slug}, reference.{slug}, rng.randn(4, 3))
    keeps_device(learner.{slug}, rng.randn(4, 3))


@task(1, after=FRESH)
def test_inputs_unchanged(learner, rng):
    """Calling it twice gives the same result, and nothing you pass in is modified."""
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
REVIEW = """# Review of {number} {title}

`make review` asks these the day after you pass the exercise, and again after a week, a month and three months.

## Write `{slug}`

TODO: what it gives, and the shapes. `...` takes the place of the body, or of the end of one line: `weights = ...`. Only
a function that needs no other one of the exercise.

```python
def {slug}(x):
    ...
```

<details>
<summary>Answer</summary>

```python
return x
```

TODO: the one thing that goes wrong here.

</details>
"""
QUESTION = """
## TODO: a heading of its own, by which the learner's progress knows the card ({n})

TODO: a question that takes a minute and that the lesson answers. A why or a what-if, not a name.

<details>
<summary>Answer</summary>

TODO: two or three sentences, the answer first.

</details>
"""


def figure_files(folder: str) -> dict[Path, str]:
    """Path → content."""
    return {
        paths.figure_data(folder): FIGURE_NUMBERS,
        paths.figure_script(folder): SCRIPT,
        paths.figure_cases(folder): CASES,
    }


def files(folder: str) -> dict[Path, str]:
    """Path → content of every file of a new exercise, in the order in which an author fills them."""
    slug = paths.slug(folder)
    facts = {"slug": slug, "number": folder[:2], "title": slug.replace("_", " ").capitalize()}
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
    numbers = range(1, parts.MIN_MISTAKES + 1)
    contents[paths.mistakes(folder)] = MISTAKES + "".join(MISTAKE.format(n=number, **facts) for number in numbers)
    styles = range(1, parts.MIN_STYLES + 1)
    contents |= {paths.styles_folder(folder) / f"style_{number}.py": STYLE.format(**facts) for number in styles}
    contents |= figure_files(folder)
    questions = "".join(QUESTION.format(n=number) for number in range(2, parts.MIN_CARDS + 1))
    contents[paths.experiment(folder)] = parts.SCRIPT.format(**facts)
    return contents | {
        paths.lesson(folder): parts.LESSON.format(**facts),
        paths.hints(folder): HINTS.format(**facts),
        paths.review(folder): REVIEW.format(**facts) + questions,
    }
