"""Makes an exercise's notebook from its lesson and its stub. A notebook that was edited or run is not replaced."""

import hashlib
import json
import re
import subprocess
from pathlib import Path

from grader.catalog import Exercise, extras, paths
from grader.catalog.errors import WrongUse
from grader.desk import reset
from grader.integrations.notebook import layout
from grader.reports.json import SCHEMA

MADE, KEPT = "made", "kept"
MINE = "attention-kata"  # our key in the notebook's metadata
FIRST = (
    "You work in this notebook as you would in `{stub}`. Run the set-up first, then the cells that you change. The "
    "last one grades them."
)
SETUP = """\
# @title Set-up: run this first. Where the exercises are not at hand (Google Colab), it fetches them.
REPOSITORY = "{repository}"

import os
import subprocess
import sys
from pathlib import Path

here = Path.cwd()
root = next((folder for folder in (here, *here.parents) if (folder / "grader/notebook.py").exists()), None)
if root is None:
    root = here / "attention-kata"
    subprocess.run(["git", "clone", "--quiet", "--depth", "1", REPOSITORY, str(root)], check=True)
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "-e", str(root)], check=True)
    os.chdir(root / "exercises/{folder}")
sys.path.append(str(root))

from grader.notebook import check, experiment, figure, hint, plot, setup

setup()"""
LAST = "check()  # hint(): a hint; plot(): your weights; figure(): the lesson's figure"
HIDDEN = '# %% jupyter={"source_hidden": true}'
MAY_FAIL = '# %% tags=["raises-exception"]'  # "run all" continues after such a cell
UNKNOWN = "https://…"  # to be filled in


def make(exercise: Exercise) -> tuple[Path, str]:
    """Write the notebook. Returns its path, and MADE, or KEPT where a notebook exists that somebody has worked in.

    Raises WrongUse where jupytext is absent or the file cannot be written.
    """
    try:
        import jupytext
    except ImportError:
        raise extras.missing("Notebooks are made by jupytext", "notebook") from None
    path = paths.notebook(exercise.folder)
    if path.exists() and not is_untouched(path):
        return path, KEPT
    notebook = jupytext.reads(percent(exercise), fmt="py:percent")
    notebook.metadata["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook.metadata.pop("jupytext", None)  # the notebook is paired with no other file
    for number, cell in enumerate(notebook.cells):
        cell.metadata.pop("lines_to_next_cell", None)
        cell.id = f"{exercise.folder[:2]}-{number}"  # the same in each run, so that git shows no change
    notebook.metadata[MINE] = {"made": fingerprint(notebook), "schema": SCHEMA}
    try:
        jupytext.write(notebook, path)
    except OSError as error:
        raise WrongUse(f"{paths.shown(path)} cannot be written: {error.strerror}") from None
    return path, MADE


def percent(exercise: Exercise) -> str:
    """Lesson and stub as one source in jupytext's percent format, in the lesson's order."""
    lesson = paths.lesson(exercise.folder).read_text("utf-8")
    parts = [_markdown(FIRST.format(stub=paths.stub(exercise.folder).name))]
    parts.append(f"{HIDDEN}\n{SETUP.format(repository=repository(), folder=exercise.folder)}")
    for cell in layout.cells(lesson, reset.source(exercise.folder)):
        if cell.is_code:
            parts.append(f"{MAY_FAIL if cell.is_example else '# %%'}\n{cell.text}")
        else:
            parts.append(_markdown(cell.text))
    parts.append(f"# %%\n{LAST}")
    return "\n\n".join(parts) + "\n"


def repository() -> str:
    """The address from which other machines can fetch the exercises, from git's settings; UNKNOWN without one."""
    command = ["git", "-C", str(paths.ROOT), "config", "--get", "remote.origin.url"]
    try:
        address = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:  # no git
        return UNKNOWN
    return address if re.fullmatch(r"https://[\w.:/~-]+", address) else UNKNOWN  # not one with a password


def is_untouched(path: Path) -> bool:
    """Whether a notebook was neither edited nor run since it was made."""
    try:
        notebook = json.loads(path.read_text("utf-8"))
        ran = any(cell.get("outputs") or cell.get("execution_count") for cell in notebook["cells"])
        return not ran and notebook["metadata"][MINE]["made"] == fingerprint(notebook)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def fingerprint(notebook: dict) -> str:
    """The SHA-256 of the kinds and texts of all cells, in hexadecimal."""
    contents = [[cell["cell_type"], "".join(cell["source"])] for cell in notebook["cells"]]
    return hashlib.sha256(json.dumps(contents).encode()).hexdigest()


def _markdown(text: str) -> str:
    """A Markdown cell in the percent format."""
    return "\n".join(["# %% [markdown]", *(f"# {line}".rstrip() for line in text.splitlines())])
