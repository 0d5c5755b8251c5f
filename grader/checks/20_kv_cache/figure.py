"""The figure: the sentence and the layer of seed 123, whose output, keys and values the lesson prints."""

import torch

from grader.authors import Figure, Start, manual_seed
from grader.sentence import TOKENS, inputs

HEADS = 2


def data(documented):
    """The inputs, the three projections' weights (2, 3), and the output projection."""
    manual_seed(123)
    layers = [torch.nn.Linear(3, 2, bias=False).weight for _ in range(3)]
    out = torch.nn.Linear(2, 2)
    facts = {"out_weight": out.weight, "out_bias": out.bias, "heads": HEADS}
    return {"inputs": inputs(), "tokens": TOKENS, "layers": layers, **facts}


FIGURE = Figure(
    "What one more token computes, with a cache and without.",
    data,
    {
        "output": Start("output"),
        "keys in the cache": Start("keys"),
        "values in the cache": Start("values"),
    },
)
