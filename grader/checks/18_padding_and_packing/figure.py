"""The figure: the lesson's sentence of two tokens, alone and in a row with padding."""

import torch

from grader.authors import Figure, Start


def data(documented):
    """Keys whose exponentials are 1 and 3, and the values 8 and 4; the query is 1."""
    return {"keys": torch.tensor([1.0, 3.0]).log(), "values": torch.tensor([8.0, 4.0])}


FIGURE = Figure(
    "What two tokens get of the weight alone, and in a row with padding, which takes 20 %.",
    data,
    {
        "weights, alone": Start("weights", take=lambda weights: weights[0, :2]),
        "result, alone": Start("padded", take=lambda contexts: contexts[0, :1]),
    },
)
