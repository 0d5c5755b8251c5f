"""Exercise 02 against decimal arithmetic of fifty digits, and against torch's own softmax."""

import decimal
from decimal import Decimal

import pytest
import torch
from figure_case import TO_LESSON, Case
from truths import drawn, tensor

from grader.sentence import JOURNEY, inputs

ROWS = [
    [0.5],
    [0.0, 0.0, 1.0],
    [0.9544, 1.4950, 1.4754, 0.8434, 0.7070, 1.0865],
    [-3.0, 4.5, 4.5, -20.0],
    [1e4, 9999.0, -1e4],
    [-1e4, -9999.0, -9998.5],
    [float("-inf"), 2.0, float("-inf"), 1.0],
    [1e4, float("-inf"), 1e4],
]


def exact(scores: list[float]) -> list[float]:
    """Softmax in decimals, where e to the power 10,000 is a number like any other."""
    with decimal.localcontext() as context:
        context.prec = 50
        powers = [Decimal(score).exp() if score != float("-inf") else Decimal(0) for score in scores]
        return [float(power / sum(powers)) for power in powers]


@pytest.mark.parametrize("row", ROWS, ids=range(len(ROWS)))
def test_softmax_in_decimals(solution, row):
    scores, expected = tensor(row), pytest.approx(exact(row), abs=1e-12)
    assert solution.softmax_stable(scores).tolist() == expected
    if max(map(abs, row)) < 100:  # else the naive one overflows
        assert solution.softmax_naive(scores).tolist() == expected


def test_dimensions_are_torchs(solution):
    scores = drawn(3, 4, 5)
    torch.testing.assert_close(solution.softmax_naive(scores), torch.softmax(scores, 0))
    for dim in range(-3, 3):
        torch.testing.assert_close(solution.softmax_stable(1e4 * scores, dim=dim), torch.softmax(1e4 * scores, dim))


def test_normalize_by_sum_by_hand(solution):
    assert solution.normalize_by_sum(torch.tensor([1.0, 3.0, 4.0])).tolist() == [0.125, 0.375, 0.5]
    assert solution.normalize_by_sum(torch.tensor([2.0, -1.0])).tolist() == [2.0, -1.0]


def softmax_of(change: dict[int, float], temperature: float = 1.0) -> dict[str, torch.Tensor]:
    """What both kinds of softmax give for the scores of "journey" with some changed."""
    scores = inputs() @ inputs()[JOURNEY]
    for index, value in change.items():
        scores[index] = value
    scores = scores / temperature
    return {"softmax_naive": scores.exp() / scores.exp().sum(), "softmax_stable": torch.softmax(scores, 0)}


CASES = [
    Case([], lambda: softmax_of({1: 1000.0}), "nan once: e to the 1000 is too large for a float32"),
    Case([TO_LESSON, {"Temperature": 0.5}], lambda: softmax_of({}, 0.5), "Both give the same"),
    Case([TO_LESSON, {"step": -3.0}], lambda: softmax_of({5: -3.0}), "0.2817"),
]
