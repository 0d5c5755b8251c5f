"""The mark of a student for an exercise, after all rules of the course are applied to the raw results."""

from collections.abc import Sequence
from dataclasses import dataclass

from grader.classroom.course import attempts, overrides
from grader.classroom.course.attempts import Attempt
from grader.classroom.course.lateness import ON_TIME, Lateness, share
from grader.classroom.course.overrides import Override
from grader.classroom.course.settings import Course
from grader.records.results import ExerciseResult


@dataclass(frozen=True)
class Mark:
    """One exercise of one student. raw: the grader's points; points: those that count (None: there are none).

    result: of the attempt that counts; digest: of that hand-in; notes: what else a reader must know; is_earlier: the
    attempt that counts is not the latest one.
    """

    exercise: str
    raw: float | None
    points: float | None
    late: Lateness = ON_TIME
    result: ExerciseResult | None = None
    digest: str = ""
    overrides: tuple[Override, ...] = ()
    notes: tuple[str, ...] = ()
    is_earlier: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        """All that explains the points, for students and instructors."""
        deduction = f": {self.raw:g} points before the deduction" if self.raw and self.raw != self.points else ""
        late = (f"{self.late.words}{'' if self.overrides else deduction}",) if self.late.words else ()
        return (*late, *(override.words for override in self.overrides), *self.notes)


def mark(course: Course, exercise: str, tried: Sequence[Attempt], own_overrides: Sequence[Override] = ()) -> Mark:
    """The mark for an exercise. tried: the student's attempts, the last one latest; own_overrides: this student's.

    An override of the exercise counts as it is; one of a check is deducted from like all else.
    """
    counting = attempts.counting(tried, course.attempts, course.late)
    is_earlier = counting is not None and counting is not tried[-1]
    place = next((number for number, attempt in enumerate(tried, 1) if attempt is counting), 0)
    notes = (f"attempt {place} of {len(tried)} counts",) if is_earlier else ()
    late = counting.late if counting else ON_TIME
    raw = counting.result.points if counting and counting.result else None
    points = overrides.points(counting.result if counting else None, own_overrides)
    is_whole = any(not override.check for override in own_overrides)
    if points is not None and not is_whole:
        points = round(points * share(course.late, late), 6)
    result = counting.result if counting else None
    return Mark(
        exercise,
        raw,
        points,
        late,
        result,
        counting.digest if counting else "",
        tuple(own_overrides),
        notes,
        is_earlier,
    )
