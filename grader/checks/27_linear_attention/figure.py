"""The figure: the lesson's three tokens of linear attention, its three pairs for the delta rule, and more of both."""

import torch

from grader.authors import Figure, Start, manual_seed

PAIRS, WIDTH = 12, 8


def data(documented):
    """Twelve keys of length 1 for a state of two rows, the lesson's three first, and twelve for one of eight rows.

    tokens: features of the query, of the key, and the value of twelve tokens, the lesson's three first.
    """
    manual_seed(123)
    first = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    more, wide = torch.randn(PAIRS - len(first), 2), torch.randn(PAIRS, WIDTH)
    narrow = torch.cat([first, more / more.norm(dim=-1, keepdim=True)])
    lesson = torch.tensor([[1, 1, 1, 1, 10], [1, 1, 1, 2, 5], [2, 1, 2, 1, 2]])
    drawn = torch.cat([torch.randint(1, 4, (PAIRS - 3, 4)), torch.randint(1, 13, (PAIRS - 3, 1))], dim=1)
    tokens = torch.cat([lesson, drawn])
    return {"narrow": narrow, "wide": wide / wide.norm(dim=-1, keepdim=True), "tokens": tokens}


FIGURE = Figure(
    "A cache that grows with each token and a state of four numbers, from which a query reads the same.",
    data,
    {"the state": Start(("sums", "normalizer"))},
)
