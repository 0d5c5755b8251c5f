"""The figure: the parameters of exercise 13, seeded with 123, in one tall matrix."""

import torch

from grader.authors import Figure, Start, manual_seed
from grader.sentence import TOKENS, inputs


def data(documented):
    """The inputs, the three projections' weights (2, 3), and the output projection."""
    manual_seed(123)
    layers = {name: torch.nn.Linear(3, 2, bias=False).weight for name in "qkv"}
    out = torch.nn.Linear(2, 2)
    facts = {"out_weight": out.weight, "out_bias": out.bias, "heads": 2}
    return {"inputs": inputs(), "tokens": TOKENS, "layers": layers, **facts}


FIGURE = Figure("The output of one product, cut in three.", data, {"output": Start("output")})
