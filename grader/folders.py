"""The folders that this copy works with: the standard library alone, since every command starts here.

A clone holds all in one folder. Installed by pip, the grader has the exercises and solutions in `grader/project`, and a
learner's files lie in a folder of their own that `kata init` made: the nearest one upward with a file `.kata`.
"""

import os

GRADER = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(GRADER)  # where `grader` is imported from
PACKED = os.path.join(GRADER, "project")  # setup.py puts it into the wheel
# An autograder has the project file beside the grader, and no exercises.
IS_INSTALLED = not any(os.path.exists(os.path.join(ROOT, name)) for name in ("exercises", "pyproject.toml"))
PROJECT = PACKED if IS_INSTALLED else ROOT
MARKER = ".kata"  # a file of a learner's folder; it holds the version of what was handed out
CLONE = "a clone"
OF_CLONE = ("exercises", "grader/__main__.py")  # what tells one
VARIABLE = "KATA_FOLDER"  # tells the processes that a command starts which learner's folder it is for
IGNORED = "KATA_PYTHONPATH"  # the PYTHONPATH that our processes go without: see grader/__main__.py
NOTEBOOK = "--notebook"  # in place of a verb: what grades for a notebook


def around() -> tuple[str, str] | None:
    """What the working folder belongs to, and its path: MARKER or CLONE, whichever is nearer; None for neither."""
    try:
        folder = os.getcwd()
    except OSError:  # it was removed
        return None
    while True:
        if os.path.isfile(os.path.join(folder, MARKER)):
            return MARKER, folder
        if all(os.path.exists(os.path.join(folder, name)) for name in OF_CLONE):
            return CLONE, folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def settle(found: tuple[str, str] | None) -> str | None:
    """The learner's folder of a command that begins, if it is in one; its own processes learn of it by VARIABLE."""
    os.environ.pop(VARIABLE, None)
    if found is None or found[0] != MARKER:
        return None
    os.environ[VARIABLE] = found[1]
    return found[1]


def learners() -> str | None:
    """The learner's folder that this process is for; None where there is none, as in a clone.

    A notebook's kernel was started by no command of ours. What it starts works elsewhere, and learns of the folder too.
    """
    return os.environ.get(VARIABLE) or settle(around())
