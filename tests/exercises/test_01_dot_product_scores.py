"""Exercise 01 against Python's own numbers: plain loops over floats and exact fractions."""

import re
from fractions import Fraction

import pytest
import torch
from figure_case import TO_LESSON, Case
from torch.nn import functional as F
from truths import drawn

from grader.sentence import inputs


def exact(a, b) -> float:
    """The dot product in fractions, without any rounding."""
    return float(sum(Fraction(x) * Fraction(y) for x, y in zip(a.tolist(), b.tolist(), strict=True)))


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (4, 1), (6, 3), (9, 20)])
def test_scores_in_fractions(solution, shape):
    inputs, query = drawn(*shape), drawn(shape[1], seed=8)
    table = solution.attention_scores(inputs)
    row = solution.attention_scores_for_query(inputs, query)
    assert table.shape == (shape[0], shape[0]) and row.shape == (shape[0],)
    for i, token in enumerate(inputs):
        product = solution.dot_product(token, query)
        assert product.shape == ()
        assert [row[i].item(), product.item()] == pytest.approx([exact(token, query)] * 2, abs=1e-12)
        for j, other in enumerate(inputs):
            assert table[i, j].item() == pytest.approx(exact(token, other), abs=1e-12)


def arrows(a: tuple[float, float], b: tuple[float, float]) -> str:
    """What exercise 01 says of two arrows."""
    a, b = torch.tensor(a, dtype=torch.float64), torch.tensor(b, dtype=torch.float64)
    product = float(a @ b)
    angle = float(torch.acos(F.cosine_similarity(a, b, 0)).rad2deg())
    return re.escape(f"{product:.4f}".replace("-", "−")) + f".*{angle:.0f}°"


CELL = ("pick", "scores", 4, 2)
CASES = [
    Case([{"a, x": 0.5, "a, y": 0.5, "b, x": -0.5, "b, y": -0.25}], says=arrows((0.5, 0.5), (-0.5, -0.25))),
    Case([TO_LESSON, CELL], lambda: {"scores": inputs() @ inputs().T}, "“one” and “starts” is .* = 0\\.7154"),
    Case([TO_LESSON, CELL, ("key", "ArrowRight")], says="“with” is .* = 0.3474"),
    Case([TO_LESSON, CELL, ("press", "Two arrows")], says=arrows((0.77, 0.25), (0.57, 0.85))),
]
