"""What is done to the figure of exercise 16, and what torch computes must come out."""

import torch
from figure_case import Case


def turned(query: int, key: int, base: float) -> dict[str, torch.Tensor]:
    """Exercise 16's vectors by complex numbers, and their score."""
    pairs = torch.complex(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))

    def at(position: int) -> torch.Tensor:
        one = pairs * torch.exp(1j * position * base ** (-torch.arange(2) / 2))
        return torch.cat([one.real, one.imag])

    return {"query, turned": at(query), "key, turned": at(key), "score": at(query) @ at(key)}


CASES = [
    Case(
        "both one on",
        [("press", "Step")],
        lambda: turned(3, 1, 100.0),
        "distance is 2, and the score 15.4399",
    ),
    Case("far", [("move", "Query at", 20), ("move", "Key at", 7)], lambda: turned(20, 7, 100.0), "distance is 13"),
    Case(
        "another base",
        [("choose", "Base", "10,000"), ("move", "Key at", 5)],
        lambda: turned(2, 5, 10_000.0),
        "distance is 3",
    ),
]
