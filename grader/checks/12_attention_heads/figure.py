"""The figure: the lesson's layer of two heads, seeded with 123, and its two tokens."""

import torch

from grader.authors import Figure, Start, manual_seed


def data(documented):
    """The tokens (2, 4), the query, key and value weights of each head (2, 4), and the output layer."""
    manual_seed(123)
    heads = [[torch.nn.Linear(4, 2, bias=False).weight for _ in range(3)] for _ in range(2)]
    out = torch.nn.Linear(4, 4)
    x = torch.arange(8.0).reshape(2, 4)
    return {"x": x, "heads": heads, "out_weight": out.weight, "out_bias": out.bias}


FIGURE = Figure("Head 1 is switched off, and all four numbers of the output change.", data, {"output": Start("mixed")})
