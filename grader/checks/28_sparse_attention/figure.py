"""The figure: the lesson's four keys, two small heads and two tokens, with scores that are equal."""

import torch

from grader.authors import Figure, Start


def data(documented):
    """The small heads' queries, the keys, and the weights of both heads for each token, (2, 2), (4, 2) and (2, 2)."""
    keys = torch.tensor([[3.0, 1.0], [-2.0, 4.0], [1.0, -1.0], [2.0, 2.0]])
    weights = torch.tensor([[2.0, -1.0], [1.0, 1.0]])
    return {"queries": torch.eye(2), "keys": keys, "weights": weights, "first": 2, "k": 2}


FIGURE = Figure(
    "The keys at which each of two tokens looks, two of them each.",
    data,
    {
        "scores": Start("scores"),
        "chosen keys": Start("selected", take=lambda positions: positions[:, :2]),
    },
)
