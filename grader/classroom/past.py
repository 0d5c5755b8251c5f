"""The facts that earlier runs give: the students who are stuck, and the state of the class after each run."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from grader.classroom.rows import ABSENT
from grader.classroom.summary import Summary
from grader.records.results import PASSED, ExerciseResult


@dataclass(frozen=True)
class Stuck:
    """A student's last attempts at an exercise, which passed the same checks. since: when the first of them came."""

    exercise: str
    attempts: int
    since: datetime


@dataclass(frozen=True)
class Run:
    """The state of the class after a run. handed_in: exercises of all students."""

    time: datetime
    students: int
    handed_in: int

    @property
    def facts(self) -> tuple[int, int]:
        """All but the time."""
        return self.students, self.handed_in


@dataclass(frozen=True)
class Past:
    """The facts of earlier runs that the page of a class shows. stuck: by student's id."""

    stuck: Mapping[str, Sequence[Stuck]] = field(default_factory=dict)
    runs: Sequence[Run] = ()

    def renamed(self, ids: Mapping[str, str]) -> "Past":
        """The same under other ids."""
        return Past({ids[id]: stuck for id, stuck in self.stuck.items() if id in ids}, self.runs)


NO_PAST = Past()


def run(summary: Summary, time: datetime) -> Run:
    """The present state of the class."""
    absent = sum(row.states.count(ABSENT) for row in summary.rows)
    handed_in = len(summary.rows) * len(summary.exercises) - absent
    return Run(time, len(summary.rows), handed_in)


def stuck(
    attempts: Iterable[tuple[str, str, Sequence[tuple[datetime, str | None]]]],
    result: Callable[[str], ExerciseResult | None],
) -> dict[str, list[Stuck]]:
    """The students, by id, whose last two or more attempts passed the same checks, and not all of them.

    attempts: student, exercise, and for each attempt in order when it came and the key of its result; result: gives the
    result with a key.
    """
    by_student: dict[str, list[Stuck]] = {}
    for student, exercise, tries in attempts:
        reached, count = None, 0
        for _, key in reversed(tries):
            current_result = result(key) if key else None
            if (
                current_result is None
                or current_result.status == PASSED
                or (count and _passed(current_result) != reached)
            ):
                break
            reached, count = _passed(current_result), count + 1
        if count > 1:
            by_student.setdefault(student, []).append(Stuck(exercise, count, tries[-count][0]))
    return by_student


def _passed(result: ExerciseResult) -> frozenset[str]:
    return frozenset(check.id for check in result.checks if check.outcome == PASSED)
