"""The figure: the lesson's three scores, whose exponentials are 2, 1 and 1, and the gradients 1, 2, 6."""

import torch

from grader.authors import Figure, Start


def data(documented):
    """The scores and the gradients that reach their weights."""
    return {"scores": torch.tensor([2.0, 1.0, 1.0]).log(), "arriving": torch.tensor([1.0, 2.0, 6.0])}


FIGURE = Figure("The gradient of three scores.", data, {"gradient of the scores": Start("three_numbers")})
