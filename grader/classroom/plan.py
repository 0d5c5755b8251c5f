"""A run as it was requested, its events, and what it leaves to a person: plain data."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader.catalog import Exercise
from grader.classroom.course.settings import Course
from grader.classroom.handins import NeedsPerson, Unplaced
from grader.classroom.office import Office


@dataclass(frozen=True)
class Plan:
    """A run as it was requested.

    seed None: a new secret, which is never shown; a resumed run keeps its own. timeout: seconds for one call; None: the
    exercise's own.
    """

    submissions: Path
    out: Path
    exercises: tuple[Exercise, ...]
    named: bool = True  # each exercise was named; False: only exercises with a submission count
    device: str = "cpu"
    seed: int | None = None
    timeout: float | None = None
    jobs: int = 1
    tier: str | None = None
    accept_tier: str | None = None
    dask: str | None = None
    form: str = "plain"
    level: str = "full"
    office: Office = field(default_factory=lambda: Office(Course()))
    drop: bool = False  # who is not in the class any more may go
    anonymous: bool = False  # the page of the class has pseudonyms


@dataclass(frozen=True)
class Event:
    """An event of a run, for the terminal and the log. `facts` are plain data."""

    kind: str  # "notes", "found", "begin", "graded", "ungraded", "changed", "written", "spent", "recorded"
    facts: dict[str, Any]


@dataclass(frozen=True)
class Undone:
    """The work that is left for a person.

    troubles: (student's id, exercise) → why there is no grade; needs_person: a person must say whose they are;
    unplaced: students of whom no file could be placed; nobody: no student handed in anything; notes: lines about the
    rest.
    """

    troubles: dict[tuple[str, str], str]
    needs_person: tuple[NeedsPerson, ...]
    unplaced: tuple[Unplaced, ...] = ()
    nobody: bool = False
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.troubles or self.needs_person or self.unplaced or self.nobody or self.notes)
