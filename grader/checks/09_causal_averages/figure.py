"""The figure: the document's first sequence, which it draws with seed 1337."""

import torch

from grader.authors import Figure, Start, manual_seed

NAMES = tuple(map(str, range(8)))


def data(documented):
    """x (8, 2)."""
    manual_seed(1337)
    return {"x": torch.randn(4, 8, 2)[0]}


FIGURE = Figure(
    "The averages, and the weights that give them.",
    data,
    {
        "x": Start("x", rows=NAMES),
        "averages": Start("xbow", rows=NAMES),
        "weights": Start("weights_for_matmul", rows=NAMES, columns=NAMES),
    },
)
