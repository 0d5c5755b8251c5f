"""What is done to the figure of exercise 29, and what torch computes must come out."""

import torch
from figure_case import TO_LESSON, Case

SCORES = torch.tensor([2.0, 4.0, 1.0, 8.0, 2.0]).log().tolist()


def online(scores: list[float], read: int | None = None) -> dict[str, torch.Tensor]:
    """Exercise 29's maximum and sum of the first scores."""
    part = torch.tensor(scores, dtype=torch.float64)[:read]
    return {"maximum": part.max(), "sum": (part - part.max()).exp().sum()}


CASES = [
    Case(
        [],
        lambda: online(SCORES, 4),
        r"rises from log 4 to log 8, so the old sum is multiplied by 0\.5: .* Of 4 scores only",
    ),
    Case([TO_LESSON, {"Block size": 1}], lambda: online(SCORES), "2.125, as from all scores"),
    Case([TO_LESSON, {"Score 0": 1000}], lambda: online([1000.0, *SCORES[1:]]), "sum stays"),
    Case(
        [TO_LESSON, {"Forget the correction": True}], lambda: {"sum": torch.tensor(2.875)}, "2.875, and should be 2.125"
    ),
]
