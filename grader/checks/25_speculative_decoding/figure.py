"""The figure: the lesson's target and a draft that has it upside down, kept half of the time."""

import torch

from grader.authors import Figure, Start

WORDS = ("mat", "sofa", "roof", "moon")


def data(documented):
    """The target; the draft is mixed of it and of its reverse."""
    return {"target": torch.tensor([4.0, 2.0, 1.0, 1.0]) / 8, "words": list(WORDS)}


FIGURE = Figure(
    "What is kept of the draft, and what is drawn after a rejection: together they are the target.",
    data,
    {"drawn after a rejection from": Start("residual")},
)
