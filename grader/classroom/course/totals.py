"""The total of a student: weights, and the lowest results dropped. Pure functions of points."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class TotalRule:
    """weights: of exercises, by folder, 1 where it names none; drop_lowest: how many exercises do not count."""

    weights: Mapping[str, float] = field(default_factory=dict)
    drop_lowest: int = 0

    def weight(self, exercise: str) -> float:
        """The factor of an exercise's points."""
        return self.weights.get(exercise, 1.0)


PLAIN = TotalRule()


def counted(
    exercises: Sequence[str], points: Sequence[float | None], max_points: Sequence[float], rule: TotalRule
) -> list[int]:
    """The indices of the exercises that count: all but those with the smallest shares of their points.

    What was not handed in has a share of 0. Of equal shares the exercise that weighs most is dropped, in the student's
    favour, then the later one.
    """
    if rule.drop_lowest <= 0:
        return list(range(len(exercises)))
    shares = [(earned or 0.0) / (possible or 1.0) for earned, possible in zip(points, max_points)]
    order = sorted(range(len(exercises)), key=lambda i: (shares[i], -max_points[i] * rule.weight(exercises[i]), -i))
    return sorted(order[min(rule.drop_lowest, len(order) - 1) :]) if order else []


def total(
    exercises: Sequence[str], points: Sequence[float | None], most: Sequence[float], rule: TotalRule = PLAIN
) -> float:
    """The weighted sum of the points that count.

    Where exercises are dropped, students may have different ones left. So the total is the share of what is left, times
    the class's maximum: who lacks the same share has the same total, whichever exercise was dropped.
    """
    if rule.drop_lowest <= 0:
        return _weighted(exercises, points, range(len(exercises)), rule)
    left = counted(exercises, points, most, rule)
    possible = _weighted(exercises, most, left, rule)
    share = _weighted(exercises, points, left, rule) / possible if possible else 0.0
    return round(share * maximum(exercises, most, rule), 2)


def maximum(exercises: Sequence[str], most: Sequence[float], rule: TotalRule = PLAIN) -> float:
    """The total of a student with all points: the exercises that weigh least are left out of it, as many as drop."""
    if rule.drop_lowest <= 0:
        return _weighted(exercises, most, range(len(exercises)), rule)
    weights = sorted(points * rule.weight(exercise) for exercise, points in zip(exercises, most))
    return round(sum(weights[min(rule.drop_lowest, len(weights) - 1) :]), 6) if weights else 0.0


def _weighted(
    exercises: Sequence[str], points: Sequence[float | None], indices: Iterable[int], rule: TotalRule
) -> float:
    """The sum of the points of these exercises, each times its weight."""
    return round(sum((points[i] or 0.0) * rule.weight(exercises[i]) for i in indices), 6)
