"""The kinds of errors that users see, and the exit codes of the command line."""

import importlib.metadata
import importlib.util
import shlex
import sys
from collections.abc import Set
from pathlib import Path

from grader.catalog import paths

PASSED, FAILED, WRONG_USE, NOT_DONE = 0, 1, 2, 3
STOPPED = 130  # by Ctrl-C, as shells have it


def of_verdicts(statuses: Set[str]) -> int:
    """The exit code for the statuses of some results: NOT_DONE where one was not graded, else PASSED or FAILED."""
    return NOT_DONE if "not_graded" in statuses else PASSED if statuses <= {"passed"} else FAILED


class WrongUse(Exception):
    """The command was called wrongly. The text says what to type instead. Exit code 2."""


class BadSubmission(Exception):
    """The file cannot be graded as it is. The text says why and what to do. This is a verdict: exit code 1."""


class NoSuchFile(Exception):
    """There is no such file. The text says which. A command ends with exit code 2."""


class InfrastructureError(Exception):
    """The grader could not do its work. It says nothing about the submission. Exit code 3."""


class NotForThisMachine(InfrastructureError):
    """The exercise needs a package that is not here; the text says which, and how to get it. Exit code 3."""


class AuthorError(InfrastructureError):
    """A file of the exercise itself is broken. The text names the file, the line and the error."""


class BadLine(AuthorError):
    """A line of such a file, of its mistakes or cards. path, line, reason: for those who show them in another form."""

    def __init__(self, path: Path, line: int, reason: str):
        super().__init__(f"{paths.shown(path)}:{line}: {reason}. See all: make verify")
        self.path, self.line, self.reason = path, line, reason


def missing_extra(need: str, extra: str) -> WrongUse:
    """The error for what an extra would bring. need: "Grading its courses needs nbgrader"."""
    return WrongUse(f"{need}. {how_to_install(extra)}")


def how_to_install(extra: str) -> str:
    """What to type for an extra of pyproject.toml. grader/venv.py installs them for make."""
    if paths.IS_INSTALLED:
        from packaging.requirements import Requirement  # who lacks packages is to read so

        every = [Requirement(line) for line in importlib.metadata.requires("attention-kata") or ()]
        of_extra = [one for one in every if one.marker and one.marker.evaluate({"extra": extra})]
        wanted = " ".join(shlex.quote(f"{one.name}{one.specifier}") for one in of_extra)
        has_pip = importlib.util.find_spec("pip") is not None
        python = paths.typed(sys.executable)
        install = f"{python} -m pip install" if has_pip else f"uv pip install --python {python}"
        return f"Type: {install} {wanted}"
    project = shlex.quote(f"{paths.shown(paths.ROOT)}[{extra}]")
    return f"Type: {paths.typed(sys.executable)} -m pip install -e {project}"
