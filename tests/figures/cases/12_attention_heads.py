"""What is done to the figure of exercise 12, and what torch computes must come out."""

import torch
from figure_case import Case
from torch import nn

from grader.judge.randomness import manual_seed


def two_hands(queries_first: bool, scaled: bool, masked: bool) -> dict[str, torch.Tensor]:
    """Exercise 12's scores and weights."""
    manual_seed(1337)
    torch.randn(4, 8, 2), torch.randint(0, 10, (3, 2))
    x = torch.randn(1, 8, 32)[0]
    keys, queries = nn.Linear(32, 16)(x), nn.Linear(32, 16)(x)
    scores = (queries @ keys.T if queries_first else keys @ queries.T) / (4 if scaled else 1)
    scores = scores.masked_fill(torch.ones(8, 8).triu(1).bool(), -torch.inf) if masked else scores
    return {"scores": scores, "weights": torch.softmax(scores, -1)}


CASES = [
    Case(
        "queries as rows",
        [("choose", "Scores", "queries @ keysᵀ")],
        lambda: two_hands(True, False, True),
        "query i",
    ),
    Case("scaled", [("toggle", "Divide by √head_size")], lambda: two_hands(False, True, True)),
    Case("no mask", [("toggle", "Mask"), ("toggle", "Divide by √head_size")], lambda: two_hands(False, True, False)),
]
