"""What is done to the figure of exercise 09, and what torch computes must come out."""

import torch
from figure_case import Case

from grader.judge.randomness import manual_seed


def averaged(added: float = 0.0) -> dict[str, torch.Tensor]:
    """Exercise 09's running means."""
    manual_seed(1337)
    x = torch.randn(4, 8, 2)[0]
    x[-1] += added
    return {"x": x, "averages": x.cumsum(0) / torch.arange(1, 9)[:, None]}


CASES = [
    Case("by a loop", [("choose", "By", "a loop"), ("move", "Token", 4)], averaged, "Average 4.*/ 5 = 0.3525"),
    Case("by a softmax", [("choose", "By", "a softmax")], averaged, "Average 2"),
    Case("another last token", [("move", "Add to the last token", 4)], lambda: averaged(4.0), "no other row"),
]
