"""The known mistakes of an exercise, `solutions/NN_slug/wrong/<the_mistake>.py`, as whole files with their diagnosis.

This is the only module that reads them: the files themselves hold only what differs from the solution (overlay.py).
"""

import json
from dataclasses import dataclass
from pathlib import Path

from grader.catalog import overlay, paths
from grader.catalog.errors import InfrastructureError


class BadMistake(InfrastructureError):
    """A mistake that does not fit the solution. The text names the file, the line, the reason and what to type."""


@dataclass(frozen=True)
class Mistake:
    """One known mistake.

    sentence: the first line of the docstring, "" where there is none; source: the whole file, made from the solution.
    """

    name: str
    sentence: str
    path: Path
    overlay: str
    source: str


@dataclass(frozen=True)
class NotPassed:
    """The checks that a mistake does not pass: those that failed, and those that were not run for that reason."""

    failed: tuple[str, ...]
    not_checked: tuple[str, ...] = ()

    @property
    def checks(self) -> frozenset[str]:
        """All checks that are not passed."""
        return frozenset(self.failed + self.not_checked)


def mistakes(folder: str) -> tuple[Mistake, ...]:
    """The known mistakes of an exercise in alphabetical order. Raises BadMistake."""
    files = paths.mistakes(folder)
    solution = paths.solution(folder).read_text("utf-8") if files else ""
    return tuple(read(path, solution) for path in files)


def find(folder: str, name: str) -> Mistake:
    """One known mistake by its name. Raises BadMistake, and KeyError where there is none."""
    for mistake in mistakes(folder):
        if mistake.name == name:
            return mistake
    raise KeyError(name)


def read(path: Path, solution: str) -> Mistake:
    """One mistake from its file and the solution's source. Raises BadMistake."""
    text = path.read_text("utf-8")
    try:
        source = overlay.compose(solution, text)
    except ValueError as error:
        raise BadMistake(f"{paths.shown(path)}:{error}. See all: make verify") from None
    return Mistake(path.stem, overlay.sentence(text), path, text, source)


def failed_checks(folder: str) -> dict[str, NotPassed]:
    """The checks that each mistake does not pass, by its name; {} before `make verify WRITE=1` has recorded them."""
    path = paths.failed_checks(folder)
    rows = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return {name: NotPassed(tuple(row["failed"]), tuple(row["not_checked"])) for name, row in rows.items()}
