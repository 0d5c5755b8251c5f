"""Whom to help first: the students who handed in something, ranked, each with the reasons in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.classroom.grades import number
from grader.classroom.past import Stuck
from grader.classroom.rows import ABSENT, NOT_STARTED, Row
from grader.classroom.summary import Summary

HALF = 0.5  # an exercise that at least this share of the class has begun is one that everybody could have begun
PATIENCE = 4  # attempts without change after which one more says nothing new


@dataclass(frozen=True)
class Need:
    """One student who may need help. score: from 0 to 3, one for each kind of reason at its worst."""

    row: Row
    score: float
    reasons: tuple[str, ...]


def ranked(summary: Summary, stuck: Mapping[str, Sequence[Stuck]], limit: int) -> list[Need]:
    """The students who need help most, at most `limit` of them. stuck: by student's id.

    The score is the sum of three shares: the points that are missing to the median of the class, the exercises not
    begun among those that half of the class has begun, and the attempts without change, four of which are a whole.
    Who handed in nothing at all is not in the list: that needs a letter and no help with an exercise.
    """
    median = summary.median() or 0.0
    begun = _begun_by_half(summary)
    needs = [_need(summary, row, median, begun, stuck.get(row.student.id, ())) for row in summary.rows if row.handed_in]
    return sorted((need for need in needs if need.score > 0), key=lambda need: (-need.score, need.row.student))[:limit]


def _need(summary: Summary, row: Row, median: float, begun: Sequence[int], stuck: Sequence[Stuck]) -> Need:
    """The need of one student. begun: the indexes of the exercises that half of the class has begun."""
    score, reasons = 0.0, []
    if row.total is not None and row.total < median:
        score += (median - row.total) / median
        reasons.append(f"{number(row.total)} points, the median is {number(median)}")
    missing_indices = [index for index in begun if row.states[index] in (ABSENT, NOT_STARTED)]
    if missing_indices:
        score += len(missing_indices) / len(begun)
        numbers = ", ".join(summary.exercises[index].folder[:2] for index in missing_indices)
        reasons.append(f"not begun, though half of the class has: {numbers}")
    if stuck:
        longest = max(stuck, key=lambda entry: (entry.attempts, entry.exercise))
        score += min(longest.attempts, PATIENCE) / PATIENCE
        reasons += [
            f"stuck at {entry.exercise[:2]} since {_day(entry)}: {entry.attempts} attempts passed the same checks"
            for entry in stuck
        ]
    return Need(row, score, tuple(reasons))


def _begun_by_half(summary: Summary) -> list[int]:
    rows = [row for row in summary.rows if row.handed_in]
    return [
        index
        for index in range(len(summary.exercises))
        if sum(row.states[index] not in (ABSENT, NOT_STARTED) for row in rows) >= HALF * max(len(rows), 1)
    ]


def _day(stuck: Stuck) -> str:
    return f"{stuck.since.day} {stuck.since:%B}"
