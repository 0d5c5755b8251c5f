"""The misconceptions of learners across all exercises, and the known mistakes that show each of them.

`misconceptions.toml` beside this module names them, `solutions/NN_slug/wrong/misconceptions.toml` assigns the mistakes.
"""

import functools
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.catalog import overlay, paths
from grader.catalog.errors import InfrastructureError
from grader.catalog.toml import tomllib

HEADING = re.compile(r"^#{2,3} (.+?)\s*$", re.M)


@dataclass(frozen=True)
class Misconception:
    """One misconception. lesson: the number of an exercise, "06"; section: the heading in its lesson to read again."""

    id: str
    title: str
    lesson: str
    section: str


@functools.cache
def misconceptions() -> dict[str, Misconception]:
    """All misconceptions by id, in the order of the file. Raises InfrastructureError where it cannot be read."""
    rows = _toml(paths.MISCONCEPTIONS)
    try:
        return {id: Misconception(id, **row) for id, row in rows.items()}
    except TypeError as error:
        raise InfrastructureError(f"{paths.shown(paths.MISCONCEPTIONS)} cannot be read: {error}") from None


def assigned(folder: str) -> dict[str, list[str]]:
    """The names of an exercise's mistakes by the id of their misconception; {} where there is no such file.

    Raises InfrastructureError where the file cannot be read.
    """
    path = paths.assigned_mistakes(folder)
    if not path.exists():
        return {}
    rows = _toml(path)
    for id, names in rows.items():
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise InfrastructureError(f"{paths.shown(path)} cannot be read: {id} is no list of names")
    return rows


def of_mistakes(folder: str) -> dict[str, Misconception]:
    """The misconception of each mistake of an exercise, by the mistake's name."""
    by_id = misconceptions()
    return {name: by_id[id] for id, names in assigned(folder).items() if id in by_id for name in names}


@functools.cache
def of_sentences(folder: str) -> dict[str, Misconception]:
    """The misconception of each mistake of an exercise, by the mistake's sentence, which the learner reads."""
    by_name = of_mistakes(folder)
    files = [path for path in paths.mistakes(folder) if path.stem in by_name]
    return {overlay.sentence(path.read_text("utf-8")): by_name[path.stem] for path in files}


def heading(lesson: str, section: str) -> str:
    """The whole heading of a section in the text of a lesson: "Task 1" stands for "Task 1: …"; "" without one."""
    headings = HEADING.findall(lesson)
    return next((text for text in headings if text == section or text.startswith(f"{section}:")), "")


def _toml(path: Path) -> dict[str, Any]:
    """The table in a TOML file. Raises InfrastructureError where it cannot be read."""
    try:
        rows: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InfrastructureError(f"{paths.shown(path)} cannot be read: {error}") from None
    return rows
