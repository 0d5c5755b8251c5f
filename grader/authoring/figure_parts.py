"""Finds the problems of an exercise's interactive figure that reading its files shows."""

import ast
from collections.abc import Iterator
from pathlib import Path

from grader.authoring.problem import Problem, again
from grader.catalog import Exercise, paths
from grader.judge import figure

TRACKS = ("core", "beyond")  # whose exercises need one
FORM = "export default {"
LEAST_CASES = 3  # of what tests/figures does to a figure


def missing(exercise: Exercise) -> Iterator[Problem]:
    """An exercise of these tracks needs a script that draws its figure, the numbers for it, and cases for its test."""
    if exercise.track not in TRACKS:
        return
    folder = exercise.folder
    needed = {
        "interactive figure is": paths.figure_script(folder),
        "numbers of the figure are": paths.figure_data(folder),
        "cases of the figure are": paths.figure_cases(folder),
    }
    for noun, path in needed.items():
        if not path.exists():
            yield Problem(f"the {noun} missing", path, f"Write it as another exercise has it, then: {again(folder)}")


def wrong(folder: str) -> Iterator[Problem]:
    """The script must have anywidget's form, and the numbers that it first shows must be documented."""
    if not figure.has_figure(folder):
        return
    script, numbers = paths.figure_script(folder), paths.figure_data(folder)
    mend = f"Mend it, then: {again(folder)}"
    yield from _too_few_cases(paths.figure_cases(folder), mend)
    if FORM not in script.read_text("utf-8"):
        yield Problem(f"the figure has no `{FORM} render({{ model, el }}) … }}`", script, mend)
    try:
        figure.data(folder), figure.drawings(folder)
        if not figure.start(folder):
            yield Problem("the figure shows no documented number first: `start` is empty", numbers, mend)
    except KeyError as error:
        yield Problem(f"the figure shows {error} first, and exercise.toml has no such number", numbers, mend)
    except Exception as error:  # whatever an author's module may raise
        yield Problem(f"it cannot be run: {type(error).__name__}: {error}", numbers, mend)


def _too_few_cases(path: Path, mend: str) -> Iterator[Problem]:
    """The list CASES must hold enough of them. It is read, not run: only the tests can import what a case is."""
    if not path.exists():
        return
    try:
        body = ast.parse(path.read_text("utf-8")).body
    except SyntaxError as error:
        yield Problem(f"it cannot be read: {error.msg}", path, mend, error.lineno or 0)
        return
    lists = [node for node in body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "CASES"]
    cases = [case for node in lists if isinstance(node.value, ast.List) for case in node.value.elts]
    if len(cases) < LEAST_CASES:
        line = lists[0].lineno if lists else 0
        reason = f"{len(cases)} cases of the figure are in the list CASES, and {LEAST_CASES} are the least"
        yield Problem(reason, path, mend, line)
