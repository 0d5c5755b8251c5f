"""Chooses the attempt that counts among a student's attempts at an exercise. Pure functions."""

from collections.abc import Sequence
from dataclasses import dataclass

from grader.classroom.course.lateness import ON_TIME, Lateness, share
from grader.classroom.course.settings import BEST, LateRule
from grader.records.results import ExerciseResult


@dataclass(frozen=True)
class Attempt:
    """One hand-in, in the order in which they came. result None: it could not be graded."""

    digest: str
    result: ExerciseResult | None
    late: Lateness = ON_TIME

    def points(self, rule: LateRule) -> float:
        """The points after the rule for late hand-ins."""
        return round((self.result.points if self.result else 0.0) * share(rule, self.late), 6)


def counting(attempts: Sequence[Attempt], policy: str, rule: LateRule) -> Attempt | None:
    """The attempt that counts; None where there is none.

    "latest": the last one before the cut-off, else the last one. "best": the one with most points after the rule for
    late hand-ins, of equal ones the latest.
    """
    if not attempts:
        return None
    if policy == BEST:
        graded = [attempt for attempt in attempts if attempt.result is not None]
        return max(reversed(graded), key=lambda attempt: attempt.points(rule)) if graded else attempts[-1]
    in_time = [attempt for attempt in attempts if not attempt.late.after_end]
    return in_time[-1] if in_time else attempts[-1]
