"""The figure: the published example of two heads, side by side again."""

import torch

from grader.authors import Figure, Start


def data(documented):
    """x (3, 8): the two heads (3, 4) side by side."""
    return {"x": torch.cat([documented["example_head_1"], documented["example_head_2"]], dim=1)}


FIGURE = Figure(
    "Three tokens split into two heads, in the right way and in the wrong one.",
    data,
    {"head 0": Start("example_head_1"), "head 1": Start("example_head_2")},
)
