"""The results to hand back. Nothing is handed back before the instructor releases it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path

from grader.catalog.errors import WrongUse
from grader.classroom.course.settings import TOTAL, Course
from grader.classroom.course.standing import Standing
from grader.classroom.handins import Found, Origin, Student
from grader.classroom.history import History
from grader.classroom.marking import Marking
from grader.classroom.office import Office
from grader.classroom.outputs import by_student, counting
from grader.classroom.store import Store
from grader.records.results import ExerciseResult

FOLDER = "handback"  # in the results


@dataclass(frozen=True)
class Handed:
    """One student's results. origins: the entry with which each exercise was handed in; ungraded: see feedback.page."""

    student: Student
    results: tuple[ExerciseResult, ...]
    standing: Standing
    origins: dict[str, Origin]
    ungraded: dict[str, str]

    def alone(self, assignment: "Assignment") -> "Handed | None":
        """The part about one assignment; None where the student handed in nothing for it."""
        own = assignment.exercises
        results = tuple(result for result in self.results if result.exercise in own and result.exercise in self.origins)
        if not results:
            return None
        marks = {folder: mark for folder, mark in self.standing.marks.items() if folder in own}
        comments = {folder: text for folder, text in self.standing.comments.items() if folder in ("", *own)}
        standing = Standing(marks, comments, self.standing.notes)
        return replace(self, results=results, standing=standing, ungraded={})

    @property
    def origin(self) -> Origin:
        """The entry with which the first of the results was handed in."""
        return self.origins[self.results[0].exercise]


@dataclass(frozen=True)
class Assignment:
    """An assignment of a platform, with one exercise or several."""

    exercises: tuple[str, ...]

    @property
    def name(self) -> str:
        """Its name in names of files: that of its exercise, or the numbers of several."""
        return self.exercises[0] if len(self.exercises) == 1 else "_".join(folder[:2] for folder in self.exercises)


@dataclass(frozen=True)
class File:
    """One file of an archive."""

    name: str
    content: str | bytes


def demand(course: Course, now: bool) -> None:
    """Raise WrongUse where nothing may be handed back yet. now: the instructor releases it."""
    if now or (course.release is not None and course.release <= datetime.now(timezone.utc)):
        return
    when = f"It is released at {course.release:%Y-%m-%d %H:%M}, as course.toml says" if course.release else "Nothing is"
    raise WrongUse(f"{when}{'' if course.release else ' released yet'}. To hand back now: RELEASE=yes")


def read(out: Path, own_office: Office) -> Iterator[Handed]:
    """Everybody in a folder of results, one student after the other. Raises WrongUse where there are no results."""
    file = Store.existing(out)
    try:
        history = History(file)
        marking = Marking(own_office, file, history, Found("", ()))
        troubles = by_student(file.troubles())
        for student, results in file.students():
            standing = marking.standing(student, results)
            counted = tuple(counting(result, standing) for result in results)
            origins = {exercise: attempts[-1].origin for exercise, attempts in history.of(student.id).items()}
            yield Handed(student, counted, standing, origins, troubles.get(student.id, {}))
    finally:
        file.close()


def assignments(course: Course, all_handed: Sequence[Handed]) -> list[Assignment]:
    """The assignments of which something was handed in. Exercises of one column in course.toml are one assignment."""
    joined: dict[str, tuple[str, ...]] = {}
    for column in course.columns.values():
        if column != (TOTAL,) and not any(folder in joined for folder in column):
            joined |= dict.fromkeys(column, tuple(sorted(column)))
    groups = (joined.get(folder, (folder,)) for folder in exercises(all_handed))
    return [Assignment(group) for group in dict.fromkeys(groups)]


def exercises(all_handed: Sequence[Handed]) -> list[str]:
    """The exercises of which something was handed in."""
    return sorted({result.exercise for handed in all_handed for result in handed.results})


def level(out: Path, course: Course, requested_level: str | None) -> str:
    """The level of feedback: the requested one, else that of course.toml, else that of the last run."""
    file = Store(out)
    try:
        return requested_level or course.feedback or file.fact("level", "full")
    finally:
        file.close()
