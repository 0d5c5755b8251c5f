"""One student of a class in a row: points and state of each exercise, kept small, since a class may have any size."""

from collections.abc import Mapping
from dataclasses import dataclass

from grader.classroom.course.marks import Mark
from grader.classroom.handins import Student
from grader.records.results import ERROR, FAILED, NOT_CHECKED, PASSED, ExerciseResult

# The state of one student's exercise, one letter each, so that a row stays small.
ALL_PASSED, SOME_FAILED, NOT_LOADED, NOT_STARTED, NOT_GRADED, ABSENT = "p", "f", "e", "n", "u", "-"
CHECK_PASSED, CHECK_FAILED, CHECK_LEFT_OUT = "p", "f", "-"  # the outcome of one check, likewise
OUTCOMES = {PASSED: CHECK_PASSED, FAILED: CHECK_FAILED, NOT_CHECKED: CHECK_LEFT_OUT}
Kind = tuple[int, str]  # the index of an exercise, and a sentence about a submission


@dataclass(frozen=True, slots=True)
class Row:
    """One student: points (None: not handed in, or not graded) and state of each exercise, in order.

    total: by the rule of the course; None where an exercise could not be graded, since the sum would be too low. late:
    what came late; notes: what else an instructor must know. outcomes: of the checks of each exercise, in order, a
    letter each; "" where the file could not be run or was untouched. by_hand: the indices of the exercises for which a
    person gave points.
    """

    student: Student
    points: tuple[float | None, ...]
    states: str
    diagnoses: tuple[Kind, ...] = ()
    total: float | None = None
    late: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    outcomes: tuple[str, ...] = ()
    by_hand: tuple[int, ...] = ()

    @property
    def handed_in(self) -> bool:
        """Whether the student handed in something."""
        return any(state != ABSENT for state in self.states)


def state_of(result: ExerciseResult) -> str:
    """The state that a result stands for."""
    if result.status == ERROR:
        return NOT_LOADED
    if not result.started:
        return NOT_STARTED
    return ALL_PASSED if result.status == PASSED else SOME_FAILED


def words_of(marks: Mapping[str, Mark]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Notes on what is late, and other notes on the marks, each with the number of its exercise."""
    late = tuple(f"{folder[:2]}: {mark.late.words}" for folder, mark in sorted(marks.items()) if mark.late.words)
    notes = (
        f"{folder[:2]}: {remark}"
        for folder, mark in sorted(marks.items())
        for remark in (*(override.words for override in mark.overrides), *mark.notes)
    )
    return late, tuple(notes)
