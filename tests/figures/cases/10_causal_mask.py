"""What is done to the figure of exercise 10, and what torch computes must come out."""

import torch
from figure_case import Case
from figure_truths import linear

from grader.sentence import inputs


def filled(fill: float, last: float = 0.0) -> dict[str, torch.Tensor]:
    """Exercise 10 with a fill value, and something added to the scores of the last token."""
    W_query, W_key, _ = linear(789, *[(3, 2)] * 3)
    scores = inputs() @ W_query.T @ W_key @ inputs().T
    scores[:, -1] += last
    masked = scores.masked_fill(torch.ones(6, 6).triu(1).bool(), fill)
    weights = torch.softmax(masked / 2**0.5, -1)
    return {"masked scores": masked, "weights": weights, "weight on the future": weights.triu(1).sum(-1)}


CASES = [
    Case("zero leaks", [("move", "Fill", 0)], lambda: filled(0.0), "leaks to later tokens"),
    Case("less leaks", [("move", "Fill", -5)], lambda: filled(-5.0), "dashed"),
    Case(
        "another last token",
        [("move", "Add to the scores of “step”", 5)],
        lambda: filled(-torch.inf, 5.0),
        "move the weights of step",
    ),
    Case(
        "and it leaks",
        [("move", "Fill", 0), ("move", "Add to the scores of “step”", 5)],
        lambda: filled(0.0, 5.0),
        "move the weights of step",
    ),
]
