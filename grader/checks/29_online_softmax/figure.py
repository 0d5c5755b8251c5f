"""The figure: the lesson's five scores, whose exponentials are 2, 4, 1, 8 and 2."""

import torch

from grader.authors import Figure, Start


def data(documented):
    """The logarithms of 2, 4, 1, 8, 2."""
    return {"scores": torch.tensor([2.0, 4.0, 1.0, 8.0, 2.0]).log()}


FIGURE = Figure(
    "The maximum rises from log 4 to log 8, and the sum so far is multiplied by 0.5.",
    data,
    {"maximum": Start("maximum"), "sum": Start("sum")},
)
