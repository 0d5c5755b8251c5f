"""The figure: the lesson's token that holds 1, 2, 3, 4, with its base of 100."""

import torch

from grader.authors import Figure, Start

TOKEN, BASES = (1.0, 2.0, 3.0, 4.0), (100, 10_000)


def data(documented):
    """One token of four numbers, and the bases to choose from."""
    return {"token": torch.tensor(TOKEN), "bases": BASES}


FIGURE = Figure(
    "A token's two pairs of numbers as clocks, at two moments.",
    data,
    {
        "query, turned": Start("turned_at_2"),
        "key, turned": Start("turned", take=lambda numbers: numbers[0]),
    },
)
