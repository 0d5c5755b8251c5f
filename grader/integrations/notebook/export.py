"""Makes an exercise's notebook from its lesson and its stub; one that somebody worked in is left alone."""

import hashlib
import json
import sys
from pathlib import Path

from grader.catalog import Exercise, paths
from grader.catalog.errors import WrongUse
from grader.desk import reset
from grader.integrations.nbgrader import assignment
from grader.reports.json import SCHEMA

MADE, KEPT = "made", "kept"
MINE = "attention-kata"  # our key in the notebook's metadata
FIRST = "You work in this notebook as you would in `{stub}`. Run the cells that you change; the last one grades them."
LAST = """\
import sys

sys.path.append("../..")  # where the grader lies
from grader.notebook import check, figure, hint, plot

check("{number}")  # hint("{number}"): a hint; plot("{number}"): your weights; figure("{number}"): its figure"""


def make(exercise: Exercise) -> tuple[Path, str]:
    """Write the notebook. Returns its path, and MADE, or KEPT where a notebook exists that somebody has worked in.

    Raises WrongUse where jupytext is absent or the file cannot be written.
    """
    try:
        import jupytext
    except ImportError:
        raise WrongUse(
            f"Notebooks are made by jupytext. Type: {paths.shown(sys.executable)} -m pip install -e '.[notebook]'"
        ) from None
    path = paths.notebook(exercise.folder)
    if path.exists() and not is_untouched(path):
        return path, KEPT
    notebook = jupytext.reads(percent(exercise), fmt="py:percent")
    notebook.metadata["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook.metadata.pop("jupytext", None)  # it is paired with nothing
    for number, cell in enumerate(notebook.cells):
        cell.id = f"{exercise.folder[:2]}-{number}"  # the same each time: git sees no difference
    notebook.metadata[MINE] = {"made": fingerprint(notebook), "schema": SCHEMA}
    try:
        jupytext.write(notebook, path)
    except OSError as error:
        raise WrongUse(f"{paths.shown(path)} cannot be written: {error.strerror}") from None
    return path, MADE


def percent(exercise: Exercise) -> str:
    """Lesson and stub as one source in jupytext's percent format, in the lesson's order."""
    readme = paths.lesson(exercise.folder).read_text("utf-8")
    parts = [_markdown(FIRST.format(stub=paths.stub(exercise.folder).name))]
    for cell in assignment.cells(readme, reset.source(exercise.folder), frozenset()):
        if isinstance(cell, assignment.Markdown):
            parts.append(_markdown(cell.text))
        elif isinstance(cell, assignment.Code):
            lines = [line for line in cell.text.splitlines() if line.strip() not in (assignment.BEGIN, assignment.END)]
            parts.append("\n".join(["# %%", *lines]))
    parts.append("# %%\n" + LAST.format(number=exercise.folder[:2]))
    return "\n\n".join(parts) + "\n"


def is_untouched(path: Path) -> bool:
    """Whether a notebook is just as it was made: not edited, nothing run in it."""
    try:
        notebook = json.loads(path.read_text("utf-8"))
        ran = any(cell.get("outputs") or cell.get("execution_count") for cell in notebook["cells"])
        return not ran and notebook["metadata"][MINE]["made"] == fingerprint(notebook)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def fingerprint(notebook: dict) -> str:
    """A digest of what the cells say."""
    said = [[cell["cell_type"], "".join(cell["source"])] for cell in notebook["cells"]]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()


def _markdown(text: str) -> str:
    return "\n".join(["# %% [markdown]", *(f"# {line}".rstrip() for line in text.splitlines())])
