"""What is done to the figure of exercise 03, and what torch computes must come out."""

import torch
from figure_case import Case

from grader.sentence import inputs


def query_on(index: int) -> dict[str, torch.Tensor]:
    """Exercise 03 for one query."""
    weights = torch.softmax(inputs() @ inputs().T, -1)[index]
    return {"weights": weights, "context vector": weights @ inputs()}


CASES = [
    Case("your", [("choose", "Query", "Your")], lambda: query_on(0), "0.2098"),
    Case("one", [("choose", "Query", "one")], lambda: query_on(4), "“one”"),
    Case("step", [("choose", "Query", "step"), ("choose", "Dimensions", "1 and 2")], lambda: query_on(5), "“step”"),
]
