"""The changes of marks since the last run, with the reasons."""

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from grader.classroom.grades import cell, number
from grader.classroom.history import Given

NAME = "changes.csv"
TITLES = ("time", "student", "exercise", "from", "to", "why")
NEW, CHECKS, RULES, GONE = "new hand-in", "check changed", "rules of the course", "no mark any more"
WAITS, AGAIN = "waits to be graded again", "graded again"


@dataclass(frozen=True)
class Change:
    """A mark that is another one now. before, after: points, None where there were or are none."""

    student: str
    exercise: str
    before: float | None
    after: float | None
    why: str


def between(before: Mapping[tuple[str, str], Given], now: Mapping[tuple[str, str], Given]) -> tuple[Change, ...]:
    """The marks that differ, in the order of students and exercises."""
    changes = []
    for student, exercise in sorted(before.keys() | now.keys()):
        old, new = before.get((student, exercise)), now.get((student, exercise))
        points = old.points if old else None, new.points if new else None
        if points[0] != points[1]:
            changes.append(Change(student, exercise, *points, _why(old, new)))
    return tuple(changes)


def append(path: Path, changes: Iterable[Change]) -> None:
    """Add the changes of this run to the file. Raises OSError."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if not path.exists():
        writer.writerow(TITLES)
    time = datetime.now(timezone.utc).isoformat(timespec="seconds")
    for change in changes:
        points = number(change.before), number(change.after)
        writer.writerow([time, cell(change.student), change.exercise, *points, cell(change.why)])
    with path.open("a", encoding="utf-8", errors="backslashreplace", newline="") as file:
        file.write(text.getvalue())


def _why(old: Given | None, new: Given | None) -> str:
    """Why the points differ: the first of the reasons that applies."""
    if new is None or (new.points is None and not new.given):
        return WAITS if new and old and new.digest == old.digest else GONE
    if new.given != (old.given if old else ""):
        return f"override: {new.given}" if new.given else "override taken back"
    if old is None or old.digest != new.digest:
        return NEW
    if old.version != new.version:
        return CHECKS
    return AGAIN if old.points is None else RULES
