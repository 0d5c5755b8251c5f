"""What is done to the figure of exercise 17, and what torch computes must come out."""

import torch
from figure_case import Case
from figure_truths import linear, multi_head

from grader.sentence import inputs


def cached(tokens: int) -> dict[str, torch.Tensor]:
    """Exercise 17 after some tokens: the output and what the cache holds."""
    _, W_key, W_value = linear(123, *[(3, 2)] * 3)
    kept = {"keys in the cache": W_key @ inputs()[:tokens].T, "values in the cache": W_value @ inputs()[:tokens].T}
    return multi_head(tokens=tokens) | kept


CASES = [
    Case("three tokens", [("press", "As in the lesson"), ("move", "Tokens", 3)], lambda: cached(3), "multiply-adds"),
    Case("the first again", [("press", "As in the lesson"), ("press", "Step")], lambda: cached(1)),
    Case(
        "no cache",
        [("press", "As in the lesson"), ("toggle", "Keep a cache")],
        lambda: multi_head() | {"bytes kept": torch.tensor(0)},
        "with a cache it would be 216",
    ),
]
