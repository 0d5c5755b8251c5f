"""The total of a student: weights, and the lowest results dropped. Pure functions of points."""

from collections.abc import Mapping, Sequence
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

    What was not handed in has a share of 0. Of equal shares the exercise with the smaller weight is dropped, then the
    later one.
    """
    if rule.drop_lowest <= 0:
        return list(range(len(exercises)))
    shares = [(earned or 0.0) / (possible or 1.0) for earned, possible in zip(points, max_points)]
    order = sorted(range(len(exercises)), key=lambda i: (shares[i], max_points[i] * rule.weight(exercises[i]), -i))
    return sorted(order[min(rule.drop_lowest, len(order) - 1) :]) if order else []


def total(
    exercises: Sequence[str], points: Sequence[float | None], most: Sequence[float], rule: TotalRule = PLAIN
) -> float:
    """The weighted sum of the points that count."""
    counted_exercises = counted(exercises, points, most, rule)
    return round(sum((points[i] or 0.0) * rule.weight(exercises[i]) for i in counted_exercises), 6)


def maximum(exercises: Sequence[str], most: Sequence[float], rule: TotalRule = PLAIN) -> float:
    """The most points that a total can have: the exercises dropped are those worth least, if all are perfect."""
    counted_exercises = counted(exercises, most, most, rule)
    return round(sum(most[i] * rule.weight(exercises[i]) for i in counted_exercises), 6)
