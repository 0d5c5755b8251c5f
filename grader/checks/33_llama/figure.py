"""The figure: the lesson's four words, whose probabilities are ½, ¼, ⅛ and ⅛."""

import torch

from grader.authors import Figure, Start

WORDS = ["stone", "shell", "plum", "kite"]


def data(documented):
    """The logits, largest first, and the words."""
    return {"logits": torch.tensor([0.5, 0.25, 0.125, 0.125]).log(), "words": WORDS}


FIGURE = Figure(
    "What is left to draw from, after temperature, top_k and top_p.",
    data,
    {"probabilities": Start("both")},
)
