"""The difficulty of each check, and how well it separates students with high totals from those with low ones."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from grader.classroom.rows import CHECK_FAILED, CHECK_PASSED, Row
from grader.classroom.summary import Summary

LEAST = 5  # students who passed, and who failed, below which a correlation says nothing
LEAST_TRIED = 5  # files on which a check was tried, below which a share says nothing


@dataclass(frozen=True)
class Difficulty:
    """One check in the class, among the files that could be run.

    exercise: its index; discrimination: the point-biserial correlation, from -1 to 1, of passing with the points that
    the student has in all other checks; None where it would say nothing.
    """

    exercise: int
    title: str
    passed: int
    failed: int
    not_checked: int
    discrimination: float | None

    @property
    def tried(self) -> int:
        """The files that were judged by this check: those that it was not checked on do not count."""
        return self.passed + self.failed

    @property
    def failing(self) -> float:
        """The share of these files that failed it, from 0 to 1."""
        return self.failed / self.tried if self.tried else 0.0


def checks(summary: Summary) -> list[Difficulty]:
    """All checks, in the order of the exercises."""
    earned = [_earned(summary, row) for row in summary.rows]
    difficulties = []
    for index, exercise in enumerate(summary.exercises):
        for place, (name, points) in enumerate(exercise.points.items()):
            outcomes = [(row.outcomes[index][place : place + 1], sum_) for row, sum_ in zip(summary.rows, earned)]
            passed = [sum_ - points for outcome, sum_ in outcomes if outcome == CHECK_PASSED]
            failed = [sum_ for outcome, sum_ in outcomes if outcome == CHECK_FAILED]
            not_checked = sum(bool(outcome) for outcome, _ in outcomes) - len(passed) - len(failed)
            title = summary.titles.get((index, name), name)
            counts = len(passed), len(failed), not_checked
            difficulties.append(Difficulty(index, title, *counts, discrimination(passed, failed)))
    return difficulties


def least_tried(all_checks: Iterable[Difficulty]) -> int:
    """On how many files a check must have been tried to be compared: in a small class, on as many as any check."""
    return min(LEAST_TRIED, max((check.tried for check in all_checks), default=0))


def hardest(all_checks: Sequence[Difficulty], count: int) -> list[Difficulty]:
    """The checks that the largest share of the files failed on which they were tried, `count` at most.

    Those that were tried on fewer than `least_tried` files are left out.
    """
    least = least_tried(all_checks)
    failed = [check for check in all_checks if check.failed and check.tried >= least]
    return sorted(failed, key=lambda check: (-check.failing, -check.failed, check.exercise, check.title))[:count]


def discrimination(passed: Sequence[float], failed: Sequence[float]) -> float | None:
    """The point-biserial correlation of passing with a score. passed, failed: the scores of who did.

    It is Pearson's correlation, where passing counts as 1 and failing as 0. None where fewer than LEAST passed or
    failed, or where all scores are equal.
    """
    if min(len(passed), len(failed)) < LEAST:
        return None
    scores, count = (*passed, *failed), len(passed) + len(failed)
    mean = math.fsum(scores) / count
    deviation = math.sqrt(math.fsum((score - mean) ** 2 for score in scores) / count)
    if deviation < 1e-9:
        return None
    distance = math.fsum(passed) / len(passed) - math.fsum(failed) / len(failed)
    return distance / deviation * math.sqrt(len(passed) * len(failed)) / count


def _earned(summary: Summary, row: Row) -> float:
    """The points of all checks that a student passed, whatever the rules of the course make of them."""
    return math.fsum(
        points
        for exercise, outcomes in zip(summary.exercises, row.outcomes)
        for points, outcome in zip(exercise.points.values(), outcomes)
        if outcome == CHECK_PASSED
    )
