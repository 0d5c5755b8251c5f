"""What is done to the figure of exercise 11, and what torch computes must come out."""

import torch
from figure_case import Case
from figure_truths import linear

from grader.sentence import inputs


def dropped(p: float, draws: int) -> dict[str, torch.Tensor]:
    """Exercise 11's last draw, and the mean of all up to it."""
    W_query, W_key, W_value = linear(123, *[(3, 2)] * 3)
    numbers = torch.rand(200, 6, 6)[:draws]
    scores = inputs() @ W_query.T @ W_key @ inputs().T / 2**0.5
    weights = torch.softmax(scores.masked_fill(torch.ones(6, 6).triu(1).bool(), -torch.inf), -1)
    each = torch.where(numbers >= p, weights / (1 - p), 0.0)
    values = inputs() @ W_value.T
    return {
        "weights of this draw": each[-1],
        "mean of the draws": each.mean(0),
        "context vectors of this draw": each[-1] @ values,
        "of the mean": each.mean(0) @ values,
    }


CASES = [
    Case("one draw", [("move", "p", 0.5)], lambda: dropped(0.5, 1), "After 1 draw "),
    Case("ten draws", [("move", "p", 0.5), ("move", "Draws", 10)], lambda: dropped(0.5, 10), "2.00 times"),
    Case("all draws", [("move", "p", 0.2), ("move", "Draws", 200)], lambda: dropped(0.2, 200), "After 200 draws"),
    Case("once more", [("move", "p", 0.5), ("press", "Draw once more")], lambda: dropped(0.5, 2), "After 2 draws"),
]
