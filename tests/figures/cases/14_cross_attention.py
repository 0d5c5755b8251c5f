"""What is done to the figure of exercise 14, and what torch computes must come out."""

import torch
from figure_case import Case
from torch import nn

from grader.judge.randomness import manual_seed


def crossed(first: int, second: int, own: bool = False) -> dict[str, torch.Tensor]:
    """Exercise 14 with the first tokens of both sentences."""
    manual_seed(123)
    x_1 = nn.Embedding(50_000, 3)(torch.tensor([0, 4, 5, 2, 1, 3]))[:first]
    manual_seed(123)
    W_query, W_key, W_value = torch.rand(3, 2), torch.rand(3, 2), torch.rand(3, 4)
    x_2 = x_1 if own else torch.rand(8, 3)[:second]
    weights = torch.softmax(x_1 @ W_query @ (x_2 @ W_key).T / 2**0.5, -1)
    return {"weights": weights, "context vectors": weights @ x_2 @ W_value}


CASES = [
    Case("fewer keys", [("move", "Tokens of x_2", 3)], lambda: crossed(6, 3), "6 × 3 weights"),
    Case("fewer queries", [("move", "Tokens of x_1", 2)], lambda: crossed(2, 8), "2 × 8 weights"),
    Case(
        "self-attention",
        [("toggle", "Take x_1 for both: self-attention")],
        lambda: crossed(6, 8, True),
        "6 × 6 weights",
    ),
    Case(
        "a row",
        [("pick", "weights", 5, 0)],
        says="“first” gives token 0 of the second sentence the weight 0.134, and looks most at token 4",
    ),
]
