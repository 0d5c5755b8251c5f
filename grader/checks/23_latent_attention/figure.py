"""The figure: the lesson's query and latent vectors, scored by keys that are made, and without any key."""

import torch

from grader.authors import Figure, Start


def data(documented):
    """A query of two numbers, two tokens' latent vectors of three, and the matrix between them."""
    return {
        "query": torch.tensor([1.0, 2.0]),
        "up": torch.tensor([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]),
        "latent": torch.tensor([[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]]),
    }


FIGURE = Figure(
    "A query goes through W once and is compared with two latent vectors, of which no key is made.",
    data,
    {"weights": Start("weights")},
)
