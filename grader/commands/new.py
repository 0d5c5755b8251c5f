"""Write the files of a new exercise, with TODOs that verify refuses until they are filled."""

import argparse
import re

from grader import catalog, errors, paths
from grader.errors import WrongUse

SLUG = re.compile(r"[a-z][a-z0-9_]*")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("exercise", metavar="EX", help="its number, from 1 to 99")
    parser.add_argument("name", metavar="NAME", help="its slug: lower case, digits and underscores")
    parser.add_argument("--track", choices=("core", "beyond"), default="beyond")


def run(options: argparse.Namespace) -> int:
    number, slug = options.exercise, options.name
    if not number.isdigit() or not 1 <= int(number) <= 99:
        raise WrongUse(f"{number} is no exercise number: make new EX=22 NAME=my_exercise")
    if not SLUG.fullmatch(slug):
        raise WrongUse(f"{slug!r} is no slug: lower case letters, digits and underscores, as in my_exercise")
    taken = [e.folder for e in catalog.exercises() if e.number == int(number) or e.slug == slug]
    if taken:
        raise WrongUse(f"{taken[0]} is there already: choose another number and name")
    folder = f"{int(number):02}_{slug}"
    for path, text in files(folder, options.track).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        print(f"wrote {paths.shown(path)}")
    print(f"Fill the TODOs, then: make stub EX={folder[:2]} && make verify EX={folder[:2]}")
    return errors.PASSED


def files(folder: str, track: str) -> dict:
    """Path → content of every file of a new exercise."""
    slug = paths.slug(folder)
    title = slug.replace("_", " ").capitalize()
    number = folder[:2]
    lesson = paths.EXERCISES / folder
    solution = SOLUTION.format(number=number, title=title, slug=slug)
    return {
        lesson / "README.md": LESSON.format(number=number, title=title, slug=slug),
        lesson / "hints.md": HINTS,
        paths.solution(folder): solution,
        paths.SOLUTIONS / folder / "wrong" / "todo.py": WRONG.format(slug=slug),
        paths.exercise_toml(folder): TOML.format(title=title, track=track, slug=slug),
        paths.documented_toml(folder): "# TODO: the numbers that a source prints, or this comment without the word.\n",
        paths.CHECKS / folder / "test_documented.py": DOCUMENTED,
        paths.CHECKS / folder / f"test_{slug}.py": CHECKS.format(slug=slug),
    }


HINTS = """# Hints

## Task 1

1. TODO: a question
2. TODO: a pointer
3. TODO: nearly the line
"""
LESSON = """# {number} {title}

TODO: what and why · the formula · a small example by hand.

## Task 1: `{slug}`

TODO: one call and the number it gives.

## Out of scope

## In the papers
"""
SOLUTION = '''"""Exercise {number}: {title}."""

import torch


def {slug}(x: torch.Tensor) -> torch.Tensor:
    """TODO: what it gives.

    Args:
        x: TODO, shape (T, d).

    Returns:
        TODO, shape (T, d).
    """
    # Task 1: TODO
    return x  # (T, d)
'''
WRONG = '''"""TODO: what is wrong, in one sentence, and where to look."""

import torch


def {slug}(x: torch.Tensor) -> torch.Tensor:
    return x + 1
'''
TOML = """title = "{title}"
track = "{track}"

[points]
fresh_{slug} = 1
"""
DOCUMENTED = '''"""The printed numbers of the source documents."""
'''
CHECKS = '''"""Hidden checks: fresh inputs against the solution, and what must hold for any input."""

from grader.authors import agrees, task


@task(1)
def test_fresh_{slug}(learner, reference, rng):
    """{slug} is right on new inputs of other sizes."""
    for shape in ((1, 1), (5, 3), (6, 4)):
        agrees(learner.{slug}, reference.{slug}, rng.randn(*shape))
'''
