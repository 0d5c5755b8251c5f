"""The distribution of the totals of a class: mean, median, quartiles, tenths."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

BINS = 11  # tenths of the points, and all of them


@dataclass(frozen=True)
class Spread:
    """The spread of totals, in points. lower, upper: the quartiles, interpolated linearly between neighbours."""

    count: int
    mean: float
    least: float
    lower: float
    median: float
    upper: float
    most: float


def spread(totals: Sequence[float]) -> Spread | None:
    """The spread of totals, None of no total."""
    if not totals:
        return None
    lower, median, upper = statistics.quantiles(totals, method="inclusive") if len(totals) > 1 else [totals[0]] * 3
    return Spread(len(totals), statistics.fmean(totals), min(totals), lower, median, upper, max(totals))


def tenths(totals: Sequence[float], max_points: float) -> tuple[int, ...]:
    """The numbers of totals that are 0 to 9 % of `max_points`, …, 90 to 99 %, and 100 %."""
    bins = [0] * BINS
    for total in totals:
        share = total / max_points if max_points else 1.0
        bins[max(0, min(int(share * 10 + 1e-9), BINS - 1))] += 1
    return tuple(bins)
