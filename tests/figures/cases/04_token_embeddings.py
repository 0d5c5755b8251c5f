"""What is done to the figure of exercise 04, and what torch computes must come out."""

import torch
from figure_case import Case
from torch import nn

from grader.judge.randomness import manual_seed


def embedded(ids: list[int]) -> dict[str, torch.Tensor]:
    """Exercise 04's rows."""
    manual_seed(123)
    return {"token ids": torch.tensor(ids), "the embedded sentence": nn.Embedding(50_000, 3)(torch.tensor(ids))}


CASES = [
    Case("fewer words", [("type", "Sentence", "eat dessert first")], lambda: embedded([2, 1, 3]), "id 2"),
    Case(
        "a word twice",
        [("type", "Sentence", "short, short Life")],
        lambda: embedded([5, 5, 0]),
        "each of the 2 times",
    ),
    Case("an unknown word", [("type", "Sentence", "Life is long")], lambda: embedded([0, 4]), "KeyError: “long”"),
    Case("another token", [("pick", "token ids", 0, 4)], says="“dessert” has the id 1"),
]
