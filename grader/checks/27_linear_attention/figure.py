"""The figure: the lesson's three pairs in a state of two rows, and more keys to add."""

import torch

from grader.authors import Figure, Start, manual_seed

PAIRS, WIDTH = 12, 8


def data(documented):
    """Twelve keys of length 1 for a state of two rows, the lesson's three first, and twelve for one of eight rows."""
    manual_seed(123)
    first = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    more, wide = torch.randn(PAIRS - len(first), 2), torch.randn(PAIRS, WIDTH)
    narrow = torch.cat([first, more / more.norm(dim=-1, keepdim=True)])
    return {"narrow": narrow, "wide": wide / wide.norm(dim=-1, keepdim=True)}


FIGURE = Figure(
    "What three keys read after three pairs were written into a state of two rows.",
    data,
    {"what each key reads": Start("read_back")},
)
