"""The experiment of an exercise: the file that `make new` writes, and the problems that reading it shows."""

import ast
from collections.abc import Iterator

from grader.authoring.problem import Problem, again, line_of
from grader.catalog import paths

NAMES = ("measure", "claim", "CLAIM", "PLOT")  # what the script defines, as grader.desk.experiment runs it
HEADING = "## Experiment"
SCRIPT = '''"""TODO: the question that this experiment answers, in one line?

    make experiment EX={number}

TODO: what is measured, and what the columns mean.
"""

import torch

PLOT = "result"  # the column that is drawn as bars
CLAIM = "TODO: what the lesson claims, in words."


def measure() -> list[dict[str, float]]:
    """One row for each size."""
    torch.manual_seed(123)
    return [{{"size": size, "result": float(torch.randn(size).norm())}} for size in (1, 4, 16)]  # TODO: measure


def claim(rows: list[dict[str, float]]) -> bool:
    """TODO: which rows are compared."""
    return rows[-1]["result"] > rows[0]["result"]
'''


def wrong(folder: str) -> Iterator[Problem]:
    """The script must define all required names, and the lesson must print its table."""
    script, lesson, mend = paths.experiment(folder), paths.lesson(folder), f"Write it, then: {again(folder)}"
    if script.exists():
        yield from _script(folder)
    if lesson.exists() and not line_of(lesson, rf"^{HEADING}$"):
        table = f"Write it with the table that make experiment EX={folder[:2]} FORMAT=md prints, then: {again(folder)}"
        yield Problem(f"the lesson has no heading `{HEADING}`", lesson, table)
    elif lesson.exists() and f"make experiment EX={folder[:2]}" not in lesson.read_text("utf-8"):
        line = line_of(lesson, rf"^{HEADING}$")
        yield Problem(f"the lesson does not say `make experiment EX={folder[:2]}`", lesson, mend, line)


def _script(folder: str) -> Iterator[Problem]:
    """The problems of the script. It is read, not run."""
    script, mend = paths.experiment(folder), f"Mend it, then: {again(folder)}"
    try:
        tree = ast.parse(script.read_text("utf-8"))
    except SyntaxError as error:
        yield Problem(f"it cannot be read: {error.msg}", script, mend, error.lineno or 0)
        return
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    defined |= {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for name in NAMES:
        if name not in defined:
            yield Problem(f"the experiment defines no {name}", script, mend)
    question = (ast.get_docstring(tree) or "").partition("\n")[0]
    if not question.endswith("?"):
        yield Problem("the first line of the experiment's docstring is no question", script, mend, 1)
