"""The figure: the sentence and the layer of seed 123, whose context vectors are published for a dropout of 0."""

import torch

from grader.authors import Figure, Start, manual_seed, pack
from grader.sentence import TOKENS, inputs

DRAWS = 200


def data(documented):
    """The inputs, the three layers' weights (2, 3), and a uniform number for each weight of each draw."""
    manual_seed(123)
    layers = [torch.nn.Linear(3, 2, bias=False).weight for _ in range(3)]
    manual_seed(31)
    drawn = pack(torch.rand(DRAWS, len(TOKENS), len(TOKENS)))
    return {"inputs": inputs(), "tokens": TOKENS, "layers": layers, "draws": DRAWS, "drawn": drawn}


FIGURE = Figure(
    "One row of weights: the mean of 200 draws beside the true weights.",
    data,
    {"context vector of the last draw": Start("causal_attention", take=lambda numbers: numbers.reshape(-1, 2)[[5]])},
)
